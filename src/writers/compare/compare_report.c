/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_report.c - a comparison as text and CSV, and the parts that all formats share.
 *
 *     heading   how many runs, what is compared, and how far p can be trusted (tv_compare_promise)
 *     total     of all threads, from the figures as they were recorded
 *     rows      the comparison's rows in its order; what is common to all rows is taken off
 *     rules     the verdict of each --fail-if, with the rows that broke it
 *
 * Values are doubles: means of runs in nanoseconds, in the unit of the samples, or in calls.  A
 * change is a share of the base; it is infinite for a new row, and not a number where nothing can
 * be said.
 */
#include "writers/compare/compare_report.h"

#include <assert.h>
#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "writers/compare/change_svg.h"
#include "writers/text/text_table.h"

/* Rows that a verdict lists. */
#define MAX_VERDICT_ROWS 20u

/* Suggestions of renamed methods in a text. */
#define RENAME_LINES 10u

/* Rows to look ahead when prefetching: rows of the table are in another order. */
#define AHEAD 8u

/* The change that --plan tells the number of runs for, in the heading of its column as well. */
#define PLANNED_CHANGE 0.05

/* ---- Figures ---- */

/* Append a number as "%.*f" does, without printf where the last digit is certain: there can be
 * millions of rows, and their figures are most of the time that printing takes. */
static void compare_put_decimals(struct tv_out *out, double number, int decimals)
{
    double scale = decimals == 3 ? 1000 : 10, scaled = number * scale;
    double rest = scaled - floor(scaled);
    assert(decimals == 3 || decimals == 1);
    if (scaled >= 0 && scaled < 1e9 && fabs(rest - 0.5) > 1e-4)
        tv_out_time(out, (tv_ns)floor(scaled + 0.5), (tv_ns)scale, decimals);
    else
        tv_out_format(out, "%.*f", decimals, number);
}

void tv_compare_put_number(struct tv_out *out, double value)
{
    assert(isfinite(value));
    tv_out_format(out, "%.9g", value);
}

/* Choose the scale of the weights of samples: one for all rows. */
static void compare_choose_scale(const struct tv_comparison *comparison,
                                 struct tv_value_scale *scale)
{
    double base = fabs(comparison->base_total), fresh = fabs(comparison->new_total);
    double largest = base > fresh ? base : fresh;
    tv_value_scale_of_unit(scale, tv_run_text(comparison->table, comparison->unit),
                           largest < 9e18 ? (int64_t)largest : INT64_MAX);
}

void tv_compare_put_bare(struct tv_out *out, const struct tv_comparison *comparison,
                         enum tv_run_figure figure, double value)
{
    if (figure == TV_FIGURE_CALLS) {
        tv_out_format(out, "%.0f", value);
    } else if (comparison->weighs) {
        struct tv_value_scale scale;
        compare_choose_scale(comparison, &scale);
        tv_value_scale_write(out, &scale, fabs(value) < 9e18 ? llround(value) : INT64_MAX);
    } else {
        compare_put_decimals(out, value / 1e6, 3);
    }
}

void tv_compare_put_figure(struct tv_out *out, const struct tv_comparison *comparison,
                           enum tv_run_figure figure, double value)
{
    tv_compare_put_bare(out, comparison, figure, value);
    if (figure == TV_FIGURE_CALLS)
        return;
    struct tv_value_scale scale = {.unit = {"ms", 1000000, 3}};
    if (comparison->weighs)
        compare_choose_scale(comparison, &scale);
    tv_out_format(out, "%s%s", *scale.unit.name ? " " : "", scale.unit.name);
}

/* Tell how times are shown, unless it is as they were recorded. */
static void compare_put_scale(struct tv_out *out, const struct tv_comparison *comparison)
{
    bool scaled = false;
    if (comparison->scale == TV_SCALE_TOTAL && comparison->base_total <= 0) {
        tv_out_text(out, ", not scaled: the base has no time");
    } else if (comparison->scale == TV_SCALE_TOTAL) {
        tv_out_text(out, ", as if all totals were ");
        tv_compare_put_figure(out, comparison, TV_FIGURE_EXCL, comparison->base_total);
    } else if (comparison->scale == TV_SCALE_COMMON) {
        for (uint32_t run = 0; run < comparison->changes.runs; run++)
            scaled = scaled || comparison->changes.factor[run] != 0;
        tv_out_text(out, scaled ? " without the common factor" : ", no common factor was found");
    }
}

/* Write what samples count, and their unit. */
static void compare_put_value(struct tv_out *out, const struct tv_comparison *comparison)
{
    struct tv_value_scale scale;
    compare_choose_scale(comparison, &scale);
    struct tv_bytes value = tv_run_text(comparison->table, comparison->value);
    tv_out_text(out, "samples");
    if (value.length > 0 && !tv_bytes_equal(value, TV_BYTES("samples"))) {
        tv_out_text(out, ": ");
        tv_names_line(out, value);
    }
    if (*scale.unit.name)
        tv_out_format(out, " in %s", scale.unit.name);
    if (comparison->table->timed)
        tv_out_text(out, ", numbers times the interval of their run, as the intervals differ");
}

void tv_compare_put_kind(struct tv_out *out, const struct tv_comparison *comparison)
{
    if (comparison->weighs)
        compare_put_value(out, comparison);
    else
        tv_out_format(out, "%s time", comparison->cpu ? "CPU" : "wall");
    compare_put_scale(out, comparison);
}

void tv_compare_put_percent(struct tv_out *out, double change)
{
    bool nothing = fabs(change) < 0.0005 - 1e-12;
    if (!nothing)
        tv_out_char(out, change < 0 ? '-' : '+');
    compare_put_decimals(out, nothing ? 0 : fabs(change) * 100, 1);
}

void tv_compare_put_interval(struct tv_out *out, const struct tv_relative_change *change)
{
    tv_compare_put_percent(out, change->low);
    tv_out_text(out, "..");
    tv_compare_put_percent(out, change->high);
    tv_out_text(out, " %");
}

void tv_compare_put_change(struct tv_out *out, double change)
{
    if (isinf(change)) {
        tv_out_text(out, "new");
    } else if (isnan(change)) {
        tv_out_text(out, "-");
    } else {
        tv_compare_put_percent(out, change);
        tv_out_text(out, " %");
    }
}

void tv_compare_put_p(struct tv_out *out, double p)
{
    if (p < 0.0001)
        tv_out_text(out, "<0.0001");
    else
        tv_out_format(out, "%.*f", p < 0.01 ? 4 : 3, p);
}

const char *tv_compare_promise(const struct tv_comparison *comparison)
{
    if (comparison->mixed)
        return "the runs have different formats, which do not count the same things: p is not "
               "reliable, record both sides alike";
    if (comparison->obfuscated)
        return "names are obfuscated and differ from build to build: give --mapping, or "
               "--base-mapping and --new-mapping";
    if (!comparison->can_test)
        return "one run on a side: figures only, nothing says whether a change is noise";
    if (comparison->apart)
        return "all runs of one side were recorded before the other side's: p is not reliable, "
               "record both sides in turn";
    if (comparison->moved)
        return "the sides were recorded on different machines, or before and after a restart: p is "
               "not reliable, record both sides in turn";
    if (!comparison->promises)
        return "with fewer than 5 + 5 runs (3 + 3 with 10 baseline runs), p is too optimistic";
    return "p < 0.01 in any row happens in at most 1 of 100 comparisons of equal programs";
}

const char *tv_compare_mark(const struct tv_comparison *comparison,
                            const struct tv_compared_row *row)
{
    const struct tv_run_row *named = &comparison->table->rows[row->row];
    if (!named->in_base)
        return "+";
    if (!named->in_new)
        return row->inlined ? "i" : "-";
    if (named->match == TV_MATCH_RENAMED)
        return "=";
    if (named->match == TV_MATCH_SIMILAR)
        return "~";
    return row->calls_differ ? "!" : row->tiny ? "t" : "";
}

void tv_compare_put_name(struct tv_out *out, const struct tv_comparison *comparison, uint32_t row)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_run_row_name(&name, comparison->table, &comparison->table->rows[row]);
    tv_names_line(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

/* Tell whether no row has a name with a control character: then the names of paths, each of many
 * methods, need not be searched for them. */
static bool compare_has_plain_names(const struct tv_run_table *table)
{
    uint32_t count = tv_interner_count(table->strings);
    bool *used = tv_alloc(count, sizeof *used), plain = true;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct tv_run_row *row = &table->rows[i];
        used[row->class_name] = used[row->name] = used[row->signature] = true;
    }
    for (uint32_t i = 0; i < count && plain; i++)
        plain = !used[i] || tv_names_is_line(tv_run_text(table, i));
    tv_free(used);
    return plain;
}

bool tv_compare_may_be_noise(const struct tv_compare_report *report, uint32_t number)
{
    const struct tv_gate_rule *rule = &report->rules[number];
    return !report->results[number].comparison->can_test && rule->change.is_change &&
           rule->figure != TV_GATE_CALLS;
}

void tv_compare_put_hit(struct tv_out *out, const struct tv_compare_report *report, uint32_t number,
                        const struct tv_gate_hit *hit)
{
    const struct tv_gate_rule *rule = &report->rules[number];
    const struct tv_comparison *comparison = report->results[number].comparison;
    enum tv_run_figure figure =
        rule->figure <= TV_GATE_MAX ? (enum tv_run_figure)rule->figure : TV_FIGURE_EXCL;
    if (hit->row != TV_NONE)
        tv_compare_put_name(out, comparison, hit->row);
    else if (rule->sum)
        tv_out_format(out, "sum of %.*s", (int)rule->pattern.length,
                      (const char *)rule->pattern.data);
    else
        tv_out_text(out, "total");
    tv_out_text(out, ": ");
    tv_compare_put_figure(out, comparison, figure, hit->base);
    tv_out_text(out, " -> ");
    tv_compare_put_figure(out, comparison, figure, hit->new);
    tv_out_text(out, " (");
    tv_compare_put_change(out, hit->change);
    if (rule->p > 0) {
        tv_out_text(out, ", p ");
        tv_out_text(out, hit->p < 0.0001 ? "" : "= ");
        tv_compare_put_p(out, hit->p);
    } else if (tv_compare_may_be_noise(report, number)) {
        tv_out_text(out, ", one run on a side: may be noise");
    }
    tv_out_char(out, ')');
}

uint32_t tv_compare_row_count(const struct tv_compare_report *report, uint64_t limit)
{
    uint32_t count = report->comparison->count;
    return limit > 0 && limit < count ? (uint32_t)limit : count;
}

/* ---- Text ---- */

void tv_compare_put_heading(struct tv_out *out, const struct tv_compare_report *report)
{
    const struct tv_comparison *comparison = report->comparison;
    double least = 0, most = 0;
    tv_out_format(out, "%u base and %u new runs", comparison->base_runs, comparison->new_runs);
    if (comparison->history_runs > 0)
        tv_out_format(out, ", %u older runs of the base", comparison->history_runs);
    tv_out_text(out, "; ");
    tv_compare_put_kind(out, comparison);
    tv_out_format(out, "%s\n",
                  comparison->wall_noted ? " (not all runs have CPU times, which vary less)" : "");
    for (uint32_t run = 0; run < comparison->changes.runs; run++) {
        double factor = comparison->changes.factor[run];
        least = factor < least ? factor : least;
        most = factor > most ? factor : most;
    }
    if (most > least) {
        tv_out_text(out, "common to all rows and taken off: ");
        tv_compare_put_change(out, exp(least) - 1);
        tv_out_text(out, " to ");
        tv_compare_put_change(out, exp(most) - 1);
        tv_out_text(out, " by run\n");
    }
    if (tv_run_table_suggests_groups(comparison->table))
        tv_out_text(out, "most names differ by numbers alone: --names grouped makes one row of "
                         "those\n");
    tv_compare_put_sampled(out, comparison, "", "\n");
    tv_out_format(out, "%s\n\n", tv_compare_promise(comparison));
}

static void compare_text_columns(struct tv_text_table *table,
                                 const struct tv_compare_report *report)
{
    /* The heading has no unit for samples, because each cell has its own. */
    bool bare = report->comparison->figure == TV_FIGURE_CALLS || report->comparison->weighs;
    tv_text_table_add(table, &(struct tv_text_column){NULL, "", 2, .rank = 0});
    tv_text_table_add(table,
                      &(struct tv_text_column){"base", bare ? "Base" : "Base ms", 14, .rank = 2});
    tv_text_table_add(table,
                      &(struct tv_text_column){"new", bare ? "New" : "New ms", 14, .rank = 2});
    tv_text_table_add(table, &(struct tv_text_column){"change", "Change", 11, .rank = 0});
    if (report->plan_runs > 0) {
        tv_text_table_add(table, &(struct tv_text_column){"detectable", "Can show", 11, .rank = 0});
        tv_text_table_add(table, &(struct tv_text_column){"runs", "Runs for 5 %", 13, .rank = 1});
        return;
    }
    tv_text_table_add(table, &(struct tv_text_column){"interval", "95 % interval", 20, .rank = 4});
    tv_text_table_add(table, &(struct tv_text_column){"p", "p", 9, .rank = 0});
    if (!tv_compare_has_counts(report->comparison))
        return;
    const char *calls = report->comparison->weighs ? "Samples" : "Calls";
    tv_text_table_add(table, &(struct tv_text_column){"calls", calls, 22, .rank = 5});
}

static void compare_text_test(struct tv_text_table *table, const struct tv_compare_report *report,
                              const struct tv_relative_change *change, double p, bool tested)
{
    struct tv_out *cell = tv_text_table_cell(table);
    if (isfinite(change->low) && isfinite(change->high))
        tv_compare_put_interval(cell, change);
    else
        tv_out_char(cell, '-');
    cell = tv_text_table_cell(table);
    if (tested && report->comparison->can_test)
        tv_compare_put_p(cell, p);
    else
        tv_out_char(cell, '-');
}

void tv_compare_put_row_change(struct tv_out *out, const struct tv_compared_row *row, double change)
{
    if (row->new == 0 && row->base > 0)
        tv_out_text(out, "gone");
    else
        tv_compare_put_change(out, change);
}

/* Tell the change that so many runs can show, and the number of runs that show PLANNED_CHANGE. */
static void compare_text_plan(struct tv_text_table *table, const struct tv_compare_report *report,
                              const struct tv_compared_row *row)
{
    const struct tv_changes *changes = &report->comparison->changes;
    uint32_t tested = report->comparison->tested;
    struct tv_out *cell = tv_text_table_cell(table);
    double change = (double)INFINITY;
    if (row->tested)
        change =
            tv_change_detectable(changes, row->change, tested, report->plan_runs, report->alpha);
    if (isfinite(change))
        tv_out_format(cell, "%.1f %%", change * 100);
    else
        tv_out_char(cell, '-');
    cell = tv_text_table_cell(table);
    uint32_t runs = 0;
    if (row->tested)
        runs = tv_change_runs_needed(changes, row->change, tested, PLANNED_CHANGE, report->alpha);
    if (runs > 0)
        tv_out_u64(cell, runs);
    else
        tv_out_char(cell, '-');
}

static void compare_text_row(struct tv_text_table *table, const struct tv_compare_report *report,
                             const struct tv_compared_row *row, bool plain)
{
    const struct tv_comparison *comparison = report->comparison;
    struct tv_relative_change change = tv_comparison_change(comparison, row);
    tv_out_text(tv_text_table_cell(table), tv_compare_mark(comparison, row));
    tv_compare_put_bare(tv_text_table_cell(table), comparison, comparison->figure, row->base);
    tv_compare_put_bare(tv_text_table_cell(table), comparison, comparison->figure, row->new);
    tv_compare_put_row_change(tv_text_table_cell(table), row, change.change);
    if (report->plan_runs > 0) {
        compare_text_plan(table, report, row);
    } else {
        compare_text_test(table, report, &change, row->p, row->tested);
        if (tv_compare_has_counts(comparison))
            tv_compare_put_counts(tv_text_table_cell(table), row);
    }
    struct tv_out *name = tv_text_table_name(table, 0);
    if (plain)
        tv_run_row_name(name, comparison->table, &comparison->table->rows[row->row]);
    else
        tv_compare_put_name(name, comparison, row->row);
    tv_text_table_end_row(table);
}

/* The row of the total, which no cleaning has touched. */
static void compare_text_total(struct tv_text_table *table, const struct tv_compare_report *report)
{
    const struct tv_comparison *comparison = report->comparison;
    struct tv_relative_change change = tv_comparison_total_change(comparison);
    tv_text_table_cell(table);
    tv_compare_put_bare(tv_text_table_cell(table), comparison, TV_FIGURE_EXCL,
                        comparison->base_total);
    tv_compare_put_bare(tv_text_table_cell(table), comparison, TV_FIGURE_EXCL,
                        comparison->new_total);
    tv_compare_put_change(tv_text_table_cell(table), change.change);
    if (report->plan_runs > 0) {
        tv_text_table_cell(table);
        tv_text_table_cell(table);
    } else {
        compare_text_test(table, report, &change, tv_change_p(&comparison->total, TV_CHANGE_ANY),
                          comparison->can_test);
        if (tv_compare_has_counts(comparison))
            tv_text_table_cell(table);
    }
    tv_out_text(tv_text_table_name(table, 0), "(total of all threads)");
    tv_text_table_end_row(table);
}

void tv_compare_put_rule(struct tv_out *out, const struct tv_compare_report *report,
                         uint32_t number)
{
    const struct tv_gate_rule *rule = &report->rules[number];
    const struct tv_gate_result *result = &report->results[number];
    tv_out_format(out, "%s: %.*s",
                  result->reason  ? "cannot be judged"
                  : result->fired ? "FIRED"
                                  : "ok",
                  (int)rule->text.length, (const char *)rule->text.data);
    if (result->reason)
        tv_out_format(out, " (%s)", result->reason);
    else if (!result->fired && tv_compare_may_be_noise(report, number))
        tv_out_text(out, " (one run on a side: noise may hide a change)");
    if (!result->reason && result->tiny > 0)
        tv_out_format(out, " (without %u %s of tiny calls)", result->tiny,
                      tv_plural(result->tiny, "row", "rows"));
    tv_out_char(out, '\n');
    for (uint32_t i = 0; i < result->hit_count && i < MAX_VERDICT_ROWS; i++) {
        tv_out_text(out, "    ");
        tv_compare_put_hit(out, report, number, &result->hits[i]);
        tv_out_char(out, '\n');
    }
    if (result->hit_count > MAX_VERDICT_ROWS)
        tv_out_format(out, "    and %u more\n", result->hit_count - MAX_VERDICT_ROWS);
}

const char *tv_compare_rows_title(const struct tv_comparison *comparison)
{
    static const char *const titles[] = {"Method", "Path", "Class", "Package", "Thread"};
    return titles[comparison->table->by];
}

/* Tell a reader at a terminal how many rows --limit left out. */
static void compare_text_rest(struct tv_out *out, const struct tv_comparison *comparison,
                              uint32_t rows)
{
    static const char *const names[][2] = {{"method", "methods"},
                                           {"path", "paths"},
                                           {"class", "classes"},
                                           {"package", "packages"},
                                           {"thread", "threads"}};
    enum tv_rows_by by = comparison->table->by;
    assert(by < TV_COUNT(names));
    tv_text_table_write_rest_of(out, rows, names[by][0], names[by][1]);
}

/* Write methods that may have been renamed, as lines for --rename. */
static void compare_text_renames(struct tv_out *out, const struct tv_comparison *comparison)
{
    size_t count;
    struct tv_rename *renames = tv_renames_suggest(comparison, &count);
    if (count > 0)
        tv_out_text(out, "\nRenamed? If so, give these lines with --rename FILE:\n");
    for (size_t i = 0; i < count && i < RENAME_LINES; i++) {
        tv_out_text(out, "    ");
        tv_compare_put_name(out, comparison, renames[i].old);
        tv_out_text(out, " = ");
        tv_compare_put_name(out, comparison, renames[i].fresh);
        tv_out_char(out, '\n');
    }
    if (count > RENAME_LINES)
        tv_out_format(out, "    and %zu more\n", count - RENAME_LINES);
    tv_free(renames);
}

/* Explain the mark of tiny calls if there is one. */
static void compare_text_tiny(struct tv_out *out, const struct tv_comparison *comparison)
{
    uint32_t tiny = 0;
    for (uint32_t i = 0; i < comparison->count; i++)
        tiny += comparison->rows[i].tiny;
    if (tiny > 0)
        tv_out_format(out,
                      "\n%u %s tiny calls (mark t, unless another one applies): recording makes "
                      "up half or more of the time, so only calls can be compared\n",
                      tiny, tv_plural(tiny, "row has", "rows have"));
}

static void compare_write_text(struct tv_out *out, const struct tv_compare_report *report)
{
    struct tv_text_table table;
    uint32_t count = tv_compare_row_count(report, report->limit);
    tv_compare_put_heading(out, report);
    tv_text_table_begin(&table, out, tv_compare_rows_title(report->comparison));
    compare_text_columns(&table, report);
    compare_text_total(&table, report);
    const struct tv_run_table *runs = report->comparison->table;
    const struct tv_compared_row *rows = report->comparison->rows;
    bool plain = compare_has_plain_names(runs);
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            const struct tv_run_row *soon = &runs->rows[rows[i + AHEAD / 2].row];
            TV_PREFETCH(&runs->rows[soon->parent > 0 ? soon->parent - 1 : 0]);
            TV_PREFETCH(&runs->rows[rows[i + AHEAD].row]);
        }
        compare_text_row(&table, report, &rows[i], plain);
    }
    tv_text_table_end(&table);
    compare_text_rest(out, report->comparison, report->comparison->count - count);
    if (tv_comparison_is_single(report->comparison))
        tv_compare_put_calls_text(out, report);
    compare_text_tiny(out, report->comparison);
    compare_text_renames(out, report->comparison);
    if (report->rule_count > 0)
        tv_out_char(out, '\n');
    for (uint32_t i = 0; i < report->rule_count; i++)
        tv_compare_put_rule(out, report, i);
}

/* ---- CSV ---- */

static void compare_write_csv(struct tv_out *out, const struct tv_compare_report *report)
{
    const struct tv_comparison *comparison = report->comparison;
    uint32_t count = tv_compare_row_count(report, report->limit);
    tv_out_text(out, "name,base,new,change,low,high,p_raw,p,base_calls,new_calls,mark\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_compared_row *row = &comparison->rows[i];
        struct tv_relative_change change = tv_comparison_change(comparison, row);
        struct tv_out name;
        tv_out_init_memory(&name);
        tv_compare_put_name(&name, comparison, row->row);
        tv_out_csv(out, (struct tv_bytes){name.buffer, name.length});
        tv_out_release(&name);
        tv_out_format(out, ",%.0f,%.0f,", row->base, row->new);
        const double numbers[] = {change.change, change.low, change.high};
        for (size_t k = 0; k < TV_COUNT(numbers); k++) {
            if (isfinite(numbers[k]))
                tv_out_format(out, "%.6g", numbers[k]);
            tv_out_char(out, ',');
        }
        if (row->tested && comparison->can_test)
            tv_out_format(out, "%.6g,%.6g", row->p_raw, row->p);
        else
            tv_out_char(out, ',');
        tv_out_format(out, ",%llu,%llu,%s\n", (unsigned long long)row->base_calls,
                      (unsigned long long)row->new_calls, tv_compare_mark(comparison, row));
    }
}

/* ---- All formats ---- */

static void compare_write_svg(struct tv_out *out, const struct tv_compare_report *report)
{
    assert(report->graph);
    tv_change_svg_write(out, report->graph, report->title, false);
}

void tv_compare_report_write(struct tv_out *out, const struct tv_compare_report *report,
                             enum tv_compare_format format)
{
    static void (*const writers[])(struct tv_out * out, const struct tv_compare_report *report) = {
        [TV_COMPARE_TEXT] = compare_write_text,
        [TV_COMPARE_CSV] = compare_write_csv,
        [TV_COMPARE_JSON] = tv_compare_write_json,
        [TV_COMPARE_MARKDOWN] = tv_compare_write_markdown,
        [TV_COMPARE_JUNIT] = tv_compare_write_junit,
        [TV_COMPARE_SARIF] = tv_compare_write_sarif,
        [TV_COMPARE_GITHUB] = tv_compare_write_github,
        [TV_COMPARE_GITLAB] = tv_compare_write_gitlab,
        [TV_COMPARE_SVG] = compare_write_svg,
        [TV_COMPARE_HTML] = tv_compare_write_html,
    };
    assert(format < TV_COUNT(writers));
    writers[format](out, report);
}
