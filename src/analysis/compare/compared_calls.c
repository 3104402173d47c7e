/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/compared_calls.h"

#include <assert.h>
#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

/* Percentiles of a run. */
#define RUN_LENGTHS 3u

void tv_compared_calls_init(struct tv_compared_calls *calls, const struct tv_comparison *comparison)
{
    uint32_t runs = comparison->table->run_count;
    assert(comparison->table->by == TV_ROWS_BY_METHOD);
    *calls = (struct tv_compared_calls){.comparison = comparison, .strings = tv_interner_new()};
    calls->count =
        comparison->count < TV_COMPARED_CALLS_ROWS ? comparison->count : TV_COMPARED_CALLS_ROWS;
    calls->rows = tv_alloc(calls->count, sizeof *calls->rows);
    for (uint32_t i = 0; i < calls->count; i++) {
        double *lengths = tv_alloc((size_t)runs * RUN_LENGTHS, sizeof *lengths);
        for (size_t k = 0; k < (size_t)runs * RUN_LENGTHS; k++)
            lengths[k] = (double)NAN;
        calls->rows[i].lengths = lengths;
    }
}

void tv_compared_calls_release(struct tv_compared_calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        tv_free(calls->rows[i].single[0]);
        tv_free(calls->rows[i].single[1]);
        tv_free(calls->rows[i].lengths);
    }
    tv_free(calls->rows);
    tv_interner_free(calls->strings);
    *calls = (struct tv_compared_calls){.rows = NULL};
}

/* ---- Frames of a row ---- */

/* Append the name of a frame as a row has it: "class.name signature". */
static void compared_calls_put_frame(struct tv_out *out, const struct tv_trace_info *info,
                                     const struct tv_frame *frame)
{
    struct tv_bytes class_name = tv_trace_info_text(info, frame->class_name);
    struct tv_bytes signature = tv_trace_info_text(info, frame->signature);
    if (class_name.length > 0) {
        tv_out_bytes(out, class_name);
        tv_out_char(out, '.');
    }
    tv_out_bytes(out, tv_trace_info_text(info, frame->name));
    if (signature.length > 0) {
        tv_out_char(out, ' ');
        tv_out_bytes(out, signature);
    }
}

/* Is a frame, whose name is that of the row, in the row's category?  Slices of one name can have
 * several; a matched row can have another one on each side. */
static bool compared_calls_has_category(const struct tv_run_table *table,
                                        const struct tv_run_row *row,
                                        const struct tv_trace_info *info,
                                        const struct tv_frame *frame)
{
    return !row->of_category || row->match != TV_MATCH_SAME ||
           tv_bytes_equal(tv_run_text(table, row->class_name),
                          tv_trace_info_text(info, frame->category));
}

/* Return the row, among those that have calls, of a frame with this name; TV_NONE: none.
 * name_of[i] is the name of row i on the side of the run. */
static uint32_t compared_calls_find_row(const struct tv_compared_calls *calls,
                                        const struct tv_interner *names, const uint32_t *name_of,
                                        const struct tv_trace_info *info,
                                        const struct tv_frame *frame)
{
    const struct tv_run_table *table = calls->comparison->table;
    struct tv_out text;
    tv_out_init_memory(&text);
    compared_calls_put_frame(&text, info, frame);
    uint32_t found = TV_NONE;
    uint32_t name = tv_interner_find(names, (struct tv_bytes){text.buffer, text.length});
    for (uint32_t i = 0; name != TV_NONE && i < calls->count && found == TV_NONE; i++)
        if (name_of[i] == name &&
            compared_calls_has_category(table, &table->rows[calls->comparison->rows[i].row], info,
                                        frame))
            found = i;
    tv_out_release(&text);
    return found;
}

/* ---- Adding ---- */

/* Return the name of the thread, or of the track, that a row of slices belongs to. */
static uint32_t compared_calls_track(const struct tv_compared_calls *calls,
                                     const struct tv_trace *trace, uint32_t row)
{
    const struct tv_track *track = &trace->tracks[trace->rows[row].track];
    uint32_t name = track->name;
    if (name == TV_EMPTY_STRING && track->thread != TV_NONE)
        name = trace->head->threads[track->thread].name;
    return tv_interner_add(calls->strings, tv_trace_info_text(trace->head, name));
}

static void compared_calls_add_slow(struct tv_side_calls *side, const struct tv_compared_call *call)
{
    uint32_t at = side->slowest_count;
    if (at == TV_SLOWEST && side->slowest[at - 1].length >= call->length)
        return;
    at -= at == TV_SLOWEST;
    for (; at > 0 && side->slowest[at - 1].length < call->length; at--)
        side->slowest[at] = side->slowest[at - 1];
    side->slowest[at] = *call;
    side->slowest_count += side->slowest_count < TV_SLOWEST;
}

/* Add the calls of one frame.  A second frame of a row makes the percentiles of the run unknown:
 * they cannot be combined. */
static void compared_calls_add_frame(struct tv_compared_calls *calls, uint32_t row, uint32_t run,
                                     const struct tv_trace *trace,
                                     const struct tv_durations *durations)
{
    struct tv_calls_of_row *of = &calls->rows[row];
    struct tv_side_calls *side = &of->side[calls->comparison->table->runs[run].side];
    double *lengths = &of->lengths[(size_t)run * RUN_LENGTHS];
    const struct tv_frame_statistics *figures = &durations->figures;
    side->count += figures->count;
    for (uint32_t i = 0; i < TV_DURATION_BUCKETS; i++)
        side->buckets[i] += durations->buckets[i];
    for (uint32_t i = 0; i < durations->slowest_count; i++) {
        const struct tv_slow_slice *slow = &durations->slowest[i];
        compared_calls_add_slow(
            side, &(struct tv_compared_call){run, compared_calls_track(calls, trace, slow->row),
                                             slow->start, slow->length});
    }
    if (figures->measured == 0)
        return;
    const tv_ns percentiles[RUN_LENGTHS] = {figures->median, figures->p95, figures->max};
    bool again = isfinite(lengths[0]) || isinf(lengths[0]);
    for (size_t k = 0; k < RUN_LENGTHS; k++)
        lengths[k] = again ? (double)INFINITY : (double)percentiles[k];
}

void tv_compared_calls_add(struct tv_compared_calls *calls, uint32_t run,
                           const struct tv_trace *trace, const struct tv_selection *selection)
{
    const struct tv_run_table *table = calls->comparison->table;
    const struct tv_trace_info *info = trace->head;
    bool is_base = table->runs[run].side == TV_RUN_BASE;
    bool by_cpu = calls->comparison->cpu && !trace->cpu_axis;
    uint32_t name_of[TV_COMPARED_CALLS_ROWS];
    struct tv_interner *names = tv_interner_new();
    struct tv_out text;
    assert(table->runs[run].side != TV_RUN_HISTORY);
    tv_out_init_memory(&text);
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct tv_run_row *row = &table->rows[calls->comparison->rows[i].row];
        text.length = 0;
        if (is_base && row->old_name != TV_EMPTY_STRING)
            tv_out_bytes(&text, tv_run_text(table, row->old_name));
        else
            tv_run_row_own_name(&text, table, row);
        name_of[i] = tv_interner_add(names, (struct tv_bytes){text.buffer, text.length});
    }
    for (uint32_t frame = 0; frame < info->frame_count; frame++) {
        struct tv_durations durations;
        uint32_t row = compared_calls_find_row(calls, names, name_of, info, &info->frames[frame]);
        if (row == TV_NONE)
            continue;
        tv_durations_of(trace, selection, frame, by_cpu, &durations);
        compared_calls_add_frame(calls, row, run, trace, &durations);
        struct tv_calls_of_row *of = &calls->rows[row];
        if (!tv_comparison_is_single(calls->comparison) || of->single[!is_base])
            continue;
        of->single[!is_base] =
            tv_durations_list(trace, selection, frame, by_cpu, &of->single_count[!is_base]);
    }
    tv_out_release(&text);
    tv_interner_free(names);
}

/* ---- Percentiles ---- */

/* Return the middle of a figure over the runs of a side; NAN: no run has it. */
static double compared_calls_middle(const struct tv_compared_calls *calls, uint32_t row,
                                    enum tv_run_side side, size_t which)
{
    const struct tv_run_table *table = calls->comparison->table;
    double *values = tv_alloc(table->run_count, sizeof *values);
    size_t count = 0;
    for (uint32_t run = 0; run < table->run_count; run++) {
        double value = calls->rows[row].lengths[(size_t)run * RUN_LENGTHS + which];
        if (table->runs[run].side == side && isfinite(value))
            values[count++] = value;
    }
    double middle = count > 0 ? tv_comparison_middle(values, count) : (double)NAN;
    tv_free(values);
    return middle;
}

void tv_compared_calls_finish(struct tv_compared_calls *calls)
{
    static const enum tv_run_side sides[] = {TV_RUN_BASE, TV_RUN_NEW};
    for (uint32_t i = 0; i < calls->count; i++) {
        struct tv_calls_of_row *of = &calls->rows[i];
        const tv_ns *const lists[] = {of->single[0], of->single[1]};
        if (tv_comparison_is_single(calls->comparison))
            tv_call_noise_of(lists, of->single_count, &of->noise);
        for (size_t k = 0; k < TV_COUNT(sides); k++) {
            struct tv_side_calls *side = &calls->rows[i].side[sides[k]];
            side->median = compared_calls_middle(calls, i, sides[k], 0);
            side->p95 = compared_calls_middle(calls, i, sides[k], 1);
            side->max = compared_calls_middle(calls, i, sides[k], 2);
        }
    }
}
