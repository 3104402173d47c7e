/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.c - eight sums side by side, as one has to wait for each multiplication.
 *
 * Each step takes one word into one sum and can be undone when the word is known: so a difference
 * stays one.
 */
#include "base/checksum.h"

#include <string.h>

#include "base/hash.h"

#define LANES 8u
#define WORD sizeof(uint64_t)
#define STRIPE (LANES * WORD)

/* Odd, with its bits well spread. */
#define MULTIPLIER UINT64_C(0x9fb21c651e98df25)

static uint64_t load(const uint8_t *at, size_t length)
{
    uint64_t word = 0;
    memcpy(&word, at, length);
    return word;
}

TV_INLINE uint64_t step(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * MULTIPLIER;
    return sum ^ sum >> 32;
}

uint64_t tv_checksum(struct tv_bytes bytes, uint64_t seed)
{
    uint64_t sums[LANES], all = tv_hash_u64(seed ^ tv_hash_u64(bytes.length + 1));
    const uint8_t *at = bytes.data;
    size_t left = bytes.length;
    for (unsigned i = 0; i < LANES; i++)
        sums[i] = all + i;
    for (; left >= STRIPE; at += STRIPE, left -= STRIPE)
        for (unsigned i = 0; i < LANES; i++)
            sums[i] = step(sums[i], load(at + i * WORD, WORD));
    for (unsigned i = 0; left > 0; i++) {
        size_t length = left < WORD ? left : WORD;
        sums[i] = step(sums[i], load(at, length));
        at += length;
        left -= length;
    }
    for (unsigned i = 0; i < LANES; i++)
        all = tv_hash_u64(all ^ sums[i]) + i;
    return all;
}
