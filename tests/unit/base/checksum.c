/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.c - tests of base/checksum.h.
 */
#include "unit.h"

#include "base/checksum.h"

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

UNIT_TESTS(checksum, cmocka_unit_test(every_flipped_bit_shows),
           cmocka_unit_test(length_seed_and_order_show));
