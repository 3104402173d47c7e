/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_shape.h - the structure of a call tree without its costs, for the files of this folder;
 * others use call_tree.h.
 */
#ifndef TV_ANALYSIS_CALLTREE_TREE_SHAPE_H
#define TV_ANALYSIS_CALLTREE_TREE_SHAPE_H

#include "analysis/calltree/call_tree.h"

/* Depth-first order of the nodes: the descendants of a node follow it directly, and children are
 * in order of their numbers. */
struct tv_tree_order {
    uint32_t *node;  /* [place] */
    uint32_t *place; /* [node] */
    uint32_t *end;   /* [place] after the last descendant */
};

/* The nodes of each frame, as ascending places in depth-first order. */
struct tv_frame_places {
    uint32_t *first; /* [keys + 1] */
    uint32_t *place; /* places of key k: first[k] to first[k + 1] - 1 */
};

struct tv_tree_shape {
    const struct tv_trace_info *head;
    uint32_t count;
    uint32_t *parent, *frame;
    uint8_t *recursive;         /* NULL until first asked for */
    struct tv_tree_order order; /* likewise */
    struct tv_frame_places of_frame;
};

/* Return a shape of `count` nodes whose parents and frames the caller fills in. */
struct tv_tree_shape *tv_tree_shape_blank(const struct tv_trace_info *head, uint32_t count);

/* Return recursive[node]: 1 if an ancestor has the same frame.  Computed once. */
const uint8_t *tv_tree_shape_recursion(struct tv_tree_shape *shape);

/* Return the depth-first order, which takes 12 bytes per node.  Computed once. */
const struct tv_tree_order *tv_tree_shape_order(struct tv_tree_shape *shape);

/* Keys number the frames of the head, then those of threads (TV_THREAD_FRAME). */
uint32_t tv_tree_shape_keys(const struct tv_tree_shape *shape);
uint32_t tv_tree_shape_key(const struct tv_tree_shape *shape, uint32_t node);

/* Return the places of each key, which take 4 bytes per node.  Computed once. */
const struct tv_frame_places *tv_tree_shape_of_frame(struct tv_tree_shape *shape);

#endif
