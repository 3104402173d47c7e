/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the time of the system's monotonic clock, for deadlines and measurements.
 *
 * Nobody can set this clock, so a later reading is never smaller than an earlier one.  It has
 * nothing to do with the times in a trace.
 */
#ifndef TV_BASE_CLOCK_H
#define TV_BASE_CLOCK_H

#include <time.h>

#include "base/types.h"

/* Return the nanoseconds since an unknown moment, most often the start of the machine. */
static inline uint64_t tv_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Return the same time in whole milliseconds. */
static inline int64_t tv_monotonic_ms(void)
{
    return (int64_t)(tv_monotonic_ns() / 1000000);
}

/* Return the moment in so many milliseconds, as pthread_cond_timedwait expects it of a condition
 * variable on CLOCK_MONOTONIC. */
static inline struct timespec tv_monotonic_deadline(uint64_t milliseconds)
{
    uint64_t deadline = tv_monotonic_ns() + milliseconds * 1000000;
    return (struct timespec){(time_t)(deadline / 1000000000), (long)(deadline % 1000000000)};
}

#endif
