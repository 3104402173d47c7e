/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - api/diff: the comparison of open traces (compare.h).
 *
 *     runs --> filter? --> tree or profile --> table of runs --> matched --> comparison --> JSON
 *              cached views                    a column a run    by name
 *
 * Each run is one open trace.  The answer is that of `traceview diff --format
 * json`, written by the same function: so a figure on the screen is the one in
 * a terminal.  The number of rows, of frames and of bytes is bounded, because a
 * server answers in memory.
 */
#include "view/compare.h"

#include <assert.h>
#include <string.h>

#include "analysis/calltree/sample_values.h"
#include "analysis/compare/change_flame.h"
#include "analysis/compare/comparison.h"
#include "analysis/subset/selection.h"
#include "base/memory.h"
#include "base/workers.h"
#include "view/internal.h"
#include "view/parameters.h"
#include "writers/compare/compare_report.h"
#include "writers/compare/described_run.h"

/* Maximum number of bytes of an answer. */
#define COMPARE_BYTES ((uint64_t)64 << 20)

/* The parameters of the question. */
struct view_comparing {
    enum tv_rows_by by;
    struct tv_comparison_options options;
    struct tv_bytes filter;
    bool graph; /* the rows are frames of a flame graph, with: */
    enum tv_change_width width;
    double min_share;
};

/* Read which graph is asked for, if any: one of call paths. */
static enum tv_status view_compare_read_graph(const struct tv_parameters *parameters,
                                              struct view_comparing *comparing,
                                              struct tv_error *err)
{
    static const char *const graphs[] = {"none", "larger", "base", "new", NULL};
    static const enum tv_change_width widths[] = {TV_WIDTH_LARGER, TV_WIDTH_LARGER, TV_WIDTH_BASE,
                                                  TV_WIDTH_NEW};
    unsigned graph;
    enum tv_status status = tv_parameter_choice(parameters, "graph", graphs, &graph, err);
    if (status == TV_OK)
        status = tv_parameter_share(parameters, "min", 0.0001, &comparing->min_share, err);
    if (status != TV_OK)
        return status;
    comparing->graph = graph > 0;
    comparing->width = widths[graph];
    if (comparing->min_share < TV_VIEW_MIN_SHARE)
        comparing->min_share = TV_VIEW_MIN_SHARE;
    if (comparing->graph && comparing->by != TV_ROWS_BY_PATH)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "graph: only with by=path");
    return TV_OK;
}

/* Read what is compared: the words are those of the options of `diff`. */
static enum tv_status view_compare_read(const struct tv_parameters *parameters,
                                        struct view_comparing *comparing, struct tv_error *err)
{
    static const char *const bys[] = {"method", "path", "class", "package", "thread", NULL};
    static const char *const figures[] = {"excl", "incl", "calls", "mean", NULL};
    static const char *const clocks[] = {"best", "wall", "cpu", NULL};
    unsigned by, figure, clock;
    enum tv_status status = tv_parameter_choice(parameters, "by", bys, &by, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "figure", figures, &figure, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "clock", clocks, &clock, err);
    if (status != TV_OK)
        return status;
    comparing->by = (enum tv_rows_by)by;
    comparing->filter = tv_parameter_text(parameters, "filter");
    comparing->options = (struct tv_comparison_options){
        .figure = (enum tv_run_figure)figure,
        .clock = clock,
        .least_share = 0.0005,
    };
    return view_compare_read_graph(parameters, comparing, err);
}

/* Count a trace as `traceview diff` does: its calls; asynchronous slices if it has no others; the
 * default value of its samples if it has nothing else. */
static enum tv_status view_compare_count(const struct tv_view *view, enum tv_rows_by by,
                                         struct tv_call_tree **tree, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_selection selection = TV_SELECT_ALL;
    if (by == TV_ROWS_BY_THREAD) {
        *tree = tv_call_tree_by_thread(trace, &selection, tv_workers_available());
        return TV_OK;
    }
    if (tv_trace_has_only_samples(trace)) {
        struct tv_sample_question question = {.measure = TV_SAMPLES_WEIGHT};
        enum tv_status status = tv_sample_question_choose(trace, NULL, &question, err);
        if (status == TV_OK)
            *tree = tv_sample_tree_of_trace(trace, &selection, NULL, &question);
        return status;
    }
    uint32_t *tracks = NULL;
    if (tv_trace_has_only_async(trace)) {
        tracks = tv_alloc(trace->track_count, sizeof *tracks);
        for (uint32_t i = 0; i < trace->track_count; i++)
            if (trace->tracks[i].kind == TV_TRACK_ASYNC)
                tracks[selection.track_count++] = i;
        selection.tracks = tracks;
    }
    *tree = tv_call_tree_of_trace(trace, &selection, tv_workers_available());
    tv_free(tracks);
    return TV_OK;
}

/* Add a run to the table.  `name` must outlive the table; NULL: the run is there, and only the
 * callers of its methods are learnt. */
static enum tv_status view_compare_add(struct tv_run_table *table, const struct tv_view *view,
                                       enum tv_run_side side, const char *name,
                                       struct tv_error *err)
{
    struct tv_call_tree *tree;
    enum tv_status status = view_compare_count(view, table->by, &tree, err);
    if (status != TV_OK)
        return name ? tv_error_prefix(err, "%s", name) : status;
    if (!name) {
        tv_run_table_learn_callers(table, side, tree);
        tv_call_tree_free(tree);
        return TV_OK;
    }
    struct tv_run run = tv_run_describe(name, side, 0, view->trace->head);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    tv_profile_use_function_costs(profile, view->trace);
    run.total_wall = profile->total_wall;
    run.total_cpu = profile->total_cpu;
    if (table->by == TV_ROWS_BY_THREAD || table->by == TV_ROWS_BY_PATH)
        tv_run_table_add_tree(table, &run, tree);
    else
        tv_run_table_add_profile(table, &run, profile);
    tv_profile_free(profile);
    tv_call_tree_free(tree);
    return TV_OK;
}

/* Add the view of a run after the filter. */
static enum tv_status view_compare_add_filtered(struct tv_run_table *table,
                                                const struct tv_view_run *run,
                                                struct tv_bytes filter, const char *name,
                                                struct tv_error *err)
{
    struct tv_filtered *filtered;
    if (filter.length == 0)
        return view_compare_add(table, run->view, run->side, name, err);
    if (tv_filtered_enter(run->view->filtered, filter, &filtered, err) != TV_OK)
        return TV_ERR_USAGE;
    enum tv_status status =
        view_compare_add(table, tv_filtered_view(filtered), run->side, name, err);
    tv_filtered_leave(run->view->filtered, filtered);
    return status;
}

/* Learn the callers of methods from the first run of each side, as `traceview diff` does. */
static enum tv_status view_compare_learn(struct tv_run_table *table, const struct tv_view_run *runs,
                                         size_t count, struct tv_bytes filter, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (!tv_run_table_wants_callers(table))
        return TV_OK;
    for (int side = TV_RUN_BASE; side <= TV_RUN_NEW; side++) {
        size_t run = 0;
        while (run < count && runs[run].side != (enum tv_run_side)side)
            run++;
        if (run < count && status == TV_OK)
            status = view_compare_add_filtered(table, &runs[run], filter, NULL, err);
    }
    return status;
}

/* Write the comparison of a matched table.  An answer that grows beyond
 * COMPARE_BYTES is taken back and replaced by an error which names the command. */
static enum tv_status view_compare_write(const struct tv_run_table *table,
                                         const struct view_comparing *comparing, struct tv_out *out,
                                         struct tv_error *err)
{
    struct tv_comparison comparison;
    struct tv_change_flame graph = {.flame = NULL};
    enum tv_status status = tv_comparison_init(&comparison, table, &comparing->options, err);
    if (status != TV_OK)
        return status;
    if (comparing->graph)
        tv_change_flame_init_bounded(&graph, &comparison, comparing->width, comparing->min_share,
                                     TV_VIEW_COMPARE_ROWS);
    struct tv_compare_report report = {
        .comparison = &comparison,
        .json_rows = TV_VIEW_COMPARE_ROWS,
        .graph = &graph,
        .json_frames = comparing->graph,
    };
    tv_out_set_limit(out, COMPARE_BYTES);
    tv_compare_report_write(out, &report, TV_COMPARE_JSON);
    if (out->error.status == TV_ERR_LIMIT)
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                         "the answer has more than %u MiB: \"traceview diff --format json\" writes "
                         "all of it",
                         (unsigned)(COMPARE_BYTES >> 20));
    tv_out_set_limit(out, 0);
    if (status != TV_OK) {
        out->length = 0;
        out->error.status = TV_OK;
    }
    if (comparing->graph)
        tv_change_flame_release(&graph);
    tv_comparison_release(&comparison);
    return status;
}

enum tv_status tv_view_compare(const struct tv_view_run *runs, size_t count,
                               const struct tv_view_parameter *parameters, size_t parameter_count,
                               struct tv_out *out, struct tv_error *err)
{
    struct tv_parameters given = {parameters, parameter_count};
    struct view_comparing comparing;
    struct tv_run_table table;
    assert(out->length == 0);
    enum tv_status status = view_compare_read(&given, &comparing, err);
    if (status != TV_OK)
        return status;
    char **names = tv_alloc(count, sizeof *names);
    tv_run_table_init(&table, comparing.by, TV_NAMES_SIMILAR);
    for (size_t i = 0; i < count && status == TV_OK; i++) {
        struct tv_bytes name = tv_view_input_name(runs[i].view->trace->head);
        names[i] = tv_alloc(name.length + 1, 1);
        memcpy(names[i], name.data, name.length);
        status = view_compare_add_filtered(&table, &runs[i], comparing.filter, names[i], err);
    }
    if (status == TV_OK)
        status = view_compare_learn(&table, runs, count, comparing.filter, err);
    if (status == TV_OK) {
        tv_run_table_match(&table);
        status = view_compare_write(&table, &comparing, out, err);
    }
    tv_run_table_release(&table);
    for (size_t i = 0; i < count; i++)
        tv_free(names[i]);
    tv_free(names);
    return status;
}
