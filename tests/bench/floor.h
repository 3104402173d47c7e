/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.h - what the bare-limit programs share: a trace's header, its methods, its blocks of
 * records.
 *
 * A bare limit is the least work that can give an answer of the right kind: it knows one layout
 * (version 3, 14-byte records), trusts its input and repairs nothing.  It says how fast the machine
 * could be, and so how much a program that does all of it right still leaves.
 */
#ifndef TV_TESTS_BENCH_FLOOR_H
#define TV_TESTS_BENCH_FLOOR_H

#include "wire/method_trace.h"

#include <stddef.h>
#include <stdint.h>

#define FLOOR_SLOTS 65536u
#define FLOOR_METHODS 40000u
#define FLOOR_THREADS 1024u
#define FLOOR_BLOCK ((256u << 10) / TV_MT_RECORD_SIZE_V3 * TV_MT_RECORD_SIZE_V3)

struct floor_method {
    const char *text; /* class, tab, name */
    uint32_t length;
};

struct floor_trace {
    int fd;
    uint64_t at; /* where the next block starts */
    char *header;
    struct floor_method methods[FLOOR_METHODS];
    uint32_t method_count;
    uint32_t keys[FLOOR_SLOTS];    /* id / 4, where `indices` is not 0 */
    uint32_t indices[FLOOR_SLOTS]; /* plus 1 */
    uint16_t threads[65536];       /* thread id to index plus 1 */
    uint16_t thread_count;
};

/* Opens the trace and reads its header; ends the program if it is no trace of version 3. */
void floor_open(struct floor_trace *trace, const char *path);

/* Fills `block` with up to FLOOR_BLOCK bytes of whole records; 0 at the end. */
size_t floor_read(struct floor_trace *trace, uint8_t *block);

_Noreturn void floor_fail(const char *what);

/* `count` elements of `size` zeroed bytes, or the program ends. */
void *floor_new(size_t count, size_t size);

static inline uint32_t floor_hash(uint32_t key)
{
    return key * 2654435769u >> 16;
}

static inline uint32_t floor_method(struct floor_trace *trace, uint32_t word)
{
    uint32_t key = word >> 2;
    uint32_t slot = floor_hash(key);

    while (trace->indices[slot]) {
        if (trace->keys[slot] == key)
            return trace->indices[slot] - 1;
        slot = (slot + 1) % FLOOR_SLOTS;
    }
    floor_fail("a method that the header does not list");
}

static inline uint32_t floor_thread(struct floor_trace *trace, uint16_t tid)
{
    if (!trace->threads[tid]) {
        if (trace->thread_count == FLOOR_THREADS)
            floor_fail("too many threads");
        trace->threads[tid] = ++trace->thread_count;
    }
    return trace->threads[tid] - 1u;
}

#endif
