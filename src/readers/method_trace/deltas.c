/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number ends with the first byte whose upper bit is clear.  Lengths are as good as random, so
 * a loop over bytes guesses wrong about once a record.  Here eight bytes are looked at together:
 * where numbers end shows in the upper bits, and the groups of seven bits are joined in pairs.
 */
#include "readers/method_trace/deltas.h"

#include "base/bytes.h"
#include "base/source.h"
#include "readers/method_trace/records.h"

_Static_assert(TV_WINDOW_SLACK >= TV_MT_LONGEST_DELTAS + 8, "records are read in words");

/* ---- Numbers ---- */

/* The upper bits of bytes that end a number. */
TV_INLINE uint64_t find_ends(uint64_t bytes)
{
    return ~bytes & UINT64_C(0x8080808080808080);
}

/* All bits up to the lowest that is set. */
TV_INLINE uint64_t up_to(uint64_t ends)
{
    return ends ^ (ends - 1);
}

/* How many bits there are up to the lowest that is set. */
TV_INLINE unsigned bits_to(uint64_t ends)
{
    return (unsigned)__builtin_ctzll(ends) + 1;
}

/* The groups of seven bits, the lowest first, as one number. */
TV_INLINE uint64_t join(uint64_t x)
{
    x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* A number of so many bits of the file, with its sign. */
TV_INLINE uint64_t extend(uint64_t number, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - bits / 8 - 1);
    return (number ^ sign) - sign;
}

/* What a record adds. */
struct step {
    uint64_t word, first, second;
};

/* A record of eight bytes or less: its length; 0 when it is longer. */
TV_INLINE size_t take_word(const uint8_t *at, struct step *step, bool both)
{
    uint64_t bytes = tv_le_get_u64(at), ends = find_ends(bytes);
    uint64_t behind = ends & (ends - 1);
    uint64_t last = both ? behind & (behind - 1) : behind;
    if (!last)
        return 0;
    unsigned start = bits_to(ends);
    step->word = extend(join(bytes & up_to(ends)), start);
    step->first = join((bytes & up_to(behind)) >> start);
    step->second = both ? join((bytes & up_to(last)) >> bits_to(behind)) : 0;
    return bits_to(last) / 8;
}

/* A number of eight bytes or less: its length in bits; 0 when it is longer. */
TV_INLINE unsigned take_number(const uint8_t *at, uint64_t *number)
{
    uint64_t bytes = tv_le_get_u64(at), ends = find_ends(bytes);
    if (!ends)
        return 0;
    *number = join(bytes & up_to(ends));
    return bits_to(ends);
}

/* Any record that the bytes hold: its length; 0 when there is none. */
static TV_NOINLINE size_t take_any(struct tv_bytes bytes, struct step *step, bool both)
{
    struct tv_cursor cursor = tv_cursor_over(bytes);
    int64_t word;
    step->second = 0;
    bool good = tv_cursor_take_sleb(&cursor, &word) && tv_cursor_take_uleb(&cursor, &step->first) &&
                (!both || tv_cursor_take_uleb(&cursor, &step->second));
    step->word = good ? (uint64_t)word : 0;
    return good ? tv_cursor_position(&cursor) : 0;
}

TV_INLINE size_t take_step(const uint8_t *at, const uint8_t *end, struct step *step, bool both)
{
    size_t size = take_word(at, step, both);
    if (TV_LIKELY(size > 0))
        return size;
    unsigned word = take_number(at, &step->word);
    unsigned first = word ? take_number(at + word / 8, &step->first) : 0;
    unsigned second = first && both ? take_number(at + (word + first) / 8, &step->second) : 0;
    if (TV_UNLIKELY(!first || (both && !second)))
        return take_any((struct tv_bytes){at, (size_t)(end - at)}, step, both);
    step->word = extend(step->word, word);
    step->second = both ? step->second : 0;
    return (word + first + second) / 8;
}

/* ---- Records ---- */

void tv_mt_deltas_init(struct tv_mt_deltas *deltas, const struct tv_mt_file *file,
                       struct tv_mt_span *spans)
{
    *deltas = (struct tv_mt_deltas){.file = file, .spans = spans};
}

void tv_mt_deltas_seek(struct tv_mt_deltas *deltas, size_t unit)
{
    const struct tv_mt_file *file = deltas->file;
    uint32_t carry = file->units[unit].carry;
    uint32_t thread = tv_map_find(&file->threads, file->units[unit].tid);
    deltas->last = carry == TV_NONE ? (struct tv_mt_carry){0} : file->carries[carry];
    if (thread == TV_NONE || (!file->scanned && !file->head->threads[thread].listed)) {
        deltas->stop = TV_MT_STOP_UNLISTED;
        return;
    }
    deltas->thread = thread;
    deltas->span = &deltas->spans[thread - file->first_thread];
}

/* The first record of a thread in the part. */
static void meet(struct tv_mt_deltas *deltas, const struct tv_event *event)
{
    *deltas->span = (struct tv_mt_span){
        .seen = true,
        .first_wall = event->wall,
        .first_cpu = event->cpu,
    };
}

/* Where a call of `take` puts what it takes. */
struct room {
    struct tv_event *events;
    uint32_t *distances;
    size_t count;
};

/* `both` is a constant where this is called; else the first time is that of the only clock. */
TV_INLINE size_t take(struct tv_mt_deltas *deltas, struct tv_mt_deltas_left *left,
                      const struct room *room, bool both)
{
    const struct tv_map *methods = &deltas->file->methods;
    const uint64_t wall_mask = deltas->file->clocks & TV_CLOCK_WALL ? UINT64_MAX : 0;
    const uint64_t limit = (uint64_t)TV_MT_TIME_LIMIT;
    const uint32_t thread = deltas->thread;
    const uint8_t *const start = left->bytes.data, *const end = start + left->bytes.length;
    const uint8_t *const stop = left->all ? end : end - (TV_MT_LONGEST_DELTAS - 1);
    const uint8_t *at = start;
    struct step sums = {deltas->last.word, deltas->last.wall, deltas->last.cpu};
    uint64_t first = (uint64_t)deltas->span->last_wall, second = (uint64_t)deltas->span->last_cpu;
    uint64_t unrolls = 0;
    size_t i = 0;
    if (!both && !wall_mask) {
        sums.first = deltas->last.cpu;
        first = second;
    }
    for (; i < room->count && at < stop; i++) {
        struct step step;
        size_t size = take_step(at, end, &step, both);
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
    deltas->last = (struct tv_mt_carry){sums.word, cpu_alone ? deltas->last.wall : sums.first,
                                        cpu_alone ? sums.first : sums.second};
    deltas->unrolls += unrolls;
    left->bytes = (struct tv_bytes){at, (size_t)(end - at)};
    return i;
}

size_t tv_mt_deltas_take(struct tv_mt_deltas *deltas, struct tv_mt_deltas_left *left, size_t count,
                         struct tv_event *events, uint32_t *distances)
{
    const struct room room = {events, distances, count};
    bool both = deltas->file->clocks == (TV_CLOCK_WALL | TV_CLOCK_CPU);
    size_t got = both ? take(deltas, left, &room, true) : take(deltas, left, &room, false);
    if (got == 0)
        return 0;
    if (!deltas->span->seen)
        meet(deltas, &events[0]);
    deltas->span->last_wall = events[got - 1].wall;
    deltas->span->last_cpu = events[got - 1].cpu;
    return got;
}
