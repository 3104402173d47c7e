/* SPDX-License-Identifier: Apache-2.0 */
/*
 * downloads.c - what people take away: a flame graph and collapsed stacks, in the bytes of the
 * commands of that name, and the facts that a list of traces shows.
 */
#include <string.h>

#include "analysis/findings.h"
#include "analysis/flame.h"
#include "analysis/tree_views.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/members.h"
#include "view/state.h"
#include "writers/stacks/collapsed.h"
#include "writers/tables/check_report.h"
#include "writers/stacks/flame_svg.h"
#include "writers/tables/info.h"

/* The narrowest frame of a picture, in pixels. */
#define NARROWEST 0.1

#define US 1000
#define TITLE_ROOM 1024

/* Whose calls: those of one thread, or asynchronous ones where there are no others. */
static bool is_wanted(const struct tv_track *track, int64_t thread, bool async)
{
    if (thread >= 0)
        return tv_track_has_calls(track) && track->thread == (uint32_t)thread;
    return async ? track->kind == TV_TRACK_ASYNC : tv_track_has_calls(track);
}

static void choose_tracks(const struct tv_trace *trace, int64_t thread, bool async,
                          struct tv_selection *selection)
{
    uint32_t *tracks = tv_alloc(trace->track_count, sizeof *tracks);
    selection->track_count = 0;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (is_wanted(&trace->tracks[i], thread, async))
            tracks[selection->track_count++] = i;
    selection->tracks = tracks;
}

/* The tree of from, to, tracks and thread, by names alone; for the caller to free. */
static enum tv_status make_tree(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_call_tree **tree, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_selection selection;
    struct tv_parameter_bounds threads = {0, (int64_t)trace->head->thread_count - 1};
    int64_t thread;
    enum tv_status status = tv_parameter_integer(parameters, "thread", threads, -1, &thread, err);
    if (status == TV_OK && !view->wall && !view->cpu)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the trace has no clock");
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, trace, &selection, err);
    if (status != TV_OK)
        return status;
    bool async = !selection.tracks && tv_trace_has_only_async(trace);
    if (thread >= 0 || async) {
        tv_parameter_release_selection(&selection);
        choose_tracks(trace, thread, async, &selection);
    }
    *tree = tv_call_tree_fold_names(tv_trees_enter(view->trees, &selection));
    tv_trees_leave(view->trees);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

static void copy_title(const struct tv_view *view, const struct tv_parameters *parameters,
                       char title[TITLE_ROOM])
{
    struct tv_bytes text = tv_parameter_text(parameters, "title");
    if (!text.data)
        text = tv_view_input_name(view->trace->head);
    size_t length = text.length < TITLE_ROOM - 1 ? text.length : TITLE_ROOM - 1;
    memcpy(title, text.data, length);
    title[length] = '\0';
}

static enum tv_status count_alone(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    (void)context;
    (void)bytes;
    (void)err;
    return TV_OK;
}

/* Writes a picture that is within the bound: what some hosts send while it is made cannot be taken
 * back, and long names make it long. */
static enum tv_status write_picture(const struct tv_view *view, const struct tv_call_tree *tree,
                                    const struct tv_flame *flame,
                                    const struct tv_flame_svg_options *svg, struct tv_out *out,
                                    struct tv_error *err)
{
    uint64_t bound = tv_view_bound(view, TV_BYTES("flamegraph"));
    struct tv_out counted;
    tv_out_init(&counted, count_alone, NULL);
    tv_out_set_limit(&counted, bound);
    tv_flame_svg_write(&counted, tree->head, flame, svg);
    enum tv_status status = tv_out_finish(&counted, err);
    tv_out_release(&counted);
    if (status == TV_OK) {
        tv_flame_svg_write(out, tree->head, flame, svg);
        return TV_OK;
    }
    return tv_fail(err, status, TV_NO_OFFSET,
                   "the picture has more than %llu MiB: \"traceview flamegraph\" writes all of it",
                   (unsigned long long)(bound >> 20));
}

enum tv_status tv_view_flamegraph(const struct tv_view *view,
                                  const struct tv_parameters *parameters, struct tv_out *out,
                                  struct tv_error *err)
{
    struct tv_call_tree *tree;
    char title[TITLE_ROOM];
    enum tv_status status = make_tree(view, parameters, &tree, err);
    if (status != TV_OK)
        return status;
    copy_title(view, parameters, title);
    struct tv_flame_options layout = {
        .clock = view->wall ? TV_CLOCK_WALL : TV_CLOCK_CPU,
        .order = TV_FLAME_BY_NAME,
        .root = TV_ROOT_PATH,
        .min_share = NARROWEST / TV_FLAME_SVG_INNER,
    };
    struct tv_flame_svg_options svg = {
        .title = title,
        .count_name = tv_flame_svg_count_name(tree->head),
        .unit_ns = US,
        .each = tv_flame_svg_each(tree->head),
    };
    struct tv_flame *flame = tv_flame_of_tree(tree, &layout);
    status = write_picture(view, tree, flame, &svg, out, err);
    tv_flame_free(flame);
    tv_call_tree_free(tree);
    return status;
}

enum tv_status tv_view_collapsed(const struct tv_view *view, const struct tv_parameters *parameters,
                                 struct tv_out *out, struct tv_error *err)
{
    struct tv_call_tree *tree;
    enum tv_status status = make_tree(view, parameters, &tree, err);
    if (status != TV_OK)
        return status;
    struct tv_name_tree_options options = {.cpu = !view->wall, .thread = TV_NONE};
    struct tv_name_tree *stacks = tv_name_tree_new(tree, &options);
    struct tv_collapsed_unit unit = tv_collapsed_unit_of(tree->head);
    uint64_t bound = tv_view_bound(view, TV_BYTES("collapsed")), longest;
    uint64_t bytes = tv_collapsed_measure(stacks, unit, &longest);
    if (bytes <= bound)
        tv_collapsed_write(out, stacks, unit, 1);
    else
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                         "the stacks are %llu MiB of text, more than the %llu MiB that are sent of "
                         "this trace: \"traceview collapse\" writes them all",
                         (unsigned long long)(bytes >> 20), (unsigned long long)(bound >> 20));
    tv_name_tree_free(stacks);
    tv_call_tree_free(tree);
    return status;
}

/* The facts. */

static void write_input(struct tv_out *out, const struct tv_head *head)
{
    const struct tv_input *input = tv_view_main_input(head);
    uint64_t records = 0;
    for (uint32_t i = 0; i < head->input_count; i++)
        records += head->inputs[i].records;
    tv_out_text(out, "{\"format\":");
    tv_out_json(out, tv_bytes_of(input->format));
    tv_member_text(out, ",\"version\":", head, input->version);
    tv_out_text(out, ",\"recorded\":");
    tv_info_write_recorded(out, input);
    tv_out_text(out, ",\"events\":");
    tv_out_u64(out, records);
}

static void write_threads(struct tv_out *out, const struct tv_trace *trace)
{
    const struct tv_head *head = trace->head;
    uint64_t *calls = tv_alloc(head->thread_count, sizeof *calls);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (tv_track_has_calls(&trace->tracks[i]) && trace->tracks[i].thread != TV_NONE)
            calls[trace->tracks[i].thread] += trace->tracks[i].slice_count;
    tv_out_text(out, ",\"threads\":[");
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        tv_member_number(out, i > 0 ? ",\n{\"index\":" : "{\"index\":", i);
        tv_member_text(out, ",\"name\":", head, thread->name);
        tv_out_text(out, ",\"id\":");
        tv_out_u64(out, thread->id);
        tv_member_index(out, ",\"process\":",
                        thread->process < head->process_count ? thread->process : TV_NONE);
        tv_out_text(out, ",\"calls\":");
        tv_out_u64(out, calls[i]);
        tv_out_char(out, '}');
    }
    tv_out_text(out, "],\"processes\":[");
    for (uint32_t i = 0; i < head->process_count; i++)
        tv_member_text(out, i > 0 ? "," : "", head, head->processes[i].name);
    tv_out_char(out, ']');
    tv_free(calls);
}

static void write_health(struct tv_out *out, const struct tv_diagnostics *all)
{
    const char *between = "";
    tv_out_text(out, ",\"health\":[");
    for (int i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (all->kinds[i].count == 0)
            continue;
        tv_out_format(out, "%s{\"kind\":\"%s\",\"text\":", between, tv_diagnostic_name(kind));
        tv_diagnostics_write_json(out, all, kind);
        tv_out_format(out, ",\"severity\":\"%s\",\"count\":", tv_diagnostic_severity_name(kind));
        tv_out_u64(out, all->kinds[i].count);
        tv_out_char(out, '}');
        between = ",";
    }
    tv_out_char(out, ']');
}

static void write_finding(struct tv_out *out, const struct tv_findings *findings, uint32_t rule)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_findings_sentence(&text, findings, rule);
    tv_out_format(out, "{\"name\":\"%s\",\"title\":", tv_rules[rule].name);
    tv_out_json(out, tv_bytes_of(tv_rules[rule].title));
    tv_out_format(out, ",\"severity\":\"%s\",\"text\":", tv_severity_name(tv_rules[rule].severity));
    tv_out_json(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_text(out, ",\"count\":");
    tv_out_u64(out, findings->of[rule].count);
    tv_out_char(out, '}');
    tv_out_release(&text);
}

static void write_findings(struct tv_out *out, const struct tv_view *view)
{
    const struct tv_selection all = TV_SELECT_ALL;
    const char *between = "";
    struct tv_findings *findings =
        tv_findings_of(view->trace, tv_trees_enter(view->trees, &all), &all);
    tv_trees_leave(view->trees);
    tv_out_text(out, ",\"findings\":[");
    for (uint32_t i = 0; i < TV_RULES; i++) {
        if (!findings->of[i].found)
            continue;
        tv_out_text(out, between);
        write_finding(out, findings, i);
        between = ",\n";
    }
    tv_out_text(out, "]}");
    tv_findings_free(findings);
}

enum tv_status tv_view_facts(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    (void)parameters;
    if (trace->head->input_count == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the trace has no inputs");
    write_input(out, trace->head);
    tv_member_number(out, ",\"length_ns\":", trace->end - trace->start);
    tv_member_number(out, ",\"calls\":", (int64_t)trace->recorded_calls);
    write_threads(out, trace);
    write_health(out, &trace->head->diagnostics);
    write_findings(out, view);
    return TV_OK;
}
