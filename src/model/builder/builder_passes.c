/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_passes.c - what one chunk does in each of the two passes (builder.c): count, then write.
 *
 * Both passes plug their functions into the walk (walk.h), which inlines them.
 *
 * Neither has a branch that depends on entry or exit.  step->exit is 0 or -1, so it serves as a
 * mask and as a number:
 *
 *                              entry            exit
 *     1 + exit                 1                0         a call is counted once
 *     place.next + exit        next             next - 1  the slice that begins, or the last one
 *     walls[-exit]             column of starts column of lengths
 *     (at & ~exit) | wall      time             length    `wall` is 0 at an entry
 *     begun_count += 1 + exit  kept             the next entry overwrites it
 *
 * A row has one open call at most, so an exit always ends the slice that its row got last: its
 * place need not be searched.
 *
 * The write pass touches the columns of a row, the tree of paths and the thread's tips, and no
 * cache holds these for all rows.  So it asks for what the next events will use: the next cache
 * line of each column, and the place of a call's path, which is looked up only after the batch.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder/builder_internal.h"

/* Make room for levels from -below to depth, plus half as many on each side.  Return the index of
 * level `depth - below`. */
static TV_NOINLINE size_t levels_grow(struct tv_levels *levels, uint32_t depth, uint32_t below)
{
    uint32_t bias = levels->bias, above = levels->size - levels->bias;
    if (below > bias)
        bias = below + below / 2;
    if (depth + 1 > above)
        above = depth + depth / 2 + 16;
    uint32_t *counts = tv_alloc((size_t)bias + above, sizeof *counts);
    if (levels->size)
        memcpy(counts + (bias - levels->bias), levels->counts, levels->size * sizeof *counts);
    tv_free(levels->counts);
    *levels = (struct tv_levels){counts, bias, bias + above};
    return (size_t)bias + depth - below;
}

uint32_t tv_levels_get(const struct tv_levels *levels, int64_t level)
{
    int64_t at = level + levels->bias;
    return at >= 0 && at < levels->size ? levels->counts[at] : 0;
}

/* Count a call at the level of its depth, relative to the unknown depth at the start of the chunk.
 */
TV_INLINE uint32_t count_pass_step(void *context, const struct tv_step *step)
{
    struct tv_levels *levels = &((struct tv_build_chunk *)context)->levels[step->thread];
    size_t at = (size_t)levels->bias + step->depth - step->t->below_count;
    if (TV_UNLIKELY(at >= levels->size))
        at = levels_grow(levels, step->depth, step->t->below_count);
    levels->counts[at] += (uint32_t)(1 + step->exit);
    step->caller->tag = 1; /* it made a call */
    return 0;
}

/* Nothing to do: a row is known by its level alone. */
static void count_pass_first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    (void)context, (void)thread, (void)t;
}

static void count_pass_below(void *context, uint32_t thread, struct tv_walk_thread *t,
                             struct tv_pending_exit *below)
{
    (void)context, (void)thread, (void)t, (void)below;
}

/* Nothing to do: waits have no rows; the write pass notes them. */
static void count_pass_wait(void *context, uint32_t thread, struct tv_walk_thread *t, int64_t wall,
                            int64_t cpu)
{
    (void)context, (void)thread, (void)t, (void)wall, (void)cpu;
}

void tv_chunk_count_batch(struct tv_build_chunk *chunk, const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {count_pass_step, count_pass_first, count_pass_below,
                                               count_pass_wait};
    tv_walk_batch(&chunk->walk, batch, &calls, chunk);
}

void tv_chunk_finish_count(struct tv_build_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->walk.thread_count; i++) {
        struct tv_walk_thread *t = &chunk->walk.threads[i];
        t->had_child = t->seen && t->stack[-1].tag;
    }
}

/* ---- Write pass: each slice to its final place ---- */

/* Defer the end of a call that was open at the start of the chunk: another chunk writes its slice.
 */
static TV_NOINLINE void write_pass_end_inherited(struct tv_build_chunk *chunk,
                                                 const struct tv_step *step, uint32_t flags)
{
    const struct tv_row_writer *place = &chunk->tips[step->thread][step->depth].place;
    chunk->deferred = tv_array_reserve(chunk->deferred, &chunk->deferred_capacity,
                                       chunk->deferred_count + 1, sizeof *chunk->deferred);
    chunk->deferred[chunk->deferred_count++] = (struct tv_deferred){
        step->thread, step->depth, place->next - 1, flags, step->wall, step->cpu};
}

/* Distance, in slices, at which the next cache line of a row is prefetched. */
#define AHEAD 16u

/* Store the low half of a time. */
TV_INLINE void write_pass_time(uint32_t *column, uint64_t at, int64_t time)
{
    TV_PREFETCH(&column[at + AHEAD]);
    column[at] = (uint32_t)time;
}

/* Record a call that begins.  Prefetch the hash slot of its path, unless the last call at this
 * depth had the same path. */
TV_INLINE void write_pass_begin_call(struct tv_build_chunk *chunk, struct tv_depth_tip *tip,
                                     uint64_t at, const struct tv_step *step)
{
    uint32_t hash = tv_path_hash(tip[-1].hash, step->frame);
    tv_paths_prefetch(&chunk->paths, hash & -(uint32_t)(hash != tip->hash));
    tip->hash = hash;
    chunk->begun[chunk->begun_count] = (struct tv_unresolved_path){tip, at, step->frame, hash};
    chunk->begun_count += 1 + (size_t)step->exit;
    TV_PREFETCH(&chunk->columns->path[at]);
}

/* Resolve the paths of all calls that began in this batch.  Doing it late gives the prefetches
 * time. */
static void write_pass_resolve_paths(struct tv_build_chunk *chunk)
{
    uint32_t *paths = chunk->columns->path;
    for (size_t i = 0; i < chunk->begun_count; i++) {
        const struct tv_unresolved_path *begun = &chunk->begun[i];
        struct tv_path_node wanted = {begun->tip[-1].path, begun->frame};
        uint32_t path = tv_paths_child_of_hash(&chunk->paths, wanted, begun->hash);
        begun->tip->path = path;
        paths[begun->slice] = path;
        TV_PREFETCH(&chunk->paths.recents[path]);
    }
    chunk->begun_count = 0;
}

/* The tag of a call tells whether it made calls. */
TV_INLINE uint32_t write_pass_step(void *context, const struct tv_step *step)
{
    struct tv_build_chunk *chunk = context;
    struct tv_columns *columns = chunk->columns;
    struct tv_depth_tip *tip = &chunk->tips[step->thread][step->depth];
    uint32_t exit = (uint32_t)step->exit;
    uint32_t first_child = (step->caller->tag ^ 1) * TV_SLICE_FIRST_CHILD;
    uint32_t ended = step->flags | step->call->tag * TV_SLICE_HAS_CHILDREN;
    step->caller->tag = 1;
    if (step->slow && step->exit && step->depth < step->t->inherited) {
        write_pass_end_inherited(chunk, step, ended);
        return 0;
    }
    uint32_t index = tip->place.next + exit;
    uint64_t at = tip->place.first + index;
    assert(index < tip->place.count);
    /* Store the start at an entry and the length at an exit. */
    int64_t wall = (step->at_wall & ~step->exit) | step->wall;
    int64_t cpu = (step->at_cpu & ~step->exit) | step->cpu;
    if (TV_LIKELY(columns->start))
        write_pass_time(chunk->walls[-step->exit], at, wall);
    if (TV_LIKELY(columns->cpu_start))
        write_pass_time(chunk->cpus[-step->exit], at, cpu);
    columns->flags[at] |= (uint8_t)((first_child & ~exit) | (ended & exit));
    tip->place.next = index + 1;
    write_pass_begin_call(chunk, tip, at, step);
    if (TV_UNLIKELY(!step->exit & (index % TV_BLOCK_SLICES == 0)))
        tv_row_start_block(columns, &tip->place, index, step->at_wall, step->at_cpu);
    if (TV_UNLIKELY(chunk->wide))
        tv_row_write_wide(columns, &tip->place, index, wall, cpu, step->exit);
    return 0;
}

static void write_pass_first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    (void)context, (void)thread, (void)t;
}

static void write_pass_below(void *context, uint32_t thread, struct tv_walk_thread *t,
                             struct tv_pending_exit *below)
{
    (void)context, (void)thread, (void)t, (void)below;
    assert(false); /* a walk with known stacks has no pending exits */
}

/* Note a wait inside the innermost call, between the two records. The paths of the batch are
 * resolved first, because the wait needs the number of its own. */
static void write_pass_wait(void *context, uint32_t thread, struct tv_walk_thread *t, int64_t wall,
                            int64_t cpu)
{
    struct tv_build_chunk *chunk = context;
    if (!t->depth)
        return;
    write_pass_resolve_paths(chunk);
    chunk->waits = tv_array_reserve(chunk->waits, &chunk->wait_capacity, chunk->wait_count + 1,
                                    sizeof *chunk->waits);
    chunk->waits[chunk->wait_count++] =
        (struct tv_chunk_wait){thread,
                               {.start = t->last_wall + cpu / 2,
                                .length = wall - cpu,
                                .depth = t->depth - 1,
                                .path = chunk->tips[thread][t->depth - 1].path}};
}

void tv_chunk_write_batch(struct tv_build_chunk *chunk, const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {write_pass_step, write_pass_first, write_pass_below,
                                               write_pass_wait};
    for (size_t from = 0; from < batch->count; from += TV_BATCH_EVENTS) {
        struct tv_batch some = tv_batch_slice(batch, from, TV_BATCH_EVENTS);
        tv_walk_batch(&chunk->walk, &some, &calls, chunk);
        write_pass_resolve_paths(chunk);
    }
}

void tv_chunk_release(struct tv_build_chunk *chunk)
{
    for (uint32_t i = 0; chunk->levels && i < chunk->walk.thread_count; i++)
        tv_free(chunk->levels[i].counts);
    tv_free(chunk->levels);
    if (chunk->paths.nodes)
        tv_paths_release(&chunk->paths);
    tv_free(chunk->tips);
    tv_free(chunk->begun);
    tv_free(chunk->deferred);
    tv_free(chunk->waits);
    tv_walk_release(&chunk->walk);
    tv_diagnostics_clear(&chunk->diagnostics);
    memset(chunk, 0, sizeof *chunk);
}
