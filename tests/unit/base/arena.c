/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - tests of base/arena.h.
 */
#include "unit.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "child.h"

#include <string.h>

static volatile size_t half_bits = (size_t)1 << (sizeof(size_t) * 4);

static void empty_owns_nothing(void **state)
{
    (void)state;
    struct tv_arena arena;
    tv_arena_init(&arena);
    assert_int_equal(arena.total, 0);
    tv_arena_release(&arena);
    tv_arena_release(&arena);
}

/* Pieces of all sizes are zero, aligned, and do not overlap: each keeps the byte it was filled
 * with. */
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
    memset(piece, 0, sizeof piece); /* so that the leak checker sees blocks that get lost */
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
    /* A large piece does not throw away the block that small ones come from. */
    assert_ptr_equal(smaller, small + 16);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(small[i] | smaller[i], 0);
    assert_int_equal(first[4999999], 1);
    tv_arena_release(&arena);
}

static void nothing_has_an_address(void **state)
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
    /* Texts that just fit, and just do not, into what is left of a block. */
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

UNIT_TESTS(arena, cmocka_unit_test(empty_owns_nothing), cmocka_unit_test(pieces_stand_apart),
           cmocka_unit_test(large_pieces), cmocka_unit_test(nothing_has_an_address),
           cmocka_unit_test(texts_end_with_a_nul), cmocka_unit_test(overflow_ends_the_program));
