/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketching.c - what a chunk hands to the sketch while it is read: one event of several, some at a
 * time, so that it costs next to nothing.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/part.h"

static size_t te_sketch_put_text(char *to, size_t at, struct tv_bytes text)
{
    size_t room = TV_SKETCH_NAME / 2 - 1;
    size_t length = text.length < room ? text.length : room;
    if (length > 0)
        memcpy(to + at, text.data, length);
    return at + length;
}

/* The key of an id has its kind in front. */
static struct tv_bytes te_sketch_id_text(const struct tv_te_chunk *chunk, uint32_t key)
{
    struct tv_bytes text = tv_interner_get(chunk->threads.keys, key);
    return (struct tv_bytes){text.data + 1, text.length - 1};
}

/* Names of threads come anywhere in a file: their ids are there from the beginning. */
static uint32_t te_sketch_find_track(const struct tv_te_chunk *chunk, uint32_t thread)
{
    char name[TV_SKETCH_NAME];
    const struct tv_te_thread *known = &chunk->threads.threads[thread];
    size_t length = te_sketch_put_text(name, 0, te_sketch_id_text(chunk, chunk->threads.processes[known->process]));
    name[length++] = '/';
    length = te_sketch_put_text(name, length, te_sketch_id_text(chunk, known->key));
    return tv_sketch_track(chunk->sketching.sketch, (struct tv_bytes){(const uint8_t *)name, length});
}

static void te_sketch_add_threads(struct tv_te_chunk *chunk, uint32_t thread)
{
    struct tv_te_sketching *sketching = &chunk->sketching;
    for (; sketching->track_count <= thread; sketching->track_count++) {
        sketching->tracks = tv_array_reserve(sketching->tracks, &sketching->track_capacity,
                                           sketching->track_count + 1, sizeof *sketching->tracks);
        sketching->tracks[sketching->track_count] = te_sketch_find_track(chunk, (uint32_t)sketching->track_count);
    }
}

TV_NOINLINE void tv_te_sketch_event(struct tv_te_chunk *chunk, uint32_t thread, int64_t time)
{
    struct tv_te_sketching *sketching = &chunk->sketching;
    te_sketch_add_threads(chunk, thread);
    sketching->marks[sketching->count++] = (struct tv_sketch_mark){time, sketching->tracks[thread]};
    if (sketching->count < TV_COUNT(sketching->marks))
        return;
    tv_sketch_add(sketching->sketch, sketching->marks, sketching->count);
    sketching->count = 0;
}
