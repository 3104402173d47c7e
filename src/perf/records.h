/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - one record of the kernel's perf events, checked and taken apart.
 *
 * The kernel's ABI (linux/perf_event.h) lays a record out by the sample_type of its event; all
 * events of this room have the same one, TV_PERF_SAMPLE_TYPE, and sample_id_all, so that every
 * record says whose it is, when and on which processor.
 */
#ifndef TV_PERF_RECORDS_H
#define TV_PERF_RECORDS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TV_PERF_SAMPLE_TYPE                                                                        \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |                \
     PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN)

#define TV_PERF_BUILD_ID 20u

/* The registers in samples with a copied stack: all general ones of a thread. */
#if defined(__x86_64__)
#define TV_PERF_REGISTERS UINT64_C(0xff01ff)
#define TV_PERF_REGISTER_COUNT 17u
#elif defined(__aarch64__)
#define TV_PERF_REGISTERS UINT64_C(0x1ffffffff)
#define TV_PERF_REGISTER_COUNT 33u
#else
#define TV_PERF_REGISTERS UINT64_C(0)
#define TV_PERF_REGISTER_COUNT 0u
#endif

/* Addresses of a callchain from here on are no addresses: they say what follows. */
#define TV_PERF_FIRST_CONTEXT ((uint64_t)PERF_CONTEXT_MAX)

/* A stretch of a process's memory that it may execute. */
struct tv_perf_mapping {
    uint64_t start, length;
    uint64_t offset; /* in the file */
    const char *path;
    uint8_t build_id[TV_PERF_BUILD_ID];
    uint8_t build_id_size; /* 0: unknown */
    bool executable;
};

struct tv_perf_record {
    uint32_t type; /* PERF_RECORD_... */
    uint32_t misc;
    uint32_t pid, tid;
    uint64_t time_ns;
    uint32_t cpu;
    uint64_t event; /* the id of the event that made it */
    union {
        struct {
            const uint8_t *addresses; /* 64 bits each, unaligned; innermost first */
            uint32_t depth;
            /* A copied stack; NULL without one, or for a thread that is no 64-bit one: */
            const uint8_t *registers; /* 64 bits each, those of TV_PERF_REGISTERS */
            const uint8_t *stack;     /* from the stack pointer upwards */
            uint32_t stack_length;
        } sample;
        struct tv_perf_mapping mapping;
        struct {
            uint32_t parent_pid, parent_tid;
        } fork;
        const char *name; /* of PERF_RECORD_COMM */
        uint64_t lost;    /* records */
    };
};

/* False: it is none of these types, or shorter than it has to be.  Texts and addresses are those
 * of `bytes`. */
bool tv_perf_record_read(const uint8_t *bytes, size_t length, struct tv_perf_record *record);

/* The address at that place of a sample. */
uint64_t tv_perf_record_address(const struct tv_perf_record *record, uint32_t place);

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
typedef void tv_perf_record_sink(void *context, const struct tv_perf_record *record);

/* Hand over the records up to that time, in order, and forget them. */
void tv_perf_queue_flush(struct tv_perf_queue *queue, uint64_t until_ns, tv_perf_record_sink *take,
                         void *context);
void tv_perf_queue_release(struct tv_perf_queue *queue);

#endif
