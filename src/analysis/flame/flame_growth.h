/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_growth.h - the frames of a chronological flame graph while its events are read, for the
 * files of this folder.
 *
 * Chronological graphs are built depth first.  The last frame on another one is open: what comes
 * next either extends it or ends it.  A frame that ends too narrow, or after TV_FLAME_FRAMES
 * others, is removed with everything on it.  These are always the last frames of the array, so no
 * more frames are held than are drawn.
 */
#ifndef TV_ANALYSIS_FLAME_FLAME_GROWTH_H
#define TV_ANALYSIS_FLAME_FLAME_GROWTH_H

#include "analysis/flame/flame.h"

struct tv_growing_frame {
    uint32_t frame, parent, depth;
    uint32_t last;      /* the open frame on top; TV_NONE: none */
    uint32_t name;      /* `path` of the layout */
    int64_t at;         /* start, relative to its parent */
    int64_t own;        /* time of its events, or with `adds_up` of those that end in it */
    int64_t on_it;      /* time of ended frames on top */
    int64_t too_narrow; /* ... and of those that were removed */
    uint64_t calls;
};

struct tv_flame_growth {
    bool adds_up; /* a frame that ends adds its time to the frame below */
    int64_t threshold;
    uint32_t wanted_root;            /* name of the frame to begin with; TV_ROOT_PATH: none */
    struct tv_growing_frame *frames; /* [0] is the root frame */
    uint32_t count;
    size_t capacity;
    uint32_t root; /* index of the wanted root once it exists, or TV_NONE */
    bool done;     /* the root has ended */
};

/* Start over with the threshold and the root that are set. */
void tv_flame_growth_begin(struct tv_flame_growth *growth);
void tv_flame_growth_release(struct tv_flame_growth *growth);

/* Return the width of a frame.  One without time of its own, such as a call whose CPU time is
 * unknown, lasts as long as what is on it. */
int64_t tv_flame_growth_width(const struct tv_growing_frame *frame);

/* Return the frame to put an event on: the parent's open frame if it is of the same method,
 * otherwise a new one; TV_NONE once the root has ended. */
uint32_t tv_flame_growth_enter(struct tv_flame_growth *growth, uint32_t parent, uint32_t frame,
                               uint32_t name);

/* Skip a frame of this width and leave its place empty.  It must not be the parent's open frame. */
void tv_flame_growth_skip(struct tv_flame_growth *growth, uint32_t parent, int64_t width);

/* End all open frames. */
void tv_flame_growth_end(struct tv_flame_growth *growth);

/* Append a frame and those on it to a layout; for the ground, 0, only those on it. */
void tv_flame_growth_write(const struct tv_flame_growth *growth, uint32_t first,
                           struct tv_flame *flame);

#endif
