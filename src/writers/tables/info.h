/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - facts about a trace, as text and JSON: how much of everything it contains, or a
 * selection of it does, for `info` and for the viewer's Info tab.
 *
 * The JSON keys are a contract, defined in traceview(1), info.
 */
#ifndef TV_WRITERS_TABLES_INFO_H
#define TV_WRITERS_TABLES_INFO_H

#include "analysis/calltree/profile.h"
#include "analysis/states/statistics.h"
#include "analysis/subset/subset.h"
#include "base/out.h"

struct tv_counts {
    struct tv_slice_sums sums;
    struct tv_walk_facts facts;         /* of the selected calls */
    uint64_t processes, threads, lines; /* lines: as in struct tv_thread */
    uint64_t thread_instants, other_instants;
    uint64_t counters, series, counter_samples;
    uint64_t flows, joins, objects, snapshots, samples;
    uint64_t memory_dumps; /* dumps of several processes with the same ID count once */
    uint64_t contexts, stack_frames;
};

/* Count what the selection contains. Joins of IDs belong to no process, so that all are counted.
 * The time of a slice that is not selected counts for its caller, as in dump. */
struct tv_counts tv_counts_of(const struct tv_trace *trace, const struct tv_subset *keep);

/* ---- Output ---- */

struct tv_info {
    const struct tv_trace_info *head;
    const struct tv_trace *trace; /* NULL: a stream of calls, read without building a trace */
    bool selected;                /* the counts are those of a part of the trace */
    struct tv_counts counts;      /* without a trace only `processes`, `threads` and `facts` */
    tv_ns span;                   /* from the earliest record to the latest, on the trace's axis */
};

/* Write the date of the input's recording as a JSON string, "2026-11-20T10:11:12.000345Z", or
 * null. */
void tv_info_write_recorded(struct tv_out *out, const struct tv_input *input);

/* Write the facts as text. */
void tv_info_write_text(struct tv_out *out, const struct tv_info *info);

/* Write the facts as one JSON object. */
void tv_info_write_json(struct tv_out *out, const struct tv_info *info);

#endif
