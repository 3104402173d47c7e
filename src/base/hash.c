/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - hashes of byte strings, eight bytes per step, and the checksum of index files.
 */
#include "base/hash.h"

#include <string.h>

/* The golden ratio as an odd 64-bit number: its bits are well spread. */
#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

static uint64_t hash_load_u64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t hash_load_u32(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Pack one to seven bytes into one word; some bytes appear twice, which is harmless because the
 * length is hashed as well.  Never spread a byte over two words: changes in both could cancel out.
 */
static uint64_t hash_load_short(const uint8_t *at, size_t length)
{
    if (length >= 4)
        return hash_load_u32(at) | hash_load_u32(at + length - 4) << 32;
    return (uint64_t)at[0] | (uint64_t)at[length / 2] << 8 | (uint64_t)at[length - 1] << 16;
}

/* Mix a word into the hash; the step is a bijection in `word`.  The shift is no multiple of 8: the
 * multiplication moves the top bit nowhere, and a multiple of 8 would put it where hash_load_short
 * puts a duplicate. */
static uint64_t hash_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * HASH_MULTIPLIER;
    return hash ^ hash >> 29;
}

uint64_t tv_hash_bytes(struct tv_bytes bytes)
{
    uint64_t hash = bytes.length * HASH_MULTIPLIER;
    const uint8_t *at = bytes.data;
    size_t left = bytes.length;
    for (; left >= 8; at += 8, left -= 8)
        hash = hash_mix(hash, hash_load_u64(at));
    if (left > 0)
        hash = hash_mix(hash, hash_load_short(at, left));
    return tv_hash_u64(hash);
}

/*
 * ---- Checksum ----
 *
 * Eight independent sums run side by side, because each multiplication waits for the one before it
 * in its own sum.  Each step is a bijection for a given word, so a difference between two inputs
 * never vanishes on the way.
 *
 *     bytes   | w0 | w1 | ... | w7 | w8 | w9 | ...
 *     sums      s0   s1         s7   s0   s1
 */

#define CHECKSUM_LANES 8u
#define CHECKSUM_WORD sizeof(uint64_t)
#define CHECKSUM_STRIPE (CHECKSUM_LANES * CHECKSUM_WORD)

/* Odd, so the multiplication is a bijection; its bits are well spread. */
#define CHECKSUM_MULTIPLIER UINT64_C(0x9fb21c651e98df25)

static uint64_t checksum_load_word(const uint8_t *at, size_t length)
{
    uint64_t word = 0;
    memcpy(&word, at, length);
    return word;
}

TV_INLINE uint64_t checksum_mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * CHECKSUM_MULTIPLIER;
    return sum ^ sum >> 32;
}

uint64_t tv_checksum(struct tv_bytes bytes, uint64_t seed)
{
    uint64_t sums[CHECKSUM_LANES], all = tv_hash_u64(seed ^ tv_hash_u64(bytes.length + 1));
    const uint8_t *at = bytes.data;
    size_t left = bytes.length;
    for (unsigned i = 0; i < CHECKSUM_LANES; i++)
        sums[i] = all + i;
    for (; left >= CHECKSUM_STRIPE; at += CHECKSUM_STRIPE, left -= CHECKSUM_STRIPE)
        for (unsigned i = 0; i < CHECKSUM_LANES; i++)
            sums[i] =
                checksum_mix(sums[i], checksum_load_word(at + i * CHECKSUM_WORD, CHECKSUM_WORD));
    for (unsigned i = 0; left > 0; i++) {
        size_t length = left < CHECKSUM_WORD ? left : CHECKSUM_WORD;
        sums[i] = checksum_mix(sums[i], checksum_load_word(at, length));
        at += length;
        left -= length;
    }
    for (unsigned i = 0; i < CHECKSUM_LANES; i++)
        all = tv_hash_u64(all ^ sums[i]) + i;
    return all;
}
