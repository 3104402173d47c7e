/* SPDX-License-Identifier: Apache-2.0 */
/* records.c - parses the kernel's records and sorts them by time (records.h).
 *
 * All numbers are in this machine's byte order, and records begin at multiples of 8 bytes. Each one
 * begins with struct perf_event_header: u32 type, u16 misc, u16 size. Then follow, by type:
 *
 *     SAMPLE        u64 id, u64 ip, u32 pid, u32 tid, u64 time, u32 cpu, u32 0,
 *                   u64 n, n x u64 call chain
 *                   [u64 abi, registers x u64, u64 size, stack of `size` bytes, u64 used bytes]
 *     MMAP2         u32 pid, u32 tid, u64 start, length, offset, 24 bytes of file identity,
 *                   u32 protection, u32 flags, path with NUL
 *     COMM          u32 pid, u32 tid, name with NUL
 *     FORK, EXIT    u32 pid, parent's pid, tid, parent's tid, u64 time
 *     LOST          u64 id, u64 count          LOST_SAMPLES   u64 count
 *     SWITCH        nothing; `misc` says whether the thread leaves or enters the processor
 *
 * All but SAMPLE end with sample_id: u32 pid, u32 tid, u64 time, u32 cpu, u32 0, u64 id. It has a
 * fixed size, so it is read from the end. The layout is specified in perf_event_open(2).
 *
 * A record that ends too early is dropped as a whole. The kernel writes the rings, but the pages
 * are shared memory, and a length from there is checked like one from a file. */
#include "perf/records.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* After the body of every record except samples: thread, time, processor, id. */
#define RECORD_TRAILER 32u

/* The part of a record that has not been parsed yet. */
struct perf_record_cursor {
    const uint8_t *at;
    size_t left;
    bool whole; /* false: some field lay behind the end, and all later ones read as 0 */
};

/* Copy the next bytes. If the record ends before them, it is not whole, and nothing is copied. */
static void record_cursor_copy(struct perf_record_cursor *cursor, void *value, size_t size)
{
    cursor->whole = cursor->whole && cursor->left >= size;
    if (!cursor->whole)
        return;
    memcpy(value, cursor->at, size);
    cursor->at += size;
    cursor->left -= size;
}

static uint64_t record_cursor_u64(struct perf_record_cursor *cursor)
{
    uint64_t value = 0;
    record_cursor_copy(cursor, &value, sizeof value);
    return value;
}

static uint32_t record_cursor_u32(struct perf_record_cursor *cursor)
{
    uint32_t value = 0;
    record_cursor_copy(cursor, &value, sizeof value);
    return value;
}

/* Return a text that ends with NUL. */
static const char *record_cursor_text(struct perf_record_cursor *cursor)
{
    const void *end = memchr(cursor->at, '\0', cursor->left);
    const void *text = cursor->at;
    cursor->whole = cursor->whole && end != NULL;
    return text;
}

/* Return the next bytes without copying them; NULL if the record ends before. */
static const uint8_t *record_cursor_bytes(struct perf_record_cursor *cursor, uint64_t length)
{
    const uint8_t *at = cursor->at;
    cursor->whole = cursor->whole && length <= cursor->left;
    if (!cursor->whole)
        return NULL;
    cursor->at += length;
    cursor->left -= (size_t)length;
    return at;
}

/* Read the registers and the copied stack at the end of a sample. */
static void perf_record_read_stack_copy(struct perf_record_cursor *cursor,
                                        struct tv_perf_record *record)
{
    uint64_t abi = record_cursor_u64(cursor), size = 0, length = 0;
    const uint8_t *registers = NULL, *stack = NULL;
    if (abi != PERF_SAMPLE_REGS_ABI_NONE)
        registers = record_cursor_bytes(cursor, TV_PERF_REGISTER_COUNT * sizeof(uint64_t));
    size = record_cursor_u64(cursor);
    if (size > 0) {
        stack = record_cursor_bytes(cursor, size);
        length = record_cursor_u64(cursor);
    }
    /* `length` is how much the kernel could copy; the rest of `size` is padding. A 32-bit thread
     * has other registers, which the unwinder does not know. */
    if (!cursor->whole || abi != PERF_SAMPLE_REGS_ABI_64)
        return;
    record->sample.registers = registers;
    record->sample.stack = stack;
    record->sample.stack_length = (uint32_t)(length < size ? length : size);
}

/* The order of the fields is that of TV_PERF_SAMPLE_TYPE in perf_event_open(2). */
static void perf_record_read_sample(struct perf_record_cursor *cursor,
                                    struct tv_perf_record *record)
{
    record->event = record_cursor_u64(cursor);
    (void)record_cursor_u64(cursor); /* the address, which is also the first of the chain */
    record->pid = record_cursor_u32(cursor);
    record->tid = record_cursor_u32(cursor);
    record->time_ns = record_cursor_u64(cursor);
    record->cpu = record_cursor_u32(cursor);
    (void)record_cursor_u32(cursor);
    uint64_t depth = record_cursor_u64(cursor);
    cursor->whole = cursor->whole && depth <= cursor->left / sizeof(uint64_t);
    record->sample.depth = cursor->whole ? (uint32_t)depth : 0;
    record->sample.addresses = record_cursor_bytes(cursor, record->sample.depth * sizeof(uint64_t));
    if (cursor->whole && cursor->left > 0)
        perf_record_read_stack_copy(cursor, record);
}

/* Read a MMAP2 record, with a build ID or with device and inode. */
static void perf_record_read_mapping(struct perf_record_cursor *cursor,
                                     struct tv_perf_record *record)
{
    struct tv_perf_mapping *mapping = &record->mapping;
    record->pid = record_cursor_u32(cursor);
    record->tid = record_cursor_u32(cursor);
    mapping->start = record_cursor_u64(cursor);
    mapping->length = record_cursor_u64(cursor);
    mapping->offset = record_cursor_u64(cursor);
    /* Build id: u8 size, three bytes of padding, 20 bytes. */
    if ((record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) && cursor->left >= 24) {
        mapping->build_id_size = cursor->at[0];
        memcpy(mapping->build_id, cursor->at + 4, TV_PERF_BUILD_ID);
        if (mapping->build_id_size > TV_PERF_BUILD_ID)
            mapping->build_id_size = 0;
    }
    for (size_t i = 0; i < 3; i++)
        (void)record_cursor_u64(cursor); /* the build id, or device and inode */
    mapping->executable = (record_cursor_u32(cursor) & 4) != 0; /* PROT_EXEC */
    (void)record_cursor_u32(cursor);
    mapping->path = record_cursor_text(cursor);
}

/* Read the body of a fork or an exit: the process, its parent, the thread, its parent. */
static void perf_record_read_task(struct perf_record_cursor *cursor, struct tv_perf_record *record)
{
    record->pid = record_cursor_u32(cursor);
    record->fork.parent_pid = record_cursor_u32(cursor);
    record->tid = record_cursor_u32(cursor);
    record->fork.parent_tid = record_cursor_u32(cursor);
}

static void perf_record_read_name(struct perf_record_cursor *cursor, struct tv_perf_record *record)
{
    record->pid = record_cursor_u32(cursor);
    record->tid = record_cursor_u32(cursor);
    record->name = record_cursor_text(cursor);
}

/* Read how many records the kernel could not store, because the ring was full. */
static void perf_record_read_lost(struct perf_record_cursor *cursor, struct tv_perf_record *record)
{
    if (record->type == PERF_RECORD_LOST)
        (void)record_cursor_u64(cursor); /* the event */
    record->lost = record_cursor_u64(cursor);
}

/* Read the sample_id at the end of every record except samples. */
static bool perf_record_read_trailer(const uint8_t *bytes, size_t length,
                                     struct tv_perf_record *record)
{
    struct perf_record_cursor cursor = {bytes + length - RECORD_TRAILER, RECORD_TRAILER, true};
    record->pid = record_cursor_u32(&cursor);
    record->tid = record_cursor_u32(&cursor);
    record->time_ns = record_cursor_u64(&cursor);
    record->cpu = record_cursor_u32(&cursor);
    (void)record_cursor_u32(&cursor);
    record->event = record_cursor_u64(&cursor);
    return cursor.whole;
}

/* Read the fields between header and trailer. False: a type that nothing here needs, or too short.
 */
static bool perf_record_read_body(struct perf_record_cursor *cursor, struct tv_perf_record *record)
{
    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        perf_record_read_sample(cursor, record);
        break;
    case PERF_RECORD_MMAP2:
        perf_record_read_mapping(cursor, record);
        break;
    case PERF_RECORD_COMM:
        perf_record_read_name(cursor, record);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        perf_record_read_task(cursor, record);
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        perf_record_read_lost(cursor, record);
        break;
    case PERF_RECORD_SWITCH:
        break;
    default:
        return false;
    }
    return cursor->whole;
}

bool tv_perf_record_read(const uint8_t *bytes, size_t length, struct tv_perf_record *record)
{
    struct perf_event_header header;
    if (length < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    *record = (struct tv_perf_record){.type = header.type, .misc = header.misc};
    if (header.size != length)
        return false;
    struct perf_record_cursor cursor = {bytes + sizeof header, length - sizeof header, true};
    if (header.type != PERF_RECORD_SAMPLE) {
        if (cursor.left < RECORD_TRAILER || !perf_record_read_trailer(bytes, length, record))
            return false;
        cursor.left -= RECORD_TRAILER;
    }
    return perf_record_read_body(&cursor, record);
}

uint64_t tv_perf_record_address(const struct tv_perf_record *record, uint32_t place)
{
    assert(record->type == PERF_RECORD_SAMPLE && place < record->sample.depth);
    uint64_t address;
    memcpy(&address, record->sample.addresses + (size_t)place * sizeof address, sizeof address);
    return address;
}

/* ---- Rings ---- */

/* A record of the queue. Its bytes lie at an aligned offset, since the buffer may move. */
struct tv_perf_queued {
    uint64_t time_ns;
    size_t at;       /* offset in `bytes` */
    uint32_t length; /* length of the record */
};

/* Copy bytes from a ring position, which may wrap around at the end. Positions count all bytes ever
 * written; the offset in the ring is the position modulo its size. */
static void perf_ring_copy(const struct tv_perf_ring *ring, uint64_t position, uint8_t *to,
                           size_t length)
{
    assert((ring->size & (ring->size - 1)) == 0 && length <= ring->size);
    const uint8_t *records = (const uint8_t *)ring->pages + (size_t)sysconf(_SC_PAGESIZE);
    size_t at = (size_t)(position & (ring->size - 1)), first = ring->size - at;
    if (first > length)
        first = length;
    memcpy(to, records + at, first);
    memcpy(to + first, records, length - first);
}

/* Add the record at `at` to the queue, unless it is damaged. */
static void perf_queue_add(struct tv_perf_queue *queue, size_t at, uint32_t length)
{
    assert(at >= queue->used && at % 8 == 0);
    struct tv_perf_record record;
    if (!tv_perf_record_read(queue->bytes + at, length, &record))
        return;
    queue->items = tv_array_reserve(queue->items, &queue->item_capacity, queue->count + 1,
                                    sizeof *queue->items);
    queue->items[queue->count++] = (struct tv_perf_queued){record.time_ns, at, length};
    queue->used = at + length;
}

/* data_head is read with acquire order before the records, and data_tail written with release order
 * after them, as linux/perf_event.h demands. */
void tv_perf_ring_drain(const struct tv_perf_ring *ring, struct tv_perf_queue *queue)
{
    struct perf_event_mmap_page *control = ring->pages;
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail;
    while (head - tail >= sizeof(struct perf_event_header) && head - tail <= ring->size) {
        struct perf_event_header header;
        perf_ring_copy(ring, tail, (uint8_t *)&header, sizeof header);
        /* Damaged: where the next record begins is unknown. The rest of this look is skipped. */
        if (header.size < sizeof header || header.size > head - tail)
            break;
        size_t at = (queue->used + 7) / 8 * 8;
        queue->bytes = tv_array_reserve(queue->bytes, &queue->capacity, at + header.size, 1);
        perf_ring_copy(ring, tail, queue->bytes + at, header.size);
        perf_queue_add(queue, at, header.size);
        tail += header.size;
    }
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

/* Sort by time; at equal times in reading order, which is the order on each processor. */
static int perf_queue_compare(const void *left, const void *right)
{
    const struct tv_perf_queued *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Move the remaining records to the start. */
static void perf_queue_compact(struct tv_perf_queue *queue, size_t taken)
{
    assert(taken > 0 && taken <= queue->count);
    size_t least = queue->used;
    for (size_t i = taken; i < queue->count; i++)
        least = queue->items[i].at < least ? queue->items[i].at : least;
    memmove(queue->bytes, queue->bytes + least, queue->used - least);
    queue->used -= least;
    queue->count -= taken;
    memmove(queue->items, queue->items + taken, queue->count * sizeof *queue->items);
    for (size_t i = 0; i < queue->count; i++)
        queue->items[i].at -= least;
}

/* Records are parsed a second time here, because parsed records point into the queue, which may
 * move. */
void tv_perf_queue_flush(struct tv_perf_queue *queue, uint64_t until_ns, tv_perf_record_sink *take,
                         void *context)
{
    size_t taken = 0;
    if (queue->count == 0)
        return;
    qsort(queue->items, queue->count, sizeof *queue->items, perf_queue_compare);
    for (; taken < queue->count && queue->items[taken].time_ns <= until_ns; taken++) {
        struct tv_perf_record record;
        const struct tv_perf_queued *item = &queue->items[taken];
        if (tv_perf_record_read(queue->bytes + item->at, item->length, &record))
            take(context, &record);
    }
    if (taken > 0)
        perf_queue_compact(queue, taken);
}

void tv_perf_queue_release(struct tv_perf_queue *queue)
{
    tv_free(queue->bytes);
    tv_free(queue->items);
    *queue = (struct tv_perf_queue){0};
}
