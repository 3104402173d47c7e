/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inverted graph: nodes with self time, grouped by frame, then by the frames of their callers,
 * caller by caller.
 *
 * A member is a node on its way to the root.  The members of a group are a stretch of one array;
 * when a group is opened they all move to their callers and are sorted by frame within that
 * stretch, so that the groups on it are parts of the stretch.  No two members of a group meet in a
 * node.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/flame.h"
#include "analysis/tree_shape.h"
#include "analysis/tree_sink.h"
#include "base/memory.h"

/* So many moves of members are made, which a screen's worth of groups never needs: trees whose
 * every path is deep could keep us for minutes otherwise. What is not opened is left out. */
#define MOVE_LIMIT ((uint64_t)1 << 26)

struct member {
    uint32_t start; /* the node whose self time it is */
    uint32_t at;
};

struct group {
    const struct tv_trace_info *head; /* for the comparison by name */
    uint32_t frame;
    uint32_t first, end; /* members */
    uint32_t depth;
    int64_t at; /* where it begins */
    int64_t width, total;
    uint64_t calls;
};

struct inversion {
    const struct tv_call_tree *tree;
    const int64_t *self;
    enum tv_flame_order order;
    int64_t threshold;
    uint64_t moves;
    struct member *members, *moved; /* two arrays of the same size */
    uint32_t member_count;
    uint32_t *place; /* [keys] count, then next free place, of a frame in the group being opened;
                        else 0 */
    uint32_t *keys;  /* frames met */
    uint32_t key_count;
    uint32_t
        *number; /* [tree->count] of the node's first name (see name_of); NULL: too many names */
    const struct tv_tree_order *depth_first; /* the order of members where totals are wanted */
    int64_t *totals;                         /* [tree->count] with callees; NULL: not wanted */
    struct group *stack;
    size_t stack_count, stack_capacity;
};

/* The frames of the head, then those of threads. */
static uint32_t key_of(const struct inversion *inversion, uint32_t node)
{
    uint32_t frame = inversion->tree->frame[node];
    if (frame >= TV_THREAD_FRAME)
        return inversion->tree->head->frame_count + (frame - TV_THREAD_FRAME);
    return frame;
}

/* Names of inverted frames: a node and how many callers up from it. Node i has numbers number[i] to
 * number[i] + its depth - 1. */
static uint32_t *number_names(const struct tv_call_tree *tree)
{
    uint32_t *depth = tv_alloc(tree->count, sizeof *depth);
    uint64_t next = 1;
    for (uint32_t i = 1; i < tree->count; i++) {
        depth[i] = depth[tree->parent[i]] + 1;
        next += depth[i];
    }
    if (next >= TV_NONE) {
        tv_free(depth);
        return NULL;
    }
    for (uint32_t i = 0, at = 1; i < tree->count; i++) {
        uint32_t levels = depth[i];
        depth[i] = at;
        at += levels;
    }
    return depth;
}

static uint32_t name_of(const struct inversion *inversion, const struct group *group,
                        uint32_t level)
{
    return inversion->number ? inversion->number[inversion->members[group->first].start] + level
                             : TV_NONE;
}

/* Groups the members [first, end) by frame, keeping their order; pushes nothing yet. Returns the
 * groups, by frame as first met. */
static struct group *split(struct inversion *inversion, uint32_t first, uint32_t end)
{
    struct member *members = inversion->members;
    inversion->key_count = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t key = key_of(inversion, members[i].at);
        if (inversion->place[key]++ == 0)
            inversion->keys[inversion->key_count++] = key;
    }
    struct group *groups = tv_alloc(inversion->key_count, sizeof *groups);
    uint32_t at = first;
    for (uint32_t i = 0; i < inversion->key_count; i++) {
        uint32_t count = inversion->place[inversion->keys[i]];
        groups[i] = (struct group){.head = inversion->tree->head, .first = at, .end = at + count};
        inversion->place[inversion->keys[i]] = at;
        at += count;
    }
    for (uint32_t i = first; i < end; i++)
        inversion->moved[inversion->place[key_of(inversion, members[i].at)]++] = members[i];
    memcpy(members + first, inversion->moved + first, (end - first) * sizeof *members);
    for (uint32_t i = 0; i < inversion->key_count; i++)
        inversion->place[inversion->keys[i]] = 0;
    return groups;
}

/* Add up the time of the group's members with their callees.  A member that lies within another one
 * is part of that one's time: in depth-first order it comes before the end of the other. */
static int64_t sum_totals(const struct inversion *inversion, const struct group *group)
{
    int64_t total = 0;
    for (uint32_t i = group->first, outer_end = 0; i < group->end; i++) {
        uint32_t node = inversion->members[i].start;
        uint32_t place = inversion->depth_first->place[node];
        if (place < outer_end)
            continue;
        outer_end = inversion->depth_first->end[place];
        tv_time_add(&total, inversion->totals[node]);
    }
    return total;
}

static void weigh(const struct inversion *inversion, struct group *group)
{
    group->frame = inversion->tree->frame[inversion->members[group->first].at];
    for (uint32_t i = group->first; i < group->end; i++) {
        tv_time_add(&group->width, inversion->self[inversion->members[i].start]);
        group->calls += inversion->tree->cost[inversion->members[i].start].calls;
    }
    if (inversion->totals)
        group->total = sum_totals(inversion, group);
}

/* In reverse: the last is pushed first. */
static int compare_heavy(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->width != b->width)
        return a->width > b->width ? 1 : -1;
    return tv_flame_compare_names(a->head, b->frame, a->frame);
}

static int compare_named(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    return tv_flame_compare_names(a->head, b->frame, a->frame);
}

/* Pushes what lies on the members [first, end), beginning at `start`. Returns the width that was
 * too narrow. */
static int64_t push_groups(struct inversion *inversion, uint32_t first, uint32_t end,
                           uint32_t depth, int64_t start)
{
    struct group *groups = split(inversion, first, end);
    uint32_t count = 0;
    int64_t narrow = 0;
    for (uint32_t i = 0; i < inversion->key_count; i++) {
        weigh(inversion, &groups[i]);
        if (groups[i].width >= inversion->threshold)
            groups[count++] = groups[i];
        else
            tv_time_add(&narrow, groups[i].width);
    }
    qsort(groups, count, sizeof *groups,
          inversion->order == TV_FLAME_BY_NAME ? compare_named : compare_heavy);
    for (uint32_t i = count; i-- > 0;) {
        groups[i].depth = depth;
        groups[i].at = start;
        tv_time_add(&start, groups[i].width);
    }
    inversion->stack = tv_array_reserve(inversion->stack, &inversion->stack_capacity,
                                        inversion->stack_count + count, sizeof *groups);
    if (count)
        memcpy(inversion->stack + inversion->stack_count, groups, count * sizeof *groups);
    inversion->stack_count += count;
    tv_free(groups);
    return narrow;
}

/* Moves the members of a group to their callers. Those that have none go to the front; returns the
 * first of the others. Both keep their order, so that a group's first member, and with it its name,
 * does not depend on what else is drawn. */
static uint32_t move_up(struct inversion *inversion, const struct group *group)
{
    uint32_t tops = group->first, others = 0;
    for (uint32_t i = group->first; i < group->end; i++) {
        struct member member = inversion->members[i];
        member.at = inversion->tree->parent[member.at];
        if (member.at == TV_ROOT_PATH)
            inversion->members[tops++] = member;
        else
            inversion->moved[others++] = member;
    }
    memcpy(inversion->members + tops, inversion->moved, others * sizeof *inversion->members);
    inversion->moves += group->end - group->first;
    return tops;
}

/* Adds the group as a frame and pushes its callers. */
static void open_group(struct inversion *inversion, struct tv_flame *flame,
                       const struct group *group, uint32_t base_level)
{
    struct tv_flame_frame frame = {
        .start = group->at,
        .width = group->width,
        .total = group->total,
        .calls = group->calls,
        .depth = group->depth,
        .frame = group->frame,
        .path = name_of(inversion, group, base_level + group->depth),
    };
    if (flame->count >= TV_FLAME_FRAMES) {
        flame->left_out += group->width;
        return;
    }
    uint32_t others = inversion->moves < MOVE_LIMIT ? move_up(inversion, group) : group->first;
    for (uint32_t i = group->first; i < others; i++)
        tv_time_add(&frame.self, inversion->self[inversion->members[i].start]);
    tv_flame_add(flame, &frame);
    if (inversion->moves < MOVE_LIMIT)
        tv_time_add(&flame->left_out,
                    push_groups(inversion, others, group->end, group->depth + 1, group->at));
    else
        tv_time_add(&flame->left_out, group->width - frame.self);
}

/* Splits a name into its node and level; false when it is none. */
static bool find_name(const struct inversion *inversion, uint32_t name, uint32_t *node,
                      uint32_t *level)
{
    const uint32_t *number = inversion->number;
    uint32_t low = 1, high = inversion->tree->count;
    if (!number || high <= 1 || name == 0)
        return false;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (number[middle] <= name)
            low = middle;
        else
            high = middle;
    }
    *node = low;
    *level = name - number[low];
    for (uint32_t up = low, left = *level; left > 0; left--) {
        up = inversion->tree->parent[up];
        if (up == TV_ROOT_PATH)
            return false; /* behind the last name */
    }
    return true;
}

/* All nodes with calls or self time. */
static void gather_members(struct inversion *inversion)
{
    const struct tv_call_tree *tree = inversion->tree;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t node = inversion->totals ? inversion->depth_first->node[i] : i;
        if (inversion->self[node] > 0 || tree->cost[node].calls > 0)
            inversion->members[inversion->member_count++] = (struct member){node, node};
    }
}

/* Keeps the members whose chain of callers begins as that of the name does, moved to its end. */
static void narrow_members(struct inversion *inversion, uint32_t node, uint32_t level)
{
    const struct tv_call_tree *tree = inversion->tree;
    for (uint32_t step = 0; step <= level; step++, node = tree->parent[node]) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < inversion->member_count; i++) {
            struct member member = inversion->members[i];
            if (step > 0)
                member.at = tree->parent[member.at];
            if (member.at != TV_ROOT_PATH && tree->frame[member.at] == tree->frame[node])
                inversion->members[count++] = member;
        }
        inversion->member_count = count;
    }
}

static void invert(struct inversion *inversion, struct tv_flame *flame,
                   const struct tv_flame_options *options)
{
    uint32_t node = 0, level = 0;
    gather_members(inversion);
    if (options->root != TV_ROOT_PATH) {
        if (!find_name(inversion, options->root, &node, &level))
            return;
        narrow_members(inversion, node, level);
    }
    for (uint32_t i = 0; i < inversion->member_count; i++)
        tv_time_add(&flame->total, inversion->self[inversion->members[i].start]);
    inversion->threshold = tv_flame_threshold(flame->total, options->min_share);
    flame->left_out = push_groups(inversion, 0, inversion->member_count, 0, 0);
    while (inversion->stack_count > 0) {
        struct group group = inversion->stack[--inversion->stack_count];
        open_group(inversion, flame, &group, level);
    }
}

void tv_flame_invert(struct tv_flame *flame, const struct tv_call_tree *tree,
                     const struct tv_flame_options *options)
{
    uint32_t keys = tree->head->frame_count + tree->head->thread_count;
    struct inversion inversion = {
        .tree = tree,
        .self = options->clock == TV_CLOCK_CPU ? tree->self_cpu : tree->self_wall,
        .order = options->order,
        .members = tv_alloc(tree->count, sizeof(struct member)),
        .moved = tv_alloc(tree->count, sizeof(struct member)),
        .place = tv_alloc(keys, sizeof(uint32_t)),
        .keys = tv_alloc(keys, sizeof(uint32_t)),
        .number = number_names(tree),
    };
    if (options->totals) {
        inversion.depth_first = tv_tree_shape_order(tree->shape);
        inversion.totals = tv_flame_widths(tree, inversion.self);
    }
    invert(&inversion, flame, options);
    tv_pages_free(inversion.totals, tv_size_mul(tree->count, sizeof *inversion.totals));
    tv_free(inversion.members);
    tv_free(inversion.moved);
    tv_free(inversion.place);
    tv_free(inversion.keys);
    tv_free(inversion.number);
    tv_free(inversion.stack);
}
