/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tree_lines.h"

#include <stdlib.h>

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

static void add_node(struct tv_tree_lines *lines, const struct tv_call_tree *tree, uint32_t node,
                     uint32_t parent)
{
    const struct tv_path_cost *cost = &tree->cost[node];
    *tv_tree_lines_add(lines) = (struct tv_tree_line){
        .frame = tree->frame[node],
        .node = node,
        .parent = parent,
        .calls = cost->calls,
        .outer_calls = cost->calls,
        .incl_wall = cost->wall,
        .self_wall = tree->self_wall[node],
        .incl_cpu = cost->cpu,
        .self_cpu = tree->self_cpu[node],
    };
}

/* --- The children of some nodes: one pass over all nodes, which parents stand before their
 * children in, so that it also sees which of those it found have children. */

static int compare_lines(const void *left, const void *right)
{
    const struct tv_tree_line *a = left, *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

struct marks {
    uint32_t names;
    uint32_t *of;   /* [node] the number of a name from 1, then of a line; 0: neither */
    uint32_t *line; /* [names] of the node that is a line as well, from 1; 0: it is none */
};

/* A called node: a line, when its parent is opened. */
static void look_at(struct tv_tree_lines *lines, const struct tv_call_tree *tree, uint32_t node,
                    const struct marks *marks)
{
    uint32_t above = marks->of[tree->parent[node]], names = marks->names;
    if (above == 0)
        return;
    uint32_t line = above > names ? above - names : marks->line[above - 1];
    if (line > 0)
        lines->lines[line - 1].has_children = true;
    if (above > names)
        return;
    add_node(lines, tree, node, above - 1);
    uint32_t own = marks->of[node];
    if (own > 0)
        marks->line[own - 1] = lines->count;
    else
        marks->of[node] = names + lines->count;
}

static void add_children(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                         const struct tv_tree_question *question)
{
    size_t size = tv_size_mul(tree->count, sizeof(uint32_t));
    struct marks marks = {question->name_count, tv_pages_alloc(size),
                          tv_alloc(question->name_count, sizeof(uint32_t))};
    for (uint32_t i = marks.names; i-- > 0;)
        if (question->names[i].node < tree->count)
            marks.of[question->names[i].node] = i + 1;
    for (uint32_t i = 1; i < tree->count; i++)
        if (is_called(tree, i))
            look_at(lines, tree, i, &marks);
    if (marks.names > 1 && lines->count > 1)
        qsort(lines->lines, lines->count, sizeof *lines->lines, compare_lines);
    tv_pages_free(marks.of, size);
    tv_free(marks.line);
}

/* --- All below them, level by level, in the order that has each node's descendants behind it. */

static bool has_children(const struct tv_call_tree *tree, const struct tv_tree_order *order,
                         uint32_t node)
{
    uint32_t end = order->end[order->place[node]];
    for (uint32_t at = order->place[node] + 1; at < end; at = order->end[at])
        if (is_called(tree, order->node[at]))
            return true;
    return false;
}

static void add_children_of(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                            uint32_t node, uint32_t parent)
{
    const struct tv_tree_order *order = tv_tree_shape_order(tree->shape);
    uint32_t end = order->end[order->place[node]];
    for (uint32_t at = order->place[node] + 1; at < end; at = order->end[at]) {
        if (!is_called(tree, order->node[at]))
            continue;
        add_node(lines, tree, order->node[at], parent);
        lines->lines[lines->count - 1].has_children = has_children(tree, order, order->node[at]);
    }
}

static void add_below(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                      const struct tv_tree_question *question)
{
    for (uint32_t i = 0; i < question->name_count && !lines->cut; i++) {
        lines->cut = lines->count >= question->limit;
        if (!lines->cut && question->names[i].node < tree->count)
            add_children_of(lines, tree, question->names[i].node, i);
    }
    for (uint32_t i = 0; i < lines->count && lines->count < question->limit; i++) {
        lines->lines[i].opened = lines->lines[i].has_children;
        if (lines->lines[i].opened)
            add_children_of(lines, tree, lines->lines[i].node, question->name_count + i);
    }
}

static void add_totals(struct tv_tree_lines *lines, const struct tv_call_tree *tree)
{
    for (uint32_t i = 1; i < tree->count; i++) {
        if (tree->parent[i] != TV_ROOT_PATH)
            continue;
        tv_time_add(&lines->total_wall, tree->cost[i].wall);
        tv_time_add(&lines->total_cpu, tree->cost[i].cpu);
    }
}

struct tv_tree_lines *tv_tree_lines_of(const struct tv_call_tree *tree,
                                       const struct tv_tree_question *question)
{
    struct tv_tree_lines *lines = tv_alloc(1, sizeof *lines);
    add_totals(lines, tree);
    if (question->bottom_up)
        tv_tree_lines_invert(lines, tree, question);
    else if (question->below)
        add_below(lines, tree, question);
    else
        add_children(lines, tree, question);
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
