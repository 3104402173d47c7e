/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a call tree that does not depend on a selection: parents, frames, and which nodes are
 * recursive.
 *
 * For the latter the nodes are laid in depth-first order, a node's descendants right behind it, by
 * two passes that count and one that places.  Then a walk over that order with a stack of the ends
 * of the open nodes knows the frames on the path.
 */
#include "analysis/tree_shape.h"

#include <string.h>

#include "base/memory.h"

struct tv_tree_shape *tv_tree_shape_new(const struct tv_head *head, const struct tv_paths *paths)
{
    struct tv_tree_shape *shape = tv_alloc(1, sizeof *shape);
    size_t size = tv_size_mul(paths->count, sizeof(uint32_t));
    shape->head = head;
    shape->count = paths->count;
    shape->parent = tv_pages_alloc(size);
    shape->frame = tv_pages_alloc(size);
    for (uint32_t i = 0; i < paths->count; i++) {
        shape->parent[i] = paths->nodes[i].parent;
        shape->frame[i] = paths->nodes[i].frame;
    }
    return shape;
}

void tv_tree_shape_free(struct tv_tree_shape *shape)
{
    if (!shape)
        return;
    tv_pages_free(shape->parent, tv_size_mul(shape->count, sizeof(uint32_t)));
    tv_pages_free(shape->frame, tv_size_mul(shape->count, sizeof(uint32_t)));
    tv_free(shape->recursive);
    tv_free(shape);
}

/* A node in depth-first order. */
struct placed {
    uint32_t frame;
    uint32_t end; /* the place behind its last descendant */
};

/* place[node], and the nodes in that order. */
static void lay_out(const struct tv_tree_shape *shape, uint32_t *place, struct placed *placed)
{
    uint32_t count = shape->count;
    uint32_t *size = tv_pages_alloc(tv_size_mul(count, sizeof *size));
    for (uint32_t i = count; i-- > 1;)
        size[shape->parent[i]] += ++size[i];
    size[TV_ROOT_PATH]++;
    /* place[i] is where the next child of i goes until i has all its children: for i itself that is
     * known as soon as its parent is placed, and then kept apart in `size`. */
    place[TV_ROOT_PATH] = 1;
    placed[0] = (struct placed){TV_NONE, count};
    for (uint32_t i = 1; i < count; i++) {
        uint32_t mine = place[shape->parent[i]];
        place[shape->parent[i]] += size[i];
        placed[mine] = (struct placed){shape->frame[i], mine + size[i]};
        size[i] = mine;
        place[i] = mine + 1;
    }
    size[TV_ROOT_PATH] = 0;
    memcpy(place, size, count * sizeof *place);
    tv_pages_free(size, tv_size_mul(count, sizeof *size));
}

/* An open node of the walk. */
struct open {
    uint32_t frame, end;
};

static void mark(const struct tv_tree_shape *shape, const struct placed *placed, uint8_t *recursive)
{
    uint32_t *active = tv_alloc((size_t)shape->head->frame_count + 1, sizeof *active);
    struct open *stack = NULL;
    size_t capacity = 0, depth = 0;
    for (uint32_t i = 1; i < shape->count; i++) {
        uint32_t frame = placed[i].frame;
        while (depth > 0 && stack[depth - 1].end <= i)
            active[stack[--depth].frame]--;
        if (frame >=
            shape->head->frame_count) /* a thread: all of them count as one that is no frame */
            frame = shape->head->frame_count;
        else
            recursive[i] = active[frame] > 0;
        active[frame]++;
        stack = tv_array_reserve(stack, &capacity, depth + 1, sizeof *stack);
        stack[depth++] = (struct open){frame, placed[i].end};
    }
    tv_free(stack);
    tv_free(active);
}

const uint8_t *tv_tree_shape_recursion(struct tv_tree_shape *shape)
{
    if (shape->recursive)
        return shape->recursive;
    uint32_t count = shape->count;
    uint32_t *place = tv_pages_alloc(tv_size_mul(count, sizeof *place));
    struct placed *placed = tv_pages_alloc(tv_size_mul(count, sizeof *placed));
    uint8_t *in_order = tv_alloc(count, 1);
    lay_out(shape, place, placed);
    mark(shape, placed, in_order);
    shape->recursive = tv_alloc(count, 1);
    for (uint32_t i = 0; i < count; i++)
        shape->recursive[i] = in_order[place[i]];
    tv_free(in_order);
    tv_pages_free(place, tv_size_mul(count, sizeof *place));
    tv_pages_free(placed, tv_size_mul(count, sizeof *placed));
    return shape->recursive;
}
