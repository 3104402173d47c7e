/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox_counters.c - counters in a processed profile of the Firefox Profiler.
 *
 *     counter "heap" (process 7, series "used", "committed")
 *         --> {"name": "heap: used",      "pid": "7", "samples": {"time": [...], "count": [...]}}
 *             {"name": "heap: committed", "pid": "7", "samples": {...}}
 *
 * A counter of that format has one series.  Counts of category "Memory", which the viewer draws as
 * the memory of the process, are differences; all others are values.  Our reader takes the category
 * and the unit from members that viewers skip.
 */
#include <math.h>

#include "base/bytes.h"
#include "writers/trace/sample_files.h"

/* Integers up to this are exact in JSON. */
#define LARGEST_INTEGER 9007199254740992.0

struct firefox_series {
    const struct tv_trace *trace;
    const struct tv_counter *counter;
    uint32_t number; /* of the series */
};

static struct tv_bytes firefox_series_text(const struct firefox_series *series, uint32_t string)
{
    return tv_trace_info_text(series->trace->head, string);
}

/* Return whether the viewer can draw a counter as memory: its values are bytes. */
static bool firefox_series_is_memory(const struct firefox_series *series)
{
    struct tv_bytes unit = firefox_series_text(series, series->counter->facts.unit);
    return tv_bytes_equal(unit, TV_BYTES("bytes")) || tv_bytes_equal(unit, TV_BYTES("B")) ||
           tv_bytes_equal(firefox_series_text(series, series->counter->category),
                          TV_BYTES("Memory"));
}

static double firefox_series_value(const struct firefox_series *series, uint32_t sample)
{
    const struct tv_counter *counter = series->counter;
    return series->trace->tables
        .counter_values[counter->first_value + (uint64_t)sample * counter->series_count +
                        series->number];
}

static void firefox_write_value(struct tv_out *out, double value)
{
    bool integer = value == trunc(value) && fabs(value) <= LARGEST_INTEGER;
    tv_out_format(out, integer ? "%.0f" : "%.17g", value);
}

/* Write the name: of the counter, and of the series unless it says nothing more. */
static void firefox_write_series_name(struct tv_out *out, const struct firefox_series *series)
{
    const struct tv_counter *counter = series->counter;
    uint32_t name = series->trace->tables.series.rows[counter->first_series + series->number].name;
    struct tv_bytes text = firefox_series_text(series, name);
    struct tv_out whole;
    tv_out_init_memory(&whole);
    tv_out_bytes(&whole, firefox_series_text(series, counter->name));
    if (name != counter->name && text.length > 0 &&
        (counter->series_count > 1 || !tv_bytes_equal(text, TV_BYTES("value")))) {
        tv_out_text(&whole, ": ");
        tv_out_bytes(&whole, text);
    }
    tv_out_json(out, (struct tv_bytes){whole.buffer, whole.length});
    tv_out_release(&whole);
}

/* Write a member unless it is empty. */
static void firefox_write_series_text(struct tv_out *out, const struct firefox_series *series,
                                      const char *key, uint32_t string)
{
    struct tv_bytes text = firefox_series_text(series, string);
    if (text.length == 0)
        return;
    tv_out_format(out, "\"%s\":", key);
    tv_out_json(out, text);
    tv_out_char(out, ',');
}

/* Write the columns of the samples that have a value of the series. */
static void firefox_write_series_samples(struct tv_out *out, const struct firefox_series *series,
                                         bool memory)
{
    const struct tv_counter *counter = series->counter;
    const tv_ns *times = series->trace->tables.counter_times + counter->first_sample;
    size_t length = 0;
    double before = 0;
    tv_out_text(out, "\"samples\":{\"time\":[");
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        if (!isfinite(firefox_series_value(series, i)))
            continue;
        tv_out_text(out, length++ > 0 ? "," : "");
        tv_out_time(out, tv_trace_time(series->trace, counter->input, times[i]), 1000000, 6);
    }
    tv_out_text(out, "],\"count\":[");
    length = 0;
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        double value = firefox_series_value(series, i);
        if (!isfinite(value))
            continue;
        tv_out_text(out, length++ > 0 ? "," : "");
        firefox_write_value(out, value - before);
        before = memory ? value : 0;
    }
    tv_out_format(out, "],\"length\":%zu}}", length);
}

/* Write a series as a counter.  Firefox sums up counters of the category Memory and shows others as
 * they are; so the category of a counter of memory is kept under a key of its own.  A process
 * without a thread in the file takes the first thread as its main one, which the format requires.
 */
static void firefox_write_series(struct tv_out *out, const struct firefox_series *series,
                                 const struct tv_firefox_threads *threads)
{
    const struct tv_counter *counter = series->counter;
    const struct tv_process *processes = series->trace->head->processes;
    uint64_t pid = counter->process == TV_NONE ? 0 : processes[counter->process].id;
    bool memory = firefox_series_is_memory(series);
    size_t main_thread = 0;
    while (main_thread < threads->count && threads->pids[main_thread] != pid)
        main_thread++;
    tv_out_text(out, "{\"name\":");
    firefox_write_series_name(out, series);
    tv_out_text(out, ",\"category\":");
    tv_out_json(out, memory ? TV_BYTES("Memory") : firefox_series_text(series, counter->category));
    tv_out_text(out, ",\"description\":");
    tv_out_json(out, firefox_series_text(series, counter->facts.description));
    tv_out_char(out, ',');
    if (memory)
        firefox_write_series_text(out, series, "valueCategory", counter->category);
    firefox_write_series_text(out, series, "valueUnit", counter->facts.unit);
    tv_out_format(out, "\"pid\":\"%llu\",\"mainThreadIndex\":%zu,", (unsigned long long)pid,
                  main_thread < threads->count ? main_thread : 0);
    firefox_write_series_samples(out, series, memory);
}

void tv_firefox_counters_write(struct tv_out *out, const struct tv_trace *trace,
                               const struct tv_subset *keep,
                               const struct tv_firefox_threads *threads)
{
    bool first = true;
    for (size_t i = 0; i < trace->tables.counters.count; i++) {
        struct firefox_series series = {.trace = trace, .counter = &trace->tables.counters.rows[i]};
        if (!tv_subset_has_counter(keep, trace->head, series.counter))
            continue;
        for (; series.number < series.counter->series_count; series.number++) {
            tv_out_text(out, first ? "\n" : ",\n");
            first = false;
            firefox_write_series(out, &series, threads);
        }
    }
}
