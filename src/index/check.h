/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - whether a number of an index can be used for what it is used for.
 *
 * For the check_*.c files alone.  Each check of layout.h is a list of such questions; what is
 * damaged by accident does not come that far, as its checksum is wrong.
 */
#ifndef TV_INDEX_CHECK_H
#define TV_INDEX_CHECK_H

#include "index/layout.h"

/* So far may times lie from 0 of the axis, nanoseconds: two of them can be subtracted. */
#define TV_INDEX_TIME_MAX ((int64_t)1 << 61)

/* More than two lengths of 32 bits in ticks of any input. */
#define TV_INDEX_ROOM ((int64_t)1 << 44)
#define TV_INDEX_TICK_MAX 1000

static inline bool tv_index_is_time(int64_t time)
{
    return time >= -TV_INDEX_TIME_MAX && time <= TV_INDEX_TIME_MAX;
}

/* A time of an input, which may count from an epoch that is far away: it lies near on the axis. */
static inline bool tv_index_is_on_axis(const struct tv_trace *trace, uint32_t input, int64_t time)
{
    int64_t offset = trace->offset[input];
    if (time > INT64_MAX - TV_INDEX_ROOM || time < INT64_MIN + TV_INDEX_ROOM)
        return false;
    if (offset > 0 ? time > INT64_MAX - offset : time < INT64_MIN - offset)
        return false;
    return tv_index_is_time(time + offset);
}

/* The same in ticks of the input. */
static inline bool tv_index_is_tick_on_axis(const struct tv_trace *trace, uint32_t input,
                                            int64_t ticks)
{
    int64_t tick = trace->head->inputs[input].tick_ns;
    return ticks <= INT64_MAX / tick && ticks >= INT64_MIN / tick &&
           tv_index_is_on_axis(trace, input, ticks * tick);
}

/* A length, or a time that begins with its input, in ticks of `tick` nanoseconds. */
static inline bool tv_index_are_ticks(int64_t ticks, int64_t tick)
{
    return ticks >= -TV_INDEX_TIME_MAX / tick && ticks <= TV_INDEX_TIME_MAX / tick;
}

/* An index, or none. */
static inline bool tv_index_is_of(uint32_t index, uint64_t count)
{
    return index == TV_NONE || index < count;
}

/* [first, first + count) of so many. */
static inline bool tv_index_is_range(uint64_t first, uint64_t count, uint64_t all)
{
    return first <= all && count <= all - first;
}

/* A bool that may be looked at. */
static inline bool tv_index_is_flag(const bool *flag)
{
    uint8_t byte;
    memcpy(&byte, flag, sizeof byte);
    return byte <= 1;
}

static inline uint32_t tv_index_strings(const struct tv_trace *trace)
{
    return tv_interner_count(trace->head->strings);
}

#endif
