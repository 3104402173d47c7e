/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_walk.c - the bare limit of the method table: one walk over the records with a stack for
 * each thread; calls, inclusive and exclusive time of each method on both clocks.
 *
 * Inclusive time counts a recursive method's outermost call alone, exits without an entry are
 * skipped, calls still open end with their thread's last record.  Prints one line of sums.
 */
#include "floor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct frame {
    uint32_t method;
    uint32_t cpu;
    uint32_t wall;
    uint32_t child_cpu;
    uint32_t child_wall;
};

struct thread {
    struct frame *frames;
    uint32_t depth;
    uint32_t capacity;
    uint32_t last_cpu;
    uint32_t last_wall;
    uint16_t *open; /* activations of each method */
};

struct totals {
    uint64_t calls;
    uint64_t inclusive_cpu;
    uint64_t inclusive_wall;
    uint64_t exclusive_cpu;
    uint64_t exclusive_wall;
};

struct walk {
    struct floor_trace trace;
    struct thread threads[FLOOR_THREADS];
    struct totals totals[FLOOR_METHODS];
    uint64_t records;
    uint64_t unmatched;
};

static void grow_stack(struct thread *thread)
{
    thread->capacity = thread->capacity ? thread->capacity * 2 : 256;
    thread->frames = realloc(thread->frames, thread->capacity * sizeof *thread->frames);
    if (!thread->frames)
        floor_fail("out of memory");
    if (!thread->open)
        thread->open = floor_new(FLOOR_METHODS, sizeof *thread->open);
}

static inline void enter(struct thread *thread, uint32_t method)
{
    if (thread->depth == thread->capacity)
        grow_stack(thread);
    thread->frames[thread->depth++] =
        (struct frame){.method = method, .cpu = thread->last_cpu, .wall = thread->last_wall};
    thread->open[method]++;
}

static inline void leave(struct walk *walk, struct thread *thread)
{
    struct frame *frame = &thread->frames[--thread->depth];
    struct totals *totals = &walk->totals[frame->method];
    uint32_t cpu = thread->last_cpu - frame->cpu;
    uint32_t wall = thread->last_wall - frame->wall;

    totals->calls++;
    totals->exclusive_cpu += cpu - frame->child_cpu;
    totals->exclusive_wall += wall - frame->child_wall;
    if (!--thread->open[frame->method]) {
        totals->inclusive_cpu += cpu;
        totals->inclusive_wall += wall;
    }
    if (thread->depth) {
        frame[-1].child_cpu += cpu;
        frame[-1].child_wall += wall;
    }
}

static inline void take_record(struct walk *walk, const uint8_t *at)
{
    struct thread *thread = &walk->threads[floor_thread(&walk->trace, tv_le_get_u16(at))];
    uint32_t word = tv_le_get_u32(at + 2);
    uint32_t method = floor_method(&walk->trace, word);

    thread->last_cpu = tv_le_get_u32(at + 6);
    thread->last_wall = tv_le_get_u32(at + 10);
    if (tv_mt_word_action(word) == TV_MT_ENTER)
        enter(thread, method);
    else if (thread->depth && thread->frames[thread->depth - 1].method == method)
        leave(walk, thread);
    else
        walk->unmatched++;
}

static void print_sums(const struct walk *walk)
{
    struct totals sum = {0};

    for (uint32_t i = 0; i < walk->trace.method_count; i++) {
        sum.calls += walk->totals[i].calls;
        sum.inclusive_cpu += walk->totals[i].inclusive_cpu;
        sum.inclusive_wall += walk->totals[i].inclusive_wall;
        sum.exclusive_cpu += walk->totals[i].exclusive_cpu;
        sum.exclusive_wall += walk->totals[i].exclusive_wall;
    }
    printf("records %" PRIu64 " threads %u methods %" PRIu32 " calls %" PRIu64 " unmatched %" PRIu64
           " inclusive cpu %" PRIu64 " real %" PRIu64 " exclusive cpu %" PRIu64 " real %" PRIu64
           "\n",
           walk->records, (unsigned int)walk->trace.thread_count, walk->trace.method_count,
           sum.calls, walk->unmatched, sum.inclusive_cpu, sum.inclusive_wall, sum.exclusive_cpu,
           sum.exclusive_wall);
}

int main(int argument_count, char **arguments)
{
    static struct walk walk;
    static uint8_t block[FLOOR_BLOCK];
    size_t length;

    if (argument_count != 2)
        floor_fail("usage: floor-walk FILE");
    floor_open(&walk.trace, arguments[1]);
    while ((length = floor_read(&walk.trace, block))) {
        for (const uint8_t *at = block; at < block + length; at += TV_MT_RECORD_SIZE_V3)
            take_record(&walk, at);
        walk.records += length / TV_MT_RECORD_SIZE_V3;
    }
    for (uint32_t i = 0; i < walk.trace.thread_count; i++)
        while (walk.threads[i].depth)
            leave(&walk, &walk.threads[i]);
    print_sums(&walk);
    return 0;
}
