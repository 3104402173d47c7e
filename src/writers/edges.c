/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/edges.h"

#include <stdlib.h>

#include "analysis/calltree/profile.h"
#include "base/memory.h"

/* Frames have 30 bits, so that a key holds the whole edge. */
static uint64_t key_of(uint32_t context, uint32_t frame, enum tv_edge_group group)
{
    return (uint64_t)context << 34 | (uint64_t)group << 32 | frame;
}

static void add_edge(struct tv_method_edges *edges, uint32_t context, uint32_t frame,
                     enum tv_edge_group group, const struct tv_path_cost *cost)
{
    uint32_t place =
        tv_map_add(&edges->index, key_of(context, frame, group), (uint32_t)edges->count);
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

/* Recursive is what is not the outermost activation: of the method itself among its parents, of its
 * caller among the caller's children. */
static void add_node(struct tv_method_edges *edges, const struct tv_call_tree *tree, uint32_t node,
                     const uint8_t *recursive)
{
    uint32_t frame = tree->frame[node], parent = tree->parent[node];
    bool nested = tv_call_tree_is_call(tree, parent);
    uint32_t caller = nested ? tree->frame[parent] : TV_NONE;
    const struct tv_path_cost *cost = &tree->cost[node];
    edges->calls[frame] += cost->calls;
    add_edge(edges, frame, caller, recursive[node] ? TV_EDGE_RECURSIVE_PARENT : TV_EDGE_PARENT,
             cost);
    if (nested)
        add_edge(edges, caller, frame, recursive[parent] ? TV_EDGE_RECURSIVE_CHILD : TV_EDGE_CHILD,
                 cost);
}

static int compare_edges(const void *left, const void *right)
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

/* What qsort moves: it hands its comparison no context. */
struct named {
    const struct tv_head *head;
    uint32_t frame;
};

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    return tv_frame_compare_names(a->head, a->frame, b->frame);
}

/* Texts are compared once a frame, not once a comparison of edges. */
static void rank_edges(struct tv_method_edges *edges, const struct tv_head *head)
{
    struct named *sorted = tv_alloc(head->frame_count, sizeof *sorted);
    uint32_t *rank = tv_alloc(head->frame_count, sizeof *rank);
    for (uint32_t i = 0; i < head->frame_count; i++)
        sorted[i] = (struct named){head, i};
    qsort(sorted, head->frame_count, sizeof *sorted, compare_names);
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
            add_node(edges, tree, i, recursive);
    }
    for (size_t i = 0; i < edges->count; i++)
        edges->edges[i].key = cpu ? edges->edges[i].cpu : edges->edges[i].wall;
    rank_edges(edges, tree->head);
    if (edges->count > 0)
        qsort(edges->edges, edges->count, sizeof *edges->edges, compare_edges);
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
