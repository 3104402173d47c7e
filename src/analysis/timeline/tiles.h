/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.h - tiles, the images that a timeline is made of (decision P3): 512 pixels of one row at
 * a power-of-two resolution.
 *
 * Pieces of two pixels or more are slices; shorter ones are in the density row, which holds for
 * each pixel how much is covered by calls that start there, and the frame of the longest.
 */
#ifndef TV_ANALYSIS_TIMELINE_TILES_H
#define TV_ANALYSIS_TIMELINE_TILES_H

#include "analysis/timeline/density.h"

enum tv_tile_kind {
    TV_TILE_ROW,       /* the calls of a row */
    TV_TILE_INNERMOST, /* the innermost call of a track at each instant, as Traceview drew a thread
                        */
    TV_TILE_WAITS,     /* where the track's calls waited */
};

struct tv_tile_key {
    enum tv_tile_kind kind;
    uint32_t of;  /* row; for other kinds track */
    unsigned res; /* a pixel is 2^res ns; at most TV_MAX_RES */
    int64_t
        number; /* begins at pixel number * 512; at most TV_TILE_LIMIT(res) on either side of 0 */
};

/* Tiles reach 2^61 ns from the origin. */
#define TV_TILE_LIMIT(res) ((int64_t)1 << (52 - (res)))

/* In a tile of a row: the call.  Of innermost calls: the piece in which the call was innermost,
 * cut at the tile's ends.  Of waits: the wait, with its number in the track as index. */
struct tv_tile_slice {
    tv_ns start, length;
    uint32_t row, index, frame, flags;
};

struct tv_tile {
    struct tv_tile_key key;
    uint32_t count;
    size_t capacity;
    struct tv_tile_slice *slices; /* by start */
    bool has_density;
    uint32_t frame[TV_TILE_PIXELS]; /* TV_NONE where the height is 0 */
    uint8_t height[TV_TILE_PIXELS];
};

/* A tile can be drawn repeatedly and reuses its memory. */
void tv_tile_init(struct tv_tile *tile);
void tv_tile_release(struct tv_tile *tile);
void tv_tile_draw(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                  struct tv_tile *tile);

#endif
