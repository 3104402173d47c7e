/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_shape.h - for the files of call trees alone: others use call_tree.h.
 */
#ifndef TV_ANALYSIS_TREE_SHAPE_H
#define TV_ANALYSIS_TREE_SHAPE_H

#include "analysis/call_tree.h"

struct tv_tree_shape {
    const struct tv_head *head;
    uint32_t count;
    uint32_t *parent, *frame;
    uint8_t *recursive; /* NULL until asked for */
};

/* For each node 1 if its frame is also one of its ancestors', worked out at the first call. */
const uint8_t *tv_tree_shape_recursion(struct tv_tree_shape *shape);

#endif
