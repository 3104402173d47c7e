/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 1 of the builder: writes each slice where it stays. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder_parts.h"

/* The call was open where the part begins: its slice is another part's to write. */
static TV_NOINLINE void end_inherited(struct tv_part *part, const struct tv_step *step,
                                      uint32_t flags)
{
    const struct tv_place *place = &part->places[step->thread][step->depth];
    part->deferred = tv_array_reserve(part->deferred, &part->deferred_capacity,
                                      part->deferred_count + 1, sizeof *part->deferred);
    part->deferred[part->deferred_count++] = (struct tv_deferred){
        step->thread, step->depth, place->next - 1, flags, step->wall, step->cpu};
}

/* The path of the call: also at its exit, where it is found the same way. */
TV_INLINE uint32_t path_of(struct tv_part *part, const struct tv_step *step)
{
    uint32_t frame = step->slow && step->frame == TV_ANY_FRAME ? part->unknown_frame : step->frame;
    return tv_paths_child(&part->paths, step->caller->tag & ~TV_TAG_PARENT, frame);
}

/* The low halves: starts at an entry, lengths at an exit. */
TV_INLINE void write_times(struct tv_columns *columns, uint64_t at, const struct tv_step *step)
{
    uint32_t *wall = step->exit ? columns->length : columns->start;
    uint32_t *cpu = step->exit ? columns->cpu_length : columns->cpu_start;
    if (TV_LIKELY(wall))
        wall[at] = (uint32_t)(step->exit ? step->wall : step->at_wall);
    if (TV_LIKELY(cpu))
        cpu[at] = (uint32_t)(step->exit ? step->cpu : step->at_cpu);
}

static TV_NOINLINE void write_wide(struct tv_columns *columns, const struct tv_place *place,
                                   uint32_t index, const struct tv_step *step)
{
    if (step->exit)
        tv_place_wide(columns, place, index, step->wall, step->cpu, true);
    else
        tv_place_wide(columns, place, index, step->at_wall, step->at_cpu, false);
}

TV_INLINE uint32_t place_step(void *context, const struct tv_step *step)
{
    struct tv_part *part = context;
    struct tv_columns *columns = part->columns;
    struct tv_place *place = &part->places[step->thread][step->depth];
    uint32_t path = path_of(part, step);
    uint32_t first_child = step->caller->tag & TV_TAG_PARENT ? 0 : TV_SLICE_FIRST_CHILD;
    uint32_t parent = step->call->tag & TV_TAG_PARENT ? TV_SLICE_HAS_CHILDREN : 0;
    step->caller->tag |= TV_TAG_PARENT;
    if (step->slow && step->exit && step->depth < step->t->inherited) {
        end_inherited(part, step, step->flags | parent);
        return path;
    }
    uint32_t index = place->next + (uint32_t)step->exit;
    uint64_t at = place->first + index;
    assert(path < TV_TAG_PARENT && index < place->count);
    write_times(columns, at, step);
    columns->path[at] = path;
    columns->flags[at] =
        (uint8_t)(step->exit ? columns->flags[at] | step->flags | parent : first_child);
    place->next = index + 1;
    if (TV_UNLIKELY(!step->exit & (index % TV_BLOCK_SLICES == 0)))
        tv_place_block(columns, place, index, step->at_wall, step->at_cpu);
    if (TV_UNLIKELY(part->wide))
        write_wide(columns, place, index, step);
    return path;
}

static void place_first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    (void)context, (void)thread, (void)t;
}

static void place_below(void *context, uint32_t thread, struct tv_walk_thread *t,
                        struct tv_below *below)
{
    (void)context, (void)thread, (void)t, (void)below;
    assert(false); /* a known walk sets nothing aside */
}

static void place_wait(void *context, uint32_t thread, struct tv_walk_thread *t, int64_t wall,
                       int64_t cpu)
{
    struct tv_part *part = context;
    if (!t->depth)
        return;
    part->waits = tv_array_reserve(part->waits, &part->wait_capacity, part->wait_count + 1,
                                   sizeof *part->waits);
    part->waits[part->wait_count++] =
        (struct tv_part_wait){thread,
                              {.start = t->last_wall + cpu / 2,
                               .length = wall - cpu,
                               .depth = t->depth - 1,
                               .path = t->stack[t->depth - 1].tag & ~TV_TAG_PARENT}};
}

void tv_part_place(struct tv_part *part, const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {place_step, place_first, place_below, place_wait};
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
    tv_free(part->deferred);
    tv_free(part->waits);
    tv_walk_release(&part->walk);
    memset(part, 0, sizeof *part);
}
