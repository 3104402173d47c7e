/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call: all about it, and the way to the next of its method.
 */
#include "analysis/search/call_search.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/state.h"

static void member(struct tv_out *out, const char *key, int64_t value)
{
    tv_out_text(out, key);
    tv_out_i64(out, value);
}

static void flag(struct tv_out *out, const char *key, bool value)
{
    tv_out_text(out, key);
    tv_out_text(out, value ? "true" : "false");
}

/* [row, index], or null. */
static void place(struct tv_out *out, const char *key, bool there, uint32_t row, uint32_t index)
{
    tv_out_text(out, key);
    if (!there) {
        tv_out_text(out, "null");
        return;
    }
    tv_out_char(out, '[');
    tv_out_u64(out, row);
    tv_out_char(out, ',');
    tv_out_u64(out, index);
    tv_out_char(out, ']');
}

struct call {
    const struct tv_view *view;
    uint32_t row, index;
    struct tv_slice slice;
    uint32_t frame;
    uint32_t first_child, children;
    bool wall, cpu; /* the clocks of its input */
};

static struct call read_call(const struct tv_view *view, uint32_t row, uint32_t index)
{
    const struct tv_trace *trace = view->trace;
    unsigned clocks = trace->head->inputs[trace->rows[row].input].clocks;
    struct call call = {.view = view, .row = row, .index = index};
    call.slice = tv_slice_get(trace, row, index);
    call.frame = trace->paths.nodes[call.slice.path].frame;
    tv_slice_children(trace, row, index, &call.first_child, &call.children);
    call.wall = clocks & TV_CLOCK_WALL;
    call.cpu = (clocks & TV_CLOCK_CPU) && !(call.slice.flags & TV_SLICE_NO_CPU) &&
               tv_track_has_cpu(trace, trace->rows[row].track);
    return call;
}

/* What the calls that this one made leave of it. */
static void exclusive(const struct call *call, int64_t *wall, int64_t *cpu)
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

/* How long the call, or one that it made, waited. */
static tv_ns waited(const struct call *call)
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
        if (wait->depth >= row->depth && start >= call->slice.start)
            tv_time_add(&sum, tv_time_times(wait->length, tick));
    }
    return sum;
}

static void write_times(struct tv_out *out, const struct call *call)
{
    int64_t wall, cpu;
    exclusive(call, &wall, &cpu);
    member(out, ",\"start_ns\":", call->slice.start);
    member(out, ",\"length_ns\":", call->slice.length);
    tv_out_text(out, ",\"cpu_start_ns\":");
    tv_view_time(out, call->cpu, call->slice.cpu_start);
    tv_out_text(out, ",\"cpu_length_ns\":");
    tv_view_time(out, call->cpu, call->slice.cpu_length);
    tv_out_text(out, ",\"excl_real_ns\":");
    tv_view_time(out, call->wall, wall);
    tv_out_text(out, ",\"excl_cpu_ns\":");
    tv_view_time(out, call->cpu, cpu);
    tv_out_text(out, ",\"wait_ns\":");
    tv_view_time(out, call->wall && call->cpu, waited(call));
}

/* The callers from the root on, and how many of them are calls of the same method. */
static void write_path(struct tv_out *out, const struct call *call)
{
    const struct tv_trace *trace = call->view->trace;
    uint32_t depth = trace->rows[call->row].depth, recursion = 0;
    uint32_t *indices = tv_alloc((size_t)depth + 1, sizeof *indices);
    indices[depth] = call->index;
    for (uint32_t i = depth; i > 0; i--)
        indices[i - 1] = tv_slice_parent(trace, call->row - (depth - i), indices[i]);
    tv_out_text(out, ",\"path\":[");
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t row = call->row - (depth - i);
        uint32_t frame = trace->paths.nodes[tv_slice_get(trace, row, indices[i]).path].frame;
        member(out, i > 0 ? ",[" : "[", row);
        member(out, ",", indices[i]);
        member(out, ",", frame);
        tv_out_char(out, ']');
        recursion += frame == call->frame;
    }
    tv_out_char(out, ']');
    member(out, ",\"recursion\":", recursion);
    tv_free(indices);
}

static void write_neighbours(struct tv_out *out, const struct call *call)
{
    uint32_t count = call->view->trace->rows[call->row].count;
    place(out, ",\"first_child\":", call->children > 0, call->row + 1, call->first_child);
    place(out, ",\"previous\":", call->index > 0, call->row, call->index - 1);
    place(out, ",\"next\":", call->index + 1 < count, call->row, call->index + 1);
}

static void write_place(struct tv_out *out, const struct call *call)
{
    struct tv_call_search search;
    uint64_t of;
    tv_call_search_init(&search, call->view->trace, call->frame);
    member(out, ",\"nth\":", (int64_t)tv_call_search_rank(&search, call->row, call->index, &of));
    member(out, ",\"of\":", (int64_t)of);
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
        tv_out_json(out, tv_head_text(trace->head, trace->head->frames[event->frame].category));
    }
    member(out, ",\"offset\":", (int64_t)event->offset);
    tv_out_text(out, ",\"event\":");
    if (status == TV_OK) {
        tv_out_bytes(out, (struct tv_bytes){text.buffer, text.length});
    } else {
        tv_out_text(out, "null,\"event_error\":");
        tv_out_json(out, tv_bytes_of(reason.message));
    }
    tv_out_release(&text);
}

static void write_event(struct tv_out *out, const struct call *call)
{
    const struct tv_trace *trace = call->view->trace;
    const struct tv_slice_extra *extra =
        tv_tables_slice_extra(&trace->tables, call->row, call->index);
    struct tv_view_event event = {trace->rows[call->row].input, call->frame,
                                  tv_slice_offset(trace, call->row, call->index),
                                  extra ? extra->end_offset : TV_NO_OFFSET};
    uint8_t colour = tv_slice_colour(trace, call->row, call->index, call->frame);
    if (colour > 0)
        member(out, ",\"colour\":", colour);
    tv_view_write_event(out, trace, &event);
}

enum tv_status tv_view_slice(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t row, index;
    enum tv_status status = tv_parameter_slice(parameters, trace, &row, &index, err);
    if (status != TV_OK)
        return status;
    const struct tv_async_extra *async = tv_tables_async_extra(&trace->tables, row, index);
    struct call call = read_call(view, row, index);
    member(out, "{\"row\":", row);
    member(out, ",\"index\":", index);
    member(out, ",\"track\":", trace->rows[row].track);
    member(out, ",\"depth\":", trace->rows[row].depth);
    member(out, ",\"frame\":", call.frame);
    write_times(out, &call);
    member(out, ",\"children\":", call.children);
    flag(out, ",\"unrolled\":", call.slice.flags & TV_SLICE_UNROLLED);
    flag(out, ",\"entered_before\":", call.slice.flags & TV_SLICE_ENTERED_BEFORE);
    flag(out, ",\"open_at_end\":", call.slice.flags & TV_SLICE_OPEN);
    flag(out, ",\"missing_exit\":", call.slice.flags & TV_SLICE_MISSING_EXIT);
    write_path(out, &call);
    write_neighbours(out, &call);
    write_place(out, &call);
    tv_view_write_contexts(out, trace, row, index);
    if (async)
        tv_view_write_joins(out, trace, async->group);
    write_event(out, &call);
    tv_out_char(out, '}');
    return TV_OK;
}

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
    place(out, "", found, row, index);
    tv_call_search_release(&search);
    tv_free(wanted);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}
