/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c - the slow path of the walk: everything that tv_walk_batch does not inline.
 *
 * Between `low` and `room` of a thread an event is ordinary: an entry has space on the stack, and
 * an exit finds a recorded call on top.  Each function here restores these limits after it changed
 * the stack, so that the fast path needs two comparisons only.
 *
 *     room  ---------------   an entry here needs a larger stack, or is too deep
 *           | recorded c |
 *           | recorded b |    ordinary: the fast path
 *     low   ---------------   an exit here ends a call that began before the chunk
 *           | inherited  |    calls of earlier chunks (tv_walk_begin_known)
 *     floor ---------------   an exit here ends a call that began before the trace
 *
 * While calls are too deep, low is above room, so every event comes here and is counted.
 * stack[-1] is a valid slot, too: it stands for everything below, and its times are those of the
 * last exit below the chunk.
 */
#include "model/builder/walk.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

void tv_walk_init(struct tv_walk *walk, const struct tv_trace_info *head, uint32_t input,
                  bool first, struct tv_diagnostics *diagnostics)
{
    const struct tv_input *facts = &head->inputs[input];
    bool both = facts->clocks == (TV_CLOCK_WALL | TV_CLOCK_CPU);
    *walk = (struct tv_walk){
        .threads = tv_alloc(head->thread_count, sizeof *walk->threads),
        .thread_count = head->thread_count,
        .wait_threshold = both ? TV_WAIT_NS / facts->tick_ns : INT64_MAX,
        .first = first,
        .diagnostics = diagnostics,
    };
}

void tv_walk_release(struct tv_walk *walk)
{
    for (uint32_t i = 0; i < walk->thread_count; i++) {
        if (walk->threads[i].stack)
            tv_free(walk->threads[i].stack - 1);
        tv_free(walk->threads[i].below);
    }
    tv_free(walk->threads);
    memset(walk, 0, sizeof *walk);
}

/* Compute the range of depths in which events are ordinary. */
static void walk_set_limits(struct tv_walk_thread *t)
{
    uint32_t deepest = t->floor + TV_DEPTH_LIMIT;
    t->low = t->inherited > t->floor ? t->inherited : t->floor;
    t->room = t->capacity < deepest ? t->capacity : deepest;
    if (t->too_deep) {
        t->low = UINT32_MAX;
        t->room = 0;
    }
}

/* Make room for `needed` open calls. The allocation starts at slot -1. */
static void walk_reserve_stack(struct tv_walk_thread *t, uint32_t needed)
{
    size_t before = t->stack ? (size_t)t->capacity + 1 : 0, capacity = before;
    struct tv_open *slots = tv_array_reserve(before ? t->stack - 1 : NULL, &capacity,
                                             (size_t)needed + 1, sizeof *slots);
    memset(slots + before, 0,
           (capacity - before) * sizeof *slots); /* the fast path reads free slots, too */
    if (!before)
        slots[0].frame = TV_NONE;
    t->stack = slots + 1;
    t->capacity = (uint32_t)(capacity - 1);
    walk_set_limits(t);
}

void tv_walk_first_event(struct tv_walk_thread *t, const struct tv_event *event)
{
    walk_reserve_stack(t, 1);
    t->seen = true;
    t->first_wall = t->last_wall = t->stack[-1].wall = event->wall;
    t->first_cpu = t->last_cpu = t->stack[-1].cpu = event->cpu;
}

void tv_walk_begin_known(struct tv_walk *walk, uint32_t thread, const struct tv_walk_start *start)
{
    struct tv_walk_thread *t = &walk->threads[thread];
    assert(start->floor <= start->depth && t->depth == 0);
    walk->known = true;
    walk_reserve_stack(t, start->depth + 1);
    if (start->depth)
        memcpy(t->stack, start->stack, start->depth * sizeof *t->stack);
    t->depth = t->inherited = start->depth;
    t->floor = start->floor;
    t->seen = start->seen;
    t->last_wall = start->last_wall;
    t->last_cpu = start->last_cpu;
    walk_set_limits(t);
}

void tv_walk_popped(struct tv_walk_thread *t)
{
    assert(t->depth < t->capacity);
    if (t->floor > t->depth)
        t->floor = t->depth;
    if (t->inherited > t->depth)
        t->inherited = t->depth;
    walk_set_limits(t);
}

/* Count a diagnostic, unless this pass counts none: the second pass sees the same events again. */
static void walk_count_diagnostic(struct tv_walk *walk, enum tv_diagnostic_kind kind,
                                  uint64_t offset)
{
    if (walk->diagnostics)
        tv_diagnostics_add(walk->diagnostics, kind, offset);
}

bool tv_walk_make_room(struct tv_walk *walk, struct tv_walk_thread *t, uint64_t offset)
{
    if (t->depth - t->floor < TV_DEPTH_LIMIT && !t->too_deep) {
        walk_reserve_stack(t, t->depth + 1);
        return true;
    }
    t->too_deep++;
    walk_set_limits(t);
    walk_count_diagnostic(walk, TV_DIAGNOSTIC_TOO_DEEP, offset);
    return false;
}

/* Return how many calls must end so that the nearest open call of the frame ends, or 0 when it is
 * not open. */
static uint32_t walk_distance_to(const struct tv_walk_thread *t, uint32_t frame)
{
    uint32_t open = t->depth - t->floor;
    uint32_t limit = open < TV_UNWIND_LIMIT ? open : TV_UNWIND_LIMIT;
    for (uint32_t i = 1; i <= limit; i++)
        if (t->stack[t->depth - i].frame == frame)
            return i;
    return 0;
}

/* Resolve an exit while no recorded call is open: its call began earlier. */
static uint32_t walk_resolve_outer_exit(struct tv_walk *walk, struct tv_walk_thread *t,
                                        uint64_t offset)
{
    if (t->floor)
        return 1;
    if (!walk->known && t->below_count < TV_DEPTH_LIMIT)
        return TV_POP_BELOW;
    walk->undecided = !walk->first;
    walk_count_diagnostic(walk, TV_DIAGNOSTIC_TOO_DEEP, offset);
    return 0;
}

TV_NOINLINE uint32_t tv_walk_resolve_exit(struct tv_walk *walk, struct tv_walk_thread *t,
                                          const struct tv_event *event, uint64_t offset)
{
    if (t->too_deep) {
        t->too_deep--;
        walk_set_limits(t);
        return 0;
    }
    if (t->depth == t->floor)
        return walk_resolve_outer_exit(walk, t, offset);
    if (event->frame == TV_ANY_FRAME)
        return 1;
    uint32_t distance = walk_distance_to(t, event->frame);
    if (!distance) {
        walk->undecided |= !walk->first;
        walk_count_diagnostic(walk, TV_DIAGNOSTIC_IGNORED_EXIT, offset);
        return 0;
    }
    for (uint32_t i = 1; i < distance; i++)
        walk_count_diagnostic(walk, TV_DIAGNOSTIC_MISSING_EXIT, offset);
    return distance;
}

struct tv_pending_exit *tv_walk_add_pending_exit(struct tv_walk_thread *t,
                                                 const struct tv_event *event, uint64_t offset)
{
    assert(t->depth == 0);
    t->below = tv_array_reserve(t->below, &t->below_capacity, (size_t)t->below_count + 1,
                                sizeof *t->below);
    struct tv_pending_exit *below = &t->below[t->below_count++];
    *below = (struct tv_pending_exit){
        .wall = event->wall,
        .cpu = event->cpu,
        .offset = offset,
        .frame = event->frame,
        .max_depth = t->max_depth,
        .tag = t->stack[-1].tag,
        .unrolled = event->action == TV_UNROLL,
    };
    tv_walk_base_time(t, event->wall, event->cpu, &below->level_wall, &below->level_cpu);
    t->max_depth = 0;
    t->stack[-1] = (struct tv_open){.wall = event->wall, .cpu = event->cpu, .frame = TV_NONE};
    return below;
}

bool tv_walk_sums_fit(const struct tv_walk *walk)
{
    tv_ns wall = 0, cpu = 0;
    for (uint32_t i = 0; i < walk->thread_count; i++) {
        const struct tv_walk_thread *t = &walk->threads[i];
        if (!t->seen)
            continue;
        tv_time_add(&wall, t->last_wall - t->first_wall);
        tv_time_add(&cpu, t->last_cpu - t->first_cpu);
    }
    return wall < INT64_MAX && cpu < INT64_MAX;
}
