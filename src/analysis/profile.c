/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profile.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"

static void add_node(struct tv_profile *profile, const struct tv_call_tree *tree, uint32_t node,
                     bool recursive)
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
    if (!tv_call_tree_is_call(tree, tree->parent[node])) { /* a call of depth 0 */
        tv_time_add(&profile->total_wall, cost->wall);
        tv_time_add(&profile->total_cpu, cost->cpu);
    }
}

/* Keeps the methods with calls. */
static void close_up(struct tv_profile *profile, uint32_t frame_count)
{
    for (uint32_t i = 0; i < frame_count; i++) {
        struct tv_method_cost *method = &profile->methods[i];
        if (method->calls + method->recursive_calls == 0)
            continue;
        method->frame = i;
        profile->methods[profile->count++] = *method;
    }
}

struct tv_profile *tv_profile_of_tree(const struct tv_call_tree *tree)
{
    struct tv_profile *profile = tv_alloc(1, sizeof *profile);
    const uint8_t *recursive = tv_call_tree_recursion(tree);
    profile->head = tree->head;
    profile->clocks = tree->clocks;
    profile->waits = tree->waits;
    profile->compensation = tree->compensation;
    profile->methods = tv_alloc(tree->head->frame_count, sizeof *profile->methods);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (i % TV_TREE_STRETCH == 1)
            tv_call_tree_expect(tree, i / TV_TREE_STRETCH);
        if (tree->cost[i].calls > 0 && tv_call_tree_is_call(tree, i))
            add_node(profile, tree, i, recursive[i]);
    }
    close_up(profile, tree->head->frame_count);
    return profile;
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
    int order =
        tv_bytes_compare(tv_trace_info_text(head, fa->class_name), tv_trace_info_text(head, fb->class_name));
    if (order == 0)
        order = tv_bytes_compare(tv_trace_info_text(head, fa->name), tv_trace_info_text(head, fb->name));
    if (order == 0)
        order =
            tv_bytes_compare(tv_trace_info_text(head, fa->signature), tv_trace_info_text(head, fb->signature));
    if (order == 0)
        order = (a > b) - (a < b);
    return order;
}

/* What qsort moves: it hands its comparison no context. */
struct sortable {
    const struct tv_trace_info *head;
    int64_t key; /* larger first */
    struct tv_method_cost method;
};

static int compare_sortable(const void *left, const void *right)
{
    const struct sortable *a = left, *b = right;
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
    struct sortable *all = tv_alloc(profile->count, sizeof *all);
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct tv_method_cost *method = &profile->methods[i];
        all[i] = (struct sortable){profile->head, tv_method_figure(method, order), *method};
    }
    qsort(all, profile->count, sizeof *all, compare_sortable);
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
