/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.c - the slices of a selection, as runs of rows that workers share.
 *
 *     a row        [--0--][-1-]   [--2--]      [----3----]
 *     range                 |-----------------------|
 *     overlap      [1, 4)                         tv_row_overlap
 *     cut          1 and 3                        tv_row_cut
 *
 * Slices of a row do not overlap and are in order, so those that a range touches are consecutive,
 * and at most two of them, the first and the last, reach over an end of the range.  Everything in
 * between counts with its full length: only the two cut slices are decoded and clipped one by one.
 *
 * Rows differ in length by orders of magnitude, so rows cannot be shared out among workers.  The
 * runs of all rows are therefore one sequence of slices, which is cut into equal shares:
 *
 *     runs     |---- row 0 ----|-- row 2 --|-------- row 5 --------|
 *     shares   |    worker 0       |     worker 1      |  worker 2 |
 *
 * A share may begin and end within a run.  Sums over shares are sums of integers, so that they do
 * not depend on the number of workers.
 */
#include "analysis/subset/selection.h"

#include <assert.h>

#include "base/memory.h"
#include "base/workers.h"

/* A slice of length 0 at `from` does not end after it, yet it belongs to the range.  So the overlap
 * begins with the first slice that ends after `from` or the first that starts there, whichever is
 * earlier. */
void tv_row_overlap(const struct tv_trace *trace, uint32_t row, tv_ns from, tv_ns to,
                    uint32_t *first, uint32_t *end)
{
    uint32_t ending = tv_row_find(trace, row, from), starting = tv_row_find_start(trace, row, from);
    *first = ending < starting ? ending : starting;
    *end = to == INT64_MAX ? trace->rows[row].count : tv_row_find_start(trace, row, to);
    if (*end < *first)
        *end = *first;
}

struct tv_range_ends tv_range_ends_of(const struct tv_trace *trace, uint32_t track,
                                      const struct tv_selection *selection)
{
    struct tv_range_ends ends = {selection->from, selection->to, 0, 0};
    if (tv_track_has_wall(trace, track) && tv_track_has_cpu(trace, track)) {
        ends.cpu_from = tv_track_cpu_at(trace, track, selection->from);
        ends.cpu_to = tv_track_cpu_at(trace, track, selection->to);
    }
    return ends;
}

/* The CPU times at the ends of the range are the same for all slices of a track, so the parts of a
 * slice in two adjacent ranges add up to the CPU time of the whole slice. */
void tv_slice_clip(struct tv_slice *slice, const struct tv_range_ends *ends)
{
    tv_ns end = slice->start + slice->length, cpu_end = slice->cpu_start + slice->cpu_length;
    if (slice->start < ends->from) {
        slice->start = ends->from;
        slice->cpu_start = ends->cpu_from;
    }
    if (end > ends->to) {
        end = ends->to;
        cpu_end = ends->cpu_to;
    }
    slice->length = end > slice->start ? end - slice->start : 0;
    slice->cpu_length = cpu_end > slice->cpu_start ? cpu_end - slice->cpu_start : 0;
    if (slice->flags & TV_SLICE_NO_CPU)
        slice->cpu_length = 0;
}

uint32_t tv_row_cut(const struct tv_trace *trace, uint32_t row,
                    const struct tv_selection *selection, const uint32_t overlap[2],
                    uint32_t cut[2])
{
    uint32_t count = 0, last = overlap[1] - 1;
    if (overlap[0] == overlap[1])
        return 0;
    if (tv_slice_start(trace, row, overlap[0]) < selection->from)
        cut[count++] = overlap[0];
    if (tv_slice_end(trace, row, last) > selection->to && (count == 0 || cut[0] != last))
        cut[count++] = last;
    return count;
}

uint64_t tv_selection_count_cut(const struct tv_trace *trace, const struct tv_selection *selection)
{
    bool *wanted = tv_selection_wanted(trace, selection);
    uint32_t overlap[2], cut[2];
    uint64_t count = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        if (!wanted[trace->rows[row].track])
            continue;
        tv_row_overlap(trace, row, selection->from, selection->to, &overlap[0], &overlap[1]);
        count += tv_row_cut(trace, row, selection, overlap, cut);
    }
    tv_free(wanted);
    return count;
}

bool *tv_selection_wanted(const struct tv_trace *trace, const struct tv_selection *selection)
{
    bool *wanted = tv_alloc(trace->track_count, sizeof *wanted);
    for (uint32_t i = 0; i < trace->track_count; i++)
        wanted[i] = selection->tracks == NULL && tv_track_has_calls(&trace->tracks[i]);
    for (uint32_t i = 0; selection->tracks && i < selection->track_count; i++) {
        if (selection->tracks[i] < trace->track_count)
            wanted[selection->tracks[i]] = true;
    }
    return wanted;
}

bool tv_trace_has_only_async(const struct tv_trace *trace)
{
    uint64_t async = 0;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (tv_track_has_calls(track) && track->slice_count > 0)
            return false;
        async += track->kind == TV_TRACK_ASYNC ? track->slice_count : 0;
    }
    return async > 0;
}

/* ---- Runs ---- */

void tv_slice_runs_init(struct tv_slice_runs *runs, uint32_t rows)
{
    *runs = (struct tv_slice_runs){.list = tv_alloc(rows, sizeof *runs->list)};
}

void tv_slice_runs_release(struct tv_slice_runs *runs)
{
    tv_free(runs->list);
}

void tv_slice_runs_add(struct tv_slice_runs *runs, struct tv_slice_run run)
{
    if (run.count == 0)
        return;
    runs->list[runs->count++] = run;
    runs->slices += run.count;
}

unsigned tv_slice_runs_workers(const struct tv_slice_runs *runs, uint64_t least, unsigned asked)
{
    uint64_t useful = runs->slices / least + 1;
    unsigned workers = tv_workers_available();
    if (asked)
        return asked;
    return workers < useful ? workers : (unsigned)useful;
}

void tv_slice_runs_share(const struct tv_slice_runs *runs, unsigned index, unsigned workers,
                         void (*take)(void *context, const struct tv_slice_run *run), void *context)
{
    assert(index < workers);
    uint64_t first = runs->slices * index / workers, end = runs->slices * (index + 1) / workers;
    uint64_t at = 0;
    for (uint32_t i = 0; i < runs->count && at < end; i++) {
        struct tv_slice_run run = runs->list[i];
        uint64_t low = first > at ? first - at : 0;
        uint64_t high = end - at < run.count ? end - at : run.count;
        at += run.count;
        if (low >= high)
            continue;
        run.first += (uint32_t)low;
        run.count = (uint32_t)(high - low);
        take(context, &run);
    }
}

bool tv_trace_has_only_samples(const struct tv_trace *trace)
{
    return trace->recorded_calls == 0 && tv_tables_sample_count(&trace->tables) > 0;
}
