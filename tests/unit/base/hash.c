/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - tests of base/hash.h: what a table needs of a hash.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static int compare_u64(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void assert_distinct(uint64_t *hashes, size_t count)
{
    qsort(hashes, count, sizeof *hashes, compare_u64);
    for (size_t i = 1; i < count; i++)
        assert_true(hashes[i - 1] != hashes[i]);
}

static void same_bytes_anywhere_give_the_same_hash(void **state)
{
    (void)state;
    uint8_t buffer[80];
    for (size_t length = 0; length <= 40; length++) {
        uint64_t first = 0;
        for (size_t at = 0; at < 16; at++) {
            memset(buffer, (int)at, sizeof buffer); /* what stands around does not matter */
            for (size_t i = 0; i < length; i++)
                buffer[at + i] = (uint8_t)(i * 37);
            uint64_t hash = tv_hash_bytes((struct tv_bytes){buffer + at, length});
            if (at == 0)
                first = hash;
            assert_true(hash == first);
        }
    }
    tv_hash_bytes((struct tv_bytes){NULL, 0});
}

/* All lengths up to 40, and for each all changes of one bit: no two hashes are equal. */
static void every_bit_and_the_length_count(void **state)
{
    (void)state;
    static uint64_t hashes[41 * 40 * 4 + 41];
    uint8_t bytes[40] = {0};
    size_t count = 0;
    for (size_t length = 0; length <= 40; length++) {
        struct tv_bytes view = {bytes, length};
        hashes[count++] = tv_hash_bytes(view);
        for (size_t bit = 0; bit < length * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            hashes[count++] = tv_hash_bytes(view);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
    assert_true(count <= TV_COUNT(hashes));
    assert_distinct(hashes, count);
}

/* Neighbouring keys spread over a table of twice their number: by chance alone 1 - e^-0.5 = 39 % of
 * the places would be taken. */
static void low_bits_spread(void **state)
{
    (void)state;
    static uint8_t taken[1 << 16];
    for (unsigned shift = 0; shift <= 48; shift += 16) {
        memset(taken, 0, sizeof taken);
        size_t used = 0;
        for (uint64_t key = 0; key < 1 << 15; key++) {
            size_t place = tv_hash_u64(key << shift) & 0xffff;
            used += taken[place] == 0;
            taken[place] = 1;
        }
        assert_true(used > (size_t)(0.37 * (1 << 16)));
    }
}

static void u64_keeps_keys_apart(void **state)
{
    (void)state;
    static uint64_t hashes[100000];
    for (uint64_t i = 0; i < TV_COUNT(hashes); i++)
        hashes[i] = tv_hash_u64(i << 20 | i);
    assert_distinct(hashes, TV_COUNT(hashes));
}

/* ---- Checksum ---- */

#define MOST 200

static void fill(uint8_t *bytes)
{
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
}

static void every_flipped_bit_shows(void **state)
{
    uint8_t bytes[MOST];
    (void)state;
    fill(bytes);
    for (size_t length = 1; length <= MOST; length++) {
        struct tv_bytes all = {bytes, length};
        uint64_t sum = tv_checksum(all, 5);
        for (size_t bit = 0; bit < length * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(tv_checksum(all, 5), sum);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        assert_int_equal(tv_checksum(all, 5), sum);
    }
}

static void length_seed_and_order_show(void **state)
{
    uint8_t bytes[MOST] = {0}, swapped[MOST];
    (void)state;
    for (size_t length = 0; length < MOST; length++)
        assert_int_not_equal(tv_checksum((struct tv_bytes){bytes, length}, 0),
                             tv_checksum((struct tv_bytes){bytes, length + 1}, 0));
    assert_int_not_equal(tv_checksum((struct tv_bytes){bytes, 8}, 0),
                         tv_checksum((struct tv_bytes){bytes, 8}, 1));
    fill(bytes);
    for (size_t i = 0; i < 128; i++)
        swapped[i] = bytes[(i + 64) % 128];
    assert_int_not_equal(tv_checksum((struct tv_bytes){bytes, 128}, 0),
                         tv_checksum((struct tv_bytes){swapped, 128}, 0));
}

UNIT_TESTS(hash, cmocka_unit_test(same_bytes_anywhere_give_the_same_hash),
           cmocka_unit_test(every_bit_and_the_length_count), cmocka_unit_test(low_bits_spread),
           cmocka_unit_test(u64_keeps_keys_apart), cmocka_unit_test(every_flipped_bit_shows),
           cmocka_unit_test(length_seed_and_order_show));
