/* SPDX-License-Identifier: Apache-2.0 */
/* records.h - the kernel's perf events: parsing one record, and reading the ring buffers in time
 * order.
 *
 * The ABI (linux/perf_event.h) lays out a record by the sample_type of its event. All events here
 * have the same type, TV_PERF_SAMPLE_TYPE, and sample_id_all, so every record has thread, time and
 * processor.
 *
 *     ring of one processor:  page 0: head (written by the kernel), tail (written by us)
 *                             page 1 ...: records, wrapping around at the end; positions only grow
 *
 * Records of several processors must be sorted before use, because a mapping on one processor is
 * needed for a sample on another. After two looks at all rings, every record that is older than the
 * first of these looks has been seen, so everything up to that time can be handed on. */
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

/* Registers in samples with a copied stack: all general-purpose ones. */
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

/* Values of a call chain from here on are not addresses, but markers of the part that follows. */
#define TV_PERF_FIRST_CONTEXT ((uint64_t)PERF_CONTEXT_MAX)

/* A mapping of a process. */
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
    uint64_t event; /* id of the event that wrote the record */
    union {
        struct {
            const uint8_t *addresses; /* 64 bits each, unaligned; the innermost first */
            uint32_t depth;
            /* A copied stack; NULL without one, or for a 32-bit thread: */
            const uint8_t *registers; /* 64 bits each, those of TV_PERF_REGISTERS */
            const uint8_t *stack;     /* from the stack pointer upwards */
            uint32_t stack_length;
        } sample;
        struct tv_perf_mapping mapping;
        struct {
            uint32_t parent_pid, parent_tid;
        } fork;
        const char *name; /* PERF_RECORD_COMM */
        uint64_t lost;    /* records */
    };
};

/* Parse a record. False: another type, or too short. Texts and addresses point into `bytes`. */
bool tv_perf_record_read(const uint8_t *bytes, size_t length, struct tv_perf_record *record);

/* Return an address of the call chain of a sample. */
uint64_t tv_perf_record_address(const struct tv_perf_record *record, uint32_t place);

/* ---- Ring buffers ---- */

struct tv_perf_ring {
    void *pages; /* the control page, followed by the records */
    size_t size; /* bytes of records, a power of two */
};

/* Records that wait until they can be sorted. */
struct tv_perf_queue {
    uint8_t *bytes;
    size_t used, capacity;
    struct tv_perf_queued *items;
    size_t count, item_capacity;
};

/* Move all records of the ring to the queue, except damaged ones. */
void tv_perf_ring_drain(const struct tv_perf_ring *ring, struct tv_perf_queue *queue);

struct tv_perf_record;
typedef void tv_perf_record_sink(void *context, const struct tv_perf_record *record);

/* Call `take` for the records up to a time, in time order, and remove them. */
void tv_perf_queue_flush(struct tv_perf_queue *queue, uint64_t until_ns, tv_perf_record_sink *take,
                         void *context);
void tv_perf_queue_release(struct tv_perf_queue *queue);

#endif
