/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast way for records of fixed size.
 *
 * The loop (mt_fast_take_all) exists once for each version and each kind of frame table, with both
 * as constants.  It handles the usual record without a call: thread known, frame listed, action
 * defined, times not before the thread's last ones.  Everything else leaves the loop through a
 * function that is never inlined, which decodes the record again so that the loop's copy can stay
 * in registers.
 *
 *     record V1    tid 1   word 4   time 4                   9 bytes
 *     record V2    tid 2   word 4   time 4                  10 bytes
 *     record V3    tid 2   word 4   cpu 4   wall 4          14 bytes
 *
 *     word         id of the method, and the action in its two lowest bits
 *
 * Ids become frames by an array if they are small numbers, and by a hash table if they are
 * addresses. Both have a place for "not listed", so the loop never asks whether an id is in range.
 */
#include "readers/method_trace/deliver.h"

#include <assert.h>

#include "base/memory.h"
#include "readers/method_trace/records.h"

/* ---- Frames by method id ---- */

/* Return true when a table over all ids is small enough: ids are numbers from 0 on, not
 * pointers. */
static bool mt_frames_are_ids_dense(const struct tv_mt_file *file)
{
    return file->ids.greatest_method >> 2 < 4 * (uint64_t)file->ids.methods.count + 1024;
}

/* Put an id into the hash table, which has a free place. */
static void mt_frames_set_slot(struct tv_mt_frames *frames, uint32_t id, uint32_t frame)
{
    uint32_t place = id * 0x9e3779b1u >> frames->shift;
    while (frames->places[place].frame != TV_NONE)
        place = (place + 1) & frames->mask;
    frames->places[place] = (struct tv_mt_frame_slot){id, frame};
}

/* Map an id to its frame. */
static void mt_frames_set(struct tv_mt_frames *frames, uint64_t id, uint32_t frame)
{
    /* No record can contain such an id. */
    if (id > UINT32_MAX || (id & TV_MT_ACTION_MASK) != 0)
        return;
    if (frames->dense)
        frames->dense[id >> 2] = frame;
    else
        mt_frames_set_slot(frames, (uint32_t)id, frame);
}

/* Make a hash table that is at most half full. */
static void mt_frames_alloc_slots(struct tv_mt_frames *frames, size_t count)
{
    unsigned bits = 4;
    while (bits < 31 && (size_t)1 << bits < 2 * count + 1)
        bits++;
    size_t places = (size_t)1 << bits;
    frames->places = tv_alloc(places, sizeof *frames->places);
    frames->mask = (uint32_t)(places - 1);
    frames->shift = 32 - bits;
    for (size_t i = 0; i < places; i++)
        frames->places[i].frame = TV_NONE;
}

void tv_mt_frames_init(struct tv_mt_frames *frames, const struct tv_mt_file *file)
{
    const struct tv_map *methods = &file->ids.methods;
    *frames = (struct tv_mt_frames){0};
    if (mt_frames_are_ids_dense(file)) {
        frames->dense_limit = (uint32_t)(file->ids.greatest_method >> 2) + 1;
        frames->dense = tv_alloc((size_t)frames->dense_limit + 1, sizeof *frames->dense);
        for (size_t i = 0; i <= frames->dense_limit; i++)
            frames->dense[i] = TV_NONE;
    } else {
        mt_frames_alloc_slots(frames, methods->count);
    }
    for (size_t i = 0; methods->count > 0 && i <= methods->mask; i++)
        if (methods->values[i] != TV_NONE)
            mt_frames_set(frames, methods->keys[i], methods->values[i]);
}

void tv_mt_frames_release(struct tv_mt_frames *frames)
{
    tv_free(frames->dense);
    tv_free(frames->places);
}

TV_INLINE uint32_t mt_frames_find_dense(const struct tv_mt_frames *frames, uint32_t word)
{
    uint32_t index = word >> 2;
    return frames->dense[index < frames->dense_limit ? index : frames->dense_limit];
}

TV_INLINE uint32_t mt_frames_find_slot(const struct tv_mt_frames *frames, uint32_t word)
{
    uint32_t id = tv_mt_word_method(word);
    uint32_t place = id * 0x9e3779b1u >> frames->shift;
    while (frames->places[place].id != id && frames->places[place].frame != TV_NONE)
        place = (place + 1) & frames->mask;
    return frames->places[place].frame;
}

/* ---- Records ---- */

void tv_mt_fast_init(struct tv_mt_fast *fast, const struct tv_mt_file *file,
                     const struct tv_mt_frames *frames, struct tv_mt_thread_times *thread_times,
                     struct tv_diagnostics *diagnostics)
{
    assert(file->layout == TV_MT_FIXED && file->ids.id_change_count == 0);
    *fast = (struct tv_mt_fast){
        .file = file,
        .frames = frames,
        .diagnostics = diagnostics,
        .thread_times = thread_times,
    };
    /* Larger ids are not listed. */
    uint64_t greatest = file->ids.greatest_tid < UINT16_MAX ? file->ids.greatest_tid : UINT16_MAX;
    fast->slot_count = (uint32_t)greatest + 1;
    fast->slots = tv_alloc(fast->slot_count, sizeof *fast->slots);
}

void tv_mt_fast_release(struct tv_mt_fast *fast)
{
    const struct tv_mt_file *file = fast->file;
    const struct tv_trace_info *head = file->head;
    bool cpu_alone = file->clocks == TV_CLOCK_CPU;
    for (uint32_t thread = file->first_thread; thread < head->thread_count; thread++) {
        uint64_t tid = head->threads[thread].id;
        const struct tv_mt_slot *slot = tid < fast->slot_count ? &fast->slots[tid] : NULL;
        if (!slot || slot->met != thread + 1)
            continue;
        struct tv_mt_thread_times *times = &fast->thread_times[thread - file->first_thread];
        times->last_wall = cpu_alone ? 0 : slot->last_wall;
        times->last_cpu = cpu_alone ? slot->last_wall : slot->last_cpu;
    }
    tv_free(fast->slots);
}

/* A decoded record; with a single clock `wall` is its time, whichever clock it is. */
struct mt_fast_record {
    uint32_t tid, word, frame, wall, cpu;
};

/* Handle the first record of a thread in this chunk. */
static bool mt_fast_meet_thread(struct tv_mt_fast *fast, struct tv_mt_slot *slot,
                                const struct mt_fast_record *taken)
{
    const struct tv_mt_file *file = fast->file;
    uint32_t thread = tv_map_find(&file->ids.threads, taken->tid);
    if (thread == TV_NONE)
        return false;
    bool cpu_alone = file->clocks == TV_CLOCK_CPU;
    slot->met = thread + 1;
    fast->thread_times[thread - file->first_thread] = (struct tv_mt_thread_times){
        .seen = true,
        .has_before = fast->has_before,
        .before = fast->before,
        .first_wall = cpu_alone ? 0 : taken->wall,
        .first_cpu = cpu_alone ? taken->wall : taken->cpu,
    };
    return true;
}

/* Correct a step back in time. Return false when it may be a wrap. */
static bool mt_fast_step_back(struct tv_mt_fast *fast, const struct tv_mt_slot *slot,
                              struct mt_fast_record *taken, uint64_t offset)
{
    bool may_wrap =
        (slot->last_wall > taken->wall && slot->last_wall - taken->wall > TV_MT_WRAP_SLACK) ||
        (slot->last_cpu > taken->cpu && slot->last_cpu - taken->cpu > TV_MT_WRAP_SLACK);
    if (may_wrap && fast->file->wraps == TV_MT_WRAPS_UNKNOWN)
        return false;
    tv_diagnostics_add(fast->diagnostics, TV_DIAGNOSTIC_TIME_BACKWARDS, offset);
    if (taken->wall < slot->last_wall)
        taken->wall = slot->last_wall;
    if (taken->cpu < slot->last_cpu)
        taken->cpu = slot->last_cpu;
    return true;
}

/* Check an unusual record. `previous` is the event before it in this call, or NULL. */
static enum tv_mt_stop mt_fast_take_rare(struct tv_mt_fast *fast, struct mt_fast_record *taken,
                                         const struct tv_event *previous, uint64_t offset)
{
    if (tv_mt_word_action(taken->word) == TV_MT_ACTION_UNDEFINED)
        return TV_MT_SKIP;
    if (taken->tid >= fast->slot_count || taken->frame == TV_NONE)
        return TV_MT_STOP_UNLISTED;
    if (previous) {
        fast->has_before = true;
        fast->before = previous->wall;
    }
    struct tv_mt_slot *slot = &fast->slots[taken->tid];
    if (slot->met == 0 && !mt_fast_meet_thread(fast, slot, taken))
        return TV_MT_STOP_UNLISTED;
    if ((taken->wall < slot->last_wall || taken->cpu < slot->last_cpu) &&
        !mt_fast_step_back(fast, slot, taken, offset))
        return TV_MT_STOP_WRAPS;
    return TV_MT_GO_ON;
}

/* Constants of the loop. */
struct mt_fast_loop {
    struct tv_mt_fast *fast;
    uint64_t wall_mask; /* all ones when the only clock is the wall clock */
    uint64_t offset;
};

/* Make the event of a record, and remember its times as the last ones of the thread. */
TV_INLINE void mt_fast_put_event(struct tv_event *event, struct tv_mt_slot *slot,
                                 const struct mt_fast_record *taken, uint64_t wall_mask,
                                 unsigned version)
{
    slot->last_wall = taken->wall;
    slot->last_cpu = taken->cpu;
    *event = (struct tv_event){
        .wall = version == TV_MT_V3 ? taken->wall : (int64_t)(taken->wall & wall_mask),
        .cpu = version == TV_MT_V3 ? taken->cpu : (int64_t)(taken->wall & ~wall_mask),
        .thread = slot->met - 1,
        .action = taken->word & TV_MT_ACTION_MASK,
        .frame = taken->frame & TV_ANY_FRAME,
    };
}

/* Read a record. `version` and `dense` are constants. */
TV_INLINE struct mt_fast_record mt_fast_decode(const struct tv_mt_frames *frames, const uint8_t *at,
                                               unsigned version, bool dense)
{
    struct mt_fast_record taken = {.tid = version == TV_MT_V1 ? at[0] : tv_le_get_u16(at)};
    at += version == TV_MT_V1 ? 1 : 2;
    taken.word = tv_le_get_u32(at);
    taken.frame =
        dense ? mt_frames_find_dense(frames, taken.word) : mt_frames_find_slot(frames, taken.word);
    taken.wall = tv_le_get_u32(at + (version == TV_MT_V3 ? 8 : 4));
    taken.cpu = version == TV_MT_V3 ? tv_le_get_u32(at + 4) : 0;
    return taken;
}

/* Return whether a record needs more than the loop does. */
TV_INLINE bool mt_fast_is_rare(const struct tv_mt_slot *slot, const struct mt_fast_record *taken)
{
    return slot->met == 0 || taken->frame == TV_NONE ||
           tv_mt_word_action(taken->word) == TV_MT_ACTION_UNDEFINED ||
           taken->wall < slot->last_wall || taken->cpu < slot->last_cpu;
}

/* Take an unusual record. It is decoded again, because a pointer to the loop's copy would keep
 * that out of registers. */
TV_NOINLINE static bool take_slowly(const struct mt_fast_loop *loop, const uint8_t *at,
                                    struct tv_event *event, size_t i)
{
    struct tv_mt_fast *fast = loop->fast;
    uint64_t offset = loop->offset + i * fast->file->record_size;
    unsigned version = fast->file->version;
    struct mt_fast_record taken =
        mt_fast_decode(fast->frames, at, version, fast->frames->dense != NULL);
    fast->stop = mt_fast_take_rare(fast, &taken, i > 0 ? event - 1 : NULL, offset);
    if (fast->stop != TV_MT_GO_ON)
        return false;
    mt_fast_put_event(event, &fast->slots[taken.tid], &taken, loop->wall_mask, version);
    return true;
}

/* The loop. `version` and `dense` are constants at every call, so each call becomes its own
 * loop. */
TV_INLINE size_t mt_fast_take_all(const struct mt_fast_loop *loop, const uint8_t *at, size_t count,
                                  struct tv_event *events, unsigned version, bool dense)
{
    const struct tv_mt_frames frames = *loop->fast->frames;
    const uint32_t size = loop->fast->file->record_size, slot_count = loop->fast->slot_count;
    const uint64_t wall_mask = loop->wall_mask;
    struct tv_mt_slot *const slots = loop->fast->slots;
    uint64_t unrolls = 0;
    size_t i = 0;
    for (; i < count; i++, at += size) {
        const struct mt_fast_record taken = mt_fast_decode(&frames, at, version, dense);
        if (TV_LIKELY(taken.tid < slot_count && !mt_fast_is_rare(&slots[taken.tid], &taken)))
            mt_fast_put_event(&events[i], &slots[taken.tid], &taken, wall_mask, version);
        else if (!take_slowly(loop, at, &events[i], i))
            break;
        unrolls += taken.word >> 1 & 1;
    }
    loop->fast->unrolls += unrolls;
    return i;
}

#define TAKE(version, dense)                                                                       \
    static size_t mt_fast_take_##version##_##dense(                                                \
        const struct mt_fast_loop *loop, const uint8_t *at, size_t count, struct tv_event *events) \
    {                                                                                              \
        return mt_fast_take_all(loop, at, count, events, version, dense);                          \
    }
TAKE(1, 0)
TAKE(1, 1)
TAKE(2, 0)
TAKE(2, 1)
TAKE(3, 0)
TAKE(3, 1)

size_t tv_mt_fast_take(struct tv_mt_fast *fast, const uint8_t *at, uint64_t offset, size_t count,
                       struct tv_event *events)
{
    assert(fast->file->version >= TV_MT_V1 && fast->file->version <= TV_MT_V3);
    static size_t (*const takes[4][2])(const struct mt_fast_loop *, const uint8_t *, size_t,
                                       struct tv_event *) = {
        [TV_MT_V1] = {mt_fast_take_1_0, mt_fast_take_1_1},
        [TV_MT_V2] = {mt_fast_take_2_0, mt_fast_take_2_1},
        [TV_MT_V3] = {mt_fast_take_3_0, mt_fast_take_3_1},
    };
    const struct mt_fast_loop loop = {
        .fast = fast,
        .wall_mask = fast->file->clocks & TV_CLOCK_WALL ? UINT64_MAX : 0,
        .offset = offset,
    };
    fast->stop = TV_MT_GO_ON;
    size_t got = takes[fast->file->version][fast->frames->dense != NULL](&loop, at, count, events);
    if (got > 0) {
        fast->has_before = true;
        fast->before = events[got - 1].wall;
    }
    return got;
}
