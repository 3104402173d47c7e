/* SPDX-License-Identifier: Apache-2.0 */
/*
 * density.h - density rows: one row of calls at one resolution, the content of a tile; and the
 * activity of a track.
 *
 * A pixel is 2^res nanoseconds, a density row 512 pixels.  Calls of two pixels or more are listed
 * one by one.  A shorter call adds its length to the pixel in which it starts; a pyramid entry no
 * wider than a pixel does so as a whole (decision P3).  The choice to take an entry whole depends
 * on the resolution only, so that neighbouring density rows hold every call exactly once.
 */
#ifndef TV_ANALYSIS_TIMELINE_DENSITY_H
#define TV_ANALYSIS_TIMELINE_DENSITY_H

#include "analysis/timeline/pyramid.h"

#define TV_TILE_PIXELS 512
#define TV_MAX_RES 52u

/* Maximum number of calls of two pixels or more that can touch a density row: those within, and one
 * at each end. */
#define TV_DENSITY_CALLS (TV_TILE_PIXELS / 2 + 2)

struct tv_long_call {
    tv_ns start, length;
    uint32_t index; /* in the row */
};

struct tv_density {
    tv_ns from; /* start of pixel 0 */
    unsigned res;
    int64_t covered[TV_TILE_PIXELS]; /* nanoseconds */
    int64_t longest[TV_TILE_PIXELS]; /* nanoseconds; -1: nothing starts here */
    uint32_t frame[TV_TILE_PIXELS];  /* of the longest call (the first of equals); TV_NONE: none */
    bool any;                        /* some pixel is covered */
    uint32_t long_count;
    struct tv_long_call calls[TV_DENSITY_CALLS]; /* by start */
};

/* Compute the density of [number * 512 << res, (number + 1) * 512 << res), which must fit 62
 * bits. */
void tv_density_of_row(const struct tv_pyramid *pyramid, uint32_t row, unsigned res, int64_t number,
                       struct tv_density *density);

/* Make an empty density row for that range. */
void tv_density_clear(struct tv_density *density, unsigned res, int64_t number);

/* Add a call shorter than two pixels that starts in the range. */
void tv_density_add(struct tv_density *density, tv_ns start, int64_t length, uint32_t frame);

/* Return how much of a pixel is covered: 0 if nothing starts there, otherwise 1 to 255. */
static inline uint8_t tv_density_height(const struct tv_density *density, unsigned pixel)
{
    int64_t whole = (int64_t)1 << density->res, covered = density->covered[pixel];
    if (density->longest[pixel] < 0)
        return 0;
    if (covered >= whole)
        return 255;
    int64_t height = (covered * 255 + whole / 2) >> density->res;
    return height < 1 ? 1 : (uint8_t)height;
}

static inline tv_ns tv_density_end(const struct tv_density *density)
{
    return density->from + ((tv_ns)TV_TILE_PIXELS << density->res);
}

/*
 * Load of a track over time: the overview.
 */

#define TV_ACTIVITY_BUCKETS 65536u /* at most */

/* Split [from, to) into buckets; heights[i] is the share of bucket i that calls of depth 0 cover:
 * 0 for nothing, otherwise 1 to 255.  A call much shorter than a bucket counts where it starts. */
void tv_activity_of_track(const struct tv_pyramid *pyramid, uint32_t track, tv_ns from, tv_ns to,
                          uint32_t buckets, uint8_t *heights);

#endif
