/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgraph.h - who calls whom: the edges between the methods of a call tree, the Graphviz graph
 * that dmtracedump -g draws, and the listing that gprof prints.
 *
 * One pass adds the figures of every call path to two edges: a child edge of the caller and a
 * parent edge of the callee. An edge is recursive when the activation of the method in whose
 * list it is listed is not the outermost one (analysis/calltree/profile.h defines the same for one
 * method).
 */
#ifndef TV_WRITERS_TABLES_CALLGRAPH_H
#define TV_WRITERS_TABLES_CALLGRAPH_H

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/profile.h"
#include "base/map.h"
#include "base/out.h"
#include "writers/tables/tables.h"

/* ---- Edges ---- */

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

/* ---- Graph ---- */

struct tv_callgraph_options {
    bool cpu;
    uint64_t threshold; /* millionths of a percent: a callee is drawn when its calls from a
                         * method take at least this share of the method's inclusive time */
};

/* Draw the methods that are reachable from calls without a caller. `profile` is the tree's
 * profile; it is sorted again. */
void tv_callgraph_write(struct tv_out *out, const struct tv_call_tree *tree,
                        struct tv_profile *profile, const struct tv_callgraph_options *options);

/*
 * ---- Relations: each method between its callers and callees, as dmtracedump and gprof print
 * them ----
 *
 *     index  %/total %/self  index      calls           ms name
 *     ---------------------------------------------------
 *                    100.0%    [0]        1/1        0.100 (callers, while recursive after "++++")
 *     [1]     53.0%                       1+0        0.088 com.ex.A.run ()V
 *                     69.3%   excl                   0.061
 *                     30.7%    [3]        1/1        0.027 (callees, while recursive after "++++")
 */

struct tv_relations_options {
    bool cpu;  /* sort by CPU time; else by wall time */
    bool json; /* the JSON of the profile, with parents and children in each object */
};

/* Write a block for each row. One pass over the tree finds all relations, however many rows
 * there are. */
void tv_relations_write(struct tv_out *out, const struct tv_call_tree *tree,
                        const struct tv_profile *profile, const struct tv_profile_rows *rows,
                        const struct tv_relations_options *options);

#endif
