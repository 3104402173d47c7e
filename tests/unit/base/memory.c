/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - tests of base/memory.h.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/heap.h"
#include "base/memory.h"
#include "child.h"

/* Not constants, which the compiler would warn about. */
static volatile size_t too_much = SIZE_MAX / 2;
static volatile size_t half_bits = (size_t)1 << (sizeof(size_t) * 4);

static void assert_zeros(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        assert_int_equal(bytes[i], 0);
}

static void allocates_zeros(void **state)
{
    (void)state;
    for (size_t count = 1; count < 3000; count += 97) {
        uint8_t *memory = tv_alloc(count, 3);
        assert_zeros(memory, count * 3);
        memset(memory, 0xee, count * 3); /* for the next one to find */
        tv_free(memory);
    }
}

static void zero_bytes_have_an_address(void **state)
{
    (void)state;
    void *a = tv_alloc(0, 8);
    void *b = tv_alloc(8, 0);
    void *c = tv_realloc(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    c = tv_realloc(c, 4, 0);
    assert_non_null(c);
    tv_free(a);
    tv_free(b);
    tv_free(c);
    tv_free(NULL);
}

static void realloc_keeps_the_contents(void **state)
{
    (void)state;
    uint32_t *numbers = tv_realloc(NULL, 10, sizeof *numbers);
    for (uint32_t i = 0; i < 10; i++)
        numbers[i] = i * i;
    numbers = tv_realloc(numbers, 100000, sizeof *numbers);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(numbers[i], i * i);
    tv_free(numbers);
}

static void multiplies_up_to_the_limit(void **state)
{
    (void)state;
    assert_int_equal(tv_size_mul(0, SIZE_MAX), 0);
    assert_int_equal(tv_size_mul(SIZE_MAX, 0), 0);
    assert_int_equal(tv_size_mul(SIZE_MAX, 1), SIZE_MAX);
    assert_int_equal(tv_size_mul(SIZE_MAX / 2, 2), SIZE_MAX - 1);
    assert_int_equal(tv_size_mul(half_bits - 1, half_bits), SIZE_MAX - half_bits + 1);
}

static void multiply_too_much(void)
{
    tv_size_mul(half_bits, half_bits);
}

static void multiply_one_too_much(void)
{
    tv_size_mul(SIZE_MAX / 2 + 1, 2);
}

static void alloc_overflow(void)
{
    tv_alloc(half_bits, half_bits + 1);
}

static void alloc_too_much(void)
{
    tv_alloc(too_much, 1);
}

static void realloc_overflow(void)
{
    tv_realloc(NULL, half_bits, half_bits);
}

static void realloc_too_much(void)
{
    tv_realloc(tv_alloc(1, 1), too_much, 1);
}

static void reserve_overflow(void)
{
    size_t capacity = 0;
    tv_array_reserve(NULL, &capacity, half_bits, half_bits);
}

static void pages_too_many(void)
{
    tv_pages_alloc(too_much);
}

static void pages_overflow(void)
{
    tv_pages_alloc(SIZE_MAX - 5);
}

static void running_out_ends_the_program(void **state)
{
    (void)state;
    child_must_run_out_of_memory(tv_memory_exhausted);
    child_must_run_out_of_memory(multiply_too_much);
    child_must_run_out_of_memory(multiply_one_too_much);
    child_must_run_out_of_memory(alloc_overflow);
    child_must_run_out_of_memory(alloc_too_much);
    child_must_run_out_of_memory(realloc_overflow);
    child_must_run_out_of_memory(realloc_too_much);
    child_must_run_out_of_memory(reserve_overflow);
    child_must_run_out_of_memory(pages_too_many);
    child_must_run_out_of_memory(pages_overflow);
}

static void reserve_doubles(void **state)
{
    (void)state;
    uint16_t *array = NULL;
    size_t capacity = 0, moves = 0;
    for (size_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        array = tv_array_reserve(array, &capacity, i + 1, sizeof *array);
        moves += capacity != before;
        assert_true(capacity > i);
        array[i] = (uint16_t)i;
    }
    assert_true(moves < 20);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(array[i], (uint16_t)i);
    assert_ptr_equal(tv_array_reserve(array, &capacity, 5, sizeof *array), array);
    tv_free(array);
}

static void reserve_grows_to_the_needed_size(void **state)
{
    (void)state;
    size_t capacity = 0;
    void *array = tv_array_reserve(NULL, &capacity, 0, 8);
    assert_null(array);
    array = tv_array_reserve(array, &capacity, 12345, 8);
    assert_int_equal(capacity, 12345);
    tv_free(array);
}

static void pages_are_zero_and_writable(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4096, 65537, 2097151, 2097152, 2097153, 10000000};
    for (size_t i = 0; i < TV_COUNT(sizes); i++) {
        uint8_t *memory = tv_pages_alloc(sizes[i]);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % (sizes[i] < 65536 ? 16 : 4096), 0);
        if (sizes[i] >= 2097152)
            assert_int_equal((uintptr_t)memory % 2097152, 0);
        for (size_t at = 0; at < sizes[i]; at += 1021)
            assert_int_equal(memory[at], 0);
        if (sizes[i] > 0)
            memset(memory, 0xee, sizes[i]);
        tv_pages_free(memory, sizes[i]);
    }
    tv_pages_free(NULL, 4096);
}

/* Does glibc count memory as in a release build?  Sanitizers replace its allocator. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)
#define IS_PLAIN true
#elif !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) &&                     \
    !__has_feature(memory_sanitizer)
#define IS_PLAIN true
#endif
#endif
#ifndef IS_PLAIN
#define IS_PLAIN false
#endif

static long resident_pages(void)
{
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &total, &resident), 2);
    fclose(file);
    return resident;
}

/* Freeing a large array must not make glibc keep later ones. */
static void gives_large_arrays_back(void **state)
{
    enum { LARGE = 8 << 20, ABOVE = 100000 };
    (void)state;
    tv_free(tv_alloc(2, LARGE));
    uint8_t *array = tv_alloc(1, LARGE), *above = tv_alloc(1, ABOVE);
    memset(array, 1, LARGE);
    memset(above, 1, ABOVE);
    long before = resident_pages();
    tv_free(array);
    long given = before - resident_pages();
    tv_free(above);
    if (IS_PLAIN)
        assert_true(given > (long)LARGE / 2 / sysconf(_SC_PAGESIZE));
}

/* 64 MB in blocks of 32 KB, every 64th of which stays. */
static void gives_back_unused_pages(void **state)
{
    enum { PIECES = 2048, PIECE = 32768, EACH = 64 };
    static uint8_t *pieces[PIECES];
    (void)state;
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = tv_alloc(1, PIECE);
        memset(pieces[i], (int)(i % 251), PIECE);
    }
    for (size_t i = 0; i < PIECES; i++)
        if (i % EACH != EACH - 1)
            tv_free(pieces[i]);
    long before = resident_pages();
    tv_memory_trim();
    long given = before - resident_pages();
    for (size_t i = EACH - 1; i < PIECES; i += EACH) {
        for (size_t at = 0; at < PIECE; at++)
            assert_int_equal(pieces[i][at], i % 251);
        tv_free(pieces[i]);
    }
    if (IS_PLAIN)
        assert_true(given > (long)PIECES / 2 * PIECE / sysconf(_SC_PAGESIZE));
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
    size_t at = 0;
    while (at < length && bytes[at] == 0)
        at++;
    return at == length;
}

/* Exit with 1 if a kept block is not like a fresh one, with 2 if more than 64 MiB are kept. */
static void use_kept_pages(void)
{
    enum { PIECES = 40, PIECE = 4 << 20, KEPT = 64 << 20 };
    static const size_t sizes[] = {1 << 20, 3 << 20, 10000000};
    static uint8_t *pieces[PIECES];
    tv_memory_keep();
    for (size_t i = 0; i < TV_COUNT(sizes); i++) {
        for (size_t round = 0; round < 2;
             round++) { /* two blocks, which are kept after the first */
            uint8_t *one = tv_pages_alloc(sizes[i]), *other = tv_pages_alloc(sizes[i]);
            if (one == other || !is_zero(one, sizes[i]) || !is_zero(other, sizes[i]))
                _exit(1);
            memset(one, 0xee, sizes[i]);
            memset(other, 0xdd, sizes[i]);
            tv_pages_free(one, sizes[i]);
            tv_pages_free(other, sizes[i]);
        }
    }
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = tv_pages_alloc(PIECE);
        memset(pieces[i], 1, PIECE);
    }
    long before = resident_pages();
    for (size_t i = 0; i < PIECES; i++)
        tv_pages_free(pieces[i], PIECE);
    long given = before - resident_pages();
    if (IS_PLAIN && given < ((long)PIECES * PIECE - KEPT) / sysconf(_SC_PAGESIZE))
        _exit(2);
}

static void kept_pages_are_zero_and_few(void **state)
{
    char text[CHILD_TEXT];
    (void)state;
    assert_int_equal(child_run(use_kept_pages, text), 0);
}

/* ---- Arena ---- */

static void an_empty_array_owns_no_memory(void **state)
{
    (void)state;
    struct tv_arena arena;
    tv_arena_init(&arena);
    assert_int_equal(arena.total, 0);
    tv_arena_release(&arena);
    tv_arena_release(&arena);
}

/* Blocks of all sizes are zero, aligned, and do not overlap: each keeps its fill byte. */
static void pieces_stand_apart(void **state)
{
    (void)state;
    enum { PIECES = 3000 };
    static uint8_t *piece[PIECES];
    static size_t size[PIECES];
    struct tv_arena arena;
    tv_arena_init(&arena);
    uint32_t random = 1;
    for (size_t i = 0; i < PIECES; i++) {
        random = random * 1664525 + 1013904223;
        size[i] = (random >> 8) % (i % 100 == 99 ? 70000 : 200);
        if (i % 3 == 0) {
            char text[200];
            size[i] %= sizeof text;
            memset(text, (int)(i % 251), sizeof text);
            piece[i] =
                (uint8_t *)tv_arena_text(&arena, (struct tv_bytes){(const uint8_t *)text, size[i]});
            assert_int_equal(piece[i][size[i]], 0);
        } else {
            piece[i] = tv_arena_alloc(&arena, size[i], 1);
            assert_int_equal((uintptr_t)piece[i] % 16, 0);
            for (size_t at = 0; at < size[i]; at++)
                assert_int_equal(piece[i][at], 0);
            memset(piece[i], (int)(i % 251), size[i]);
        }
    }
    size_t sum = 0;
    for (size_t i = 0; i < PIECES; i++) {
        sum += size[i];
        for (size_t at = 0; at < size[i]; at++)
            assert_int_equal(piece[i][at], i % 251);
    }
    assert_true(arena.total >= sum);
    assert_true(arena.total < sum * 2);
    memset(piece, 0, sizeof piece); /* so that the leak checker sees lost blocks */
    tv_arena_release(&arena);
    assert_int_equal(arena.total, 0);
}

static void large_pieces(void **state)
{
    (void)state;
    struct tv_arena arena;
    tv_arena_init(&arena);
    uint8_t *first = tv_arena_alloc(&arena, 5000000, 1); /* larger than any block */
    uint8_t *small = tv_arena_alloc(&arena, 1, 10);
    uint8_t *second = tv_arena_alloc(&arena, 3, 1000000);
    uint8_t *smaller = tv_arena_alloc(&arena, 1, 10);
    memset(first, 1, 5000000);
    memset(second, 2, 3000000);
    /* A large block does not discard the block that small ones come from. */
    assert_ptr_equal(smaller, small + 16);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(small[i] | smaller[i], 0);
    assert_int_equal(first[4999999], 1);
    tv_arena_release(&arena);
}

static void zero_bytes_of_an_arena_have_an_address(void **state)
{
    (void)state;
    struct tv_arena arena;
    tv_arena_init(&arena);
    void *a = tv_arena_alloc(&arena, 0, 8);
    void *b = tv_arena_alloc(&arena, 8, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    tv_arena_release(&arena);
}

static void texts_end_with_a_nul(void **state)
{
    (void)state;
    struct tv_arena arena;
    tv_arena_init(&arena);
    const char *empty = tv_arena_text(&arena, (struct tv_bytes){NULL, 0});
    assert_string_equal(empty, "");
    struct tv_bytes with_nul = TV_BYTES("a\0b");
    const char *copy = tv_arena_text(&arena, with_nul);
    assert_memory_equal(copy, "a\0b\0", 4);
    /* Texts that just fit, and just do not fit, into the rest of a block. */
    for (size_t i = 0; i < 300; i++) {
        char text[301];
        memset(text, 'x', i);
        text[i] = '\0';
        assert_string_equal(tv_arena_text(&arena, tv_bytes_of(text)), text);
    }
    tv_arena_release(&arena);
}

static void count_times_size_overflows(void)
{
    struct tv_arena arena;
    tv_arena_init(&arena);
    tv_arena_alloc(&arena, half_bits, half_bits + 1);
}

static void alignment_overflows(void)
{
    struct tv_arena arena;
    tv_arena_init(&arena);
    tv_arena_alloc(&arena, SIZE_MAX - 3, 1);
}

static void head_overflows(void)
{
    struct tv_arena arena;
    tv_arena_init(&arena);
    tv_arena_alloc(&arena, 1, 1);
    tv_arena_alloc(&arena, SIZE_MAX - 15, 1);
}

static void overflow_ends_the_program(void **state)
{
    (void)state;
    child_must_run_out_of_memory(count_times_size_overflows);
    child_must_run_out_of_memory(alignment_overflows);
    child_must_run_out_of_memory(head_overflows);
}

UNIT_TESTS(memory, cmocka_unit_test(allocates_zeros), cmocka_unit_test(zero_bytes_have_an_address),
           cmocka_unit_test(realloc_keeps_the_contents),
           cmocka_unit_test(multiplies_up_to_the_limit),
           cmocka_unit_test(running_out_ends_the_program), cmocka_unit_test(reserve_doubles),
           cmocka_unit_test(reserve_grows_to_the_needed_size),
           cmocka_unit_test(pages_are_zero_and_writable), cmocka_unit_test(gives_large_arrays_back),
           cmocka_unit_test(gives_back_unused_pages), cmocka_unit_test(kept_pages_are_zero_and_few),
           cmocka_unit_test(an_empty_array_owns_no_memory), cmocka_unit_test(pieces_stand_apart),
           cmocka_unit_test(large_pieces), cmocka_unit_test(zero_bytes_of_an_arena_have_an_address),
           cmocka_unit_test(texts_end_with_a_nul), cmocka_unit_test(overflow_ends_the_program));
