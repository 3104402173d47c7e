/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 1 of the builder: writes each slice where it stays. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder_parts.h"

void tv_part_defer(struct tv_part *part, const struct tv_deferred *deferred)
{
    part->deferred = tv_array_reserve(part->deferred, &part->deferred_capacity, part->deferred_count + 1,
                                      sizeof *part->deferred);
    part->deferred[part->deferred_count++] = *deferred;
}

static TV_NOINLINE void add_wait(struct tv_part *part, uint32_t thread, const struct tv_walk_thread *t,
                                 int64_t wall, int64_t cpu)
{
    part->waits =
        tv_array_reserve(part->waits, &part->wait_capacity, part->wait_count + 1, sizeof *part->waits);
    part->waits[part->wait_count++] =
        (struct tv_part_wait){thread,
                              {.start = t->last_wall + cpu / 2,
                               .length = wall - cpu,
                               .depth = t->depth - 1,
                               .path = t->stack[t->depth - 1].tag & ~TV_TAG_PARENT}};
}

TV_INLINE void place_gap(void *context, uint32_t thread, struct tv_walk_thread *t, int64_t wall, int64_t cpu)
{
    struct tv_part *part = context;
    if (TV_UNLIKELY(wall - cpu > part->wait_threshold) && t->depth)
        add_wait(part, thread, t, wall, cpu);
}

/* The top call makes its first call. */
TV_INLINE void mark_parent(struct tv_part *part, uint32_t thread, struct tv_walk_thread *t)
{
    uint32_t depth = t->depth - 1;
    const struct tv_place *place = &part->places[thread][depth];
    t->stack[depth].tag |= TV_TAG_PARENT;
    if (TV_LIKELY(depth >= part->inherited[thread]))
        part->columns->flags[place->first + place->next - 1] |= TV_SLICE_HAS_CHILDREN;
    else
        tv_part_defer(part, &(struct tv_deferred){.thread = thread,
                                                  .depth = depth,
                                                  .index = place->next - 1,
                                                  .flags = TV_SLICE_HAS_CHILDREN});
}

TV_INLINE uint32_t place_enter(void *context, uint32_t thread, struct tv_walk_thread *t,
                               const struct tv_event *event)
{
    struct tv_part *part = context;
    struct tv_place *place = &part->places[thread][t->depth];
    uint32_t parent = TV_ROOT_PATH;
    unsigned flags = 0;
    if (TV_LIKELY(t->depth)) {
        uint32_t tag = t->stack[t->depth - 1].tag;
        parent = tag & ~TV_TAG_PARENT;
        if (!(tag & TV_TAG_PARENT)) {
            flags = TV_SLICE_FIRST_CHILD;
            mark_parent(part, thread, t);
        }
    }
    uint32_t path = tv_paths_child(&part->paths, parent, event->frame);
    assert(path < TV_TAG_PARENT && place->next < place->count);
    tv_place_start(part->columns, place, event->wall, event->cpu, path, flags);
    if (TV_UNLIKELY(part->wide))
        tv_place_wide_start(part->columns, place, event->wall, event->cpu);
    return path;
}

static TV_NOINLINE void leave_inherited(struct tv_part *part, uint32_t thread,
                                        const struct tv_deferred *deferred)
{
    tv_part_defer(part, deferred);
    part->inherited[thread] = deferred->depth;
}

TV_INLINE void place_leave(void *context, uint32_t thread, struct tv_walk_thread *t,
                           const struct tv_event *event, unsigned flags)
{
    struct tv_part *part = context;
    const struct tv_open *open = &t->stack[t->depth];
    const struct tv_place *place = &part->places[thread][t->depth];
    int64_t wall = event->wall - open->wall, cpu = event->cpu - open->cpu;
    if (TV_UNLIKELY(t->depth < part->inherited[thread])) {
        leave_inherited(part, thread,
                        &(struct tv_deferred){thread, t->depth, place->next - 1, flags, true, wall, cpu});
        return;
    }
    uint64_t at = place->first + place->next - 1;
    if (TV_UNLIKELY(part->wide))
        tv_place_wide_length(part->columns, place, place->next - 1, wall, cpu);
    else
        tv_place_length(part->columns, at, wall, cpu);
    if (TV_UNLIKELY(flags))
        part->columns->flags[at] |= (uint8_t)flags;
}

TV_INLINE void place_below(void *context, uint32_t thread, struct tv_walk_thread *t, struct tv_below *below)
{
    (void)context, (void)thread, (void)t, (void)below;
    assert(false); /* a known walk sets nothing aside */
}

void tv_part_place(struct tv_part *part, const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {place_gap, place_enter, place_leave, place_below};
    tv_walk_batch(&part->walk, batch, &calls, part);
}

void tv_part_release(struct tv_part *part)
{
    for (uint32_t i = 0; part->levels && i < part->walk.thread_count; i++)
        tv_free(part->levels[i].counts);
    tv_free(part->levels);
    if (part->paths.nodes)
        tv_paths_release(&part->paths);
    tv_free(part->places);
    tv_free(part->inherited);
    tv_free(part->deferred);
    tv_free(part->waits);
    tv_walk_release(&part->walk);
    memset(part, 0, sizeof *part);
}
