/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.h - the pictures that a time line is made of (decision P3): a tile is 512 pixels of one row
 * at a power-of-two resolution.
 *
 * Pieces of two pixels and more are slices, shorter ones are in the strip: for each pixel how much
 * is covered by what starts there, and the frame of the longest.
 */
#ifndef TV_ANALYSIS_TILES_H
#define TV_ANALYSIS_TILES_H

#include "analysis/strip.h"

enum tv_tile_kind {
    TV_TILE_ROW,       /* the calls of a row */
    TV_TILE_INNERMOST, /* the innermost call of a track at each instant, as Traceview drew a thread
                        */
    TV_TILE_WAITS,     /* where a track's calls waited */
};

struct tv_tile_key {
    enum tv_tile_kind kind;
    uint32_t of;    /* row; else track */
    unsigned res;   /* a pixel is 2^res ns; at most TV_MAX_RES */
    int64_t number; /* from number * 512 pixels on; at most TV_TILE_LIMIT(res), either side of 0 */
};

/* Tiles up to 2^61 ns from the origin. */
#define TV_TILE_LIMIT(res) ((int64_t)1 << (52 - (res)))

/* In a tile of a row the call itself; of innermost calls the piece in which it was innermost, cut
 * at the tile's ends; of waits the wait, with its number in the track as index. */
struct tv_tile_slice {
    tv_ns start, length;
    uint32_t row, index, frame, flags;
};

struct tv_tile {
    struct tv_tile_key key;
    uint32_t count;
    size_t capacity;
    struct tv_tile_slice *slices; /* by start */
    bool has_strip;
    uint32_t frame[TV_STRIP_PIXELS]; /* TV_NONE where the height is 0 */
    uint8_t height[TV_STRIP_PIXELS];
};

/* A tile may be drawn again and again: its memory is kept. */
void tv_tile_init(struct tv_tile *tile);
void tv_tile_release(struct tv_tile *tile);
void tv_tile_draw(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                  struct tv_tile *tile);

/* For tiles.c and innermost.c. */
void tv_tile_add(struct tv_tile *tile, const struct tv_tile_slice *slice);
void tv_tile_draw_innermost(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                            struct tv_strip *strip, struct tv_tile *tile);

#endif
