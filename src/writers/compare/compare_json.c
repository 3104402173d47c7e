/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_json.c - a comparison as JSON, "traceview.diff/1" (traceview(1) has its keys).
 *
 *     sides     the runs of each side, with their totals and what was common to their rows
 *     total     of all threads, from the figures as they were recorded
 *     graph     of a flame graph alone; its rows are frames, depth first
 *     rows      the comparison's rows in its order, with the value of each run
 *     renamed   pairs of rows that may be one method
 *     rules     the verdict of each --fail-if, with the rows that broke it
 *
 * Keys are only ever added, because scripts read them.  A number that is not finite is null: the
 * change of a new row, and p where one run on a side says nothing.
 */
#include "writers/compare/compare_report.h"

#include <assert.h>
#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "writers/text/names.h"

/* Suggestions of renamed methods. */
#define RENAMES 100u

static const char *compare_figure_name(enum tv_run_figure figure)
{
    static const char *const names[] = {"excl", "incl", "calls", "mean", "p50",
                                        "p90",  "p95",  "p99",   "max"};
    assert(figure < TV_COUNT(names));
    return names[figure];
}

static void compare_json_number(struct tv_out *out, const char *key, double value)
{
    tv_json_put_key(out, ", ", key);
    if (isfinite(value))
        tv_compare_put_number(out, value);
    else
        tv_out_text(out, "null");
}

static void compare_json_side(struct tv_out *out, const struct tv_comparison *comparison,
                              enum tv_run_side side)
{
    const struct tv_run_table *table = comparison->table;
    const char *before = "";
    uint32_t number = 0;
    tv_out_char(out, '[');
    for (uint32_t run = 0; run < table->run_count; run++) {
        const struct tv_run *r = &table->runs[run];
        double factor =
            r->side == TV_RUN_HISTORY ? (double)NAN : comparison->changes.factor[number++];
        if (r->side != side)
            continue;
        tv_out_format(out, "%s\n      {", before);
        tv_json_put_text(out, "", "file", tv_bytes_of(r->name));
        tv_json_put_some_i64(out, ", ", "recorded_us", r->recorded_us != 0, r->recorded_us);
        if (r->round > 0)
            tv_json_put_u64(out, ", ", "round", r->round);
        tv_json_put_key(out, ", ", "total_ns");
        tv_out_format(out, "%.0f", tv_comparison_run_total(comparison, run));
        if (isfinite(factor))
            compare_json_number(out, "factor", exp(factor));
        tv_out_char(out, '}');
        before = ",";
    }
    tv_out_text(out, "\n    ]");
}

static void compare_json_values(struct tv_out *out, const struct tv_comparison *comparison,
                                const struct tv_run_row *row, enum tv_run_side side,
                                const char *key)
{
    const char *before = "";
    tv_json_put_key(out, ", ", key);
    tv_out_char(out, '[');
    for (uint32_t run = 0; run < comparison->table->run_count; run++) {
        if (comparison->table->runs[run].side != side)
            continue;
        double value = tv_comparison_value(comparison, row, run, comparison->figure);
        tv_out_text(out, before);
        if (isfinite(value))
            tv_out_format(out, "%.0f", value);
        else
            tv_out_text(out, "null");
        before = ", ";
    }
    tv_out_char(out, ']');
}

/* Has a row, or a caller of a path, another name on the base side? */
static bool compare_has_base_name(const struct tv_run_table *table, const struct tv_run_row *row)
{
    while (row->match == TV_MATCH_SAME && row->parent > 0)
        row = &table->rows[row->parent - 1];
    return row->match != TV_MATCH_SAME;
}

/* Write the members of a row that are not of single runs; a frame of a graph has its own name as
 * key, without its callers. */
static void compare_json_figures(struct tv_out *out, const struct tv_comparison *comparison,
                                 const struct tv_compared_row *row, bool is_frame)
{
    const struct tv_run_row *named = &comparison->table->rows[row->row];
    struct tv_relative_change change = tv_comparison_change(comparison, row);
    struct tv_out name;
    tv_out_init_memory(&name);
    if (is_frame)
        tv_run_row_own_name(&name, comparison->table, named);
    else
        tv_run_row_name(&name, comparison->table, named);
    tv_json_put_text(out, "", "key", (struct tv_bytes){name.buffer, name.length});
    if (!is_frame && compare_has_base_name(comparison->table, named)) {
        name.length = 0;
        tv_run_row_base_name(&name, comparison->table, named);
        tv_json_put_text(out, ", ", "base_key", (struct tv_bytes){name.buffer, name.length});
    }
    tv_out_release(&name);
    tv_json_put_text(out, ", ", "match",
                     tv_bytes_of(named->match == TV_MATCH_SAME      ? "exact"
                                 : named->match == TV_MATCH_SIMILAR ? "similar"
                                                                    : "renamed"));
    tv_json_put_text(out, ", ", "side",
                     tv_bytes_of(!named->in_base  ? "new"
                                 : !named->in_new ? "base"
                                                  : "both"));
    if (row->inlined)
        tv_out_text(out, ", \"inlined\": true");
    compare_json_number(out, "base", row->base);
    compare_json_number(out, "new", row->new);
    compare_json_number(out, "effect", row->new - row->base);
    compare_json_number(out, "change", change.change);
    compare_json_number(out, "low", change.low);
    compare_json_number(out, "high", change.high);
    bool has_p = row->tested && comparison->can_test;
    compare_json_number(out, "p_raw", has_p ? row->p_raw : (double)NAN);
    compare_json_number(out, "p", has_p ? row->p : (double)NAN);
    compare_json_number(out, "share", row->share);
    tv_json_put_u64(out, ", ", "base_calls", row->base_calls);
    tv_json_put_u64(out, ", ", "new_calls", row->new_calls);
    tv_json_put_key(out, ", ", "calls_differ");
    tv_out_text(out, row->calls_differ ? "true" : "false");
    if (row->tiny)
        tv_out_text(out, ", \"tiny\": true");
}

static void compare_json_row(struct tv_out *out, const struct tv_comparison *comparison,
                             const struct tv_compared_row *row)
{
    const struct tv_run_row *named = &comparison->table->rows[row->row];
    compare_json_figures(out, comparison, row, false);
    compare_json_values(out, comparison, named, TV_RUN_BASE, "base_runs");
    compare_json_values(out, comparison, named, TV_RUN_NEW, "new_runs");
}

/* Write the first rows; with one run on each side they have the lengths of their calls. */
static void compare_json_rows(struct tv_out *out, const struct tv_compare_report *report,
                              uint32_t count)
{
    const struct tv_comparison *comparison = report->comparison;
    bool single = report->calls && tv_comparison_is_single(comparison);
    for (uint32_t i = 0; i < count; i++) {
        tv_out_text(out, i > 0 ? ",\n    {" : "\n    {");
        compare_json_row(out, comparison, &comparison->rows[i]);
        if (single && i < report->calls->count)
            tv_compare_put_calls_json(out, report, i);
        tv_out_char(out, '}');
    }
}

/* Write the frames of the differential flame graph, depth first, as rows.  A frame without a row
 * has no width: its name was replaced by that of the other side. */
static void compare_json_frames(struct tv_out *out, const struct tv_change_flame *graph)
{
    static const char *const verdicts[] = {"unsure", "more", "less", "appeared", "vanished"};
    const char *before = "";
    for (uint32_t i = 0; i < graph->flame->count; i++) {
        const struct tv_flame_frame *frame = &graph->flame->frames[i];
        if (graph->place[frame->frame] == TV_NONE)
            continue;
        const struct tv_compared_row *row = &graph->comparison->rows[graph->place[frame->frame]];
        tv_out_format(out, "%s\n    {", before);
        tv_json_put_i64(out, "", "start", frame->start);
        tv_json_put_i64(out, ", ", "width", frame->width);
        tv_json_put_u64(out, ", ", "depth", frame->depth);
        tv_json_put_text(out, ", ", "verdict",
                         tv_bytes_of(verdicts[tv_comparison_verdict(graph->comparison, row)]));
        tv_out_text(out, ", ");
        compare_json_figures(out, graph->comparison, row, true);
        tv_out_char(out, '}');
        before = ",";
    }
}

static void compare_json_graph(struct tv_out *out, const struct tv_flame *flame)
{
    tv_out_text(out, "  \"graph\": {");
    tv_json_put_i64(out, "", "total", flame->total);
    tv_json_put_i64(out, ", ", "left_out", flame->left_out);
    tv_out_text(out, "},\n");
}

/* Write a rule with its result; "fired" is null when it cannot be judged. */
static void compare_json_rule(struct tv_out *out, const struct tv_compare_report *report,
                              uint32_t number)
{
    const struct tv_gate_rule *rule = &report->rules[number];
    const struct tv_gate_result *result = &report->results[number];
    tv_json_put_text(out, "", "text", rule->text);
    if (rule->name.length > 0)
        tv_json_put_text(out, ", ", "name", rule->name);
    tv_json_put_key(out, ", ", "fired");
    tv_out_text(out, result->reason ? "null" : result->fired ? "true" : "false");
    if (result->reason)
        tv_json_put_text(out, ", ", "reason", tv_bytes_of(result->reason));
    tv_json_put_u64(out, ", ", "looked_at", result->looked_at);
    if (result->tiny > 0)
        tv_json_put_u64(out, ", ", "tiny", result->tiny);
    tv_json_put_key(out, ", ", "rows");
    tv_out_char(out, '[');
    for (uint32_t i = 0; i < result->hit_count; i++) {
        const struct tv_gate_hit *hit = &result->hits[i];
        struct tv_out name;
        tv_out_init_memory(&name);
        if (hit->row != TV_NONE)
            tv_run_row_name(&name, result->comparison->table,
                            &result->comparison->table->rows[hit->row]);
        else
            tv_out_text(&name, rule->sum ? "(sum)" : "(total)");
        tv_out_text(out, i > 0 ? ", {" : "{");
        tv_json_put_text(out, "", "key", (struct tv_bytes){name.buffer, name.length});
        compare_json_number(out, "base", hit->base);
        compare_json_number(out, "new", hit->new);
        compare_json_number(out, "change", hit->change);
        compare_json_number(out, "p", rule->p > 0 ? hit->p : (double)NAN);
        tv_out_char(out, '}');
        tv_out_release(&name);
    }
    tv_out_char(out, ']');
}

static void compare_json_total(struct tv_out *out, const struct tv_comparison *comparison)
{
    const struct tv_change *total = &comparison->total;
    struct tv_relative_change change = tv_comparison_total_change(comparison);
    bool tested = comparison->can_test;
    tv_out_text(out, "  \"total\": {");
    tv_json_put_key(out, "", "base");
    tv_out_format(out, "%.0f", comparison->base_total);
    compare_json_number(out, "new", comparison->new_total);
    compare_json_number(out, "change", change.change);
    compare_json_number(out, "low", change.low);
    compare_json_number(out, "high", change.high);
    compare_json_number(out, "p", tested ? tv_change_p(total, TV_CHANGE_ANY) : (double)NAN);
    tv_out_text(out, "},\n");
}

/* Write pairs of rows that may be one renamed method. */
static void compare_json_renames(struct tv_out *out, const struct tv_comparison *comparison)
{
    size_t count;
    struct tv_rename *renames = tv_renames_suggest(comparison, &count);
    tv_out_text(out, "\n  ],\n  \"renamed\": [");
    for (size_t i = 0; i < count && i < RENAMES; i++) {
        struct tv_out names[2];
        const uint32_t rows[2] = {renames[i].old, renames[i].fresh};
        tv_out_text(out, i > 0 ? ",\n    {" : "\n    {");
        for (size_t k = 0; k < 2; k++) {
            tv_out_init_memory(&names[k]);
            tv_run_row_name(&names[k], comparison->table, &comparison->table->rows[rows[k]]);
            tv_json_put_text(out, k ? ", " : "", k ? "new" : "old",
                             (struct tv_bytes){names[k].buffer, names[k].length});
            tv_out_release(&names[k]);
        }
        tv_json_put_text(out, ", ", "equal",
                         renames[i].by_callees ? TV_BYTES("callees") : TV_BYTES("signature"));
        tv_out_char(out, '}');
    }
    tv_free(renames);
}

void tv_compare_write_json(struct tv_out *out, const struct tv_compare_report *report)
{
    static const char *const by[] = {"method", "path", "class", "package", "thread"};
    static const char *const scales[] = {"none", "common", "total"};
    const struct tv_comparison *comparison = report->comparison;
    tv_out_text(out, "{\n  \"format\": \"traceview.diff/1\",\n ");
    tv_json_put_text(out, " ", "by", tv_bytes_of(by[comparison->table->by]));
    if (comparison->table->unfolded)
        tv_out_text(out, ", \"unfolded\": true");
    tv_json_put_text(out, ", ", "figure", tv_bytes_of(compare_figure_name(comparison->figure)));
    tv_json_put_text(out, ", ", "clock", tv_bytes_of(comparison->cpu ? "cpu" : "wall"));
    if (comparison->scale != TV_SCALE_NONE)
        tv_json_put_text(out, ", ", "scale", tv_bytes_of(scales[comparison->scale]));
    if (comparison->weighs) {
        tv_json_put_text(out, ", ", "value", tv_run_text(comparison->table, comparison->value));
        tv_json_put_text(out, ", ", "unit", tv_run_text(comparison->table, comparison->unit));
    }
    tv_json_put_key(out, ", ", "promise");
    tv_out_text(out, comparison->promises ? "true" : "false");
    if (tv_run_table_suggests_groups(comparison->table))
        tv_json_put_text(out, ", ", "suggestion", TV_BYTES("--names grouped"));
    tv_json_put_text(out, ", ", "note", tv_bytes_of(tv_compare_promise(comparison)));
    tv_out_text(out, ",\n  \"sides\": {\n    \"base\": ");
    compare_json_side(out, comparison, TV_RUN_BASE);
    tv_out_text(out, ",\n    \"new\": ");
    compare_json_side(out, comparison, TV_RUN_NEW);
    tv_out_text(out, ",\n    \"baseline\": ");
    compare_json_side(out, comparison, TV_RUN_HISTORY);
    tv_out_text(out, "\n  },\n");
    compare_json_total(out, comparison);
    uint32_t count = report->json_frames ? 0 : tv_compare_row_count(report, report->json_rows);
    if (report->json_frames)
        compare_json_graph(out, report->graph->flame);
    else if (report->json_rows > 0)
        tv_out_format(out, "  \"left_out\": %u,\n", comparison->count - count);
    tv_out_text(out, "  \"rows\": [");
    if (report->json_frames)
        compare_json_frames(out, report->graph);
    compare_json_rows(out, report, count);
    compare_json_renames(out, comparison);
    tv_out_text(out, "\n  ],\n  \"rules\": [");
    for (uint32_t i = 0; i < report->rule_count; i++) {
        tv_out_text(out, i > 0 ? ",\n    {" : "\n    {");
        compare_json_rule(out, report, i);
        tv_out_char(out, '}');
    }
    tv_out_text(out, "\n  ]\n}\n");
}
