/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.h - lays a call tree out as a flame graph: one rectangle a call path, as wide as its time.
 *
 * The page and the SVG writer draw the same layout.  An inverted graph begins with the methods that
 * used the time themselves; on them lie their callers.
 */
#ifndef TV_ANALYSIS_FLAME_H
#define TV_ANALYSIS_FLAME_H

#include "analysis/call_tree.h"

enum tv_flame_order {
    TV_FLAME_LEFT_HEAVY, /* the widest first, ties by name */
    TV_FLAME_BY_NAME,
};

struct tv_flame_options {
    enum tv_clocks clock;
    enum tv_flame_order order;
    bool inverted;
    uint32_t root; /* the `path` of a frame to begin with; TV_ROOT_PATH: the whole */
    double
        min_share; /* frames narrower than this share of the total are left out, with all on them */
    bool totals;   /* work out `total` of inverted frames, which takes 20 bytes a node */
};

struct tv_flame_frame {
    int64_t start, width; /* nanoseconds of the clock, from 0 to the flame's total */
    int64_t self;         /* what no frame on this one has: of left-out frames neither */
    int64_t total;  /* with callees; inverted: of the method at the bottom, along these callers, the
                     * time of recursive calls once; there 0 when it was not asked for */
    uint64_t calls; /* in an inverted graph: of the method at the bottom, along these callers */
    uint32_t depth; /* 0: at the bottom */
    uint32_t frame; /* in the head, or a thread's (tree_sink.h) */
    uint32_t path; /* node of the tree; inverted: a number that names the frame for `root`, whatever
                    * the other options; TV_NONE: there are too many */
};

struct tv_flame {
    int64_t total;    /* self time of everything from the root on */
    int64_t left_out; /* of frames that were too narrow */
    uint32_t levels;
    uint32_t count;
    struct tv_flame_frame *frames; /* depth first: a frame stands behind the one it lies on */
    size_t capacity;
};

/* A layout of more frames is cut, depth first: what is behind counts as left out.  No screen shows
 * so many; the frames of an inverted graph are up to the square of those of its tree. */
#define TV_FLAME_FRAMES ((uint32_t)1 << 19)

/* The layout; without frames when `root` is none of the tree. */
struct tv_flame *tv_flame_of_tree(const struct tv_call_tree *tree,
                                  const struct tv_flame_options *options);
void tv_flame_free(struct tv_flame *flame);

/* The narrowest width that is drawn. */
int64_t tv_flame_threshold(int64_t total, double min_share);

/* For flame.c and flame_inverted.c. */
void tv_flame_add(struct tv_flame *flame, const struct tv_flame_frame *frame);
void tv_flame_invert(struct tv_flame *flame, const struct tv_call_tree *tree,
                     const struct tv_flame_options *options);

/* Self time of each node with everything that lies on it, to be given back with tv_pages_free. */
int64_t *tv_flame_widths(const struct tv_call_tree *tree, const int64_t *self);

/* Which of two frames, maybe of threads, comes first by name: below 0, 0 or above 0. */
int tv_flame_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b);

#endif
