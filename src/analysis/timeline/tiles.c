/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of rows, of waits and of innermost calls.  All of them are a list of slices of two pixels
 * or more and a density row for the rest.
 */
#include "analysis/timeline/tiles.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

void tv_tile_init(struct tv_tile *tile)
{
    memset(tile, 0, sizeof *tile);
}

void tv_tile_release(struct tv_tile *tile)
{
    tv_free(tile->slices);
    memset(tile, 0, sizeof *tile);
}

static void tile_add(struct tv_tile *tile, const struct tv_tile_slice *slice)
{
    tile->slices = tv_array_reserve(tile->slices, &tile->capacity, (size_t)tile->count + 1,
                                    sizeof *tile->slices);
    tile->slices[tile->count++] = *slice;
}

/* Draw the calls of a row. */
static void tile_draw_row(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                          struct tv_density *density, struct tv_tile *tile)
{
    assert(key->of < pyramid->trace->row_count);
    const struct tv_row *row = &pyramid->trace->rows[key->of];
    const struct tv_columns *columns = &pyramid->trace->columns[row->columns];
    tv_density_of_row(pyramid, key->of, key->res, key->number, density);
    for (uint32_t i = 0; i < density->long_count; i++) {
        const struct tv_long_call *call = &density->calls[i];
        uint32_t frame = pyramid->frame_of_path[columns->path[row->first + call->index]];
        uint32_t flags = columns->flags[row->first + call->index] & ~(uint32_t)TV_SLICE_FIRST_CHILD;
        struct tv_tile_slice piece = {call->start, call->length, key->of,
                                      call->index, frame,        flags};
        tile_add(tile, &piece);
    }
}

/* Return the first wait that ends after a time. */
static uint32_t tile_find_wait(const struct tv_track *track, int64_t time)
{
    const struct tv_wait *waits = track->waits;
    uint32_t low = 0;
    TV_LOWER_BOUND(low, track->wait_count, i, waits[i].start + waits[i].length <= time);
    return low;
}

/* Draw the waits of a track; those shorter than two pixels go to the density row. */
static void tile_draw_waits(const struct tv_trace *trace, const struct tv_tile_key *key,
                            struct tv_density *density, struct tv_tile *tile)
{
    const struct tv_track *track = &trace->tracks[key->of];
    int64_t tick = tv_track_tick(trace, key->of);
    tv_ns offset = trace->offset[track->input];
    tv_density_clear(density, key->res, key->number);
    tv_ns from = density->from - offset, end = tv_density_end(density) - offset;
    for (uint32_t i = tile_find_wait(track, from / tick - (from % tick < 0)); i < track->wait_count;
         i++) {
        const struct tv_wait *wait = &track->waits[i];
        tv_ns start = wait->start * tick, length = wait->length * tick;
        if (start >= end)
            break;
        uint32_t frame = trace->paths.nodes[wait->path].frame;
        struct tv_tile_slice piece = {start + offset, length, track->first_row + wait->depth, i,
                                      frame,          0};
        if (length / 2 < (tv_ns)1 << key->res && start >= from)
            tv_density_add(density, start + offset, length, frame);
        else if (length / 2 >= (tv_ns)1 << key->res && start + length > from)
            tile_add(tile, &piece);
    }
}

/* ---- Innermost calls ----
 *
 * The innermost call of a track at each instant, computed from the density rows of its rows.
 *
 *   depth 0   aaaaaaaaaaaaaaaa
 *   depth 1     bbbbb   cccc
 *   depth 2       dd
 *   tile      aabbddbaaaccccaa
 *
 * Calls of two pixels or more of each depth are laid over those of the depth above, which they cut
 * into pieces.  Of shorter calls, a pixel's cover is that of the depth with the most (a call covers
 * all that is in it); its frame is the longest call of the deepest depth that still covers half
 * of that.  Pieces that become shorter than two pixels join the density row.
 */

struct innermost_piece {
    tv_ns start, end;
    uint32_t row, index;
};

struct innermost_pieces {
    struct innermost_piece *list; /* by start; they do not overlap */
    uint32_t count;
    size_t capacity;
};

struct innermost_layers {
    const struct tv_pyramid *pyramid;
    struct innermost_pieces pieces, next;
    struct tv_density density; /* of the current row */
    struct tv_density scraps;  /* pieces shorter than two pixels */
};

static uint32_t innermost_frame(const struct innermost_layers *layers,
                                const struct innermost_piece *piece)
{
    const struct tv_row *row = &layers->pyramid->trace->rows[piece->row];
    const struct tv_columns *columns = &layers->pyramid->trace->columns[row->columns];
    return layers->pyramid->frame_of_path[columns->path[row->first + piece->index]];
}

static bool innermost_is_short(const struct innermost_layers *layers,
                               const struct innermost_piece *piece)
{
    return (piece->end - piece->start) / 2 < (tv_ns)1 << layers->density.res;
}

/* Add a piece.  A short one cannot contain a long call of a deeper row, so it leaves the list at
 * once; that keeps the list as short as the tile is wide.  A piece cut by the tile's end may be
 * part of a longer one and stays. */
static void innermost_add_piece(struct innermost_layers *layers, struct innermost_piece piece)
{
    struct innermost_pieces *next = &layers->next;
    if (piece.start >= piece.end)
        return;
    if (innermost_is_short(layers, &piece) && piece.start > layers->density.from &&
        piece.end < tv_density_end(&layers->density)) {
        tv_density_add(&layers->scraps, piece.start, piece.end - piece.start,
                       innermost_frame(layers, &piece));
        return;
    }
    next->list =
        tv_array_reserve(next->list, &next->capacity, (size_t)next->count + 1, sizeof *next->list);
    next->list[next->count++] = piece;
}

/* Add the parts of pieces before a time, from the end of the last call on.  Return the first
 * piece that continues after it. */
static uint32_t innermost_add_before(struct innermost_layers *layers, uint32_t first, tv_ns reached,
                                     tv_ns time)
{
    const struct innermost_pieces *pieces = &layers->pieces;
    for (; first < pieces->count && pieces->list[first].start < time; first++) {
        struct innermost_piece piece = pieces->list[first];
        piece.start = piece.start > reached ? piece.start : reached;
        piece.end = piece.end < time ? piece.end : time;
        innermost_add_piece(layers, piece);
        if (pieces->list[first].end > time)
            break;
    }
    return first;
}

/* Lay the long calls of a row over the pieces; outside of pieces they begin new ones. */
static void innermost_lay_calls(struct innermost_layers *layers, uint32_t row)
{
    const struct tv_density *density = &layers->density;
    tv_ns from = density->from, to = tv_density_end(density), reached = from;
    uint32_t below = 0;
    layers->next.count = 0;
    for (uint32_t i = 0; i < density->long_count; i++) {
        const struct tv_long_call *call = &density->calls[i];
        tv_ns end = call->start + call->length;
        struct innermost_piece piece = {call->start > from ? call->start : from,
                                        end < to ? end : to, row, call->index};
        below = innermost_add_before(layers, below, reached, piece.start);
        innermost_add_piece(layers, piece);
        while (below < layers->pieces.count && layers->pieces.list[below].end <= piece.end)
            below++;
        reached = piece.end;
    }
    innermost_add_before(layers, below, reached, to);
    struct innermost_pieces spare = layers->pieces;
    layers->pieces = layers->next;
    layers->next = spare;
}

/* Lay the density of a row over that of the rows above; false if nothing of it shows. */
static bool innermost_lay_density(struct tv_density *sum, const struct tv_density *density)
{
    bool counts = false;
    for (unsigned i = 0; density->any && i < TV_TILE_PIXELS; i++) {
        if (density->longest[i] < 0 || density->covered[i] < sum->covered[i] / 2)
            continue;
        if (density->covered[i] > sum->covered[i])
            sum->covered[i] = density->covered[i];
        sum->longest[i] = density->longest[i];
        sum->frame[i] = density->frame[i];
        sum->any = counts = true;
    }
    return counts;
}

/* Turn long pieces into slices; short ones join the density row. */
static void innermost_finish(const struct innermost_layers *layers, struct tv_density *sum,
                             struct tv_tile *tile)
{
    const struct tv_trace *trace = layers->pyramid->trace;
    for (uint32_t i = 0; i < layers->pieces.count; i++) {
        const struct innermost_piece *piece = &layers->pieces.list[i];
        tv_ns length = piece->end - piece->start;
        if (innermost_is_short(layers, piece)) {
            tv_density_add(sum, piece->start, length, innermost_frame(layers, piece));
            continue;
        }
        const struct tv_row *row = &trace->rows[piece->row];
        uint32_t flags = trace->columns[row->columns].flags[row->first + piece->index];
        struct tv_tile_slice out = {piece->start,
                                    length,
                                    piece->row,
                                    piece->index,
                                    innermost_frame(layers, piece),
                                    flags & ~(uint32_t)TV_SLICE_FIRST_CHILD};
        tile_add(tile, &out);
    }
    for (unsigned i = 0; layers->scraps.any && i < TV_TILE_PIXELS; i++) {
        if (layers->scraps.longest[i] < 0)
            continue;
        sum->any = true;
        sum->covered[i] += layers->scraps.covered[i];
        if (layers->scraps.longest[i] <= sum->longest[i])
            continue;
        sum->longest[i] = layers->scraps.longest[i];
        sum->frame[i] = layers->scraps.frame[i];
    }
}

/* Draw a track as one line: what is innermost at each place. Rows are laid over each other from the
 * outermost on, until one has nothing more in this tile. */
static void tile_draw_innermost(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                                struct tv_density *sum, struct tv_tile *tile)
{
    const struct tv_track *track = &pyramid->trace->tracks[key->of];
    struct innermost_layers layers = {.pyramid = pyramid};
    tv_density_clear(sum, key->res, key->number);
    tv_density_clear(&layers.scraps, key->res, key->number);
    tv_density_clear(&layers.density, key->res, key->number);
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        uint32_t row = track->first_row + depth;
        tv_density_of_row(pyramid, row, key->res, key->number, &layers.density);
        if (layers.density.long_count > 0)
            innermost_lay_calls(&layers, row);
        if (!innermost_lay_density(sum, &layers.density) && layers.density.long_count == 0)
            break;
    }
    innermost_finish(&layers, sum, tile);
    tv_free(layers.pieces.list);
    tv_free(layers.next.list);
}

static void tile_set_density(struct tv_tile *tile, const struct tv_density *density)
{
    tile->has_density = density->any;
    for (unsigned i = 0; density->any && i < TV_TILE_PIXELS; i++) {
        tile->height[i] = tv_density_height(density, i);
        tile->frame[i] = density->frame[i];
    }
}

void tv_tile_draw(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                  struct tv_tile *tile)
{
    struct tv_density density;
    tile->key = *key;
    tile->count = 0;
    switch (key->kind) {
    case TV_TILE_ROW:
        tile_draw_row(pyramid, key, &density, tile);
        break;
    case TV_TILE_INNERMOST:
        tile_draw_innermost(pyramid, key, &density, tile);
        break;
    case TV_TILE_WAITS:
        tile_draw_waits(pyramid->trace, key, &density, tile);
        break;
    }
    tile_set_density(tile, &density);
}
