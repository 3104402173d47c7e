/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - tests of base/file.h, with files of their own in a temporary folder.
 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/workers.h"
#include "child.h"

#define FILE_SIZE 1000003

static char folder[] = "/tmp/traceview-unit-XXXXXX";
static char path[64];

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 31 + (offset >> 11));
}

static void fill(uint8_t *buffer, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer[i] = byte_at(offset + i);
}

static bool is_filled(const uint8_t *buffer, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (buffer[i] != byte_at(offset + i))
            return false;
    }
    return true;
}

static void write_file(size_t size)
{
    uint8_t *bytes = test_malloc(size + 1);
    fill(bytes, 0, size);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    test_free(bytes);
}

static struct tv_source *must_open(const char *name)
{
    struct tv_source *source = NULL;
    struct tv_error err = {0};
    assert_int_equal(tv_source_open_file(name, &source, &err), TV_OK);
    assert_int_equal(err.status, TV_OK);
    return source;
}

static void assert_is_filled(struct tv_source *source, uint64_t from, uint64_t size)
{
    uint8_t *buffer = test_malloc(70001);
    size_t got;
    assert_int_equal(tv_source_size(source), size);
    for (uint64_t offset = 0; offset < size; offset += got) {
        assert_int_equal(tv_source_read(source, offset, buffer, 70001, &got, NULL), TV_OK);
        assert_int_equal(got, size - offset < 70001 ? size - offset : 70001);
        assert_true(is_filled(buffer, from + offset, got));
    }
    assert_int_equal(tv_source_read(source, size, buffer, 1, &got, NULL), TV_OK);
    assert_int_equal(got, 0);
    test_free(buffer);
}

static int make_folder(void **state)
{
    (void)state;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/trace", folder);
    return 0;
}

/* Fail when a test leaves anything but its file: temporary files must have no names. */
static int remove_folder(void **state)
{
    (void)state;
    unsetenv("TMPDIR");
    unlink(path);
    return rmdir(folder);
}

static void reads_in_place(void **state)
{
    (void)state;
    write_file(FILE_SIZE);
    struct tv_source *source = must_open(path);
    assert_string_equal(tv_source_name(source), path);
    assert_is_filled(source, 0, FILE_SIZE);
    uint8_t buffer[100];
    size_t got;
    for (uint64_t offset = FILE_SIZE + 50; offset > 0; offset -= 79 < offset ? 79 : offset) {
        assert_int_equal(tv_source_read(source, offset, buffer, 100, &got, NULL), TV_OK);
        assert_true(is_filled(buffer, offset, got));
    }
    tv_source_free(source);
}

static void says_what_cannot_be_opened(void **state)
{
    (void)state;
    struct tv_source *source;
    struct tv_error err = {0};
    assert_int_equal(tv_source_open_file(path, &source, &err), TV_ERR_IO);
    assert_string_equal(err.message, "cannot open: No such file or directory");
    assert_true(err.offset == TV_NO_OFFSET);
    assert_int_equal(tv_source_open_file(folder, &source, &err), TV_ERR_IO);
    assert_string_equal(err.message, "cannot open: Is a directory");
    assert_int_equal(tv_source_open_file("", &source, NULL), TV_ERR_IO);
}

static void an_empty_file_is_an_empty_source(void **state)
{
    (void)state;
    write_file(0);
    struct tv_source *source = must_open(path);
    assert_is_filled(source, 0, 0);
    tv_source_free(source);
    source = must_open("/dev/null");
    assert_is_filled(source, 0, 0);
    tv_source_free(source);
}

/* The kernel reports size 0 for such a file, but it has content. */
static void files_without_a_size_are_read(void **state)
{
    (void)state;
    if (access("/proc/self/stat", R_OK) != 0)
        return; /* not on Linux */
    struct tv_source *source = must_open("/proc/self/stat");
    assert_true(tv_source_size(source) > 10);
    tv_source_free(source);
}

static void assert_changed(struct tv_source *source, const char *message)
{
    uint8_t buffer[10];
    size_t got;
    struct tv_error err = {0};
    assert_int_equal(tv_source_read(source, 0, buffer, 10, &got, &err), TV_ERR_IO);
    assert_string_equal(err.message, message);
    tv_source_free(source);
}

static void a_changed_file_is_an_error(void **state)
{
    (void)state;
    static const struct timespec then[2] = {{1000000000, 1}, {1000000000, 1}};
    static const struct timespec later[2] = {{1000000000, 2}, {1000000000, 2}};

    write_file(1000);
    struct tv_source *source = must_open(path);
    assert_int_equal(truncate(path, 999), 0);
    assert_changed(source,
                   "the file changed since it was opened: it had 1000 bytes, now it has 999");

    write_file(1000);
    source = must_open(path);
    assert_int_equal(truncate(path, 1001), 0);
    assert_changed(source,
                   "the file changed since it was opened: it had 1000 bytes, now it has 1001");

    write_file(1000);
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
    source = must_open(path);
    assert_int_equal(utimensat(AT_FDCWD, path, later, 0), 0);
    assert_changed(source, "the file was written to since it was opened");

    /* The name is not the file: what was opened stays. */
    write_file(1000);
    source = must_open(path);
    assert_int_equal(unlink(path), 0);
    assert_is_filled(source, 0, 1000);
    tv_source_free(source);
}

struct reads {
    struct tv_source *source;
    unsigned wrong[8];
};

static void read_all_over(void *context, unsigned index)
{
    struct reads *reads = context;
    uint8_t buffer[3000];
    uint32_t random = index;
    for (int i = 0; i < 300; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t offset = random % FILE_SIZE;
        size_t got = 0;
        if (tv_source_read(reads->source, offset, buffer, sizeof buffer, &got, NULL) != TV_OK ||
            got == 0 || !is_filled(buffer, offset, got))
            reads->wrong[index]++;
    }
}

static void many_threads_read_at_once(void **state)
{
    (void)state;
    write_file(FILE_SIZE);
    struct reads reads = {.source = must_open(path)};
    tv_workers_run(8, read_all_over, &reads);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(reads.wrong[i], 0);
    tv_source_free(reads.source);
}

/* Standard input. */

static struct tv_source *open_as_input(int fd)
{
    int saved = dup(STDIN_FILENO);
    assert_true(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    close(fd);
    struct tv_source *source = must_open("-");
    assert_string_equal(tv_source_name(source), "standard input");
    if (saved < 0) {
        close(STDIN_FILENO);
        return source;
    }
    dup2(saved, STDIN_FILENO);
    close(saved);
    return source;
}

static void a_pipe_is_read_to_its_end(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        uint8_t chunk[7777];
        close(ends[0]);
        for (size_t at = 0; at < FILE_SIZE; at += sizeof chunk) {
            size_t size = FILE_SIZE - at < sizeof chunk ? FILE_SIZE - at : sizeof chunk;
            fill(chunk, at, size);
            if (write(ends[1], chunk, size) != (ssize_t)size)
                _Exit(1);
        }
        _Exit(0);
    }
    close(ends[1]);
    struct tv_source *source = open_as_input(ends[0]);
    assert_is_filled(source, 0, FILE_SIZE);
    tv_source_free(source);
    waitpid(writer, NULL, 0);
}

static void a_file_as_input_is_read_from_where_it_stands(void **state)
{
    (void)state;
    write_file(5000);
    struct tv_source *source = open_as_input(open(path, O_RDONLY));
    assert_is_filled(source, 0, 5000);
    tv_source_free(source);

    int fd = open(path, O_RDONLY);
    assert_int_equal(lseek(fd, 1234, SEEK_SET), 1234);
    source = open_as_input(fd);
    assert_is_filled(source, 1234, 5000 - 1234);
    tv_source_free(source);
}

/* The spool. */

static void add_filled(struct tv_spool *spool, uint64_t offset, size_t size)
{
    uint8_t *chunk = test_malloc(size + 1);
    fill(chunk, offset, size);
    assert_int_equal(tv_spool_add(spool, (struct tv_bytes){chunk, size}, NULL), TV_OK);
    test_free(chunk);
}

static void a_small_spool_stays_in_memory(void **state)
{
    (void)state;
    setenv("TMPDIR", "/nowhere", 1);
    struct tv_spool *spool = tv_spool_new("small");
    assert_int_equal(tv_spool_add(spool, (struct tv_bytes){NULL, 0}, NULL), TV_OK);
    uint64_t size = 0;
    for (size_t part = 0; part < 1000; size += part, part += 7)
        add_filled(spool, size, part);
    struct tv_source *source = tv_spool_finish(spool);
    assert_string_equal(tv_source_name(source), "small");
    assert_is_filled(source, 0, size);
    tv_source_free(source);

    source = tv_spool_finish(tv_spool_new("empty"));
    assert_is_filled(source, 0, 0);
    tv_source_free(source);
    tv_spool_free(tv_spool_new("dropped"));
    tv_spool_free(NULL);
}

static void a_large_spool_moves_to_a_file_without_a_name(void **state)
{
    (void)state;
    setenv("TMPDIR", folder, 1);
    struct tv_spool *spool = tv_spool_new("large");
    uint64_t size = 0;
    while (size <= TV_SPOOL_MEMORY + 3000000) {
        size_t part = 999983;
        add_filled(spool, size, part);
        size += part;
    }
    struct tv_source *source = tv_spool_finish(spool);
    /* Nothing with a name is in the folder. */
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_is_filled(source, 0, size);
    tv_source_free(source);
}

static void a_spool_in_a_file_can_be_dropped(void **state)
{
    (void)state;
    setenv("TMPDIR", "/nowhere", 1); /* then /tmp will do */
    struct tv_spool *spool = tv_spool_new("large");
    add_filled(spool, 0, TV_SPOOL_MEMORY);
    add_filled(spool, TV_SPOOL_MEMORY, 1);
    tv_spool_free(spool);
}

/* Without room for files: exit code 2 when adding within the cap fails, 3 when adding beyond it
 * succeeds, 4 for an unexpected error. */
static void fill_beyond_the_cap_without_disk(void)
{
    struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    struct tv_spool *spool = tv_spool_new("full");
    uint8_t *chunk = calloc(TV_SPOOL_MEMORY, 1);
    struct tv_error err = {0};
    if (chunk == NULL ||
        tv_spool_add(spool, (struct tv_bytes){chunk, TV_SPOOL_MEMORY}, &err) != TV_OK)
        _Exit(2);
    if (tv_spool_add(spool, (struct tv_bytes){chunk, 1}, &err) != TV_ERR_IO)
        _Exit(3);
    if (strcmp(err.message,
               "cannot write to the temporary file (TMPDIR says where): File too large") != 0)
        _Exit(4);
    free(chunk);
    tv_spool_free(spool);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    char text[CHILD_TEXT];
    assert_int_equal(child_run(fill_beyond_the_cap_without_disk, text), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

/* ---- Pipe ---- */

#define SIZE 1000003

static uint8_t pipe_byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 31 + (offset >> 11));
}

static bool pipe_bytes_match(const uint8_t *buffer, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (buffer[i] != pipe_byte_at(offset + i))
            return false;
    }
    return true;
}

/* Write [from, to) of the pattern. */
static void put(int fd, uint64_t from, uint64_t to)
{
    uint8_t chunk[7777];
    while (from < to) {
        size_t size = to - from < sizeof chunk ? (size_t)(to - from) : sizeof chunk;
        for (size_t i = 0; i < size; i++)
            chunk[i] = pipe_byte_at(from + i);
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
    assert_true(pipe_bytes_match(buffer, offset, got));
}

static void an_open_pipe_gives_its_written_bytes(void **state)
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

/* The window does not wait for more, although its buffer has room. */
static void a_window_waits_only_for_the_wanted_bytes(void **state)
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
    assert_true(bytes.length == 1000 && pipe_bytes_match(bytes.data, 2000, 1000));
    put(writer, 3000, 3010);
    assert_int_equal(tv_window_at(&window, 2990, 20, &bytes, NULL), TV_OK);
    assert_true(bytes.length == 20 && pipe_bytes_match(bytes.data, 2990, 20));
    put(writer, 3010, 3020);
    close(writer);
    assert_int_equal(tv_window_at(&window, 3000, 50, &bytes, NULL), TV_OK);
    assert_true(bytes.length == 20 && pipe_bytes_match(bytes.data, 3000, 20));
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

/* Read anywhere, also far beyond the bytes written so far. */
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
            got != expected || !pipe_bytes_match(buffer, offset, got))
            crowd->wrong[index]++;
    }
}

static void threads_wait_for_bytes_of_a_pipe(void **state)
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

/* A source with ten bytes that ends with an error. */
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

static void bytes_before_an_error_are_read(void **state)
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

    /* The source is not asked again, and the ten bytes do not pass for the whole. */
    err = (struct tv_error){0};
    assert_int_equal(tv_source_read(source, 0, bytes, 10, &got, &err), TV_ERR_IO);
    assert_string_equal(err.message, "the cable broke");
    assert_int_equal(tv_source_check(source, &err), TV_ERR_IO);
    assert_int_equal(tv_source_size(source), 10);
    assert_int_equal(calls, 2);
    tv_source_free(source);
}

static void an_error_is_reported_by_a_read_within_the_size(void **state)
{
    (void)state;
    unsigned calls = 0;
    struct tv_source *source = tv_source_from_growth(&broken, &calls, "broken");
    struct tv_source *part = tv_source_range(source, 0, tv_source_size(source), "a part");
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

static void an_unreadable_file_is_an_error(void **state)
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

UNIT_TESTS(file, IN_FOLDER(reads_in_place), IN_FOLDER(says_what_cannot_be_opened),
           IN_FOLDER(an_empty_file_is_an_empty_source),
           cmocka_unit_test(files_without_a_size_are_read), IN_FOLDER(a_changed_file_is_an_error),
           IN_FOLDER(many_threads_read_at_once), cmocka_unit_test(a_pipe_is_read_to_its_end),
           IN_FOLDER(a_file_as_input_is_read_from_where_it_stands),
           IN_FOLDER(a_small_spool_stays_in_memory),
           IN_FOLDER(a_large_spool_moves_to_a_file_without_a_name),
           IN_FOLDER(a_spool_in_a_file_can_be_dropped), cmocka_unit_test(a_full_disk_is_an_error),
           cmocka_unit_test(an_open_pipe_gives_its_written_bytes),
           cmocka_unit_test(a_window_waits_only_for_the_wanted_bytes),
           cmocka_unit_test(an_empty_pipe_is_an_empty_source),
           cmocka_unit_test(threads_wait_for_bytes_of_a_pipe),
           cmocka_unit_test(bytes_before_an_error_are_read),
           cmocka_unit_test(an_error_is_reported_by_a_read_within_the_size),
           cmocka_unit_test(an_unreadable_file_is_an_error));
