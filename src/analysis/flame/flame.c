/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts that order frames by width or by name.  Only nodes that are wide enough to be drawn are
 * looked at after the first pass, so that a tree of millions of paths costs little more than
 * summing it.
 *
 *   tree --sum--> widths --threshold--> wide nodes --sort--> children in order --place--> frames
 *
 * Invariants: a parent has a smaller number than its children, so one pass from the last node to
 * the first sums up, and one from the first to the last finds parents before children.  No node is
 * wider than its parent, so every ancestor of a wide node is wide.  Time that
 * no frame shows is counted in `left_out`.
 */
#include "analysis/flame/flame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/profile.h"
#include "analysis/calltree/tree_shape.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"

int64_t tv_flame_threshold(int64_t total, double min_share)
{
    double width = (double)total * min_share;
    if (!(width >= 1)) /* or not a number: nothing is drawn without a width */
        return 1;
    return width < (double)total ? (int64_t)width : total;
}

/* Return the narrowest width that is drawn of a layout whose total is known. */
static int64_t flame_choose_threshold(const struct tv_flame *flame,
                                      const struct tv_flame_options *options)
{
    return tv_flame_threshold(options->whole > 0 ? options->whole : flame->total,
                              options->min_share);
}

/* Append a frame to a layout. */
void tv_flame_add(struct tv_flame *flame, const struct tv_flame_frame *frame)
{
    flame->frames = tv_array_reserve(flame->frames, &flame->capacity, (size_t)flame->count + 1,
                                     sizeof *flame->frames);
    flame->frames[flame->count++] = *frame;
    if (frame->depth >= flame->levels)
        flame->levels = frame->depth + 1;
}

int tv_flame_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b)
{
    bool thread_a = a >= TV_THREAD_FRAME, thread_b = b >= TV_THREAD_FRAME;
    if (thread_a != thread_b)
        return thread_a ? -1 : 1;
    if (!thread_a)
        return tv_frame_compare_names(head, a, b);
    struct tv_bytes name_a = tv_trace_info_text(head, head->threads[a - TV_THREAD_FRAME].name);
    struct tv_bytes name_b = tv_trace_info_text(head, head->threads[b - TV_THREAD_FRAME].name);
    int order = tv_bytes_compare(name_a, name_b);
    return order ? order : (a > b) - (a < b);
}

/* A node that is wide enough to be drawn. */
struct wide_node {
    const struct tv_flame_nodes *nodes; /* for the comparison by name */
    int64_t width;
    uint32_t node;
    uint32_t parent; /* index in `wide` */
};

/* Sort siblings next to each other, then by width or name. */
static int flame_compare_wide(const struct wide_node *a, const struct wide_node *b, bool by_name)
{
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (!by_name && a->width != b->width)
        return a->width > b->width ? -1 : 1;
    return a->nodes->compare(a->nodes->of, a->node, b->node);
}

static int flame_compare_by_width(const void *a, const void *b)
{
    return flame_compare_wide(*(const struct wide_node *const *)a,
                              *(const struct wide_node *const *)b, false);
}

static int flame_compare_by_name(const void *a, const void *b)
{
    return flame_compare_wide(*(const struct wide_node *const *)a,
                              *(const struct wide_node *const *)b, true);
}

int64_t *tv_flame_widths(uint32_t count, const uint32_t *parent, const int64_t *self)
{
    int64_t *width = tv_pages_alloc(tv_size_mul(count, sizeof *width));
    for (uint32_t i = count; i-- > 1;) {
        assert(parent[i] < i);
        tv_time_add(&width[i], self[i]);
        tv_time_add(&width[parent[i]], width[i]);
    }
    return width;
}

/* State of a layout. All arrays but `sorted` are parallel to `wide`, which holds few nodes of many.
 */
struct flame_layout {
    const struct tv_flame_nodes *nodes;
    struct wide_node *wide; /* by node; the first is the root of the layout */
    uint32_t count;
    size_t capacity;
    struct wide_node **sorted; /* all but the first; children of one parent are neighbours */
    uint32_t *child;           /* [count + 1] index in `sorted` of the next child to place */
    uint32_t *end;             /* [count] after the last child */
    int64_t *cursor;           /* [count] start of the next child */
};

/* Return the index of a node among the wide ones, or TV_NONE. */
static uint32_t flame_find_wide(const struct flame_layout *layout, uint32_t node)
{
    uint32_t low = 0;
    TV_LOWER_BOUND(low, layout->count, i, layout->wide[i].node < node);
    return low < layout->count && layout->wide[low].node == node ? low : TV_NONE;
}

static void flame_add_wide(struct flame_layout *layout, uint32_t node, uint32_t parent,
                           int64_t width)
{
    assert(layout->count == 0 || parent < layout->count);
    layout->wide = tv_array_reserve(layout->wide, &layout->capacity, (size_t)layout->count + 1,
                                    sizeof *layout->wide);
    layout->wide[layout->count++] = (struct wide_node){layout->nodes, width, node, parent};
}

/* No node is wider than its parent, so the wide nodes form a tree. */
static void flame_find_all_wide(struct flame_layout *layout, uint32_t root, const int64_t *width,
                                int64_t threshold)
{
    const struct tv_flame_nodes *nodes = layout->nodes;
    flame_add_wide(layout, root, TV_NONE, width[root]);
    for (uint32_t i = root + 1; i < nodes->count; i++) {
        if (width[i] < threshold)
            continue;
        uint32_t parent = flame_find_wide(layout, nodes->parent[i]);
        if (parent != TV_NONE)
            flame_add_wide(layout, i, parent, width[i]);
    }
}

/* Sort the wide nodes so that siblings are neighbours in the order of drawing, and note for each
 * parent which part of `sorted` is its children. */
static void flame_sort_children(struct flame_layout *layout, enum tv_flame_order order)
{
    uint32_t children = layout->count - 1;
    layout->sorted = tv_alloc(children, sizeof(struct wide_node *));
    layout->child = tv_alloc(layout->count, sizeof *layout->child);
    layout->end = tv_alloc(layout->count, sizeof *layout->end);
    layout->cursor = tv_alloc(layout->count, sizeof *layout->cursor);
    for (uint32_t i = 0; i < children; i++)
        layout->sorted[i] = &layout->wide[i + 1];
    qsort(layout->sorted, children, sizeof(struct wide_node *),
          order == TV_FLAME_BY_NAME ? flame_compare_by_name : flame_compare_by_width);
    for (uint32_t i = children; i-- > 0;) {
        uint32_t parent = layout->sorted[i]->parent;
        layout->child[parent] = i;
        if (layout->end[parent] == 0)
            layout->end[parent] = i + 1;
    }
}

/* Append the rectangle of a wide node; its left end is the cursor that its parent has reached. */
static void flame_add_frame(struct tv_flame *flame, struct flame_layout *layout, uint32_t index,
                            uint32_t depth)
{
    const struct wide_node *wide = &layout->wide[index];
    struct tv_flame_frame frame = {
        .start = layout->cursor[index],
        .width = wide->width,
        .self = layout->nodes->self[wide->node],
        .total = wide->width,
        .own = layout->nodes->self[wide->node],
        .depth = depth,
        .frame = TV_NONE,
        .path = wide->node,
    };
    tv_flame_add(flame, &frame);
}

/* Lay out everything on the root, depth first. */
static void flame_place_children(struct tv_flame *flame, struct flame_layout *layout,
                                 uint32_t depth)
{
    assert(layout->count > 0);
    uint32_t at = 0;
    while (at != TV_NONE && flame->count < TV_FLAME_FRAMES) {
        if (layout->child[at] == layout->end[at]) {
            at = layout->wide[at].parent;
            depth--;
            continue;
        }
        uint32_t child = (uint32_t)(layout->sorted[layout->child[at]++] - layout->wide);
        layout->cursor[child] = layout->cursor[at];
        tv_time_add(&layout->cursor[at], layout->wide[child].width);
        flame_add_frame(flame, layout, child, depth++);
        at = child;
    }
}

/* Return the time that is in no frame of the layout. */
static int64_t flame_left_out(const struct tv_flame *flame, const struct flame_layout *layout,
                              uint32_t root)
{
    int64_t rest = flame->total - (root == TV_ROOT_PATH ? layout->nodes->self[root] : 0);
    for (uint32_t i = 0; i < flame->count; i++)
        tv_time_add(&rest, -flame->frames[i].self);
    return rest > 0 ? rest : 0; /* frames may exceed a total that saturated */
}

struct tv_flame *tv_flame_of_nodes(const struct tv_flame_nodes *nodes,
                                   const struct tv_flame_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    struct flame_layout layout = {.nodes = nodes};
    assert(options->root < nodes->count && !options->inverted);
    int64_t *width = tv_flame_widths(nodes->count, nodes->parent, nodes->self);
    flame->total = width[options->root];
    flame_find_all_wide(&layout, options->root, width, flame_choose_threshold(flame, options));
    flame_sort_children(&layout, options->order);
    if (options->root != TV_ROOT_PATH)
        flame_add_frame(flame, &layout, 0, 0);
    flame_place_children(flame, &layout, options->root != TV_ROOT_PATH);
    flame->left_out = flame_left_out(flame, &layout, options->root);
    tv_free(layout.wide);
    tv_free(layout.sorted);
    tv_free(layout.child);
    tv_free(layout.end);
    tv_free(layout.cursor);
    tv_pages_free(width, tv_size_mul(nodes->count, sizeof *width));
    return flame;
}

static int flame_compare_tree_nodes(const void *of, uint32_t a, uint32_t b)
{
    const struct tv_call_tree *tree = of;
    return tv_flame_compare_names(tree->head, tree->frame[a], tree->frame[b]);
}

/* Set the figures of frames whose widths are sums of amounts to those of the tree. */
static void flame_restore_signs(struct tv_flame *flame, const struct tv_call_tree *tree)
{
    int64_t *total = tv_flame_widths(tree->count, tree->parent, tree->self_wall);
    for (uint32_t i = 0; i < flame->count; i++) {
        struct tv_flame_frame *frame = &flame->frames[i];
        frame->total = total[frame->path];
        frame->own = tree->self_wall[frame->path];
    }
    tv_pages_free(total, tv_size_mul(tree->count, sizeof *total));
}

/* Lay out a call tree from options->root on. */
static struct tv_flame *flame_lay_out_tree(const struct tv_call_tree *tree,
                                           const struct tv_flame_options *options)
{
    struct tv_flame_nodes nodes = {
        .count = tree->count,
        .parent = tree->parent,
        .self = options->clock == TV_CLOCK_CPU ? tree->self_cpu : tree->self_wall,
        .compare = flame_compare_tree_nodes,
        .of = tree,
    };
    struct tv_flame *flame = tv_flame_of_nodes(&nodes, options);
    for (uint32_t i = 0; i < flame->count; i++) {
        flame->frames[i].frame = tree->frame[flame->frames[i].path];
        flame->frames[i].calls = tree->cost[flame->frames[i].path].calls;
    }
    return flame;
}

/* ---- Inverted graphs ----
 *
 * Nodes with self time are grouped by frame, and each group by the frames of its callers, caller by
 * caller.  A member is a node on its way to the root.  The members of a group are a range of one
 * array; to open a group, its members move to their callers and are sorted by frame within the
 * range, so that the groups on top are parts of it.  Two members of one group never meet in a node.
 */

/* Limit on the moves of members, far above what a screen of groups needs: trees in which every
 * path is deep could take minutes.  Groups that are not opened are left out. */
#define MOVE_LIMIT ((uint64_t)1 << 26)

struct flame_member {
    uint32_t start; /* node whose self time it is */
    uint32_t at;
};

struct flame_group {
    const struct tv_trace_info *head; /* for the comparison by name */
    uint32_t frame;
    uint32_t first, end; /* members */
    uint32_t depth;
    int64_t at; /* start of the rectangle */
    int64_t width, total, own;
    uint64_t calls;
};

struct flame_inversion {
    const struct tv_call_tree *tree;
    const int64_t *self; /* widths: never below 0 */
    const int64_t *own;  /* figures: the same, unless weights are negative */
    enum tv_flame_order order;
    int64_t threshold;
    uint64_t moves;
    struct flame_member *members, *moved; /* two arrays of the same size */
    uint32_t member_count;
    uint32_t *place; /* [keys] count, then next free index, of a frame in the group being opened;
                        otherwise 0 */
    uint32_t *keys;  /* frames found */
    uint32_t key_count;
    uint32_t *number; /* [tree->count] first name of a node (see flame_inverted_name); NULL: too
                         many names */
    const struct tv_tree_order *depth_first; /* order of members if totals are wanted */
    int64_t *totals;                         /* [tree->count] with callees; NULL: not wanted */
    struct flame_group *stack;
    size_t stack_count, stack_capacity;
};

/* Keys number the frames of the head, then those of threads. */
static uint32_t flame_inverted_key(const struct flame_inversion *inversion, uint32_t node)
{
    uint32_t frame = inversion->tree->frame[node];
    if (frame >= TV_THREAD_FRAME)
        return inversion->tree->head->frame_count + (frame - TV_THREAD_FRAME);
    return frame;
}

/* Number the inverted frames.  A name is a node and a number of callers above it: node i has the
 * names number[i] to number[i] + its depth - 1. */
static uint32_t *flame_inverted_number_names(const struct tv_call_tree *tree)
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

/* Return the name of a group, by which a later question can open it: that of its first member,
 * `level` callers up. TV_NONE when the tree has too many names for 32 bits. */
static uint32_t flame_inverted_name(const struct flame_inversion *inversion,
                                    const struct flame_group *group, uint32_t level)
{
    return inversion->number ? inversion->number[inversion->members[group->first].start] + level
                             : TV_NONE;
}

/* Group the members [first, end) by frame, in order.  Return the groups, in the order in which
 * their frames occur. */
static struct flame_group *flame_inverted_split(struct flame_inversion *inversion, uint32_t first,
                                                uint32_t end)
{
    struct flame_member *members = inversion->members;
    inversion->key_count = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t key = flame_inverted_key(inversion, members[i].at);
        if (inversion->place[key]++ == 0)
            inversion->keys[inversion->key_count++] = key;
    }
    struct flame_group *groups = tv_alloc(inversion->key_count, sizeof *groups);
    uint32_t at = first;
    for (uint32_t i = 0; i < inversion->key_count; i++) {
        uint32_t count = inversion->place[inversion->keys[i]];
        groups[i] =
            (struct flame_group){.head = inversion->tree->head, .first = at, .end = at + count};
        inversion->place[inversion->keys[i]] = at;
        at += count;
    }
    for (uint32_t i = first; i < end; i++)
        inversion->moved[inversion->place[flame_inverted_key(inversion, members[i].at)]++] =
            members[i];
    memcpy(members + first, inversion->moved + first, (end - first) * sizeof *members);
    for (uint32_t i = 0; i < inversion->key_count; i++)
        inversion->place[inversion->keys[i]] = 0;
    return groups;
}

/* Add up the time of the group's members with their callees.  A member inside another one is part
 * of the other's time: in depth-first order it comes before the other's end. */
static int64_t flame_inverted_total(const struct flame_inversion *inversion,
                                    const struct flame_group *group)
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

/* Add up the members of a group. */
static void flame_inverted_weigh(const struct flame_inversion *inversion, struct flame_group *group)
{
    group->frame = inversion->tree->frame[inversion->members[group->first].at];
    for (uint32_t i = group->first; i < group->end; i++) {
        tv_time_add(&group->width, inversion->self[inversion->members[i].start]);
        tv_time_add(&group->own, inversion->own[inversion->members[i].start]);
        group->calls += inversion->tree->cost[inversion->members[i].start].calls;
    }
    if (inversion->totals)
        group->total = flame_inverted_total(inversion, group);
}

/* Reverse order: the last group is pushed first. */
static int flame_inverted_compare_by_width(const void *left, const void *right)
{
    const struct flame_group *a = left, *b = right;
    if (a->width != b->width)
        return a->width > b->width ? 1 : -1;
    return tv_flame_compare_names(a->head, b->frame, a->frame);
}

static int flame_inverted_compare_by_name(const void *left, const void *right)
{
    const struct flame_group *a = left, *b = right;
    return tv_flame_compare_names(a->head, b->frame, a->frame);
}

/* Push the groups of the members [first, end), the first one at `start`.  Return the width of
 * those that are too narrow. */
static int64_t flame_inverted_push(struct flame_inversion *inversion, uint32_t first, uint32_t end,
                                   uint32_t depth, int64_t start)
{
    assert(first <= end && end <= inversion->member_count);
    struct flame_group *groups = flame_inverted_split(inversion, first, end);
    uint32_t count = 0;
    int64_t narrow = 0;
    for (uint32_t i = 0; i < inversion->key_count; i++) {
        flame_inverted_weigh(inversion, &groups[i]);
        if (groups[i].width >= inversion->threshold)
            groups[count++] = groups[i];
        else
            tv_time_add(&narrow, groups[i].width);
    }
    qsort(groups, count, sizeof *groups,
          inversion->order == TV_FLAME_BY_NAME ? flame_inverted_compare_by_name
                                               : flame_inverted_compare_by_width);
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

/* Move the members of a group to their callers.  Members without a caller go to the front; return
 * the first of the others.  Both keep their order, so that a group's first member, and hence its
 * name, does not depend on what else is drawn. */
static uint32_t flame_inverted_move_up(struct flame_inversion *inversion,
                                       const struct flame_group *group)
{
    uint32_t tops = group->first, others = 0;
    for (uint32_t i = group->first; i < group->end; i++) {
        struct flame_member member = inversion->members[i];
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

/* Add a group as a frame and push the groups of its callers. */
static void flame_inverted_open(struct flame_inversion *inversion, struct tv_flame *flame,
                                const struct flame_group *group, uint32_t base_level)
{
    struct tv_flame_frame frame = {
        .start = group->at,
        .width = group->width,
        .total = group->total,
        .own = group->own,
        .calls = group->calls,
        .depth = group->depth,
        .frame = group->frame,
        .path = flame_inverted_name(inversion, group, base_level + group->depth),
    };
    if (flame->count >= TV_FLAME_FRAMES) {
        flame->left_out += group->width;
        return;
    }
    uint32_t others =
        inversion->moves < MOVE_LIMIT ? flame_inverted_move_up(inversion, group) : group->first;
    for (uint32_t i = group->first; i < others; i++)
        tv_time_add(&frame.self, inversion->self[inversion->members[i].start]);
    tv_flame_add(flame, &frame);
    if (inversion->moves < MOVE_LIMIT)
        tv_time_add(&flame->left_out, flame_inverted_push(inversion, others, group->end,
                                                          group->depth + 1, group->at));
    else
        tv_time_add(&flame->left_out, group->width - frame.self);
}

/* Split a name into node and level; false if there is no such name. */
static bool flame_inverted_find_name(const struct flame_inversion *inversion, uint32_t name,
                                     uint32_t *node, uint32_t *level)
{
    const uint32_t *number = inversion->number;
    uint32_t after = 2;
    if (!number || inversion->tree->count <= 1 || name == 0)
        return false;
    TV_LOWER_BOUND(after, inversion->tree->count, i, number[i] <= name);
    *node = after - 1;
    *level = name - number[*node];
    for (uint32_t up = *node, left = *level; left > 0; left--) {
        up = inversion->tree->parent[up];
        if (up == TV_ROOT_PATH)
            return false; /* beyond the last name */
    }
    return true;
}

/* Collect all nodes with calls or self time. */
static void flame_inverted_collect(struct flame_inversion *inversion)
{
    const struct tv_call_tree *tree = inversion->tree;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t node = inversion->totals ? inversion->depth_first->node[i] : i;
        if (inversion->self[node] > 0 || tree->cost[node].calls > 0)
            inversion->members[inversion->member_count++] = (struct flame_member){node, node};
    }
}

/* Keep the members whose callers begin with those of the name, moved to the end of these. */
static void flame_inverted_narrow(struct flame_inversion *inversion, uint32_t node, uint32_t level)
{
    const struct tv_call_tree *tree = inversion->tree;
    for (uint32_t step = 0; step <= level; step++, node = tree->parent[node]) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < inversion->member_count; i++) {
            struct flame_member member = inversion->members[i];
            if (step > 0)
                member.at = tree->parent[member.at];
            if (member.at != TV_ROOT_PATH && tree->frame[member.at] == tree->frame[node])
                inversion->members[count++] = member;
        }
        inversion->member_count = count;
    }
}

/* Collect the members, then open groups depth first. */
static void flame_inverted_lay_out(struct flame_inversion *inversion, struct tv_flame *flame,
                                   const struct tv_flame_options *options)
{
    uint32_t node = 0, level = 0;
    flame_inverted_collect(inversion);
    if (options->root != TV_ROOT_PATH) {
        if (!flame_inverted_find_name(inversion, options->root, &node, &level))
            return;
        flame_inverted_narrow(inversion, node, level);
    }
    for (uint32_t i = 0; i < inversion->member_count; i++)
        tv_time_add(&flame->total, inversion->self[inversion->members[i].start]);
    inversion->threshold = flame_choose_threshold(flame, options);
    flame->left_out = flame_inverted_push(inversion, 0, inversion->member_count, 0, 0);
    while (inversion->stack_count > 0) {
        struct flame_group group = inversion->stack[--inversion->stack_count];
        flame_inverted_open(inversion, flame, &group, level);
    }
}

/* Lay out the inverted graph: the methods that used the time at the bottom, their callers above.
 * `own` has the figures of samples whose widths are amounts; or NULL. */
static struct tv_flame *flame_invert(const struct tv_call_tree *tree, const int64_t *own,
                                     const struct tv_flame_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    uint32_t keys = tree->head->frame_count + tree->head->thread_count;
    struct flame_inversion inversion = {
        .tree = tree,
        .self = options->clock == TV_CLOCK_CPU ? tree->self_cpu : tree->self_wall,
        .order = options->order,
        .members = tv_alloc(tree->count, sizeof(struct flame_member)),
        .moved = tv_alloc(tree->count, sizeof(struct flame_member)),
        .place = tv_alloc(keys, sizeof(uint32_t)),
        .keys = tv_alloc(keys, sizeof(uint32_t)),
        .number = flame_inverted_number_names(tree),
    };
    inversion.own = own ? own : inversion.self;
    if (options->totals) {
        inversion.depth_first = tv_tree_shape_order(tree->shape);
        inversion.totals = tv_flame_widths(tree->count, tree->parent, inversion.own);
    }
    flame_inverted_lay_out(&inversion, flame, options);
    tv_pages_free(inversion.totals, tv_size_mul(tree->count, sizeof *inversion.totals));
    tv_free(inversion.members);
    tv_free(inversion.moved);
    tv_free(inversion.place);
    tv_free(inversion.keys);
    tv_free(inversion.number);
    tv_free(inversion.stack);
    return flame;
}

/* Return a copy whose weights below zero are as wide as their amounts; NULL if there are none. */
static struct tv_call_tree *flame_copy_amounts(const struct tv_call_tree *tree)
{
    struct tv_call_tree *copy = NULL;
    for (uint32_t i = 1; tree->figures.sampled && i < tree->count; i++) {
        if (tree->self_wall[i] >= 0)
            continue;
        if (!copy)
            copy = tv_call_tree_copy(tree);
        copy->self_wall[i] = -tree->self_wall[i];
    }
    return copy;
}

struct tv_flame *tv_flame_of_tree(const struct tv_call_tree *tree,
                                  const struct tv_flame_options *options)
{
    struct tv_flame *flame;
    struct tv_call_tree *amounts = flame_copy_amounts(tree);
    const struct tv_call_tree *drawn = amounts ? amounts : tree;
    if (options->inverted)
        flame = flame_invert(drawn, amounts ? tree->self_wall : NULL, options);
    else if (options->root < tree->count)
        flame = flame_lay_out_tree(drawn, options);
    else
        flame = tv_alloc(1, sizeof *flame);
    if (amounts && !options->inverted)
        flame_restore_signs(flame, tree);
    tv_call_tree_free(amounts);
    return flame;
}

void tv_flame_free(struct tv_flame *flame)
{
    if (!flame)
        return;
    tv_free(flame->frames);
    tv_free(flame);
}
