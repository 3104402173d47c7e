/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_cut.c - an excerpt of a Perfetto trace in that format.
 *
 * A time range keeps the packets of the file (readers/perfetto/cut.h); the finished trace tells
 * which events begin and end the slices that cross an end of the range, and which ones give
 * counters the values that they have at its start.  All other selections are written from the
 * model.
 */
#include <string.h>

#include "base/sort.h"
#include "readers/perfetto/cut.h"
#include "readers/perfetto/perfetto.h"
#include "writers/trace/excerpt.h"

/* Return true when everything is selected but for a time range. */
static bool excerpt_keeps_all_tracks(const struct tv_excerpt *excerpt)
{
    const struct tv_subset *keep = excerpt->cut->keep;
    return !keep->processes && !keep->tracks && !keep->threads && !keep->frames &&
           !keep->category && !excerpt->cut->tracks_only && !excerpt->trace->is_subset &&
           !excerpt->redaction;
}

bool tv_excerpt_is_perfetto(const struct tv_excerpt *excerpt)
{
    const struct tv_trace_info *head = excerpt->trace->head;
    return head->input_count == 1 && !excerpt->redaction &&
           strcmp(head->inputs[0].format, tv_reader_perfetto.format) == 0;
}

/* Mark the events of the slice at a place in its row.  `marks`: of its begin. */
static void excerpt_mark_slice(const struct tv_trace *trace, struct tv_pf_cut *cut, uint32_t row,
                               uint32_t index, unsigned marks, unsigned lead)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    int64_t start = slice.start - trace->offset[0];
    if ((marks & TV_PF_CUT_CLOSE) && extra && extra->end_offset != TV_NO_OFFSET) {
        tv_pf_cut_mark(cut, extra->end_offset, start + slice.length, TV_PF_CUT_END, 0);
        marks &= ~(unsigned)TV_PF_CUT_CLOSE;
    }
    if (marks != 0)
        tv_pf_cut_mark(cut, tv_slice_offset(trace, row, index), start, marks, lead);
}

/* Return the slice of a row that is open at a time; TV_NONE: none is. */
static uint32_t excerpt_find_open(const struct tv_trace *trace, uint32_t row, tv_ns time)
{
    uint32_t index = tv_row_find(trace, row, time);
    bool open = index < trace->rows[row].count && tv_slice_start(trace, row, index) < time;
    return open ? index : TV_NONE;
}

/* Mark the begins of the slices that reach into the range, the innermost first. */
static void excerpt_mark_begins(const struct tv_trace *trace, struct tv_pf_cut *cut,
                                const struct tv_track *track, tv_ns from)
{
    unsigned lead = 0;
    uint64_t inner = UINT64_MAX;
    for (uint32_t i = track->row_count; i-- > 0;) {
        uint32_t row = track->first_row + i, index = excerpt_find_open(trace, row, from);
        if (index == TV_NONE)
            continue;
        uint64_t offset = tv_slice_offset(trace, row, index);
        lead += offset > inner && lead < TV_PF_CUT_LEAD_MAX; /* the file has the inner one first */
        inner = offset;
        excerpt_mark_slice(trace, cut, row, index, TV_PF_CUT_BEGIN, lead);
    }
}

/* Mark the slices of a track that cross an end of the range: at most one of each row and end. */
static void excerpt_mark_track(const struct tv_trace *trace, struct tv_pf_cut *cut,
                               const struct tv_track *track, tv_ns from, tv_ns to)
{
    if (track->kind == TV_TRACK_STATES)
        return; /* they follow from the switches of the processors */
    excerpt_mark_begins(trace, cut, track, from);
    if (track->kind == TV_TRACK_CPU)
        return; /* the next switch ends them */
    for (uint32_t i = 0; i < track->row_count; i++) {
        uint32_t row = track->first_row + i, open = excerpt_find_open(trace, row, to);
        if (open != TV_NONE)
            excerpt_mark_slice(trace, cut, row, open, TV_PF_CUT_CLOSE, 0);
        for (uint32_t at = tv_row_find_start(trace, row, from);
             at < trace->rows[row].count && tv_slice_end(trace, row, at) == from; at++)
            excerpt_mark_slice(trace, cut, row, at, TV_PF_CUT_EMPTY, 0);
    }
}

/* Mark the last value of each counter before the range. */
static void excerpt_mark_counters(const struct tv_trace *trace, struct tv_pf_cut *cut)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        const tv_ns *times = tables->counter_times + counter->first_sample;
        size_t next = 0;
        TV_LOWER_BOUND(next, counter->sample_count, at, times[at] < cut->from);
        if (next > 0)
            tv_pf_cut_mark(cut, tables->counter_offsets[counter->first_sample + next - 1],
                           times[next - 1], TV_PF_CUT_VALUE, 0);
    }
}

static enum tv_status excerpt_write_packets(const struct tv_excerpt *excerpt, struct tv_out *out,
                                            struct tv_error *err)
{
    const struct tv_trace *trace = excerpt->trace;
    struct tv_pf_cut cut = {.from = INT64_MIN, .to = INT64_MAX};
    tv_ns from, to;
    tv_map_init(&cut.marks);
    if (tv_crop_range(trace, excerpt->cut, &from, &to)) {
        cut.from = from - trace->offset[0];
        cut.to = to - trace->offset[0];
        for (uint32_t i = 0; i < trace->track_count; i++)
            excerpt_mark_track(trace, &cut, &trace->tracks[i], from, to);
        excerpt_mark_counters(trace, &cut);
    }
    enum tv_status status = tv_pf_cut_write(trace->head->inputs[0].source, &cut, out, err);
    tv_map_release(&cut.marks);
    return status;
}

enum tv_status tv_excerpt_write_perfetto(const struct tv_excerpt *excerpt, struct tv_out *out,
                                         struct tv_perfetto_losses *losses, struct tv_error *err)
{
    memset(losses, 0, sizeof *losses);
    if (excerpt->redaction)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "names and arguments of a Perfetto trace cannot be hidden: write it as "
                       "JSON");
    if (tv_excerpt_is_perfetto(excerpt) && excerpt_keeps_all_tracks(excerpt) &&
        excerpt->trace->head->inputs[0].source)
        return excerpt_write_packets(excerpt, out, err);
    tv_perfetto_write(out, excerpt->made ? excerpt->made : excerpt->trace, losses);
    return TV_OK;
}
