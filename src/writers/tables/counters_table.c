/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters_table.c - what counters did in a range, as text, CSV and JSON.
 *
 * A row is one series of one counter.  Values are doubles: an unknown one is
 * "-" in text, empty in CSV and null in JSON; infinite ones are words.  Times
 * are nanoseconds on the axis of the trace in CSV and JSON.
 */
#include "writers/tables/tables.h"

#include <assert.h>
#include <math.h>

#include "writers/text/names.h"
#include "writers/text/text_table.h"

struct counters_table {
    struct tv_out *out;
    const struct tv_trace *trace;
    const struct tv_counters_table_options *options;
};

/* Return the counter that a row belongs to. */
static const struct tv_counter *counters_counter_of(const struct counters_table *t,
                                                    const struct tv_series_figures *row)
{
    assert(row->counter < t->trace->tables.counters.count);
    return &t->trace->tables.counters.rows[row->counter];
}

static struct tv_bytes counters_text(const struct counters_table *t, uint32_t string)
{
    return tv_trace_info_text(t->trace->head, string);
}

/* Return the name of a row's series. */
static struct tv_bytes counters_series_name(const struct counters_table *t,
                                            const struct tv_series_figures *row)
{
    const struct tv_counter *counter = counters_counter_of(t, row);
    return counters_text(t, t->trace->tables.series.rows[counter->first_series + row->series].name);
}

/* Return the process of a counter, or NULL. */
static const struct tv_process *counters_process_of(const struct counters_table *t,
                                                    const struct tv_series_figures *row)
{
    const struct tv_trace_info *head = t->trace->head;
    uint32_t process = counters_counter_of(t, row)->process;
    return process < head->process_count ? &head->processes[process] : NULL;
}

/* Return the name of the file that a row's counter is from. */
static struct tv_bytes counters_file_of(const struct counters_table *t,
                                        const struct tv_series_figures *row)
{
    const struct tv_trace_info *head = t->trace->head;
    uint32_t input = counters_counter_of(t, row)->input;
    return input < head->input_count ? counters_text(t, head->inputs[input].name) : TV_BYTES("");
}

/* Return the value at the time of the options. */
static double counters_value_of(const struct counters_table *t, const struct tv_series_figures *row)
{
    return tv_counter_value_at(t->trace, row->counter, row->series, t->options->at).value;
}

/* ---- Text ---- */

/* Write "name", "name: series" if the counter has several, and the process. */
static void counters_write_name(const struct counters_table *t, struct tv_out *out,
                                const struct tv_series_figures *row)
{
    const struct tv_process *process = counters_process_of(t, row);
    tv_names_line(out, counters_text(t, counters_counter_of(t, row)->name));
    if (counters_counter_of(t, row)->series_count > 1) {
        tv_out_text(out, ": ");
        tv_names_line(out, counters_series_name(t, row));
    }
    if (!process)
        return;
    struct tv_bytes name = counters_text(t, process->name);
    tv_out_text(out, "  ");
    if (name.length > 0)
        tv_names_line(out, name);
    else
        tv_out_format(out, "[%llu]", (unsigned long long)process->id);
}

/* Write the table for people, whose columns give way on a narrow screen in the
 * order of their rank. */
static void counters_write_text(const struct counters_table *t,
                                const struct tv_counter_figures *figures, size_t count)
{
    static const struct tv_text_column columns[] = {
        {"mean", "Mean", 12, 0, 0},  {"min", "Min", 12, 1, 0},
        {"max", "Max", 12, 1, 0},    {"first", "First", 12, 3, 0},
        {"last", "Last", 12, 2, 0},  {"change", "Change", 12, 4, 0},
        {"rate", "Per s", 12, 5, 0}, {"samples", "Values", 10, 6, 0},
    };
    static const struct tv_text_column at = {"at", "At", 12, 0, 0};
    struct tv_text_table table;
    if (figures->count == 0) {
        tv_out_text(t->out, t->trace->tables.counters.count == 0
                                ? "The trace has no counters.\n"
                                : "The trace has no such counters.\n");
        return;
    }
    struct tv_figure_unit unit = tv_figures_unit(t->trace->head);
    tv_out_text(t->out, "Counters in the range of ");
    tv_out_time(t->out, figures->to - figures->from, unit.ns, unit.decimals);
    tv_out_format(t->out, " %s; means are weighted by time\n", unit.name);
    tv_text_table_begin(&table, t->out, "Counter");
    if (t->options->has_at)
        tv_text_table_add(&table, &at);
    for (size_t i = 0; i < TV_COUNT(columns); i++)
        tv_text_table_add(&table, &columns[i]);
    for (size_t i = 0; i < count; i++) {
        const struct tv_series_figures *row = &figures->rows[i];
        const double values[] = {row->mean,       row->low.value, row->high.value, row->first.value,
                                 row->last.value, row->change,    row->rate};
        if (t->options->has_at)
            tv_names_double(tv_text_table_cell(&table), counters_value_of(t, row));
        for (size_t k = 0; k < TV_COUNT(values); k++)
            tv_names_double(tv_text_table_cell(&table), values[k]);
        tv_text_table_number(&table, row->samples);
        counters_write_name(t, tv_text_table_name(&table, 0), row);
        tv_text_table_end_row(&table);
    }
    tv_text_table_end(&table);
}

/* ---- CSV ---- */

/* Write a comma and a number; nothing after the comma if it is unknown. */
static void counters_csv_double(const struct counters_table *t, double value)
{
    tv_out_char(t->out, ',');
    if (isinf(value))
        tv_out_text(t->out, value > 0 ? "Infinity" : "-Infinity");
    else if (!isnan(value))
        tv_json_put_double(t->out, value);
}

/* Write an extreme and its time. */
static void counters_csv_point(const struct counters_table *t, const struct tv_counter_point *point)
{
    counters_csv_double(t, point->value);
    tv_out_char(t->out, ',');
    if (!isnan(point->value))
        tv_out_i64(t->out, point->time);
}

/* Write a line of CSV. */
static void counters_csv_row(const struct counters_table *t, const struct tv_series_figures *row)
{
    const struct tv_process *process = counters_process_of(t, row);
    tv_out_csv(t->out, counters_file_of(t, row));
    tv_out_char(t->out, ',');
    if (process)
        tv_out_u64(t->out, process->id);
    tv_out_char(t->out, ',');
    if (process)
        tv_out_csv(t->out, counters_text(t, process->name));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, counters_text(t, counters_counter_of(t, row)->name));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, counters_text(t, counters_counter_of(t, row)->category));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, counters_series_name(t, row));
    tv_out_format(t->out, ",%llu,%lld", (unsigned long long)row->samples, (long long)row->time);
    counters_csv_double(t, row->first.value);
    counters_csv_double(t, row->last.value);
    counters_csv_double(t, row->change);
    counters_csv_double(t, row->rate);
    counters_csv_double(t, row->mean);
    counters_csv_point(t, &row->low);
    counters_csv_point(t, &row->high);
    if (t->options->has_at)
        counters_csv_double(t, counters_value_of(t, row));
    tv_out_char(t->out, '\n');
}

static void counters_write_csv(const struct counters_table *t,
                               const struct tv_counter_figures *figures, size_t count)
{
    tv_out_text(t->out, "file,process_id,process,counter,category,series,samples,known_ns,first,"
                        "last,change,rate_per_s,mean,min,min_at_ns,max,max_at_ns");
    tv_out_text(t->out, t->options->has_at ? ",value\n" : "\n");
    for (size_t i = 0; i < count; i++)
        counters_csv_row(t, &figures->rows[i]);
}

/* ---- JSON ---- */

static void counters_json_double(struct tv_out *out, const char *key, double value)
{
    tv_json_put_key(out, ", ", key);
    tv_json_put_double(out, value);
}

/* Write the value and the time of a point: null and null if it is unknown. */
static void counters_json_point(struct tv_out *out, const char *key, const char *at,
                                const struct tv_counter_point *point)
{
    counters_json_double(out, key, point->value);
    tv_json_put_some_i64(out, ", ", at, !isnan(point->value), point->time);
}

void tv_counter_row_json(struct tv_out *out, const struct tv_series_figures *row)
{
    tv_json_put_u64(out, "", "samples", row->samples);
    tv_json_put_i64(out, ", ", "known_ns", row->time);
    counters_json_double(out, "first", row->first.value);
    counters_json_double(out, "last", row->last.value);
    counters_json_double(out, "change", row->change);
    counters_json_double(out, "rate_per_s", row->rate);
    counters_json_double(out, "mean", row->mean);
    counters_json_point(out, "min", "min_at_ns", &row->low);
    counters_json_point(out, "max", "max_at_ns", &row->high);
}

/* Write a series as a JSON object. */
static void counters_json_row(const struct counters_table *t, const struct tv_series_figures *row)
{
    const struct tv_process *process = counters_process_of(t, row);
    tv_json_put_text(t->out, "{", "file", counters_file_of(t, row));
    tv_json_put_key(t->out, ", ", "process_id");
    if (process)
        tv_out_u64(t->out, process->id);
    else
        tv_out_text(t->out, "null");
    tv_json_put_text(t->out, ", ", "process",
                     process ? counters_text(t, process->name) : TV_BYTES(""));
    tv_json_put_text(t->out, ", ", "counter", counters_text(t, counters_counter_of(t, row)->name));
    tv_json_put_text(t->out, ", ", "category",
                     counters_text(t, counters_counter_of(t, row)->category));
    tv_json_put_text(t->out, ", ", "series", counters_series_name(t, row));
    tv_out_text(t->out, ", ");
    tv_counter_row_json(t->out, row);
    if (t->options->has_at)
        counters_json_double(t->out, "value", counters_value_of(t, row));
    tv_out_char(t->out, '}');
}

/* Write {"from_ns", "to_ns", "series": [...]}, with "at_ns" if a time was asked for. */
static void counters_write_json(const struct counters_table *t,
                                const struct tv_counter_figures *figures, size_t count)
{
    tv_json_put_i64(t->out, "{", "from_ns", figures->from);
    tv_json_put_i64(t->out, ", ", "to_ns", figures->to);
    if (t->options->has_at)
        tv_json_put_i64(t->out, ", ", "at_ns", t->options->at);
    tv_out_text(t->out, ",\n \"series\": [");
    for (size_t i = 0; i < count; i++) {
        tv_out_text(t->out, i > 0 ? ",\n  " : "\n  ");
        counters_json_row(t, &figures->rows[i]);
    }
    tv_out_text(t->out, "]}\n");
}

void tv_counters_table_write(struct tv_out *out, const struct tv_trace *trace,
                             const struct tv_counter_figures *figures,
                             const struct tv_counters_table_options *options)
{
    struct counters_table t = {out, trace, options};
    size_t count = figures->count;
    if (options->limit > 0 && options->limit < count)
        count = (size_t)options->limit;
    if (options->format == TV_COUNTERS_TEXT)
        counters_write_text(&t, figures, count);
    else if (options->format == TV_COUNTERS_CSV)
        counters_write_csv(&t, figures, count);
    else
        counters_write_json(&t, figures, count);
}
