/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marking.c - what a part hands to the sketch while it is read: one event of several, some at a
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
static struct tv_bytes te_sketch_id_text(const struct tv_te_part *part, uint32_t key)
{
    struct tv_bytes text = tv_interner_get(part->threads.keys, key);
    return (struct tv_bytes){text.data + 1, text.length - 1};
}

/* Names of threads come anywhere in a file: their ids are there from the beginning. */
static uint32_t te_sketch_find_track(const struct tv_te_part *part, uint32_t thread)
{
    char name[TV_SKETCH_NAME];
    const struct tv_te_thread *known = &part->threads.threads[thread];
    size_t length = te_sketch_put_text(name, 0, te_sketch_id_text(part, part->threads.processes[known->process]));
    name[length++] = '/';
    length = te_sketch_put_text(name, length, te_sketch_id_text(part, known->key));
    return tv_sketch_track(part->marking.sketch, (struct tv_bytes){(const uint8_t *)name, length});
}

static void te_sketch_add_threads(struct tv_te_part *part, uint32_t thread)
{
    struct tv_te_marking *marking = &part->marking;
    for (; marking->track_count <= thread; marking->track_count++) {
        marking->tracks = tv_array_reserve(marking->tracks, &marking->track_capacity,
                                           marking->track_count + 1, sizeof *marking->tracks);
        marking->tracks[marking->track_count] = te_sketch_find_track(part, (uint32_t)marking->track_count);
    }
}

TV_NOINLINE void tv_te_mark(struct tv_te_part *part, uint32_t thread, int64_t time)
{
    struct tv_te_marking *marking = &part->marking;
    te_sketch_add_threads(part, thread);
    marking->marks[marking->count++] = (struct tv_sketch_mark){time, marking->tracks[thread]};
    if (marking->count < TV_COUNT(marking->marks))
        return;
    tv_sketch_add(marking->sketch, marking->marks, marking->count);
    marking->count = 0;
}
