/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ahead.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* Room for a stack of this depth, what so many events can put on it, and one to be written for
 * nothing.  Of tens of thousands of threads most have few events in a batch. */
static void reserve(struct tv_ahead_thread *thread, uint32_t depth, size_t events)
{
    size_t capacity = thread->capacity, needed = (size_t)depth + events + 2;
    thread->hashes = tv_array_reserve(thread->hashes, &capacity, needed, sizeof *thread->hashes);
    thread->capacity = (uint32_t)capacity;
}

/* Takes the thread's stack from the walk, if the last guess was wrong. */
static TV_NOINLINE void begin_thread(struct tv_ahead *ahead, struct tv_ahead_thread *thread,
                                     const struct tv_walk_thread *t, const struct tv_tally *tally)
{
    bool first = !thread->hashes;
    thread->batch = ahead->batch;
    reserve(thread, t->depth, 0);
    if (!t->seen) {
        thread->depth = 0;
        thread->hashes[0] = TV_ROOT_HASH;
        return;
    }
    const struct tv_open *bottom = &t->stack[-1];
    if (!first && thread->depth == t->depth &&
        thread->hashes[t->depth] == tally->hashes[bottom[t->depth].tag])
        return;
    thread->depth = t->depth;
    for (uint32_t i = 0; i <= t->depth; i++)
        thread->hashes[i] = tally->hashes[bottom[i].tag];
}

/* A stretch of events of one thread. */
struct stretch {
    const struct tv_event *events;
    size_t count;
};

static struct stretch next_stretch(const struct tv_batch *batch, size_t from)
{
    size_t end = from + 1;
    while (end < batch->count && batch->events[end].thread == batch->events[from].thread)
        end++;
    return (struct stretch){&batch->events[from], end - from};
}

/* The hashes of the entries of a stretch, put behind the first `count`; what nothing predicts is
 * done without a jump. */
TV_INLINE size_t hash_stretch(struct tv_ahead *ahead, struct tv_ahead_thread *thread,
                              const struct tv_tally *tally, const struct stretch *stretch,
                              size_t count, bool fold)
{
    uint32_t *hashes = thread->hashes, depth = thread->depth;
    for (size_t i = 0; i < stretch->count; i++) {
        uint32_t frame = stretch->events[i].frame;
        uint32_t entry = stretch->events[i].action == TV_ENTER;
        if (fold && frame < ahead->fold_count)
            frame = ahead->fold[frame];
        uint32_t hash = tv_path_hash(hashes[depth], frame);
        hashes[depth + 1] = hash;
        TV_PREFETCH(&tally->places[hash & tally->mask & -(size_t)entry]);
        ahead->nodes[count] = hash;
        count += entry;
        depth += 2 * entry;
        depth -= depth > 0;
    }
    thread->depth = depth;
    return count;
}

static size_t hash_entries(struct tv_ahead *ahead, const struct tv_walk *walk,
                           const struct tv_tally *tally, const struct tv_batch *batch)
{
    size_t count = 0;
    struct stretch stretch;
    for (size_t i = 0; i < batch->count; i += stretch.count) {
        uint32_t number = batch->events[i].thread;
        struct tv_ahead_thread *thread = &ahead->threads[number];
        stretch = next_stretch(batch, i);
        if (walk->skip && walk->skip[number])
            continue;
        if (thread->batch != ahead->batch)
            begin_thread(ahead, thread, &walk->threads[number], tally);
        reserve(thread, thread->depth, stretch.count);
        if (ahead->fold)
            count = hash_stretch(ahead, thread, tally, &stretch, count, true);
        else
            count = hash_stretch(ahead, thread, tally, &stretch, count, false);
    }
    return count;
}

void tv_ahead_init(struct tv_ahead *ahead, uint32_t thread_count, const uint32_t *fold,
                   uint32_t fold_count)
{
    memset(ahead, 0, sizeof *ahead);
    ahead->thread_count = thread_count;
    ahead->threads = tv_alloc(thread_count, sizeof *ahead->threads);
    ahead->fold = fold;
    ahead->fold_count = fold_count;
}

size_t tv_ahead_look(struct tv_ahead *ahead, const struct tv_walk *walk,
                     const struct tv_tally *tally, const struct tv_batch *batch)
{
    assert(batch->count <= TV_BATCH_EVENTS);
    if (++ahead->batch == 0) /* 0: in none yet */
        ahead->batch = 1;
    size_t count = hash_entries(ahead, walk, tally, batch);
    for (size_t i = 0; i < count; i++) {
        ahead->nodes[i] = tv_tally_guess(tally, ahead->nodes[i]);
        TV_PREFETCH(&tally->nodes[ahead->nodes[i]]);
    }
    ahead->nodes[count] = 0;
    return count;
}

void tv_ahead_release(struct tv_ahead *ahead)
{
    for (uint32_t i = 0; i < ahead->thread_count; i++)
        tv_free(ahead->threads[i].hashes);
    tv_free(ahead->threads);
    memset(ahead, 0, sizeof *ahead);
}
