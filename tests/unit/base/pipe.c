/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.c - tests of base/pipe.h and of sources that grow (base/source.h).  Nothing depends on time:
 * what must not wait finds a pipe that is still open and empty, and would never return.
 */
#include "unit.h"

#include "base/file.h"
#include "base/pipe.h"
#include "base/workers.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE 1000003

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 31 + (offset >> 11));
}

static bool is_filled(const uint8_t *buffer, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (buffer[i] != byte_at(offset + i))
            return false;
    }
    return true;
}

/* Writes [from, to) of the bytes that there are. */
static void put(int fd, uint64_t from, uint64_t to)
{
    uint8_t chunk[7777];
    while (from < to) {
        size_t size = to - from < sizeof chunk ? (size_t)(to - from) : sizeof chunk;
        for (size_t i = 0; i < size; i++)
            chunk[i] = byte_at(from + i);
        assert_int_equal(write(fd, chunk, size), size);
        from += size;
    }
}

static struct tv_source *open_pipe(int *writer)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *writer = ends[1];
    return tv_pipe_open(ends[0], "a pipe");
}

static void assert_read(struct tv_source *source, uint64_t offset, size_t size, size_t expected)
{
    uint8_t buffer[5000];
    size_t got = 0;
    assert_true(size <= sizeof buffer);
    assert_int_equal(tv_source_read(source, offset, buffer, size, &got, NULL), TV_OK);
    assert_int_equal(got, expected);
    assert_true(is_filled(buffer, offset, got));
}

static void what_was_written_is_read_while_the_pipe_is_open(void **state)
{
    (void)state;
    int writer;
    struct tv_source *source = open_pipe(&writer);
    uint64_t size;
    assert_string_equal(tv_source_name(source), "a pipe");
    put(writer, 0, 4000);
    assert_read(source, 0, 1000, 1000);
    assert_read(source, 3000, 1000, 1000);
    assert_true(tv_source_reaches(source, 4000));
    assert_false(tv_source_has_size(source, &size));
    assert_true(size == UINT64_MAX);
    assert_int_equal(tv_source_check(source, NULL), TV_OK);

    put(writer, 4000, 6000);
    assert_read(source, 3500, 2000, 2000);
    close(writer);
    assert_read(source, 5000, 5000, 1000);
    assert_read(source, 7000, 10, 0);
    assert_read(source, UINT64_MAX - 2, 10, 0);
    assert_true(tv_source_has_size(source, &size));
    assert_int_equal(size, 6000);
    assert_int_equal(tv_source_size(source), 6000);
    assert_false(tv_source_reaches(source, 6001));
    tv_source_free(source);
}

/* Though more would have room in it. */
static void a_window_waits_for_what_is_wanted_alone(void **state)
{
    (void)state;
    int writer;
    struct tv_source *source = open_pipe(&writer);
    struct tv_window window;
    struct tv_bytes bytes;
    tv_window_init(&window, source);
    put(writer, 0, 3000);
    assert_int_equal(tv_window_at(&window, 0, 0, &bytes, NULL), TV_OK);
    assert_int_equal(bytes.length, 3000);
    assert_int_equal(tv_window_at(&window, 2000, 1000, &bytes, NULL), TV_OK);
    assert_true(bytes.length == 1000 && is_filled(bytes.data, 2000, 1000));
    put(writer, 3000, 3010);
    assert_int_equal(tv_window_at(&window, 2990, 20, &bytes, NULL), TV_OK);
    assert_true(bytes.length == 20 && is_filled(bytes.data, 2990, 20));
    put(writer, 3010, 3020);
    close(writer);
    assert_int_equal(tv_window_at(&window, 3000, 50, &bytes, NULL), TV_OK);
    assert_true(bytes.length == 20 && is_filled(bytes.data, 3000, 20));
    assert_int_equal(tv_window_at(&window, 3020, 1, &bytes, NULL), TV_OK);
    assert_int_equal(bytes.length, 0);
    tv_window_release(&window);
    tv_source_free(source);
}

static void an_empty_pipe_is_an_empty_source(void **state)
{
    (void)state;
    int writer;
    struct tv_source *source = open_pipe(&writer);
    close(writer);
    assert_false(tv_source_reaches(source, 1));
    assert_int_equal(tv_source_size(source), 0);
    assert_read(source, 0, 1, 0);
    tv_source_free(source);
}

/* ---- Several threads ---- */

struct crowd {
    struct tv_source *source;
    int writer;
    unsigned wrong[2];
};

static void *write_all(void *context)
{
    const struct crowd *crowd = context;
    put(crowd->writer, 0, SIZE);
    close(crowd->writer);
    return NULL;
}

/* Anywhere, far behind what was written too. */
static void read_anywhere(void *context, unsigned index)
{
    struct crowd *crowd = context;
    uint8_t buffer[3000];
    uint32_t random = index;
    for (int i = 0; i < 500; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t offset = random % SIZE;
        size_t got = 0, expected = sizeof buffer;
        if (SIZE - offset < expected)
            expected = (size_t)(SIZE - offset);
        if (tv_source_read(crowd->source, offset, buffer, sizeof buffer, &got, NULL) != TV_OK ||
            got != expected || !is_filled(buffer, offset, got))
            crowd->wrong[index]++;
    }
}

static void threads_read_what_is_still_to_come(void **state)
{
    (void)state;
    struct crowd crowd = {0};
    pthread_t writer;
    crowd.source = open_pipe(&crowd.writer);
    assert_int_equal(pthread_create(&writer, NULL, write_all, &crowd), 0);
    tv_workers_run(2, read_anywhere, &crowd);
    pthread_join(writer, NULL);
    assert_int_equal(crowd.wrong[0] + crowd.wrong[1], 0);
    assert_int_equal(tv_source_size(crowd.source), SIZE);
    tv_source_free(crowd.source);
}

/* ---- Errors ---- */

/* A source that has ten bytes and then none, but an error. */
static enum tv_status grow_to_ten(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                                  struct tv_error *err)
{
    unsigned *calls = context;
    ++*calls;
    *size = 10;
    *ended = wanted > 10;
    return wanted > 10 ? tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the cable broke") : TV_OK;
}

static enum tv_status read_zeros(void *context, uint64_t offset, void *buffer, size_t size,
                                 struct tv_error *err)
{
    (void)context;
    (void)offset;
    (void)err;
    memset(buffer, 0, size);
    return TV_OK;
}

static const struct tv_source_growth broken = {.reads = {.read = read_zeros}, .grow = grow_to_ten};

static void what_came_before_an_error_is_read_until_it_is_met(void **state)
{
    (void)state;
    unsigned calls = 0;
    struct tv_source *source = tv_source_from_growth(&broken, &calls, "broken");
    uint8_t bytes[20];
    size_t got = 0;
    struct tv_error err = {0};
    assert_int_equal(tv_source_read(source, 0, bytes, 10, &got, &err), TV_OK);
    assert_int_equal(got, 10);
    assert_int_equal(tv_source_read(source, 5, bytes, 10, &got, &err), TV_ERR_IO);
    assert_string_equal(err.message, "the cable broke");
    assert_int_equal(calls, 2);

    /* Nobody is asked again, and nothing passes for the whole. */
    err = (struct tv_error){0};
    assert_int_equal(tv_source_read(source, 0, bytes, 10, &got, &err), TV_ERR_IO);
    assert_string_equal(err.message, "the cable broke");
    assert_int_equal(tv_source_check(source, &err), TV_ERR_IO);
    assert_int_equal(tv_source_size(source), 10);
    assert_int_equal(calls, 2);
    tv_source_free(source);
}

static void the_size_of_what_broke_does_not_hide_it(void **state)
{
    (void)state;
    unsigned calls = 0;
    struct tv_source *source = tv_source_from_growth(&broken, &calls, "broken");
    struct tv_source *part = tv_source_part(source, 0, tv_source_size(source), "a part");
    uint8_t bytes[4];
    size_t got = 0;
    struct tv_error err = {0};
    assert_int_equal(tv_source_size(part), 10);
    assert_int_equal(tv_source_read(part, 0, bytes, 4, &got, &err), TV_ERR_IO);
    assert_string_equal(err.message, "the cable broke");
    assert_int_equal(tv_source_read(source, 0, bytes, 0, &got, &err), TV_ERR_IO);
    tv_source_free(part);
    tv_source_free(source);
}

static void what_cannot_be_read_says_so(void **state)
{
    (void)state;
    struct tv_source *source = tv_pipe_open(open("/dev/null", O_WRONLY), "not to be read");
    uint8_t byte;
    size_t got;
    struct tv_error err = {0};
    assert_int_equal(tv_source_read(source, 0, &byte, 1, &got, &err), TV_ERR_IO);
    assert_string_equal(err.message, "cannot read: Bad file descriptor");
    tv_source_free(source);
}

UNIT_TESTS(pipe, cmocka_unit_test(what_was_written_is_read_while_the_pipe_is_open),
           cmocka_unit_test(a_window_waits_for_what_is_wanted_alone),
           cmocka_unit_test(an_empty_pipe_is_an_empty_source),
           cmocka_unit_test(threads_read_what_is_still_to_come),
           cmocka_unit_test(what_came_before_an_error_is_read_until_it_is_met),
           cmocka_unit_test(the_size_of_what_broke_does_not_hide_it),
           cmocka_unit_test(what_cannot_be_read_says_so));
