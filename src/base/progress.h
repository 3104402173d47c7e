/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - the progress of a long operation, and the request to stop it.
 *
 * The working threads add to the counters and check `cancel`; another thread reads the counters and
 * sets `cancel`.
 */
#ifndef TV_BASE_PROGRESS_H
#define TV_BASE_PROGRESS_H

#include <stdatomic.h>

#include "base/types.h"

struct tv_sketch; /* model/sketch.h */

struct tv_progress {
    struct tv_sketch *sketch; /* readers may draw their events there (model/sketch.h); or NULL */
    const char *_Atomic work; /* "joining": what `bytes` count; NULL: they are read or written */
    _Atomic uint64_t input_bytes; /* size of the inputs, each counted once */
    _Atomic uint64_t total_bytes; /* of all passes over the inputs */
    _Atomic uint64_t bytes;       /* processed, in all passes */
    _Atomic uint64_t records;     /* processed, in all passes */
    _Atomic bool unpacking;       /* `bytes` counts packed bytes: reading has not begun */
    _Atomic bool joining;         /* the chunks are being stitched: no byte counts meanwhile */
    _Atomic bool cancel;
};

/* `progress` may be NULL. */
static inline void tv_progress_join(struct tv_progress *progress, bool joining)
{
    if (progress)
        atomic_store_explicit(&progress->joining, joining, memory_order_relaxed);
}

/* Progress as users see it: as if there were one pass over the inputs. */
struct tv_progress_shown {
    uint64_t total_bytes; /* 0: unknown */
    uint64_t bytes;       /* at most total_bytes, if that is known */
    uint64_t records;
};

/* Return the progress.  A reader that reads some bytes again counts them again, so `bytes` is
 * capped. */
static inline struct tv_progress_shown tv_progress_show(const struct tv_progress *progress)
{
    uint64_t input = atomic_load_explicit(&progress->input_bytes, memory_order_relaxed);
    uint64_t total = atomic_load_explicit(&progress->total_bytes, memory_order_relaxed);
    uint64_t bytes = atomic_load_explicit(&progress->bytes, memory_order_relaxed);
    uint64_t records = atomic_load_explicit(&progress->records, memory_order_relaxed);
    if (total == 0)
        return (struct tv_progress_shown){input, bytes, records};
    if (input == 0 || input > total)
        input = total;
    double once = (double)input / (double)total;
    uint64_t shown = bytes >= total ? input : (uint64_t)((double)bytes * once);
    return (struct tv_progress_shown){input, shown, (uint64_t)((double)records * once)};
}

#endif
