/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_states.c - what threads did: running, waiting for a processor, sleeping, blocked; and which
 * thread ran on which processor.
 */
#include <stdio.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/states_table.h"

static const struct tv_option states_options[] = {
    TV_OPTION("format", "text|tsv|csv|json", TV_OPTION_CHOICE, format, "how (default: text)"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, limit, "only the first N threads"),
    TV_OPTION_COLUMNS(TV_STATES_COLUMNS),
    TV_OPTION_THREADS,
    TV_OPTION("process", "NAME|ID", TV_OPTION_LIST, processes,
              "only this process; * stands for anything (may be given again)"),
    TV_OPTION("cpu", "N", TV_OPTION_LIST, cpus,
              "only this processor and what ran there (may be given again)"),
    TV_OPTION_RANGE,
    TV_OPTION_FILTER,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Which processors are wanted, and which threads. */
struct states_selection {
    bool *threads, *cpus; /* NULL: all */
};

static enum tv_status cmd_states_choose_cpu(const struct tv_trace *trace, const char *word, bool *cpus,
                                 struct tv_error *err)
{
    uint64_t number;
    bool found = false;
    if (!tv_parse_u64(tv_bytes_of(word), &number))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--cpu: expected a number, found '%.60s'",
                       word);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_CPU || tv_cpu_number(trace, i) != number)
            continue;
        cpus[i] = true;
        found = true;
    }
    if (!found)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--cpu: the trace tells nothing of CPU %.20s", word);
    return TV_OK;
}

static void cmd_states_choose_threads(const struct tv_settings *settings, const struct tv_head *head,
                           bool *threads)
{
    for (uint32_t i = 0; i < head->thread_count; i++)
        threads[i] = tv_thread_is_wanted(head, i, (void *)(uintptr_t)settings);
}

static enum tv_status cmd_states_choose(const struct tv_settings *settings, const struct tv_trace *trace,
                             struct states_selection *wanted, struct tv_error *err)
{
    enum tv_status status = tv_wishes_check(settings, trace->head, &trace->tables, err);
    if (status == TV_OK && tv_threads_are_chosen(settings)) {
        wanted->threads = tv_alloc(trace->head->thread_count, sizeof *wanted->threads);
        cmd_states_choose_threads(settings, trace->head, wanted->threads);
    }
    if (settings->cpus.count > 0)
        wanted->cpus = tv_alloc(trace->track_count, sizeof *wanted->cpus);
    for (size_t i = 0; status == TV_OK && i < settings->cpus.count; i++)
        status = cmd_states_choose_cpu(trace, settings->cpus.items[i], wanted->cpus, err);
    return status;
}

/* The text says so itself. */
static void cmd_states_note_no_states(const struct tv_settings *settings, const struct tv_trace *trace)
{
    if (settings->format != TV_STATES_TEXT && !settings->quiet && !tv_states_are_told(trace))
        tv_message("%s: note: the trace has no states of threads and no processors",
                   settings->files.items[0]);
}

static enum tv_status cmd_states_write_table(const struct tv_settings *settings, const struct tv_trace *trace,
                                  const struct states_selection *wanted, struct tv_error *err)
{
    struct tv_states_question question = {INT64_MIN, INT64_MAX, wanted->threads, wanted->cpus};
    enum tv_status status = tv_range_choose(settings, trace, &question.from, &question.to, err);
    struct tv_output output;
    if (status == TV_OK)
        status = tv_output_open_text(&output, settings, settings->format == 0, err);
    if (status != TV_OK)
        return status;
    cmd_states_note_no_states(settings, trace);
    struct tv_states *states = tv_states_of(trace, &question);
    tv_states_table_write(&output.out, trace, states, (enum tv_states_format)settings->format,
                          settings->limit);
    tv_states_free(states);
    return tv_output_close(&output, err);
}

static enum tv_status cmd_states_write(const struct tv_settings *settings, const struct tv_trace *trace,
                                   struct tv_error *err)
{
    struct states_selection wanted = {NULL, NULL};
    enum tv_status status = cmd_states_choose(settings, trace, &wanted, err);
    if (status == TV_OK)
        status = cmd_states_write_table(settings, trace, &wanted, err);
    tv_free(wanted.threads);
    tv_free(wanted.cpus);
    return status;
}

static int cmd_states_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_states_write);
}

const struct tv_command tv_command_states = {
    .name = "states",
    .summary = "what threads did: running, runnable, sleeping, blocked; by processor",
    .arguments = "[OPTION]... FILE...",
    .details = "For traces that tell of the scheduler.  Several files are read as one trace.",
    .options = states_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_states_run,
};
