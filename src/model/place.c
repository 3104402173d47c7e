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
    const struct tv_place *place = &part->tips[step->thread][step->depth].place;
    part->deferred = tv_array_reserve(part->deferred, &part->deferred_capacity,
                                      part->deferred_count + 1, sizeof *part->deferred);
    part->deferred[part->deferred_count++] = (struct tv_deferred){
        step->thread, step->depth, place->next - 1, flags, step->wall, step->cpu};
}

/* A row is written so far ahead of where its next cache line is asked for. */
#define AHEAD 16u

/* The low half. */
TV_INLINE void write_time(uint32_t *column, uint64_t at, int64_t time)
{
    TV_PREFETCH(&column[at + AHEAD]);
    column[at] = (uint32_t)time;
}

/* Notes a call that begins, and has memory look for its path unless the last call at its depth had
 * the same. */
TV_INLINE void begin(struct tv_part *part, struct tv_tip *tip, uint64_t at,
                     const struct tv_step *step)
{
    uint32_t hash = tv_path_hash(tip[-1].hash, step->frame);
    tv_paths_prefetch(&part->paths, hash & -(uint32_t)(hash != tip->hash));
    tip->hash = hash;
    part->begun[part->begun_count] = (struct tv_begun){tip, at, step->frame, hash};
    part->begun_count += 1 + (size_t)step->exit;
    TV_PREFETCH(&part->columns->path[at]);
}

/* Finds the paths of the calls that began. */
static void find_paths(struct tv_part *part)
{
    uint32_t *paths = part->columns->path;
    for (size_t i = 0; i < part->begun_count; i++) {
        const struct tv_begun *begun = &part->begun[i];
        struct tv_path_node wanted = {begun->tip[-1].path, begun->frame};
        uint32_t path = tv_paths_child_of_hash(&part->paths, wanted, begun->hash);
        begun->tip->path = path;
        paths[begun->slice] = path;
        TV_PREFETCH(&part->paths.recents[path]);
    }
    part->begun_count = 0;
}

/* A call's tag says whether it has made calls. */
TV_INLINE uint32_t place_step(void *context, const struct tv_step *step)
{
    struct tv_part *part = context;
    struct tv_columns *columns = part->columns;
    struct tv_tip *tip = &part->tips[step->thread][step->depth];
    uint32_t exit = (uint32_t)step->exit;
    uint32_t first_child = (step->caller->tag ^ 1) * TV_SLICE_FIRST_CHILD;
    uint32_t ended = step->flags | step->call->tag * TV_SLICE_HAS_CHILDREN;
    step->caller->tag = 1;
    if (step->slow && step->exit && step->depth < step->t->inherited) {
        end_inherited(part, step, ended);
        return 0;
    }
    uint32_t index = tip->place.next + exit;
    uint64_t at = tip->place.first + index;
    assert(index < tip->place.count);
    /* A start at an entry, a length at an exit. */
    int64_t wall = (step->at_wall & ~step->exit) | step->wall;
    int64_t cpu = (step->at_cpu & ~step->exit) | step->cpu;
    if (TV_LIKELY(columns->start))
        write_time(part->walls[-step->exit], at, wall);
    if (TV_LIKELY(columns->cpu_start))
        write_time(part->cpus[-step->exit], at, cpu);
    columns->flags[at] |= (uint8_t)((first_child & ~exit) | (ended & exit));
    tip->place.next = index + 1;
    begin(part, tip, at, step);
    if (TV_UNLIKELY(!step->exit & (index % TV_BLOCK_SLICES == 0)))
        tv_place_block(columns, &tip->place, index, step->at_wall, step->at_cpu);
    if (TV_UNLIKELY(part->wide))
        tv_place_wide(columns, &tip->place, index, wall, cpu, step->exit);
    return 0;
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
    find_paths(part);
    part->waits = tv_array_reserve(part->waits, &part->wait_capacity, part->wait_count + 1,
                                   sizeof *part->waits);
    part->waits[part->wait_count++] =
        (struct tv_part_wait){thread,
                              {.start = t->last_wall + cpu / 2,
                               .length = wall - cpu,
                               .depth = t->depth - 1,
                               .path = part->tips[thread][t->depth - 1].path}};
}

void tv_part_place(struct tv_part *part, const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {place_step, place_first, place_below, place_wait};
    for (size_t from = 0; from < batch->count; from += TV_BATCH_EVENTS) {
        struct tv_batch some = tv_batch_slice(batch, from, TV_BATCH_EVENTS);
        tv_walk_batch(&part->walk, &some, &calls, part);
        find_paths(part);
    }
}

void tv_part_release(struct tv_part *part)
{
    for (uint32_t i = 0; part->levels && i < part->walk.thread_count; i++)
        tv_free(part->levels[i].counts);
    tv_free(part->levels);
    if (part->paths.nodes)
        tv_paths_release(&part->paths);
    tv_free(part->tips);
    tv_free(part->begun);
    tv_free(part->deferred);
    tv_free(part->waits);
    tv_walk_release(&part->walk);
    tv_diagnostics_clear(&part->diagnostics);
    memset(part, 0, sizeof *part);
}
