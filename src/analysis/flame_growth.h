/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_growth.h - for the files of flame graphs in the order of time alone: frames are made as
 * what they stand for begins, depth first.
 *
 * The last frame on another one is open: what comes next there becomes part of it, or ends it.  An
 * ended frame that is too narrow, or comes behind TV_FLAME_FRAMES others, is taken away with all on
 * it, which are the last frames there are; so no more are kept than are drawn.
 */
#ifndef TV_ANALYSIS_FLAME_GROWTH_H
#define TV_ANALYSIS_FLAME_GROWTH_H

#include "analysis/flame.h"

struct tv_growing_frame {
    uint32_t frame, parent, depth;
    uint32_t last;      /* the open frame on this one; TV_NONE: none */
    uint32_t name;      /* `path` of the layout */
    int64_t at;         /* where it begins on its parent */
    int64_t own;        /* of what it stands for */
    int64_t on_it;      /* of frames on it that have ended */
    int64_t too_narrow; /* those of them that were taken away */
    uint64_t calls;
};

struct tv_flame_growth {
    int64_t threshold;
    uint32_t wanted_root; /* the name of the frame to begin with; TV_ROOT_PATH: of none */
    struct tv_growing_frame *frames; /* 0 is what all lie on */
    uint32_t count;
    size_t capacity;
    uint32_t root; /* its frame, once it is there; TV_NONE */
    bool done;     /* the root has ended */
};

/* Begins anew, with the threshold and the root that are set. */
void tv_growth_begin(struct tv_flame_growth *growth);

/* The frame on which something is to lie: the open one on the parent where that is of the same
 * frame, else a new one of that name; TV_NONE: the root has ended. */
uint32_t tv_growth_enter(struct tv_flame_growth *growth, uint32_t parent, uint32_t frame,
                         uint32_t name);

/* What would be a frame of that width on the parent, and another than the open one, is not made:
 * its place stays free. */
void tv_growth_skip(struct tv_flame_growth *growth, uint32_t parent, int64_t width);

/* Ends all that are open. */
void tv_growth_end(struct tv_flame_growth *growth);

/* Of what it stands for; what has no time of its own lasts as long as what lies on it. */
int64_t tv_growth_width(const struct tv_growing_frame *frame);

/* The frames that lie on one, itself included unless it is what all lie on, which is 0. */
void tv_growth_tell(const struct tv_flame_growth *growth, uint32_t first, struct tv_flame *flame);

void tv_growth_release(struct tv_flame_growth *growth);

#endif
