/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compared_calls.c - the calls of methods on both sides, the slowest of them, and how much the
 * means of their lengths can be trusted (compared_calls.h).
 */
#include "analysis/compare/compared_calls.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

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

/* Insert a call into the slowest ones, which are sorted, longest first.  Of equals the earlier one
 * stays first, as calls come in order of runs. */
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

/* ---- Effective numbers of calls, and a block bootstrap ----
 *
 * Many calls are first averaged in groups of neighbours for the bootstrap: that changes neither the
 * mean nor, with blocks of several groups, how uncertain it is.  Their effective number comes from
 * single calls, the first of them if there are many.
 */

/* Maximum number of groups of calls. */
#define MAX_GROUPS ((size_t)2048)

/* Maximum number of calls whose effective number is computed; that of all is in proportion. */
#define MAX_SINGLE ((size_t)16384)

#define DRAWINGS ((size_t)1000)

/* Return the next number of a fixed sequence (splitmix64), so that equal input gives equal output.
 */
static uint64_t noise_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double noise_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Return the autocovariance of values, whose mean was subtracted, at a distance. */
static double noise_covariance(const double *values, size_t count, size_t distance)
{
    double sum = 0;
    for (size_t i = 0; i + distance < count; i++)
        sum += values[i] * values[i + distance];
    return sum / (double)count;
}

double tv_call_noise_effective(const double *values, size_t count)
{
    if (count < 2)
        return (double)count;
    double mean = noise_mean(values, count), sum = 0;
    double *centred = tv_alloc(count, sizeof *centred);
    for (size_t i = 0; i < count; i++)
        centred[i] = values[i] - mean;
    double variance = noise_covariance(centred, count, 0);
    for (size_t distance = 0; distance + 1 < count; distance += 2) {
        double pair = noise_covariance(centred, count, distance) +
                      noise_covariance(centred, count, distance + 1);
        if (!(pair > 0))
            break;
        sum += pair;
    }
    tv_free(centred);
    double of_mean = 2 * sum - variance; /* variance of the mean, times count */
    if (!(of_mean > variance))
        return (double)count; /* equal values, or calls that even each other out */
    return (double)count * variance / of_mean;
}

/* The calls of a side, in groups. */
struct noise_side {
    double *values;
    size_t count, block;
};

/* Average neighbours, and choose blocks of twice the calls that one independent one stands for. */
static void noise_side_init(struct noise_side *side, const tv_ns *lengths, size_t count)
{
    size_t group = (count + MAX_GROUPS - 1) / MAX_GROUPS;
    *side = (struct noise_side){.count = count / group};
    side->values = tv_alloc(side->count, sizeof *side->values);
    for (size_t i = 0; i < side->count; i++) {
        for (size_t k = 0; k < group; k++)
            side->values[i] += (double)lengths[i * group + k];
        side->values[i] /= (double)group;
    }
    double groups = tv_call_noise_effective(side->values, side->count);
    double block = ceil(2 * (double)side->count / groups);
    side->block = block < (double)side->count / 4 ? (size_t)block : side->count / 4;
    side->block = side->block > 0 ? side->block : 1;
}

/* Return as how many independent calls those of a side are as good. */
static double noise_effective_calls(const tv_ns *lengths, size_t count)
{
    size_t used = count < MAX_SINGLE ? count : MAX_SINGLE;
    double *values = tv_alloc(used, sizeof *values);
    for (size_t i = 0; i < used; i++)
        values[i] = (double)lengths[i];
    double effective = tv_call_noise_effective(values, used);
    tv_free(values);
    return effective * (double)count / (double)used;
}

/* Return the mean of blocks that were drawn. */
static double noise_draw(const struct noise_side *side, uint64_t *state)
{
    double sum = 0;
    for (size_t taken = 0; taken < side->count;) {
        size_t at = (size_t)(noise_next(state) % side->count);
        for (size_t k = 0; k < side->block && taken < side->count; k++, taken++) {
            sum += side->values[at];
            at = at + 1 < side->count ? at + 1 : 0;
        }
    }
    return sum / (double)side->count;
}

static int noise_compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Return the mean of all lengths. */
static double noise_mean_length(const tv_ns *lengths, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)lengths[i];
    return count > 0 ? sum / (double)count : (double)NAN;
}

void tv_call_noise_of(const tv_ns *const lengths[2], const size_t counts[2],
                      struct tv_call_noise *noise)
{
    struct noise_side sides[2];
    uint64_t state = 1;
    *noise = (struct tv_call_noise){.change = (double)NAN, .low = (double)NAN, .high = (double)NAN};
    for (size_t k = 0; k < 2; k++)
        noise->mean[k] = noise_mean_length(lengths[k], counts[k]);
    for (size_t k = 0; k < 2; k++)
        noise->effective[k] =
            counts[k] > 0 ? noise_effective_calls(lengths[k], counts[k]) : (double)NAN;
    if (counts[0] < TV_MIN_NOISE_CALLS || counts[1] < TV_MIN_NOISE_CALLS || !(noise->mean[0] > 0) ||
        !(noise->mean[1] > 0))
        return;
    for (size_t k = 0; k < 2; k++)
        noise_side_init(&sides[k], lengths[k], counts[k]);
    double *drawn = tv_alloc(DRAWINGS, sizeof *drawn);
    for (size_t i = 0; i < DRAWINGS; i++) {
        double base = noise_draw(&sides[0], &state);
        drawn[i] = noise_draw(&sides[1], &state) / (base > 0 ? base : noise->mean[0]) - 1;
    }
    qsort(drawn, DRAWINGS, sizeof *drawn, noise_compare);
    noise->change = noise->mean[1] / noise->mean[0] - 1;
    noise->low = drawn[DRAWINGS / 40];
    noise->high = drawn[DRAWINGS - 1 - DRAWINGS / 40];
    tv_free(drawn);
    tv_free(sides[0].values);
    tv_free(sides[1].values);
}
