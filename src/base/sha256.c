/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <string.h>

#define BLOCK 64u

/* The length of the text, in bits, stands in the last eight bytes of its last block. */
#define LENGTH_SIZE 8u

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[BLOCK];
};

/* The fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* Those of the square roots of the first eight (5.3.3). */
static void begin(struct sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->length = 0;
}

static uint32_t turn(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void fill_schedule(const uint8_t *block, uint32_t words[64])
{
    for (unsigned i = 0; i < 16; i++, block += 4)
        words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
                   block[3];
    for (unsigned i = 16; i < 64; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        uint32_t small = turn(a, 7) ^ turn(a, 18) ^ a >> 3;
        uint32_t large = turn(b, 17) ^ turn(b, 19) ^ b >> 10;
        words[i] = words[i - 16] + small + words[i - 7] + large;
    }
}

/* Section 6.2.2; s[0] to s[7] are its a to h. */
static void take_block(struct sha256 *hash, const uint8_t *block)
{
    uint32_t words[64], s[8];
    fill_schedule(block, words);
    memcpy(s, hash->state, sizeof s);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + choice +
                       constants[i] + words[i];
        uint32_t two = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

static void take(struct sha256 *hash, struct tv_bytes text)
{
    while (text.length > 0) {
        size_t filled = (size_t)(hash->length % BLOCK);
        size_t size = text.length < BLOCK - filled ? text.length : BLOCK - filled;
        memcpy(hash->block + filled, text.data, size);
        hash->length += size;
        text.data += size;
        text.length -= size;
        if (filled + size == BLOCK)
            take_block(hash, hash->block);
    }
}

static void put_word(uint8_t *at, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* Padding: a one, zeros, the length (5.1.1). */
static void finish(struct sha256 *hash, uint8_t digest[TV_SHA256_SIZE])
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = hash->length * 8;
    size_t filled = (size_t)(hash->length % BLOCK);
    size_t room = filled < BLOCK - LENGTH_SIZE ? BLOCK : 2 * BLOCK;
    uint8_t length[LENGTH_SIZE];
    put_word(length, (uint32_t)(bits >> 32));
    put_word(length + 4, (uint32_t)bits);
    take(hash, (struct tv_bytes){padding, room - LENGTH_SIZE - filled});
    take(hash, (struct tv_bytes){length, LENGTH_SIZE});
    for (unsigned i = 0; i < 8; i++)
        put_word(digest + (size_t)4 * i, hash->state[i]);
}

void tv_sha256(struct tv_bytes text, uint8_t digest[TV_SHA256_SIZE])
{
    struct sha256 hash;
    begin(&hash);
    take(&hash, text);
    finish(&hash, digest);
}

/* H(key ^ pad, text), where `key` fills a block. */
static void hash_padded(const uint8_t key[BLOCK], uint8_t pad, struct tv_bytes text,
                        uint8_t digest[TV_SHA256_SIZE])
{
    struct sha256 hash;
    uint8_t block[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++)
        block[i] = key[i] ^ pad;
    begin(&hash);
    take(&hash, (struct tv_bytes){block, BLOCK});
    take(&hash, text);
    finish(&hash, digest);
}

void tv_hmac_sha256(struct tv_bytes key, struct tv_bytes text, uint8_t digest[TV_SHA256_SIZE])
{
    uint8_t block[BLOCK] = {0}, inner[TV_SHA256_SIZE];
    if (key.length > BLOCK)
        tv_sha256(key, block);
    else if (key.length > 0)
        memcpy(block, key.data, key.length);
    hash_padded(block, 0x36, text, inner);
    hash_padded(block, 0x5c, (struct tv_bytes){inner, sizeof inner}, digest);
}
