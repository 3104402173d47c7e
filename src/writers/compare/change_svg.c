/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_svg.c - the differential flame graph (change_svg.h).
 *
 * The layout is that of any flame graph; its frames are rows of a table of runs
 * instead of frames of a trace.  The picture is drawn by tv_flame_svg_write,
 * which asks the functions here for name, figures, colour and mark.
 *
 *     width    the figure of a path, in one side or the larger one
 *     colour   red: surely more, blue: surely less, the darker the more; grey: not sure
 *     border   only in new runs (+)
 *     hatched  only in base runs (-)
 *
 * Colour never is the only sign: marks and the title of a frame say the same in
 * words.
 */
#include "writers/compare/change_svg.h"

#include <assert.h>
#include <math.h>

#include "base/bytes.h"
#include "writers/compare/compare_report.h"
#include "writers/stacks/flame_svg.h"
#include "writers/text/names.h"

/* Hues, and lightness in percent: from that of the smallest change to that of the largest.  Black
 * letters have a contrast of at least 5:1 on all of them. */
#define HUE_MORE 6
#define HUE_LESS 212
#define LIGHTEST 90
#define DARKEST 64

/* The largest change that the colour shows: twice or half, as a binary logarithm. */
#define FULL_CHANGE 1.0

/* Return the compared row of a frame; NULL for everything, and for a name that was replaced. */
static const struct tv_compared_row *change_svg_row(const struct tv_change_flame *graph,
                                                    const struct tv_flame_frame *frame)
{
    if (frame->frame == TV_NONE || graph->place[frame->frame] == TV_NONE)
        return NULL;
    return &graph->comparison->rows[graph->place[frame->frame]];
}

/* Write the short name of a row, on one line. */
static void change_svg_put_name(struct tv_out *out, const void *of,
                                const struct tv_flame_frame *frame)
{
    const struct tv_change_flame *graph = of;
    const struct tv_run_table *table = graph->comparison->table;
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_run_row_short_name(&name, table, &table->rows[frame->frame]);
    tv_names_line(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

/* ---- Figures ---- */

/* Write a change with its interval and p, as far as they are known. */
static void change_svg_put_test(struct tv_out *out, const struct tv_relative_change *change,
                                double p)
{
    tv_compare_put_change(out, change->change);
    if (isfinite(change->low) && isfinite(change->high)) {
        tv_out_text(out, ", 95 % interval ");
        tv_compare_put_interval(out, change);
    }
    if (isnan(p))
        return;
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_compare_put_p(&text, p);
    tv_out_text(out, p < 0.0001 ? ", p " : ", p = ");
    tv_out_xml(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

/* Write a figure of both sides. The unit can be a text of the file. */
static void change_svg_put_sides(struct tv_out *out, const struct tv_comparison *comparison,
                                 enum tv_run_figure figure, double base, double fresh)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_compare_put_figure(&text, comparison, figure, base);
    tv_out_text(&text, " -> ");
    tv_compare_put_figure(&text, comparison, figure, fresh);
    tv_out_xml(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

/* Write the totals of both sides and their change. */
static void change_svg_put_total(struct tv_out *out, const struct tv_comparison *comparison)
{
    struct tv_relative_change change = tv_comparison_total_change(comparison);
    tv_out_text(out, "total ");
    change_svg_put_sides(out, comparison, TV_FIGURE_EXCL, comparison->base_total,
                         comparison->new_total);
    tv_out_text(out, " (");
    change_svg_put_test(out, &change,
                        comparison->can_test ? tv_change_p(&comparison->total, TV_CHANGE_ANY)
                                             : (double)NAN);
    tv_out_char(out, ')');
}

/* Write why a frame has no colour, or what its mark means. */
static void change_svg_put_reason(struct tv_out *out, const struct tv_comparison *comparison,
                                  const struct tv_compared_row *row)
{
    const struct tv_run_row *named = &comparison->table->rows[row->row];
    enum tv_change_verdict verdict = tv_comparison_verdict(comparison, row);
    if (verdict == TV_VERDICT_APPEARED)
        tv_out_text(out, "\nonly in new runs");
    else if (verdict == TV_VERDICT_VANISHED)
        tv_out_text(out, "\nonly in base runs");
    else if (!named->in_base || !named->in_new)
        tv_out_format(out, "\nnot sure: only in some of the %s runs",
                      named->in_base ? "base" : "new");
    else if (!row->tested)
        tv_out_text(out, "\nnot tested: too small, or not in all runs");
    else if (verdict == TV_VERDICT_UNSURE && comparison->can_test)
        tv_out_text(out, "\nnot sure");
}

/* Write the title of a frame: its figure, its inclusive figure, its calls, and
 * why it has no colour. */
static void change_svg_put_figures(struct tv_out *out, const void *of,
                                   const struct tv_flame_frame *frame)
{
    static const char *const words[] = {"self", "with callees", "calls", "mean"};
    const struct tv_change_flame *graph = of;
    const struct tv_comparison *comparison = graph->comparison;
    const struct tv_compared_row *row = change_svg_row(graph, frame);
    assert(comparison->figure < TV_COUNT(words)); /* paths have no lengths of calls */
    if (frame->frame == TV_NONE)
        change_svg_put_total(out, comparison);
    if (!row)
        return;
    const struct tv_run_row *named = &comparison->table->rows[row->row];
    struct tv_relative_change change = tv_comparison_change(comparison, row);
    tv_out_format(out, "%s ", words[comparison->figure]);
    change_svg_put_sides(out, comparison, comparison->figure, row->base, row->new);
    if (named->in_base && named->in_new) {
        tv_out_text(out, " (");
        change_svg_put_test(out, &change,
                            row->tested && comparison->can_test ? row->p : (double)NAN);
        tv_out_char(out, ')');
    }
    if (comparison->figure != TV_FIGURE_INCL) {
        tv_out_format(out, "\n%s ", words[TV_FIGURE_INCL]);
        change_svg_put_sides(out, comparison, TV_FIGURE_INCL,
                             tv_comparison_median(comparison, named, TV_RUN_BASE, TV_FIGURE_INCL),
                             tv_comparison_median(comparison, named, TV_RUN_NEW, TV_FIGURE_INCL));
    }
    if (row->base_calls != row->new_calls && comparison->figure != TV_FIGURE_CALLS) {
        tv_out_format(out, ", %s ", comparison->weighs ? "samples" : words[TV_FIGURE_CALLS]);
        change_svg_put_sides(out, comparison, TV_FIGURE_CALLS, (double)row->base_calls,
                             (double)row->new_calls);
    }
    change_svg_put_reason(out, comparison, row);
}

/* ---- Looks ---- */

/* Return the lightness of a relative change. */
static int change_svg_lightness(double change)
{
    double size = fabs(log2(1 + change)) / FULL_CHANGE;
    return LIGHTEST - (int)((LIGHTEST - DARKEST) * (size < 1 ? size : 1) + 0.5);
}

/* Write the attributes of a frame's rectangle. */
static void change_svg_put_look(struct tv_out *out, const void *of,
                                const struct tv_flame_frame *frame)
{
    const struct tv_change_flame *graph = of;
    const struct tv_compared_row *row = change_svg_row(graph, frame);
    enum tv_change_verdict verdict =
        row ? tv_comparison_verdict(graph->comparison, row) : TV_VERDICT_UNSURE;
    switch (verdict) {
    case TV_VERDICT_MORE:
    case TV_VERDICT_LESS:
        tv_out_format(out, " fill=\"hsl(%d,85%%,%d%%)\"",
                      verdict == TV_VERDICT_MORE ? HUE_MORE : HUE_LESS,
                      change_svg_lightness(tv_comparison_change(graph->comparison, row).change));
        break;
    case TV_VERDICT_APPEARED:
        tv_out_format(out, " fill=\"hsl(%d,85%%,%d%%)\" stroke=\"#8c1206\" stroke-width=\"1.5\"",
                      HUE_MORE, DARKEST);
        break;
    case TV_VERDICT_VANISHED:
        tv_out_text(out, " fill=\"url(#vanished)\"");
        break;
    default:
        tv_out_text(out, " fill=\"hsl(220,6%,82%)\"");
    }
}

/* Return the sign before a frame's name, or "". */
static const char *change_svg_mark(const void *of, const struct tv_flame_frame *frame)
{
    const struct tv_change_flame *graph = of;
    const struct tv_run_row *row = &graph->comparison->table->rows[frame->frame];
    if (graph->place[frame->frame] == TV_NONE)
        return "";
    return !row->in_base ? "+" : !row->in_new ? "-" : "";
}

/* ---- The heading ---- */

/* Write what the colours mean, in words that suit times or weights. */
static void change_svg_put_legend(struct tv_out *out, const struct tv_comparison *comparison)
{
    static const char *const times[] = {"own time", "time with callees", "calls", "time per call"};
    static const char *const weights[] = {"own weight", "weight with callees", "samples",
                                          "weight per sample"};
    tv_out_format(out,
                  "Colour: change of %s. <tspan style=\"fill:hsl(%d,85%%,%d%%)\">&#9632;</tspan> "
                  "more, <tspan style=\"fill:hsl(%d,85%%,%d%%)\">&#9632;</tspan> less, "
                  "<tspan style=\"fill:hsl(220,6%%,70%%)\">&#9632;</tspan> grey: ",
                  (comparison->weighs ? weights : times)[comparison->figure], HUE_MORE, DARKEST,
                  HUE_LESS, DARKEST);
    if (comparison->can_test)
        tv_out_format(out, "not sure (p &#8805; %g, too small, or not in all runs)", TV_VERDICT_P);
    else
        tv_out_text(out, "equal or too small");
    tv_out_text(out, "; + (border): only in new runs, - (hatched): only in base runs");
}

/* Write a line of the heading: the runs and the total, the legend, or what the
 * test promises. */
static void change_svg_put_line(struct tv_out *out, const void *of, unsigned line)
{
    const struct tv_change_flame *graph = of;
    const struct tv_comparison *comparison = graph->comparison;
    if (line == 0) {
        struct tv_out kind;
        tv_out_init_memory(&kind);
        tv_compare_put_kind(&kind, comparison);
        tv_out_format(out, "%u base and %u new %s, ", comparison->base_runs, comparison->new_runs,
                      tv_plural(comparison->new_runs, "run", "runs"));
        tv_out_xml(out, (struct tv_bytes){kind.buffer, kind.length});
        tv_out_release(&kind);
        tv_out_text(out, "; ");
        change_svg_put_total(out, comparison);
    } else if (line == 1) {
        change_svg_put_legend(out, comparison);
    } else {
        tv_out_xml(out, tv_bytes_of(tv_compare_promise(comparison)));
        if (graph->flame->left_out > 0) {
            tv_out_text(out, "; ");
            tv_names_percent(out, graph->flame->left_out, graph->flame->total);
            tv_out_text(out, "% in frames too narrow to be drawn");
        }
    }
}

void tv_change_svg_write(struct tv_out *out, const struct tv_change_flame *graph, const char *title,
                         bool embedded)
{
    struct tv_flame_svg_source source = {
        .flame = graph->flame,
        .of = graph,
        .put_name = change_svg_put_name,
        .put_figures = change_svg_put_figures,
        .put_look = change_svg_put_look,
        .mark = change_svg_mark,
        .put_line = change_svg_put_line,
        .lines = 3,
        .definitions =
            "<pattern id=\"vanished\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" "
            "fill=\"hsl(212,85%,82%)\"/><rect width=\"2\" height=\"6\" "
            "fill=\"hsl(212,70%,62%)\"/></pattern>",
    };
    struct tv_flame_svg_options options = {
        .title = title,
        .count_name = "us",
        .unit_ns = 1000,
        .colors = TV_COLORS_GREY,
        .embedded = embedded,
    };
    tv_flame_svg_write(out, &source, &options);
}
