/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/piece.h"

#include "base/bytes.h"
#include "model/sift.h"

void tv_piece_make(struct tv_piece *piece, const struct tv_trace *trace, const struct tv_crop *cut)
{
    *piece = (struct tv_piece){.trace = trace, .cut = cut};
    if (!tv_crop_is_everything(trace, cut))
        piece->made = tv_crop_trace(trace, cut);
}

void tv_piece_release(struct tv_piece *piece)
{
    if (piece->made)
        tv_trace_free(piece->made);
    piece->made = NULL;
}

static const struct tv_trace *trace_of(const struct tv_piece *piece)
{
    return piece->made ? piece->made : piece->trace;
}

uint64_t tv_piece_slices(const struct tv_piece *piece)
{
    return trace_of(piece)->slice_count;
}

bool tv_piece_can_be_file(const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_THREAD && trace->tracks[i].slice_count > 0)
            return true;
    return false;
}

/* Above that a look at all records is worth its time: half of what the clocks can tell. */
#define LONG (((tv_ns)1 << 31) * 1000)

/* Where neither clock gets far there is no step too long. */
static bool may_be_too_long(const struct tv_trace *trace)
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

static enum tv_status drop(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    (void)context, (void)bytes, (void)err;
    return TV_OK;
}

/* The writer itself knows what its records come to. */
static bool try_as_file(const struct tv_piece *piece)
{
    struct tv_piece plain = *piece;
    struct tv_piece_losses losses;
    struct tv_error err;
    struct tv_out out;
    plain.disguise = NULL;
    tv_out_init(&out, drop, NULL);
    enum tv_status status = tv_piece_write_file(&plain, &out, &losses, &err);
    tv_out_release(&out);
    return status != TV_OK || losses.file.long_steps == 0;
}

static bool fits_in_file(struct tv_piece *piece)
{
    if (!piece->tried)
        piece->fits = !may_be_too_long(trace_of(piece)) || try_as_file(piece);
    piece->tried = true;
    return piece->fits;
}

bool tv_piece_is_file(struct tv_piece *piece)
{
    return !tv_rewrite_can(piece->trace) && fits_in_file(piece);
}

enum tv_status tv_piece_check(struct tv_piece *piece, bool file, struct tv_error *err)
{
    bool all = !piece->made && !piece->trace->sifted;
    if (!all && tv_trace_is_empty(trace_of(piece)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "nothing of the trace is in the selection");
    if (file && !tv_piece_can_be_file(trace_of(piece)) && (!all || tv_rewrite_can(piece->trace)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "no call of a thread is there, and a method trace holds nothing else");
    if (file && !fits_in_file(piece))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "between two records lie more than the 70 minutes that a method trace can "
                       "tell: write it as JSON");
    return TV_OK;
}

enum tv_trace_target tv_piece_target(const struct tv_trace *trace, bool *cpu)
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

/* The trace to be written.  *disguise: to be freed behind that, or NULL. */
static const struct tv_trace *begin_writing(const struct tv_piece *piece,
                                            struct tv_disguise **disguise)
{
    *disguise = NULL;
    if (!piece->disguise)
        return trace_of(piece);
    *disguise = tv_disguise_new(trace_of(piece), piece->disguise);
    return tv_disguise_trace(*disguise);
}

enum tv_status tv_piece_write_file(const struct tv_piece *piece, struct tv_out *out,
                                   struct tv_piece_losses *losses, struct tv_error *err)
{
    struct tv_trace_file_options options = {
        .used = piece->made || piece->trace->sifted || piece->disguise,
        .closed = piece->trace->sifted,
    };
    struct tv_disguise *disguise;
    const struct tv_trace *trace = begin_writing(piece, &disguise);
    *losses = (struct tv_piece_losses){.flows = 0};
    options.target = tv_piece_target(piece->trace, &options.cpu);
    enum tv_status status = tv_trace_file_write(out, trace, &options, &losses->file, err);
    tv_disguise_free(disguise);
    return status;
}

enum tv_status tv_piece_write_events(const struct tv_piece *piece, struct tv_out *out,
                                     struct tv_piece_losses *losses, struct tv_error *err)
{
    /* Of the tracks those that are wanted are all that the part has, by other numbers. */
    struct tv_subset keep = *piece->cut->keep;
    struct tv_rewrite_part rewrite = {.keep = &keep,
                                      .tracks_only = piece->cut->tracks_only,
                                      .modelled = piece->disguise != NULL,
                                      .limit = piece->limit};
    struct tv_disguise *disguise;
    bool whole = !piece->made && !piece->trace->sifted && !piece->disguise && !piece->limit;
    enum tv_status status = TV_OK;
    keep.tracks = NULL;
    if (piece->disguise) { /* names of what is wanted are no names any more */
        keep.frames = NULL;
        keep.category = NULL;
    }
    *losses = (struct tv_piece_losses){.flows = tv_crop_lost_flows(piece->trace, piece->cut)};
    rewrite.ranged = tv_crop_range(piece->trace, piece->cut, &rewrite.from, &rewrite.to);
    const struct tv_trace *trace = begin_writing(piece, &disguise);
    if (tv_rewrite_can(piece->trace))
        status = tv_rewrite(trace, whole ? NULL : &rewrite, out, &losses->events, err);
    else
        tv_trace_event_write(out, trace, &keep, &losses->events.model);
    tv_disguise_free(disguise);
    return status;
}

enum tv_status tv_piece_write(const struct tv_piece *piece, bool file, struct tv_out *out,
                              struct tv_piece_losses *losses, struct tv_error *err)
{
    return file ? tv_piece_write_file(piece, out, losses, err)
                : tv_piece_write_events(piece, out, losses, err);
}
