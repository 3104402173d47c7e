/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the scalars that every room shares.
 *
 * base is the lowest room: it knows nothing of traces and includes nothing of the other rooms.
 */
#ifndef TV_BASE_TYPES_H
#define TV_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds, a point in time from the trace's origin or a length. */
typedef int64_t tv_ns;

/* Add to a sum of times.  A sum that does not fit stops at the largest number, 292 years, instead
 * of wrapping around to a negative one: a trace can state lengths whose sum no number holds
 * (TV_DIAGNOSTIC_TIME_SATURATED). */
static inline void tv_time_add(tv_ns *sum, tv_ns time)
{
    if (__builtin_add_overflow(*sum, time, sum))
        *sum = time > 0 ? INT64_MAX : INT64_MIN;
}

/* Add without a limit and without a branch: a sum that does not fit wraps around.  For loops whose
 * sums are known to fit, or are checked afterwards. */
static inline void tv_time_add_fitting(tv_ns *sum, tv_ns time)
{
    *sum = (tv_ns)((uint64_t)*sum + (uint64_t)time);
}

/* Return so many times a time, or the largest number of its sign. */
static inline tv_ns tv_time_times(tv_ns time, int64_t times)
{
    tv_ns product;
    if (__builtin_mul_overflow(time, times, &product))
        product = (time > 0) == (times > 0) ? INT64_MAX : INT64_MIN;
    return product;
}

/* "None" for every index and id of 32 bits. */
#define TV_NONE UINT32_MAX

/* A view of bytes that somebody else owns. */
struct tv_bytes {
    const uint8_t *data;
    size_t length;
};

#define TV_BYTES(literal) ((struct tv_bytes){(const uint8_t *)("" literal), sizeof(literal) - 1})

#if defined(__GNUC__) || defined(__clang__)
#define TV_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TV_MUST_CHECK __attribute__((warn_unused_result))
#define TV_LIKELY(x) __builtin_expect(!!(x), 1)
#define TV_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TV_INLINE static inline __attribute__((always_inline))
#define TV_NOINLINE __attribute__((noinline))
#define TV_PREFETCH(address) __builtin_prefetch(address)
#else
#define TV_PRINTF(text, first)
#define TV_MUST_CHECK
#define TV_LIKELY(x) (x)
#define TV_UNLIKELY(x) (x)
#define TV_INLINE static inline
#define TV_NOINLINE
#define TV_PREFETCH(address) ((void)(address))
#endif

#define TV_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
