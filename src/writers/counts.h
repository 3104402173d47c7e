/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.h - how much of everything a trace holds, or what filters keep of it: the numbers of info
 * and of the viewer's Info tab.
 */
#ifndef TV_WRITERS_COUNTS_H
#define TV_WRITERS_COUNTS_H

#include "analysis/subset/subset.h"
#include "analysis/calltree/profile.h"
#include "analysis/states/statistics.h"

struct tv_counts {
    struct tv_slice_sums sums;
    struct tv_walk_facts facts;         /* of the calls that are kept */
    uint64_t processes, threads, lines; /* lines: as in struct tv_thread */
    uint64_t thread_instants, other_instants;
    uint64_t counters, series, counter_samples;
    uint64_t flows, joins, objects, snapshots, samples;
    uint64_t memory_dumps; /* those of several processes with one id are one */
    uint64_t contexts, stack_frames;
};

/* Joins of ids belong to no process: all of them.  A slice that is left out gives its time to the
 * one around, as in dump. */
struct tv_counts tv_counts_of(const struct tv_trace *trace, const struct tv_subset *keep);

#endif
