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

/* Up to seven bytes in one word.  Overlapping loads are fine: the length is hashed as well. */
static uint64_t load_short(const uint8_t *at, size_t length)
{
    if (length >= 4)
        return load32(at) | load32(at + length - 4) << 32;
    if (length == 0)
        return 0;
    return (uint64_t)at[0] | (uint64_t)at[length / 2] << 8 | (uint64_t)at[length - 1] << 16;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * MULTIPLIER;
    return hash ^ hash >> 32;
}

uint64_t tv_hash_bytes(struct tv_bytes bytes)
{
    uint64_t hash = bytes.length * MULTIPLIER;
    if (bytes.length < 8)
        return tv_hash_u64(mix(hash, load_short(bytes.data, bytes.length)));

    const uint8_t *at = bytes.data;
    const uint8_t *last = bytes.data + bytes.length - 8;
    for (; at < last; at += 8)
        hash = mix(hash, load64(at));
    return tv_hash_u64(mix(hash, load64(last)));
}
