/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the scalar types that every room uses.
 *
 * base is the lowest room: it knows nothing of traces and includes no other room.
 */
#ifndef TV_BASE_TYPES_H
#define TV_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds: a point in time since the trace's origin, or a duration. */
typedef int64_t tv_ns;

/* Add a time to a sum that saturates at the largest number (292 years) instead of wrapping to a
 * negative one: a trace can state durations whose sum no number holds
 * (TV_DIAGNOSTIC_TIME_SATURATED). */
static inline void tv_time_add(tv_ns *sum, tv_ns time)
{
    if (__builtin_add_overflow(*sum, time, sum))
        *sum = time > 0 ? INT64_MAX : INT64_MIN;
}

/* Add without a limit and without a branch; the sum wraps on overflow.  For loops whose sums are
 * known to fit or are checked afterwards. */
static inline void tv_time_add_fitting(tv_ns *sum, tv_ns time)
{
    *sum = (tv_ns)((uint64_t)*sum + (uint64_t)time);
}

/* Return time * times, saturating at the largest number of its sign. */
static inline tv_ns tv_time_times(tv_ns time, int64_t times)
{
    tv_ns product;
    if (__builtin_mul_overflow(time, times, &product))
        product = (time > 0) == (times > 0) ? INT64_MAX : INT64_MIN;
    return product;
}

/* "None" for every 32-bit index and id. */
#define TV_NONE UINT32_MAX

/* A time that is not known. */
#define TV_NO_TIME INT64_MIN

/* A view of bytes that somebody else owns. */
struct tv_bytes {
    const uint8_t *data;
    size_t length;
};

#define TV_BYTES(literal) ((struct tv_bytes){(const uint8_t *)("" literal), sizeof(literal) - 1})

/* Is this a build with a sanitizer, which brings a heap and wrappers of its own? */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TV_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define TV_IS_SANITIZED 1
#endif
#endif
#ifndef TV_IS_SANITIZED
#define TV_IS_SANITIZED 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TV_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TV_MUST_CHECK __attribute__((warn_unused_result))
#define TV_NOINLINE __attribute__((noinline))
#define TV_PREFETCH(address) __builtin_prefetch(address)
#else
#define TV_PRINTF(text, first)
#define TV_MUST_CHECK
#define TV_NOINLINE
#define TV_PREFETCH(address) ((void)(address))
#endif

/* Hints for speed.  A build that measures coverage has none: the branches of a function that is
 * always inlined would count again in every caller. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(TV_COVERAGE)
#define TV_LIKELY(x) __builtin_expect(!!(x), 1)
#define TV_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TV_INLINE static inline __attribute__((always_inline))
#else
#define TV_LIKELY(x) (x)
#define TV_UNLIKELY(x) (x)
#define TV_INLINE static inline
#endif

#define TV_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
