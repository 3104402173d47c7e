/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_trace.c - fuzzes the readers: any bytes, read in one part, in several, and for a sink that
 * cannot begin again.  All three must bring the same, and keep what readers promise to sinks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "readers/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PARTS 3

/* Facts about a thread in one chunk. */
struct seen {
    bool any;
    int64_t wall, cpu;
    uint64_t hash, count;
};

struct checker {
    struct tv_sink sink;
    struct tv_trace_info *head;
    unsigned parts;
    struct seen *seen[PARTS]; /* by thread */
};

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void release(struct checker *checker)
{
    for (unsigned i = 0; i < PARTS; i++) {
        tv_free(checker->seen[i]);
        checker->seen[i] = NULL;
    }
}

static void begin(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input, unsigned parts)
{
    struct checker *checker = (struct checker *)sink;
    CHECK(parts >= 1 && parts <= PARTS && input < head->input_count);
    release(checker);
    checker->head = head;
    checker->parts = parts;
    for (unsigned i = 0; i < parts; i++)
        checker->seen[i] = tv_alloc(head->thread_count, sizeof **checker->seen);
}

static uint64_t mix(uint64_t hash, const struct tv_event *event, uint64_t offset)
{
    hash = tv_hash_u64(hash ^ (uint64_t)event->wall);
    hash = tv_hash_u64(hash ^ (uint64_t)event->cpu);
    hash = tv_hash_u64(hash ^ ((uint64_t)event->frame << 2 | event->action));
    return tv_hash_u64(hash ^ offset);
}

static void take(struct tv_sink *sink, unsigned pass, unsigned part, const struct tv_batch *batch)
{
    struct checker *checker = (struct checker *)sink;
    CHECK(pass == 0 && part < checker->parts && batch->count <= TV_BATCH_EVENTS);
    for (size_t i = 0; i < batch->count; i++) {
        const struct tv_event *event = &batch->events[i];
        CHECK(event->thread < checker->head->thread_count && event->action <= TV_UNROLL);
        CHECK(event->frame < checker->head->frame_count || event->frame == TV_ANY_FRAME);
        struct seen *seen = &checker->seen[part][event->thread];
        CHECK(!seen->any || (event->wall >= seen->wall && event->cpu >= seen->cpu));
        seen->any = true;
        seen->wall = event->wall;
        seen->cpu = event->cpu;
        seen->count++;
        /* A sum of products: the parts' hashes add up to that of the whole. */
        seen->hash += mix(0, event, tv_batch_offset(batch, i));
    }
}

static enum tv_stitch_result stitch(struct tv_sink *sink, unsigned pass)
{
    (void)sink;
    (void)pass;
    return TV_STITCH_DONE;
}

static void end(struct tv_sink *sink)
{
    (void)sink;
}

/* A hash of everything that was read. */
static uint64_t sum_up(const struct checker *checker, enum tv_status status)
{
    uint64_t sum = (uint64_t)status;
    if (status != TV_OK || !checker->head)
        return sum;
    for (uint32_t thread = 0; thread < checker->head->thread_count; thread++)
        for (unsigned part = 0; part < checker->parts; part++)
            sum += checker->seen[part][thread].hash * (2 * (uint64_t)thread + 1);
    for (size_t kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++)
        sum = tv_hash_u64(sum ^ checker->head->diagnostics.kinds[kind].count);
    return tv_hash_u64(sum ^ (uint64_t)checker->head->inputs[0].last_wall);
}

static uint64_t read_once(const uint8_t *data, size_t size, unsigned parts, bool writes)
{
    const struct tv_sink_ops ops = {1, writes, begin, take, stitch, end};
    struct checker checker = {.sink = {&ops}};
    struct tv_read_options options = {.parts = parts};
    struct tv_error err;
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_source *source = tv_source_from_memory((struct tv_bytes){data, size}, "fuzz");
    enum tv_status status = tv_readers_read(source, head, &checker.sink, &options, &err);
    uint64_t sum = sum_up(&checker, status);
    release(&checker);
    tv_source_free(source);
    tv_trace_info_free(head);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t serial = read_once(data, size, 1, false);
    CHECK(read_once(data, size, PARTS, false) == serial);
    CHECK(read_once(data, size, 1, true) == serial);
    return 0;
}
