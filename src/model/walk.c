/* SPDX-License-Identifier: Apache-2.0 */
#include "model/walk.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

void tv_walk_init(struct tv_walk *walk, uint32_t thread_count, bool first,
                  struct tv_diagnostics *diagnostics)
{
    *walk = (struct tv_walk){
        .threads = tv_alloc(thread_count, sizeof *walk->threads),
        .thread_count = thread_count,
        .first = first,
        .diagnostics = diagnostics,
    };
}

void tv_walk_release(struct tv_walk *walk)
{
    for (uint32_t i = 0; i < walk->thread_count; i++) {
        tv_free(walk->threads[i].stack);
        tv_free(walk->threads[i].below);
    }
    tv_free(walk->threads);
    memset(walk, 0, sizeof *walk);
}

void tv_walk_grow_stack(struct tv_walk_thread *t)
{
    size_t capacity = t->capacity;
    t->stack = tv_array_reserve(t->stack, &capacity, capacity + 1, sizeof *t->stack);
    t->capacity = (uint32_t)capacity;
}

void tv_walk_begin_known(struct tv_walk *walk, uint32_t thread, const struct tv_walk_start *start)
{
    struct tv_walk_thread *t = &walk->threads[thread];
    walk->known = true;
    while (t->capacity < start->depth)
        tv_walk_grow_stack(t);
    if (start->depth)
        memcpy(t->stack, start->stack, start->depth * sizeof *t->stack);
    t->depth = start->depth;
    t->floor = start->floor;
    t->seen = start->seen;
    t->last_wall = start->last_wall;
    t->last_cpu = start->last_cpu;
}

static void count(struct tv_walk *walk, enum tv_diagnostic_kind kind, uint64_t offset)
{
    if (walk->diagnostics)
        tv_diagnostics_add(walk->diagnostics, kind, offset);
}

void tv_walk_too_deep(struct tv_walk *walk, struct tv_walk_thread *t, uint64_t offset)
{
    t->too_deep++;
    count(walk, TV_DIAGNOSTIC_TOO_DEEP, offset);
}

/* How many calls to take off so that the nearest open call of the frame goes; 0 when none is open. */
static uint32_t distance_to(const struct tv_walk_thread *t, uint32_t frame)
{
    uint32_t open = t->depth - t->floor;
    uint32_t limit = open < TV_UNWIND_LIMIT ? open : TV_UNWIND_LIMIT;
    for (uint32_t i = 1; i <= limit; i++)
        if (t->stack[t->depth - i].frame == frame)
            return i;
    return 0;
}

/* Nothing recorded is open: the exit ends a call from before. */
static uint32_t resolve_outer_exit(struct tv_walk *walk, struct tv_walk_thread *t, uint64_t offset)
{
    if (t->floor)
        return 1;
    if (!walk->known && t->below_count < TV_DEPTH_LIMIT)
        return TV_POP_BELOW;
    walk->undecided = !walk->first;
    count(walk, TV_DIAGNOSTIC_TOO_DEEP, offset);
    return 0;
}

TV_NOINLINE uint32_t tv_walk_resolve_exit(struct tv_walk *walk, struct tv_walk_thread *t,
                                          const struct tv_event *event, uint64_t offset)
{
    if (t->too_deep) {
        t->too_deep--;
        return 0;
    }
    if (t->depth == t->floor)
        return resolve_outer_exit(walk, t, offset);
    if (event->frame == TV_ANY_FRAME)
        return 1;
    uint32_t distance = distance_to(t, event->frame);
    if (!distance) {
        walk->undecided |= !walk->first;
        count(walk, TV_DIAGNOSTIC_IGNORED_EXIT, offset);
        return 0;
    }
    for (uint32_t i = 1; i < distance; i++)
        count(walk, TV_DIAGNOSTIC_MISSING_EXIT, offset);
    return distance;
}

struct tv_below *tv_walk_set_aside(struct tv_walk_thread *t, const struct tv_event *event, uint64_t offset)
{
    assert(t->depth == 0);
    t->below =
        tv_array_reserve(t->below, &t->below_capacity, (size_t)t->below_count + 1, sizeof *t->below);
    struct tv_below *below = &t->below[t->below_count++];
    *below = (struct tv_below){
        .wall = event->wall,
        .cpu = event->cpu,
        .offset = offset,
        .frame = event->frame,
        .max_depth = t->max_depth,
        .unrolled = event->action == TV_UNROLL,
        .had_child = t->had_child,
    };
    t->max_depth = 0;
    t->had_child = false;
    return below;
}
