/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_shape.h - for the files of call trees alone: others use call_tree.h.
 */
#ifndef TV_ANALYSIS_TREE_SHAPE_H
#define TV_ANALYSIS_TREE_SHAPE_H

#include "analysis/call_tree.h"

/* The nodes in depth-first order, a node's descendants right behind it: children as their numbers
 * go. */
struct tv_tree_order {
    uint32_t *node;  /* [place] */
    uint32_t *place; /* [node] */
    uint32_t *end;   /* [place] behind its last descendant */
};

/* The nodes of each frame, as their places in that order, which go up. */
struct tv_frame_places {
    uint32_t *first; /* [keys + 1] */
    uint32_t *place; /* those of key k: first[k] to first[k + 1] - 1 */
};

struct tv_tree_shape {
    const struct tv_trace_info *head;
    uint32_t count;
    uint32_t *parent, *frame;
    uint8_t *recursive;         /* NULL until asked for */
    struct tv_tree_order order; /* the same */
    struct tv_frame_places of_frame;
};

/* Of so many nodes, whose parents and frames are to be filled in. */
struct tv_tree_shape *tv_tree_shape_blank(const struct tv_trace_info *head, uint32_t count);

/* For each node 1 if its frame is also one of its ancestors', worked out at the first call. */
const uint8_t *tv_tree_shape_recursion(struct tv_tree_shape *shape);

/* Worked out at the first call and kept, which takes 12 bytes a node. */
const struct tv_tree_order *tv_tree_shape_order(struct tv_tree_shape *shape);

/* The frames of the head by their numbers, then those of threads. */
uint32_t tv_tree_shape_keys(const struct tv_tree_shape *shape);
uint32_t tv_tree_shape_key(const struct tv_tree_shape *shape, uint32_t node);

/* Worked out at the first call and kept, 4 bytes a node. */
const struct tv_frame_places *tv_tree_shape_of_frame(struct tv_tree_shape *shape);

#endif
