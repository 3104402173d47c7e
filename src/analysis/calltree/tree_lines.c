/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lines.c - lines of tree tables: top-down lines are nodes, bottom-up lines are frames with
 * their callers.
 *
 * A table asks for the lines below those that a user has opened, by their names, and gets them all
 * in one answer.  Three ways, by what a question costs:
 *
 *     children of some nodes        one pass over all nodes, no order needed
 *     everything below some nodes   the depth-first order, up to the limit of lines
 *     bottom-up                     members that move to their callers (below), up to the limits
 *                                   of lines and of steps
 *
 * Nothing is left out in silence: `cut` says that the answer lacks whole names, and a line with
 * children that is not `opened` has none of them in the answer.
 */
#include "analysis/calltree/tree_lines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/tree_shape.h"
#include "base/memory.h"

/* Append an empty line. */
static struct tv_tree_line *tree_lines_append(struct tv_tree_lines *lines)
{
    lines->lines = tv_array_reserve(lines->lines, &lines->capacity, (size_t)lines->count + 1,
                                    sizeof *lines->lines);
    lines->lines[lines->count] = (struct tv_tree_line){0};
    return &lines->lines[lines->count++];
}

static bool tree_node_is_called(const struct tv_call_tree *tree, uint32_t node)
{
    return tree->cost[node].calls > 0;
}

/* Append the line of a node. Each of its calls is an outer one: a node has one place in the tree,
 * so it is never inside itself. */
static void tree_lines_add_node(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                                uint32_t node, uint32_t parent)
{
    const struct tv_path_cost *cost = &tree->cost[node];
    *tree_lines_append(lines) = (struct tv_tree_line){
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

/* ---- Children of some nodes ----
 *
 * One pass over all nodes finds the children.  Parents come before their children, so the pass also
 * sees which of the lines found have children themselves. */

/* Sort by parent, then by node, as lines of one parent must be neighbours. */
static int tree_lines_compare(const void *left, const void *right)
{
    const struct tv_tree_line *a = left, *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Marks of the nodes whose children are lines, and of these lines. One number for both needs one
 * array of the size of the tree instead of two. */
struct line_marks {
    uint32_t names;
    uint32_t *of;   /* [node] number of a name, from 1, then of a line; 0: neither */
    uint32_t *line; /* [names] the line of the name's node, from 1; 0: none */
};

/* Visit a called node: it is a line if its parent is opened. */
static void tree_lines_visit_node(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                                  uint32_t node, const struct line_marks *marks)
{
    uint32_t above = marks->of[tree->parent[node]], names = marks->names;
    if (above == 0)
        return;
    uint32_t line = above > names ? above - names : marks->line[above - 1];
    if (line > 0)
        lines->lines[line - 1].has_children = true;
    if (above > names)
        return;
    tree_lines_add_node(lines, tree, node, above - 1);
    uint32_t own = marks->of[node];
    if (own > 0)
        marks->line[own - 1] = lines->count;
    else
        marks->of[node] = names + lines->count;
}

/* Answer the question for children. Names are marked from the last to the first, so that a node
 * that is named twice has its first name. */
static void tree_lines_add_children(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                                    const struct tv_tree_question *question)
{
    size_t size = tv_size_mul(tree->count, sizeof(uint32_t));
    struct line_marks marks = {question->name_count, tv_pages_alloc(size),
                               tv_alloc(question->name_count, sizeof(uint32_t))};
    for (uint32_t i = marks.names; i-- > 0;)
        if (question->names[i].node < tree->count)
            marks.of[question->names[i].node] = i + 1;
    for (uint32_t i = 1; i < tree->count; i++)
        if (tree_node_is_called(tree, i))
            tree_lines_visit_node(lines, tree, i, &marks);
    if (marks.names > 1 && lines->count > 1)
        qsort(lines->lines, lines->count, sizeof *lines->lines, tree_lines_compare);
    tv_pages_free(marks.of, size);
    tv_free(marks.line);
}

/* ---- Everything below ----
 *
 * Level by level, over the depth-first order, which has the descendants of a node after it. */

/* Return true if a node has called children. */
static bool tree_lines_node_has_children(const struct tv_call_tree *tree,
                                         const struct tv_tree_order *order, uint32_t node)
{
    uint32_t end = order->end[order->place[node]];
    for (uint32_t at = order->place[node] + 1; at < end; at = order->end[at])
        if (tree_node_is_called(tree, order->node[at]))
            return true;
    return false;
}

static void tree_lines_add_children_of(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                                       uint32_t node, uint32_t parent)
{
    assert(node < tree->count);
    const struct tv_tree_order *order = tv_tree_shape_order(tree->shape);
    uint32_t end = order->end[order->place[node]];
    for (uint32_t at = order->place[node] + 1; at < end; at = order->end[at]) {
        if (!tree_node_is_called(tree, order->node[at]))
            continue;
        tree_lines_add_node(lines, tree, order->node[at], parent);
        lines->lines[lines->count - 1].has_children =
            tree_lines_node_has_children(tree, order, order->node[at]);
    }
}

/* Answer the question for everything below. The list of lines is the queue of a breadth-first
 * search: each line that fits is opened in turn, so the upper levels are whole. */
static void tree_lines_add_below(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                                 const struct tv_tree_question *question)
{
    for (uint32_t i = 0; i < question->name_count && !lines->cut; i++) {
        lines->cut = lines->count >= question->limit;
        if (!lines->cut && question->names[i].node < tree->count)
            tree_lines_add_children_of(lines, tree, question->names[i].node, i);
    }
    for (uint32_t i = 0; i < lines->count && lines->count < question->limit; i++) {
        lines->lines[i].opened = lines->lines[i].has_children;
        if (lines->lines[i].opened)
            tree_lines_add_children_of(lines, tree, lines->lines[i].node, question->name_count + i);
    }
}

/* Set what shares are relative to: the sum of the nodes below the root; of samples, the sum of all
 * amounts, as in the profile. */
static void tree_lines_add_totals(struct tv_tree_lines *lines, const struct tv_call_tree *tree)
{
    lines->total_wall = tree->figures.sampled ? tree->figures.total : 0;
    if (tree->figures.sampled)
        return;
    for (uint32_t i = 1; i < tree->count; i++) {
        if (tree->parent[i] != TV_ROOT_PATH)
            continue;
        tv_time_add(&lines->total_wall, tree->cost[i].wall);
        tv_time_add(&lines->total_cpu, tree->cost[i].cpu);
    }
}

/*
 * ---- Bottom-up lines ----
 *
 * A member is a called node on its way to the root.  The members of a line are a range of one
 * array, in depth-first order, so that one pass sees which of them are within others.  To open a
 * line, its members move to their callers and are sorted by frame within the range: each line below
 * it gets a part of the range.
 *
 *   line f        members  [f1 f2 f3]
 *   opened        callers   a  b  a      sorted  [f1 f3 | f2]
 *                                                  a       b
 */

/* Limit on the steps towards the root per question: trees in which every path is deep could keep
 * the processor busy for minutes.  Lines that are not opened can be asked for later. */
#define LINES_STEP_LIMIT ((uint64_t)1 << 24)

struct line_member {
    uint32_t place; /* of the node whose time it is, in depth-first order */
    uint32_t at;    /* node it has moved to */
};

/* Range of a line's members. */
struct member_range {
    uint32_t first, end; /* members */
};

struct line_inversion {
    const struct tv_call_tree *tree;
    struct tv_tree_lines *lines;
    struct member_range *ranges; /* parallel to the lines */
    size_t capacity;
    struct line_member *members, *moved; /* two arrays of the same size */
    uint32_t *line;      /* [keys] line of the frame among those being made, from 1; otherwise 0 */
    uint32_t *outer_end; /* [lines being made] end of the outermost member met last */
    size_t outer_capacity;
    uint64_t steps; /* from a node to its caller */
};

/* The order is computed on demand: the first level does not need it. */
static const struct tv_tree_order *inverted_order(const struct line_inversion *inversion)
{
    return tv_tree_shape_order(inversion->tree->shape);
}

static uint32_t inverted_key(const struct line_inversion *inversion, uint32_t node)
{
    return tv_tree_shape_key(inversion->tree->shape, node);
}

/* Append a line for a member, with an empty range. */
static struct tv_tree_line *inverted_add_line(struct line_inversion *inversion, uint32_t first_line,
                                              const struct line_member *member, uint32_t parent)
{
    uint32_t made = inversion->lines->count - first_line;
    struct tv_tree_line *line = tree_lines_append(inversion->lines);
    line->frame = inversion->tree->frame[member->at];
    line->node = inverted_order(inversion)->node[member->place];
    line->parent = parent;
    inversion->ranges = tv_array_reserve(inversion->ranges, &inversion->capacity,
                                         inversion->lines->count, sizeof(struct member_range));
    inversion->ranges[inversion->lines->count - 1] = (struct member_range){0, 0};
    inversion->outer_end = tv_array_reserve(inversion->outer_end, &inversion->outer_capacity,
                                            (size_t)made + 1, sizeof(uint32_t));
    inversion->outer_end[made] = 0;
    return line;
}

/* Add a member to its line, whose outermost member so far ends at *outer_end. */
static void inverted_add_member(const struct line_inversion *inversion, struct tv_tree_line *line,
                                const struct line_member *member, uint32_t *outer_end)
{
    const struct tv_call_tree *tree = inversion->tree;
    uint32_t node = inverted_order(inversion)->node[member->place];
    const struct tv_path_cost *cost = &tree->cost[node];
    line->calls += cost->calls;
    tv_time_add(&line->self_wall, tree->self_wall[node]);
    tv_time_add(&line->self_cpu, tree->self_cpu[node]);
    line->has_children |= tree->parent[member->at] != TV_ROOT_PATH;
    if (member->place < *outer_end)
        return;
    *outer_end = inverted_order(inversion)->end[member->place];
    line->outer_calls += cost->calls;
    tv_time_add(&line->incl_wall, cost->wall);
    tv_time_add(&line->incl_cpu, cost->cpu);
}

/* Make the lines of a range, in the order in which their frames occur, and count their members in
 * `end` of each line's range. */
static void inverted_make_lines(struct line_inversion *inversion, struct member_range range,
                                uint32_t parent)
{
    uint32_t first_line = inversion->lines->count;
    for (uint32_t i = range.first; i < range.end; i++) {
        const struct line_member *member = &inversion->members[i];
        uint32_t *number = &inversion->line[inverted_key(inversion, member->at)];
        if (*number == 0) {
            inverted_add_line(inversion, first_line, member, parent);
            *number = inversion->lines->count - first_line;
        }
        uint32_t line = first_line + *number - 1;
        inverted_add_member(inversion, &inversion->lines->lines[line], member,
                            &inversion->outer_end[*number - 1]);
        inversion->ranges[line].end++;
    }
}

/* Split a range into lines by the frames that its members have moved to. */
static void inverted_split(struct line_inversion *inversion, struct member_range range,
                           uint32_t parent)
{
    assert(range.first <= range.end && range.end <= inversion->tree->count);
    uint32_t first_line = inversion->lines->count, at = range.first;
    inverted_make_lines(inversion, range, parent);
    for (uint32_t i = first_line; i < inversion->lines->count; i++) {
        uint32_t count = inversion->ranges[i].end;
        inversion->ranges[i] = (struct member_range){at, at};
        at += count;
    }
    for (uint32_t i = range.first; i < range.end; i++) {
        uint32_t number = inversion->line[inverted_key(inversion, inversion->members[i].at)];
        inversion->moved[inversion->ranges[first_line + number - 1].end++] = inversion->members[i];
    }
    if (range.end > range.first)
        memcpy(inversion->members + range.first, inversion->moved + range.first,
               (range.end - range.first) * sizeof(struct line_member));
    for (uint32_t i = first_line; i < inversion->lines->count; i++)
        inversion
            ->line[inverted_key(inversion, inversion->members[inversion->ranges[i].first].at)] = 0;
}

/* Move members to their callers; those without a caller drop out. */
static struct member_range inverted_move_up(struct line_inversion *inversion,
                                            struct member_range range)
{
    uint32_t end = range.first;
    for (uint32_t i = range.first; i < range.end; i++) {
        struct line_member member = inversion->members[i];
        member.at = inversion->tree->parent[member.at];
        if (member.at != TV_ROOT_PATH)
            inversion->members[end++] = member;
    }
    inversion->steps += range.end - range.first;
    return (struct member_range){range.first, end};
}

/* Return the caller `name.level` steps above a node, if the frames up to there are those of the
 * name; otherwise TV_ROOT_PATH. */
static uint32_t inverted_follow_name(struct line_inversion *inversion, uint32_t node,
                                     struct tv_line_name name)
{
    const struct tv_call_tree *tree = inversion->tree;
    for (uint32_t step = 0;; step++) {
        if (node == TV_ROOT_PATH || tree->frame[node] != tree->frame[name.node])
            return TV_ROOT_PATH;
        if (step == name.level)
            return node;
        node = tree->parent[node];
        name.node = tree->parent[name.node];
        inversion->steps++;
    }
}

/* Return true if a name has as many callers as its level says. */
static bool inverted_name_is_valid(const struct tv_call_tree *tree, struct tv_line_name name)
{
    uint32_t node = name.node;
    if (node >= tree->count)
        return false;
    for (uint32_t left = name.level; left > 0 && node != TV_ROOT_PATH; left--)
        node = tree->parent[node];
    return node != TV_ROOT_PATH || name.node == TV_ROOT_PATH;
}

/* Collect the members of a name's line, each moved to the line's frame. */
static struct member_range inverted_collect(struct line_inversion *inversion,
                                            struct tv_line_name name)
{
    const struct tv_call_tree *tree = inversion->tree;
    const struct tv_frame_places *of = tv_tree_shape_of_frame(tree->shape);
    uint32_t key = inverted_key(inversion, name.node), count = 0;
    for (uint32_t i = of->first[key]; i < of->first[key + 1]; i++) {
        uint32_t place = of->place[i], node = inverted_order(inversion)->node[place];
        uint32_t at =
            tree->cost[node].calls > 0 ? inverted_follow_name(inversion, node, name) : TV_ROOT_PATH;
        if (at != TV_ROOT_PATH)
            inversion->members[count++] = (struct line_member){place, at};
    }
    return (struct member_range){0, count};
}

/* Collect all called nodes. */
static struct member_range inverted_collect_all(struct line_inversion *inversion)
{
    const struct tv_call_tree *tree = inversion->tree;
    uint32_t count = 0;
    for (uint32_t place = 1; place < tree->count; place++) {
        uint32_t node = inverted_order(inversion)->node[place];
        if (tree->cost[node].calls > 0)
            inversion->members[count++] = (struct line_member){place, node};
    }
    return (struct member_range){0, count};
}

/* Make the lines of the first level: recursion alone tells which calls are within others of their
 * frame. */
static void inverted_add_first_level(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                                     uint32_t parent)
{
    const uint8_t *recursive = tv_call_tree_recursion(tree);
    uint32_t *place = tv_alloc(tree->head->frame_count, sizeof *place);
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct tv_path_cost *cost = &tree->cost[i];
        if (cost->calls == 0 || !tv_call_tree_is_call(tree, i))
            continue;
        uint32_t frame = tree->frame[i];
        if (place[frame] == 0) {
            *tree_lines_append(lines) =
                (struct tv_tree_line){.frame = frame, .node = i, .parent = parent};
            place[frame] = lines->count;
        }
        struct tv_tree_line *line = &lines->lines[place[frame] - 1];
        line->has_children |= tree->parent[i] != TV_ROOT_PATH;
        line->calls += cost->calls;
        tv_time_add(&line->self_wall, tree->self_wall[i]);
        tv_time_add(&line->self_cpu, tree->self_cpu[i]);
        if (recursive[i])
            continue;
        line->outer_calls += cost->calls;
        tv_time_add(&line->incl_wall, cost->wall);
        tv_time_add(&line->incl_cpu, cost->cpu);
    }
    tv_free(place);
}

/* Lines of names that share members would need room of their own, so each name is opened by
 * itself. */
static void inverted_open_name(struct line_inversion *inversion,
                               const struct tv_tree_question *question, uint32_t number)
{
    const struct tv_line_name name = question->names[number];
    uint32_t first_line = inversion->lines->count;
    if (!inverted_name_is_valid(inversion->tree, name))
        return;
    if (name.node == TV_ROOT_PATH && !question->below) {
        inverted_add_first_level(inversion->lines, inversion->tree, number);
        return;
    }
    struct member_range range =
        name.node == TV_ROOT_PATH ? inverted_collect_all(inversion)
                                  : inverted_move_up(inversion, inverted_collect(inversion, name));
    inverted_split(inversion, range, number);
    for (uint32_t i = first_line;
         question->below && i < inversion->lines->count &&
         inversion->lines->count < question->limit && inversion->steps < LINES_STEP_LIMIT;
         i++) {
        if (!inversion->lines->lines[i].has_children)
            continue;
        inversion->lines->lines[i].opened = true;
        inverted_split(inversion, inverted_move_up(inversion, inversion->ranges[i]),
                       question->name_count + i);
    }
}

/* Answer a bottom-up question, name by name. */
static void tree_lines_invert(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                              const struct tv_tree_question *question)
{
    struct line_inversion inversion = {
        .tree = tree,
        .lines = lines,
        .members = tv_alloc(tree->count, sizeof(struct line_member)),
        .moved = tv_alloc(tree->count, sizeof(struct line_member)),
        .line = tv_alloc(tv_tree_shape_keys(tree->shape), sizeof(uint32_t)),
    };
    for (uint32_t i = 0; i < question->name_count && !lines->cut; i++) {
        lines->cut = lines->count >= question->limit || inversion.steps >= LINES_STEP_LIMIT;
        if (!lines->cut)
            inverted_open_name(&inversion, question, i);
    }
    tv_free(inversion.members);
    tv_free(inversion.moved);
    tv_free(inversion.line);
    tv_free(inversion.outer_end);
    tv_free(inversion.ranges);
}

struct tv_tree_lines *tv_tree_lines_of(const struct tv_call_tree *tree,
                                       const struct tv_tree_question *question)
{
    struct tv_tree_lines *lines = tv_alloc(1, sizeof *lines);
    tree_lines_add_totals(lines, tree);
    if (question->bottom_up)
        tree_lines_invert(lines, tree, question);
    else if (question->below)
        tree_lines_add_below(lines, tree, question);
    else
        tree_lines_add_children(lines, tree, question);
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
        if (tree->frame[i] != frame || !tree_node_is_called(tree, i))
            continue;
        int64_t time = wall ? tree->cost[i].wall : tree->cost[i].cpu;
        if (time < 0)
            time = tv_time_times(time, -1); /* a weight of a difference of profiles */
        if (time > most) {
            best = i;
            most = time;
        }
    }
    return best;
}
