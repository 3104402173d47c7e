/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each gathers the paths of the new tree first, and knows for every old node the new one, then sums
 * the figures up.  They need no settling: self times are sums of self times.
 */
#include "analysis/tree_views.h"

#include "analysis/flame.h"
#include "base/map.h"
#include "base/memory.h"

struct making {
    const struct tv_call_tree *from;
    struct tv_paths paths;
    uint32_t *node; /* [from->count] the new one; TV_NONE: it has none */
};

static struct making making_of(const struct tv_call_tree *from)
{
    struct making making = {.from = from};
    tv_paths_init(&making.paths);
    making.node = tv_pages_alloc(tv_size_mul(from->count, sizeof *making.node));
    return making;
}

static struct tv_call_tree *finish(struct making *making)
{
    struct tv_call_tree *tree = tv_call_tree_new(making->from->head, &making->paths);
    tree->clocks = making->from->clocks;
    tree->waits = making->from->waits;
    return tree;
}

static void release(struct making *making)
{
    tv_pages_free(making->node, tv_size_mul(making->from->count, sizeof *making->node));
    tv_paths_release(&making->paths);
}

static void add_cost(struct tv_call_tree *tree, uint32_t node, const struct tv_path_cost *cost)
{
    tree->cost[node].calls += cost->calls;
    tv_time_add(&tree->cost[node].wall, cost->wall);
    tv_time_add(&tree->cost[node].cpu, cost->cpu);
}

static void add_self(struct tv_call_tree *tree, uint32_t to, const struct tv_call_tree *from,
                     uint32_t node)
{
    tv_time_add(&tree->self_wall[to], from->self_wall[node]);
    tv_time_add(&tree->self_cpu[to], from->self_cpu[node]);
}

struct tv_call_tree *tv_call_tree_fold(const struct tv_call_tree *tree)
{
    struct making making = making_of(tree);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t parent = tree->parent[i];
        bool direct = parent != TV_ROOT_PATH && tree->frame[parent] == tree->frame[i];
        making.node[i] = direct
                             ? making.node[parent]
                             : tv_paths_child(&making.paths, making.node[parent], tree->frame[i]);
    }
    struct tv_call_tree *folded = finish(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t parent = tree->parent[i];
        if (making.node[i] != making.node[parent])
            add_cost(folded, making.node[i], &tree->cost[i]);
        add_self(folded, making.node[i], tree, i);
    }
    release(&making);
    return folded;
}

/* [frame_count] For each frame the first that has its class and name; to be freed. */
static uint32_t *find_first_of_names(const struct tv_trace_info *head)
{
    uint32_t *first = tv_alloc(head->frame_count, sizeof *first);
    struct tv_map names;
    tv_map_init(&names);
    for (uint32_t i = 0; i < head->frame_count; i++)
        first[i] = tv_map_add(&names,
                              (uint64_t)head->frames[i].class_name << 32 | head->frames[i].name, i);
    tv_map_release(&names);
    return first;
}

struct tv_call_tree *tv_call_tree_fold_names(const struct tv_call_tree *tree)
{
    struct making making = making_of(tree);
    uint32_t *first = find_first_of_names(tree->head);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t frame = tree->frame[i]; /* or a thread's (tree_sink.h) */
        if (frame < tree->head->frame_count)
            frame = first[frame];
        making.node[i] = tv_paths_child(&making.paths, making.node[tree->parent[i]], frame);
    }
    struct tv_call_tree *folded = finish(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        add_cost(folded, making.node[i], &tree->cost[i]);
        add_self(folded, making.node[i], tree, i);
    }
    tv_free(first);
    release(&making);
    return folded;
}

static bool is_outermost(const struct tv_call_tree *tree, uint32_t node, uint32_t frame)
{
    return tree->frame[node] == frame && tree->cost[node].calls > 0 &&
           !tv_call_tree_recursion(tree)[node];
}

struct tv_call_tree *tv_call_tree_callees(const struct tv_call_tree *tree, uint32_t frame)
{
    struct making making = making_of(tree);
    making.node[TV_ROOT_PATH] = TV_NONE;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t on = making.node[tree->parent[i]];
        if (is_outermost(tree, i, frame))
            on = TV_ROOT_PATH;
        making.node[i] =
            on == TV_NONE ? TV_NONE : tv_paths_child(&making.paths, on, tree->frame[i]);
    }
    struct tv_call_tree *callees = finish(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (making.node[i] == TV_NONE)
            continue;
        add_cost(callees, making.node[i], &tree->cost[i]);
        add_self(callees, making.node[i], tree, i);
    }
    release(&making);
    return callees;
}

/* So many steps up are made, whatever the chains share. */
#define STEP_LIMIT ((uint64_t)1 << 26)

/* Adds the calls of a node to each frame of its chain; returns the last. */
static uint32_t add_chain(struct tv_call_tree *callers, struct making *making, uint32_t node,
                          uint64_t *steps)
{
    const struct tv_call_tree *tree = making->from;
    uint32_t at = TV_ROOT_PATH;
    for (uint32_t up = node; up != TV_ROOT_PATH; up = tree->parent[up]) {
        at = tv_paths_child(&making->paths, at, tree->frame[up]);
        if (callers)
            add_cost(callers, at, &tree->cost[node]);
        ++*steps;
    }
    return at;
}

struct tv_call_tree *tv_call_tree_callers(const struct tv_call_tree *tree, uint32_t frame,
                                          struct tv_path_cost *left_out)
{
    struct making making = making_of(tree);
    int64_t *wall = tv_flame_widths(tree, tree->self_wall);
    int64_t *cpu = tv_flame_widths(tree, tree->self_cpu);
    uint64_t steps = 0;
    uint32_t end = 1;
    for (; end < tree->count && making.paths.count < TV_CALLERS_NODES && steps < STEP_LIMIT; end++)
        if (is_outermost(tree, end, frame))
            add_chain(NULL, &making, end, &steps);
    struct tv_call_tree *callers = finish(&making);
    *left_out = (struct tv_path_cost){0};
    for (uint32_t i = 1; i < tree->count; i++) {
        if (!is_outermost(tree, i, frame))
            continue;
        if (i >= end) {
            left_out->calls += tree->cost[i].calls;
            tv_time_add(&left_out->wall, wall[i]);
            tv_time_add(&left_out->cpu, cpu[i]);
            continue;
        }
        uint32_t last = add_chain(callers, &making, i, &steps);
        tv_time_add(&callers->self_wall[last], wall[i]);
        tv_time_add(&callers->self_cpu[last], cpu[i]);
    }
    tv_pages_free(wall, tv_size_mul(tree->count, sizeof *wall));
    tv_pages_free(cpu, tv_size_mul(tree->count, sizeof *cpu));
    release(&making);
    return callers;
}
