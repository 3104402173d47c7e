/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strip.h - one row of calls at one resolution: what a tile is made of.
 *
 * A pixel is 2^res nanoseconds, a strip 512 pixels.  Calls of two pixels and more are told one by
 * one.  A shorter one adds its length to the pixel where it starts; an entry of the pyramid that is
 * no wider than a pixel does so as a whole (decision P3).  Whether an entry is taken whole depends
 * on the resolution alone, so strips side by side hold every call once.
 */
#ifndef TV_ANALYSIS_STRIP_H
#define TV_ANALYSIS_STRIP_H

#include "analysis/pyramid.h"

#define TV_STRIP_PIXELS 512
#define TV_MAX_RES 52u

/* At most so many calls of two pixels and more touch a strip: all within it, and one at each end.
 */
#define TV_STRIP_LONG (TV_STRIP_PIXELS / 2 + 2)

struct tv_long_call {
    tv_ns start, length;
    uint32_t index; /* in the row */
};

struct tv_strip {
    tv_ns from; /* of pixel 0 */
    unsigned res;
    int64_t covered[TV_STRIP_PIXELS]; /* nanoseconds */
    int64_t longest[TV_STRIP_PIXELS]; /* nanoseconds; -1: nothing starts here */
    uint32_t frame[TV_STRIP_PIXELS];  /* of the longest (the first of equals); TV_NONE: nothing */
    bool any;                         /* some pixel has something */
    uint32_t long_count;
    struct tv_long_call calls[TV_STRIP_LONG]; /* in order */
};

/* The strip over [number * 512 << res, (number + 1) * 512 << res), which must fit 62 bits. */
void tv_strip_of_row(const struct tv_pyramid *pyramid, uint32_t row, unsigned res, int64_t number,
                     struct tv_strip *strip);

/* An empty strip at that place. */
void tv_strip_clear(struct tv_strip *strip, unsigned res, int64_t number);

/* Adds a call shorter than two pixels that starts within the strip. */
void tv_strip_add(struct tv_strip *strip, tv_ns start, int64_t length, uint32_t frame);

/* How much of a pixel is covered: 0 nothing starts there, 1 to 255. */
static inline uint8_t tv_strip_height(const struct tv_strip *strip, unsigned pixel)
{
    int64_t whole = (int64_t)1 << strip->res, covered = strip->covered[pixel];
    if (strip->longest[pixel] < 0)
        return 0;
    if (covered >= whole)
        return 255;
    int64_t height = (covered * 255 + whole / 2) >> strip->res;
    return height < 1 ? 1 : (uint8_t)height;
}

static inline tv_ns tv_strip_end(const struct tv_strip *strip)
{
    return strip->from + ((tv_ns)TV_STRIP_PIXELS << strip->res);
}

#endif
