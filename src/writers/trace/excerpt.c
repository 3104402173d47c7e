/* SPDX-License-Identifier: Apache-2.0 */
/*
 * excerpt.c - excerpts of a trace, and lines about what they lost when they were written.
 *
 *     trace --crop--> excerpt --redact?--> method trace     calls of threads only
 *                                      '-> rewrite          input in JSON: the file's own events
 *                                      '-> trace events     everything else, from the model
 *
 * Every target loses something that the model holds.  Writers count what they lose; the second
 * half of this file puts the counts into words, which a command prints on standard error and a
 * report shows in its note.
 */
#include "writers/trace/excerpt.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/subset/subset.h"

void tv_excerpt_make(struct tv_excerpt *excerpt, const struct tv_trace *trace,
                     const struct tv_crop *cut)
{
    *excerpt = (struct tv_excerpt){.trace = trace, .cut = cut};
    if (!tv_crop_is_everything(trace, cut))
        excerpt->made = tv_crop_trace(trace, cut);
}

void tv_excerpt_release(struct tv_excerpt *excerpt)
{
    if (excerpt->made)
        tv_trace_free(excerpt->made);
    excerpt->made = NULL;
}

/* Return the trace of the excerpt: the cropped one, or the whole trace when nothing was cut. */
static const struct tv_trace *excerpt_trace_of(const struct tv_excerpt *excerpt)
{
    return excerpt->made ? excerpt->made : excerpt->trace;
}

uint64_t tv_excerpt_slice_count(const struct tv_excerpt *excerpt)
{
    return excerpt_trace_of(excerpt)->slice_count;
}

bool tv_excerpt_can_be_method_trace(const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_THREAD && trace->tracks[i].slice_count > 0)
            return true;
    return false;
}

/* Half of the range of 32-bit microseconds. Only longer traces need a look at all their records. */
#define LONG (((tv_ns)1 << 31) * 1000)

/* Return false when neither clock gets so far that a step could be too long. */
static bool excerpt_may_be_too_long(const struct tv_trace *trace)
{
    if (trace->end >= LONG || trace->end - trace->start >= LONG)
        return true;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->row_count == 0 || trace->rows[track->first_row].count == 0)
            continue;
        uint32_t row = track->first_row, last = trace->rows[row].count - 1;
        struct tv_slice slice = tv_slice_get(trace, row, last);
        if (slice.cpu_start + slice.cpu_length >= LONG)
            return true;
    }
    return false;
}

/* The write function of an output that nobody wants. */
static enum tv_status excerpt_discard_bytes(void *context, struct tv_bytes bytes,
                                            struct tv_error *err)
{
    (void)context, (void)bytes, (void)err;
    return TV_OK;
}

/* Write the excerpt to nowhere: only the writer knows the steps between its records. */
static bool excerpt_try_as_file(const struct tv_excerpt *excerpt)
{
    struct tv_excerpt plain = *excerpt;
    struct tv_excerpt_losses losses;
    struct tv_error err;
    struct tv_out out;
    plain.redaction = NULL;
    tv_out_init(&out, excerpt_discard_bytes, NULL);
    enum tv_status status = tv_excerpt_write_method_trace(&plain, &out, &losses, &err);
    tv_out_release(&out);
    return status != TV_OK || losses.file.long_steps == 0;
}

/* Remember the answer, because it may need a pass over all records. */
static bool excerpt_fits_in_file(struct tv_excerpt *excerpt)
{
    if (!excerpt->tried)
        excerpt->fits =
            !excerpt_may_be_too_long(excerpt_trace_of(excerpt)) || excerpt_try_as_file(excerpt);
    excerpt->tried = true;
    return excerpt->fits;
}

bool tv_excerpt_is_method_trace(struct tv_excerpt *excerpt)
{
    return !tv_rewrite_can(excerpt->trace) && excerpt_fits_in_file(excerpt);
}

enum tv_status tv_excerpt_check(struct tv_excerpt *excerpt, bool file, struct tv_error *err)
{
    bool all = !excerpt->made && !excerpt->trace->is_subset;
    assert(excerpt->trace && excerpt->cut);
    if (!all && tv_trace_is_empty(excerpt_trace_of(excerpt)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "nothing of the trace is in the selection");
    if (all && !file && !tv_rewrite_keeps_text(excerpt->trace) && tv_trace_is_empty(excerpt->trace))
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "the trace has no events, and only a method trace may have none");
    if (file && !tv_excerpt_can_be_method_trace(excerpt_trace_of(excerpt)) &&
        (!all || tv_rewrite_can(excerpt->trace)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "no call of a thread is there, and a method trace holds nothing else");
    if (file && !excerpt_fits_in_file(excerpt))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "between two records lie more than the 70 minutes that a method trace can "
                       "tell: write it as JSON");
    return TV_OK;
}

enum tv_trace_target tv_excerpt_target(const struct tv_trace *trace, bool *cpu)
{
    static const struct {
        const char *version;
        enum tv_trace_target target;
    } versions[] = {
        {"1", TV_TRACE_V1},          {"2", TV_TRACE_V2},          {"3", TV_TRACE_V3},
        {"0xF2", TV_TRACE_STREAM_1}, {"0xF3", TV_TRACE_STREAM_2},
    };
    const struct tv_trace_info *head = trace->head;
    unsigned clocks = tv_trace_info_clocks(head);
    *cpu = !(clocks & TV_CLOCK_WALL);
    if (head->input_count == 1 && !head->inputs[0].assembled)
        for (size_t i = 0; i < TV_COUNT(versions); i++)
            if (tv_bytes_equal(tv_trace_info_text(head, head->inputs[0].version),
                               tv_bytes_of(versions[i].version)))
                return versions[i].target;
    return clocks == (TV_CLOCK_WALL | TV_CLOCK_CPU) ? TV_TRACE_V3 : TV_TRACE_V2;
}

/* ---- Writing ---- */

/* Return the trace to write. The caller frees *redaction, which may be NULL, afterwards. */
static const struct tv_trace *excerpt_begin_writing(const struct tv_excerpt *excerpt,
                                                    struct tv_redaction **redaction)
{
    *redaction = NULL;
    if (!excerpt->redaction)
        return excerpt_trace_of(excerpt);
    *redaction = tv_redaction_new(excerpt_trace_of(excerpt), excerpt->redaction);
    return tv_redaction_trace(*redaction);
}

enum tv_status tv_excerpt_write_method_trace(const struct tv_excerpt *excerpt, struct tv_out *out,
                                             struct tv_excerpt_losses *losses, struct tv_error *err)
{
    struct tv_trace_file_options options = {
        .used = excerpt->made || excerpt->trace->is_subset || excerpt->redaction,
        .closed = excerpt->trace->is_subset,
    };
    struct tv_redaction *redaction;
    const struct tv_trace *trace = excerpt_begin_writing(excerpt, &redaction);
    *losses = (struct tv_excerpt_losses){.flows = 0};
    options.target = tv_excerpt_target(excerpt->trace, &options.cpu);
    enum tv_status status = tv_trace_file_write(out, trace, &options, &losses->file, err);
    tv_redaction_free(redaction);
    return status;
}

enum tv_status tv_excerpt_write_events(const struct tv_excerpt *excerpt, struct tv_out *out,
                                       struct tv_excerpt_losses *losses, struct tv_error *err)
{
    /* The excerpt consists of the selected tracks only, which have other numbers in it. */
    struct tv_subset keep = *excerpt->cut->keep;
    struct tv_rewrite_excerpt rewrite = {.keep = &keep,
                                         .tracks_only = excerpt->cut->tracks_only,
                                         .modelled = excerpt->redaction != NULL,
                                         .limit = excerpt->limit};
    struct tv_redaction *redaction;
    bool whole =
        !excerpt->made && !excerpt->trace->is_subset && !excerpt->redaction && !excerpt->limit;
    enum tv_status status = TV_OK;
    keep.tracks = NULL;
    if (excerpt->redaction) { /* with hashed names, the selections by name no longer match */
        keep.frames = NULL;
        keep.category = NULL;
    }
    *losses = (struct tv_excerpt_losses){.flows = tv_crop_lost_flows(excerpt->trace, excerpt->cut)};
    rewrite.ranged = tv_crop_range(excerpt->trace, excerpt->cut, &rewrite.from, &rewrite.to);
    const struct tv_trace *trace = excerpt_begin_writing(excerpt, &redaction);
    if (tv_rewrite_can(excerpt->trace))
        status = tv_rewrite(trace, whole ? NULL : &rewrite, out, &losses->events, err);
    else
        tv_trace_event_write(out, trace, &keep, &losses->events.model);
    tv_redaction_free(redaction);
    return status;
}

enum tv_status tv_excerpt_write(const struct tv_excerpt *excerpt, bool file, struct tv_out *out,
                                struct tv_excerpt_losses *losses, struct tv_error *err)
{
    return file ? tv_excerpt_write_method_trace(excerpt, out, losses, err)
                : tv_excerpt_write_events(excerpt, out, losses, err);
}

/* ---- Losses ---- */

/* Write one loss. */
static void losses_write_line(struct tv_out *out, const char *text)
{
    tv_out_format(out, "%s\n", text);
}

/* Write a line that begins with a count, unless the count is 0; `text` has "one|several" forms
 * (tv_out_counted). */
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
                       "name|names, empty, with tabs or line breaks, or too long, changed");
    if (losses->inputs > 1)
        losses_write_line(out,
                          "several files became one: only the first one's properties are kept");
}

/* Write lines for everything that was not a call in the trace. `stray_exits` exits were written
 * nevertheless; `calls_only`: nothing but calls was. */
static void losses_write_dropped(struct tv_out *out, const struct tv_trace_info *head,
                                 uint64_t stray_exits, bool calls_only)
{
    const struct tv_diagnostic *kinds = head->diagnostics.kinds;
    uint64_t ignored = kinds[TV_DIAGNOSTIC_IGNORED_EXIT].count;
    losses_write_count(out, ignored > stray_exits ? ignored - stray_exits : 0,
                       "exit|exits of methods that were not on the stack left out");
    losses_write_count(out, kinds[TV_DIAGNOSTIC_TOO_DEEP].count,
                       "call|calls that was|were nested too deep left out");
    for (uint32_t i = 0; calls_only && i < head->input_count; i++) {
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
    losses_write_count(out, losses->weights,
                       "weight|weights of samples keeps|keep the number, not the unit");
    losses_write_count(
        out, losses->others,
        "objects, memory dumps, contexts, marks of clocks or stacks of slices left out");
}

void tv_losses_write_method_trace(struct tv_out *out, const struct tv_trace *trace,
                                  enum tv_trace_target target,
                                  const struct tv_trace_file_losses *losses)
{
    losses_write_file_limits(out, target, losses);
    losses_write_count(out, tv_tables_sample_count(&trace->tables), "sample|samples left out");
    losses_write_dropped(out, trace->head, losses->stray_exits, true);
}

/* Write lines about samples that read as calls. */
static void losses_write_sampled(struct tv_out *out, const struct tv_trace_info *head)
{
    if (tv_trace_info_figures(head) == TV_FIGURES_SAMPLED)
        losses_write_line(
            out, "the events do not say that the trace was sampled: they read as counted calls");
}

void tv_losses_write_events(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_excerpt_losses *losses)
{
    losses_write_sampled(out, trace->head);
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
    losses_write_dropped(out, trace->head, 0, true);
}

/* Write a line for everything that is something else in a Perfetto trace. */
static void losses_write_perfetto_changes(struct tv_out *out,
                                          const struct tv_perfetto_losses *losses)
{
    losses_write_count(
        out, losses->renumbered,
        "process|processes or thread|threads renumbered: ids are unique numbers above 0");
    losses_write_count(
        out, losses->homeless,
        "thread|threads of no process becomes|become those of a process made for them");
    losses_write_count(
        out, losses->namesakes,
        "method|methods of the name of another becomes|become one with it when the result is read: "
        "signatures and files are arguments");
    losses_write_count(out, losses->unnested,
                       "slice|slices that overlaps|overlap others of the thread becomes|become "
                       "asynchronous");
    losses_write_count(
        out, losses->processors,
        "slice|slices of processors becomes|become asynchronous, on a track for each processor");
    losses_write_count(out, losses->states,
                       "slice|slices of states of threads becomes|become asynchronous");
    losses_write_count(
        out, losses->handed,
        "asynchronous slice|slices that ends|end on another thread: only the first thread is kept");
    losses_write_count(out, losses->series,
                       "counter|counters of several series becomes|become a counter for each");
    losses_write_count(out, losses->rounded, "CPU time|times rounded down to whole microseconds");
    if (losses->moved)
        losses_write_line(out, "some times are below 0: all times are moved");
}

void tv_losses_write_perfetto(struct tv_out *out, const struct tv_trace *trace,
                              const struct tv_perfetto_losses *losses)
{
    losses_write_sampled(out, trace->head);
    losses_write_perfetto_changes(out, losses);
    losses_write_count(out, losses->samples, "sample|samples left out");
    losses_write_count(out, losses->flows,
                       "flow|flows left out, as the end is over before the beginning");
    losses_write_count(out, losses->flow_names, "name|names of flows left out");
    losses_write_count(out, losses->wakeups,
                       "wake-up|wake-ups or reason|reasons of blocking left out");
    losses_write_count(out, losses->metadata, "property|properties of the trace left out");
    losses_write_count(out, losses->others,
                       "objects, memory dumps, contexts, costs of functions, marks of clocks or "
                       "stacks of slices left out");
    if (trace->cpu_axis)
        losses_write_line(out, "no real clock: times are each thread's own CPU time");
    losses_write_dropped(out, trace->head, 0, false);
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
    if (!made || !tv_crop_range(excerpt->trace, excerpt->cut, &from, &to))
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
