/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - the call-path tree: each distinct chain of frames is one node.
 *
 * Node 0 is the root and stands for no frame; parents have smaller numbers than their children,
 * so one pass upwards or downwards over the arrays visits a tree in order.
 */
#ifndef TV_MODEL_PATHS_H
#define TV_MODEL_PATHS_H

#include "base/types.h"

#define TV_ROOT_PATH 0u

/* A node with the two children that were asked for last: call chains repeat themselves. */
struct tv_path_node {
    uint32_t parent;
    uint32_t frame;
    uint32_t last_frame, last_child;
    uint32_t other_frame, other_child;
};

struct tv_paths {
    struct tv_path_node *nodes;
    size_t capacity;
    uint32_t count;
    uint32_t *places; /* open addressing over nodes, by (parent, frame); TV_NONE: free */
    size_t mask;
};

void tv_paths_init(struct tv_paths *paths);
void tv_paths_release(struct tv_paths *paths);

/* Use tv_paths_child. */
uint32_t tv_paths_child_slow(struct tv_paths *paths, uint32_t parent, uint32_t frame);

/* The node for `frame` called from `parent`; made when new. */
TV_INLINE uint32_t tv_paths_child(struct tv_paths *paths, uint32_t parent, uint32_t frame)
{
    const struct tv_path_node *node = &paths->nodes[parent];
    if (TV_LIKELY(node->last_frame == frame))
        return node->last_child;
    return tv_paths_child_slow(paths, parent, frame);
}

/* Adds every node of `from` to `to`; map[i] (from->count places) becomes the number of node i
 * there. */
void tv_paths_merge(struct tv_paths *to, const struct tv_paths *from, uint32_t *map);

/* Gives back what only adding needs: the finished tree is nodes[0..count). */
void tv_paths_finish(struct tv_paths *paths);

#endif
