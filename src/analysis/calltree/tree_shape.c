/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a call tree that does not depend on a selection: parents, frames, depth-first order
 * and recursion.
 *
 *       node  parent          depth-first: place  0 1 2 3 4
 *        0     -     0                     node   0 1 3 2 4
 *        1     0     |-1--3                end    5 3 3 5 5
 *        2     0     '-2--4
 *        3     1
 *        4     2
 *
 * Counting the descendants of each node gives every node its place without recursion: children are
 * placed in the gaps that their parents reserved.  A walk over that order with a stack of open
 * nodes knows the frames on the current path, hence which nodes are recursive.
 */
#include "analysis/calltree/tree_shape.h"

#include <assert.h>

#include "analysis/calltree/call_tree.h"
#include "base/memory.h"

/* Return the size of parents and frames, which are one block. */
static size_t tree_shape_bytes(uint32_t count)
{
    return tv_size_mul(count, 2 * sizeof(uint32_t));
}

struct tv_tree_shape *tv_tree_shape_blank(const struct tv_trace_info *head, uint32_t count)
{
    struct tv_tree_shape *shape = tv_alloc(1, sizeof *shape);
    shape->head = head;
    shape->count = count;
    shape->parent = tv_pages_alloc(tree_shape_bytes(count));
    shape->frame = shape->parent + count;
    return shape;
}

struct tv_tree_shape *tv_tree_shape_new(const struct tv_trace_info *head,
                                        const struct tv_paths *paths)
{
    struct tv_tree_shape *shape = tv_tree_shape_blank(head, paths->count);
    for (uint32_t i = 0; i < paths->count; i++) {
        shape->parent[i] = paths->nodes[i].parent;
        shape->frame[i] = paths->nodes[i].frame;
    }
    return shape;
}

static void tree_order_free(struct tv_tree_order *order, uint32_t count)
{
    size_t size = tv_size_mul(count, sizeof(uint32_t));
    tv_pages_free(order->node, size);
    tv_pages_free(order->place, size);
    tv_pages_free(order->end, size);
}

void tv_tree_shape_free(struct tv_tree_shape *shape)
{
    if (!shape)
        return;
    tv_pages_free(shape->parent, tree_shape_bytes(shape->count));
    tv_free(shape->recursive);
    if (shape->order.node)
        tree_order_free(&shape->order, shape->count);
    if (shape->of_frame.first) {
        tv_free(shape->of_frame.first);
        tv_pages_free(shape->of_frame.place, tv_size_mul(shape->count, sizeof(uint32_t)));
    }
    tv_free(shape);
}

/* Number the nodes in depth-first order, without recursion: parents come before children in the
 * table, so a pass from the end sums up the sizes of subtrees, and a pass from the start gives each
 * node the next free place in its parent's range.
 *
 *     parent's place p | first child p+1 .. p+size | second child ... | end[parent]
 *
 * A subtree is then one range of places, [place, end). */
static struct tv_tree_order tree_order_compute(const struct tv_tree_shape *shape)
{
    assert(shape->count > 0);
    uint32_t count = shape->count;
    size_t size = tv_size_mul(count, sizeof(uint32_t));
    struct tv_tree_order order = {tv_pages_alloc(size), tv_pages_alloc(size), tv_pages_alloc(size)};
    uint32_t *next =
        tv_pages_alloc(size); /* [node] subtree sizes; later the place of the node's next child */
    for (uint32_t i = count; i-- > 1;)
        next[shape->parent[i]] += ++next[i];
    next[TV_ROOT_PATH] = 1;
    order.node[0] = TV_ROOT_PATH;
    order.end[0] = count;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t mine = next[shape->parent[i]];
        next[shape->parent[i]] += next[i];
        order.place[i] = mine;
        order.node[mine] = i;
        order.end[mine] = mine + next[i];
        next[i] = mine + 1;
    }
    tv_pages_free(next, size);
    return order;
}

const struct tv_tree_order *tv_tree_shape_order(struct tv_tree_shape *shape)
{
    if (!shape->order.node)
        shape->order = tree_order_compute(shape);
    return &shape->order;
}

uint32_t tv_tree_shape_keys(const struct tv_tree_shape *shape)
{
    return shape->head->frame_count + shape->head->thread_count;
}

uint32_t tv_tree_shape_key(const struct tv_tree_shape *shape, uint32_t node)
{
    assert(node < shape->count && node != TV_ROOT_PATH);
    uint32_t frame = shape->frame[node];
    return frame >= TV_THREAD_FRAME ? shape->head->frame_count + (frame - TV_THREAD_FRAME) : frame;
}

const struct tv_frame_places *tv_tree_shape_of_frame(struct tv_tree_shape *shape)
{
    struct tv_frame_places *of = &shape->of_frame;
    if (of->first)
        return of;
    const struct tv_tree_order *order = tv_tree_shape_order(shape);
    uint32_t keys = tv_tree_shape_keys(shape), before = 0;
    uint32_t *next =
        tv_alloc(keys, sizeof *next); /* counts; later the place of the key's next node */
    of->first = tv_alloc((size_t)keys + 1, sizeof *of->first);
    of->place = tv_pages_alloc(tv_size_mul(shape->count, sizeof *of->place));
    for (uint32_t i = 1; i < shape->count; i++)
        next[tv_tree_shape_key(shape, i)]++;
    for (uint32_t key = 0; key < keys; key++) {
        uint32_t count = next[key];
        of->first[key] = next[key] = before;
        before += count;
    }
    of->first[keys] = before;
    for (uint32_t place = 1; place < shape->count; place++)
        of->place[next[tv_tree_shape_key(shape, order->node[place])]++] = place;
    tv_free(next);
    return of;
}

/* A node on the current path. */
struct open_node {
    uint32_t frame, end;
};

/* Mark the nodes whose frame is also above them: a walk in preorder counts the open nodes of each
 * frame. */
static void tree_shape_mark_recursion(struct tv_tree_shape *shape,
                                      const struct tv_tree_order *order)
{
    uint32_t threads = shape->head->frame_count; /* all threads share one pseudo-frame */
    uint32_t *active = tv_alloc((size_t)threads + 1, sizeof *active);
    struct open_node *stack = NULL;
    size_t capacity = 0, depth = 0;
    for (uint32_t i = 1; i < shape->count; i++) {
        uint32_t frame = shape->frame[order->node[i]];
        while (depth > 0 && stack[depth - 1].end <= i)
            active[stack[--depth].frame]--;
        if (frame >= threads)
            frame = threads;
        else
            shape->recursive[order->node[i]] = active[frame] > 0;
        active[frame]++;
        stack = tv_array_reserve(stack, &capacity, depth + 1, sizeof *stack);
        stack[depth++] = (struct open_node){frame, order->end[i]};
    }
    tv_free(stack);
    tv_free(active);
}

const uint8_t *tv_tree_shape_recursion(struct tv_tree_shape *shape)
{
    if (shape->recursive)
        return shape->recursive;
    shape->recursive = tv_alloc(shape->count, 1);
    if (shape->order.node) {
        tree_shape_mark_recursion(shape, &shape->order);
        return shape->recursive;
    }
    struct tv_tree_order order = tree_order_compute(shape);
    tree_shape_mark_recursion(shape, &order);
    tree_order_free(&order, shape->count);
    return shape->recursive;
}
