/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times.h - 32-bit microseconds, which start again at 0 every 71 minutes, made longer.
 *
 * Within a thread times do not go back, so a step back is a wrap, unless it is so small that a
 * restless clock may have made it.  That alone does not tell when a thread was silent for long, or
 * began late.  Where the records stand in the order of time, those of the other threads help.
 */
#ifndef TV_READERS_METHOD_TRACE_TIMES_H
#define TV_READERS_METHOD_TRACE_TIMES_H

#include "base/types.h"

#define TV_MT_WRAP ((int64_t)1 << 32)

/* Steps back up to about a minute are a clock's unrest, not a wrap. */
#define TV_MT_WRAP_SLACK ((int64_t)1 << 26)

/* The smallest time that stands for `raw` and is not before `floor` (both not negative). */
static inline int64_t tv_mt_times_after(int64_t raw, int64_t floor)
{
    if (raw >= floor)
        return raw;
    return raw + (floor - raw + TV_MT_WRAP - 1) / TV_MT_WRAP * TV_MT_WRAP;
}

/* The time that stands for `raw` and lies nearest to `near`. */
static inline int64_t tv_mt_times_near(int64_t raw, int64_t near)
{
    return tv_mt_times_after(raw, near < TV_MT_WRAP / 2 ? 0 : near - TV_MT_WRAP / 2);
}

/* The time that stands for `raw`.  `last`: the thread's last time, when it was `seen`; `order`:
 * that of the last record of any thread, or -1 when that says nothing. */
static inline int64_t tv_mt_times_unwrap(bool by_order, int64_t raw, bool seen, int64_t last,
                                         int64_t order)
{
    if (by_order && order >= 0)
        return tv_mt_times_after(raw, order - TV_MT_WRAP_SLACK);
    if (seen)
        return tv_mt_times_after(raw, last - TV_MT_WRAP_SLACK);
    return order >= 0 ? tv_mt_times_near(raw, order) : raw;
}

/* The time that stands for `raw` when it lies too late: the last one not after `latest`, but never
 * less than `raw`. */
static inline int64_t tv_mt_times_not_after(int64_t raw, int64_t time, int64_t latest)
{
    if (time <= latest)
        return time;
    return latest < raw ? raw : raw + (latest - raw) / TV_MT_WRAP * TV_MT_WRAP;
}

#endif
