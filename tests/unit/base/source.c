/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - tests of base/source.h.
 */
#include "unit.h"

#include "base/bytes.h"
#include "base/source.h"

#include <stdlib.h>
#include <string.h>

/* A source of any size with bytes that depend on their offset; it counts the requests. */
struct pattern {
    uint64_t size; /* the true size; reads beyond it fail */
    unsigned reads, closes;
};

static uint8_t pattern_byte(uint64_t offset)
{
    return (uint8_t)(1 + (offset * 7 + (offset >> 8) * 13 + (offset >> 32)) % 255); /* never 0 */
}

static enum tv_status read_pattern(void *context, uint64_t offset, void *buffer, size_t size,
                                   struct tv_error *err)
{
    struct pattern *pattern = context;
    uint8_t *to = buffer;
    pattern->reads++;
    if (offset + size > pattern->size)
        return tv_fail(err, TV_ERR_IO, offset, "it shrank");
    for (size_t i = 0; i < size; i++)
        to[i] = pattern_byte(offset + i);
    return TV_OK;
}

static void close_pattern(void *context)
{
    struct pattern *pattern = context;
    pattern->closes++;
}

static const struct tv_source_reads pattern_reads = {read_pattern, close_pattern};

static struct tv_source *open_pattern(struct pattern *pattern, uint64_t size)
{
    *pattern = (struct pattern){.size = size};
    return tv_source_from_reads(&pattern_reads, pattern, size, "pattern");
}

static void assert_pattern(const uint8_t *bytes, uint64_t offset, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != pattern_byte(offset + i))
            fail_msg("byte %zu from %llu differs", i, (unsigned long long)offset);
    }
}

static void memory_is_read_within_its_size(void **state)
{
    (void)state;
    char name[] = "a name";
    struct tv_source *source = tv_source_from_memory(TV_BYTES("0123456789"), name);
    name[0] = 'X'; /* the source has its own copy */
    assert_string_equal(tv_source_name(source), "a name");
    assert_int_equal(tv_source_size(source), 10);
    static const struct {
        uint64_t offset;
        size_t size;
        const char *text;
    } cases[] = {
        {0, 10, "0123456789"},
        {0, 11, "0123456789"},
        {3, 4, "3456"},
        {9, 5, "9"},
        {10, 5, ""},
        {11, 5, ""},
        {UINT64_MAX, 5, ""},
        {4, 0, ""},
        {1, SIZE_MAX, "123456789"},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        char buffer[16] = "";
        size_t got = 99;
        assert_int_equal(tv_source_read(source, cases[i].offset, buffer, cases[i].size, &got, NULL),
                         TV_OK);
        assert_int_equal(got, strlen(cases[i].text));
        assert_string_equal(buffer, cases[i].text);
    }
    tv_source_free(source);
    tv_source_free(NULL);
}

static void an_empty_source_has_no_bytes(void **state)
{
    (void)state;
    struct tv_source *source = tv_source_from_memory((struct tv_bytes){NULL, 0}, "nothing");
    struct tv_window window;
    struct tv_bytes bytes;
    tv_window_init(&window, source);
    for (uint64_t offset = 0; offset < 3; offset++) {
        assert_int_equal(tv_window_at(&window, offset, 100, &bytes, NULL), TV_OK);
        assert_int_equal(bytes.length, 0);
        for (size_t i = 0; i < TV_WINDOW_SLACK; i++)
            assert_int_equal(bytes.data[i], 0);
    }
    tv_window_release(&window);
    tv_window_release(&window);
    tv_source_free(source);
}

static void a_failing_read_is_passed_on(void **state)
{
    (void)state;
    struct pattern pattern;
    struct tv_source *source = open_pattern(&pattern, 100);
    pattern.size = 50;
    struct tv_error err = {0};
    uint8_t buffer[100];
    size_t got = 99;
    assert_int_equal(tv_source_read(source, 0, buffer, 100, &got, &err), TV_ERR_IO);
    assert_string_equal(err.message, "it shrank");
    assert_int_equal(got, 99);
    assert_int_equal(tv_source_read(source, 0, buffer, 50, &got, &err), TV_OK);
    assert_int_equal(pattern.closes, 0);
    tv_source_free(source);
    assert_int_equal(pattern.closes, 1);
}

/* Code that continues without some bytes learns of the error at the end. */
static void a_failed_read_is_remembered(void **state)
{
    (void)state;
    struct pattern pattern = {.size = 10};
    static const struct tv_source_reads reads = {read_pattern, close_pattern};
    struct tv_source *source = tv_source_from_reads(&reads, &pattern, 20, "shrinks");
    struct tv_error err = {0};
    uint8_t bytes[20];
    size_t got;
    assert_int_equal(tv_source_read(source, 0, bytes, 10, &got, &err), TV_OK);
    assert_int_equal(tv_source_check(source, &err), TV_OK);
    assert_int_equal(tv_source_read(source, 5, bytes, 10, &got, NULL), TV_ERR_IO);
    assert_int_equal(tv_source_read(source, 0, bytes, 10, &got, &err), TV_OK);
    assert_int_equal(tv_source_check(source, &err), TV_ERR_IO);
    assert_string_equal(err.message, "it shrank");
    tv_source_free(source);
}

/* Every range of joined sources, empty ones included, equals that of one source. */
static void joined_parts_read_as_one(void **state)
{
    (void)state;
    static const char text[] = "key of a trace and then its data";
    static const size_t ends[] = {0, 0, 3, 4, 4, 17, 32, 32};
    struct tv_source *parts[TV_COUNT(ends)];
    size_t from = 0;
    for (size_t i = 0; i < TV_COUNT(ends); i++) {
        parts[i] = tv_source_from_memory(
            (struct tv_bytes){(const uint8_t *)text + from, ends[i] - from}, "part");
        from = ends[i];
    }
    struct tv_source *source = tv_source_join(parts, TV_COUNT(parts), "whole");
    memset(parts, 0, sizeof parts); /* the array stays the caller's */
    assert_string_equal(tv_source_name(source), "whole");
    assert_int_equal(tv_source_size(source), 32);
    for (size_t offset = 0; offset <= 33; offset++) {
        for (size_t size = 0; size <= 34; size++) {
            char buffer[40];
            size_t got;
            assert_int_equal(tv_source_read(source, offset, buffer, size, &got, NULL), TV_OK);
            size_t left = offset < 32 ? 32 - offset : 0;
            assert_int_equal(got, size < left ? size : left);
            if (got > 0)
                assert_memory_equal(buffer, text + offset, got);
        }
    }
    tv_source_free(source);
}

static void joining_takes_the_parts_over(void **state)
{
    (void)state;
    struct pattern a, b;
    struct tv_source *parts[] = {open_pattern(&a, 10), open_pattern(&b, UINT64_MAX - 5)};
    struct tv_source *source = tv_source_join(parts, 2, "both");
    assert_true(tv_source_size(source) == UINT64_MAX); /* no wrapping around */
    uint8_t buffer[20];
    size_t got;
    a.size = 5; /* an error of a part is one of the whole */
    assert_int_equal(tv_source_read(source, 0, buffer, 20, &got, NULL), TV_ERR_IO);
    assert_int_equal(tv_source_read(source, 10, buffer, 20, &got, NULL), TV_OK);
    assert_pattern(buffer, 0, 20);
    tv_source_free(source);
    assert_int_equal(a.closes, 1);
    assert_int_equal(b.closes, 1);

    source = tv_source_join(NULL, 0, "none");
    assert_int_equal(tv_source_size(source), 0);
    tv_source_free(source);
}

static void a_part_is_a_stretch_of_the_whole(void **state)
{
    (void)state;
    struct pattern pattern;
    struct tv_source *whole = open_pattern(&pattern, 1000);
    struct tv_source *part = tv_source_range(whole, 300, 720, "part");
    struct tv_source *inner = tv_source_range(part, 20, 120, "inner");
    struct tv_source *none = tv_source_range(whole, 1000, 1000, "none");
    uint8_t buffer[1000];
    size_t got;
    assert_int_equal(tv_source_size(part), 420);
    assert_string_equal(tv_source_name(part), "part");
    assert_int_equal(tv_source_read(part, 400, buffer, sizeof buffer, &got, NULL), TV_OK);
    assert_int_equal(got, 20); /* none of what follows in the whole */
    assert_pattern(buffer, 700, 20);
    assert_int_equal(tv_source_read(none, 0, buffer, sizeof buffer, &got, NULL), TV_OK);
    assert_int_equal(got, 0);
    tv_source_free(none);
    /* Ranges stay readable after the whole is freed, until the last of them is. */
    tv_source_free(whole);
    tv_source_free(part);
    assert_int_equal(pattern.closes, 0);
    assert_int_equal(tv_source_read(inner, 10, buffer, sizeof buffer, &got, NULL), TV_OK);
    assert_int_equal(got, 90);
    assert_pattern(buffer, 330, 90);
    pattern.size = 5; /* an error of the whole is one of its parts */
    assert_int_equal(tv_source_read(inner, 0, buffer, 1, &got, NULL), TV_ERR_IO);
    tv_source_free(inner);
    assert_int_equal(pattern.closes, 1);
}

static void check_window(const struct tv_window *window, struct tv_bytes bytes, uint64_t size,
                         uint64_t offset, size_t want)
{
    uint64_t left = offset < size ? size - offset : 0;
    assert_true(bytes.length >= want || bytes.length == left);
    assert_true(bytes.length <= left);
    if (left > 0)
        assert_true(bytes.length > 0);
    assert_pattern(bytes.data, offset, bytes.length);
    /* Behind the buffer's end stand zeros, or, as bytes.length says what holds, more of it. */
    assert_ptr_equal(bytes.data + bytes.length, window->buffer + window->length);
    for (size_t i = 0; i < TV_WINDOW_SLACK; i++)
        assert_int_equal(bytes.data[bytes.length + i], 0);
}

/* Forward with an incomplete record at each window boundary, jumps, steps back, and requests of all
 * sizes. */
static void windows_show_the_source(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 63, 1000, 262143, 262144, 262145, 1000000};
    for (size_t s = 0; s < TV_COUNT(sizes); s++) {
        struct pattern pattern;
        struct tv_source *source = open_pattern(&pattern, sizes[s]);
        struct tv_window window;
        struct tv_bytes bytes;
        tv_window_init(&window, source);
        uint32_t random = 1;
        uint64_t offset = 0;
        for (int step = 0; step < 600; step++) {
            random = random * 1664525 + 1013904223;
            size_t want = (random >> 10) % (step % 50 == 49 ? 600000 : 300);
            assert_int_equal(tv_window_at(&window, offset, want, &bytes, NULL), TV_OK);
            check_window(&window, bytes, sizes[s], offset, want);
            offset += step % 40 == 39 ? random % (sizes[s] + 10) : bytes.length - bytes.length / 9;
            if (offset > sizes[s] + 5)
                offset = random % sizes[s];
        }
        tv_window_release(&window);
        tv_source_free(source);
    }
}

static void held_bytes_are_not_read_again(void **state)
{
    (void)state;
    struct pattern pattern;
    struct tv_source *source = open_pattern(&pattern, 3 * TV_WINDOW_SIZE + 1000);
    struct tv_window window;
    struct tv_bytes bytes;
    tv_window_init(&window, source);
    assert_int_equal(pattern.reads, 0);
    /* Consecutive records of 100 bytes: one read per window. */
    uint64_t size = tv_source_size(source);
    for (uint64_t offset = 0; offset < size; offset += 100) {
        assert_int_equal(tv_window_at(&window, offset, 100, &bytes, NULL), TV_OK);
        check_window(&window, bytes, size, offset, 100);
    }
    assert_int_equal(pattern.reads, 4);
    /* At the end, with fewer bytes left than wanted, nothing is read or moved either. */
    const uint8_t *end = bytes.data + bytes.length;
    for (size_t left = 99; left > 0; left--) {
        assert_int_equal(tv_window_at(&window, size - left, 5000, &bytes, NULL), TV_OK);
        assert_ptr_equal(bytes.data, end - left);
    }
    assert_int_equal(pattern.reads, 4);
    tv_window_release(&window);
    tv_source_free(source);
}

static void an_empty_request_still_advances(void **state)
{
    (void)state;
    struct pattern pattern;
    struct tv_source *source = open_pattern(&pattern, 2 * TV_WINDOW_SIZE + 7);
    struct tv_window window;
    struct tv_bytes bytes;
    tv_window_init(&window, source);
    uint64_t offset = 0;
    for (;;) {
        assert_int_equal(tv_window_at(&window, offset, 0, &bytes, NULL), TV_OK);
        if (bytes.length == 0)
            break;
        offset += bytes.length;
    }
    assert_int_equal(offset, tv_source_size(source));
    tv_window_release(&window);
    tv_source_free(source);
}

static void a_request_beyond_the_end_allocates_no_more(void **state)
{
    (void)state;
    struct pattern pattern;
    struct tv_source *source = open_pattern(&pattern, 1000);
    struct tv_window window;
    struct tv_bytes bytes;
    tv_window_init(&window, source);
    assert_int_equal(tv_window_at(&window, 10, SIZE_MAX, &bytes, NULL), TV_OK);
    assert_int_equal(bytes.length, 990);
    assert_true(window.capacity <= 1000);
    tv_window_release(&window);
    tv_source_free(source);
}

static void one_large_want_grows_the_window(void **state)
{
    (void)state;
    struct pattern pattern;
    uint64_t size = 20 * TV_WINDOW_SIZE;
    struct tv_source *source = open_pattern(&pattern, size);
    struct tv_window window;
    struct tv_bytes bytes;
    tv_window_init(&window, source);
    static const size_t wants[] = {1, TV_WINDOW_SIZE + 1, 3 * TV_WINDOW_SIZE, 16 * TV_WINDOW_SIZE};
    for (size_t i = 0; i < TV_COUNT(wants); i++) {
        assert_int_equal(tv_window_at(&window, 1000 + i, wants[i], &bytes, NULL), TV_OK);
        check_window(&window, bytes, size, 1000 + i, wants[i]);
    }
    assert_int_equal(pattern.reads, TV_COUNT(wants));
    tv_window_release(&window);
    tv_source_free(source);
}

/* A record whose end is looked for byte by byte must not make each step copy all of it. */
static void growing_wants_are_read_in_few_steps(void **state)
{
    (void)state;
    struct pattern pattern;
    struct tv_source *source = open_pattern(&pattern, 20 * TV_WINDOW_SIZE);
    struct tv_window window;
    struct tv_bytes bytes;
    tv_window_init(&window, source);
    for (size_t want = 1; want < 19 * TV_WINDOW_SIZE; want += 101)
        assert_int_equal(tv_window_at(&window, 5, want, &bytes, NULL), TV_OK);
    assert_pattern(bytes.data, 5, bytes.length);
    assert_true(pattern.reads < 20);
    tv_window_release(&window);
    tv_source_free(source);
}

static void offsets_have_64_bits(void **state)
{
    (void)state;
    struct pattern pattern;
    uint64_t size = UINT64_C(1) << 42;
    struct tv_source *source = open_pattern(&pattern, size);
    struct tv_window window;
    struct tv_bytes bytes;
    tv_window_init(&window, source);
    static const uint64_t offsets[] = {UINT64_C(0x7fffffff),
                                       UINT64_C(0xfffffff0),
                                       UINT64_C(0x100000000),
                                       UINT64_C(0x123456789a),
                                       0,
                                       UINT64_C(0x3ffffffff00)};
    for (size_t i = 0; i < TV_COUNT(offsets); i++) {
        assert_int_equal(tv_window_at(&window, offsets[i], 70000, &bytes, NULL), TV_OK);
        check_window(&window, bytes, size, offsets[i], 70000);
    }
    assert_int_equal(tv_window_at(&window, UINT64_MAX, 1, &bytes, NULL), TV_OK);
    assert_int_equal(bytes.length, 0);
    tv_window_release(&window);
    tv_source_free(source);
}

static void a_source_that_shrinks_is_an_error_once(void **state)
{
    (void)state;
    struct pattern pattern;
    uint64_t size = 2 * TV_WINDOW_SIZE;
    struct tv_source *source = open_pattern(&pattern, size);
    struct tv_window window;
    struct tv_bytes bytes = {NULL, 77};
    struct tv_error err = {0};
    tv_window_init(&window, source);
    assert_int_equal(tv_window_at(&window, 0, 1, &bytes, &err), TV_OK);
    size_t seam = bytes.length;
    pattern.size = seam + 1;
    bytes.length = 77;
    assert_int_equal(tv_window_at(&window, seam - 10, 100, &bytes, &err), TV_ERR_IO);
    assert_string_equal(err.message, "it shrank");
    assert_int_equal(bytes.length, 77);
    /* What was read before the cut can still be seen. */
    assert_int_equal(tv_window_at(&window, seam - 10, 10, &bytes, &err), TV_OK);
    check_window(&window, bytes, size, seam - 10, 10);
    pattern.size = size;
    assert_int_equal(tv_window_at(&window, seam - 10, 100, &bytes, &err), TV_OK);
    check_window(&window, bytes, size, seam - 10, 100);
    tv_window_release(&window);
    tv_source_free(source);
}

/* Three lines of sixteen bytes, the second of which holds the place. */
static void quotes_the_text_around_an_error(void **context)
{
    static const struct {
        uint64_t offset, at;
        uint32_t count;
    } cases[] = {{0, 0, 48},   {15, 0, 48},   {16, 0, 48},         {40, 16, 48},
                 {95, 64, 36}, {100, 80, 20}, {TV_NO_OFFSET, 0, 0}};
    uint8_t bytes[100];
    (void)context;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    struct tv_source *source = tv_source_from_memory((struct tv_bytes){bytes, sizeof bytes}, "a");
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_error err;
        (void)tv_fail(&err, TV_ERR_SYNTAX, cases[i].offset, "wrong");
        tv_source_quote(source, &err);
        assert_int_equal(err.quoted, cases[i].count);
        if (err.quoted > 0)
            assert_memory_equal(err.quote, bytes + cases[i].at, err.quoted);
        assert_int_equal(err.quoted_at, cases[i].at);
    }
    tv_source_free(source);
}

UNIT_TESTS(
    source, cmocka_unit_test(memory_is_read_within_its_size),
    cmocka_unit_test(an_empty_source_has_no_bytes), cmocka_unit_test(a_failing_read_is_passed_on),
    cmocka_unit_test(a_failed_read_is_remembered), cmocka_unit_test(joined_parts_read_as_one),
    cmocka_unit_test(joining_takes_the_parts_over),
    cmocka_unit_test(a_part_is_a_stretch_of_the_whole), cmocka_unit_test(windows_show_the_source),
    cmocka_unit_test(held_bytes_are_not_read_again),
    cmocka_unit_test(an_empty_request_still_advances),
    cmocka_unit_test(a_request_beyond_the_end_allocates_no_more),
    cmocka_unit_test(one_large_want_grows_the_window),
    cmocka_unit_test(growing_wants_are_read_in_few_steps), cmocka_unit_test(offsets_have_64_bits),
    cmocka_unit_test(a_source_that_shrinks_is_an_error_once),
    cmocka_unit_test(quotes_the_text_around_an_error));
