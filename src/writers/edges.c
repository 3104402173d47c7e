/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/edges.h"

#include <stdlib.h>

#include "analysis/profile.h"
#include "analysis/visit.h"
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
    edges->edges[place].wall += cost->wall;
    edges->edges[place].cpu += cost->cpu;
}

static void add_node(struct tv_method_edges *edges, const struct tv_visit *visit)
{
    const struct tv_call_tree *tree = visit->tree;
    uint32_t node = visit->node, frame = tree->frame[node], parent = tree->parent[node];
    const struct tv_path_cost *cost = &tree->cost[node];
    bool recursive = tv_visit_is_recursive(visit);
    edges->calls[frame] += cost->calls;
    if (cost->calls == 0)
        return;
    if (!tv_call_tree_is_call(tree, parent)) {
        add_edge(edges, frame, TV_NONE, recursive ? TV_EDGE_RECURSIVE_PARENT : TV_EDGE_PARENT,
                 cost);
        return;
    }
    /* The parent's own activation is the outermost when it stands on the path once, itself apart.
     */
    uint32_t caller = tree->frame[parent];
    bool again = visit->active[caller] - (caller == frame) > 1;
    add_edge(edges, frame, caller, recursive ? TV_EDGE_RECURSIVE_PARENT : TV_EDGE_PARENT, cost);
    add_edge(edges, caller, frame, again ? TV_EDGE_RECURSIVE_CHILD : TV_EDGE_CHILD, cost);
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
    struct tv_visit visit;
    *edges = (struct tv_method_edges){0};
    tv_map_init(&edges->index);
    edges->calls = tv_alloc(frames, sizeof *edges->calls);
    edges->first = tv_alloc((size_t)frames + 1, sizeof *edges->first);
    tv_visit_init(&visit, tree);
    while (tv_visit_next(&visit)) {
        if (tv_call_tree_is_call(tree, visit.node))
            add_node(edges, &visit);
    }
    tv_visit_release(&visit);
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
