/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_calls_text.c - the single calls of two traces as text and JSON (compare_report.h).
 *
 * With one run on each side nothing is known about how much runs differ, so rows have no p.  The
 * calls tell at least how certain the mean of a method's calls is within these two traces.
 */
#include <assert.h>
#include <math.h>

#include "writers/compare/compare_report.h"
#include "writers/text/text_table.h"

/* Maximum number of methods in a text. */
#define MAX_CALLS_LINES 20u

bool tv_compare_has_counts(const struct tv_comparison *comparison)
{
    const struct tv_run_table *table = comparison->table;
    bool sampled = false;
    for (uint32_t i = 0; i < table->run_count; i++)
        sampled |= table->runs[i].sampled && table->runs[i].side != TV_RUN_HISTORY;
    return comparison->weighs || !sampled;
}

void tv_compare_put_counts(struct tv_out *out, const struct tv_compared_row *row)
{
    tv_out_u64(out, row->base_calls);
    if (row->new_calls != row->base_calls)
        tv_out_format(out, " -> %llu", (unsigned long long)row->new_calls);
}

void tv_compare_put_sampled(struct tv_out *out, const struct tv_comparison *comparison,
                            const char *before, const char *after)
{
    const struct tv_run_table *table = comparison->table;
    uint32_t sampled[3] = {0};
    if (tv_compare_has_counts(comparison))
        return;
    for (uint32_t i = 0; i < table->run_count; i++)
        sampled[table->runs[i].side] += table->runs[i].sampled;
    tv_out_format(out,
                  "%sSampled: %u of %u base and %u of %u new runs: times are estimates, calls are "
                  "not counted%s",
                  before, sampled[TV_RUN_BASE], comparison->base_runs, sampled[TV_RUN_NEW],
                  comparison->new_runs, after);
}

/* Has a row calls on both sides that can be compared? */
static bool calls_text_has(const struct tv_calls_of_row *of)
{
    return of->noise.mean[0] > 0 && of->noise.mean[1] > 0;
}

static void calls_text_columns(struct tv_text_table *table)
{
    static const struct tv_text_column columns[] = {
        {"base", "Base mean ms", 16, .rank = 2},      {"new", "New mean ms", 15, .rank = 2},
        {"change", "Change", 11, .rank = 0},          {"interval", "95 % interval", 20, .rank = 0},
        {"calls", "Base calls", 17, .rank = 3},       {"calls", "New calls", 16, .rank = 3},
        {"median", "Median change", 15, .rank = 4},   {"p95", "95 % change", 13, .rank = 5},
        {"longest", "Longest change", 16, .rank = 6},
    };
    for (size_t i = 0; i < TV_COUNT(columns); i++)
        tv_text_table_add(table, &columns[i]);
}

/* Write the row of a method: its calls on both sides, as far as calls of one run can tell anything.
 */
static void calls_text_row(struct tv_text_table *table, const struct tv_compare_report *report,
                           uint32_t row)
{
    const struct tv_calls_of_row *of = &report->calls->rows[row];
    const struct tv_comparison *comparison = report->comparison;
    const struct tv_call_noise *noise = &of->noise;
    const struct tv_side_calls *base = &of->side[TV_RUN_BASE], *fresh = &of->side[TV_RUN_NEW];
    const double quantiles[] = {fresh->median / base->median - 1, fresh->p95 / base->p95 - 1,
                                fresh->max / base->max - 1};
    for (size_t k = 0; k < 2; k++)
        tv_compare_put_bare(tv_text_table_cell(table), comparison, TV_FIGURE_MEAN, noise->mean[k]);
    tv_compare_put_change(tv_text_table_cell(table), noise->mean[1] / noise->mean[0] - 1);
    struct tv_out *cell = tv_text_table_cell(table);
    if (isfinite(noise->low) && isfinite(noise->high))
        tv_compare_put_interval(
            cell, &(struct tv_relative_change){noise->change, noise->low, noise->high});
    else
        tv_out_char(cell, '-');
    for (size_t k = 0; k < 2; k++)
        tv_out_format(tv_text_table_cell(table), "%.0f of %llu", noise->effective[k],
                      (unsigned long long)of->side[k].count);
    for (size_t k = 0; k < TV_COUNT(quantiles); k++) {
        cell = tv_text_table_cell(table);
        tv_compare_put_change(cell, isfinite(quantiles[k]) ? quantiles[k] : (double)NAN);
    }
    tv_compare_put_name(tv_text_table_name(table, 0), comparison, comparison->rows[row].row);
    tv_text_table_end_row(table);
}

void tv_compare_put_calls_text(struct tv_out *out, const struct tv_compare_report *report)
{
    const struct tv_compared_calls *calls = report->calls;
    struct tv_text_table table;
    uint32_t lines = 0;
    if (!tv_compare_has_counts(report->comparison))
        return;
    if (report->calls_note)
        tv_out_format(out, "\n%s\n", report->calls_note);
    for (uint32_t i = 0; calls && i < calls->count; i++)
        lines += calls_text_has(&calls->rows[i]);
    if (lines == 0)
        return;
    uint32_t limit = report->limit > 0 && report->limit < MAX_CALLS_LINES ? (uint32_t)report->limit
                                                                          : MAX_CALLS_LINES;
    tv_out_format(out,
                  "\nLengths of calls with callees, %s time; \"5 of 90\": 90 calls are as good as "
                  "5 independent ones\n"
                  "Intervals are of these two traces: how much runs differ is not in them\n",
                  report->comparison->cpu ? "CPU" : "wall");
    tv_text_table_begin(&table, out, "Method");
    calls_text_columns(&table);
    for (uint32_t i = 0, line = 0; i < calls->count && line < limit; i++) {
        if (!calls_text_has(&calls->rows[i]))
            continue;
        calls_text_row(&table, report, i);
        line++;
    }
    tv_text_table_end(&table);
}

/* Write a number of JSON after ", " and its key. */
static void calls_json_number(struct tv_out *out, const char *before, const char *key, double value)
{
    tv_json_put_key(out, before, key);
    if (isfinite(value))
        tv_compare_put_number(out, value);
    else
        tv_out_text(out, "null");
}

static void calls_json_side(struct tv_out *out, const struct tv_side_calls *side, double mean,
                            double effective)
{
    tv_json_put_u64(out, "{", "count", side->count);
    calls_json_number(out, ", ", "mean", side->count > 0 ? mean : (double)NAN);
    calls_json_number(out, ", ", "effective", effective);
    calls_json_number(out, ", ", "median", side->median);
    calls_json_number(out, ", ", "p95", side->p95);
    calls_json_number(out, ", ", "max", side->max);
    tv_out_char(out, '}');
}

void tv_compare_put_calls_json(struct tv_out *out, const struct tv_compare_report *report,
                               uint32_t row)
{
    const struct tv_calls_of_row *of = &report->calls->rows[row];
    const struct tv_call_noise *noise = &of->noise;
    const char *before = "";
    assert(row < report->calls->count);
    tv_json_put_key(out, ", ", "lengths");
    for (size_t k = 0; k < 2; k++) {
        tv_json_put_key(out, k ? ", " : "{", k ? "new" : "base");
        calls_json_side(out, &of->side[k], noise->mean[k], noise->effective[k]);
    }
    calls_json_number(out, ", ", "change", noise->change);
    calls_json_number(out, ", ", "low", noise->low);
    calls_json_number(out, ", ", "high", noise->high);
    tv_json_put_key(out, ", ", "histogram");
    tv_out_char(out, '[');
    for (uint32_t i = 0; i < TV_DURATION_BUCKETS; i++) {
        unsigned long long base = of->side[0].buckets[i], fresh = of->side[1].buckets[i];
        if (base == 0 && fresh == 0)
            continue;
        tv_out_format(out, "%s[%lld, %lld, %llu, %llu]", before, (long long)tv_duration_bound(i),
                      (long long)tv_duration_bound(i + 1), base, fresh);
        before = ", ";
    }
    tv_out_text(out, "]}");
}
