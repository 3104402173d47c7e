/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the buffer that the kernel fills with records of one processor, and records in the order
 * of their times.
 *
 *     page 0: head (the kernel's), tail (ours)   pages 1 ..: records, one behind another, that go
 *     on at the start where the end is reached; positions only grow
 *
 * Records of several processors are put in order before they are used: a mapping that one processor
 * tells of is needed for a sample of another.  A record that is older than the last but one look at
 * all buffers has been seen, so everything up to that time is in order.
 */
#ifndef TV_PERF_RING_H
#define TV_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tv_perf_ring {
    void *pages; /* the kernel's control page and the records */
    size_t size; /* of the records, a power of two */
};

/* Records that wait for their turn. */
struct tv_perf_queue {
    uint8_t *bytes;
    size_t used, capacity;
    struct tv_perf_queued *items;
    size_t count, item_capacity;
};

/* Move every record of the buffer to the queue, but what is damaged. */
void tv_perf_ring_drain(const struct tv_perf_ring *ring, struct tv_perf_queue *queue);

struct tv_perf_record;
typedef void tv_perf_take(void *context, const struct tv_perf_record *record);

/* Hand over the records up to that time, in order, and forget them. */
void tv_perf_queue_flush(struct tv_perf_queue *queue, uint64_t until_ns, tv_perf_take *take,
                         void *context);
void tv_perf_queue_release(struct tv_perf_queue *queue);

#endif
