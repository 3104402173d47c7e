/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Edges ----
 */
#ifndef TV_WRITERS_EDGES_H
#define TV_WRITERS_EDGES_H

#include "analysis/call_tree.h"
#include "base/map.h"

/* The kinds of edges, in the order of a method's list. */
enum tv_edge_group {
    TV_EDGE_RECURSIVE_PARENT,
    TV_EDGE_PARENT,
    TV_EDGE_CHILD,
    TV_EDGE_RECURSIVE_CHILD,
};

struct tv_method_edge {
    uint32_t context; /* the method whose list contains the edge */
    uint32_t frame;   /* the other method; TV_NONE: the caller is unknown, "(toplevel)" */
    enum tv_edge_group group;
    uint64_t calls;
    int64_t wall, cpu;
    int64_t key;   /* `wall` or `cpu`: the time by which lists are sorted */
    uint32_t rank; /* of the other method's name; TV_NONE: no other method */
};

struct tv_method_edges {
    struct tv_method_edge *edges; /* sorted by context, group, key (largest first), name */
    size_t count, capacity;
    struct tv_map index;
    uint64_t *calls; /* [frame_count] calls of each method, from all callers */
    size_t *first;   /* [frame_count + 1] index of the first edge of a method's list */
};

/* Find all edges of the tree, sorted by CPU time or by wall time. */
void tv_method_edges_init(struct tv_method_edges *edges, const struct tv_call_tree *tree, bool cpu);
void tv_method_edges_release(struct tv_method_edges *edges);

#endif
