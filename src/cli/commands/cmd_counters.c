/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_counters.c - `counters`: what the counters of a trace did in a range. */
#include <assert.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/input/load.h"
#include "cli/input/selection.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "writers/tables/tables.h"

static const struct tv_option counters_options[] = {
    TV_OPTION("format", "text|csv|json", TV_OPTION_CHOICE, table.format,
              "output format (default: text)"),
    TV_OPTION("sort", "recorded|name|samples|first|last|min|mean|max|change|rate", TV_OPTION_CHOICE,
              table.sort, "sort by this figure, the largest first (default: as recorded)"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, table.limit, "show only the first N series; 0: all"),
    TV_OPTION_COLUMNS(TV_COUNTERS_COLUMNS),
    TV_OPTION("at", "TIME", TV_OPTION_TEXT, at,
              "add the value at this time: 1.5ms, 2s (default unit: ms)"),
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Mark the counters of the wanted processes and categories; the caller frees the marks. */
static enum tv_status cmd_counters_choose(const struct tv_settings *settings,
                                          const struct tv_trace *trace, bool **marks,
                                          struct tv_error *err)
{
    struct tv_subset subset;
    enum tv_status status = tv_subset_choose(settings, trace, &subset, err);
    *marks = tv_alloc(trace->tables.counters.count, sizeof **marks);
    for (size_t i = 0; status == TV_OK && i < trace->tables.counters.count; i++)
        (*marks)[i] = tv_subset_has_counter(&subset, trace->head, &trace->tables.counters.rows[i]);
    tv_subset_release(&subset);
    return status;
}

/* Say that the trace tells nothing about the time of --at. */
static void cmd_counters_note_time(const struct tv_settings *settings, const struct tv_trace *trace,
                                   tv_ns at)
{
    struct tv_out end;
    if (at >= trace->start && at <= trace->end)
        return;
    bool before = at < trace->start;
    tv_out_init_memory(&end);
    tv_out_time_short(&end, before ? trace->start : trace->end, 1000000);
    tv_message("%s: note: --at: '%.60s' is %s of the trace, at %.*sms: %s",
               settings->files.items[0], settings->at,
               before ? "before the begin" : "after the end", (int)end.length,
               (const char *)end.buffer,
               before ? "counters have no values there" : "the values are the last ones");
    tv_out_release(&end);
}

/* Read --at and --range. */
static enum tv_status cmd_counters_read_times(const struct tv_settings *settings,
                                              const struct tv_trace *trace,
                                              struct tv_counters_question *question,
                                              struct tv_counters_table_options *table,
                                              struct tv_error *err)
{
    table->has_at = settings->at != NULL;
    if (table->has_at && !tv_parse_time(tv_bytes_of(settings->at), 1000000, &table->at))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--at: expected a time such as 1.5ms, found '%.60s'", settings->at);
    if (table->has_at)
        cmd_counters_note_time(settings, trace, table->at);
    return tv_range_choose(settings, trace, &question->from, &question->to, err);
}

/* Write the table of the counters that `marks` has. */
static enum tv_status cmd_counters_write_table(const struct tv_settings *settings,
                                               const struct tv_trace *trace, const bool *marks,
                                               struct tv_error *err)
{
    struct tv_counters_question question = {.counters = marks};
    struct tv_counters_table_options table = {
        .format = (enum tv_counters_format)settings->table.format, .limit = settings->table.limit};
    enum tv_status status = cmd_counters_read_times(settings, trace, &question, &table, err);
    struct tv_output output;
    if (status == TV_OK)
        status = tv_output_open_text(&output, settings, table.format == TV_COUNTERS_TEXT, err);
    if (status != TV_OK)
        return status;
    if (table.format != TV_COUNTERS_TEXT && !settings->quiet && trace->tables.counters.count == 0)
        tv_message("%s: note: the trace has no counters", settings->files.items[0]);
    struct tv_counter_figures *figures = tv_counter_figures_of(trace, &question);
    tv_counter_figures_sort(figures, trace, (enum tv_counter_order)settings->table.sort);
    tv_counters_table_write(&output.out, trace, figures, &table);
    tv_counter_figures_free(figures);
    return tv_output_close(&output, err);
}

/* Choose the counters and write them. */
static enum tv_status cmd_counters_write(const struct tv_settings *settings,
                                         const struct tv_trace *trace, struct tv_error *err)
{
    bool *marks;
    enum tv_status status = cmd_counters_choose(settings, trace, &marks, err);
    if (status == TV_OK)
        status = cmd_counters_write_table(settings, trace, marks, err);
    tv_free(marks);
    return status;
}

static int cmd_counters_run(const struct tv_command *command, const struct tv_settings *settings)
{
    assert(settings->files.count > 0);
    return tv_load_run(command, settings, cmd_counters_write);
}

const struct tv_command tv_command_counters = {
    .name = "counters",
    .summary = "show the mean, extremes and change of each counter in a range",
    .arguments = "[OPTION]... FILE...",
    .details = "A value holds until the next sample; means are weighted by time.  Several files "
               "are\nread as one trace.",
    .options = counters_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_counters_run,
};
