/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - what the steps of a search share: search.c looks in memory, search_arguments.c in the
 * file.
 */
#ifndef TV_VIEW_SEARCH_H
#define TV_VIEW_SEARCH_H

#include "analysis/search/text_search.h"
#include "view/state.h"

enum tv_view_field {
    TV_FIELD_NAME = 1,
    TV_FIELD_CATEGORY = 2,
    TV_FIELD_ARGUMENTS = 4,
};

/* Where a step begins, and ends: the text of a cursor is "letter.a.b". */
struct tv_view_cursor {
    enum tv_view_phase {
        TV_PHASE_SLICES,   /* a: row, b: index */
        TV_PHASE_INSTANTS, /* a: number */
        TV_PHASE_COUNTERS, /* the same */
        TV_PHASE_OBJECTS,  /* the same, and so on */
        TV_PHASE_FLOWS,
        TV_PHASE_SAMPLES,
        TV_PHASE_THREADS, /* processes behind them */
        TV_PHASE_METADATA,
        TV_PHASE_ARGUMENTS, /* a: input, b: offset */
        TV_PHASE_OVER,
    } phase;
    uint64_t a, b;
};

struct tv_view_search {
    const struct tv_view *view;
    const struct tv_trace *trace;
    struct tv_selection selection;
    bool *wanted; /* [tracks] */
    struct tv_text_search needle;
    unsigned fields; /* enum tv_view_field: searched in */
    uint8_t *frames; /* [frames] the fields that match */
    bool any_frame;
    struct tv_view_cursor cursor;
    uint8_t *paths;  /* [paths] the same of the stacks of samples; NULL: not known yet */
    bool count_only; /* hits are counted, not told */
    uint32_t found, limit;
    struct tv_out *out;
};

/* Whether an event that begins then lies in the range and tracks. */
static inline bool tv_view_search_wants(const struct tv_view_search *search, tv_ns time,
                                        tv_ns length, uint32_t track)
{
    const struct tv_selection *selection = &search->selection;
    if (time >= selection->to || (time < selection->from && time + length <= selection->from))
        return false;
    return track == TV_NONE ? selection->tracks == NULL : search->wanted[track];
}

/* A step in the arguments of the events of the input at the cursor; whether it has no more. On
 * failure the step is over as well, with what it had found. */
bool tv_view_search_arguments(struct tv_view_search *search);

#endif
