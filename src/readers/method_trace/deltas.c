/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast way for entries of format V2 (variant B).
 *
 * A number ends with the first byte whose upper bit is clear. Lengths are as good as random, so a
 * loop over bytes mispredicts about once per record. This code looks at eight bytes together
 * instead: the upper bits show where numbers end, and the groups of seven bits are joined in pairs.
 *
 *     bytes     ac 02  05  90 01  ..          word 300, first time 5, second time 144
 *     ends      .. 80  80  .. 80  ..          upper bits that are clear
 *               '-1-'  2   '-3-'              the first, second and third lowest set bit
 *
 *     join      7+7 -> 14,  14+14 -> 28,  28+28 -> 56 bits: three steps for all lengths
 *
 * One step of a record without a branch: masks cut the numbers out.  Records that are longer than
 * eight bytes are read number by number, and those with a number of more than eight bytes by the
 * general functions.
 *
 * Anything unusual (an id that is not listed, a time that goes back, an undefined action) ends
 * the attempt before that record.  The file is then surveyed and read again (deliver.c): nothing is
 * repaired here, where every record would pay for it.
 */
#include "readers/method_trace/deliver.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/source.h"
#include "readers/method_trace/records.h"

_Static_assert(TV_WINDOW_SLACK >= TV_MT_LONGEST_DELTAS + 8, "records are read in words");

/* ---- Numbers ---- */

/* Return the upper bits of the bytes that end a number. */
TV_INLINE uint64_t mt_deltas_find_ends(uint64_t bytes)
{
    return ~bytes & UINT64_C(0x8080808080808080);
}

/* Return a mask of all bits up to the lowest set bit. */
TV_INLINE uint64_t mt_deltas_bits_up_to(uint64_t ends)
{
    return ends ^ (ends - 1);
}

/* Return the number of bits up to the lowest set bit. */
TV_INLINE unsigned mt_deltas_count_bits(uint64_t ends)
{
    return (unsigned)__builtin_ctzll(ends) + 1;
}

/* Join the groups of seven bits, the lowest first, to one number. */
TV_INLINE uint64_t mt_deltas_join_groups(uint64_t x)
{
    x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Extend the sign of a number that has `bits` bits in the file. */
TV_INLINE uint64_t mt_deltas_sign_extend(uint64_t number, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - bits / 8 - 1);
    return (number ^ sign) - sign;
}

/* Deltas of a record. */
struct mt_delta_step {
    uint64_t word, first, second;
};

/* Decode a record of at most eight bytes. Return its length; 0 when it is longer. */
TV_INLINE size_t mt_deltas_take_short(const uint8_t *at, struct mt_delta_step *step, bool both)
{
    uint64_t bytes = tv_le_get_u64(at), ends = mt_deltas_find_ends(bytes);
    uint64_t behind = ends & (ends - 1);
    uint64_t last = both ? behind & (behind - 1) : behind;
    if (!last)
        return 0;
    unsigned start = mt_deltas_count_bits(ends);
    step->word =
        mt_deltas_sign_extend(mt_deltas_join_groups(bytes & mt_deltas_bits_up_to(ends)), start);
    step->first = mt_deltas_join_groups((bytes & mt_deltas_bits_up_to(behind)) >> start);
    step->second = both ? mt_deltas_join_groups((bytes & mt_deltas_bits_up_to(last)) >>
                                                mt_deltas_count_bits(behind))
                        : 0;
    return mt_deltas_count_bits(last) / 8;
}

/* Decode a number of at most eight bytes. Return its length in bits; 0 when it is longer. */
TV_INLINE unsigned mt_deltas_take_number(const uint8_t *at, uint64_t *number)
{
    uint64_t bytes = tv_le_get_u64(at), ends = mt_deltas_find_ends(bytes);
    if (!ends)
        return 0;
    *number = mt_deltas_join_groups(bytes & mt_deltas_bits_up_to(ends));
    return mt_deltas_count_bits(ends);
}

/* Decode a record of any length. Return its length; 0 when the bytes hold none. */
static TV_NOINLINE size_t mt_deltas_take_long(struct tv_bytes bytes, struct mt_delta_step *step,
                                              bool both)
{
    struct tv_cursor cursor = tv_cursor_over(bytes);
    int64_t word;
    step->second = 0;
    bool good = tv_cursor_take_sleb(&cursor, &word) && tv_cursor_take_uleb(&cursor, &step->first) &&
                (!both || tv_cursor_take_uleb(&cursor, &step->second));
    step->word = good ? (uint64_t)word : 0;
    return good ? tv_cursor_position(&cursor) : 0;
}

/* Decode a record by the shortest way that fits. Return its length; 0: the bytes hold none. */
TV_INLINE size_t mt_deltas_take_record(const uint8_t *at, const uint8_t *end,
                                       struct mt_delta_step *step, bool both)
{
    size_t size = mt_deltas_take_short(at, step, both);
    if (TV_LIKELY(size > 0))
        return size;
    unsigned word = mt_deltas_take_number(at, &step->word);
    unsigned first = word ? mt_deltas_take_number(at + word / 8, &step->first) : 0;
    unsigned second =
        first && both ? mt_deltas_take_number(at + (word + first) / 8, &step->second) : 0;
    if (TV_UNLIKELY(!first || (both && !second)))
        return mt_deltas_take_long((struct tv_bytes){at, (size_t)(end - at)}, step, both);
    step->word = mt_deltas_sign_extend(step->word, word);
    step->second = both ? step->second : 0;
    return (word + first + second) / 8;
}

/* ---- Records ---- */

void tv_mt_deltas_init(struct tv_mt_deltas *deltas, const struct tv_mt_file *file,
                       struct tv_mt_thread_times *thread_times)
{
    assert(file->layout == TV_MT_DELTA_B);
    *deltas = (struct tv_mt_deltas){.file = file, .thread_times = thread_times};
}

void tv_mt_deltas_seek(struct tv_mt_deltas *deltas, size_t unit)
{
    assert(unit < deltas->file->unit_count);
    const struct tv_mt_file *file = deltas->file;
    uint32_t base = file->units[unit].base;
    uint32_t thread = tv_map_find(&file->ids.threads, file->units[unit].tid);
    deltas->last = base == TV_NONE ? (struct tv_mt_delta_base){0} : file->delta.bases[base];
    if (thread == TV_NONE || (!file->scanned && !file->head->threads[thread].listed)) {
        deltas->stop = TV_MT_STOP_UNLISTED;
        return;
    }
    deltas->thread = thread;
    deltas->times = &deltas->thread_times[thread - file->first_thread];
}

/* Handle the first record of a thread in the chunk. */
static void mt_deltas_meet_thread(struct tv_mt_deltas *deltas, const struct tv_event *event)
{
    *deltas->times = (struct tv_mt_thread_times){
        .seen = true,
        .first_wall = event->wall,
        .first_cpu = event->cpu,
    };
}

/* Buffers for the events of a call. */
struct mt_deltas_output {
    struct tv_event *events;
    uint32_t *distances;
    size_t count;
};

/* The loop. `both` is a constant at every call; when false, the first time is that of the only
 * clock. */
TV_INLINE size_t mt_deltas_take_all(struct tv_mt_deltas *deltas, struct tv_mt_deltas_left *left,
                                    const struct mt_deltas_output *room, bool both)
{
    const struct tv_map *methods = &deltas->file->ids.methods;
    const uint64_t wall_mask = deltas->file->clocks & TV_CLOCK_WALL ? UINT64_MAX : 0;
    const uint64_t limit = (uint64_t)TV_MT_TIME_LIMIT;
    const uint32_t thread = deltas->thread;
    const uint8_t *const start = left->bytes.data, *const end = start + left->bytes.length;
    const uint8_t *const stop = left->all ? end : end - (TV_MT_LONGEST_DELTAS - 1);
    const uint8_t *at = start;
    struct mt_delta_step sums = {deltas->last.word, deltas->last.wall, deltas->last.cpu};
    uint64_t first = (uint64_t)deltas->times->last_wall, second = (uint64_t)deltas->times->last_cpu;
    uint64_t unrolls = 0;
    size_t i = 0;
    if (!both && !wall_mask) {
        sums.first = deltas->last.cpu;
        first = second;
    }
    for (; i < room->count && at < stop; i++) {
        struct mt_delta_step step;
        size_t size = mt_deltas_take_record(at, end, &step, both);
        sums.word += step.word;
        sums.first += step.first;
        sums.second += step.second;
        uint32_t frame = tv_map_find(methods, sums.word & ~(uint64_t)TV_MT_ACTION_MASK);
        bool odd = (size == 0) | (size > (size_t)(end - at)) | (sums.first < first) |
                   (sums.first > limit) |
                   ((sums.word & TV_MT_ACTION_MASK) == TV_MT_ACTION_UNDEFINED);
        if (both)
            odd |= (sums.second < second) | (sums.second > limit);
        if (TV_UNLIKELY(odd | (frame == TV_NONE))) {
            deltas->stop = odd ? TV_MT_STOP_ODD : TV_MT_STOP_UNLISTED;
            break;
        }
        first = sums.first;
        second = sums.second;
        room->distances[i] = (uint32_t)(at - start);
        room->events[i] = (struct tv_event){
            .wall = (int64_t)(both ? first : first & wall_mask),
            .cpu = (int64_t)(both ? second : first & ~wall_mask),
            .thread = thread,
            .action = (uint32_t)sums.word & TV_MT_ACTION_MASK,
            .frame = frame & TV_ANY_FRAME,
        };
        unrolls += sums.word >> 1 & 1;
        at += size;
    }
    bool cpu_alone = !both && !wall_mask;
    deltas->last = (struct tv_mt_delta_base){sums.word, cpu_alone ? deltas->last.wall : sums.first,
                                             cpu_alone ? sums.first : sums.second};
    deltas->unrolls += unrolls;
    left->bytes = (struct tv_bytes){at, (size_t)(end - at)};
    return i;
}

size_t tv_mt_deltas_take(struct tv_mt_deltas *deltas, struct tv_mt_deltas_left *left, size_t count,
                         struct tv_event *events, uint32_t *distances)
{
    const struct mt_deltas_output room = {events, distances, count};
    bool both = deltas->file->clocks == (TV_CLOCK_WALL | TV_CLOCK_CPU);
    size_t got = both ? mt_deltas_take_all(deltas, left, &room, true)
                      : mt_deltas_take_all(deltas, left, &room, false);
    if (got == 0)
        return 0;
    if (!deltas->times->seen)
        mt_deltas_meet_thread(deltas, &events[0]);
    deltas->times->last_wall = events[got - 1].wall;
    deltas->times->last_cpu = events[got - 1].cpu;
    return got;
}
