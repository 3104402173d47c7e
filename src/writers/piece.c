/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/piece.h"

#include "base/bytes.h"
#include "model/sift.h"

void tv_excerpt_make(struct tv_excerpt *excerpt, const struct tv_trace *trace,
                     const struct tv_cut *cut)
{
    *excerpt = (struct tv_excerpt){.trace = trace, .cut = cut};
    if (!tv_cut_is_all(trace, cut))
        excerpt->made = tv_cut_trace(trace, cut);
}

void tv_excerpt_release(struct tv_excerpt *excerpt)
{
    if (excerpt->made)
        tv_trace_free(excerpt->made);
    excerpt->made = NULL;
}

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
    plain.disguise = NULL;
    tv_out_init(&out, excerpt_discard_bytes, NULL);
    enum tv_status status = tv_excerpt_write_method_trace(&plain, &out, &losses, &err);
    tv_out_release(&out);
    return status != TV_OK || losses.file.long_steps == 0;
}

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
    bool all = !excerpt->made && !excerpt->trace->sifted;
    if (!all && tv_trace_is_empty(excerpt_trace_of(excerpt)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "nothing of the trace is in the selection");
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
    const struct tv_head *head = trace->head;
    unsigned clocks = tv_head_clocks(head);
    *cpu = !(clocks & TV_CLOCK_WALL);
    if (head->input_count == 1 && !head->inputs[0].assembled)
        for (size_t i = 0; i < TV_COUNT(versions); i++)
            if (tv_bytes_equal(tv_head_text(head, head->inputs[0].version),
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
    if (!excerpt->disguise)
        return excerpt_trace_of(excerpt);
    *redaction = tv_redaction_new(excerpt_trace_of(excerpt), excerpt->disguise);
    return tv_redaction_trace(*redaction);
}

enum tv_status tv_excerpt_write_method_trace(const struct tv_excerpt *excerpt, struct tv_out *out,
                                             struct tv_excerpt_losses *losses, struct tv_error *err)
{
    struct tv_trace_file_options options = {
        .used = excerpt->made || excerpt->trace->sifted || excerpt->disguise,
        .closed = excerpt->trace->sifted,
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
    struct tv_keep keep = *excerpt->cut->keep;
    struct tv_rewrite_excerpt rewrite = {.keep = &keep,
                                         .tracks_only = excerpt->cut->tracks_only,
                                         .modelled = excerpt->disguise != NULL,
                                         .limit = excerpt->limit};
    struct tv_redaction *redaction;
    bool whole = !excerpt->made && !excerpt->trace->sifted && !excerpt->disguise && !excerpt->limit;
    enum tv_status status = TV_OK;
    keep.tracks = NULL;
    if (excerpt->disguise) { /* with hashed names, the selections by name no longer match */
        keep.frames = NULL;
        keep.category = NULL;
    }
    *losses = (struct tv_excerpt_losses){.flows = tv_cut_lost_flows(excerpt->trace, excerpt->cut)};
    rewrite.ranged = tv_cut_range(excerpt->trace, excerpt->cut, &rewrite.from, &rewrite.to);
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
