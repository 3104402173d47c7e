/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_flamegraph.c - `flamegraph` (one SVG file) and `collapse` (the input of
 * other flame graph tools).
 *
 *     call tree --> flame layout --> SVG                    flamegraph
 *     call tree --> tree of names --> "a;b;c 42" lines      collapse
 *
 * Both name methods only, so the trees are built with frames of equal names
 * folded into one.  With --split-threads each thread is the root of a picture
 * or file of its own.
 *
 * Whole numbers lose what rounds to 0.  It is told on standard error, so that a
 * sum that does not fit the trace has an explanation.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/derived_trees.h"
#include "base/bytes.h"
#include "base/out.h"
#include "cli/command.h"
#include "cli/input/measure.h"
#include "cli/input/selection.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "writers/stacks/collapsed.h"
#include "writers/stacks/flame_svg.h"

/* The options of both commands that say which stacks are counted, and how. */
#define OPTIONS_OF_STACKS                                                                          \
    TV_OPTION_CLOCK, TV_OPTION_VALUE, TV_OPTION_SAMPLES, TV_OPTION_ASYNC, TV_OPTION_THREADS,       \
        TV_OPTION_FILTERS, TV_OPTION_RANGE, TV_OPTIONS_TRANSFORMS

static const struct tv_option flamegraph_options[] = {
    TV_OPTION("title", "TEXT", TV_OPTION_TEXT, flame.title,
              "title of the picture (default: the file name)"),
    TV_OPTION("countname", "TEXT", TV_OPTION_TEXT, flame.countname,
              "unit of the numbers (default: us; for collapsed stacks: samples)"),
    TV_OPTION("colors", TV_FLAME_COLOR_NAMES, TV_OPTION_CHOICE, flame.colors,
              "palette (default: package, one colour per package; kind: JIT, inlined, kernel ...)"),
    TV_OPTION("hash", NULL, TV_OPTION_FLAG, flame.hash,
              "choose shades by method name, so that they are equal in all pictures"),
    TV_OPTION("inverted", NULL, TV_OPTION_FLAG, stacks.inverted,
              "draw downwards, from the methods that used the time to their callers"),
    TV_OPTION("min-width", "PIXELS", TV_OPTION_TEXT, flame.min_width,
              "omit narrower frames; the picture is 1180 wide (default: 0.1)"),
    OPTIONS_OF_STACKS,
    TV_OPTION("split-threads", NULL, TV_OPTION_FLAG, split_threads,
              "one picture per thread, PREFIX.ID-NAME.svg; --output sets PREFIX"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* The options of a picture. */
struct flamegraph_drawing {
    const struct tv_settings *settings;
    bool cpu;
    double min_share;
};

/* Lay out the tree below `root` and write it as SVG. */
static void cmd_flamegraph_draw(struct tv_out *out, const struct tv_call_tree *tree, uint32_t root,
                                const char *title, const struct flamegraph_drawing *drawing)
{
    const struct tv_settings *settings = drawing->settings;
    struct tv_flame_options layout = {
        .clock = drawing->cpu ? TV_CLOCK_CPU : TV_CLOCK_WALL,
        .order = TV_FLAME_BY_NAME,
        .inverted = settings->stacks.inverted,
        .root = root,
        .min_share = drawing->min_share,
    };
    struct tv_flame_svg_options svg = {
        .title = title,
        .colors = (enum tv_flame_colors)settings->flame.colors,
        .hash = settings->flame.hash,
        .inverted = settings->stacks.inverted,
    };
    tv_flame_svg_choose_units(&svg, tree);
    if (settings->flame.countname)
        svg.count_name = settings->flame.countname;
    struct tv_flame *flame = tv_flame_of_tree(tree, &layout);
    struct tv_flame_svg_source source = tv_flame_svg_of_trace(tree->head, flame);
    tv_flame_svg_write(out, &source, &svg);
    tv_flame_free(flame);
}

/* Return the title: --title, else the file name without directories. */
static const char *cmd_flamegraph_title(const struct tv_settings *settings)
{
    const char *file = settings->files.items[0], *slash = strrchr(file, '/');
    if (settings->flame.title)
        return settings->flame.title;
    return slash ? slash + 1 : file;
}

/* Draw one thread for --split-threads, with its name and id in the title. */
static void cmd_flamegraph_draw_thread(struct tv_out *out, const struct tv_call_tree *tree,
                                       uint32_t thread, void *context)
{
    const struct flamegraph_drawing *drawing = context;
    const struct tv_thread *t = &tree->head->threads[thread];
    struct tv_bytes name = tv_trace_info_text(tree->head, t->name);
    char title[1024];
    snprintf(title, sizeof title, "%s: %.*s [%llu]", cmd_flamegraph_title(drawing->settings),
             name.length < 200 ? (int)name.length : 200, (const char *)name.data,
             (unsigned long long)t->id);
    /* In an inverted graph the thread is on top of its methods. */
    cmd_flamegraph_draw(out, tree, drawing->settings->stacks.inverted ? TV_ROOT_PATH : 1, title,
                        drawing);
}

/* Parse "0.5" pixels into a share of the whole width. */
static enum tv_status cmd_flamegraph_parse_width(const char *text, double *share,
                                                 struct tv_error *err)
{
    tv_ns thousandths;
    *share = 0.1 / TV_FLAME_SVG_INNER;
    if (!text)
        return TV_OK;
    if (!tv_parse_time(tv_bytes_of(text), 1000, &thousandths) || thousandths < 0 ||
        thousandths > TV_FLAME_SVG_INNER * INT64_C(1000))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--min-width: expected pixels, 0 to %d, found '%s'", TV_FLAME_SVG_INNER,
                       text);
    *share = (double)thousandths / 1000 / TV_FLAME_SVG_INNER;
    return TV_OK;
}

/* Draw all threads in one picture, or one picture per thread. */
static enum tv_status cmd_flamegraph_write(const struct tv_settings *settings,
                                           const struct tv_call_tree *tree, struct tv_error *err)
{
    struct flamegraph_drawing drawing = {.settings = settings};
    enum tv_status status =
        cmd_flamegraph_parse_width(settings->flame.min_width, &drawing.min_share, err);
    if (status == TV_OK)
        status = tv_clock_choose(settings, tree->clocks, &drawing.cpu, err);
    if (status != TV_OK)
        return status;
    if (settings->split_threads)
        return tv_per_thread(settings, tree, "svg", cmd_flamegraph_draw_thread, &drawing, err);
    struct tv_output output;
    status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    cmd_flamegraph_draw(&output.out, tree, TV_ROOT_PATH, cmd_flamegraph_title(settings), &drawing);
    return tv_output_close(&output, err);
}

static int cmd_flamegraph_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    double share;
    unsigned flags = TV_MEASURE_FOLD_NAMES;
    if (settings->split_threads)
        flags |= TV_MEASURE_SPLIT_THREADS;
    /* Check before a large file is read. */
    if (cmd_flamegraph_parse_width(settings->flame.min_width, &share, &err) != TV_OK)
        return tv_command_failed(command, &err);
    return tv_measure_run(command, settings, flags, cmd_flamegraph_write);
}

const struct tv_command tv_command_flamegraph = {
    .name = "flamegraph",
    .summary = "write a flame graph as one SVG file with search and zoom",
    .arguments = "[OPTION]... FILE",
    .options = flamegraph_options,
    .min_files = 1,
    .max_files = 1,
    .reads_traces = true,
    .run = cmd_flamegraph_run,
};

/* ---- collapse ---- */

static const struct tv_option collapse_options[] = {
    OPTIONS_OF_STACKS,
    TV_OPTION("diff", NULL, TV_OPTION_FLAG, collapse_diff,
              "two files: each line has the self times of both, for differential flame graphs"),
    TV_OPTION(
        "unit", "us|ns", TV_OPTION_CHOICE, table.unit,
        "unit of the times: whole microseconds or nanoseconds (default: us; with --value: ns)"),
    TV_OPTION("split-threads", NULL, TV_OPTION_FLAG, split_threads,
              "one file per thread, PREFIX.ID-NAME.collapsed; --output sets PREFIX"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* The numbers in the lines, and what was left out. */
struct collapse_counting {
    bool cpu;
    struct tv_collapsed_unit unit; /* nanoseconds, samples or their weight */
    unsigned workers;
    struct tv_collapsed_omitted rest; /* chains that round to 0 */
};

/* --unit: index of the word in "us|ns". */
#define UNIT_NS 1u

/* Choose the divisor of the numbers. Counts, and weights that were asked for, are written as they
 * are, times in microseconds unless --unit ns. */
static enum tv_status cmd_collapse_choose_unit(const struct tv_settings *settings,
                                               const struct tv_call_tree *tree,
                                               struct tv_collapsed_unit *unit, struct tv_error *err)
{
    bool asked = settings->stacks.value || settings->stacks.samples == TV_SAMPLES_WEIGHT;
    bool times = tv_sample_figures_are_times(tree->head, &tree->figures);
    *unit = asked && times ? (struct tv_collapsed_unit){1, false} : tv_collapsed_unit_of(tree);
    if (settings->table.unit != UNIT_NS || (asked && times))
        return TV_OK;
    if (!times)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--unit ns: the numbers of this trace are counts, not times");
    *unit = (struct tv_collapsed_unit){1, false};
    return TV_OK;
}

/* Merge frames with equal names, because the lines show names only, and write the stacks. */
static void cmd_collapse_write_stacks(struct tv_out *out, const struct tv_call_tree *tree,
                                      uint32_t thread, void *context)
{
    struct collapse_counting *counting = context;
    struct tv_name_tree_options names = {.cpu = counting->cpu, .thread = thread};
    struct tv_name_tree *stacks = tv_name_tree_new(tree, &names);
    tv_collapsed_write(out, stacks, counting->unit, counting->workers);
    struct tv_collapsed_omitted rest = tv_collapsed_find_omitted(stacks, counting->unit);
    counting->rest.chains += rest.chains;
    tv_time_add(&counting->rest.ns, rest.ns);
    tv_name_tree_free(stacks);
}

/* Flame graph tools need whole numbers: report the chains that round to 0. */
static void cmd_collapse_report_rest(const struct tv_settings *settings,
                                     const struct tv_collapsed_omitted *rest)
{
    struct tv_out time;
    if (rest->chains == 0 || settings->quiet)
        return;
    tv_out_init_memory(&time);
    tv_out_time_short(&time, rest->ns, 1000);
    tv_message("%s: note: %" PRIu64 " %s less than 1 us of self time (%.*s us in total) and %s "
               "left out; use --unit ns to keep %s",
               settings->files.items[0], rest->chains,
               tv_plural(rest->chains, "chain has", "chains have"), (int)time.length,
               (const char *)time.buffer, tv_plural(rest->chains, "is", "are"),
               tv_plural(rest->chains, "it", "them"));
    tv_out_release(&time);
}

/* Flame graph tools know no weights below zero: report the chains that are left out. */
static void cmd_collapse_report_negative(const struct tv_settings *settings,
                                         const struct tv_call_tree *tree)
{
    uint64_t chains = 0;
    for (uint32_t i = 1; i < tree->count; i++)
        chains += tree->self_wall[i] < 0;
    if (chains > 0 && !settings->quiet)
        tv_message("%s: note: %" PRIu64 " %s less than zero of the value and %s left out",
                   settings->files.items[0], chains, tv_plural(chains, "chain has", "chains have"),
                   tv_plural(chains, "is", "are"));
}

/* All threads go into one file; TV_NONE stands for them. */
static enum tv_status cmd_collapse_write_file(const struct tv_settings *settings,
                                              const struct tv_call_tree *tree,
                                              struct collapse_counting *counting,
                                              struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    cmd_collapse_write_stacks(&output.out, tree, TV_NONE, counting);
    return tv_output_close(&output, err);
}

/* Write the stacks, then say on standard error what is not in them. */
static enum tv_status cmd_collapse_write(const struct tv_settings *settings,
                                         const struct tv_call_tree *tree, struct tv_error *err)
{
    struct collapse_counting counting = {.workers = tv_settings_jobs(settings)};
    enum tv_status status = cmd_collapse_choose_unit(settings, tree, &counting.unit, err);
    if (status == TV_OK)
        status = tv_clock_choose(settings, tree->clocks, &counting.cpu, err);
    if (status == TV_OK)
        status = settings->split_threads ? tv_per_thread(settings, tree, "collapsed",
                                                         cmd_collapse_write_stacks, &counting, err)
                                         : cmd_collapse_write_file(settings, tree, &counting, err);
    if (status == TV_OK)
        cmd_collapse_report_rest(settings, &counting.rest);
    if (status == TV_OK)
        cmd_collapse_report_negative(settings, tree);
    return status;
}

/* ---- collapse --diff ---- */

/* One of the two traces. */
struct collapse_side {
    struct tv_measured measured;
    struct tv_name_tree *stacks;
    struct collapse_counting counting;
};

/* Measure a file and merge its stacks by name. */
static enum tv_status cmd_collapse_read_side(const struct tv_settings *settings, size_t number,
                                             struct collapse_side *side, struct tv_error *err)
{
    assert(number < settings->files.count);
    struct tv_settings own = *settings;
    struct tv_measured *measured = &side->measured;
    own.files = (struct tv_words){&settings->files.items[number], 1, 1};
    enum tv_status status = tv_measure_tree(&own, TV_MEASURE_FOLD_NAMES, measured, err);
    if (status != TV_OK)
        return status;
    status = cmd_collapse_choose_unit(&own, measured->tree, &side->counting.unit, err);
    if (status == TV_OK)
        status = tv_clock_choose(&own, measured->tree->clocks, &side->counting.cpu, err);
    if (status == TV_OK) {
        struct tv_name_tree_options names = {.cpu = side->counting.cpu, .thread = TV_NONE};
        side->stacks = tv_name_tree_new(measured->tree, &names);
        cmd_collapse_report_negative(&own, measured->tree);
    }
    return status;
}

static void cmd_collapse_release_side(struct collapse_side *side)
{
    tv_name_tree_free(side->stacks);
    tv_measured_release(&side->measured);
}

/* Check that the numbers of both traces mean the same. */
static enum tv_status cmd_collapse_check_sides(const struct tv_settings *settings,
                                               const struct collapse_side *a,
                                               const struct collapse_side *b, struct tv_error *err)
{
    const struct tv_call_tree *old = a->measured.tree, *fresh = b->measured.tree;
    if (old->figures.sampled != fresh->figures.sampled)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "one trace has calls and the other has samples: they cannot be compared");
    if (old->figures.sampled) {
        enum tv_status status = tv_figures_check_sides(
            settings, (const struct tv_trace_info *[]){old->head, fresh->head},
            (const struct tv_sample_figures *[]){&old->figures, &fresh->figures}, err);
        if (status != TV_OK)
            return status;
    }
    if (a->counting.cpu != b->counting.cpu)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "one trace has only CPU times: choose a clock that both have with --clock");
    return TV_OK;
}

/* Write each chain of either trace with its self time in both. */
static int cmd_collapse_run_diff(const struct tv_command *command,
                                 const struct tv_settings *settings)
{
    struct tv_error err = {0};
    struct collapse_side a = {.stacks = NULL}, b = {.stacks = NULL};
    struct tv_output output;
    enum tv_status status = cmd_collapse_read_side(settings, 0, &a, &err);
    if (status == TV_OK)
        status = cmd_collapse_read_side(settings, 1, &b, &err);
    if (status == TV_OK)
        status = cmd_collapse_check_sides(settings, &a, &b, &err);
    if (status == TV_OK)
        status = tv_output_open(&output, settings->output, settings->quiet, &err);
    if (status == TV_OK) {
        struct tv_name_tree *stacks = tv_name_tree_join(a.stacks, b.stacks);
        tv_collapsed_write(&output.out, stacks, a.counting.unit, tv_settings_jobs(settings));
        struct tv_collapsed_omitted rest = tv_collapsed_find_omitted(stacks, a.counting.unit);
        tv_name_tree_free(stacks);
        status = tv_output_close(&output, &err);
        if (status == TV_OK)
            cmd_collapse_report_rest(settings, &rest);
    }
    cmd_collapse_release_side(&a);
    cmd_collapse_release_side(&b);
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

/* Check how many files there are before any is read. */
static enum tv_status cmd_collapse_prepare(struct tv_settings *settings, struct tv_error *err)
{
    size_t wanted = settings->collapse_diff ? 2 : 1;
    if (settings->files.count != wanted)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "expected %s",
                       settings->collapse_diff ? "two files with --diff" : "one file, or --diff");
    if (settings->collapse_diff && settings->split_threads)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--diff cannot be combined with --split-threads");
    return TV_OK;
}

/* Split by thread only if asked to: the same method of two threads is one chain
 * otherwise. */
static int cmd_collapse_run(const struct tv_command *command, const struct tv_settings *settings)
{
    unsigned flags = TV_MEASURE_FOLD_NAMES;
    if (settings->collapse_diff)
        return cmd_collapse_run_diff(command, settings);
    if (settings->split_threads)
        flags |= TV_MEASURE_SPLIT_THREADS;
    return tv_measure_run(command, settings, flags, cmd_collapse_write);
}

const struct tv_command tv_command_collapse = {
    .name = "collapse",
    .summary = "write collapsed stacks: one call chain per line, with its self time",
    .arguments = "[OPTION]... FILE | --diff A B",
    .details = "Each line has the frames from the root, joined by ';', a space and the self time.",
    .options = collapse_options,
    .min_files = 1,
    .max_files = 2,
    .reads_traces = true,
    .prepare = cmd_collapse_prepare,
    .run = cmd_collapse_run,
};
