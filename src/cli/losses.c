/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/losses.h"

#include <inttypes.h>
#include <stdio.h>

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
static void name_file_losses(const char *name, enum tv_trace_target target,
                             const struct tv_trace_losses *losses)
{
    if (losses->cpu_clock)
        say(name, "this version has one clock: CPU times are left out");
    if (losses->wall_clock)
        say(name, "this version has one clock: real times are left out");
    if (losses->invented_clock)
        say(name, "this version has two clocks: the one that is missing reads 0");
    say_count(name, losses->renumbered,
              target == TV_TRACE_V1 ? "threads renumbered: ids of this version have one byte"
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

void tv_losses_of_file(const char *name, const struct tv_trace *trace, enum tv_trace_target target,
                       const struct tv_trace_losses *losses)
{
    name_file_losses(name, target, losses);
    name_dropped(name, trace->head, losses->stray_exits);
}

void tv_losses_of_events(const char *name, const struct tv_trace *trace,
                         const struct tv_piece_losses *losses)
{
    name_model_losses(name, &losses->events.model);
    say_count(name, losses->flows, "flows left out, as one of their ends is left out");
    say_count(name, losses->events.samples,
              "samples name their thread by an id that threads of several files have: they become "
              "the last one's");
    if (tv_rewrite_can(trace))
        return;
    if (trace->cpu_axis)
        say(name, "no real clock: ts is each thread's own CPU time");
    name_dropped(name, trace->head, 0);
}
