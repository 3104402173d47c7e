/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserved colours of frames: one that all slices and instants of a name have is the name's, so
 * that lists, and strips of what is too small for a bar, show what the bars show.
 */
#include "base/memory.h"
#include "view/state.h"

/* Beside the numbers of reserved colours. */
enum { NOTHING_SEEN = 254, SEVERAL = 255 };

static void see(uint8_t *colours, uint32_t frame, uint8_t colour)
{
    if (colours[frame] == NOTHING_SEEN)
        colours[frame] = colour;
    else if (colours[frame] != colour)
        colours[frame] = SEVERAL;
}

/* Extras are sorted as the slices are walked, so that `next` only goes forward. */
static void see_row(const struct tv_trace *trace, uint32_t row, size_t *next, uint8_t *colours)
{
    const struct tv_tables *tables = &trace->tables;
    const uint32_t *paths = tv_row_columns(trace, row)->path + trace->rows[row].first;
    for (uint32_t i = 0; i < trace->rows[row].count; i++) {
        uint32_t frame = trace->paths.nodes[paths[i]].frame;
        uint8_t own = 0;
        if (*next < tables->slice_extras.count && tables->slice_extras.rows[*next].row == row &&
            tables->slice_extras.rows[*next].index == i)
            own = tables->slice_extras.rows[(*next)++].colour;
        see(colours, frame, own ? own : trace->head->frames[frame].colour);
    }
}

static bool any_colour(const struct tv_tables *tables)
{
    for (size_t i = 0; i < tables->slice_extras.count; i++)
        if (tables->slice_extras.rows[i].colour)
            return true;
    return false;
}

uint8_t *tv_view_frame_colours(const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    bool by_slice = any_colour(&trace->tables);
    size_t next = 0;
    uint8_t *colours = tv_alloc(head->frame_count, sizeof *colours);
    for (uint32_t i = 0; i < head->frame_count; i++)
        colours[i] = by_slice ? NOTHING_SEEN : head->frames[i].colour;
    if (!by_slice)
        return colours;
    for (uint32_t row = 0; row < trace->row_count; row++)
        see_row(trace, row, &next, colours);
    for (size_t i = 0; i < trace->tables.instants.count; i++)
        see(colours, trace->tables.instants.rows[i].frame, trace->tables.instants.rows[i].colour);
    for (uint32_t i = 0; i < head->frame_count; i++)
        if (colours[i] == NOTHING_SEEN || colours[i] == SEVERAL)
            colours[i] = head->frames[i].colour;
    return colours;
}
