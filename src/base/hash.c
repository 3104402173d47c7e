/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - hashing of byte strings, eight at a time.
 */
#include "base/hash.h"

#include <string.h>

/* Odd, with its bits well spread: the golden ratio. */
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

static uint64_t load64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t load32(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* One to seven bytes in one word, some of them twice: the length is hashed as well.  No byte goes
 * into two words, where changes of it could cancel out. */
static uint64_t load_short(const uint8_t *at, size_t length)
{
    if (length >= 4)
        return load32(at) | load32(at + length - 4) << 32;
    return (uint64_t)at[0] | (uint64_t)at[length / 2] << 8 | (uint64_t)at[length - 1] << 16;
}

/* Different words give different results.  The shift is no multiple of 8: else the change of a top
 * bit, which the multiplication leaves alone, looks like that of a bit that load_short gives twice.
 */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * MULTIPLIER;
    return hash ^ hash >> 29;
}

uint64_t tv_hash_bytes(struct tv_bytes bytes)
{
    uint64_t hash = bytes.length * MULTIPLIER;
    const uint8_t *at = bytes.data;
    size_t left = bytes.length;
    for (; left >= 8; at += 8, left -= 8)
        hash = mix(hash, load64(at));
    if (left > 0)
        hash = mix(hash, load_short(at, left));
    return tv_hash_u64(hash);
}
