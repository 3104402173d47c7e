/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/edges.h"

#include <stdlib.h>

#include "analysis/profile.h"
#include "base/memory.h"

/* Pack an edge into one key: frames have 30 bits. */
static uint64_t method_edges_key_of(uint32_t context, uint32_t frame, enum tv_edge_group group)
{
    return (uint64_t)context << 34 | (uint64_t)group << 32 | frame;
}

static void method_edges_add(struct tv_method_edges *edges, uint32_t context, uint32_t frame,
                             enum tv_edge_group group, const struct tv_path_cost *cost)
{
    uint32_t place = tv_map_add(&edges->index, method_edges_key_of(context, frame, group),
                                (uint32_t)edges->count);
    if (place == edges->count) {
        edges->edges = tv_array_reserve(edges->edges, &edges->capacity, edges->count + 1,
                                        sizeof *edges->edges);
        edges->edges[edges->count++] =
            (struct tv_method_edge){.context = context, .frame = frame, .group = group};
    }
    edges->edges[place].calls += cost->calls;
    tv_time_add(&edges->edges[place].wall, cost->wall);
    tv_time_add(&edges->edges[place].cpu, cost->cpu);
}

/* Add the edges of a tree node. The parent edge is recursive when the method itself is active
 * further out; the child edge is when the caller is. */
static void method_edges_add_node(struct tv_method_edges *edges, const struct tv_call_tree *tree,
                                  uint32_t node, const uint8_t *recursive)
{
    uint32_t frame = tree->frame[node], parent = tree->parent[node];
    bool nested = tv_call_tree_is_call(tree, parent);
    uint32_t caller = nested ? tree->frame[parent] : TV_NONE;
    const struct tv_path_cost *cost = &tree->cost[node];
    edges->calls[frame] += cost->calls;
    method_edges_add(edges, frame, caller,
                     recursive[node] ? TV_EDGE_RECURSIVE_PARENT : TV_EDGE_PARENT, cost);
    if (nested)
        method_edges_add(edges, caller, frame,
                         recursive[parent] ? TV_EDGE_RECURSIVE_CHILD : TV_EDGE_CHILD, cost);
}

static int method_edges_compare(const void *left, const void *right)
{
    const struct tv_method_edge *a = left, *b = right;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* An item for qsort, which passes no context to the comparison. */
struct method_edges_name {
    const struct tv_head *head;
    uint32_t frame;
};

static int method_edges_compare_names(const void *left, const void *right)
{
    const struct method_edges_name *a = left, *b = right;
    return tv_frame_compare_names(a->head, a->frame, b->frame);
}

/* Rank the names once, so that sorting the edges compares numbers only. */
static void method_edges_rank_names(struct tv_method_edges *edges, const struct tv_head *head)
{
    struct method_edges_name *sorted = tv_alloc(head->frame_count, sizeof *sorted);
    uint32_t *rank = tv_alloc(head->frame_count, sizeof *rank);
    for (uint32_t i = 0; i < head->frame_count; i++)
        sorted[i] = (struct method_edges_name){head, i};
    qsort(sorted, head->frame_count, sizeof *sorted, method_edges_compare_names);
    for (uint32_t i = 0; i < head->frame_count; i++)
        rank[sorted[i].frame] = i;
    for (size_t i = 0; i < edges->count; i++)
        edges->edges[i].rank =
            edges->edges[i].frame == TV_NONE ? TV_NONE : rank[edges->edges[i].frame];
    tv_free(sorted);
    tv_free(rank);
}

void tv_method_edges_init(struct tv_method_edges *edges, const struct tv_call_tree *tree, bool cpu)
{
    uint32_t frames = tree->head->frame_count;
    const uint8_t *recursive = tv_call_tree_recursion(tree);
    *edges = (struct tv_method_edges){0};
    tv_map_init(&edges->index);
    edges->calls = tv_alloc(frames, sizeof *edges->calls);
    edges->first = tv_alloc((size_t)frames + 1, sizeof *edges->first);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (tree->cost[i].calls > 0 && tv_call_tree_is_call(tree, i))
            method_edges_add_node(edges, tree, i, recursive);
    }
    for (size_t i = 0; i < edges->count; i++)
        edges->edges[i].key = cpu ? edges->edges[i].cpu : edges->edges[i].wall;
    method_edges_rank_names(edges, tree->head);
    if (edges->count > 0)
        qsort(edges->edges, edges->count, sizeof *edges->edges, method_edges_compare);
    for (size_t i = 0; i < edges->count; i++)
        edges->first[edges->edges[i].context + 1]++;
    for (uint32_t i = 0; i < frames; i++)
        edges->first[i + 1] += edges->first[i];
}

void tv_method_edges_release(struct tv_method_edges *edges)
{
    tv_map_release(&edges->index);
    tv_free(edges->edges);
    tv_free(edges->calls);
    tv_free(edges->first);
}
