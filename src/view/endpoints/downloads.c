/* SPDX-License-Identifier: Apache-2.0 */
/*
 * downloads.c - what people take away: flame graphs and collapsed stacks, with
 * the bytes of the commands of these names; a selection as a file; and the
 * facts that a list of traces shows.
 *
 *     api/flamegraph, api/collapsed   call tree, folded by name --> SVG or text
 *     api/save                        selection --> excerpt --> trace file, or a report
 *     api/facts                       figures for a catalogue of traces
 *
 * The files are the same as those of `traceview flamegraph`, `collapse`, `cut`
 * and `html`, because the same writers make them.  A host may stream an answer,
 * which cannot be taken back, so its length is measured before the first byte.
 */
#include <assert.h>
#include <string.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/tree_views.h"
#include "analysis/findings/findings.h"
#include "analysis/flame/flame.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"
#include "writers/stacks/collapsed.h"
#include "writers/stacks/flame_svg.h"
#include "writers/tables/check_report.h"
#include "writers/tables/info.h"
#include "writers/trace/excerpt.h"

/* Narrowest frame of an image, in pixels. */
#define NARROWEST 0.1

#define TITLE_ROOM 1024

/* Return true for tracks of one thread's calls, or of all calls; of asynchronous slices if there
 * are no calls. */
static bool download_track_is_wanted(const struct tv_track *track, int64_t thread, bool async)
{
    if (thread >= 0)
        return tv_track_has_calls(track) && track->thread == (uint32_t)thread;
    return async ? track->kind == TV_TRACK_ASYNC : tv_track_has_calls(track);
}

/* Select the tracks of a thread, or of all calls. */
static void download_choose_tracks(const struct tv_trace *trace, int64_t thread, bool async,
                                   struct tv_selection *selection)
{
    uint32_t *tracks = tv_alloc(trace->track_count, sizeof *tracks);
    selection->track_count = 0;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (download_track_is_wanted(&trace->tracks[i], thread, async))
            tracks[selection->track_count++] = i;
    selection->tracks = tracks;
}

/* Return the tree of the samples of a thread, or of all that are selected (-1), by the default
 * value. */
static struct tv_call_tree *download_sample_tree(const struct tv_trace *trace,
                                                 const struct tv_selection *selection,
                                                 int64_t thread)
{
    const struct tv_sample_question question = {TV_SAMPLES_WEIGHT, TV_NONE, false, false};
    bool *threads = tv_alloc(trace->head->thread_count, sizeof *threads);
    assert(thread < (int64_t)trace->head->thread_count);
    if (thread >= 0)
        threads[thread] = true;
    struct tv_call_tree *tree =
        tv_sample_tree_of_trace(trace, selection, thread >= 0 ? threads : NULL, &question);
    tv_free(threads);
    return tree;
}

/* Make the tree of from, to, tracks and thread, merged by name; the caller frees it.  A trace of
 * samples alone gives that of its samples. */
static enum tv_status download_make_tree(const struct tv_view *view,
                                         const struct tv_parameters *parameters,
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
    if (tv_trace_has_only_samples(trace)) {
        *tree = download_sample_tree(trace, &selection, thread);
        tv_parameter_release_selection(&selection);
        return TV_OK;
    }
    /* A thread or asynchronous slices alone select tracks by their own; then
     * the tracks of the parameters do not count. */
    bool async = !selection.tracks && tv_trace_has_only_async(trace);
    if (thread >= 0 || async) {
        tv_parameter_release_selection(&selection);
        download_choose_tracks(trace, thread, async, &selection);
    }
    *tree = tv_call_tree_fold_names(tv_trees_enter(view->trees, &selection));
    tv_trees_leave(view->trees);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

/* Copy the title, by default the name of the input. */
static void download_copy_title(const struct tv_view *view, const struct tv_parameters *parameters,
                                char title[TITLE_ROOM])
{
    struct tv_bytes text = tv_parameter_text(parameters, "title");
    if (!text.data)
        text = tv_view_input_name(view->trace->head);
    size_t length = text.length < TITLE_ROOM - 1 ? text.length : TITLE_ROOM - 1;
    memcpy(title, text.data, length);
    title[length] = '\0';
}

/* Discard bytes that are only counted. */
static enum tv_status download_discard(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    (void)context;
    (void)bytes;
    (void)err;
    return TV_OK;
}

/* Write an image if it is within the bound.  Some hosts stream it, which cannot be taken back,
 * and long names can make it long. */
static enum tv_status download_write_svg(const struct tv_view *view,
                                         const struct tv_flame_svg_source *source,
                                         const struct tv_flame_svg_options *svg, struct tv_out *out,
                                         struct tv_error *err)
{
    uint64_t bound = tv_view_bound(view, TV_BYTES("flamegraph"));
    struct tv_out counted;
    tv_out_init(&counted, download_discard, NULL);
    tv_out_set_limit(&counted, bound);
    tv_flame_svg_write(&counted, source, svg);
    enum tv_status status = tv_out_finish(&counted, err);
    tv_out_release(&counted);
    if (status == TV_OK) {
        tv_flame_svg_write(out, source, svg);
        return TV_OK;
    }
    return tv_fail(err, status, TV_NO_OFFSET,
                   "the picture has more than %llu MiB: \"traceview flamegraph\" writes all of it",
                   (unsigned long long)(bound >> 20));
}

/* Answer api/flamegraph: an SVG image. */
enum tv_status tv_view_flamegraph(const struct tv_view *view,
                                  const struct tv_parameters *parameters, struct tv_out *out,
                                  struct tv_error *err)
{
    struct tv_call_tree *tree;
    char title[TITLE_ROOM];
    enum tv_status status = download_make_tree(view, parameters, &tree, err);
    if (status != TV_OK)
        return status;
    download_copy_title(view, parameters, title);
    struct tv_flame_options layout = {
        .clock = view->wall ? TV_CLOCK_WALL : TV_CLOCK_CPU,
        .order = TV_FLAME_BY_NAME,
        .root = TV_ROOT_PATH,
        .min_share = NARROWEST / TV_FLAME_SVG_INNER,
    };
    struct tv_flame_svg_options svg = {.title = title};
    tv_flame_svg_choose_units(&svg, tree);
    struct tv_flame *flame = tv_flame_of_tree(tree, &layout);
    struct tv_flame_svg_source source = tv_flame_svg_of_trace(tree->head, flame);
    status = download_write_svg(view, &source, &svg, out, err);
    tv_flame_free(flame);
    tv_call_tree_free(tree);
    return status;
}

/* Answer api/collapsed: a line for each stack.  The text is measured first,
 * which takes no memory. */
enum tv_status tv_view_collapsed(const struct tv_view *view, const struct tv_parameters *parameters,
                                 struct tv_out *out, struct tv_error *err)
{
    struct tv_call_tree *tree;
    enum tv_status status = download_make_tree(view, parameters, &tree, err);
    if (status != TV_OK)
        return status;
    struct tv_name_tree_options options = {.cpu = !view->wall, .thread = TV_NONE};
    struct tv_name_tree *stacks = tv_name_tree_new(tree, &options);
    struct tv_collapsed_unit unit = tv_collapsed_unit_of(tree);
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

/* ---- Facts for a list of traces ---- */

/* Write the facts of the main input. */
static void facts_write_input(struct tv_out *out, const struct tv_trace_info *head)
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

/* Add the samples of each thread to `samples` [thread_count]: those of the default value, which
 * pictures show. */
static void facts_count_samples(const struct tv_trace *trace, uint64_t *samples)
{
    const struct tv_tables *tables = &trace->tables;
    struct tv_sample_values values = tv_sample_values_of(trace);
    const struct tv_sample_value *value = tv_sample_values_default(&values);
    for (size_t i = 0; value && i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        if (sample->thread != TV_NONE && tables->value_types.rows[sample->type].name == value->name)
            samples[sample->thread] += tv_tables_count_sample(tables, sample);
    }
    tv_sample_values_release(&values);
}

/* Write threads with their calls, or their samples if the trace has nothing else, and processes. */
static void facts_write_threads(struct tv_out *out, const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    uint64_t *calls = tv_alloc(head->thread_count, sizeof *calls);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (tv_track_has_calls(&trace->tracks[i]) && trace->tracks[i].thread != TV_NONE)
            calls[trace->tracks[i].thread] += trace->tracks[i].slice_count;
    uint64_t *samples = tv_alloc(head->thread_count, sizeof *samples);
    bool sampled = tv_trace_has_only_samples(trace);
    if (sampled)
        facts_count_samples(trace, samples);
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
        if (sampled) {
            tv_out_text(out, ",\"samples\":");
            tv_out_u64(out, samples[i]);
        }
        tv_out_char(out, '}');
    }
    tv_out_text(out, "],\"processes\":[");
    for (uint32_t i = 0; i < head->process_count; i++)
        tv_member_text(out, i > 0 ? "," : "", head, head->processes[i].name);
    tv_out_char(out, ']');
    tv_free(samples);
    tv_free(calls);
}

/* Write the diagnostics by kind. */
static void facts_write_health(struct tv_out *out, const struct tv_diagnostics *all)
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

/* Write a finding as the upload server stores it. */
static void facts_write_finding(struct tv_out *out, const struct tv_findings *findings,
                                uint32_t rule)
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

/* Write the findings of the whole trace. */
static void facts_write_findings(struct tv_out *out, const struct tv_view *view)
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
        facts_write_finding(out, findings, i);
        between = ",\n";
    }
    tv_out_text(out, "]}");
    tv_findings_free(findings);
}

/* Answer api/facts, which the upload server stores in its catalogue. */
enum tv_status tv_view_facts(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    (void)parameters;
    if (trace->head->input_count == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the trace has no inputs");
    facts_write_input(out, trace->head);
    if (tv_trace_info_has_times(trace->head)) /* else the catalogue keeps no length */
        tv_member_number(out, ",\"length_ns\":", trace->end - trace->start);
    tv_member_number(out, ",\"calls\":", (int64_t)trace->recorded_calls);
    facts_write_threads(out, trace);
    facts_write_health(out, &trace->head->diagnostics);
    facts_write_findings(out, view);
    return TV_OK;
}

/* ---- Saving a selection as a trace of its own, with the same bytes that `cut` writes ----
 */

/* Fill a subset with the selected tracks and their threads. */
static void save_choose_tracks(const struct tv_trace *trace, const struct tv_selection *selection,
                               struct tv_subset *subset)
{
    subset->tracks = tv_alloc(trace->track_count, sizeof *subset->tracks);
    subset->threads = tv_alloc(trace->head->thread_count, sizeof *subset->threads);
    for (uint32_t i = 0; i < selection->track_count; i++) {
        uint32_t track = selection->tracks[i];
        if (track >= trace->track_count)
            continue;
        subset->tracks[track] = true;
        if (trace->tracks[track].thread != TV_NONE)
            subset->threads[trace->tracks[track].thread] = true;
    }
}

/* Return the reporter; NULL: no reports can be made here. */
static const struct tv_view_reporter *save_reporter(const struct tv_view *view)
{
    return (view->whole ? view->whole : view)->reporter;
}

/* Read hash_names and strip_args; *chosen: the options, or NULL. */
static enum tv_status save_read_redaction(const struct tv_parameters *parameters,
                                          const struct tv_view_reporter *reporter,
                                          struct tv_redaction_options *options,
                                          const struct tv_redaction_options **chosen,
                                          struct tv_error *err)
{
    static const char *const words[] = {"no", "yes", NULL};
    unsigned hash = 0, strip = 0;
    enum tv_status status = tv_parameter_choice(parameters, "hash_names", words, &hash, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "strip_args", words, &strip, err);
    *options = (struct tv_redaction_options){.hash_names = hash == 1, .strip_args = strip == 1};
    *chosen = hash || strip ? options : NULL;
    if (status != TV_OK || !hash)
        return status;
    return reporter ? reporter->key(options, err)
                    : tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "no names can be hashed here");
}

/* Write a selection as a trace file. */
static enum tv_status save_write_file(const struct tv_trace *trace, const struct tv_crop *crop,
                                      const struct tv_redaction_options *redaction, bool file,
                                      struct tv_out *out, struct tv_error *err)
{
    struct tv_excerpt excerpt;
    struct tv_excerpt_losses losses;
    tv_excerpt_make(&excerpt, trace, crop);
    excerpt.redaction = redaction;
    enum tv_status status = tv_excerpt_check(&excerpt, file, err);
    if (status == TV_OK)
        status = tv_excerpt_write(&excerpt, file, out, &losses, err);
    tv_excerpt_release(&excerpt);
    return status;
}

/* ---- Reports ---- */

/* Threads that a note names at most. */
#define NAMED 16

struct save_report {
    const struct tv_view *view;
    const struct tv_parameters *parameters;
    const struct tv_excerpt *excerpt;
    bool file; /* written as a method trace */
    struct tv_excerpt_losses losses;
};

/* The `note` function of struct tv_view_generated_file. */
static void save_write_note(void *context, struct tv_out *out)
{
    const struct save_report *reporting = context;
    const struct tv_view *view = reporting->view;
    const struct tv_excerpt *excerpt = reporting->excerpt;
    const struct tv_trace_info *head = view->trace->head;
    const bool *threads = excerpt->cut->keep->threads;
    struct tv_bytes text = tv_parameter_text(reporting->parameters, "filter");
    char *filter = tv_alloc(text.length + 1, 1);
    const char *words[NAMED + 1], *const terms[] = {filter};
    struct tv_excerpt_selection choices[] = {{"threads", words, 0},
                                             {"filter", terms, text.length > 0}};
    struct tv_out losses;
    tv_out_init_memory(&losses);
    tv_losses_write_excerpt(&losses, excerpt, reporting->file, &reporting->losses);
    if (text.length > 0)
        memcpy(filter, text.data, text.length);
    for (uint32_t i = 0; threads && i < head->thread_count && choices->count <= NAMED; i++)
        if (threads[i])
            words[choices->count++] =
                (const char *)tv_trace_info_text(head, head->threads[i].name).data;
    if (choices->count > NAMED)
        words[NAMED] = "and others";
    struct tv_excerpt_facts part = {
        .chosen = excerpt->made || view->whole,
        .from = excerpt->cut->from,
        .to = excerpt->cut->to,
        .choices = choices,
        .choice_count = TV_COUNT(choices),
        .kept = tv_excerpt_slice_count(excerpt),
        .all = (view->whole ? view->whole : view)->trace->slice_count,
        .losses = {losses.buffer, losses.length},
        .head = (view->whole ? view->whole : view)->trace->head,
        .hashed = excerpt->redaction && excerpt->redaction->hash_names,
        .stripped = excerpt->redaction && excerpt->redaction->strip_args,
    };
    tv_excerpt_note(out, &part);
    tv_out_release(&losses);
    tv_free(filter);
}

/* The `write` function of struct tv_view_generated_file. */
static enum tv_status save_write_made(void *context, struct tv_out *out, struct tv_error *err)
{
    struct save_report *reporting = context;
    return tv_excerpt_write(reporting->excerpt, reporting->file, out, &reporting->losses, err);
}

/* Write the name of the file in the report, NUL-terminated. */
static void save_write_name(const struct tv_excerpt *excerpt, struct tv_out *out)
{
    const struct tv_trace_info *head = excerpt->trace->head;
    struct tv_bytes first = tv_trace_info_text(head, head->inputs[0].name);
    char hash[TV_REDACTION_HASH_SIZE];
    if (excerpt->redaction && excerpt->redaction->hash_names) {
        tv_redaction_hash(excerpt->redaction, first, hash);
        first = tv_bytes_of(hash);
    }
    tv_excerpt_name(out, head, first);
    tv_out_char(out, '\0');
}

/* Write a report that holds a generated file. */
static enum tv_status save_report_excerpt(const struct tv_view *view,
                                          const struct tv_view_reporter *reporter,
                                          const struct tv_parameters *parameters,
                                          struct tv_excerpt *excerpt, struct tv_out *out,
                                          struct tv_error *err)
{
    struct save_report reporting = {
        view, parameters, excerpt, tv_excerpt_is_method_trace(excerpt), {.flows = 0}};
    struct tv_out name;
    enum tv_status status = tv_excerpt_check(excerpt, reporting.file, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&name);
    save_write_name(excerpt, &name);
    const struct tv_view_generated_file making = {save_write_made, save_write_note, &reporting,
                                                  (const char *)name.buffer};
    status = reporter->write_made(&making, out, err);
    tv_out_release(&name);
    return status;
}

/* Fill in a file's machine and how its times were moved. */
static bool save_find_input(const struct tv_trace_info *head, struct tv_view_file *file, bool alone)
{
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        if (input->source != file->source && !alone)
            continue;
        file->machine = alone ? 0 : input->machine;
        file->offset = input->moved;
        return true;
    }
    return false;
}

/* Return the original files of a whole trace; NULL if they do not hold all of it. */
static struct tv_view_file *save_find_files(const struct tv_view *view, bool renames, size_t *count)
{
    const struct tv_trace *trace = view->trace;
    *count = trace->source_count - trace->inner_count;
    if (renames || trace->base || *count == 0)
        return NULL;
    struct tv_view_file *files = tv_alloc(*count, sizeof *files);
    bool known = true;
    for (size_t i = 0; i < *count; i++) {
        files[i].source = trace->sources[trace->inner_count + i];
        known &= save_find_input(trace->head, &files[i], *count == 1);
    }
    if (known)
        return files;
    tv_free(files);
    return NULL;
}

/* Write a report, of the original files if they hold all of the trace. */
static enum tv_status save_write_report(const struct tv_view *view,
                                        const struct tv_parameters *parameters,
                                        const struct tv_crop *crop,
                                        const struct tv_redaction_options *redaction,
                                        struct tv_out *out, struct tv_error *err)
{
    const struct tv_view_reporter *reporter = save_reporter(view);
    struct tv_view_file *files = NULL;
    struct tv_excerpt excerpt;
    size_t count;
    if (!reporter)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "no report can be made here");
    if (!view->whole && !redaction && tv_crop_is_everything(view->trace, crop))
        files = save_find_files(view, reporter->renames, &count);
    if (files) {
        enum tv_status status = reporter->write(files, count, NULL, out, err);
        tv_free(files);
        return status;
    }
    tv_excerpt_make(&excerpt, view->trace, crop);
    excerpt.redaction = redaction;
    enum tv_status status = save_report_excerpt(view, reporter, parameters, &excerpt, out, err);
    tv_excerpt_release(&excerpt);
    return status;
}

/* Answer api/save: a selection as Trace Event JSON, as a method trace, or as a
 * report. */
enum tv_status tv_view_save(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    static const char *const kinds[] = {"json", "trace", "html", NULL};
    struct tv_redaction_options options;
    const struct tv_redaction_options *redaction;
    struct tv_selection selection;
    struct tv_subset subset = {.processes = NULL};
    unsigned kind;
    enum tv_status status = tv_parameter_choice(parameters, "as", kinds, &kind, err);
    if (status == TV_OK)
        status = save_read_redaction(parameters, save_reporter(view), &options, &redaction, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    if (selection.tracks)
        save_choose_tracks(view->trace, &selection, &subset);
    struct tv_crop crop = {&subset, selection.from, selection.to, selection.tracks != NULL};
    status = kind == 2 ? save_write_report(view, parameters, &crop, redaction, out, err)
                       : save_write_file(view->trace, &crop, redaction, kind == 1, out, err);
    tv_subset_release(&subset);
    tv_parameter_release_selection(&selection);
    return status;
}
