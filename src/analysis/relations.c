/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analysis/profile.h"
#include "base/map.h"
#include "base/memory.h"

/* A list of edges that grows. */
struct gathering {
    struct tv_edges *edges;
    size_t capacity;
    struct tv_map index; /* frame -> place in the list */
};

enum { PARENTS, CHILDREN, RECURSIVE_PARENTS, RECURSIVE_CHILDREN, LIST_COUNT };

static void gather(struct gathering *list, uint32_t frame, const struct tv_path_cost *cost)
{
    struct tv_edges *edges = list->edges;
    if (cost->calls == 0)
        return;
    uint32_t place = tv_map_add(&list->index, frame, edges->count);
    if (place == edges->count) {
        edges->edges = tv_array_reserve(edges->edges, &list->capacity, (size_t)place + 1,
                                        sizeof *edges->edges);
        edges->edges[edges->count++] = (struct tv_edge_cost){.frame = frame};
    }
    edges->edges[place].calls += cost->calls;
    tv_time_add(&edges->edges[place].wall, cost->wall);
    tv_time_add(&edges->edges[place].cpu, cost->cpu);
}

static uint32_t frame_of(const struct tv_call_tree *tree, uint32_t node)
{
    return tv_call_tree_is_call(tree, node) ? tree->frame[node] : TV_NONE;
}

/* The node is a call of the opened method. */
static void add_activation(struct tv_relations *relations, struct gathering *lists,
                           const struct tv_call_tree *tree, uint32_t node, bool recursive)
{
    uint32_t parent = frame_of(tree, tree->parent[node]);
    if (recursive) {
        gather(&lists[RECURSIVE_PARENTS], parent, &tree->cost[node]);
        tv_time_add(&relations->recursive_self_wall, tree->self_wall[node]);
        tv_time_add(&relations->recursive_self_cpu, tree->self_cpu[node]);
    } else {
        gather(&lists[PARENTS], parent, &tree->cost[node]);
        tv_time_add(&relations->self_wall, tree->self_wall[node]);
        tv_time_add(&relations->self_cpu, tree->self_cpu[node]);
    }
}

static uint64_t *count_calls(const struct tv_call_tree *tree)
{
    uint64_t *calls = tv_alloc(tree->head->frame_count, sizeof *calls);
    for (uint32_t i = 0; i < tree->count; i++) {
        if (tv_call_tree_is_call(tree, i))
            calls[tree->frame[i]] += tree->cost[i].calls;
    }
    return calls;
}

/* What qsort moves: it hands its comparison no context. */
struct sortable {
    const struct tv_trace_info *head;
    int64_t key; /* larger first */
    struct tv_edge_cost edge;
};

static int compare_sortable(const void *left, const void *right)
{
    const struct sortable *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->edge.frame == TV_NONE || b->edge.frame == TV_NONE)
        return (a->edge.frame == TV_NONE) - (b->edge.frame == TV_NONE);
    return tv_frame_compare_names(a->head, a->edge.frame, b->edge.frame);
}

static void sort_edges(struct tv_edges *edges, const struct tv_call_tree *tree)
{
    struct sortable *all = tv_alloc(edges->count, sizeof *all);
    for (uint32_t i = 0; i < edges->count; i++) {
        const struct tv_edge_cost *edge = &edges->edges[i];
        int64_t key = tree->clocks & TV_CLOCK_WALL ? edge->wall : edge->cpu;
        all[i] = (struct sortable){tree->head, key, *edge};
    }
    qsort(all, edges->count, sizeof *all, compare_sortable);
    for (uint32_t i = 0; i < edges->count; i++)
        edges->edges[i] = all[i].edge;
    tv_free(all);
}

static void finish_lists(struct tv_relations *relations, struct gathering *lists,
                         const struct tv_call_tree *tree, uint32_t opened)
{
    uint64_t *calls = count_calls(tree);
    for (int i = 0; i < LIST_COUNT; i++) {
        struct tv_edges *edges = lists[i].edges;
        bool children = edges == &relations->children || edges == &relations->recursive_children;
        for (uint32_t k = 0; k < edges->count; k++)
            edges->edges[k].total_calls = calls[children ? edges->edges[k].frame : opened];
        sort_edges(edges, tree);
        tv_map_release(&lists[i].index);
    }
    tv_free(calls);
}

struct tv_relations *tv_relations_of(const struct tv_call_tree *tree, uint32_t frame)
{
    struct tv_relations *relations = tv_alloc(1, sizeof *relations);
    struct gathering lists[LIST_COUNT] = {
        [PARENTS] = {.edges = &relations->parents},
        [CHILDREN] = {.edges = &relations->children},
        [RECURSIVE_PARENTS] = {.edges = &relations->recursive_parents},
        [RECURSIVE_CHILDREN] = {.edges = &relations->recursive_children},
    };
    const uint8_t *recursive = tv_call_tree_recursion(tree);
    if (frame >= tree->head->frame_count)
        return relations;
    for (int i = 0; i < LIST_COUNT; i++)
        tv_map_init(&lists[i].index);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (tree->cost[i].calls == 0 || !tv_call_tree_is_call(tree, i))
            continue;
        if (tree->frame[i] == frame)
            add_activation(relations, lists, tree, i, recursive[i]);
        if (frame_of(tree, tree->parent[i]) == frame)
            gather(&lists[recursive[tree->parent[i]] ? RECURSIVE_CHILDREN : CHILDREN],
                   tree->frame[i], &tree->cost[i]);
    }
    finish_lists(relations, lists, tree, frame);
    return relations;
}

void tv_relations_free(struct tv_relations *relations)
{
    if (!relations)
        return;
    tv_free(relations->parents.edges);
    tv_free(relations->children.edges);
    tv_free(relations->recursive_parents.edges);
    tv_free(relations->recursive_children.edges);
    tv_free(relations);
}
