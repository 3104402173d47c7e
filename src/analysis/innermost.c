/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The innermost call at each instant of a track, from the strips of its rows.
 *
 * Calls of two pixels and more of each depth are laid over those of the depth above, cutting them
 * into pieces.  Of the shorter calls, a pixel's cover is that of the depth which has most there (a
 * call covers all that lies in it); its frame is the longest of the deepest depth that still covers
 * half of that.  Pieces that the cutting leaves shorter than two pixels join the strip.
 */
#include "analysis/tiles.h"
#include "base/memory.h"

struct piece {
    tv_ns start, end;
    uint32_t row, index;
};

struct pieces {
    struct piece *list; /* by start, apart from each other */
    uint32_t count;
    size_t capacity;
};

struct layers {
    const struct tv_pyramid *pyramid;
    struct pieces pieces, next;
    struct tv_strip strip;  /* of the row being laid */
    struct tv_strip scraps; /* pieces shorter than two pixels */
};

static uint32_t frame_of(const struct layers *layers, const struct piece *piece)
{
    const struct tv_row *row = &layers->pyramid->trace->rows[piece->row];
    const struct tv_columns *columns = &layers->pyramid->trace->columns[row->columns];
    return layers->pyramid->frame_of_path[columns->path[row->first + piece->index]];
}

static bool is_short(const struct layers *layers, const struct piece *piece)
{
    return (piece->end - piece->start) / 2 < (tv_ns)1 << layers->strip.res;
}

/* A short piece can hold no long call of a deeper row, so it leaves the list at once, which keeps
 * that as short as the tile is wide. Only one that the tile's end has cut may be part of more. */
static void add_piece(struct layers *layers, struct piece piece)
{
    struct pieces *next = &layers->next;
    if (piece.start >= piece.end)
        return;
    if (is_short(layers, &piece) && piece.start > layers->strip.from &&
        piece.end < tv_strip_end(&layers->strip)) {
        tv_strip_add(&layers->scraps, piece.start, piece.end - piece.start,
                     frame_of(layers, &piece));
        return;
    }
    next->list =
        tv_array_reserve(next->list, &next->capacity, (size_t)next->count + 1, sizeof *next->list);
    next->list[next->count++] = piece;
}

/* Adds what there is of the pieces before a time, from where the last call ended. Returns the first
 * piece that goes on behind it. */
static uint32_t add_before(struct layers *layers, uint32_t first, tv_ns reached, tv_ns time)
{
    const struct pieces *pieces = &layers->pieces;
    for (; first < pieces->count && pieces->list[first].start < time; first++) {
        struct piece piece = pieces->list[first];
        piece.start = piece.start > reached ? piece.start : reached;
        piece.end = piece.end < time ? piece.end : time;
        add_piece(layers, piece);
        if (pieces->list[first].end > time)
            break;
    }
    return first;
}

/* Lays the long calls of a row over the pieces so far; outside of pieces they begin new ones. */
static void lay_over(struct layers *layers, uint32_t row)
{
    const struct tv_strip *strip = &layers->strip;
    tv_ns from = strip->from, to = tv_strip_end(strip), reached = from;
    uint32_t below = 0;
    layers->next.count = 0;
    for (uint32_t i = 0; i < strip->long_count; i++) {
        const struct tv_long_call *call = &strip->calls[i];
        tv_ns end = call->start + call->length;
        struct piece piece = {call->start > from ? call->start : from, end < to ? end : to, row,
                              call->index};
        below = add_before(layers, below, reached, piece.start);
        add_piece(layers, piece);
        while (below < layers->pieces.count && layers->pieces.list[below].end <= piece.end)
            below++;
        reached = piece.end;
    }
    add_before(layers, below, reached, to);
    struct pieces spare = layers->pieces;
    layers->pieces = layers->next;
    layers->next = spare;
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
static void settle(const struct layers *layers, struct tv_strip *sum, struct tv_tile *tile)
{
    const struct tv_trace *trace = layers->pyramid->trace;
    for (uint32_t i = 0; i < layers->pieces.count; i++) {
        const struct piece *piece = &layers->pieces.list[i];
        tv_ns length = piece->end - piece->start;
        if (is_short(layers, piece)) {
            tv_strip_add(sum, piece->start, length, frame_of(layers, piece));
            continue;
        }
        const struct tv_row *row = &trace->rows[piece->row];
        uint32_t flags = trace->columns[row->columns].flags[row->first + piece->index];
        struct tv_tile_slice out = {piece->start,
                                    length,
                                    piece->row,
                                    piece->index,
                                    frame_of(layers, piece),
                                    flags & ~(uint32_t)TV_SLICE_FIRST_CHILD};
        tv_tile_add(tile, &out);
    }
    for (unsigned i = 0; layers->scraps.any && i < TV_STRIP_PIXELS; i++) {
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

void tv_tile_draw_innermost(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                            struct tv_strip *sum, struct tv_tile *tile)
{
    const struct tv_track *track = &pyramid->trace->tracks[key->of];
    struct layers layers = {.pyramid = pyramid};
    tv_strip_clear(sum, key->res, key->number);
    tv_strip_clear(&layers.scraps, key->res, key->number);
    tv_strip_clear(&layers.strip, key->res, key->number);
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        uint32_t row = track->first_row + depth;
        tv_strip_of_row(pyramid, row, key->res, key->number, &layers.strip);
        if (layers.strip.long_count > 0)
            lay_over(&layers, row);
        if (!lay_strip(sum, &layers.strip) && layers.strip.long_count == 0)
            break;
    }
    settle(&layers, sum, tile);
    tv_free(layers.pieces.list);
    tv_free(layers.next.list);
}
