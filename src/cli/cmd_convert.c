/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_convert.c - a trace in another format.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/rewrite.h"
#include "writers/trace_event.h"
#include "writers/trace_file.h"

static const struct tv_option options[] = {
    TV_OPTION("to", "default|v1|v2|v3|f2|f3|json", TV_OPTION_CHOICE, to,
              "Android method trace version 1, 2, 3, streaming 0xF2 or 0xF3, or Trace Event JSON "
              "(default: v3, or v2 with one clock)"),
    TV_OPTION("clock", "real|cpu", TV_OPTION_CHOICE, clock,
              "the clock that v1, v2 and f2 keep (default: real)"),
    TV_OPTION_FILTERS,
    TV_OPTION_OUTPUT,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

enum to {
    TO_DEFAULT,
    TO_V1,
    TO_V2,
    TO_V3,
    TO_F2,
    TO_F3,
    TO_JSON,
};

static enum to choose_target(const struct tv_settings *settings, const struct tv_trace *trace)
{
    if (settings->to != TO_DEFAULT)
        return (enum to)settings->to;
    return tv_head_clocks(trace->head) == (TV_CLOCK_WALL | TV_CLOCK_CPU) ? TO_V3 : TO_V2;
}

static void say(const char *name, const char *text)
{
    fprintf(stderr, "%s: loss: %s\n", name, text);
}

static void say_count(const char *name, uint64_t count, const char *text)
{
    if (count > 0)
        fprintf(stderr, "%s: loss: %" PRIu64 " %s\n", name, count, text);
}

/* What the target could not hold, a line each. */
static void name_losses(const char *name, enum to to, const struct tv_trace_losses *losses)
{
    if (losses->cpu_clock)
        say(name, "this version has one clock: CPU times are left out");
    if (losses->wall_clock)
        say(name, "this version has one clock: real times are left out");
    if (losses->invented_clock)
        say(name, "this version has two clocks: the one that is missing reads 0");
    say_count(name, losses->renumbered,
              to == TO_V1 ? "threads renumbered: ids of this version have one byte"
                          : "threads renumbered: ids of this version have two bytes");
    say_count(name, losses->rounded, "records rounded down to whole microseconds");
    say_count(name, losses->long_steps,
              "steps between records too long for 32-bit microseconds: what follows is 71 minutes "
              "35 seconds, or a multiple of it, too early");
    say_count(name, losses->unnested, "slices that are no nested calls of a thread left out");
    say_count(name, losses->renamed, "names with tabs or line breaks, or too long, changed");
    if (losses->inputs > 1)
        say(name, "several files became one: only the first one's properties are kept");
}

/* What was no call in the trace. `stray_exits` are written all the same. */
static void name_dropped(const char *name, const struct tv_head *head, uint64_t stray_exits)
{
    const struct tv_diagnostic *kinds = head->diagnostics.kinds;
    uint64_t ignored = kinds[TV_DIAGNOSTIC_IGNORED_EXIT].count;
    say_count(name, ignored > stray_exits ? ignored - stray_exits : 0,
              "exits of methods that were not on the stack left out");
    say_count(name, kinds[TV_DIAGNOSTIC_TOO_DEEP].count,
              "calls that were nested too deep left out");
    for (uint32_t i = 0; i < head->input_count; i++) {
        if (head->inputs[i].assembled) {
            say(name, "only calls are kept: no arguments, counters, arrows and the like");
            break;
        }
    }
}

/* What is converted. */
struct converting {
    const struct tv_settings *settings;
    const struct tv_trace *trace;
    struct tv_keep keep;
    enum to to;
    bool cpu;
};

static enum tv_status write_trace_file(const struct converting *c, struct tv_output *output,
                                       struct tv_error *err)
{
    const struct tv_settings *settings = c->settings;
    static const enum tv_trace_target targets[] = {
        [TO_V1] = TV_TRACE_V1,       [TO_V2] = TV_TRACE_V2,       [TO_V3] = TV_TRACE_V3,
        [TO_F2] = TV_TRACE_STREAM_1, [TO_F3] = TV_TRACE_STREAM_2,
    };
    struct tv_trace_file_options file = {targets[c->to], c->cpu, &c->keep};
    struct tv_trace_losses losses;
    enum tv_status status = tv_trace_file_write(&output->out, c->trace, &file, &losses, err);
    if (status == TV_OK && !settings->quiet) {
        name_losses(settings->files.items[0], c->to, &losses);
        name_dropped(settings->files.items[0], c->trace->head, losses.stray_exits);
    }
    return status;
}

/* What the model could not be written as. */
static void name_model_losses(const char *name, const struct tv_trace_event_losses *losses)
{
    say_count(name, losses->namesakes,
              "methods of the name of another become one with it when the result is read: "
              "signatures and files are arguments");
    say_count(name, losses->processors,
              "slices of processors become slices of threads, one a processor");
    say_count(name, losses->states, "slices of states of threads become asynchronous slices");
    say_count(name, losses->wakeups, "wake-ups and reasons of blocking left out");
    say_count(name, losses->ownerless,
              "counters of no process become those of a process made for them");
    say_count(name, losses->others, "rows of other tables left out");
}

static void write_calls(const struct converting *c, struct tv_output *output)
{
    const struct tv_settings *settings = c->settings;
    const struct tv_trace *trace = c->trace;
    const char *name = settings->files.items[0];
    struct tv_trace_event_losses losses;
    tv_trace_event_write(&output->out, trace, &c->keep, &losses);
    if (settings->quiet)
        return;
    name_model_losses(name, &losses);
    if (trace->cpu_axis)
        say(name, "no real clock: ts is each thread's own CPU time");
    name_dropped(name, trace->head, 0);
}

static enum tv_status write_everything(const struct converting *c, struct tv_output *output,
                                       struct tv_error *err)
{
    const struct tv_settings *settings = c->settings;
    const char *name = settings->files.items[0];
    struct tv_rewrite_losses losses;
    enum tv_status status = tv_rewrite(c->trace, &c->keep, &output->out, &losses, err);
    if (status != TV_OK || settings->quiet)
        return status;
    name_model_losses(name, &losses.model);
    say_count(name, losses.flows + losses.model.flows,
              "flows left out, as the filters leave out one of their ends");
    say_count(name, losses.samples,
              "samples name their thread by an id that threads of several files have: they become "
              "the last one's");
    return TV_OK;
}

static enum tv_status write_target(const struct converting *c, struct tv_error *err)
{
    const struct tv_settings *settings = c->settings;
    struct tv_output output;
    struct tv_error late = {0};
    enum tv_status status =
        c->to == TO_JSON ? tv_output_open(&output, settings->output, settings->quiet, err)
                         : tv_output_open_binary(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    if (c->to != TO_JSON)
        status = write_trace_file(c, &output, err);
    else if (tv_rewrite_can(c->trace) && !settings->filter)
        status = write_everything(c, &output, err);
    else
        write_calls(c, &output);
    if (tv_output_close(&output, &late) != TV_OK && status == TV_OK) {
        *err = late;
        return late.status;
    }
    return status;
}

static enum tv_status convert(const struct tv_settings *settings, const struct tv_trace *trace,
                              struct tv_error *err)
{
    struct converting c = {
        .settings = settings, .trace = trace, .to = choose_target(settings, trace)};
    enum tv_status status = TV_OK;
    if (c.to != TO_JSON)
        status = tv_clock_choose(settings, tv_head_clocks(trace->head), &c.cpu, err);
    if (status != TV_OK)
        return status;
    status = tv_keep_make(settings, trace, &c.keep, err);
    if (status == TV_OK)
        status = write_target(&c, err);
    tv_keep_release(&c.keep);
    return status;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, convert);
}

const struct tv_command tv_command_convert = {
    .name = "convert",
    .summary = "a trace in another version or format",
    .arguments = "[OPTION]... FILE...",
    .details = "Every loss is named on standard error.  Several files become one trace.",
    .options = options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .run = run,
};
