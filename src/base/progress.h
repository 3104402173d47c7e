/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far a long piece of work is, and the request to stop it.
 *
 * The worker adds to the counters and looks at `cancel`; another thread reads the counters and sets
 * it.
 */
#ifndef TV_BASE_PROGRESS_H
#define TV_BASE_PROGRESS_H

#include <stdatomic.h>

#include "base/types.h"

struct tv_sketch; /* model/sketch.h */

struct tv_progress {
    struct tv_sketch *sketch;     /* readers may mark there what they read; or NULL */
    _Atomic uint64_t input_bytes; /* of the inputs, each once */
    _Atomic uint64_t total_bytes; /* of all passes over them */
    _Atomic uint64_t bytes;       /* gone over, in all passes */
    _Atomic uint64_t records;     /* the same */
    _Atomic bool unpacking;       /* the bytes are those of packed inputs: reading comes later */
    _Atomic bool joining; /* what was read is put together: no byte is gone over meanwhile */
    _Atomic bool cancel;
};

/* `progress` may be NULL. */
static inline void tv_progress_join(struct tv_progress *progress, bool joining)
{
    if (progress)
        atomic_store_explicit(&progress->joining, joining, memory_order_relaxed);
}

/* What people are shown: as if the inputs were gone over once. */
struct tv_progress_shown {
    uint64_t total_bytes; /* 0: unknown */
    uint64_t bytes;       /* at most total_bytes, where that is known */
    uint64_t records;
};

/* How far it is. A reader that looks at some bytes once more counts them once more: never past the
 * end. */
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
