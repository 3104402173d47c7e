/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the tree from the bottom up.
 *
 * A member is a node whose time is told, on its way to the root.  The members of a line are a
 * stretch of one array, in depth-first order of the nodes, so that one pass sees which of them lie
 * within others.  To open a line they all move to their callers and are sorted by frame within that
 * stretch: the lines under it are parts of it.
 */
#include <string.h>

#include "analysis/tree_lines.h"
#include "analysis/tree_shape.h"
#include "analysis/tree_sink.h"
#include "base/memory.h"

/* One question may take so many steps towards the root: trees whose every path is deep could keep
 * the processor busy for minutes otherwise.  Lines that are not opened can be asked for. */
#define STEP_LIMIT ((uint64_t)1 << 24)

struct member {
    uint32_t place; /* of the node whose time it is, in depth-first order */
    uint32_t at;    /* node */
};

/* Of a line. */
struct stretch {
    uint32_t first, end; /* members */
};

struct inversion {
    const struct tv_call_tree *tree;
    struct tv_tree_lines *lines;
    struct stretch *stretches; /* beside the lines */
    size_t capacity;
    struct member *members, *moved; /* two arrays of the same size */
    uint32_t *line;                 /* [keys] of a frame among those being made, from 1; else 0 */
    uint32_t *outer_end;            /* [lines being made] behind the outermost member met last */
    size_t outer_capacity;
    uint64_t steps; /* from a node to its caller */
};

/* Questions about the first level alone never need it. */
static const struct tv_tree_order *order_of(const struct inversion *inversion)
{
    return tv_tree_shape_order(inversion->tree->shape);
}

static uint32_t key_of(const struct inversion *inversion, uint32_t node)
{
    return tv_tree_shape_key(inversion->tree->shape, node);
}

static struct tv_tree_line *add_line(struct inversion *inversion, uint32_t first_line,
                                     const struct member *member, uint32_t parent)
{
    uint32_t made = inversion->lines->count - first_line;
    struct tv_tree_line *line = tv_tree_lines_add(inversion->lines);
    line->frame = inversion->tree->frame[member->at];
    line->node = order_of(inversion)->node[member->place];
    line->parent = parent;
    inversion->stretches = tv_array_reserve(inversion->stretches, &inversion->capacity,
                                            inversion->lines->count, sizeof(struct stretch));
    inversion->stretches[inversion->lines->count - 1] = (struct stretch){0, 0};
    inversion->outer_end = tv_array_reserve(inversion->outer_end, &inversion->outer_capacity,
                                            (size_t)made + 1, sizeof(uint32_t));
    inversion->outer_end[made] = 0;
    return line;
}

/* Adds a member to its line; `outer_end` is the line's. */
static void weigh(const struct inversion *inversion, struct tv_tree_line *line,
                  const struct member *member, uint32_t *outer_end)
{
    const struct tv_call_tree *tree = inversion->tree;
    uint32_t node = order_of(inversion)->node[member->place];
    const struct tv_path_cost *cost = &tree->cost[node];
    line->calls += cost->calls;
    tv_time_add(&line->self_wall, tree->self_wall[node]);
    tv_time_add(&line->self_cpu, tree->self_cpu[node]);
    line->has_children |= tree->parent[member->at] != TV_ROOT_PATH;
    if (member->place < *outer_end)
        return;
    *outer_end = order_of(inversion)->end[member->place];
    line->outer_calls += cost->calls;
    tv_time_add(&line->incl_wall, cost->wall);
    tv_time_add(&line->incl_cpu, cost->cpu);
}

/* Makes the lines of a stretch, in the order in which their frames are met, and counts their
 * members in `end` of theirs. */
static void make_lines(struct inversion *inversion, struct stretch stretch, uint32_t parent)
{
    uint32_t first_line = inversion->lines->count;
    for (uint32_t i = stretch.first; i < stretch.end; i++) {
        const struct member *member = &inversion->members[i];
        uint32_t *number = &inversion->line[key_of(inversion, member->at)];
        if (*number == 0) {
            add_line(inversion, first_line, member, parent);
            *number = inversion->lines->count - first_line;
        }
        uint32_t line = first_line + *number - 1;
        weigh(inversion, &inversion->lines->lines[line], member,
              &inversion->outer_end[*number - 1]);
        inversion->stretches[line].end++;
    }
}

/* The lines of the members [first, end), each of which stands at the caller it is grouped by. */
static void split(struct inversion *inversion, struct stretch stretch, uint32_t parent)
{
    uint32_t first_line = inversion->lines->count, at = stretch.first;
    make_lines(inversion, stretch, parent);
    for (uint32_t i = first_line; i < inversion->lines->count; i++) {
        uint32_t count = inversion->stretches[i].end;
        inversion->stretches[i] = (struct stretch){at, at};
        at += count;
    }
    for (uint32_t i = stretch.first; i < stretch.end; i++) {
        uint32_t number = inversion->line[key_of(inversion, inversion->members[i].at)];
        inversion->moved[inversion->stretches[first_line + number - 1].end++] =
            inversion->members[i];
    }
    if (stretch.end > stretch.first)
        memcpy(inversion->members + stretch.first, inversion->moved + stretch.first,
               (stretch.end - stretch.first) * sizeof(struct member));
    for (uint32_t i = first_line; i < inversion->lines->count; i++)
        inversion->line[key_of(inversion, inversion->members[inversion->stretches[i].first].at)] =
            0;
}

/* Moves members to their callers; those that have none drop out. */
static struct stretch move_up(struct inversion *inversion, struct stretch stretch)
{
    uint32_t end = stretch.first;
    for (uint32_t i = stretch.first; i < stretch.end; i++) {
        struct member member = inversion->members[i];
        member.at = inversion->tree->parent[member.at];
        if (member.at != TV_ROOT_PATH)
            inversion->members[end++] = member;
    }
    inversion->steps += stretch.end - stretch.first;
    return (struct stretch){stretch.first, end};
}

/* Return the caller of a node that is `name.level` steps above it when the chain of callers up to
 * there has the frames of the name; TV_ROOT_PATH: it has others. */
static uint32_t follow_name(struct inversion *inversion, uint32_t node, struct tv_line_name name)
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

static bool is_name(const struct tv_call_tree *tree, struct tv_line_name name)
{
    uint32_t node = name.node;
    if (node >= tree->count)
        return false;
    for (uint32_t left = name.level; left > 0 && node != TV_ROOT_PATH; left--)
        node = tree->parent[node];
    return node != TV_ROOT_PATH || name.node == TV_ROOT_PATH;
}

/* The members of a name's line, each at the frame that the line is of. */
static struct stretch gather(struct inversion *inversion, struct tv_line_name name)
{
    const struct tv_call_tree *tree = inversion->tree;
    const struct tv_frame_places *of = tv_tree_shape_of_frame(tree->shape);
    uint32_t key = key_of(inversion, name.node), count = 0;
    for (uint32_t i = of->first[key]; i < of->first[key + 1]; i++) {
        uint32_t place = of->place[i], node = order_of(inversion)->node[place];
        uint32_t at =
            tree->cost[node].calls > 0 ? follow_name(inversion, node, name) : TV_ROOT_PATH;
        if (at != TV_ROOT_PATH)
            inversion->members[count++] = (struct member){place, at};
    }
    return (struct stretch){0, count};
}

static struct stretch gather_all(struct inversion *inversion)
{
    const struct tv_call_tree *tree = inversion->tree;
    uint32_t count = 0;
    for (uint32_t place = 1; place < tree->count; place++) {
        uint32_t node = order_of(inversion)->node[place];
        if (tree->cost[node].calls > 0)
            inversion->members[count++] = (struct member){place, node};
    }
    return (struct stretch){0, count};
}

/* The lines of the first level by themselves: which calls lie within others of their frame is known
 * without the order. */
static void add_first_level(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
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
            *tv_tree_lines_add(lines) =
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

/* Lines of names that share members would need room of their own: each is told by itself. */
static void open_name(struct inversion *inversion, const struct tv_tree_question *question,
                      uint32_t number)
{
    const struct tv_line_name name = question->names[number];
    uint32_t first_line = inversion->lines->count;
    if (!is_name(inversion->tree, name))
        return;
    if (name.node == TV_ROOT_PATH && !question->below) {
        add_first_level(inversion->lines, inversion->tree, number);
        return;
    }
    struct stretch stretch = name.node == TV_ROOT_PATH
                                 ? gather_all(inversion)
                                 : move_up(inversion, gather(inversion, name));
    split(inversion, stretch, number);
    for (uint32_t i = first_line;
         question->below && i < inversion->lines->count &&
         inversion->lines->count < question->limit && inversion->steps < STEP_LIMIT;
         i++) {
        if (!inversion->lines->lines[i].has_children)
            continue;
        inversion->lines->lines[i].opened = true;
        split(inversion, move_up(inversion, inversion->stretches[i]), question->name_count + i);
    }
}

void tv_tree_lines_invert(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                          const struct tv_tree_question *question)
{
    struct inversion inversion = {
        .tree = tree,
        .lines = lines,
        .members = tv_alloc(tree->count, sizeof(struct member)),
        .moved = tv_alloc(tree->count, sizeof(struct member)),
        .line = tv_alloc(tv_tree_shape_keys(tree->shape), sizeof(uint32_t)),
    };
    for (uint32_t i = 0; i < question->name_count && !lines->cut; i++) {
        lines->cut = lines->count >= question->limit || inversion.steps >= STEP_LIMIT;
        if (!lines->cut)
            open_name(&inversion, question, i);
    }
    tv_free(inversion.members);
    tv_free(inversion.moved);
    tv_free(inversion.line);
    tv_free(inversion.outer_end);
    tv_free(inversion.stretches);
}
