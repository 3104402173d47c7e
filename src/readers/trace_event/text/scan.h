/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - the innermost loops over event text: to the end of a string, to the end of an object or
 * array.
 *
 * The idea, known from simdjson: compare 16, 32 or 64 bytes at once with the few characters that
 * matter and work on the bits of the result.
 *
 *     bytes     { " a " : " } \ " " }
 *     quotes      1   1   1       1     not the escaped one
 *     strings     1 1 0 0 1 1 1 1 0     prefix parity of the quotes: inside of a string
 *     opens     1                       and closes: brackets that are not inside of strings
 *
 * All loops may read up to 64 bytes after the end.  SSE2 and NEON are part of every x86-64 and
 * AArch64 processor (tests/readers/test-neon runs NEON on any machine); elsewhere plain C does the
 * same.  A file that is compiled for AVX2 defines TV_SCAN_AVX2 before it includes this one, a file
 * that wants plain C TV_SCAN_PLAIN.
 */
#ifndef TV_READERS_TRACE_EVENT_TEXT_SCAN_H
#define TV_READERS_TRACE_EVENT_TEXT_SCAN_H

#include <string.h>

#include "base/types.h"

/* Defined where fast_path_avx2.c has code. */
#if defined(__x86_64__) && defined(__GNUC__)
#define TV_HAS_AVX2
#endif

#if defined(TV_SCAN_PLAIN)
#elif defined(TV_SCAN_AVX2)
#include <immintrin.h>
#define TV_SCAN_SSE2
#elif defined(__SSE2__)
#include <emmintrin.h>
#define TV_SCAN_SSE2
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define TV_SCAN_NEON
#endif

/* Sixteen bytes; tv_sixteen_find returns a bit for each byte that is the character. */
#if defined(TV_SCAN_SSE2)

typedef __m128i tv_sixteen;

TV_INLINE tv_sixteen tv_sixteen_load(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

TV_INLINE uint32_t tv_sixteen_find(tv_sixteen bytes, char c)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

TV_INLINE tv_sixteen tv_sixteen_or(tv_sixteen bytes, char c)
{
    return _mm_or_si128(bytes, _mm_set1_epi8(c));
}

#elif defined(TV_SCAN_NEON)

typedef uint8x16_t tv_sixteen;

TV_INLINE tv_sixteen tv_sixteen_load(const uint8_t *at)
{
    return vld1q_u8(at);
}

/* Return one bit of each byte; the bytes are all ones or all zeros. */
TV_INLINE uint32_t tv_sixteen_bits(tv_sixteen bytes)
{
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vandq_u8(bytes, vld1q_u8(weights));
    return (uint32_t)vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

TV_INLINE uint32_t tv_sixteen_find(tv_sixteen bytes, char c)
{
    return tv_sixteen_bits(vceqq_u8(bytes, vdupq_n_u8((uint8_t)c)));
}

TV_INLINE tv_sixteen tv_sixteen_or(tv_sixteen bytes, char c)
{
    return vorrq_u8(bytes, vdupq_n_u8((uint8_t)c));
}

#else

typedef struct {
    uint8_t bytes[16];
} tv_sixteen;

TV_INLINE tv_sixteen tv_sixteen_load(const uint8_t *at)
{
    tv_sixteen sixteen;
    memcpy(sixteen.bytes, at, sizeof sixteen.bytes);
    return sixteen;
}

TV_INLINE uint32_t tv_sixteen_find(tv_sixteen bytes, char c)
{
    uint32_t found = 0;
    for (unsigned i = 0; i < 16; i++)
        found |= (uint32_t)(bytes.bytes[i] == (uint8_t)c) << i;
    return found;
}

TV_INLINE tv_sixteen tv_sixteen_or(tv_sixteen bytes, char c)
{
    for (unsigned i = 0; i < 16; i++)
        bytes.bytes[i] |= (uint8_t)c;
    return bytes;
}

#endif

TV_INLINE unsigned tv_scan_lowest_bit(uint64_t bits)
{
#if defined(__GNUC__) || defined(__clang__)
    return (unsigned)__builtin_ctzll(bits);
#else
    unsigned place = 0;
    for (; !(bits & 1); bits >>= 1)
        place++;
    return place;
#endif
}

#if defined(TV_SCAN_AVX2)

#define TV_SCAN_STEP 32

/* Return a bit for each of the next bytes that is a quote or a backslash. */
TV_INLINE uint32_t tv_scan_find_ends(const uint8_t *at)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    __m256i backslashes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(quotes, backslashes));
}

#else

#define TV_SCAN_STEP 16

/* Return a bit for each of the next bytes that is a quote or a backslash. */
TV_INLINE uint32_t tv_scan_find_ends(const uint8_t *at)
{
    tv_sixteen bytes = tv_sixteen_load(at);
    return tv_sixteen_find(bytes, '"') | tv_sixteen_find(bytes, '\\');
}

#endif

/* Return the '"' that ends the string whose text begins at `at`; NULL: the string does not end. */
TV_INLINE const uint8_t *tv_scan_string(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        uint32_t found = tv_scan_find_ends(at);
        if (found == 0) {
            at += TV_SCAN_STEP;
            continue;
        }
        at += tv_scan_lowest_bit(found);
        if (*at == '"')
            return at < end ? at : NULL;
        at += 2;
    }
    return NULL;
}

/* A bit for each of sixty-four bytes. */
struct tv_scan_block_bits {
    uint64_t quotes, backslashes, opens, closes;
};

#if defined(TV_SCAN_AVX2)

TV_INLINE uint64_t tv_scan_find_64(__m256i low, __m256i high, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    uint32_t first = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t second = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return first | (uint64_t)second << 32;
}

TV_INLINE struct tv_scan_block_bits tv_scan_block(const uint8_t *at)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32));
    __m256i bit = _mm256_set1_epi8(0x20);
    __m256i low_braces = _mm256_or_si256(low, bit), high_braces = _mm256_or_si256(high, bit);
    return (struct tv_scan_block_bits){
        .quotes = tv_scan_find_64(low, high, '"'),
        .backslashes = tv_scan_find_64(low, high, '\\'),
        .opens = tv_scan_find_64(low_braces, high_braces, '{'),
        .closes = tv_scan_find_64(low_braces, high_braces, '}'),
    };
}

#else

TV_INLINE struct tv_scan_block_bits tv_scan_block(const uint8_t *at)
{
    struct tv_scan_block_bits bits = {0, 0, 0, 0};
    for (unsigned i = 0; i < 64; i += 16) {
        tv_sixteen bytes = tv_sixteen_load(at + i);
        /* Setting one bit makes '{' of '[' and '}' of ']'. */
        tv_sixteen braces = tv_sixteen_or(bytes, 0x20);
        bits.quotes |= (uint64_t)tv_sixteen_find(bytes, '"') << i;
        bits.backslashes |= (uint64_t)tv_sixteen_find(bytes, '\\') << i;
        bits.opens |= (uint64_t)tv_sixteen_find(braces, '{') << i;
        bits.closes |= (uint64_t)tv_sixteen_find(braces, '}') << i;
    }
    return bits;
}

#endif

/* Return the bytes that a backslash escapes; *carry: the first byte of the next block is one. */
TV_INLINE uint64_t tv_scan_escaped_bits(uint64_t backslashes, uint64_t *carry)
{
    uint64_t escaped = *carry;
    *carry = 0;
    backslashes &= ~escaped;
    while (backslashes) {
        uint64_t lowest = backslashes & (0 - backslashes);
        uint64_t next = lowest << 1;
        if (next == 0)
            *carry = 1;
        escaped |= next;
        backslashes &= ~(lowest | next);
    }
    return escaped;
}

/* Return for each bit whether the bits up to it, itself included, are odd in number. */
TV_INLINE uint64_t tv_scan_prefix_parity(uint64_t bits)
{
#if defined(TV_SCAN_AVX2)
    /* A product without carries with all ones is the prefix parity. */
    __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
#else
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
#endif
}

/* The state of the search for the end of an object or array. */
struct tv_scan_nested_state {
    uint64_t depth;
    uint64_t in_string; /* all bits, or none */
    uint64_t carry;     /* the next byte is escaped */
};

/* Scan one block, of which `left` bytes count, at least 1.  Return where the depth comes down to 0;
 * 64: nowhere. */
TV_INLINE unsigned tv_scan_nested_block(struct tv_scan_nested_state *scan, const uint8_t *at,
                                        size_t left)
{
    struct tv_scan_block_bits bits = tv_scan_block(at);
    uint64_t counts = left >= 64 ? UINT64_MAX : ((uint64_t)1 << left) - 1;
    uint64_t escaped = 0;
    if (TV_UNLIKELY((bits.backslashes & counts) | scan->carry)) {
        escaped = tv_scan_escaped_bits(bits.backslashes & counts, &scan->carry);
        if (left < 64)
            scan->carry = escaped >> left & 1;
    }
    uint64_t strings = tv_scan_prefix_parity(bits.quotes & ~escaped & counts) ^ scan->in_string;
    scan->in_string = 0 - (strings >> 63);
    uint64_t opens = bits.opens & ~strings & counts;
    for (uint64_t rest = opens | (bits.closes & ~strings & counts); rest; rest &= rest - 1) {
        uint64_t lowest = rest & (0 - rest);
        scan->depth += opens & lowest ? 1 : UINT64_MAX;
        if (scan->depth == 0)
            return tv_scan_lowest_bit(lowest);
    }
    return 64;
}

/* Continue at `at`.  Return the place after the end of the object or array, or NULL when it does
 * not end before `end`.  Brackets are counted, whatever their kind. */
TV_INLINE const uint8_t *tv_scan_nested_next(struct tv_scan_nested_state *scan, const uint8_t *at,
                                             const uint8_t *end)
{
    for (; at < end; at += 64) {
        unsigned place = tv_scan_nested_block(scan, at, (size_t)(end - at));
        if (place < 64)
            return at + place + 1;
    }
    return NULL;
}

/* Return the place after the object or array that begins at `at`, or NULL. */
TV_INLINE const uint8_t *tv_scan_nested(const uint8_t *at, const uint8_t *end)
{
    struct tv_scan_nested_state scan = {0, 0, 0};
    if ((at[1] == '}' || at[1] == ']') && end - at >= 2)
        return at + 2;
    return tv_scan_nested_next(&scan, at, end);
}

#endif
