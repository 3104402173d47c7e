/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tree_lines.h"

#include "analysis/tree_shape.h"
#include "base/memory.h"

struct tv_tree_line *tv_tree_lines_add(struct tv_tree_lines *lines)
{
    lines->lines = tv_array_reserve(lines->lines, &lines->capacity, (size_t)lines->count + 1,
                                    sizeof *lines->lines);
    lines->lines[lines->count] = (struct tv_tree_line){0};
    return &lines->lines[lines->count++];
}

static bool is_called(const struct tv_call_tree *tree, uint32_t node)
{
    return tree->cost[node].calls > 0;
}

static bool has_children(const struct tv_call_tree *tree, const struct tv_tree_order *order,
                         uint32_t node)
{
    uint32_t end = order->end[order->place[node]];
    for (uint32_t at = order->place[node] + 1; at < end; at = order->end[at])
        if (is_called(tree, order->node[at]))
            return true;
    return false;
}

/* The lines under a node. */
static void add_children(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                         uint32_t node, uint32_t parent)
{
    const struct tv_tree_order *order = tv_tree_shape_order(tree->shape);
    uint32_t end = order->end[order->place[node]];
    for (uint32_t at = order->place[node] + 1; at < end; at = order->end[at]) {
        uint32_t child = order->node[at];
        const struct tv_path_cost *cost = &tree->cost[child];
        if (cost->calls == 0)
            continue;
        *tv_tree_lines_add(lines) = (struct tv_tree_line){
            .frame = tree->frame[child],
            .node = child,
            .parent = parent,
            .has_children = has_children(tree, order, child),
            .calls = cost->calls,
            .outer_calls = cost->calls,
            .incl_wall = cost->wall,
            .self_wall = tree->self_wall[child],
            .incl_cpu = cost->cpu,
            .self_cpu = tree->self_cpu[child],
        };
    }
}

static void add_lines(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                      const struct tv_tree_question *question)
{
    for (uint32_t i = 0; i < question->name_count; i++)
        if (question->names[i].node < tree->count)
            add_children(lines, tree, question->names[i].node, i);
    for (uint32_t i = 0; question->below && i < lines->count && lines->count < question->limit;
         i++) {
        lines->lines[i].opened = lines->lines[i].has_children;
        if (lines->lines[i].has_children)
            add_children(lines, tree, lines->lines[i].node, question->name_count + i);
    }
}

static void add_totals(struct tv_tree_lines *lines, const struct tv_call_tree *tree)
{
    const struct tv_tree_order *order = tv_tree_shape_order(tree->shape);
    for (uint32_t at = 1; at < tree->count; at = order->end[at]) {
        lines->total_wall += tree->cost[order->node[at]].wall;
        lines->total_cpu += tree->cost[order->node[at]].cpu;
    }
}

struct tv_tree_lines *tv_tree_lines_of(const struct tv_call_tree *tree,
                                       const struct tv_tree_question *question)
{
    struct tv_tree_lines *lines = tv_alloc(1, sizeof *lines);
    add_totals(lines, tree);
    if (question->bottom_up)
        tv_tree_lines_invert(lines, tree, question);
    else
        add_lines(lines, tree, question);
    return lines;
}

void tv_tree_lines_free(struct tv_tree_lines *lines)
{
    if (!lines)
        return;
    tv_free(lines->lines);
    tv_free(lines);
}

uint32_t tv_tree_lines_longest(const struct tv_call_tree *tree, uint32_t frame)
{
    bool wall = tree->clocks & TV_CLOCK_WALL;
    uint32_t best = TV_ROOT_PATH;
    int64_t most = -1;
    for (uint32_t i = 1; i < tree->count; i++) {
        if (tree->frame[i] != frame || !is_called(tree, i))
            continue;
        int64_t time = wall ? tree->cost[i].wall : tree->cost[i].cpu;
        if (time > most) {
            best = i;
            most = time;
        }
    }
    return best;
}
