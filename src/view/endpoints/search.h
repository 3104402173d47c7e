/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - what the steps of a search share: search.c looks in memory, search_arguments.c in
 * the input files.
 */
#ifndef TV_VIEW_ENDPOINTS_SEARCH_H
#define TV_VIEW_ENDPOINTS_SEARCH_H

#include "analysis/search/text_search.h"
#include "view/internal.h"

enum tv_view_field {
    TV_FIELD_NAME = 1,
    TV_FIELD_CATEGORY = 2,
    TV_FIELD_ARGUMENTS = 4,
};

/* Begin and end of a step; as text "letter.a.b". */
struct tv_view_cursor {
    enum tv_view_phase {
        TV_PHASE_SLICES,   /* a: row, b: index */
        TV_PHASE_INSTANTS, /* a: number */
        TV_PHASE_COUNTERS, /* likewise */
        TV_PHASE_OBJECTS,  /* likewise for the rest */
        TV_PHASE_FLOWS,
        TV_PHASE_SAMPLES,
        TV_PHASE_THREADS, /* then processes */
        TV_PHASE_METADATA,
        TV_PHASE_ARGUMENTS, /* a: input, b: offset; beyond the end, rows of samples */
        TV_PHASE_OVER,
    } phase;
    uint64_t a, b;
};

struct tv_view_search {
    const struct tv_view *view;
    const struct tv_trace *trace;
    struct tv_selection selection;
    bool *wanted; /* [tracks] */
    struct tv_text_search query;
    unsigned fields; /* enum tv_view_field to search in */
    uint8_t *frames; /* [frames] matching fields */
    bool any_frame;
    struct tv_view_cursor cursor;
    uint8_t *paths;  /* [paths] matching fields of samples' stacks; NULL: not computed yet */
    bool count_only; /* count hits without listing them */
    uint32_t found, limit;
    struct tv_out *out;
};

/* Return true if an event that begins at `time` is in the range and on a wanted track. */
static inline bool tv_view_search_wants(const struct tv_view_search *search, tv_ns time,
                                        tv_ns length, uint32_t track)
{
    const struct tv_selection *selection = &search->selection;
    if (time >= selection->to || (time < selection->from && time + length <= selection->from))
        return false;
    return track == TV_NONE ? selection->tracks == NULL : search->wanted[track];
}

/* Do one step in the arguments of events of the cursor's input; return true if the input is done.
 * On failure the step ends with what it has found. */
bool tv_view_search_arguments(struct tv_view_search *search);

#endif
