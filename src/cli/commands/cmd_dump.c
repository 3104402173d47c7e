/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dump.c - `dump` (every record while the file is read, or the whole model) and `-r` (the
 * regression text).
 *
 *     text, nothing needs the trace --> cmd_dump_stream   records in file order, as they are read
 *     text otherwise                --> cmd_dump_trace    calls of the finished trace, by time
 *     jsonl                         --> cmd_dump_model    the finished model
 *
 * Streaming needs no memory for the trace and prints while a pipe is still written to.  It cannot
 * order by time or filter by what only the finished trace knows; then the trace is built first.
 *
 * The output is opened when the first record is there and the options fit the trace: a mistake must
 * not leave an empty file in the place of an older one. */
#include <assert.h>

#include "cli/command.h"
#include "cli/input/load.h"
#include "cli/input/selection.h"
#include "cli/output/output.h"
#include "writers/dump/dump.h"
#include "writers/tables/tables.h"

static const struct tv_option dump_options[] = {
    TV_OPTION("format", "text|jsonl", TV_OPTION_CHOICE, table.format,
              "text: one event per line; jsonl: the model, one object per line (default: text)"),
    TV_OPTION("order", "file|time", TV_OPTION_CHOICE, order,
              "records in file order, or calls in time order (default: file; time when JSON or "
              "ftrace is filtered)"),
    TV_OPTION("clock", "wall|cpu", TV_OPTION_CHOICE, clock,
              "clock of the text (default: cpu if all files have it)"),
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_OUTPUT,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* --order: index of the word in "file|time". */
enum dump_order { ORDER_FILE, ORDER_TIME };

struct dumping {
    const struct tv_settings *settings;
    struct tv_output output;
    bool opened;
    const struct tv_tables *tables; /* of the trace, if there is one */
    struct tv_error error;          /* reason why nothing is printed */
};

/* Open the output, now that there is something to print. */
static enum tv_status cmd_dump_open_output(struct dumping *dumping, struct tv_error *err)
{
    assert(!dumping->opened);
    const struct tv_settings *settings = dumping->settings;
    enum tv_status status =
        tv_output_open(&dumping->output, settings->output, settings->quiet, err);
    dumping->opened = status == TV_OK;
    return status;
}

/* Check that the trace has what the options select, before anything is printed or a file is
 * created. */
static enum tv_status cmd_dump_check_selection(const struct dumping *dumping,
                                               const struct tv_trace_info *head,
                                               struct tv_error *err)
{
    const struct tv_settings *settings = dumping->settings;
    bool cpu;
    enum tv_status status = tv_selection_check(settings, head, dumping->tables, err);
    if (status == TV_OK && settings->clock != TV_CHOICE_ANY)
        status = tv_clock_choose(settings, tv_trace_info_clocks(head), &cpu, err);
    return status;
}

/* Start the dump: check the options against the head, and open the output. */
static bool cmd_dump_start(const struct tv_trace_info *head, void *context)
{
    struct dumping *dumping = context;
    return dumping->opened || (cmd_dump_check_selection(dumping, head, &dumping->error) == TV_OK &&
                               cmd_dump_open_output(dumping, &dumping->error) == TV_OK);
}

/* Return whether --thread selects a thread (a callback). */
static bool cmd_dump_selects_thread(const struct tv_trace_info *head, uint32_t thread,
                                    void *context)
{
    struct dumping *dumping = context;
    struct tv_settings settings = *dumping->settings;
    return tv_thread_is_selected(head, thread, &settings);
}

/* Flush before waiting, so that the reader of a slow pipe sees everything at once. */
static void cmd_dump_flush(void *context)
{
    struct dumping *dumping = context;
    if (dumping->opened)
        tv_out_flush(&dumping->output.out);
}

/* Print records and events while the files are read. */
static enum tv_status cmd_dump_stream(struct dumping *dumping, struct tv_loading *loading,
                                      struct tv_dump *dump, struct tv_error *err)
{
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_dump_records records;
    struct tv_progress unseen = {
        0}; /* not shown: lines appear while the file is read, and the output has its own meter */
    tv_dump_records_init(&records, &dumping->output.out);
    records.start = cmd_dump_start;
    records.context = dumping;
    tv_load_before_waiting(loading, cmd_dump_flush, dumping);
    enum tv_status status =
        tv_load_dump(loading, head, tv_dump_sink(dump), &records.visitor, &unseen, err);
    tv_dump_records_release(&records);
    if (status == TV_OK && dumping->error.status == TV_OK)
        tv_load_report(dumping->settings, head);
    tv_dump_end(dump);
    tv_trace_info_free(head);
    return status;
}

/* Print the calls of the finished trace in time order. */
static enum tv_status cmd_dump_trace(struct dumping *dumping, struct tv_loading *loading,
                                     struct tv_dump *dump, struct tv_error *err)
{
    assert(!dumping->tables);
    struct tv_trace *trace;
    enum tv_status status = tv_load_build(loading, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    struct tv_subset subset;
    dumping->tables = &trace->tables;
    status = tv_subset_choose(dumping->settings, trace, &subset, err);
    if (status == TV_OK)
        tv_dump_trace(dump, trace, &subset);
    tv_subset_release(&subset);
    if (status == TV_OK && dumping->error.status == TV_OK)
        tv_load_report(dumping->settings, trace->head);
    tv_dump_end(dump);
    tv_trace_free(trace);
    return status;
}

/* Return an option that was given and needs the finished trace; NULL: none. */
static const char *cmd_dump_option_of_trace(const struct tv_settings *settings)
{
    const struct {
        const char *option;
        bool given;
    } wishes[] = {
        {"--filter", settings->select.filter != NULL},
        {"--category", settings->select.categories.count > 0},
        {"--process", settings->select.processes.count > 0},
        {"--thread", settings->select.threads.count > 0},
        {"--clock", settings->clock != TV_CHOICE_ANY},
        {"--offset", settings->input.offsets.count > 0},
        {"--mapping", settings->input.mapping != NULL},
        {"--symbols", settings->input.symbols.count > 0},
    };
    for (size_t i = 0; i < TV_COUNT(wishes); i++)
        if (wishes[i].given)
            return wishes[i].option;
    return NULL;
}

/* Can the records be printed while they are read? With several inputs, a later one may have the
 * selected thread or clock. */
static bool cmd_dump_can_stream(const struct tv_settings *settings,
                                const struct tv_loading *loading)
{
    bool free_of_wishes = !tv_threads_are_selected(settings) && settings->clock == TV_CHOICE_ANY;
    if (settings->order == ORDER_TIME)
        return false;
    if (!tv_load_can_stream(loading))
        return tv_load_can_dump(loading) && !cmd_dump_option_of_trace(settings);
    return settings->select.categories.count == 0 &&
           (tv_load_count(loading) == 1 || free_of_wishes);
}

/* Refuse --order file if the records cannot be printed in file order. */
static enum tv_status cmd_dump_check_order(const struct tv_settings *settings, bool streams,
                                           struct tv_error *err)
{
    const char *wish = cmd_dump_option_of_trace(settings);
    if (settings->order != ORDER_FILE || streams)
        return TV_OK;
    if (wish)
        return tv_fail(
            err, TV_ERR_USAGE, TV_NO_OFFSET,
            "--order file cannot be combined with %s, which needs the finished trace in time order",
            wish);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "--order file: a file has no records that can be printed while it is read");
}

/* Dump files that are open, as a stream or from the trace. Takes the loading over. */
static enum tv_status cmd_dump_loaded(struct dumping *dumping, struct tv_loading *loading,
                                      struct tv_error *err)
{
    static const enum tv_dump_clock clocks[] = {TV_DUMP_REAL, TV_DUMP_CPU, TV_DUMP_FIRST};
    const struct tv_settings *settings = dumping->settings;
    struct tv_dump_options how = {
        .clock = clocks[settings->clock],
        .wanted = tv_threads_are_selected(settings) ? cmd_dump_selects_thread : NULL,
        .start = cmd_dump_start,
        .context = dumping,
    };
    bool streams = cmd_dump_can_stream(settings, loading);
    enum tv_status status = cmd_dump_check_order(settings, streams, err);
    if (status != TV_OK) {
        tv_load_close(loading);
        return status;
    }
    struct tv_dump *dump = tv_dump_new(&dumping->output.out, &how);
    status = streams ? cmd_dump_stream(dumping, loading, dump, err)
                     : cmd_dump_trace(dumping, loading, dump, err);
    tv_dump_free(dump);
    if (status == TV_OK && dumping->error.status != TV_OK) {
        *err = dumping->error;
        return err->status;
    }
    return status;
}

/* Print text: records as they arrive, or the finished trace. */
static enum tv_status cmd_dump_text(struct dumping *dumping, struct tv_error *err)
{
    const struct tv_settings *settings = dumping->settings;
    struct tv_settings reading = *settings;
    struct tv_loading *loading;
    /* Records are not in the cache, and are printed as they arrive. */
    bool records = settings->order != ORDER_TIME && !cmd_dump_option_of_trace(settings);
    reading.input.no_cache |= records;
    reading.input.one_by_one = records;
    enum tv_status status =
        tv_load_open(&reading, settings->files.items, settings->files.count, &loading, err);
    return status == TV_OK ? cmd_dump_loaded(dumping, loading, err) : status;
}

/* Print the finished model as JSON lines. */
static enum tv_status cmd_dump_model(struct dumping *dumping, struct tv_error *err)
{
    const struct tv_settings *settings = dumping->settings;
    struct tv_trace *trace;
    enum tv_status status =
        tv_load_trace(settings, settings->files.items, settings->files.count, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    struct tv_subset subset;
    status = tv_subset_choose(settings, trace, &subset, err);
    if (status == TV_OK)
        status = cmd_dump_open_output(dumping, err);
    if (status == TV_OK) {
        tv_load_report(settings, trace->head);
        tv_model_jsonl_write(&dumping->output.out, trace, &subset);
    }
    tv_subset_release(&subset);
    tv_trace_free(trace);
    return status;
}

/* Refuse options that contradict each other in any case. */
static enum tv_status cmd_dump_check_options(const struct tv_settings *settings,
                                             struct tv_error *err)
{
    if (settings->table.format != 0 && settings->clock != TV_CHOICE_ANY)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--clock is only for --format text: jsonl has both clocks");
    if (settings->table.format != 0 && settings->order != TV_CHOICE_NO_ORDER)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--order is only for --format text: jsonl is the finished model");
    if (settings->select.filter || settings->select.categories.count > 0 ||
        settings->input.offsets.count > 0)
        return cmd_dump_check_order(settings, false, err);
    return TV_OK;
}

static int cmd_dump_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct dumping dumping = {.settings = settings};
    struct tv_error err = {0};
    if (cmd_dump_check_options(settings, &err) != TV_OK)
        return tv_command_usage(command, &err);
    enum tv_status status = settings->table.format == 0 ? cmd_dump_text(&dumping, &err)
                                                        : cmd_dump_model(&dumping, &err);
    /* Print the records before an error, but do not replace a file by them. */
    if (dumping.opened)
        status = tv_output_finish(&dumping.output, status, &err);
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_dump = {
    .name = "dump",
    .summary = "print every event, or the whole model as JSON lines",
    .arguments = "[OPTION]... FILE",
    .options = dump_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_dump_run,
};

/* ---- traceview -r ---- */

static const struct tv_option regression_options[] = {
    TV_OPTION("r", NULL, TV_OPTION_FLAG, regression,
              "print the regression text of Android's Traceview"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

static enum tv_status cmd_regression_write(const struct tv_settings *settings,
                                           const struct tv_trace *trace, struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, tv_settings_jobs(settings));
    struct tv_profile *profile = tv_profile_of_tree(tree);
    tv_regression_write(&output.out, trace, profile);
    tv_profile_free(profile);
    tv_call_tree_free(tree);
    return tv_output_close(&output, err);
}

static int cmd_regression_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_regression_write);
}

const struct tv_command tv_command_regression = {
    .name = "-r",
    .summary = "print everything as text, for scripts that compare traces",
    .arguments = "[OPTION]... FILE",
    .options = regression_options,
    .min_files = 1,
    .max_files = 1,
    .reads_traces = true,
    .run = cmd_regression_run,
};
