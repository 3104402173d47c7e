/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/losses.h"

#include "base/memory.h"

static void say(struct tv_out *out, const char *text)
{
    tv_out_format(out, "%s\n", text);
}

static void say_count(struct tv_out *out, uint64_t count, const char *text)
{
    if (count == 0)
        return;
    tv_out_counted(out, count, text);
    tv_out_char(out, '\n');
}

/* What the target could not hold, a line each. */
static void name_file_losses(struct tv_out *out, enum tv_trace_target target,
                             const struct tv_trace_losses *losses)
{
    if (losses->cpu_clock)
        say(out, "this version has one clock: CPU times are left out");
    if (losses->wall_clock)
        say(out, "this version has one clock: real times are left out");
    if (losses->invented_clock)
        say(out, "this version has two clocks: the one that is missing reads 0");
    say_count(out, losses->renumbered,
              target == TV_TRACE_V1
                  ? "thread|threads renumbered: ids of this version have one byte"
                  : "thread|threads renumbered: ids of this version have two bytes");
    say_count(out, losses->rounded, "record|records rounded down to whole microseconds");
    say_count(
        out, losses->long_steps,
        "step|steps between records too long for 32-bit microseconds: what follows is 71 minutes "
        "35 seconds, or a multiple of it, too early");
    say_count(out, losses->unnested,
              "slice|slices that is|are no nested call|calls of a thread left out");
    say_count(out, losses->renamed, "name|names with tabs or line breaks, or too long, changed");
    if (losses->inputs > 1)
        say(out, "several files became one: only the first one's properties are kept");
}

/* What was no call in the trace. `stray_exits` are written all the same. */
static void name_dropped(struct tv_out *out, const struct tv_head *head, uint64_t stray_exits)
{
    const struct tv_diagnostic *kinds = head->diagnostics.kinds;
    uint64_t ignored = kinds[TV_DIAGNOSTIC_IGNORED_EXIT].count;
    say_count(out, ignored > stray_exits ? ignored - stray_exits : 0,
              "exit|exits of methods that were not on the stack left out");
    say_count(out, kinds[TV_DIAGNOSTIC_TOO_DEEP].count,
              "call|calls that was|were nested too deep left out");
    for (uint32_t i = 0; i < head->input_count; i++) {
        if (head->inputs[i].assembled) {
            say(out, "only calls are kept: no arguments, counters, arrows and the like");
            break;
        }
    }
}

/* What the model could not be written as. */
static void name_model_losses(struct tv_out *out, const struct tv_trace_event_losses *losses)
{
    say_count(
        out, losses->namesakes,
        "method|methods of the name of another becomes|become one with it when the result is read: "
        "signatures and files are arguments");
    say_count(out, losses->processors,
              "slice|slices of processors becomes|become slices of threads, one a processor");
    say_count(out, losses->states, "slice|slices of states of threads becomes|become asynchronous");
    say_count(out, losses->wakeups, "wake-up|wake-ups or reason|reasons of blocking left out");
    say_count(out, losses->ownerless,
              "counter|counters of no process becomes|become those of a process made for them");
    say_count(out, losses->others,
              "objects, memory dumps, contexts, marks of clocks or stacks of slices left out");
}

void tv_losses_of_file(struct tv_out *out, const struct tv_trace *trace,
                       enum tv_trace_target target, const struct tv_trace_losses *losses)
{
    name_file_losses(out, target, losses);
    name_dropped(out, trace->head, losses->stray_exits);
}

void tv_losses_of_events(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_piece_losses *losses)
{
    if (tv_head_figures(trace->head) == TV_FIGURES_SAMPLED)
        say(out, "the events do not tell that the trace was sampled: they read as counted calls");
    if (tv_head_figures(trace->head) == TV_FIGURES_SAMPLES)
        say(out, "samples become calls of a microsecond each");
    name_model_losses(out, &losses->events.model);
    say_count(out, losses->flows, "flow|flows left out, as one of the ends is left out");
    say_count(
        out, losses->events.samples,
        "sample|samples names|name the thread by an id that threads of several files have: it "
        "becomes the last one's");
    if (tv_rewrite_can(trace))
        return;
    if (trace->cpu_axis)
        say(out, "no real clock: ts is each thread's own CPU time");
    name_dropped(out, trace->head, 0);
}

enum { CUT_BEGIN = 1, CUT_END = 2 };

/* Which ends of the range a row has a slice at. */
static unsigned ends_of_row(const struct tv_trace *made, uint32_t row, tv_ns from, tv_ns to)
{
    uint32_t count = made->rows[row].count;
    if (count == 0)
        return 0;
    struct tv_slice first = tv_slice_get(made, row, 0), last = tv_slice_get(made, row, count - 1);
    return (first.start <= from ? CUT_BEGIN : 0) | (last.start + last.length >= to ? CUT_END : 0);
}

/* Of two slices that overlap one is inside of the other where both are cut at the same end. */
static uint64_t count_cut_overlaps(const struct tv_piece *piece)
{
    const struct tv_trace *made = piece->made;
    uint64_t count = 0;
    tv_ns from, to;
    if (!made || !tv_crop_range(piece->trace, piece->cut, &from, &to))
        return 0;
    uint8_t *cut = tv_alloc(made->head->thread_count, 1); /* of each thread's other slices */
    for (uint32_t i = 0; i < made->row_count; i++) {
        const struct tv_track *track = &made->tracks[made->rows[i].track];
        if (track->kind == TV_TRACK_THREAD)
            cut[track->thread] |= (uint8_t)ends_of_row(made, i, from, to);
    }
    for (uint32_t i = 0; i < made->row_count; i++) {
        const struct tv_track *track = &made->tracks[made->rows[i].track];
        if (track->kind == TV_TRACK_OVERFLOW)
            count += (ends_of_row(made, i, from, to) & cut[track->thread]) != 0;
    }
    tv_free(cut);
    return count;
}

void tv_losses_of_piece(struct tv_out *out, const struct tv_piece *piece, bool file,
                        const struct tv_piece_losses *losses)
{
    bool cpu;
    if (file)
        tv_losses_of_file(out, piece->trace, tv_piece_target(piece->trace, &cpu), &losses->file);
    else
        tv_losses_of_events(out, piece->trace, losses);
    if (!file)
        say_count(
            out, count_cut_overlaps(piece),
            "slice|slices that overlapped others is|are cut where these are, and nests|nest now");
}
