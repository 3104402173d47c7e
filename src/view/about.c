/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trace is: its inputs, tracks and frames.
 */
#include <string.h>

#include "analysis/compensate.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/members.h"
#include "view/order.h"
#include "view/state.h"
#include "writers/tables/info.h"
#include "writers/trace/excerpt.h"

static void text(struct tv_out *out, const struct tv_head *head, uint32_t string)
{
    tv_out_json(out, tv_head_text(head, string));
}

/* "app.trace" of "/data/traces/app.trace". */
static struct tv_bytes file_name(struct tv_bytes path)
{
    struct tv_bytes part;
    while (tv_bytes_split(&path, '/', &part))
        ;
    return part;
}

/* "page.html" of "page.html: block 3": a trace of a page, which is what was opened. */
static struct tv_bytes page_name(struct tv_bytes name)
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

const struct tv_input *tv_view_main_input(const struct tv_head *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (!head->inputs[i].eventless && !head->inputs[i].own_zero)
            return &head->inputs[i];
    return &head->inputs[0];
}

struct tv_bytes tv_view_input_name(const struct tv_head *head)
{
    if (head->input_count == 0)
        return tv_bytes_of("");
    return page_name(file_name(tv_head_text(head, tv_view_main_input(head)->name)));
}

static void write_clocks(struct tv_out *out, const struct tv_view *view)
{
    tv_out_text(out, ",\"clocks\":[");
    tv_out_text(out, view->wall ? "\"real\"" : "");
    tv_out_text(out, view->wall && view->cpu ? "," : "");
    tv_out_text(out, view->cpu ? "\"cpu\"" : "");
    tv_out_text(out, view->trace->cpu_axis ? "],\"axis\":\"cpu\"" : "],\"axis\":\"real\"");
}

/* What several inputs have together. */
static void write_sums(struct tv_out *out, const struct tv_head *head)
{
    uint64_t records = 0;
    enum tv_figures figures = tv_head_figures(head);
    struct tv_sampling sampling = tv_head_sampling(head);
    bool overflow = false;
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        records += input->records;
        overflow |= input->overflow;
    }
    tv_out_text(out, ",\"records\":");
    tv_out_u64(out, records);
    tv_out_text(out, overflow ? ",\"overflow\":true" : ",\"overflow\":false");
    if (tv_figures_are_timeless(figures))
        tv_out_text(out, figures == TV_FIGURES_SAMPLES ? ",\"timeless\":\"counts\""
                                                       : ",\"timeless\":\"times\"");
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

static void write_input(struct tv_out *out, const struct tv_head *head)
{
    const struct tv_input *input = tv_view_main_input(head);
    tv_out_text(out, ",\"name\":");
    tv_out_json(out, tv_view_input_name(head));
    tv_out_text(out, ",\"format\":");
    tv_out_json(out, tv_bytes_of(input->format));
    tv_out_text(out, ",\"version\":");
    text(out, head, input->version);
    tv_out_text(out, ",\"recorded\":");
    tv_info_write_recorded(out, input);
}

static void number(struct tv_out *out, const char *key, int64_t value)
{
    tv_out_text(out, key);
    tv_out_i64(out, value);
}

/* Ids that are no plain numbers. */
static void write_key(struct tv_out *out, const struct tv_head *head, uint32_t key)
{
    if (key == TV_EMPTY_STRING)
        return;
    tv_out_text(out, ",\"key\":");
    text(out, head, key);
}

/* How tracks are ordered and coloured, and in which unit the file wants its times shown. */
static void write_manner(struct tv_out *out, const struct tv_view *view)
{
    const struct tv_head *head = view->trace->head;
    const char *unit = head->input_count > 0 ? tv_view_main_input(head)->unit : NULL;
    tv_out_text(out, view->by_owner ? ",\"order\":\"owner\"" : ",\"order\":\"busiest\"");
    tv_out_text(out,
                tv_head_has_categories(head) ? ",\"colours\":\"name\"" : ",\"colours\":\"rank\"");
    tv_out_text(out, ",\"unit\":");
    if (unit)
        tv_out_json(out, tv_bytes_of(unit));
    else
        tv_out_text(out, "null");
}

static void write_lists(struct tv_out *out, const struct tv_head *head)
{
    tv_out_text(out, ",\"metadata\":[");
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        tv_out_text(out, i > 0 ? ",[" : "[");
        text(out, head, head->metadata[i].key);
        tv_out_char(out, ',');
        text(out, head, head->metadata[i].value);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "],\"files\":[");
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        text(out, head, head->inputs[i].name);
    }
    tv_out_text(out, "],\"processes\":[");
    for (uint32_t i = 0; i < head->process_count; i++) {
        tv_out_text(out, i > 0 ? ",{\"id\":" : "{\"id\":");
        tv_out_u64(out, head->processes[i].id);
        tv_out_text(out, ",\"name\":");
        text(out, head, head->processes[i].name);
        write_key(out, head, head->processes[i].key);
        if (head->processes[i].labels != TV_EMPTY_STRING) {
            tv_out_text(out, ",\"labels\":");
            text(out, head, head->processes[i].labels);
        }
        if (head->processes[i].uptime > 0)
            number(out, ",\"uptime_ns\":", head->processes[i].uptime);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

/* --- Tracks
 * ------------------------------------------------------------------------------------------ */

/* A line of the kernel's own is no thread. */
static void write_line(struct tv_out *out, const struct tv_thread *thread)
{
    if (thread->line)
        tv_out_text(out, ",\"line\":true");
}

/* Whose track it is, and what it is called: async tracks have names of their own. */
static void write_owner(struct tv_out *out, const struct tv_head *head,
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
    text(out, head, tv_track_has_calls(track) ? head->threads[track->thread].name : track->name);
    if (of_thread) {
        write_key(out, head, head->threads[track->thread].key);
        write_line(out, &head->threads[track->thread]);
    }
    if (track->kind == TV_TRACK_OVERFLOW && head->threads[track->thread].input != track->input)
        tv_out_text(out, ",\"beside\":true");
    number(out, ",\"process\":", of_process ? (int64_t)track->process : -1);
    number(out, ",\"thread\":", of_thread ? (int64_t)track->thread : -1);
}

static void write_track(struct tv_out *out, const struct tv_view *view,
                        const struct tv_view_track *shown)
{
    const struct tv_trace *trace = view->trace;
    const struct tv_track *track = &trace->tracks[shown->track];
    unsigned clocks = trace->head->inputs[track->input].clocks;
    bool wall = clocks & TV_CLOCK_WALL, cpu = clocks & TV_CLOCK_CPU;
    int64_t tick = tv_track_tick(trace, shown->track);
    tv_ns offset = trace->offset[track->input];
    number(out, "{\"track\":", shown->track);
    write_owner(out, trace->head, track);
    number(out, ",\"first_row\":", track->first_row);
    number(out, ",\"rows\":", track->row_count);
    number(out, ",\"calls\":", (int64_t)track->slice_count);
    number(out, ",\"start_ns\":", (wall ? track->first_wall : track->first_cpu) * tick + offset);
    number(out, ",\"end_ns\":", (wall ? track->last_wall : track->last_cpu) * tick + offset);
    tv_out_text(out, ",\"real_ns\":");
    tv_view_time(out, wall, shown->wall);
    tv_out_text(out, ",\"cpu_ns\":");
    tv_view_time(out, cpu && tv_track_has_cpu(trace, shown->track), shown->cpu);
    number(out, ",\"waits\":", track->wait_count);
    tv_out_char(out, '}');
}

static void write_tracks(struct tv_out *out, const struct tv_view *view)
{
    tv_out_text(out, ",\"tracks\":[");
    for (uint32_t i = 0; i < view->trace->track_count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        write_track(out, view, &view->tracks[i]);
    }
    tv_out_char(out, ']');
}

/* What there is to ask for beside slices. */
static void write_counts(struct tv_out *out, const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    number(out, ",\"counters\":", (int64_t)tables->counters.count);
    number(out, ",\"instants\":", (int64_t)tables->instants.count);
    number(out, ",\"flows\":", (int64_t)tables->flows.count);
    number(out, ",\"objects\":", (int64_t)tables->objects.count);
    number(out, ",\"samples\":", (int64_t)tables->samples.count);
    number(out, ",\"memory_dumps\":", (int64_t)tables->memory_dumps.count);
}

/* How much of all there is, as info counts it. */
static void write_facts(struct tv_out *out, const struct tv_trace *trace)
{
    struct tv_keep all = {0};
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
        number(out, ",", (int64_t)facts[i].count);
        tv_out_char(out, ']');
        any = true;
    }
    tv_out_char(out, ']');
}

/* Threads without slices of their own: with those that have them they are all threads. */
/* Nobody becomes idle by a filter. */
static void write_idle_threads(struct tv_out *out, const struct tv_view *view)
{
    const struct tv_trace *trace = view->whole ? view->whole->trace : view->trace;
    const struct tv_head *head = trace->head;
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
        write_line(out, thread);
        tv_out_char(out, '}');
        any = true;
    }
    tv_out_char(out, ']');
    tv_free(busy);
}

static void write_diagnostic(struct tv_out *out, const struct tv_diagnostics *all,
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

static void write_diagnostics(struct tv_out *out, const struct tv_diagnostics *all)
{
    bool any = false;
    tv_out_text(out, ",\"diagnostics\":[");
    for (int kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        if (all->kinds[kind].count == 0)
            continue;
        tv_out_text(out, any ? "," : "");
        write_diagnostic(out, all, (enum tv_diagnostic_kind)kind);
        any = true;
    }
    tv_out_char(out, ']');
}

/* How much of it a filter left. */
static void write_share(struct tv_out *out, const struct tv_trace *trace,
                        const struct tv_trace *whole)
{
    tv_out_text(out, ",\"filtered\":{\"slices\":");
    tv_out_u64(out, trace->slice_count);
    tv_out_text(out, ",\"of\":");
    tv_out_u64(out, whole->slice_count);
    tv_out_char(out, '}');
}

/* What holds all of it first. */
static void write_saves(struct tv_out *out, const struct tv_trace *trace)
{
    bool file = tv_excerpt_can_be_method_trace(trace), events = tv_rewrite_can(trace);
    tv_out_text(out, ",\"saves\":[");
    tv_out_text(out, file && !events ? "\"trace\"," : "");
    tv_out_text(out, "\"json\"");
    tv_out_text(out, file && events ? ",\"trace\"]" : "]");
}

enum tv_status tv_view_trace(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    (void)parameters, (void)err;
    tv_out_text(out, "{\"protocol\":1");
    if (trace->head->input_count > 0)
        write_input(out, trace->head);
    write_clocks(out, view);
    write_manner(out, view);
    number(out, ",\"start_ns\":", trace->start);
    number(out, ",\"end_ns\":", trace->end);
    write_sums(out, trace->head);
    number(out, ",\"calls\":", (int64_t)trace->recorded_calls);
    number(out, ",\"max_depth\":", trace->max_depth);
    write_lists(out, trace->head);
    tv_view_write_order(view, out);
    write_tracks(out, view);
    write_idle_threads(out, view);
    write_diagnostics(out, &trace->head->diagnostics);
    if (view->whole)
        write_share(out, trace, view->whole->trace);
    write_counts(out, trace);
    write_facts(out, trace);
    write_saves(out, trace);
    number(out, ",\"frames\":", trace->head->frame_count);
    tv_out_char(out, '}');
    return TV_OK;
}

enum tv_status tv_view_frames(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_head *head = view->trace->head;
    uint8_t *colours = tv_view_frame_colours(view->whole ? view->whole->trace : view->trace);
    (void)parameters, (void)err;
    tv_out_text(out, "{\"frames\":[");
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        tv_out_text(out, i > 0 ? ",\n[" : "[");
        text(out, head, frame->class_name);
        tv_out_char(out, ',');
        text(out, head, frame->name);
        tv_out_char(out, ',');
        text(out, head, frame->signature);
        tv_out_char(out, ',');
        text(out, head, frame->file);
        number(out, ",", frame->line > 0 ? frame->line : 0);
        number(out, ",", view->rank[i]);
        if (frame->category != TV_EMPTY_STRING || colours[i] > 0) {
            tv_out_char(out, ',');
            text(out, head, frame->category);
        }
        if (colours[i] > 0)
            number(out, ",", colours[i]);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "]}");
    tv_free(colours);
    return TV_OK;
}
