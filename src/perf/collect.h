/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.h - from records in the order of time to samples: who ran what, and who waited.
 *
 * The elements of these samples are places, not names: `method` is the place in a file of `spaces`
 * and `line` the file's number.  names.h makes the samples that are written.
 */
#ifndef TV_PERF_COLLECT_H
#define TV_PERF_COLLECT_H

#include "base/map.h"
#include "perf/spaces.h"
#include "recorder/samples/samples.h"

/* Frames of a stack that was copied, at most. */
#define TV_PERF_UNWOUND 1024u

struct tv_perf_collector {
    struct tv_samples samples;
    struct tv_perf_spaces spaces;
    struct tv_map switches;     /* ids of the events whose samples are of leaving a processor */
    bool names_kernel;          /* else all of the kernel is one frame */
    struct tv_perf_task *tasks; /* by rising tid */
    size_t task_count, task_capacity;
    uint32_t *stack; /* of the sample at hand */
    size_t stack_capacity;
    uint64_t addresses[TV_PERF_UNWOUND]; /* of a stack that was copied */
    uint64_t kernel_lost;                /* records that the buffers have said to be missing */
    uint64_t last_ns;                    /* time of the newest record */
    uint32_t owner; /* the user whose files may name code, beside root and ourselves */
};

void tv_perf_collector_init(struct tv_perf_collector *collector, uint64_t period_ns);
void tv_perf_collector_release(struct tv_perf_collector *collector);

/* A thread that is there before the first record. */
void tv_perf_collector_know(struct tv_perf_collector *collector, uint32_t pid, uint32_t tid,
                            const char *name);

/* One record, behind all that are older; a tv_perf_take. */
void tv_perf_collector_take(void *collector, const struct tv_perf_record *record);

/* Nothing comes any more: who waits has waited until now. */
void tv_perf_collector_end(struct tv_perf_collector *collector);

#endif
