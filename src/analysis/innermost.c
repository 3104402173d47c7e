/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The innermost call at each instant of a track, from the strips of its rows.
 *
 * Calls of two pixels and more of each depth are laid over those of the depth above, cutting them
 * into pieces.  Of the shorter calls, a pixel's cover is that of the depth which has most there (a
 * call covers all that lies in it); its frame is the longest of the deepest depth that still covers
 * half of that.  Pieces that the cutting leaves shorter than two pixels join the strip.
 */
#include <string.h>

#include "analysis/tiles.h"
#include "base/memory.h"

struct piece {
    tv_ns start, end;
    uint32_t row, index;
};

struct pieces {
    struct piece *list;
    uint32_t count;
    size_t capacity;
};

static void add_piece(struct pieces *pieces, tv_ns start, tv_ns end, uint32_t row, uint32_t index)
{
    if (start >= end)
        return;
    pieces->list = tv_array_reserve(pieces->list, &pieces->capacity, (size_t)pieces->count + 1,
                                    sizeof *pieces->list);
    pieces->list[pieces->count++] = (struct piece){start, end, row, index};
}

/* Lays the long calls of one row over the pieces so far; outside of pieces they begin new ones. */
static void lay_over(struct pieces *pieces, struct pieces *result, const struct tv_strip *strip,
                     uint32_t row)
{
    tv_ns from = strip->from, to = tv_strip_end(strip);
    uint32_t below = 0;
    tv_ns reached = from;
    result->count = 0;
    for (uint32_t i = 0; i <= strip->long_count; i++) {
        const struct tv_long_call *call = i < strip->long_count ? &strip->calls[i] : NULL;
        tv_ns start = call ? call->start : to, end = call ? call->start + call->length : to;
        start = start > from ? start : from;
        end = end < to ? end : to;
        for (; below < pieces->count && pieces->list[below].start < start; below++) {
            const struct piece *piece = &pieces->list[below];
            tv_ns left = piece->start > reached ? piece->start : reached;
            add_piece(result, left, piece->end < start ? piece->end : start, piece->row,
                      piece->index);
            if (piece->end > start)
                break;
        }
        if (!call)
            break;
        add_piece(result, start, end, row, call->index);
        while (below < pieces->count && pieces->list[below].end <= end)
            below++;
        reached = end;
    }
    struct pieces spare = *pieces;
    *pieces = *result;
    *result = spare;
}

/* Lays the strip of one row over that of the rows above. False when nothing of it counts. */
static bool lay_strip(struct tv_strip *sum, const struct tv_strip *strip)
{
    bool counts = false;
    for (unsigned i = 0; strip->any && i < TV_STRIP_PIXELS; i++) {
        if (strip->longest[i] < 0 || strip->covered[i] < sum->covered[i] / 2)
            continue;
        if (strip->covered[i] > sum->covered[i])
            sum->covered[i] = strip->covered[i];
        sum->longest[i] = strip->longest[i];
        sum->frame[i] = strip->frame[i];
        sum->any = counts = true;
    }
    return counts;
}

/* Long pieces become slices, short ones join the strip. */
static void settle(const struct tv_trace *trace, const struct pieces *pieces, struct tv_strip *sum,
                   struct tv_tile *tile)
{
    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->list[i];
        struct tv_slice slice = tv_slice_get(trace, piece->row, piece->index);
        uint32_t frame = trace->paths.nodes[slice.path].frame;
        tv_ns length = piece->end - piece->start;
        if (length / 2 < (tv_ns)1 << sum->res) {
            tv_strip_add(sum, piece->start, length, frame);
            continue;
        }
        struct tv_tile_slice out = {piece->start, length,
                                    piece->row,   piece->index,
                                    frame,        slice.flags & ~(uint32_t)TV_SLICE_FIRST_CHILD};
        tv_tile_add(tile, &out);
    }
}

void tv_tile_draw_innermost(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                            struct tv_strip *sum, struct tv_tile *tile)
{
    const struct tv_track *track = &pyramid->trace->tracks[key->of];
    struct pieces pieces = {0}, spare = {0};
    struct tv_strip strip;
    tv_strip_clear(sum, key->res, key->number);
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        uint32_t row = track->first_row + depth;
        tv_strip_of_row(pyramid, row, key->res, key->number, &strip);
        if (strip.long_count > 0)
            lay_over(&pieces, &spare, &strip, row);
        if (!lay_strip(sum, &strip) && strip.long_count == 0)
            break;
    }
    settle(pyramid->trace, &pieces, sum, tile);
    tv_free(pieces.list);
    tv_free(spare.list);
}
