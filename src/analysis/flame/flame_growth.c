/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_growth.c - a flame graph that grows from calls in order of time (flame_growth.h).
 *
 * Frames are entered and ended like calls, and a call of the method that ended last on the same
 * parent continues its frame.  A frame that ends too narrow is dropped with everything on it,
 * which is why only the open frames, and those that are wide enough, take memory:
 *
 *     frames   | root | main | draw | blit | ...      each after its parent
 *                               ^ ends too narrow: count goes back to here, and its width is
 *                                 added to `too_narrow` of main
 *
 * Until the graph is written, `at` counts from the left edge of the parent.
 */
#include "analysis/flame/flame_growth.h"

#include <assert.h>

#include "base/memory.h"

void tv_flame_growth_begin(struct tv_flame_growth *growth)
{
    growth->count = 0;
    growth->root = TV_NONE;
    growth->done = false;
    growth->frames = tv_array_reserve(growth->frames, &growth->capacity, 1, sizeof *growth->frames);
    growth->frames[growth->count++] =
        (struct tv_growing_frame){.frame = TV_NONE, .last = TV_NONE, .depth = TV_NONE};
}

void tv_flame_growth_release(struct tv_flame_growth *growth)
{
    tv_free(growth->frames);
}

int64_t tv_flame_growth_width(const struct tv_growing_frame *frame)
{
    return frame->own > frame->on_it ? frame->own : frame->on_it;
}

/* End a frame that has no open frame on it. */
static void flame_growth_end_frame(struct tv_flame_growth *growth, uint32_t index)
{
    assert(index > 0 && growth->frames[index].last == TV_NONE);
    struct tv_growing_frame *frame = &growth->frames[index];
    int64_t width = tv_flame_growth_width(frame);
    struct tv_growing_frame *parent = &growth->frames[frame->parent];
    bool on_root = growth->root == TV_NONE || index > growth->root;
    tv_time_add(&parent->on_it, width);
    if (growth->adds_up)
        tv_time_add(&parent->own, frame->own);
    parent->last = TV_NONE;
    growth->done |= index == growth->root;
    if ((width >= growth->threshold && index <= TV_FLAME_FRAMES) || !on_root)
        return;
    tv_time_add(&parent->too_narrow, width);
    growth->count = index;
}

/* End the open frame on this one, and before it all open frames on that. */
static void flame_growth_end_last(struct tv_flame_growth *growth, uint32_t index)
{
    uint32_t at = index;
    while (growth->frames[at].last != TV_NONE)
        at = growth->frames[at].last;
    while (at != index) {
        uint32_t parent = growth->frames[at].parent;
        flame_growth_end_frame(growth, at);
        at = parent;
    }
}

/* Append an open frame at the right end of what its parent holds so far. */
static uint32_t flame_growth_add_frame(struct tv_flame_growth *growth, uint32_t parent,
                                       uint32_t frame, uint32_t name)
{
    growth->frames = tv_array_reserve(growth->frames, &growth->capacity, (size_t)growth->count + 1,
                                      sizeof *growth->frames);
    growth->frames[growth->count] =
        (struct tv_growing_frame){.frame = frame,
                                  .parent = parent,
                                  .depth = growth->frames[parent].depth + 1,
                                  .last = TV_NONE,
                                  .name = name,
                                  .at = growth->frames[parent].on_it};
    growth->frames[parent].last = growth->count;
    return growth->count++;
}

uint32_t tv_flame_growth_enter(struct tv_flame_growth *growth, uint32_t parent, uint32_t frame,
                               uint32_t name)
{
    assert(parent < growth->count);
    uint32_t last = growth->frames[parent].last;
    if (last != TV_NONE && growth->frames[last].frame == frame)
        return last;
    if (last != TV_NONE)
        flame_growth_end_last(growth, parent);
    if (growth->done)
        return TV_NONE;
    uint32_t made = flame_growth_add_frame(growth, parent, frame, name);
    if (name == growth->wanted_root && name != TV_NONE && name != TV_ROOT_PATH)
        growth->root = made;
    return made;
}

void tv_flame_growth_skip(struct tv_flame_growth *growth, uint32_t parent, int64_t width)
{
    if (growth->frames[parent].last != TV_NONE)
        flame_growth_end_last(growth, parent);
    if (growth->done)
        return;
    tv_time_add(&growth->frames[parent].on_it, width);
    tv_time_add(&growth->frames[parent].too_narrow, width);
}

void tv_flame_growth_end(struct tv_flame_growth *growth)
{
    flame_growth_end_last(growth, 0);
}

void tv_flame_growth_write(const struct tv_flame_growth *growth, uint32_t first,
                           struct tv_flame *flame)
{
    uint32_t base = growth->frames[first].depth;
    flame->total =
        first == 0 ? growth->frames[0].on_it : tv_flame_growth_width(&growth->frames[first]);
    flame->left_out = growth->frames[first].too_narrow;
    growth->frames[first].at = 0;
    for (uint32_t i = first; i < growth->count; i++) {
        struct tv_growing_frame *frame = &growth->frames[i];
        if (i > first && frame->depth <= base && first > 0)
            break;
        if (i > first) {
            tv_time_add(&frame->at, growth->frames[frame->parent].at);
            tv_time_add(&flame->left_out, frame->too_narrow);
        }
        if (i == 0)
            continue;
        tv_flame_add(flame, &(struct tv_flame_frame){
                                .start = frame->at,
                                .width = tv_flame_growth_width(frame),
                                .self = tv_flame_growth_width(frame) - frame->on_it,
                                .calls = frame->calls,
                                .depth = first == 0 ? frame->depth : frame->depth - base,
                                .frame = frame->frame,
                                .path = frame->name,
                            });
    }
}
