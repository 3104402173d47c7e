/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_graph.h - the allocator dumps of one moment: a tree of paths in each process, and which
 * allocator owns which.
 *
 * Filled from all dump events with one id, then finished (trace-event.md section 3.11):
 *
 *     weak     an allocator whose flag says so goes, with what lies under it and what owns it
 *     sums     a parent has the sums of its children's attributes that it does not tell itself
 *     size     at least the sum of the leaves below it, and of its largest owner;
 *              what it has beyond its leaves is its child "<unspecified>"
 *     effective_size   its size less what is charged to its owners: the more important owner pays
 *              first, equally important ones share
 *
 * An owner stands for memory that another allocator holds as well, so that the effective sizes of
 * all allocators on top add up to the memory that is there.
 */
#ifndef TV_READERS_TRACE_EVENT_MEMORY_GRAPH_H
#define TV_READERS_TRACE_EVENT_MEMORY_GRAPH_H

#include "base/intern.h"
#include "base/types.h"

struct tv_te_memory_graph;

/* Names are numbers of `strings`. */
struct tv_te_memory_graph *tv_te_memory_graph_new(struct tv_interner *strings);
void tv_te_memory_graph_free(struct tv_te_memory_graph *graph);

/* The allocator "path/like/this" of a process (any number that tells processes apart); it and its
 * parents are made when new.  TV_NONE: the path is empty. */
uint32_t tv_te_memory_graph_add(struct tv_te_memory_graph *graph, uint32_t process,
                                struct tv_bytes path);

/* The allocator is described: it was not merely inferred from a path. `guid` may be empty. */
void tv_te_memory_graph_describe(struct tv_te_memory_graph *graph, uint32_t allocator,
                                 struct tv_bytes guid, bool weak);

/* A number that the allocator tells; a later one replaces it. */
void tv_te_memory_graph_set(struct tv_te_memory_graph *graph, uint32_t allocator, uint32_t name,
                            uint32_t units, double value);

/* The allocator with the first guid owns that with the second. Whether both are there is found out
 * at the end. */
void tv_te_memory_graph_own(struct tv_te_memory_graph *graph, struct tv_bytes source,
                            struct tv_bytes target, double importance);

/* Nothing can be added afterwards. Returns how many ownerships were of unknown guids, of an
 * allocator that owned another already, or of itself. */
size_t tv_te_memory_graph_finish(struct tv_te_memory_graph *graph);

struct tv_te_memory_number {
    uint32_t process;
    uint32_t path, name, units;
    double value;
};

/* Hands over every number of every allocator that is left, in the order of their making. */
void tv_te_memory_graph_visit(const struct tv_te_memory_graph *graph,
                             void (*take)(void *context, const struct tv_te_memory_number *number),
                             void *context);

#endif
