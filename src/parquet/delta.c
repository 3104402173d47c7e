/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delta.c - the encoding DELTA_BINARY_PACKED (internal.h).
 *
 *     128, 4, count, first number
 *     block: smallest difference, 4 widths, 4 groups of 32 differences less the smallest, packed
 *
 * Numbers are varints, signed ones in zigzag form.  Differences of 32 bits wrap at 32 bits.
 */
#include "parquet/internal.h"

#include <assert.h>

#define BLOCK 128u
#define GROUPS 4u
#define GROUP (BLOCK / GROUPS)

static uint64_t delta_get(struct tv_bytes numbers, size_t size, size_t i)
{
    uint64_t value = 0;
    for (size_t k = 0; k < size; k++)
        value |= (uint64_t)numbers.data[i * size + k] << 8 * k;
    return value;
}

/* Widen the low `size` bytes of a number with its sign. */
static int64_t delta_sign(uint64_t value, size_t size)
{
    return size == 4 ? (int64_t)(int32_t)(uint32_t)value : (int64_t)value;
}

static void delta_put_zigzag(struct tv_out *out, int64_t value)
{
    tv_thrift_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

/* Append 32 numbers of `width` bits, the lowest bits first. */
static void delta_pack(struct tv_out *out, const uint64_t *numbers, unsigned width)
{
    uint8_t packed[GROUP * 8] = {0};
    size_t at = 0; /* bit */
    for (size_t i = 0; i < GROUP; i++) {
        uint64_t rest = numbers[i];
        for (unsigned left = width; left > 0;) {
            unsigned shift = at % 8, room = 8 - shift, some = left < room ? left : room;
            packed[at / 8] |= (uint8_t)((rest & ((1u << some) - 1)) << shift);
            rest >>= some;
            at += some;
            left -= some;
        }
    }
    tv_out_bytes(out, (struct tv_bytes){packed, (size_t)width * GROUP / 8});
}

/* Append a block of up to 128 differences; those beyond `count` are 0. */
static void delta_put_block(struct tv_out *out, uint64_t differences[BLOCK], size_t count,
                            size_t size)
{
    uint8_t widths[GROUPS] = {0};
    int64_t least = delta_sign(differences[0], size);
    for (size_t i = 1; i < count; i++)
        if (delta_sign(differences[i], size) < least)
            least = delta_sign(differences[i], size);
    for (size_t i = 0; i < count; i++) {
        uint64_t more = differences[i] - (uint64_t)least;
        differences[i] = size == 4 ? (uint32_t)more : more;
        while (widths[i / GROUP] < 64 && differences[i] >> widths[i / GROUP] != 0)
            widths[i / GROUP]++;
    }
    delta_put_zigzag(out, least);
    tv_out_bytes(out, (struct tv_bytes){widths, GROUPS});
    for (size_t i = 0; i * GROUP < count; i++)
        delta_pack(out, differences + i * GROUP, widths[i]);
}

void tv_parquet_put_delta(struct tv_out *out, struct tv_bytes numbers, size_t size)
{
    assert((size == 4 || size == 8) && numbers.length >= size);
    size_t count = numbers.length / size;
    uint64_t last = delta_get(numbers, size, 0);
    tv_thrift_varint(out, BLOCK);
    tv_thrift_varint(out, GROUPS);
    tv_thrift_varint(out, count);
    delta_put_zigzag(out, delta_sign(last, size));
    for (size_t first = 1; first < count; first += BLOCK) {
        uint64_t differences[BLOCK] = {0};
        size_t some = count - first < BLOCK ? count - first : BLOCK;
        for (size_t i = 0; i < some; i++) {
            uint64_t value = delta_get(numbers, size, first + i);
            differences[i] = value - last;
            last = value;
        }
        delta_put_block(out, differences, some, size);
    }
}
