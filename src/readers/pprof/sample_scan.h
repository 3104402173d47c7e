/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_scan.h - a pass over the samples of a part of a pprof file that adds nothing to the trace.
 *
 * Most samples have a stack and a thread that earlier samples had.  When only the sums of samples
 * are wanted, the scan adds them to a sum for each stack, and leaves all others:
 *
 *     samples  A B a b C a ! b ...   A: the first of its stack or thread, !: damaged or unusual
 *     left     [A B)   [C) [!)       taken into the trace afterwards, in this order
 *     sums     A: a, a   B: b, b
 *
 * So the trace gets its threads, frames, paths and diagnostics in the order of the file, as if
 * there were no scan.  A scan writes to itself alone: each part of a file can have its own thread.
 */
#ifndef TV_READERS_PPROF_SAMPLE_SCAN_H
#define TV_READERS_PPROF_SAMPLE_SCAN_H

#include "base/progress.h"
#include "model/tables.h"
#include "readers/pprof/sample_labels.h"

/* The tables of the file, which all scans read. */
struct tv_pprof_scan_tables {
    const struct tv_lookup *locations;
    const struct tv_sample_labels *labels;   /* for the strings and their roles */
    const struct tv_value_type *trace_types; /* of the trace */
    const uint32_t *types;                   /* for each value of a sample: its type there */
    size_t type_count;
    struct tv_progress *progress; /* or NULL */
};

/* The samples of one stack and value type. */
struct tv_pprof_sum {
    uint64_t samples; /* as tv_value_type_count counts */
    int64_t weight;   /* saturates */
};

/* A stack, and the samples of it that were added up: all but the first. */
struct tv_pprof_stack {
    struct tv_bytes locations; /* packed, in the first sample of the stack */
    uint64_t samples;
};

/* Fields of the file from one place to before another one. */
struct tv_pprof_range {
    const uint8_t *begin, *end;
};

struct tv_pprof_scan {
    struct tv_bytes part;          /* whole fields of the file */
    TV_TABLE(tv_pprof_range) left; /* in the order of the file */
    struct tv_pprof_stack *stacks; /* in the order of their first samples, which all are left */
    struct tv_pprof_sum *sums;     /* for each stack, one for each value type */
    size_t stack_count, stack_capacity, sum_capacity;
    struct tv_map places; /* hash of the locations -> stack */
    enum tv_status status;
    struct tv_error err;
};

/* Scan scan->part; all else of the scan is empty.  Stop early when the user cancels. */
void tv_pprof_scan_part(struct tv_pprof_scan *scan, const struct tv_pprof_scan_tables *tables);
void tv_pprof_scan_release(struct tv_pprof_scan *scan);

#endif
