/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - see ring.h. */
#include "perf/ring.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "perf/record.h"

struct tv_perf_queued {
    uint64_t time_ns;
    size_t at;       /* in `bytes` */
    uint32_t length; /* of the record */
};

static void perf_ring_copy(const struct tv_perf_ring *ring, uint64_t position, uint8_t *to,
                           size_t length)
{
    const uint8_t *records = (const uint8_t *)ring->pages + (size_t)sysconf(_SC_PAGESIZE);
    size_t at = (size_t)(position & (ring->size - 1)), first = ring->size - at;
    if (first > length)
        first = length;
    memcpy(to, records + at, first);
    memcpy(to + first, records, length - first);
}

/* A lost record's time may be 0: it is told of where it stands. */
static void perf_queue_add(struct tv_perf_queue *queue, size_t at, uint32_t length)
{
    struct tv_perf_record record;
    if (!tv_perf_record_read(queue->bytes + at, length, &record))
        return;
    queue->items = tv_array_reserve(queue->items, &queue->item_capacity, queue->count + 1,
                                    sizeof *queue->items);
    queue->items[queue->count++] = (struct tv_perf_queued){record.time_ns, at, length};
    queue->used = at + length;
}

void tv_perf_ring_drain(const struct tv_perf_ring *ring, struct tv_perf_queue *queue)
{
    struct perf_event_mmap_page *control = ring->pages;
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail;
    while (head - tail >= sizeof(struct perf_event_header) && head - tail <= ring->size) {
        struct perf_event_header header;
        perf_ring_copy(ring, tail, (uint8_t *)&header, sizeof header);
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

/* Order by time.  At equal times the record that was read first is the earlier one of its
 * processor. */
static int perf_queue_compare(const void *left, const void *right)
{
    const struct tv_perf_queued *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Move what is left to the start. */
static void perf_queue_compact(struct tv_perf_queue *queue, size_t taken)
{
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

void tv_perf_queue_flush(struct tv_perf_queue *queue, uint64_t until_ns, tv_perf_take *take,
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
