/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - the part of a trace that a question is about: a time range and some tracks, and the
 * slices of each row that belong to it.
 *
 * The three ways to choose a part of a trace:
 *
 *   selection   a range and tracks, for one question; the trace is not copied
 *   subset      processes, threads, categories and frames that the user named (subset.h); cropping
 *               makes a trace of a subset and a range
 *   filter      a line of terms (filter.h); makes a trace of the events that match
 */
#ifndef TV_ANALYSIS_SUBSET_SELECTION_H
#define TV_ANALYSIS_SUBSET_SELECTION_H

#include "model/trace.h"

/* The time range and the tracks that a question is about. */
struct tv_selection {
    tv_ns from, to; /* [from, to) on the trace's axis; INT64_MIN and INT64_MAX: everything */
    const uint32_t *tracks; /* NULL: the tracks of all threads */
    uint32_t track_count;
};

/* The whole trace. */
#define TV_SELECT_ALL ((struct tv_selection){INT64_MIN, INT64_MAX, NULL, 0})

/* Find the slices of a row that belong to [from, to): those that overlap it, and those of length
 * 0 at a time t with from <= t < to. */
void tv_row_overlap(const struct tv_trace *trace, uint32_t row, tv_ns from, tv_ns to,
                    uint32_t *first, uint32_t *end);

/* The ends of a range on both clocks of one track, in nanoseconds. */
struct tv_range_ends {
    tv_ns from, to, cpu_from, cpu_to;
};

/* Return the ends of the selection's range on a track. */
struct tv_range_ends tv_range_ends_of(const struct tv_trace *trace, uint32_t track,
                                      const struct tv_selection *selection);

/* Reduce a slice to the part within the range: its CPU time is that of the thread within the part.
 * An unknown CPU time becomes 0; a slice outside of the range keeps the length 0. */
void tv_slice_clip(struct tv_slice *slice, const struct tv_range_ends *ends);

/* Find the slices of a row that reach beyond the range, among those that overlap it,
 * [overlap[0], overlap[1]).  Return their number: at most two, the first and the last. */
uint32_t tv_row_cut(const struct tv_trace *trace, uint32_t row,
                    const struct tv_selection *selection, const uint32_t overlap[2],
                    uint32_t cut[2]);

/* Return how many slices of the selected tracks reach beyond the range. */
uint64_t tv_selection_count_cut(const struct tv_trace *trace, const struct tv_selection *selection);

/* Return wanted[track], true for the tracks of a selection; free it with tv_free.  Track numbers
 * out of range are ignored. */
bool *tv_selection_wanted(const struct tv_trace *trace, const struct tv_selection *selection);

/* Return true if the trace has slices and all of them are asynchronous.  Commands then work on
 * those instead of calls. */
bool tv_trace_has_only_async(const struct tv_trace *trace);

/* Return true when the trace has samples and no calls: it is shown as a profile of its samples. */
bool tv_trace_has_only_samples(const struct tv_trace *trace);

/* ---- Slices, row by row, and their division among workers ---- */

/* Neighbouring slices of one row. */
struct tv_slice_run {
    uint32_t row, first, count;
};

struct tv_slice_runs {
    struct tv_slice_run *list; /* owned */
    uint32_t count;
    uint64_t slices; /* in all runs */
};

/* Reserve room for `rows` runs; free with tv_slice_runs_release. */
void tv_slice_runs_init(struct tv_slice_runs *runs, uint32_t rows);
void tv_slice_runs_release(struct tv_slice_runs *runs);

/* Append a run, unless it is empty. */
void tv_slice_runs_add(struct tv_slice_runs *runs, struct tv_slice_run run);

/* Return how many workers to start so that each gets `least` slices; `asked` if it is not 0. */
unsigned tv_slice_runs_workers(const struct tv_slice_runs *runs, uint64_t least, unsigned asked);

/* Call `take` for each run, or part of a run, in the share of worker `index`.  Shares divide all
 * slices evenly, in order. */
void tv_slice_runs_share(const struct tv_slice_runs *runs, unsigned index, unsigned workers,
                         void (*take)(void *context, const struct tv_slice_run *run),
                         void *context);

#endif
