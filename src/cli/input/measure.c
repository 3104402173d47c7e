/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - a call tree or a profile of the selected part of the files (measure.h).
 *
 *     stream    no range, no samples, no categories, no --async: events go straight into a sink
 *     trace     otherwise: build the trace, select a subset, count it
 *
 * Both ways give the same numbers; streaming needs less time and memory.
 *
 * Changes of a tree are applied in one order, whatever the order of the options:
 *
 *     count -> subtract the cost of recording -> frames of the filter -> transforms -> fold names
 *
 * Compensation comes first, because a call has cost its clock readings even if it is hidden later.
 * Names are folded last, because transforms tell methods of one name apart by their signatures.
 */
#include "cli/input/measure.h"

#include <assert.h>
#include <inttypes.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/profile.h"
#include "analysis/calltree/transforms.h"
#include "analysis/calltree/tree_views.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "cli/input/load.h"
#include "cli/input/selection.h"
#include "cli/output/message.h"

/* Return true when an option asks for samples instead of calls. */
static bool measure_wants_samples(const struct tv_settings *settings)
{
    return settings->stacks.samples != TV_CHOICE_NO_SAMPLES || settings->stacks.value ||
           settings->stacks.lines;
}

/* Return the option that asks for samples. */
static const char *measure_sample_option(const struct tv_settings *settings)
{
    return settings->stacks.value ? "--value" : settings->stacks.lines ? "--lines" : "--samples";
}

/* Count the samples of --value, or of the default value type, as --samples says. */
static enum tv_status measure_count_samples(const struct tv_settings *settings,
                                            const struct tv_trace *trace,
                                            const struct tv_subset *subset,
                                            const struct tv_selection *selection,
                                            struct tv_call_tree **tree, struct tv_error *err)
{
    struct tv_sample_question question = {
        .measure = settings->stacks.samples == TV_CHOICE_NO_SAMPLES
                       ? TV_SAMPLES_WEIGHT
                       : (enum tv_sample_measure)settings->stacks.samples,
        .all = settings->stacks.samples == TV_SAMPLES_COUNT && !settings->stacks.value,
        .lines = settings->stacks.lines,
    };
    enum tv_status status =
        tv_sample_question_choose(trace, settings->stacks.value, &question, err);
    if (status == TV_OK)
        *tree = tv_sample_tree_of_trace(trace, selection, subset->threads, &question);
    return status;
}

/* Count the calls, with a node for each thread if the caller wants that. */
static struct tv_call_tree *measure_count_calls(const struct tv_settings *settings, unsigned flags,
                                                const struct tv_trace *trace,
                                                const struct tv_selection *selection)
{
    if (flags & TV_MEASURE_SPLIT_THREADS)
        return tv_call_tree_by_thread(trace, selection, tv_settings_jobs(settings));
    return tv_call_tree_of_trace(trace, selection, tv_settings_jobs(settings));
}

/* Count the calls or the samples of a selection into measured->tree. */
static enum tv_status measure_count_selection(const struct tv_settings *settings, unsigned flags,
                                              const struct tv_subset *subset,
                                              const struct tv_selection *selection,
                                              struct tv_measured *measured, struct tv_error *err)
{
    const struct tv_trace *trace = measured->trace;
    if (!measure_wants_samples(settings)) {
        measured->tree = measure_count_calls(settings, flags, trace, selection);
        return TV_OK;
    }
    if (trace->tables.value_types.count == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: the trace has no samples",
                       measure_sample_option(settings));
    return measure_count_samples(settings, trace, subset, selection, &measured->tree, err);
}

/* Subtract the cost of recording before anything is folded or filtered: recorded calls have their
 * cost whether they are shown or not. */
static enum tv_status measure_compensate(const struct tv_settings *settings,
                                         struct tv_measured *measured, struct tv_error *err)
{
    assert(measured->tree);
    tv_ns cost;
    if (!settings->stacks.compensate)
        return TV_OK;
    enum tv_status status = tv_compensation_find(measured->tree->head, &cost, err);
    if (status == TV_OK)
        tv_call_tree_compensate(measured->tree, cost);
    return status;
}

/* Replace the tree by one that was made from it, and may use its names. */
static void measured_replace_tree(struct tv_measured *measured, struct tv_call_tree *tree)
{
    assert(tree && tree != measured->tree);
    if (!tree->own_head) {
        tree->own_head = measured->tree->own_head;
        measured->tree->own_head = NULL;
    }
    tv_call_tree_free(measured->tree);
    measured->tree = tree;
}

/* Read --focus, --callers, --merge, --collapse-package and --drop. */
static enum tv_status measure_read_transforms(const struct tv_settings *settings,
                                              struct tv_transforms *transforms,
                                              struct tv_error *err)
{
    const struct tv_words *words = &settings->stacks.transforms;
    assert(words->count % 2 == 0);
    transforms->count = 0;
    for (size_t i = 0; i < words->count; i += 2) {
        enum tv_status status = tv_transforms_add(transforms, tv_bytes_of(words->items[i]),
                                                  tv_bytes_of(words->items[i + 1]), err);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

/* Apply the transforms, then merge frames of equal names if asked for: before, the signatures of
 * frames are needed to find them. */
static enum tv_status measure_transform(const struct tv_settings *settings, unsigned flags,
                                        struct tv_measured *measured, struct tv_error *err)
{
    struct tv_transforms transforms;
    struct tv_call_tree *changed;
    enum tv_status status = measure_read_transforms(settings, &transforms, err);
    if (status == TV_OK && transforms.count > 0) {
        status = tv_transforms_apply(&transforms, measured->tree, &changed, NULL, err);
        if (status == TV_OK)
            measured_replace_tree(measured, changed);
    }
    if (status == TV_OK && (flags & TV_MEASURE_FOLD_NAMES) && !measure_wants_samples(settings))
        measured_replace_tree(measured, tv_call_tree_fold_names(measured->tree));
    return status;
}

/* Count the selected part of a trace, then apply all that changes a tree: compensation, frames,
 * transforms, in this order. */
static enum tv_status measure_count_trace(const struct tv_settings *settings, unsigned flags,
                                          const struct tv_subset *subset,
                                          struct tv_measured *measured, struct tv_error *err)
{
    const struct tv_trace *trace = measured->trace;
    struct tv_selection selection;
    uint32_t *tracks = tv_alloc(trace->track_count, sizeof *tracks);
    enum tv_status status = tv_selection_make(settings, trace, subset, tracks, &selection, err);
    if (status == TV_OK)
        status = measure_count_selection(settings, flags, subset, &selection, measured, err);
    tv_free(tracks);
    if (status == TV_OK)
        status = measure_compensate(settings, measured, err);
    if (status == TV_OK && subset->frames)
        measured_replace_tree(measured,
                              tv_call_tree_of_frames(measured->tree, subset->frames, NULL));
    return status == TV_OK ? measure_transform(settings, flags, measured, err) : status;
}

/* Return what the question needs of samples: their sums, unless it asks for times, threads, or for
 * the samples of all types, of which a row for each tells the values of one sample. */
static enum tv_sample_detail measure_sample_detail(const struct tv_settings *settings,
                                                   unsigned flags)
{
    bool single = (flags & TV_MEASURE_TRACE) || settings->select.range || settings->select.filter ||
                  tv_threads_are_selected(settings) ||
                  settings->stacks.samples == TV_SAMPLES_TIME ||
                  (settings->stacks.samples == TV_SAMPLES_COUNT && !settings->stacks.value);
    return single                   ? TV_SAMPLES_SINGLE
           : settings->stacks.lines ? TV_SAMPLES_BY_LINES
                                    : TV_SAMPLES_BY_STACK;
}

/* Return true for a trace that has value types and no calls.  A filter may have hidden all of its
 * samples: it does not become a trace of calls by that. */
static bool measure_is_of_samples(const struct tv_trace *trace)
{
    return trace->recorded_calls == 0 && trace->tables.value_types.count > 0;
}

/* Build the trace and measure it. A trace without calls is measured by what it has: asynchronous
 * slices or samples. */
static enum tv_status measure_from_trace(const struct tv_settings *settings, unsigned flags,
                                         struct tv_loading *loading, struct tv_measured *measured,
                                         struct tv_error *err)
{
    struct tv_settings own = *settings;
    tv_load_sum_samples(loading, measure_sample_detail(settings, flags));
    enum tv_status status = tv_load_build(loading, NULL, &measured->trace, err);
    if (status != TV_OK)
        return status;
    struct tv_subset subset;
    measured->head = measured->trace->head;
    if (!measure_wants_samples(settings) && !(flags & TV_MEASURE_SPLIT_THREADS))
        own.stacks.async |= tv_trace_has_only_async(measured->trace);
    if (!measure_wants_samples(settings) && !own.stacks.async &&
        !(flags & TV_MEASURE_SPLIT_THREADS) && measure_is_of_samples(measured->trace))
        own.stacks.samples = TV_SAMPLES_WEIGHT;
    status = tv_subset_choose(&own, measured->trace, &subset, err);
    if (status == TV_OK)
        status = measure_count_trace(&own, flags, &subset, measured, err);
    tv_subset_release(&subset);
    return status;
}

/* Can the files be streamed? Categories need the trace: time of hidden slices moves to their
 * callers. */
static bool measure_can_stream(const struct tv_settings *settings, const struct tv_loading *loading)
{
    return tv_load_can_stream(loading) && !settings->stacks.async &&
           settings->select.categories.count == 0;
}

/* Return true when a pass over the events cannot give the answer. */
static bool measure_needs_trace(const struct tv_settings *settings, unsigned flags,
                                const struct tv_loading *loading)
{
    return (flags & TV_MEASURE_TRACE) || settings->select.range ||
           measure_wants_samples(settings) || !measure_can_stream(settings, loading);
}

/* Stream the files into a tree. The settings are the context of the thread callback, which does not
 * change them. */
static enum tv_status measure_from_stream(struct tv_settings *settings, unsigned flags,
                                          struct tv_loading *loading, struct tv_tree_memory *memory,
                                          struct tv_measured *measured, struct tv_error *err)
{
    struct tv_tree_sink_options options = {
        .wanted = tv_threads_are_selected(settings) ? tv_thread_is_selected : NULL,
        .context = settings,
        .split_threads = flags & TV_MEASURE_SPLIT_THREADS,
        .fold_names = (flags & TV_MEASURE_FOLD_NAMES) && settings->stacks.transforms.count == 0,
        .memory = memory,
    };
    measured->head = tv_trace_info_new();
    struct tv_tree_sink *sink = tv_tree_sink_new(&options);
    enum tv_status status =
        tv_load_stream(loading, measured->head, tv_tree_sink_sink(sink), NULL, err);
    measured->tree = tv_tree_sink_finish(sink, measured->head);
    if (status == TV_OK)
        status = tv_selection_check(settings, measured->head, NULL, err);
    if (status == TV_OK)
        status = measure_compensate(settings, measured, err);
    if (status == TV_OK && settings->stacks.transforms.count > 0)
        status = measure_transform(settings, flags, measured, err);
    return status;
}

/* Return whether the trace has slices of threads or asynchronous ones: slices of processors and
 * states of threads are in no profile. */
static bool measure_has_calls(const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if ((tv_track_has_calls(track) || track->kind == TV_TRACK_ASYNC) && track->slice_count > 0)
            return true;
    }
    return false;
}

/* Print a note that a table has nothing to show, and which command shows what the trace has. */
static void measure_note_empty(const struct tv_settings *settings, const struct tv_trace *trace)
{
    bool states = false, counters = trace && trace->tables.counters.count > 0;
    for (uint32_t i = 0; trace && i < trace->track_count; i++)
        states |= trace->tracks[i].kind == TV_TRACK_STATES || trace->tracks[i].kind == TV_TRACK_CPU;
    tv_message("%s: note: no calls and no samples to show%s", settings->files.items[0],
               states     ? "; \"traceview states\" shows its threads and processors"
               : counters ? "; \"traceview counters\" shows its counters"
                          : "");
}

/* Print a note about samples and asynchronous slices: users may expect samples in a table of
 * slices, or not notice that slices are asynchronous. */
static void measure_note_kinds(const struct tv_settings *settings,
                               const struct tv_measured *measured)
{
    const struct tv_trace *trace = measured->trace;
    if (settings->quiet)
        return;
    if (!trace) { /* a method trace */
        uint64_t records = 0;
        for (uint32_t i = 0; i < measured->head->input_count; i++)
            records += measured->head->inputs[i].records;
        if (records == 0)
            measure_note_empty(settings, NULL);
        return;
    }
    uint64_t samples = tv_tables_sample_count(&trace->tables);
    bool empty = samples == 0 && !measure_has_calls(trace);
    if (empty && settings->select.filter)
        return; /* the filter has said that it left nothing */
    if (empty)
        measure_note_empty(settings, trace);
    else if (measure_wants_samples(settings))
        return;
    else if (tv_trace_has_only_async(trace) && !settings->stacks.async && !settings->split_threads)
        tv_message("%s: note: all slices are asynchronous; they are shown as with --async",
                   settings->files.items[0]);
    else if (samples > 0 && trace->recorded_calls > 0)
        tv_message("%s: note: only slices are shown; use --value for the %" PRIu64 " %s (info "
                   "lists the value types)",
                   settings->files.items[0], samples, tv_plural(samples, "sample", "samples"));
}

/* Print the notes about the files, or free everything after an error. */
static enum tv_status measure_report(const struct tv_settings *settings,
                                     struct tv_measured *measured, enum tv_status status)
{
    if (status == TV_OK) {
        tv_load_report(settings, measured->head);
        measure_note_kinds(settings, measured);
    } else {
        tv_measured_release(measured);
    }
    return status;
}

enum tv_status tv_measure_tree(const struct tv_settings *settings, unsigned flags,
                               struct tv_measured *measured, struct tv_error *err)
{
    return tv_measure_next_tree(settings, flags, NULL, measured, err);
}

enum tv_status tv_measure_next_tree(const struct tv_settings *settings, unsigned flags,
                                    struct tv_tree_memory *memory, struct tv_measured *measured,
                                    struct tv_error *err)
{
    tv_ns from, to;
    struct tv_settings own = *settings;
    struct tv_loading *loading;
    struct tv_transforms transforms;
    *measured = (struct tv_measured){NULL, NULL, NULL};
    if (settings->select.range && tv_range_parse(settings->select.range, &from, &to, err) != TV_OK)
        return err->status;
    if (measure_read_transforms(settings, &transforms, err) != TV_OK)
        return err->status; /* before a large file is read */
    if (measure_wants_samples(settings) && (flags & TV_MEASURE_SPLIT_THREADS))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--split-threads cannot be combined with %s",
                       measure_sample_option(settings));
    if (settings->stacks.async &&
        (measure_wants_samples(settings) || (flags & TV_MEASURE_SPLIT_THREADS)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--async cannot be combined with %s",
                       measure_wants_samples(settings) ? measure_sample_option(settings)
                                                       : "--split-threads");
    if (settings->select.range && (flags & TV_MEASURE_SPLIT_THREADS))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--split-threads cannot be combined with --range");
    enum tv_status status =
        tv_load_open(settings, settings->files.items, settings->files.count, &loading, err);
    if (status != TV_OK)
        return status;
    status = measure_needs_trace(settings, flags, loading)
                 ? measure_from_trace(settings, flags, loading, measured, err)
                 : measure_from_stream(&own, flags, loading, memory, measured, err);
    return measure_report(settings, measured, status);
}

/* Print a note when no call took any time: a tree or graph of times has nothing to draw then. */
static void measure_note_timeless(const struct tv_settings *settings,
                                  const struct tv_call_tree *tree)
{
    int64_t most = 0;
    uint64_t calls = 0;
    if (settings->quiet || tree->figures.sampled)
        return;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct tv_path_cost *cost = &tree->cost[i];
        calls += tree->parent[i] == 0 ? cost->calls : 0;
        most |= cost->wall | cost->cpu;
    }
    if (calls > 0 && most == 0)
        tv_message("%s: note: no call took any time, so none is shown; \"traceview profile\" "
                   "counts them",
                   settings->files.items[0]);
}

int tv_measure_run(const struct tv_command *command, const struct tv_settings *settings,
                   unsigned flags,
                   enum tv_status (*write)(const struct tv_settings *settings,
                                           const struct tv_call_tree *tree, struct tv_error *err))
{
    struct tv_error err = {0};
    struct tv_measured measured;
    enum tv_status status = tv_measure_tree(settings, flags, &measured, &err);
    if (status == TV_OK) {
        measure_note_timeless(settings, measured.tree);
        status = write(settings, measured.tree, &err);
        tv_measured_release(&measured);
    }
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

/* Stream the files into a profile. */
static enum tv_status measure_profile_stream(struct tv_settings *settings,
                                             struct tv_loading *loading,
                                             struct tv_measured *measured,
                                             struct tv_profile **profile, struct tv_error *err)
{
    measured->head = tv_trace_info_new();
    struct tv_profile_sink *sink = tv_profile_sink_new(
        tv_threads_are_selected(settings) ? tv_thread_is_selected : NULL, settings);
    enum tv_status status =
        tv_load_stream(loading, measured->head, tv_profile_sink_sink(sink), NULL, err);
    *profile = tv_profile_sink_finish(sink, measured->head);
    if (status == TV_OK)
        status = tv_selection_check(settings, measured->head, NULL, err);
    return status;
}

enum tv_status tv_measure_profile(const struct tv_settings *settings, struct tv_measured *measured,
                                  struct tv_profile **profile, struct tv_error *err)
{
    tv_ns from, to;
    struct tv_settings own = *settings;
    struct tv_loading *loading;
    *measured = (struct tv_measured){NULL, NULL, NULL};
    *profile = NULL;
    if (settings->select.range && tv_range_parse(settings->select.range, &from, &to, err) != TV_OK)
        return err->status;
    enum tv_status status =
        tv_load_open(settings, settings->files.items, settings->files.count, &loading, err);
    if (status != TV_OK)
        return status;
    if (!settings->select.range && !measure_wants_samples(settings) &&
        measure_can_stream(settings, loading))
        return measure_report(settings, measured,
                              measure_profile_stream(&own, loading, measured, profile, err));
    status =
        measure_report(settings, measured, measure_from_trace(settings, 0, loading, measured, err));
    if (status == TV_OK) {
        *profile = tv_profile_of_tree(measured->tree);
        if (measured->trace)
            tv_profile_use_function_costs(*profile, measured->trace);
    }
    return status;
}

enum tv_status tv_measured_calls_init(struct tv_measured_calls *calls,
                                      const struct tv_settings *settings,
                                      const struct tv_measured *measured, struct tv_error *err)
{
    const struct tv_trace *trace = measured->trace;
    struct tv_settings own = *settings;
    struct tv_subset subset;
    assert(trace && settings->select.categories.count == 0 && !settings->select.filter);
    *calls = (struct tv_measured_calls){.tracks = NULL};
    own.stacks.async |= tv_trace_has_only_async(trace);
    enum tv_status status = tv_subset_choose(&own, trace, &subset, err);
    if (status != TV_OK) {
        tv_subset_release(&subset);
        return status;
    }
    struct tv_selection *selection = &calls->selection;
    uint32_t *tracks = tv_alloc(trace->track_count, sizeof *tracks);
    status = tv_selection_make(&own, trace, &subset, tracks, selection, err);
    if (status == TV_OK && !selection->tracks) { /* the statistics would count asynchronous ones */
        bool *wanted = tv_selection_wanted(trace, selection);
        for (uint32_t i = 0; i < trace->track_count; i++)
            if (wanted[i])
                tracks[selection->track_count++] = i;
        selection->tracks = tracks;
        tv_free(wanted);
    }
    tv_subset_release(&subset);
    if (status == TV_OK)
        calls->tracks = tracks;
    else
        tv_free(tracks);
    return status;
}

void tv_measured_calls_release(struct tv_measured_calls *calls)
{
    tv_free(calls->tracks);
    *calls = (struct tv_measured_calls){.tracks = NULL};
}

enum tv_status tv_measure_lengths(const struct tv_settings *settings,
                                  const struct tv_measured *measured, bool by_cpu,
                                  struct tv_statistics **lengths, struct tv_error *err)
{
    struct tv_measured_calls calls;
    enum tv_status status = tv_measured_calls_init(&calls, settings, measured, err);
    if (status != TV_OK)
        return status;
    *lengths = tv_statistics_of(measured->trace, &calls.selection, by_cpu);
    tv_measured_calls_release(&calls);
    return TV_OK;
}

enum tv_status tv_figures_check_sides(const struct tv_settings *settings,
                                      const struct tv_trace_info *const heads[2],
                                      const struct tv_sample_figures *const figures[2],
                                      struct tv_error *err)
{
    struct tv_bytes units[2], names[2];
    for (size_t i = 0; i < 2; i++) {
        units[i] = tv_sample_figures_unit(heads[i], figures[i]);
        names[i] = tv_trace_info_text(heads[i], figures[i]->name);
    }
    if (!tv_bytes_equal(units[0], units[1]))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the samples are in %.*s and in %.*s: choose a value that both have with "
                       "--value",
                       (int)units[0].length, (const char *)units[0].data, (int)units[1].length,
                       (const char *)units[1].data);
    if (!tv_bytes_equal(names[0], names[1]) && !settings->quiet)
        tv_message(
            "%s: note: its value '%.*s' is compared with '%.*s' of %s; --value chooses one that "
            "both have",
            settings->files.items[0], (int)names[0].length, (const char *)names[0].data,
            (int)names[1].length, (const char *)names[1].data, settings->files.items[1]);
    return TV_OK;
}

void tv_measured_release(struct tv_measured *measured)
{
    tv_call_tree_free(measured->tree);
    if (measured->trace)
        tv_trace_free(measured->trace);
    else if (measured->head)
        tv_trace_info_free(measured->head);
    *measured = (struct tv_measured){NULL, NULL, NULL};
}
