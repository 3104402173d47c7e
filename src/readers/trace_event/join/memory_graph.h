/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_graph.h - the allocator dumps of one moment: a tree of paths for each process, and which
 * allocator owns which.
 *
 * Fill it from all dump events with one id, then finish it.  memory_graph.c explains the sizes.
 */
#ifndef TV_READERS_TRACE_EVENT_JOIN_MEMORY_GRAPH_H
#define TV_READERS_TRACE_EVENT_JOIN_MEMORY_GRAPH_H

#include "base/map.h"
#include "base/types.h"

struct tv_te_memory_graph;

/* Names in the graph are numbers of `strings`. */
struct tv_te_memory_graph *tv_te_memory_graph_new(struct tv_interner *strings);
void tv_te_memory_graph_free(struct tv_te_memory_graph *graph);

/* Return the allocator "path/like/this" of a process (any number that tells processes apart).  It
 * and its parents are made when new.  TV_NONE: the path is empty. */
uint32_t tv_te_memory_graph_add(struct tv_te_memory_graph *graph, uint32_t process,
                                struct tv_bytes path);

/* Describe an allocator, which until then is only inferred from a path.  `guid` may be empty. */
void tv_te_memory_graph_describe(struct tv_te_memory_graph *graph, uint32_t allocator,
                                 struct tv_bytes guid, bool weak);

/* Set a number of an allocator; a later one replaces it. */
void tv_te_memory_graph_set(struct tv_te_memory_graph *graph, uint32_t allocator, uint32_t name,
                            uint32_t units, double value);

/* Let the allocator with the first guid own that with the second.  Guids are resolved at the end.
 */
void tv_te_memory_graph_own(struct tv_te_memory_graph *graph, struct tv_bytes source,
                            struct tv_bytes target, double importance);

/* Compute the sizes; nothing can be added afterwards.  Return how many ownerships were ignored: of
 * unknown guids, of an allocator that already owned another, or of itself. */
size_t tv_te_memory_graph_finish(struct tv_te_memory_graph *graph);

struct tv_te_memory_number {
    uint32_t process;
    uint32_t path, name, units;
    double value;
};

/* Visit every number of every allocator that is left, in the order in which they were added. */
void tv_te_memory_graph_visit(const struct tv_te_memory_graph *graph,
                              void (*take)(void *context, const struct tv_te_memory_number *number),
                              void *context);

#endif
