/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c - stores the spans of a chunk in packed blocks, one list per thread, and reads them
 * back.
 *
 * Millions of spans wait in memory until their thread is built, so they are packed: 20 bytes
 * instead of 32, with CPU times 28 instead of 48.  Times, offsets and lengths are 32-bit
 * differences to bases, and a bases record stands in front of the first span that they do not fit:
 *
 *     block   | bases | cpu base | span | span | span | bases | span | ...
 *
 * A bases record has the size of a span and is told apart by its flags.  `length` of the bases
 * holds for one span only, because long slices are rare.  Blocks are all packed or all unpacked,
 * and all with or without CPU times; when one of these changes, a new block begins.  Spans whose
 * bases change after every two or three are cheaper unpacked (FEWEST).
 */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/assembly/assembly_internal.h"

/* Blocks double in size, because most threads have few spans, up to 1 MiB.  With smaller ones pages
 * would return to the system too often, which interrupts every processor that runs the program. */
#define FIRST_BLOCK 16u
#define LARGEST_SIZE ((size_t)1 << 20)

/* With fewer spans between two changes of the bases, packing saves nothing. */
#define FEWEST 3u

_Static_assert(sizeof(struct tv_packed_span) == 20, "no padding");

/* Return the size of a block in bytes, with its head. */
static size_t span_block_size(const struct tv_span_block *block)
{
    return sizeof *block + block->capacity * tv_pack_size(block->packed, block->timed);
}

/* Large blocks are whole pages, which return to the system while rows are built. */
void tv_span_block_free(struct tv_span_block *block)
{
    tv_pages_free(block, span_block_size(block));
}

struct tv_gather *tv_gather_new(void)
{
    return tv_alloc(1, sizeof(struct tv_gather));
}

static void span_blocks_free(struct tv_span_block *block)
{
    while (block) {
        struct tv_span_block *next = block->next;
        tv_span_block_free(block);
        block = next;
    }
}

void tv_gather_free(struct tv_gather *gather)
{
    if (!gather)
        return;
    for (size_t i = 0; i < gather->thread_count; i++)
        span_blocks_free(gather->threads[i].first);
    tv_free(gather->threads);
    tv_free(gather);
}

/* ---- Packing ---- */

/* A span with its CPU times; a begin or an end has `start` only. */
struct gathered_span {
    const struct tv_span *span;
    struct tv_cpu_times cpu;
    bool timed; /* it is whole, and at least one of them is known */
};

TV_INLINE bool span_is_whole(const struct tv_span *span)
{
    return (span->flags & TV_SPAN_KIND) == TV_SPAN_WHOLE;
}

/* Return whether number - base fits 32 bits and is not UINT32_MAX. */
TV_INLINE bool pack_fits(int64_t number, int64_t base)
{
    return (uint64_t)number - (uint64_t)base < UINT32_MAX;
}

/* Like pack_fits, for a time that may be missing, which UINT32_MAX stands for. */
TV_INLINE bool pack_fits_or_none(int64_t time, int64_t base)
{
    return time == TV_NO_TIME || pack_fits(time, base);
}

/* Return whether a span can be packed with these bases. */
TV_INLINE bool pack_bases_fit(const struct tv_span_bases *bases,
                              const struct gathered_span *gathered)
{
    const struct tv_span *span = gathered->span;
    return pack_fits(span->time, bases->time) &&
           pack_fits((int64_t)span->offset, (int64_t)bases->offset) &&
           (!span_is_whole(span) || pack_fits(span->length, (int64_t)bases->length)) &&
           pack_fits_or_none(gathered->cpu.start, bases->cpu) &&
           pack_fits_or_none(gathered->cpu.length, 0);
}

/* Return a base below the time, so that spans that are a little earlier fit too. */
static int64_t pack_base_before(int64_t time)
{
    return time < INT64_MIN + TV_PACK_EARLIER ? INT64_MIN : time - TV_PACK_EARLIER;
}

/* Return the best bases for a span. */
static struct tv_span_bases pack_bases_for(const struct gathered_span *gathered)
{
    const struct tv_span *span = gathered->span;
    bool longer =
        span_is_whole(span) && span->length >= UINT32_MAX && span->length <= TV_PACK_LONGEST;
    return (struct tv_span_bases){
        .time = pack_base_before(span->time),
        .cpu = gathered->cpu.start == TV_NO_TIME ? 0 : pack_base_before(gathered->cpu.start),
        .offset = span->offset,
        .length = longer ? (uint64_t)span->length >> 32 << 32 : 0,
    };
}

/* Return where the next record goes; the caller made sure that there is room. */
TV_INLINE uint8_t *pack_next_record(struct tv_span_block *block)
{
    assert(block->count < block->capacity);
    return block->bytes + block->count++ * tv_pack_size(block->packed, block->timed);
}

/* Write a bases record, and one for the CPU clock when it is in use. */
static void pack_write_bases(struct tv_span_block *block, const struct tv_span_bases *bases)
{
    struct tv_packed_bases packed = {
        .time = bases->time,
        .offset = bases->offset & TV_OFFSET_MASK,
        .length = bases->length >> 32 & 0xffffff,
        .flags = TV_PACK_BASES,
    };
    struct tv_packed_cpu_base packed_cpu = {.cpu = bases->cpu, .flags = TV_PACK_CPU_BASE};
    memcpy(pack_next_record(block), &packed, sizeof(struct tv_packed_span));
    if (bases->cpu != 0)
        memcpy(pack_next_record(block), &packed_cpu, sizeof(struct tv_packed_span));
    assert(block->packed);
    block->bases = *bases;
    block->since = 0;
}

/* Return the distance of a time from its base; UINT32_MAX: the time is missing. */
TV_INLINE uint32_t pack_offset(int64_t time, int64_t base)
{
    return time == TV_NO_TIME ? UINT32_MAX : (uint32_t)((uint64_t)time - (uint64_t)base);
}

TV_INLINE void pack_write_span(struct tv_span_block *block, const struct gathered_span *gathered)
{
    const struct tv_span *span = gathered->span;
    uint8_t *at = pack_next_record(block);
    struct tv_packed_span packed = {
        .time = pack_offset(span->time, block->bases.time),
        .length = span_is_whole(span) ? (uint32_t)span->length
                                      : pack_offset(gathered->cpu.start, block->bases.cpu),
        .offset = (uint32_t)(span->offset - block->bases.offset),
        .frame = span->frame,
        .colour = (uint8_t)span->colour,
        .flags = (uint8_t)span->flags,
    };
    memcpy(at, &packed, sizeof packed);
    block->bases.length = 0;
    block->since++;
    if (!block->timed)
        return;
    struct tv_packed_cpu cpu = {UINT32_MAX, UINT32_MAX};
    if (span_is_whole(span))
        cpu = (struct tv_packed_cpu){pack_offset(gathered->cpu.start, block->bases.cpu),
                                     pack_offset(gathered->cpu.length, 0)};
    memcpy(at + sizeof packed, &cpu, sizeof cpu);
}

static void pack_write_unpacked(struct tv_span_block *block, const struct gathered_span *gathered)
{
    uint8_t *at = pack_next_record(block);
    struct tv_cpu_times cpu = {TV_NO_TIME, TV_NO_TIME};
    if (span_is_whole(gathered->span))
        cpu = gathered->cpu; /* the `length` of other spans is their CPU time */
    memcpy(at, gathered->span, sizeof *gathered->span);
    if (block->timed)
        memcpy(at + sizeof *gathered->span, &cpu, sizeof cpu);
}

/* Append a block to the list. */
static struct tv_span_block *span_list_add_block(struct tv_span_list *list, bool packed, bool timed)
{
    uint32_t capacity = list->last ? list->last->capacity * 2 : FIRST_BLOCK;
    size_t most = (LARGEST_SIZE - sizeof(struct tv_span_block)) / tv_pack_size(packed, timed);
    struct tv_span_block made = {
        .capacity = capacity > most ? (uint32_t)most : capacity, .packed = packed, .timed = timed};
    struct tv_span_block *block = tv_pages_alloc(span_block_size(&made));
    memcpy(block, &made, sizeof made);
    if (list->last)
        list->last->next = block;
    else
        list->first = block;
    list->last = block;
    return block;
}

/* Records that a span takes at most: two for the bases, and its own. */
#define MAX_RECORDS 3

/* Add a span for which the last block has no room, or the wrong bases. */
static TV_NOINLINE void span_list_add_slow(struct tv_span_list *list,
                                           const struct gathered_span *gathered)
{
    struct tv_span_block *block = list->last;
    struct tv_span_bases bases = pack_bases_for(gathered);
    if (block && gathered->cpu.start == TV_NO_TIME)
        bases.cpu = block->bases.cpu; /* for the spans that follow */
    bool packed = pack_bases_fit(&bases, gathered),
         full = !block || block->capacity - block->count < MAX_RECORDS;
    bool timed = gathered->timed || (block && block->timed);
    if (packed && !full && block->packed && block->timed == timed && block->since < FEWEST)
        packed = false;
    if (full || block->packed != packed || block->timed != timed)
        block = span_list_add_block(list, packed, timed);
    if (packed) {
        pack_write_bases(block, &bases);
        pack_write_span(block, gathered);
    } else {
        pack_write_unpacked(block, gathered);
    }
}

TV_INLINE void span_list_add(struct tv_span_list *list, const struct gathered_span *gathered)
{
    struct tv_span_block *block = list->last;
    if (TV_UNLIKELY(!block || block->count == block->capacity ||
                    (gathered->timed && !block->timed)))
        span_list_add_slow(list, gathered);
    else if (TV_UNLIKELY(!block->packed))
        pack_write_unpacked(block, gathered);
    else if (TV_LIKELY(pack_bases_fit(&block->bases, gathered)))
        pack_write_span(block, gathered);
    else
        span_list_add_slow(list, gathered);
}

/* ---- Unpacking ---- */

/* Read a bases record. The CPU base starts again at 0; a record of its own follows when it is not.
 */
static struct tv_span_bases unpack_read_bases(const uint8_t *at)
{
    struct tv_packed_bases packed = {.time = 0};
    memcpy(&packed, at, sizeof(struct tv_packed_span));
    return (struct tv_span_bases){
        .time = packed.time, .offset = packed.offset, .length = (uint64_t)packed.length << 32};
}

/* Return the time at a distance from its base. */
TV_INLINE int64_t unpack_offset(uint32_t packed, int64_t base)
{
    return packed == UINT32_MAX ? TV_NO_TIME : base + packed;
}

/* Return false when the record sets the bases. */
TV_INLINE bool unpack_read_span(struct tv_span_reader *reader, const uint8_t *at,
                                struct tv_span *span, struct tv_cpu_times *cpu)
{
    struct tv_packed_span packed;
    struct tv_packed_cpu packed_cpu = {UINT32_MAX, UINT32_MAX};
    memcpy(&packed, at, sizeof packed);
    if (TV_UNLIKELY(packed.flags >= TV_PACK_CPU_BASE)) {
        if (packed.flags == TV_PACK_BASES)
            reader->bases = unpack_read_bases(at);
        else
            memcpy(&reader->bases.cpu, at, sizeof reader->bases.cpu);
        return false;
    }
    if (reader->block->timed)
        memcpy(&packed_cpu, at + sizeof packed, sizeof packed_cpu);
    bool whole = (packed.flags & TV_SPAN_KIND) == TV_SPAN_WHOLE;
    *span = (struct tv_span){
        .time = reader->bases.time + packed.time,
        .length = whole ? (int64_t)(reader->bases.length | packed.length)
                        : unpack_offset(packed.length, reader->bases.cpu),
        .offset = (reader->bases.offset + packed.offset) & TV_OFFSET_MASK,
        .colour = packed.colour,
        .flags = packed.flags,
        .frame = packed.frame,
    };
    reader->bases.length = 0;
    *cpu = (struct tv_cpu_times){unpack_offset(packed_cpu.start, reader->bases.cpu),
                                 unpack_offset(packed_cpu.length, 0)};
    return true;
}

static void unpack_read_unpacked(const struct tv_span_block *block, const uint8_t *at,
                                 struct tv_span *span, struct tv_cpu_times *cpu)
{
    memcpy(span, at, sizeof *span);
    *cpu = (struct tv_cpu_times){TV_NO_TIME, TV_NO_TIME};
    if (block->timed)
        memcpy(cpu, at + sizeof *span, sizeof *cpu);
}

bool tv_span_read(struct tv_span_reader *reader, struct tv_span *span, struct tv_cpu_times *cpu)
{
    const struct tv_span_block *block = reader->block;
    size_t size = tv_pack_size(block->packed, block->timed);
    for (bool found = false; !found; reader->next++) {
        const uint8_t *at = block->bytes + reader->next * size;
        if (reader->next == block->count)
            return false;
        found = !block->packed || unpack_read_span(reader, at, span, cpu);
        if (!block->packed)
            unpack_read_unpacked(block, at, span, cpu);
    }
    span->side = TV_NONE;
    return true;
}

/* ---- Gathering ---- */

/* Make room for a thread number that is new in this chunk. */
static TV_NOINLINE void gather_add_threads(struct tv_gather *gather, uint32_t thread)
{
    size_t count = (size_t)thread + 1;
    gather->threads =
        tv_array_reserve(gather->threads, &gather->thread_capacity, count, sizeof *gather->threads);
    memset(gather->threads + gather->thread_count, 0,
           (count - gather->thread_count) * sizeof *gather->threads);
    gather->thread_count = count;
}

void tv_gather_span(struct tv_gather *gather, uint32_t thread, const struct tv_span *span,
                    const struct tv_cpu_times *cpu)
{
    if (TV_UNLIKELY(thread >= gather->thread_count))
        gather_add_threads(gather, thread);
    if (span->frame >= gather->frame_count && !(span->flags & TV_SPAN_NAMELESS))
        gather->frame_count = (size_t)span->frame + 1;
    struct gathered_span gathered = {span, {TV_NO_TIME, TV_NO_TIME}, false};
    if (!span_is_whole(span))
        gathered.cpu.start = span->length;
    else if (cpu)
        gathered.cpu = *cpu;
    gathered.timed = span_is_whole(span) &&
                     (gathered.cpu.start != TV_NO_TIME || gathered.cpu.length != TV_NO_TIME);
    span_list_add(&gather->threads[thread], &gathered);
    gather->threads[thread].count++;
}
