/* SPDX-License-Identifier: Apache-2.0 */
/*
 * save.c - a selection as a trace of its own: the same bytes that `cut` writes.
 */
#include "base/memory.h"
#include "view/state.h"
#include "writers/piece.h"

/* The chosen tracks, and their threads. */
static void keep_tracks(const struct tv_trace *trace, const struct tv_selection *selection,
                        struct tv_keep *keep)
{
    keep->tracks = tv_alloc(trace->track_count, sizeof *keep->tracks);
    keep->threads = tv_alloc(trace->head->thread_count, sizeof *keep->threads);
    for (uint32_t i = 0; i < selection->track_count; i++) {
        uint32_t track = selection->tracks[i];
        if (track >= trace->track_count)
            continue;
        keep->tracks[track] = true;
        if (trace->tracks[track].thread != TV_NONE)
            keep->threads[trace->tracks[track].thread] = true;
    }
}

static enum tv_status write_piece(const struct tv_trace *trace, const struct tv_cut *cut, bool file,
                                  struct tv_out *out, struct tv_error *err)
{
    struct tv_piece piece;
    struct tv_piece_losses losses;
    tv_piece_make(&piece, trace, cut);
    enum tv_status status = tv_piece_check(&piece, file, err);
    if (status == TV_OK)
        status = file ? tv_piece_write_file(&piece, out, &losses, err)
                      : tv_piece_write_events(&piece, out, &losses, err);
    tv_piece_release(&piece);
    return status;
}

enum tv_status tv_view_save(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    static const char *const kinds[] = {"json", "trace", NULL};
    struct tv_selection selection;
    struct tv_keep keep = {.processes = NULL};
    unsigned kind;
    enum tv_status status = tv_parameter_choice(parameters, "as", kinds, &kind, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    if (selection.tracks)
        keep_tracks(view->trace, &selection, &keep);
    struct tv_cut cut = {&keep, selection.from, selection.to, selection.tracks != NULL};
    status = write_piece(view->trace, &cut, kind == 1, out, err);
    tv_keep_release(&keep);
    tv_parameter_release_selection(&selection);
    return status;
}
