/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.h - the packets of a time range of a Perfetto trace, as a Perfetto trace.
 *
 * Packets outside of the range are left out.  What later packets need stays: interned data,
 * defaults, clears of the state, clock snapshots, descriptors, process trees, metadata.  The states
 * that tasks are in at the start of the range are told by switches at that time, and one at its
 * end lets the last states last until then.  A slice
 * that crosses an end of the range is closed there: its begin gets the time of the range's start,
 * and its end that of the range's end.  The caller marks these events, which only a finished trace
 * knows.
 */
#ifndef TV_READERS_PERFETTO_CUT_H
#define TV_READERS_PERFETTO_CUT_H

#include "base/map.h"
#include "base/out.h"
#include "base/source.h"
#include "model/tables.h"

enum tv_pf_cut_mark {
    TV_PF_CUT_BEGIN = 1,  /* begins a slice that reaches into the range: moves to its start */
    TV_PF_CUT_END = 2,    /* ends a slice that reaches beyond the range: moves to its end */
    TV_PF_CUT_CLOSE = 4,  /* begins such a slice, whose end is unknown: gets an end */
    TV_PF_CUT_EMPTY = 8,  /* begins a slice without length at the start of the range */
    TV_PF_CUT_VALUE = 16, /* the value that a counter has at the start of the range: moves there */
};

/* A task at the start of the range, or the idle task (tid 0) of a processor. */
struct tv_pf_cut_task {
    int64_t tid, pid; /* pid 0: unknown */
    struct tv_bytes name;
    struct tv_bytes state; /* as thread states are named in the trace */
    uint32_t cpu;          /* where it runs; TV_NONE: it does not run */
};

struct tv_pf_cut {
    int64_t from, to; /* [from, to), on the clock of the trace in the file */
    struct tv_map marks;
    /* Tasks at the start of the range, of which switches before the packets of the kernel tell. */
    TV_TABLE(tv_pf_cut_task) running; /* one for each processor that is known */
    TV_TABLE(tv_pf_cut_task) waiting;
    /* A processor and what runs there at the end of the range, if that is before the end of the
     * trace: a switch to the idle task marks the end, up to which the states of all tasks last. */
    struct tv_pf_cut_task last;
    bool has_last;
    uint64_t written, left_out; /* results: packets */
};

/* Maximum number of nanoseconds that a begin may be before the start of the range. */
#define TV_PF_CUT_LEAD_MAX 0xffffu

/* Mark the event at an offset and a time.  `lead`: nanoseconds by which a begin that moves stands
 * before the start of the range.  Readers sort by time, then by the order of the file; where that
 * is not the order of nesting, an outer slice needs a lead over the inner one. */
void tv_pf_cut_mark(struct tv_pf_cut *cut, uint64_t offset, int64_t time, unsigned mark,
                    unsigned lead);

/* Write the packets. */
enum tv_status tv_pf_cut_write(struct tv_source *source, struct tv_pf_cut *cut, struct tv_out *out,
                               struct tv_error *err) TV_MUST_CHECK;

#endif
