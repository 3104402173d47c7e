/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edges.h - who calls whom, for all methods of a call tree at once.
 *
 * One pass gives every call path's figures to two edges: it is a child of the method that called it
 * and a parent of the one that was called.  An edge is recursive when the activation of the method
 * in whose list it stands is not the outermost (as analysis/calltree/profile.h has it for one method).
 */
#ifndef TV_WRITERS_EDGES_H
#define TV_WRITERS_EDGES_H

#include "analysis/calltree/call_tree.h"
#include "base/map.h"

/* In the order in which they stand in a method's list. */
enum tv_edge_group {
    TV_EDGE_RECURSIVE_PARENT,
    TV_EDGE_PARENT,
    TV_EDGE_CHILD,
    TV_EDGE_RECURSIVE_CHILD,
};

struct tv_method_edge {
    uint32_t context; /* the method in whose list it stands */
    uint32_t frame;   /* the other; TV_NONE: called from nowhere */
    enum tv_edge_group group;
    uint64_t calls;
    int64_t wall, cpu;
    int64_t key;   /* the one of them that lists are sorted by */
    uint32_t rank; /* of the other's name; TV_NONE: called from nowhere */
};

struct tv_method_edges {
    struct tv_method_edge *edges; /* by context, group, key (largest first), name */
    size_t count, capacity;
    struct tv_map index;
    uint64_t *calls; /* [frame_count] of each method, from everywhere */
    size_t *first;   /* [frame_count + 1] where a method's list begins */
};

/* All edges of the tree, sorted by CPU time or by real time. */
void tv_method_edges_init(struct tv_method_edges *edges, const struct tv_call_tree *tree, bool cpu);
void tv_method_edges_release(struct tv_method_edges *edges);

#endif
