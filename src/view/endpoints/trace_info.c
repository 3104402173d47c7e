/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_info.c - api/trace and api/frames: what the trace is.
 *
 * api/trace is the first question of a page.  Its answer has everything that
 * does not depend on a range: inputs, clocks, processes, threads, tracks,
 * problems, counts.  Numbers of tracks, rows, frames and threads in all other
 * answers are indices into these lists.
 *
 * Every function writes one or more members of the object, with the comma
 * before them.
 */
#include <assert.h>
#include <string.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/findings/display_frames.h"
#include "analysis/timeline/dense.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"
#include "writers/tables/info.h"
#include "writers/trace/excerpt.h"

/* Write a string of the head as JSON. */
static void view_write_string(struct tv_out *out, const struct tv_trace_info *head, uint32_t string)
{
    tv_out_json(out, tv_trace_info_text(head, string));
}

/* "page.html" of "page.html: block 3": the trace is a block of a page, and the page is what was
 * opened. */
static struct tv_bytes view_page_name(struct tv_bytes name)
{
    const struct tv_bytes mark = TV_BYTES(": block ");
    size_t end = name.length;
    while (end > 0 && name.data[end - 1] >= '0' && name.data[end - 1] <= '9')
        end--;
    if (end == name.length || end <= mark.length ||
        memcmp(name.data + end - mark.length, mark.data, mark.length) != 0)
        return name;
    return (struct tv_bytes){name.data, end - mark.length};
}

/* Inputs without events and inputs with a zero of their own do not describe the
 * whole; the first input is taken if there is no other. */
const struct tv_input *tv_view_main_input(const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (!head->inputs[i].eventless && !head->inputs[i].own_zero)
            return &head->inputs[i];
    return &head->inputs[0];
}

struct tv_bytes tv_view_input_name(const struct tv_trace_info *head)
{
    assert(head != NULL);
    if (head->input_count == 0)
        return tv_bytes_of("");
    return view_page_name(
        tv_bytes_base_name(tv_trace_info_text(head, tv_view_main_input(head)->name)));
}

/* Write the trace's clocks and the clock of its axis. */
static void view_trace_write_clocks(struct tv_out *out, const struct tv_view *view)
{
    tv_out_text(out, ",\"clocks\":[");
    tv_out_text(out, view->wall ? "\"real\"" : "");
    tv_out_text(out, view->wall && view->cpu ? "," : "");
    tv_out_text(out, view->cpu ? "\"cpu\"" : "");
    if (tv_trace_info_has_times(view->trace->head)) {
        tv_out_text(out, view->trace->cpu_axis ? "],\"axis\":\"cpu\"" : "],\"axis\":\"real\"");
        return;
    }
    tv_out_text(out, "],\"axis\":\"weight\",\"axis_unit\":");
    tv_out_json(out, tv_weight_axis_unit(view->trace));
}

/* Facts of all inputs together. */
static void view_trace_write_sums(struct tv_out *out, const struct tv_trace_info *head)
{
    uint64_t records = 0;
    enum tv_figures figures = tv_trace_info_figures(head);
    struct tv_sampling sampling = tv_trace_info_sampling(head);
    bool overflow = false;
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        records += input->records;
        overflow |= input->overflow;
    }
    tv_out_text(out, ",\"records\":");
    tv_out_u64(out, records);
    tv_out_text(out, overflow ? ",\"overflow\":true" : ",\"overflow\":false");
    tv_out_text(out, ",\"sampled\":");
    if (figures == TV_FIGURES_SAMPLED) {
        tv_out_text(out, "{\"interval_ns\":");
        tv_out_i64(out, sampling.interval);
        tv_out_text(out, sampling.inferred ? ",\"inferred\":true}" : ",\"inferred\":false}");
    } else {
        tv_out_text(out, "null");
        if (tv_clock_cost(head) > 0) {
            tv_out_text(out, ",\"clock_cost_ns\":");
            tv_out_i64(out, tv_clock_cost(head));
        }
    }
}

/* Write the value types of samples in the order of the parameter `value`. */
static void view_trace_write_values(struct tv_out *out, const struct tv_trace *trace)
{
    struct tv_sample_values values = tv_sample_values_of(trace);
    const struct tv_sample_value *first = tv_sample_values_default(&values);
    tv_out_text(out, ",\"value_types\":[");
    for (size_t i = 0; i < values.count; i++) {
        tv_out_text(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        tv_out_json(out, tv_trace_info_text(trace->head, values.list[i].name));
        tv_out_text(out, ",\"unit\":");
        tv_out_json(out, tv_trace_info_text(trace->head, values.list[i].unit));
        tv_out_text(out, &values.list[i] == first ? ",\"first\":true}" : ",\"first\":false}");
    }
    tv_out_char(out, ']');
    tv_sample_values_release(&values);
}

/* Write the facts of the main input. */
static void view_trace_write_input(struct tv_out *out, const struct tv_trace_info *head)
{
    const struct tv_input *input = tv_view_main_input(head);
    tv_out_text(out, ",\"name\":");
    tv_out_json(out, tv_view_input_name(head));
    tv_out_text(out, ",\"format\":");
    tv_out_json(out, tv_bytes_of(input->format));
    tv_out_text(out, ",\"version\":");
    view_write_string(out, head, input->version);
    tv_out_text(out, ",\"recorded\":");
    tv_info_write_recorded(out, input);
}

/* Ids that are not plain numbers. */
static void view_trace_write_key(struct tv_out *out, const struct tv_trace_info *head, uint32_t key)
{
    if (key == TV_EMPTY_STRING)
        return;
    tv_out_text(out, ",\"key\":");
    view_write_string(out, head, key);
}

/* Write the sort index of a process or thread, if it has one. */
static void view_trace_write_sort_index(struct tv_out *out, int64_t index)
{
    if (index != 0)
        tv_member_number(out, ",\"sort_index\":", index);
}

/* Order and colours of tracks, and the unit in which the file wants times shown. */
static void view_trace_write_display(struct tv_out *out, const struct tv_view *view)
{
    const struct tv_trace_info *head = view->trace->head;
    const char *unit = head->input_count > 0 ? tv_view_main_input(head)->unit : NULL;
    tv_out_text(out, view->by_owner ? ",\"order\":\"owner\"" : ",\"order\":\"busiest\"");
    tv_out_text(out, tv_trace_info_has_categories(head) ? ",\"colours\":\"name\""
                                                        : ",\"colours\":\"rank\"");
    tv_out_text(out, ",\"unit\":");
    if (unit)
        tv_out_json(out, tv_bytes_of(unit));
    else
        tv_out_text(out, "null");
}

/* Write metadata, files and processes. */
static void view_trace_write_lists(struct tv_out *out, const struct tv_trace_info *head)
{
    tv_out_text(out, ",\"metadata\":[");
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        tv_out_text(out, i > 0 ? ",[" : "[");
        view_write_string(out, head, head->metadata[i].key);
        tv_out_char(out, ',');
        view_write_string(out, head, head->metadata[i].value);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "],\"files\":[");
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        view_write_string(out, head, head->inputs[i].name);
    }
    tv_out_text(out, "],\"processes\":[");
    for (uint32_t i = 0; i < head->process_count; i++) {
        tv_out_text(out, i > 0 ? ",{\"id\":" : "{\"id\":");
        tv_out_u64(out, head->processes[i].id);
        tv_out_text(out, ",\"name\":");
        view_write_string(out, head, head->processes[i].name);
        view_trace_write_key(out, head, head->processes[i].key);
        if (head->processes[i].labels != TV_EMPTY_STRING) {
            tv_out_text(out, ",\"labels\":");
            view_write_string(out, head, head->processes[i].labels);
        }
        if (head->processes[i].uptime > 0)
            tv_member_number(out, ",\"uptime_ns\":", head->processes[i].uptime);
        view_trace_write_sort_index(out, head->processes[i].sort_index);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

/* ---- Tracks ---- */

/* A line of the kernel is not a thread. */
static void view_trace_write_line(struct tv_out *out, const struct tv_thread *thread)
{
    if (thread->line)
        tv_out_text(out, ",\"line\":true");
}

/* Write the owner of a track and its name; asynchronous tracks have names of their own. */
static void view_trace_write_owner(struct tv_out *out, const struct tv_trace_info *head,
                                   const struct tv_track *track)
{
    static const char *const kinds[] = {"thread", "overflow", "async", "cpu", "states"};
    bool of_thread = track->thread != TV_NONE;
    bool of_process = track->process < head->process_count;
    tv_out_format(out, ",\"kind\":\"%s\",\"thread_id\":", kinds[track->kind]);
    tv_out_u64(out, of_thread    ? head->threads[track->thread].id
                    : of_process ? head->processes[track->process].id
                                 : 0);
    tv_out_text(out, ",\"name\":");
    view_write_string(out, head,
                      tv_track_has_calls(track) ? head->threads[track->thread].name : track->name);
    if (of_thread) {
        view_trace_write_key(out, head, head->threads[track->thread].key);
        view_trace_write_line(out, &head->threads[track->thread]);
        view_trace_write_sort_index(out, head->threads[track->thread].sort_index);
    }
    if (track->kind == TV_TRACK_OVERFLOW && head->threads[track->thread].input != track->input)
        tv_out_text(out, ",\"beside\":true");
    tv_member_number(out, ",\"process\":", of_process ? (int64_t)track->process : -1);
    tv_member_number(out, ",\"thread\":", of_thread ? (int64_t)track->thread : -1);
}

/* Outermost slices that are looked at to name a thread: the answer must not wait for millions. */
#define NAMING_SLICES 4096u

/* Write the name of a nameless thread's longest outermost slice, which tells threads apart. */
static void view_trace_write_contents(struct tv_out *out, const struct tv_trace *trace,
                                      const struct tv_track *track)
{
    const struct tv_trace_info *head = trace->head;
    if (track->kind != TV_TRACK_THREAD || track->row_count == 0 ||
        head->threads[track->thread].name != TV_EMPTY_STRING)
        return;
    uint32_t count = trace->rows[track->first_row].count;
    struct tv_slice longest = {.path = TV_ROOT_PATH};
    for (uint32_t i = 0; i < count && i < NAMING_SLICES; i++) {
        struct tv_slice slice = tv_slice_get(trace, track->first_row, i);
        if (longest.path == TV_ROOT_PATH || slice.length > longest.length)
            longest = slice;
    }
    if (longest.path != TV_ROOT_PATH)
        tv_member_text(out, ",\"holds\":", head,
                       head->frames[trace->paths.nodes[longest.path].frame].name);
}

/* Write a track, in display order. */
static void view_trace_write_track(struct tv_out *out, const struct tv_view *view,
                                   const struct tv_view_track *shown)
{
    const struct tv_trace *trace = view->trace;
    const struct tv_track *track = &trace->tracks[shown->track];
    unsigned clocks = trace->head->inputs[track->input].clocks;
    bool wall = clocks & TV_CLOCK_WALL, cpu = clocks & TV_CLOCK_CPU;
    int64_t tick = tv_track_tick(trace, shown->track);
    tv_ns offset = trace->offset[track->input];
    tv_member_number(out, "{\"track\":", shown->track);
    view_trace_write_owner(out, trace->head, track);
    view_trace_write_contents(out, trace, track);
    if (trace->head->input_count > 1)
        tv_member_number(out, ",\"file\":", track->input);
    tv_member_number(out, ",\"first_row\":", track->first_row);
    tv_member_number(out, ",\"rows\":", track->row_count);
    tv_member_number(out, ",\"calls\":", (int64_t)track->slice_count);
    tv_member_number(
        out, ",\"start_ns\":", (wall ? track->first_wall : track->first_cpu) * tick + offset);
    tv_member_number(out,
                     ",\"end_ns\":", (wall ? track->last_wall : track->last_cpu) * tick + offset);
    tv_out_text(out, ",\"real_ns\":");
    tv_view_time(out, wall, shown->wall);
    tv_out_text(out, ",\"cpu_ns\":");
    tv_view_time(out, cpu && tv_track_has_cpu(trace, shown->track), shown->cpu);
    tv_member_number(out, ",\"waits\":", track->wait_count);
    tv_out_char(out, '}');
}

/* Write the tracks in the order in which the page shows them. */
static void view_trace_write_tracks(struct tv_out *out, const struct tv_view *view)
{
    tv_out_text(out, ",\"tracks\":[");
    for (uint32_t i = 0; i < view->trace->track_count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        view_trace_write_track(out, view, &view->tracks[i]);
    }
    tv_out_char(out, ']');
}

/* Write the number of rows in other tables. */
static void view_trace_write_counts(struct tv_out *out, const struct tv_view *view)
{
    const struct tv_tables *tables = &view->trace->tables;
    tv_member_number(out, ",\"counters\":", (int64_t)tables->counters.count);
    tv_member_number(out, ",\"instants\":", (int64_t)tables->instants.count);
    tv_member_number(out, ",\"flows\":", (int64_t)tables->flows.count);
    tv_member_number(out, ",\"objects\":", (int64_t)tables->objects.count);
    tv_member_number(out, ",\"samples\":", (int64_t)tables->samples.count);
    tv_member_number(out, ",\"memory_dumps\":", (int64_t)tables->memory_dumps.count);
    tv_member_number(out, ",\"display_frames\":", tv_display_cache_get(view->display)->count);
}

/* Write totals, as the command `info` counts them. */
static void view_trace_write_facts(struct tv_out *out, const struct tv_trace *trace)
{
    struct tv_subset all = {0};
    struct tv_counts counts = tv_counts_of(trace, &all);
    const struct {
        const char *name;
        uint64_t count;
    } facts[] = {
        {"Lines of the kernel", counts.lines},
        {"Unfinished slices", counts.sums.unfinished},
        {"Async slices", counts.sums.async},
        {"Instants of threads", counts.thread_instants},
        {"Other instants", counts.other_instants},
        {"Counters", counts.counters},
        {"Counter series", counts.series},
        {"Counter samples", counts.counter_samples},
        {"Flows", counts.flows},
        {"Joins of ids", counts.joins},
        {"Objects", counts.objects},
        {"Snapshots", counts.snapshots},
        {"Samples", counts.samples},
        {"Memory dumps", counts.memory_dumps},
        {"Contexts", counts.contexts},
        {"Stack frames", counts.stack_frames},
        {"Processors", counts.sums.cpus},
        {"Slices of processors", counts.sums.cpu_slices},
    };
    bool any = false;
    tv_out_text(out, ",\"facts\":[");
    for (size_t i = 0; i < TV_COUNT(facts); i++) {
        if (facts[i].count == 0)
            continue;
        tv_out_text(out, any ? ",[" : "[");
        tv_out_json(out, tv_bytes_of(facts[i].name));
        tv_member_number(out, ",", (int64_t)facts[i].count);
        tv_out_char(out, ']');
        any = true;
    }
    tv_out_char(out, ']');
}

/* Write the threads without slices; together with those that have tracks they are all threads. */
/* Write the threads without slices; together with those that have tracks they
 * are all threads.  They are those of the whole trace: a thread does not become
 * idle because of a filter. */
static void view_trace_write_idle_threads(struct tv_out *out, const struct tv_view *view)
{
    const struct tv_trace *trace = view->whole ? view->whole->trace : view->trace;
    const struct tv_trace_info *head = trace->head;
    bool any = false, *busy = tv_alloc(head->thread_count, sizeof *busy);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_THREAD)
            busy[trace->tracks[i].thread] = true;
    tv_out_text(out, ",\"idle_threads\":[");
    for (uint32_t i = 0; i < head->thread_count; i++) {
        if (busy[i])
            continue;
        const struct tv_thread *thread = &head->threads[i];
        tv_member_number(out, any ? ",{\"thread\":" : "{\"thread\":", i);
        tv_out_text(out, ",\"thread_id\":");
        tv_out_u64(out, thread->id);
        if (thread->key != TV_EMPTY_STRING)
            tv_member_text(out, ",\"key\":", head, thread->key);
        tv_member_text(out, ",\"name\":", head, thread->name);
        view_trace_write_line(out, thread);
        view_trace_write_sort_index(out, thread->sort_index);
        tv_out_char(out, '}');
        any = true;
    }
    tv_out_char(out, ']');
    tv_free(busy);
}

/* Write a kind of diagnostic with its offsets. */
static void view_trace_write_diagnostic(struct tv_out *out, const struct tv_diagnostics *all,
                                        enum tv_diagnostic_kind kind)
{
    const struct tv_diagnostic *diagnostic = &all->kinds[kind];
    tv_out_text(out, "{\"kind\":");
    tv_out_json(out, tv_bytes_of(tv_diagnostic_name(kind)));
    tv_out_text(out, ",\"text\":");
    tv_diagnostics_write_json(out, all, kind);
    tv_out_text(out, ",\"severity\":");
    tv_out_format(out, "\"%s\"", tv_diagnostic_severity_name(kind));
    tv_out_text(out, ",\"count\":");
    tv_out_u64(out, diagnostic->count);
    tv_out_text(out, ",\"offsets\":[");
    for (uint32_t i = 0; i < diagnostic->offset_count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_u64(out, diagnostic->places->offsets[i]);
    }
    tv_out_text(out, "]}");
}

/* Write the kinds of diagnostics that occurred. */
static void view_trace_write_diagnostics(struct tv_out *out, const struct tv_diagnostics *all)
{
    bool any = false;
    tv_out_text(out, ",\"diagnostics\":[");
    for (int kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        if (all->kinds[kind].count == 0)
            continue;
        tv_out_text(out, any ? "," : "");
        view_trace_write_diagnostic(out, all, (enum tv_diagnostic_kind)kind);
        any = true;
    }
    tv_out_char(out, ']');
}

/* Write how much of the trace a filter left. */
static void view_trace_write_share(struct tv_out *out, const struct tv_trace *trace,
                                   const struct tv_trace *whole)
{
    tv_out_text(out, ",\"filtered\":{\"slices\":");
    tv_out_u64(out, trace->slice_count);
    tv_out_text(out, ",\"of\":");
    tv_out_u64(out, whole->slice_count);
    tv_out_char(out, '}');
}

/* Write the formats to save in, the most complete one first. */
static void view_trace_write_saves(struct tv_out *out, const struct tv_trace *trace)
{
    /* JSON that is rewritten from the file's own events is complete; of other
     * traces a method trace is, where it is possible. */
    bool file = tv_excerpt_can_be_method_trace(trace), events = tv_rewrite_can(trace);
    tv_out_text(out, ",\"saves\":[");
    tv_out_text(out, file && !events ? "\"trace\"," : "");
    tv_out_text(out, "\"json\"");
    tv_out_text(out, file && events ? ",\"trace\"]" : "]");
}

/* Write the part that holds nearly all events, if it is small and the axis has times. */
static void view_trace_write_dense(struct tv_out *out, const struct tv_trace *trace)
{
    struct tv_dense dense;
    if (!tv_trace_info_has_times(trace->head) || !tv_trace_find_dense(trace, &dense))
        return;
    tv_member_number(out, ",\"dense\":{\"from_ns\":", dense.from);
    tv_member_number(out, ",\"to_ns\":", dense.to);
    tv_member_number(out, ",\"before\":", (int64_t)dense.before);
    tv_member_number(out, ",\"after\":", (int64_t)dense.after);
    tv_out_char(out, '}');
}

/* Answer api/trace.  It cannot fail, and takes no parameters but the filter. */
enum tv_status tv_view_trace(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    (void)parameters, (void)err;
    tv_out_text(out, "{\"protocol\":1");
    if (trace->head->input_count > 0)
        view_trace_write_input(out, trace->head);
    view_trace_write_clocks(out, view);
    view_trace_write_display(out, view);
    tv_member_number(out, ",\"start_ns\":", trace->start);
    tv_member_number(out, ",\"end_ns\":", trace->end);
    view_trace_write_dense(out, trace);
    view_trace_write_sums(out, trace->head);
    view_trace_write_values(out, view->trace);
    tv_member_number(out, ",\"calls\":", (int64_t)trace->recorded_calls);
    tv_member_number(out, ",\"max_depth\":", trace->max_depth);
    view_trace_write_lists(out, trace->head);
    tv_view_write_order(view, out);
    view_trace_write_tracks(out, view);
    view_trace_write_idle_threads(out, view);
    view_trace_write_diagnostics(out, &trace->head->diagnostics);
    if (view->whole)
        view_trace_write_share(out, trace, view->whole->trace);
    view_trace_write_counts(out, view);
    view_trace_write_facts(out, trace);
    view_trace_write_saves(out, trace);
    tv_member_number(out, ",\"frames\":", trace->head->frame_count);
    tv_out_char(out, '}');
    return TV_OK;
}

/* Write category, colour, module and kind of a frame, as many as there are. */
static void view_frame_write_rest(struct tv_out *out, const struct tv_trace_info *head,
                                  const struct tv_frame *frame, uint8_t colour)
{
    bool has_kind = frame->kind != TV_FRAME_UNKNOWN;
    bool has_module = has_kind || frame->module != TV_EMPTY_STRING;
    bool has_colour = has_module || colour > 0;
    if (has_colour || frame->category != TV_EMPTY_STRING) {
        tv_out_char(out, ',');
        view_write_string(out, head, frame->category);
    }
    if (has_colour)
        tv_member_number(out, ",", colour);
    if (has_module) {
        tv_out_char(out, ',');
        view_write_string(out, head, frame->module);
    }
    if (has_kind)
        tv_member_number(out, ",", frame->kind);
}

/* Answer api/frames: each frame as an array, with as many members as it needs.
 * The colours are those of the whole trace, so that a filter recolours nothing. */
enum tv_status tv_view_frames(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace_info *head = view->trace->head;
    uint8_t *colours = tv_view_frame_colours(view->whole ? view->whole->trace : view->trace);
    (void)parameters, (void)err;
    tv_out_text(out, "{\"frames\":[");
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        tv_out_text(out, i > 0 ? ",\n[" : "[");
        view_write_string(out, head, frame->class_name);
        tv_out_char(out, ',');
        view_write_string(out, head, frame->name);
        tv_out_char(out, ',');
        view_write_string(out, head, frame->signature);
        tv_out_char(out, ',');
        view_write_string(out, head, frame->file);
        tv_member_number(out, ",", frame->line > 0 ? frame->line : 0);
        tv_member_number(out, ",", view->rank[i]);
        view_frame_write_rest(out, head, frame, colours[i]);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "]}");
    tv_free(colours);
    return TV_OK;
}
