/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the records of a unit in any layout, decoded batch by batch.
 *
 * This is the general way, for rare cases and for surveys; fast.c and deltas.c are the fast ways.
 * The file ends with the extension of 32-bit times.
 */
#ifndef TV_READERS_METHOD_TRACE_RECORDS_H
#define TV_READERS_METHOD_TRACE_RECORDS_H

#include "base/types.h"
#include "model/builder/sink.h"
#include "readers/method_trace/file.h"

/* Id of an exit that does not name its method. */
#define TV_MT_NO_ID UINT64_MAX

/* Upper bound of times: sums and differences of two times fit into 64 bits, even in hostile files.
 */
#define TV_MT_TIME_LIMIT ((int64_t)1 << 60)

struct tv_mt_record {
    uint64_t id;
    int64_t wall, cpu; /* as in the file; 0 when the file lacks the clock */
    uint64_t offset;
    uint32_t tid;
    uint32_t action; /* never 3 */
};

struct tv_mt_records {
    struct tv_mt_file *file;
    struct tv_diagnostics *diagnostics; /* or NULL */
    struct tv_window window;
    size_t unit;
    uint64_t done; /* bytes of the unit that were decoded */
    struct tv_mt_delta_base last;
    size_t count;
    struct tv_mt_record records[TV_BATCH_EVENTS];
};

/* Start with the first unit.  Records that cannot be decoded are counted in `diagnostics`, unless
 * that is NULL. */
void tv_mt_records_init(struct tv_mt_records *records, struct tv_mt_file *file,
                        struct tv_diagnostics *diagnostics);
void tv_mt_records_release(struct tv_mt_records *records);

/* Go to the start of a unit. */
void tv_mt_records_seek(struct tv_mt_records *records, size_t unit);

/* Decode the next records of the unit; `count` is 0 after the last. */
enum tv_status tv_mt_records_next(struct tv_mt_records *records,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Decode the next records, from the next unit when this one is done; `count` is 0 after the last
 * unit. */
enum tv_status tv_mt_records_next_of_all(struct tv_mt_records *records,
                                         struct tv_error *err) TV_MUST_CHECK;

/* Return counter ticks of a packet file in nanoseconds; unchanged when it has no frequency. */
int64_t tv_mt_records_scale(const struct tv_mt_file *file, uint64_t ticks);

/* Add to the progress; fail with TV_ERR_CANCELLED when the user has asked to stop. */
enum tv_status tv_mt_records_add_progress(struct tv_mt_file *file, uint64_t bytes, uint64_t count,
                                          struct tv_error *err) TV_MUST_CHECK;

/* ---- 32-bit times ---- */

/*
 * Times are 32-bit microseconds, which restart at 0 every 71 minutes.  Times of a thread do not go
 * back, so a step back is a wrap, unless it is so small that a jittering clock may have made it.
 * This is not enough when a thread was silent for long or began late; where the records of all
 * threads are in the order of time, those of the other threads help.
 */
#define TV_MT_WRAP ((int64_t)1 << 32)

/* A step back of up to about a minute is jitter, not a wrap. */
#define TV_MT_WRAP_SLACK ((int64_t)1 << 26)

/* Return the smallest extension of `raw` that is not before `floor` (both not negative). */
static inline int64_t tv_mt_times_after(int64_t raw, int64_t floor)
{
    if (raw >= floor)
        return raw;
    return raw + (floor - raw + TV_MT_WRAP - 1) / TV_MT_WRAP * TV_MT_WRAP;
}

/* Return the extension of `raw` that is nearest to `near`. */
static inline int64_t tv_mt_times_near(int64_t raw, int64_t near)
{
    return tv_mt_times_after(raw, near < TV_MT_WRAP / 2 ? 0 : near - TV_MT_WRAP / 2);
}

/* Return the extension of `raw`.  `last` is the last time of the thread, if one was `seen`; `order`
 * that of the last record of any thread, or -1 when it does not help. */
static inline int64_t tv_mt_times_unwrap(bool by_order, int64_t raw, bool seen, int64_t last,
                                         int64_t order)
{
    if (by_order && order >= 0)
        return tv_mt_times_after(raw, order - TV_MT_WRAP_SLACK);
    if (seen)
        return tv_mt_times_after(raw, last - TV_MT_WRAP_SLACK);
    return order >= 0 ? tv_mt_times_near(raw, order) : raw;
}

/* Return `time`, or when that is after `latest`, the last extension of `raw` that is not; never
 * less than `raw`. */
static inline int64_t tv_mt_times_not_after(int64_t raw, int64_t time, int64_t latest)
{
    if (time <= latest)
        return time;
    return latest < raw ? raw : raw + (latest - raw) / TV_MT_WRAP * TV_MT_WRAP;
}

#endif
