/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile groups the nodes of a call tree by frame.  A node counts as recursive if an ancestor
 * has the same frame; only the others add to inclusive time, so that no time counts twice.
 *
 * In the tree main > f > g > f, the inner f lies within the outer one: its self time counts, its
 * inclusive time is part of the outer f's already, and its call is a recursive one.
 *
 * Callgrind and cachegrind state the exact costs of functions beside estimated call chains.  Where
 * a profile would show nothing but such estimates, the exact costs replace them.
 */
#include "analysis/calltree/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"

/* Add a node to its method. */
static void profile_add_node(struct tv_profile *profile, const struct tv_call_tree *tree,
                             uint32_t node, bool recursive)
{
    const struct tv_path_cost *cost = &tree->cost[node];
    struct tv_method_cost *method = &profile->methods[tree->frame[node]];
    tv_time_add(&method->excl_wall, tree->self_wall[node]);
    tv_time_add(&method->excl_cpu, tree->self_cpu[node]);
    if (recursive) {
        method->recursive_calls += cost->calls;
        return;
    }
    method->calls += cost->calls;
    tv_time_add(&method->incl_wall, cost->wall);
    tv_time_add(&method->incl_cpu, cost->cpu);
}

/* Remove the methods without calls. */
static void profile_remove_uncalled(struct tv_profile *profile, uint32_t frame_count)
{
    for (uint32_t i = 0; i < frame_count; i++) {
        struct tv_method_cost *method = &profile->methods[i];
        if (method->calls + method->recursive_calls == 0)
            continue;
        method->frame = i;
        profile->methods[profile->count++] = *method;
    }
}

/* Return the sum of the samples that no method has. */
static int64_t profile_find_unshown(const struct tv_profile *profile)
{
    int64_t rest = profile->figures.sum;
    for (uint32_t i = 0; i < profile->count; i++)
        tv_time_add(&rest, -profile->methods[i].excl_wall);
    return profile->figures.sampled ? rest : 0;
}

struct tv_profile *tv_profile_of_tree(const struct tv_call_tree *tree)
{
    struct tv_profile *profile = tv_alloc(1, sizeof *profile);
    const uint8_t *recursive = tv_call_tree_recursion(tree);
    profile->head = tree->head;
    profile->clocks = tree->clocks;
    profile->waits = tree->waits;
    profile->compensation = tree->compensation;
    profile->figures = tree->figures;
    profile->methods = tv_alloc(tree->head->frame_count, sizeof *profile->methods);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (i % TV_TREE_READ_AHEAD == 1)
            tv_call_tree_expect(tree, i / TV_TREE_READ_AHEAD);
        if (tree->cost[i].calls > 0 && tv_call_tree_is_call(tree, i))
            profile_add_node(profile, tree, i, recursive[i]);
    }
    profile_remove_uncalled(profile, tree->head->frame_count);
    profile->unshown = profile_find_unshown(profile);
    tv_call_tree_totals(tree, &profile->total_wall, &profile->total_cpu);
    return profile;
}

/* ---- Exact costs ---- */

/* Return true when the file states the cost of each function for this value type. */
static bool profile_type_is_exact(const struct tv_tables *tables, uint32_t type)
{
    for (size_t i = 0; i < tables->function_costs.count; i++)
        if (tables->function_costs.rows[i].type == type)
            return true;
    return false;
}

/* Return true if every sample of the value is in the profile, and only estimates exact costs. */
static bool profile_is_estimate(const struct tv_profile *profile, const struct tv_tables *tables)
{
    uint64_t samples = 0;
    if (!profile->figures.sampled || profile->figures.measure != TV_SAMPLES_WEIGHT)
        return false;
    for (uint32_t i = 0; i < tables->value_types.count; i++) {
        const struct tv_value_type *type = &tables->value_types.rows[i];
        if (type->name != profile->figures.name || type->samples == 0)
            continue;
        if (!profile_type_is_exact(tables, i))
            return false;
        samples += type->samples;
    }
    return samples == profile->figures.samples && samples > 0;
}

/* Add the exact cost of a function. */
static void profile_add_exact(struct tv_profile *profile, const struct tv_function_cost *cost)
{
    assert(cost->frame < profile->head->frame_count);
    struct tv_method_cost *method = &profile->methods[cost->frame];
    method->frame = cost->frame;
    method->calls += cost->calls;
    tv_time_add(&method->excl_wall, cost->self);
    tv_time_add(&method->incl_wall, cost->inclusive);
    tv_time_add(&profile->figures.total, cost->self);
}

void tv_profile_use_function_costs(struct tv_profile *profile, const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    uint32_t frames = trace->head->frame_count, count = 0;
    if (tables->function_costs.count == 0 || !profile_is_estimate(profile, tables))
        return;
    memset(profile->methods, 0, frames * sizeof *profile->methods);
    profile->figures.total = profile->unshown = 0;
    for (size_t i = 0; i < tables->function_costs.count; i++) {
        const struct tv_function_cost *cost = &tables->function_costs.rows[i];
        if (tables->value_types.rows[cost->type].name == profile->figures.name)
            profile_add_exact(profile, cost);
    }
    for (uint32_t i = 0; i < frames; i++)
        if (profile->methods[i].excl_wall != 0 || profile->methods[i].incl_wall != 0)
            profile->methods[count++] = profile->methods[i];
    profile->count = count;
    profile->total_wall = profile->figures.total;
}

void tv_profile_free(struct tv_profile *profile)
{
    if (!profile)
        return;
    tv_free(profile->methods);
    tv_free(profile);
}

int tv_frame_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b)
{
    const struct tv_frame *fa = &head->frames[a], *fb = &head->frames[b];
    int order = tv_bytes_compare(tv_trace_info_text(head, fa->class_name),
                                 tv_trace_info_text(head, fb->class_name));
    if (order == 0)
        order = tv_bytes_compare(tv_trace_info_text(head, fa->name),
                                 tv_trace_info_text(head, fb->name));
    if (order == 0)
        order = tv_bytes_compare(tv_trace_info_text(head, fa->signature),
                                 tv_trace_info_text(head, fb->signature));
    if (order == 0)
        order = (a > b) - (a < b);
    return order;
}

/* qsort passes no context to its comparison, so each element carries it. */
struct sortable_method {
    const struct tv_trace_info *head;
    int64_t key; /* larger first */
    struct tv_method_cost method;
};

/* Order by the figure, then by name, so that the order does not depend on the file. */
static int sortable_method_compare(const void *left, const void *right)
{
    const struct sortable_method *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return tv_frame_compare_names(a->head, a->method.frame, b->method.frame);
}

int64_t tv_method_figure(const struct tv_method_cost *method, enum tv_profile_order order)
{
    switch (order) {
    case TV_ORDER_CALLS:
        return (int64_t)(method->calls + method->recursive_calls);
    case TV_ORDER_INCL_WALL:
        return method->incl_wall;
    case TV_ORDER_EXCL_WALL:
        return method->excl_wall;
    case TV_ORDER_INCL_CPU:
        return method->incl_cpu;
    case TV_ORDER_EXCL_CPU:
        return method->excl_cpu;
    case TV_ORDER_NAME:
        break;
    }
    return 0;
}

void tv_profile_sort(struct tv_profile *profile, enum tv_profile_order order)
{
    struct sortable_method *all = tv_alloc(profile->count, sizeof *all);
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct tv_method_cost *method = &profile->methods[i];
        all[i] = (struct sortable_method){profile->head, tv_method_figure(method, order), *method};
    }
    qsort(all, profile->count, sizeof *all, sortable_method_compare);
    for (uint32_t i = 0; i < profile->count; i++)
        profile->methods[i] = all[i].method;
    tv_free(all);
}

enum tv_profile_order tv_profile_default_order(const struct tv_profile *profile)
{
    return profile->clocks & TV_CLOCK_CPU ? TV_ORDER_INCL_CPU : TV_ORDER_INCL_WALL;
}

uint32_t *tv_profile_ranks(const struct tv_profile *profile)
{
    assert(profile->count <= profile->head->frame_count);
    uint32_t *rank = tv_alloc(profile->head->frame_count, sizeof *rank);
    struct tv_profile sorted = *profile;
    sorted.methods = tv_alloc(profile->count, sizeof *sorted.methods);
    for (uint32_t i = 0; i < profile->count; i++)
        sorted.methods[i] = profile->methods[i];
    tv_profile_sort(&sorted, tv_profile_default_order(profile));
    for (uint32_t i = 0; i < sorted.count; i++)
        rank[sorted.methods[i].frame] = i + 1;
    tv_free(sorted.methods);
    return rank;
}

/* A growing list of edges. */
struct edge_list {
    struct tv_edges *edges;
    size_t capacity;
    struct tv_map index; /* frame -> index in the list */
};

enum { PARENTS, CHILDREN, RECURSIVE_PARENTS, RECURSIVE_CHILDREN, LIST_COUNT };

/* Add calls to the edge of a frame, a new one if needed. */
static void relations_add_edge(struct edge_list *list, uint32_t frame,
                               const struct tv_path_cost *cost)
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

/* Return the frame of a node, or TV_NONE for the root and thread nodes. */
static uint32_t relations_frame(const struct tv_call_tree *tree, uint32_t node)
{
    return tv_call_tree_is_call(tree, node) ? tree->frame[node] : TV_NONE;
}

/* Add a node that is a call of the opened method. */
static void relations_add_activation(struct tv_relations *relations, struct edge_list *lists,
                                     const struct tv_call_tree *tree, uint32_t node, bool recursive)
{
    uint32_t parent = relations_frame(tree, tree->parent[node]);
    if (recursive) {
        relations_add_edge(&lists[RECURSIVE_PARENTS], parent, &tree->cost[node]);
        tv_time_add(&relations->recursive_self_wall, tree->self_wall[node]);
        tv_time_add(&relations->recursive_self_cpu, tree->self_cpu[node]);
    } else {
        relations_add_edge(&lists[PARENTS], parent, &tree->cost[node]);
        tv_time_add(&relations->self_wall, tree->self_wall[node]);
        tv_time_add(&relations->self_cpu, tree->self_cpu[node]);
    }
}

/* Count all calls of each frame. */
static uint64_t *relations_count_calls(const struct tv_call_tree *tree)
{
    uint64_t *calls = tv_alloc(tree->head->frame_count, sizeof *calls);
    for (uint32_t i = 0; i < tree->count; i++) {
        if (tv_call_tree_is_call(tree, i))
            calls[tree->frame[i]] += tree->cost[i].calls;
    }
    return calls;
}

/* qsort passes no context to its comparison, so each element carries it. */
struct sortable_edge {
    const struct tv_trace_info *head;
    int64_t key; /* larger first */
    struct tv_edge_cost edge;
};

/* Order by time, then by name; the root, which has no name, comes last. */
static int sortable_edge_compare(const void *left, const void *right)
{
    const struct sortable_edge *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->edge.frame == TV_NONE || b->edge.frame == TV_NONE)
        return (a->edge.frame == TV_NONE) - (b->edge.frame == TV_NONE);
    return tv_frame_compare_names(a->head, a->edge.frame, b->edge.frame);
}

/* Sort a list of edges by its main figure. */
static void relations_sort_edges(struct tv_edges *edges, const struct tv_call_tree *tree)
{
    struct sortable_edge *all = tv_alloc(edges->count, sizeof *all);
    for (uint32_t i = 0; i < edges->count; i++) {
        const struct tv_edge_cost *edge = &edges->edges[i];
        int64_t key = tree->clocks & TV_CLOCK_WALL ? edge->wall : edge->cpu;
        all[i] = (struct sortable_edge){tree->head, key, *edge};
    }
    qsort(all, edges->count, sizeof *all, sortable_edge_compare);
    for (uint32_t i = 0; i < edges->count; i++)
        edges->edges[i] = all[i].edge;
    tv_free(all);
}

/* Set the total calls of all edges and sort the lists. */
static void relations_finish_lists(struct tv_relations *relations, struct edge_list *lists,
                                   const struct tv_call_tree *tree, uint32_t opened)
{
    uint64_t *calls = relations_count_calls(tree);
    for (int i = 0; i < LIST_COUNT; i++) {
        struct tv_edges *edges = lists[i].edges;
        bool children = edges == &relations->children || edges == &relations->recursive_children;
        for (uint32_t k = 0; k < edges->count; k++)
            edges->edges[k].total_calls = calls[children ? edges->edges[k].frame : opened];
        relations_sort_edges(edges, tree);
        tv_map_release(&lists[i].index);
    }
    tv_free(calls);
}

struct tv_relations *tv_relations_of_tree(const struct tv_call_tree *tree, uint32_t frame)
{
    struct tv_relations *relations = tv_alloc(1, sizeof *relations);
    struct edge_list lists[LIST_COUNT] = {
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
            relations_add_activation(relations, lists, tree, i, recursive[i]);
        if (relations_frame(tree, tree->parent[i]) == frame)
            relations_add_edge(&lists[recursive[tree->parent[i]] ? RECURSIVE_CHILDREN : CHILDREN],
                               tree->frame[i], &tree->cost[i]);
    }
    relations_finish_lists(relations, lists, tree, frame);
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
