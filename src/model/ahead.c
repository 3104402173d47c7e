/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ahead.h"

#include <string.h>

#include "base/memory.h"

/* A tree of so many nodes does not fit the second cache. */
#define PAYS_FROM ((uint32_t)1 << 14)

static void reserve(struct tv_ahead_thread *thread, uint32_t depth)
{
    size_t capacity = thread->capacity;
    thread->hashes =
        tv_array_reserve(thread->hashes, &capacity, (size_t)depth + 2, sizeof *thread->hashes);
    thread->capacity = (uint32_t)capacity;
}

/* Takes the thread's stack from the walk, if the last guess was wrong. */
static TV_NOINLINE void begin_thread(struct tv_ahead *ahead, struct tv_ahead_thread *thread,
                                     const struct tv_walk_thread *t, const struct tv_paths *paths)
{
    bool first = thread->batch == 0;
    thread->batch = ahead->batch;
    reserve(thread, t->depth);
    uint32_t below = t->seen ? paths->hashes[t->stack[-1].tag & ahead->path_mask] : TV_ROOT_HASH;
    if (!first && thread->depth == t->depth && thread->hashes[0] == below)
        return;
    thread->depth = t->depth;
    thread->hashes[0] = below;
    for (uint32_t i = 0; i < t->depth; i++)
        thread->hashes[i + 1] = paths->hashes[t->stack[i].tag & ahead->path_mask];
}

/* The hashes of the batch's entries; what nothing predicts is done without a jump. */
static size_t hash_entries(struct tv_ahead *ahead, const struct tv_walk *walk,
                           const struct tv_paths *paths, const struct tv_batch *batch)
{
    size_t count = 0, events = batch->count < TV_BATCH_EVENTS ? batch->count : TV_BATCH_EVENTS;
    for (size_t i = 0; i < events; i++) {
        const struct tv_event *event = &batch->events[i];
        struct tv_ahead_thread *thread = &ahead->threads[event->thread];
        if (TV_UNLIKELY(thread->batch != ahead->batch))
            begin_thread(ahead, thread, &walk->threads[event->thread], paths);
        if (TV_UNLIKELY(thread->depth + 2 > thread->capacity))
            reserve(thread, thread->depth);
        uint32_t frame = event->frame, entry = event->action == TV_ENTER;
        if (ahead->fold && frame < ahead->fold_count)
            frame = ahead->fold[frame];
        uint32_t hash = tv_path_hash(thread->hashes[thread->depth], frame);
        thread->hashes[thread->depth + 1] = hash;
        TV_PREFETCH(&paths->places[hash & paths->mask & -(size_t)entry]);
        ahead->nodes[count] = hash;
        count += entry;
        uint32_t depth = thread->depth + 2 * entry;
        thread->depth = depth - (depth > 0);
    }
    return count;
}

static void init_threads(struct tv_ahead *ahead, const struct tv_walk *walk)
{
    ahead->thread_count = walk->thread_count;
    ahead->threads = tv_alloc(walk->thread_count, sizeof *ahead->threads);
}

size_t tv_ahead_look(struct tv_ahead *ahead, const struct tv_walk *walk,
                     const struct tv_paths *paths, const struct tv_batch *batch)
{
    if (paths->count < PAYS_FROM || !paths->places)
        return 0;
    if (!ahead->threads)
        init_threads(ahead, walk);
    if (++ahead->batch == 0) /* 0: in none yet */
        ahead->batch = 1;
    size_t count = hash_entries(ahead, walk, paths, batch);
    for (size_t i = 0; i < count; i++) {
        struct tv_path_place place = paths->places[ahead->nodes[i] & paths->mask];
        ahead->nodes[i] = place.hash == ahead->nodes[i] ? place.node : 0;
        TV_PREFETCH(&paths->recents[ahead->nodes[i]]);
    }
    return count;
}

void tv_ahead_release(struct tv_ahead *ahead)
{
    for (uint32_t i = 0; i < ahead->thread_count; i++)
        tv_free(ahead->threads[i].hashes);
    tv_free(ahead->threads);
    memset(ahead, 0, sizeof *ahead);
}
