/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/losses.h"

#include "base/memory.h"

static void losses_write_line(struct tv_out *out, const char *text)
{
    tv_out_format(out, "%s\n", text);
}

static void losses_write_count(struct tv_out *out, uint64_t count, const char *text)
{
    if (count == 0)
        return;
    tv_out_counted(out, count, text);
    tv_out_char(out, '\n');
}

/* Write a line for each limitation of the target version that affected the trace. */
static void losses_write_file_limits(struct tv_out *out, enum tv_trace_target target,
                                     const struct tv_trace_file_losses *losses)
{
    if (losses->cpu_clock)
        losses_write_line(out, "this version has one clock: CPU times are left out");
    if (losses->wall_clock)
        losses_write_line(out, "this version has one clock: real times are left out");
    if (losses->invented_clock)
        losses_write_line(out, "this version has two clocks: the one that is missing reads 0");
    losses_write_count(out, losses->renumbered,
                       target == TV_TRACE_V1
                           ? "thread|threads renumbered: ids of this version have one byte"
                           : "thread|threads renumbered: ids of this version have two bytes");
    losses_write_count(out, losses->rounded, "record|records rounded down to whole microseconds");
    losses_write_count(
        out, losses->long_steps,
        "step|steps between records too long for 32-bit microseconds: what follows is 71 minutes "
        "35 seconds, or a multiple of it, too early");
    losses_write_count(out, losses->unnested,
                       "slice|slices that is|are no nested call|calls of a thread left out");
    losses_write_count(out, losses->renamed,
                       "name|names with tabs or line breaks, or too long, changed");
    if (losses->inputs > 1)
        losses_write_line(out,
                          "several files became one: only the first one's properties are kept");
}

/* Write lines for everything that was not a call in the trace. `stray_exits` exits were written
 * nevertheless. */
static void losses_write_dropped(struct tv_out *out, const struct tv_head *head,
                                 uint64_t stray_exits)
{
    const struct tv_diagnostic *kinds = head->diagnostics.kinds;
    uint64_t ignored = kinds[TV_DIAGNOSTIC_IGNORED_EXIT].count;
    losses_write_count(out, ignored > stray_exits ? ignored - stray_exits : 0,
                       "exit|exits of methods that were not on the stack left out");
    losses_write_count(out, kinds[TV_DIAGNOSTIC_TOO_DEEP].count,
                       "call|calls that was|were nested too deep left out");
    for (uint32_t i = 0; i < head->input_count; i++) {
        if (head->inputs[i].assembled) {
            losses_write_line(out,
                              "only calls are kept: no arguments, counters, arrows and the like");
            break;
        }
    }
}

/* Write a line for everything that Trace Event JSON cannot represent. */
static void losses_write_event_limits(struct tv_out *out,
                                      const struct tv_trace_event_losses *losses)
{
    losses_write_count(
        out, losses->namesakes,
        "method|methods of the name of another becomes|become one with it when the result is read: "
        "signatures and files are arguments");
    losses_write_count(
        out, losses->processors,
        "slice|slices of processors becomes|become slices of threads, one a processor");
    losses_write_count(out, losses->states,
                       "slice|slices of states of threads becomes|become asynchronous");
    losses_write_count(out, losses->wakeups,
                       "wake-up|wake-ups or reason|reasons of blocking left out");
    losses_write_count(
        out, losses->ownerless,
        "counter|counters of no process becomes|become those of a process made for them");
    losses_write_count(
        out, losses->others,
        "objects, memory dumps, contexts, marks of clocks or stacks of slices left out");
}

void tv_losses_write_method_trace(struct tv_out *out, const struct tv_trace *trace,
                                  enum tv_trace_target target,
                                  const struct tv_trace_file_losses *losses)
{
    losses_write_file_limits(out, target, losses);
    losses_write_dropped(out, trace->head, losses->stray_exits);
}

void tv_losses_write_events(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_excerpt_losses *losses)
{
    if (tv_head_figures(trace->head) == TV_FIGURES_SAMPLED)
        losses_write_line(
            out, "the events do not tell that the trace was sampled: they read as counted calls");
    if (tv_head_figures(trace->head) == TV_FIGURES_SAMPLES)
        losses_write_line(out, "samples become calls of a microsecond each");
    losses_write_event_limits(out, &losses->events.model);
    losses_write_count(out, losses->flows, "flow|flows left out, as one of the ends is left out");
    losses_write_count(
        out, losses->events.samples,
        "sample|samples names|name the thread by an id that threads of several files have: it "
        "becomes the last one's");
    if (tv_rewrite_can(trace))
        return;
    if (trace->cpu_axis)
        losses_write_line(out, "no real clock: ts is each thread's own CPU time");
    losses_write_dropped(out, trace->head, 0);
}

enum { CUT_BEGIN = 1, CUT_END = 2 };

/* Return the ends of the range that slices of a row touch. */
static unsigned losses_ends_of_row(const struct tv_trace *made, uint32_t row, tv_ns from, tv_ns to)
{
    uint32_t count = made->rows[row].count;
    if (count == 0)
        return 0;
    struct tv_slice first = tv_slice_get(made, row, 0), last = tv_slice_get(made, row, count - 1);
    return (first.start <= from ? CUT_BEGIN : 0) | (last.start + last.length >= to ? CUT_END : 0);
}

/* Count overlapping slices that became nested: of two overlapping slices, one is inside the
 * other when both are cut at the same end. */
static uint64_t losses_count_cut_overlaps(const struct tv_excerpt *excerpt)
{
    const struct tv_trace *made = excerpt->made;
    uint64_t count = 0;
    tv_ns from, to;
    if (!made || !tv_cut_range(excerpt->trace, excerpt->cut, &from, &to))
        return 0;
    uint8_t *cut = tv_alloc(made->head->thread_count, 1); /* [thread_count] ends that the nested
                                                           * slices of each thread touch */
    for (uint32_t i = 0; i < made->row_count; i++) {
        const struct tv_track *track = &made->tracks[made->rows[i].track];
        if (track->kind == TV_TRACK_THREAD)
            cut[track->thread] |= (uint8_t)losses_ends_of_row(made, i, from, to);
    }
    for (uint32_t i = 0; i < made->row_count; i++) {
        const struct tv_track *track = &made->tracks[made->rows[i].track];
        if (track->kind == TV_TRACK_OVERFLOW)
            count += (losses_ends_of_row(made, i, from, to) & cut[track->thread]) != 0;
    }
    tv_free(cut);
    return count;
}

void tv_losses_write_excerpt(struct tv_out *out, const struct tv_excerpt *excerpt, bool file,
                             const struct tv_excerpt_losses *losses)
{
    bool cpu;
    if (file)
        tv_losses_write_method_trace(out, excerpt->trace, tv_excerpt_target(excerpt->trace, &cpu),
                                     &losses->file);
    else
        tv_losses_write_events(out, excerpt->trace, losses);
    if (!file)
        losses_write_count(
            out, losses_count_cut_overlaps(excerpt),
            "slice|slices that overlapped others is|are cut where these are, and nests|nest now");
}
