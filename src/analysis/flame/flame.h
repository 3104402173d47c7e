/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.h - lay out a call tree as a flame graph: one rectangle per call path, as wide as its
 * time.
 *
 * The page and the SVG writer draw the same layout.  An inverted graph has the methods that used
 * the time at the bottom and their callers above them.
 */
#ifndef TV_ANALYSIS_FLAME_FLAME_H
#define TV_ANALYSIS_FLAME_FLAME_H

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/derived_trees.h"

enum tv_flame_order {
    TV_FLAME_LEFT_HEAVY, /* widest first, ties by name */
    TV_FLAME_BY_NAME,
};

struct tv_flame_options {
    enum tv_clocks clock;
    enum tv_flame_order order;
    bool inverted;
    uint32_t root;    /* `path` of the frame to begin with; TV_ROOT_PATH: everything */
    double min_share; /* leave out frames narrower than this share of `whole`, with everything on
                         them */
    int64_t whole;    /* 100 %; 0: the total of the layout */
    bool totals;      /* compute `total` of inverted frames, which takes 20 bytes per node */
};

struct tv_flame_frame {
    int64_t start, width; /* nanoseconds of the clock, in [0, the flame's total] */
    int64_t self;         /* time that is not in a frame on top, drawn or left out */
    /* The figures of the tree.  Widths are sums of amounts, but in a difference of profiles a
     * figure may be negative. */
    int64_t total; /* with callees.  Inverted: of the method at the bottom along these callers,
                      recursive calls once; 0 if not asked for */
    int64_t own;   /* without callees.  Inverted: of the method at the bottom along these callers */
    uint64_t calls; /* inverted: of the method at the bottom, along these callers */
    uint32_t depth; /* 0: at the bottom */
    uint32_t frame; /* in the head, or a thread's (TV_THREAD_FRAME) */
    uint32_t path;  /* node of the tree.  Inverted: a number that identifies the frame for `root`,
                       independent of the other options; TV_NONE: too many frames to number */
};

struct tv_flame {
    int64_t total;    /* self time of the root and everything on it */
    int64_t left_out; /* time of frames that were too narrow */
    uint32_t levels;
    uint32_t count;
    struct tv_flame_frame *frames; /* depth first: a frame follows the one that it is on */
    size_t capacity;
};

/* A layout of more frames is cut off in depth-first order; the rest counts as left out.  No
 * screen shows so many.  An inverted graph can have the square of the tree's nodes. */
#define TV_FLAME_FRAMES ((uint32_t)1 << 19)

/* Return the layout; without frames if `root` is not in the tree. */
struct tv_flame *tv_flame_of_tree(const struct tv_call_tree *tree,
                                  const struct tv_flame_options *options);
void tv_flame_free(struct tv_flame *flame);

/* A tree of any kind to lay out.  Node 0 is the root; a parent has a smaller number than its
 * children. */
struct tv_flame_nodes {
    uint32_t count; /* at least 1 */
    const uint32_t *parent;
    const int64_t *self; /* never below 0 */
    /* Compare two nodes of one parent by name: below, equal to or above 0.  `of` is given to it. */
    int (*compare)(const void *of, uint32_t a, uint32_t b);
    const void *of;
};

/* Return the layout of a tree from node `root` on, not inverted, with nodes as `path` and without
 * `frame` and `calls`.  Of the options, `order`, `root` and `min_share` count. */
struct tv_flame *tv_flame_of_nodes(const struct tv_flame_nodes *nodes,
                                   const struct tv_flame_options *options);

/* Return the narrowest width that is drawn. */
int64_t tv_flame_threshold(int64_t total, double min_share);

/* Shared by the layouts. */
void tv_flame_add(struct tv_flame *flame, const struct tv_flame_frame *frame);

/* Return the self time of each of `count` nodes plus everything on it; free it with
 * tv_pages_free.  parent[i] < i for all but node 0. */
int64_t *tv_flame_widths(uint32_t count, const uint32_t *parent, const int64_t *self);

/* Compare two frames, or threads, by name: below, equal to or above 0. */
int tv_flame_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b);

/* The stacks that transforms made (analysis/calltree/transforms.h); all 0: those of the trace. */
struct tv_flame_stacks {
    const struct tv_call_tree *tree; /* without threads */
    const uint32_t *node;            /* node of the tree by path of the trace; 0: none, the time is
                                        gone */
};

/* ---- Chronological graphs of calls ----
 *
 * Flame graphs of calls in chronological order: the calls of a thread in sequence,
 * without the time between them, where neighbouring calls of one method on one frame become one
 * frame.  Threads stand side by side, because their calls have no common order.
 *
 * Calls that took no time on the clock are skipped.
 */

struct tv_flame_time_options {
    enum tv_clocks clock;
    bool fold;     /* fold direct recursion */
    int64_t total; /* total of the selection, of which min_share is a share; a root uses its own */
    double min_share; /* as in struct tv_flame_options, but the places of narrow frames stay free */
    uint32_t root;    /* `path` of a frame; TV_ROOT_PATH: everything */
    struct tv_flame_stacks stacks;
};

/* Return the flame graph.  With several threads, each thread's frames are on a frame
 * TV_THREAD_FRAME + thread.  `path` identifies the first call of a frame, or the thread, whatever
 * the selection; TV_NONE: too many to number.  In a graph of changed stacks, it identifies a frame
 * of the same selection, stacks and `fold` only. */
struct tv_flame *tv_flame_in_time(const struct tv_trace *trace,
                                  const struct tv_selection *selection,
                                  const struct tv_flame_time_options *options);

/* ---- Chronological graphs of samples ----
 *
 * Flame graphs of samples in chronological order: the stacks of a thread in
 * sequence, where equal neighbours on one frame become one frame.  Threads stand side by side.
 */

struct tv_flame_samples_options {
    struct tv_sample_question question;
    bool fold;        /* fold direct recursion */
    double min_share; /* as in struct tv_flame_time_options */
    uint32_t root;    /* `path` of a frame; TV_ROOT_PATH: everything */
    struct tv_flame_stacks stacks;
};

/* Return the flame graph of the samples of tv_sample_tree_of_trace.  With several threads, each
 * thread's frames are on a frame TV_THREAD_FRAME + thread.  `path` identifies the first sample of a
 * frame and its depth, or the thread, whatever the selection; TV_NONE: too many to number. */
struct tv_flame *tv_flame_of_samples(const struct tv_trace *trace,
                                     const struct tv_selection *selection,
                                     const struct tv_flame_samples_options *options);

#endif
