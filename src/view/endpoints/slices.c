/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.c - questions about slices: one call, its neighbours and what it made,
 * and statistics by name.
 *
 * A slice is named by its row and its index in the row, which are valid for one
 * filter.  Its answer is made from the columns of the rows around it; only its
 * arguments come from the file, where its event is parsed again
 * (tv_view_write_event).
 */
#include <assert.h>
#include <stdlib.h>

#include "analysis/search/call_search.h"
#include "analysis/states/statistics.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"

/* ---- One slice: all about it, and the way to the next one of its method ---- */

void tv_view_write_place(struct tv_out *out, const char *key, bool exists, uint32_t row,
                         uint32_t index)
{
    tv_out_text(out, key);
    if (!exists) {
        tv_out_text(out, "null");
        return;
    }
    tv_out_char(out, '[');
    tv_out_u64(out, row);
    tv_out_char(out, ',');
    tv_out_u64(out, index);
    tv_out_char(out, ']');
}

/* A slice with what several members of its answer need. */
struct slice_facts {
    const struct tv_view *view;
    uint32_t row, index;
    struct tv_slice slice;
    uint32_t frame;
    uint32_t first_child, children;
    bool wall, cpu; /* clocks of its input */
};

/* Read a slice and what its answer needs. */
static struct slice_facts view_slice_read(const struct tv_view *view, uint32_t row, uint32_t index)
{
    assert(row < view->trace->row_count);
    const struct tv_trace *trace = view->trace;
    unsigned clocks = trace->head->inputs[trace->rows[row].input].clocks;
    struct slice_facts call = {.view = view, .row = row, .index = index};
    call.slice = tv_slice_get(trace, row, index);
    call.frame = trace->paths.nodes[call.slice.path].frame;
    tv_slice_children(trace, row, index, &call.first_child, &call.children);
    call.wall = clocks & TV_CLOCK_WALL;
    call.cpu = (clocks & TV_CLOCK_CPU) && !(call.slice.flags & TV_SLICE_NO_CPU) &&
               tv_track_has_cpu(trace, trace->rows[row].track);
    return call;
}

/* Compute what the call's children leave of its times. */
static void view_slice_self_times(const struct slice_facts *call, int64_t *wall, int64_t *cpu)
{
    struct tv_slice slices[64];
    *wall = call->slice.length;
    *cpu = call->slice.cpu_length;
    for (uint32_t done = 0, count; done < call->children; done += count) {
        count = call->children - done;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(call->view->trace, call->row + 1, call->first_child + done, count, slices);
        for (uint32_t i = 0; i < count; i++) {
            *wall -= slices[i].length;
            tv_time_add(cpu, -slices[i].cpu_length);
        }
    }
    *wall = *wall > 0 ? *wall : 0;
    *cpu = *cpu > 0 ? *cpu : 0;
}

/* Return how long the call or its descendants waited. */
static tv_ns view_slice_waited(const struct slice_facts *call)
{
    const struct tv_trace *trace = call->view->trace;
    const struct tv_row *row = &trace->rows[call->row];
    const struct tv_track *track = &trace->tracks[row->track];
    int64_t tick = tv_track_tick(trace, row->track);
    tv_ns offset = trace->offset[track->input], sum = 0;
    tv_ns end = call->slice.start + call->slice.length;
    for (uint32_t i = 0; i < track->wait_count; i++) {
        const struct tv_wait *wait = &track->waits[i];
        tv_ns start = wait->start * tick + offset;
        if (start >= end)
            break;
        /* Waits are sorted by time.  A wait belongs to the calls that were
         * open, so to those of its depth and above. */
        if (wait->depth >= row->depth && start >= call->slice.start)
            tv_time_add(&sum, tv_time_times(wait->length, tick));
    }
    return sum;
}

/* Write the times of a slice by each clock. */
static void view_slice_write_times(struct tv_out *out, const struct slice_facts *call)
{
    int64_t wall, cpu;
    view_slice_self_times(call, &wall, &cpu);
    tv_member_number(out, ",\"start_ns\":", call->slice.start);
    tv_member_number(out, ",\"length_ns\":", call->slice.length);
    tv_out_text(out, ",\"cpu_start_ns\":");
    tv_view_time(out, call->cpu, call->slice.cpu_start);
    tv_out_text(out, ",\"cpu_length_ns\":");
    tv_view_time(out, call->cpu, call->slice.cpu_length);
    tv_out_text(out, ",\"excl_real_ns\":");
    tv_view_time(out, call->wall, wall);
    tv_out_text(out, ",\"excl_cpu_ns\":");
    tv_view_time(out, call->cpu, cpu);
    tv_out_text(out, ",\"wait_ns\":");
    tv_view_time(out, call->wall && call->cpu, view_slice_waited(call));
}

/* Write the callers from the root on, and how many of them are calls of the same method. */
static void view_slice_write_path(struct tv_out *out, const struct slice_facts *call)
{
    const struct tv_trace *trace = call->view->trace;
    uint32_t depth = trace->rows[call->row].depth, recursion = 0;
    uint32_t *indices = tv_alloc((size_t)depth + 1, sizeof *indices);
    assert(depth <= call->row);
    /* From the call up: the parent of a slice is in the row before, which has
     * one depth less. */
    indices[depth] = call->index;
    for (uint32_t i = depth; i > 0; i--)
        indices[i - 1] = tv_slice_parent(trace, call->row - (depth - i), indices[i]);
    tv_out_text(out, ",\"path\":[");
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t row = call->row - (depth - i);
        uint32_t frame = trace->paths.nodes[tv_slice_get(trace, row, indices[i]).path].frame;
        tv_member_number(out, i > 0 ? ",[" : "[", row);
        tv_member_number(out, ",", indices[i]);
        tv_member_number(out, ",", frame);
        tv_out_char(out, ']');
        recursion += frame == call->frame;
    }
    tv_out_char(out, ']');
    tv_member_number(out, ",\"recursion\":", recursion);
    tv_free(indices);
}

/* Write the first child, the previous and the next slice. */
static void view_slice_write_neighbours(struct tv_out *out, const struct slice_facts *call)
{
    uint32_t count = call->view->trace->rows[call->row].count;
    tv_view_write_place(out, ",\"first_child\":", call->children > 0, call->row + 1,
                        call->first_child);
    tv_view_write_place(out, ",\"previous\":", call->index > 0, call->row, call->index - 1);
    tv_view_write_place(out, ",\"next\":", call->index + 1 < count, call->row, call->index + 1);
}

/* Write the slice's rank among the calls of its method. */
static void view_slice_write_rank(struct tv_out *out, const struct slice_facts *call)
{
    struct tv_call_search search;
    uint64_t of;
    tv_call_search_init(&search, call->view->trace, call->frame);
    tv_member_number(
        out, ",\"nth\":", (int64_t)tv_call_search_rank(&search, call->row, call->index, &of));
    tv_member_number(out, ",\"of\":", (int64_t)of);
    tv_call_search_release(&search);
}

void tv_view_write_event(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_view_event *event)
{
    const struct tv_input *input = &trace->head->inputs[event->input];
    struct tv_error reason;
    struct tv_out text;
    if (event->offset == TV_NO_OFFSET || !input->describe)
        return;
    tv_out_init_memory(&text);
    enum tv_status status =
        input->describe(trace, event->input, event->offset, event->end_offset, &text, &reason);
    if (event->frame != TV_NONE) {
        tv_out_text(out, ",\"category\":");
        tv_out_json(out,
                    tv_trace_info_text(trace->head, trace->head->frames[event->frame].category));
    }
    tv_member_number(out, ",\"offset\":", (int64_t)event->offset);
    tv_out_text(out, ",\"event\":");
    if (status == TV_OK) {
        tv_out_bytes(out, (struct tv_bytes){text.buffer, text.length});
    } else {
        tv_out_text(out, "null,\"event_error\":");
        tv_out_json(out, tv_bytes_of(reason.message));
    }
    tv_out_release(&text);
}

/* Write the event of a slice, read again from its file. */
static void view_slice_write_event(struct tv_out *out, const struct slice_facts *call)
{
    const struct tv_trace *trace = call->view->trace;
    const struct tv_slice_extra *extra =
        tv_tables_slice_extra(&trace->tables, call->row, call->index);
    struct tv_view_event event = {trace->rows[call->row].input, call->frame,
                                  tv_slice_offset(trace, call->row, call->index),
                                  extra ? extra->end_offset : TV_NO_OFFSET};
    uint8_t colour = tv_slice_colour(trace, call->row, call->index, call->frame);
    if (colour > 0)
        tv_member_number(out, ",\"colour\":", colour);
    tv_view_write_event(out, trace, &event);
}

/* Read which slice is meant: `row` and `index`, or `id`, the number that SQL and the fleet use: how
 * many slices are before it, in the order of rows. */
static enum tv_status view_slice_find(const struct tv_parameters *parameters,
                                      const struct tv_trace *trace, uint32_t *row, uint32_t *index,
                                      struct tv_error *err)
{
    int64_t all = 0, id = -1;
    for (uint32_t i = 0; i < trace->row_count; i++)
        all += trace->rows[i].count;
    enum tv_status status = tv_parameter_integer(
        parameters, "id", (struct tv_parameter_bounds){0, all - 1}, -1, &id, err);
    if (status != TV_OK || id < 0)
        return status == TV_OK ? tv_parameter_slice(parameters, trace, row, index, err) : status;
    for (*row = 0; id >= trace->rows[*row].count; ++*row)
        id -= trace->rows[*row].count;
    *index = (uint32_t)id;
    return TV_OK;
}

/* Answer api/slice: all about one slice. */
enum tv_status tv_view_slice(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t row, index;
    enum tv_status status = view_slice_find(parameters, trace, &row, &index, err);
    if (status != TV_OK)
        return status;
    const struct tv_async_extra *async = tv_tables_async_extra(&trace->tables, row, index);
    struct slice_facts call = view_slice_read(view, row, index);
    tv_member_number(out, "{\"row\":", row);
    tv_member_number(out, ",\"index\":", index);
    tv_member_number(out, ",\"track\":", trace->rows[row].track);
    tv_member_number(out, ",\"depth\":", trace->rows[row].depth);
    tv_member_number(out, ",\"frame\":", call.frame);
    view_slice_write_times(out, &call);
    tv_member_number(out, ",\"children\":", call.children);
    tv_member_flag(out, ",\"unrolled\":", call.slice.flags & TV_SLICE_UNROLLED);
    tv_member_flag(out, ",\"entered_before\":", call.slice.flags & TV_SLICE_ENTERED_BEFORE);
    tv_member_flag(out, ",\"open_at_end\":", call.slice.flags & TV_SLICE_OPEN);
    tv_member_flag(out, ",\"missing_exit\":", call.slice.flags & TV_SLICE_MISSING_EXIT);
    view_slice_write_path(out, &call);
    view_slice_write_neighbours(out, &call);
    view_slice_write_rank(out, &call);
    tv_view_write_contexts(out, trace, row, index);
    if (async)
        tv_view_write_joins(out, trace, async->group);
    view_slice_write_event(out, &call);
    tv_out_char(out, '}');
    return TV_OK;
}

/* ---- What a call made, by name ---- */

#define INSIDE_LIMIT 2000 /* names that are listed */

/* Calls of one name directly inside another call. */
struct inside_name {
    uint32_t frame;
    uint64_t calls;
    int64_t wall, cpu; /* sums */
};

static int view_inside_compare(const void *left, const void *right)
{
    const struct inside_name *a = left, *b = right;
    if (a->wall != b->wall)
        return a->wall > b->wall ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

/* Add up the children of a call by frame, longest first.  The caller frees the names. */
static struct inside_name *view_inside_names(const struct slice_facts *call, size_t *count)
{
    const struct tv_trace *trace = call->view->trace;
    uint32_t *place = tv_alloc(trace->head->frame_count, sizeof *place); /* in names, from 1 */
    struct inside_name *names = NULL;
    size_t capacity = 0;
    *count = 0;
    for (uint32_t i = 0; i < call->children; i++) {
        struct tv_slice slice = tv_slice_get(trace, call->row + 1, call->first_child + i);
        uint32_t frame = trace->paths.nodes[slice.path].frame;
        if (place[frame] == 0) {
            names = tv_array_reserve(names, &capacity, *count + 1, sizeof *names);
            names[*count] = (struct inside_name){.frame = frame};
            place[frame] = (uint32_t)++ * count;
        }
        struct inside_name *name = &names[place[frame] - 1];
        name->calls++;
        tv_time_add(&name->wall, slice.length);
        tv_time_add(&name->cpu, slice.cpu_length);
    }
    tv_free(place);
    if (*count > 1)
        qsort(names, *count, sizeof *names, view_inside_compare);
    return names;
}

/* Answer api/inside: the children of a slice by name, at most INSIDE_LIMIT of
 * them; `left_out` counts the rest. */
enum tv_status tv_view_inside(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    uint32_t row, index;
    enum tv_status status = tv_parameter_slice(parameters, view->trace, &row, &index, err);
    if (status != TV_OK)
        return status;
    struct slice_facts call = view_slice_read(view, row, index);
    size_t count;
    struct inside_name *names = view_inside_names(&call, &count);
    size_t listed = count < INSIDE_LIMIT ? count : INSIDE_LIMIT;
    tv_member_number(out, "{\"left_out\":", (int64_t)(count - listed));
    tv_out_text(out, ",\"rows\":[");
    for (size_t i = 0; i < listed; i++) {
        tv_member_number(out, i > 0 ? ",[" : "[", names[i].frame);
        tv_member_number(out, ",", (int64_t)names[i].calls);
        tv_member_number(out, ",", names[i].wall);
        tv_out_char(out, ',');
        tv_view_time(out, call.cpu, names[i].cpu);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "]}");
    tv_free(names);
    return TV_OK;
}

/* Answer api/step: the next or previous call of a method, as [row, index] or
 * null. */
enum tv_status tv_view_step(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    static const char *const directions[] = {"1", "-1", NULL};
    const struct tv_parameter_bounds frames = {0, (int64_t)view->trace->head->frame_count - 1};
    const struct tv_parameter_bounds times = {-((int64_t)1 << 61), (int64_t)1 << 61};
    struct tv_selection selection;
    int64_t frame, time;
    unsigned back;
    enum tv_status status = tv_parameter_required(parameters, "frame", frames, &frame, err);
    if (status == TV_OK)
        status = tv_parameter_required(parameters, "t", times, &time, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "direction", directions, &back, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    bool *wanted = tv_selection_wanted(view->trace, &selection);
    struct tv_call_search search;
    uint32_t row, index;
    tv_call_search_init(&search, view->trace, (uint32_t)frame);
    bool found = tv_call_search_step(&search, wanted, time, back ? -1 : 1, &row, &index);
    tv_view_write_place(out, "", found, row, index);
    tv_call_search_release(&search);
    tv_free(wanted);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

/* ---- Statistics by name, and the histogram of one name ----
 */

/* [frame, count, length, self, cpu, min, average, median, p95, max, cut] */
static void view_statistics_write_frame(struct tv_out *out, const struct tv_view *view,
                                        const struct tv_frame_statistics *frame)
{
    const int64_t rest[] = {frame->min, frame->average, frame->median, frame->p95, frame->max};
    bool known = frame->measured > 0 || frame->count == 0;
    tv_member_number(out, "[", frame->frame);
    tv_member_number(out, ",", (int64_t)frame->count);
    tv_member_number(out, ",", frame->length);
    tv_out_char(out, ',');
    tv_view_time(out, known, frame->self);
    tv_out_char(out, ',');
    tv_view_time(out, view->cpu && frame->cpu_count > 0, frame->cpu);
    for (uint32_t i = 0; i < TV_COUNT(rest); i++) {
        tv_out_char(out, ',');
        tv_view_time(out, known, rest[i]);
    }
    tv_member_number(out, ",", (int64_t)frame->cut);
    tv_out_char(out, ']');
}

/* Write the buckets from the first to the last that holds a slice, with their bounds. */
static void view_statistics_write_buckets(struct tv_out *out, const uint64_t *buckets)
{
    uint32_t first = 0, end = TV_DURATION_BUCKETS;
    while (first < end && buckets[first] == 0)
        first++;
    while (end > first && buckets[end - 1] == 0)
        end--;
    tv_out_text(out, ",\"bounds\":[");
    for (uint32_t i = first; i <= end && first < end; i++)
        tv_member_number(out, i > first ? "," : "", tv_duration_bound(i));
    tv_out_text(out, "],\"counts\":[");
    for (uint32_t i = first; i < end; i++)
        tv_member_number(out, i > first ? "," : "", (int64_t)buckets[i]);
    tv_out_char(out, ']');
}

/* Write the slowest slices of a frame. */
static void view_statistics_write_slowest(struct tv_out *out, const struct tv_trace *trace,
                                          const struct tv_durations *durations)
{
    tv_out_text(out, ",\"slowest\":[");
    for (uint32_t i = 0; i < durations->slowest_count; i++) {
        const struct tv_slow_slice *slice = &durations->slowest[i];
        tv_member_number(out, i > 0 ? ",[" : "[", slice->row);
        tv_member_number(out, ",", slice->index);
        tv_member_number(out, ",", slice->start);
        tv_member_number(out, ",", slice->length);
        tv_member_number(out, ",", trace->rows[slice->row].track);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

/* Answer for one frame, with its histogram. */
static void view_statistics_answer_frame(const struct tv_view *view,
                                         const struct tv_selection *selection, uint32_t frame,
                                         bool by_cpu, struct tv_out *out)
{
    struct tv_durations durations;
    tv_durations_of(view->trace, selection, frame, by_cpu, &durations);
    tv_out_text(out, "{\"row\":");
    view_statistics_write_frame(out, view, &durations.figures);
    view_statistics_write_buckets(out, durations.buckets);
    view_statistics_write_slowest(out, view->trace, &durations);
    tv_out_char(out, '}');
}

/* Answer with one row per frame. */
static void view_statistics_answer_all(const struct tv_view *view,
                                       const struct tv_selection *selection, bool by_cpu,
                                       struct tv_out *out)
{
    struct tv_statistics *statistics = tv_statistics_of(view->trace, selection, by_cpu);
    tv_out_text(out, "{\"rows\":[");
    for (uint32_t i = 0; i < statistics->count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        view_statistics_write_frame(out, view, &statistics->frames[i]);
    }
    tv_out_text(out, "]}");
    tv_statistics_free(statistics);
}

/* Answer api/statistics: a row for each frame, or one frame with its histogram. */
enum tv_status tv_view_statistics(const struct tv_view *view,
                                  const struct tv_parameters *parameters, struct tv_out *out,
                                  struct tv_error *err)
{
    const struct tv_parameter_bounds frames = {0, (int64_t)view->trace->head->frame_count - 1};
    struct tv_selection selection;
    enum tv_clocks clock;
    int64_t frame;
    enum tv_status status = tv_parameter_integer(parameters, "frame", frames, -1, &frame, err);
    if (status == TV_OK)
        status = tv_parameter_clock(parameters, view->trace, &clock, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    /* without a wall clock, lengths are CPU times already */
    bool by_cpu = clock == TV_CLOCK_CPU && view->wall;
    if (frame < 0)
        view_statistics_answer_all(view, &selection, by_cpu, out);
    else
        view_statistics_answer_frame(view, &selection, (uint32_t)frame, by_cpu, out);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}
