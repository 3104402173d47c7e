/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c - see samples.h.
 *
 * Equal stacks are stored once and counted, and so are equal places in the code.  Two hash tables
 * with open addressing find them:
 *
 *     element_index   (method, line)    -> elements
 *     trace_index     (thread, stack)   -> traces
 *
 * A slot holds the number of an entry plus one, and 0 when it is free.  The content stays in the
 * tables, so growing an index computes the hashes again.  No entry is ever removed.
 *
 * The recorder lives in somebody else's program, which may run out of memory.  An entry is
 * therefore linked only when all its memory is there; otherwise that one sample is lost.
 */
#include "recorder/samples/samples.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Entries of a table.  The limit keeps `count * 2` within 32 bits. */
#define TABLE_ENTRIES_MAX (1u << 28)

/* Allocations or waits for locks: more of them would take too much of the program's memory. */
#define SAMPLE_RECORDS_MAX (1u << 21)

/* Append `count` elements of `one` bytes; return the first, or NULL when there is no room. */
static void *sample_table_append(struct tv_sample_table *table, size_t one, uint32_t count)
{
    assert(table->count <= table->room);
    if (count > TABLE_ENTRIES_MAX - table->count)
        return NULL;
    if (table->count + count > table->room) {
        uint32_t room = (table->count + count) * 2;
        void *at = realloc(table->at, room * one);
        if (at == NULL)
            return NULL;
        table->at = at;
        table->room = room;
    }
    void *at = (char *)table->at + table->count * one;
    table->count += count;
    return at;
}

/* Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio.  The shift brings the good
 * upper bits down, because an index uses the lowest ones. */
static uint64_t samples_mix_hash(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t samples_hash_element(const struct tv_sample_element *element)
{
    return samples_mix_hash(samples_mix_hash(1, element->method), (uint32_t)element->line);
}

static uint64_t samples_hash_stack(uint32_t thread, const uint32_t *stack, uint32_t depth)
{
    uint64_t hash = samples_mix_hash(2, thread);
    for (uint32_t i = 0; i < depth; i++)
        hash = samples_mix_hash(hash, stack[i]);
    return hash;
}

static void sample_index_insert(struct tv_sample_index *index, uint64_t hash, uint32_t number)
{
    assert(index->room > 0 && (index->room & (index->room - 1)) == 0);
    uint32_t at = (uint32_t)hash & (index->room - 1);
    while (index->slots[at] != 0)
        at = (at + 1) & (index->room - 1);
    index->slots[at] = number + 1;
}

/* Compute the hash of a stored entry again: a slot has no room for it, and tables seldom grow. */
static uint64_t samples_hash_entry(const struct tv_samples *samples, bool trace, uint32_t number)
{
    const struct tv_sample_element *elements = samples->elements.at;
    const struct tv_sample_trace *traces = samples->traces.at;
    const uint32_t *stacks = samples->stacks.at;
    return trace ? samples_hash_stack(traces[number].thread, stacks + traces[number].start,
                                      traces[number].depth)
                 : samples_hash_element(&elements[number]);
}

/* Make room for one more than `count` entries, in a table that is at most half full. */
static bool sample_index_grow(const struct tv_samples *samples, struct tv_sample_index *index,
                              bool trace, uint32_t count)
{
    if (count < index->room / 2)
        return true;
    struct tv_sample_index wider = {NULL, index->room == 0 ? 64 : index->room * 2};
    wider.slots = calloc(wider.room, sizeof wider.slots[0]);
    if (wider.slots == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        sample_index_insert(&wider, samples_hash_entry(samples, trace, i), i);
    free(index->slots);
    *index = wider;
    return true;
}

void tv_samples_begin_tick(struct tv_samples *samples)
{
    samples->tick++;
}

/* Starts and ends of threads are listed in the order in which they were noticed, as the format of
 * hprof wants them.  False: no memory, and the caller tries again at the next tick. */
static bool samples_add_thread_event(struct tv_samples *samples, uint32_t thread, bool is_end)
{
    struct tv_sample_event *event = sample_table_append(&samples->events, sizeof *event, 1);
    if (event != NULL)
        *event = (struct tv_sample_event){thread, is_end};
    return event != NULL;
}

bool tv_samples_mark_thread_seen(struct tv_samples *samples, uint32_t id)
{
    assert(id >= TV_SAMPLES_FIRST_THREAD && id - TV_SAMPLES_FIRST_THREAD < samples->threads.count);
    struct tv_sample_thread *threads = samples->threads.at;
    struct tv_sample_thread *thread = &threads[id - TV_SAMPLES_FIRST_THREAD];
    if (!thread->ended && thread->tick != TV_SAMPLES_PERMANENT)
        thread->tick = samples->tick;
    return !thread->ended;
}

uint32_t tv_samples_add_thread(struct tv_samples *samples, const char *name, const char *group)
{
    /* All that may fail comes first: a thread without its start event would break the file. */
    struct tv_sample_thread thread = {.tick = samples->tick};
    thread.name = strdup(name);
    thread.group = group == NULL ? NULL : strdup(group);
    struct tv_sample_thread *at =
        thread.name == NULL ? NULL : sample_table_append(&samples->threads, sizeof thread, 1);
    if (at == NULL || !samples_add_thread_event(samples, samples->threads.count - 1, false)) {
        free(thread.name);
        free(thread.group);
        samples->threads.count -= at != NULL;
        return 0;
    }
    *at = thread;
    return TV_SAMPLES_FIRST_THREAD + samples->threads.count - 1;
}

void tv_samples_keep_thread(struct tv_samples *samples, uint32_t id)
{
    assert(id >= TV_SAMPLES_FIRST_THREAD && id - TV_SAMPLES_FIRST_THREAD < samples->threads.count);
    struct tv_sample_thread *threads = samples->threads.at;
    threads[id - TV_SAMPLES_FIRST_THREAD].tick = TV_SAMPLES_PERMANENT;
}

/* Threads that the tick did not see have ended.  If there is no memory for the event, `ended` stays
 * false, and the next tick finds them again. */
void tv_samples_end_unseen_threads(struct tv_samples *samples)
{
    struct tv_sample_thread *threads = samples->threads.at;
    for (uint32_t i = 0; i < samples->threads.count; i++) {
        if (threads[i].ended || threads[i].tick == samples->tick ||
            threads[i].tick == TV_SAMPLES_PERMANENT)
            continue;
        threads[i].ended = samples_add_thread_event(samples, i, true);
    }
}

bool tv_samples_end_thread(struct tv_samples *samples, uint32_t id)
{
    assert(id >= TV_SAMPLES_FIRST_THREAD && id - TV_SAMPLES_FIRST_THREAD < samples->threads.count);
    struct tv_sample_thread *threads = samples->threads.at;
    uint32_t number = id - TV_SAMPLES_FIRST_THREAD;
    if (threads[number].ended)
        return true;
    threads[number].ended = samples_add_thread_event(samples, number, true);
    return threads[number].ended;
}

uint32_t tv_samples_find_element(const struct tv_samples *samples, uint64_t method, int32_t line)
{
    const struct tv_sample_element *elements = samples->elements.at;
    const struct tv_sample_index *index = &samples->element_index;
    struct tv_sample_element wanted = {.method = method, .line = line};
    if (index->room == 0)
        return 0;
    uint32_t at = (uint32_t)samples_hash_element(&wanted) & (index->room - 1);
    for (; index->slots[at] != 0; at = (at + 1) & (index->room - 1)) {
        const struct tv_sample_element *element = &elements[index->slots[at] - 1];
        if (element->method == method && element->line == line)
            return index->slots[at];
    }
    return 0;
}

uint32_t tv_samples_add_element(struct tv_samples *samples, const struct tv_sample_element *element)
{
    struct tv_sample_element copy = *element;
    if (!sample_index_grow(samples, &samples->element_index, false, samples->elements.count))
        return 0;
    copy.class_name = strdup(element->class_name);
    copy.name = strdup(element->name);
    copy.file = element->file == NULL ? NULL : strdup(element->file);
    bool whole = copy.class_name != NULL && copy.name != NULL &&
                 (copy.file != NULL || element->file == NULL);
    struct tv_sample_element *at =
        whole ? sample_table_append(&samples->elements, sizeof copy, 1) : NULL;
    if (at == NULL) {
        free(copy.class_name);
        free(copy.name);
        free(copy.file);
        return 0;
    }
    *at = copy;
    sample_index_insert(&samples->element_index, samples_hash_element(&copy),
                        samples->elements.count - 1);
    return samples->elements.count;
}

/* Return the trace of that stack; NULL: there is none yet. */
static struct tv_sample_trace *samples_find_trace(struct tv_samples *samples, uint32_t thread,
                                                  const uint32_t *stack, uint32_t depth)
{
    struct tv_sample_trace *traces = samples->traces.at;
    const uint32_t *stacks = samples->stacks.at;
    const struct tv_sample_index *index = &samples->trace_index;
    if (index->room == 0)
        return NULL;
    uint32_t at = (uint32_t)samples_hash_stack(thread, stack, depth) & (index->room - 1);
    for (; index->slots[at] != 0; at = (at + 1) & (index->room - 1)) {
        struct tv_sample_trace *trace = &traces[index->slots[at] - 1];
        if (trace->thread == thread && trace->depth == depth &&
            memcmp(stacks + trace->start, stack, depth * sizeof stack[0]) == 0)
            return trace;
    }
    return NULL;
}

/* Add a stack of a thread; NULL: no memory, and the tables are as before. The index grows first, so
 * that after both appends nothing can fail any more. */
static struct tv_sample_trace *samples_add_trace(struct tv_samples *samples, uint32_t thread,
                                                 const uint32_t *stack, uint32_t depth)
{
    uint32_t start = samples->stacks.count;
    if (!sample_index_grow(samples, &samples->trace_index, true, samples->traces.count))
        return NULL;
    uint32_t *kept = sample_table_append(&samples->stacks, sizeof kept[0], depth);
    struct tv_sample_trace *trace =
        kept == NULL ? NULL : sample_table_append(&samples->traces, sizeof *trace, 1);
    if (trace == NULL) {
        samples->stacks.count = start;
        return NULL;
    }
    memcpy(kept, stack, depth * sizeof stack[0]);
    *trace = (struct tv_sample_trace){thread, start, depth, 0};
    sample_index_insert(&samples->trace_index, samples_hash_stack(thread, stack, depth),
                        samples->traces.count - 1);
    return trace;
}

/* Return the trace of a known or new stack; NULL: no memory. */
static struct tv_sample_trace *samples_find_or_add_trace(struct tv_samples *samples, uint32_t id,
                                                         const uint32_t *stack, uint32_t depth)
{
    uint32_t thread = id - TV_SAMPLES_FIRST_THREAD;
    struct tv_sample_trace *trace = samples_find_trace(samples, thread, stack, depth);
    return trace != NULL ? trace : samples_add_trace(samples, thread, stack, depth);
}

bool tv_samples_add(struct tv_samples *samples, uint32_t id, const uint32_t *stack, uint32_t depth)
{
    return tv_samples_add_many(samples, id, stack, depth, 1);
}

bool tv_samples_add_many(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                         uint32_t depth, uint64_t count)
{
    if (depth == 0 || id == 0)
        return false;
    struct tv_sample_trace *trace = samples_find_or_add_trace(samples, id, stack, depth);
    if (trace == NULL)
        return false;
    trace->count += count;
    samples->total += count;
    return true;
}

bool tv_samples_add_at(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                       uint32_t depth, const struct tv_sample_moment *moment)
{
    if (depth == 0 || id == 0)
        return false;
    struct tv_sample_trace *trace = samples_find_or_add_trace(samples, id, stack, depth);
    if (trace == NULL)
        return false;
    trace->count++;
    samples->total++;
    const struct tv_sample_trace *first = samples->traces.at;
    struct tv_sample_moment *kept = sample_table_append(&samples->moments, sizeof *kept, 1);
    if (kept != NULL) {
        *kept = *moment;
        kept->trace = (uint32_t)(trace - first);
    }
    /* the sample counts all the same; without its moment it is only missing on the time axis */
    samples->untimed += kept == NULL;
    return true;
}

bool tv_samples_add_wait(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                         uint32_t depth, const struct tv_sample_wait *wait)
{
    struct tv_sample_trace *trace = NULL;
    if (id == 0)
        return false;
    if (depth > 0)
        trace = samples_find_or_add_trace(samples, id, stack, depth);
    struct tv_sample_wait *kept = sample_table_append(&samples->waits, sizeof *kept, 1);
    if (kept == NULL)
        return false;
    const struct tv_sample_trace *first = samples->traces.at;
    *kept = *wait;
    kept->thread = id - TV_SAMPLES_FIRST_THREAD;
    kept->trace = trace != NULL ? (uint32_t)(trace - first) : TV_SAMPLES_NO_TRACE;
    return true;
}

/* Append a record; false: there is no room, and it counts as dropped. */
static bool samples_append_record(struct tv_samples *samples, struct tv_sample_table *table,
                                  const void *record, size_t size)
{
    void *kept = table->count < SAMPLE_RECORDS_MAX ? sample_table_append(table, size, 1) : NULL;
    if (kept != NULL)
        memcpy(kept, record, size);
    samples->dropped += kept == NULL;
    return kept != NULL;
}

bool tv_samples_add_allocation(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                               uint32_t depth, const struct tv_sample_allocation *allocation)
{
    struct tv_sample_allocation kept = *allocation;
    struct tv_sample_trace *trace = samples_find_or_add_trace(samples, id, stack, depth);
    if (trace == NULL) {
        samples->dropped++;
        return false;
    }
    /* the weight of a stack is its bytes, so that ranks and pictures show who allocates most */
    trace->count += allocation->bytes;
    kept.trace = (uint32_t)(trace - (struct tv_sample_trace *)samples->traces.at);
    return samples_append_record(samples, &samples->allocations, &kept, sizeof kept);
}

void tv_samples_resolve_lock(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                             uint32_t depth, struct tv_sample_lock *lock)
{
    struct tv_sample_trace *trace =
        depth == 0 ? NULL : samples_find_or_add_trace(samples, id, stack, depth);
    lock->thread = id - TV_SAMPLES_FIRST_THREAD;
    lock->trace = trace == NULL ? TV_SAMPLES_NO_TRACE
                                : (uint32_t)(trace - (struct tv_sample_trace *)samples->traces.at);
}

bool tv_samples_add_lock(struct tv_samples *samples, const struct tv_sample_lock *lock)
{
    return samples_append_record(samples, &samples->locks, lock, sizeof *lock);
}

void tv_samples_number_thread(struct tv_samples *samples, uint32_t id, uint32_t pid, uint32_t tid)
{
    assert(id >= TV_SAMPLES_FIRST_THREAD && id - TV_SAMPLES_FIRST_THREAD < samples->threads.count);
    struct tv_sample_thread *threads = samples->threads.at;
    threads[id - TV_SAMPLES_FIRST_THREAD].pid = pid;
    threads[id - TV_SAMPLES_FIRST_THREAD].tid = tid;
}

void tv_samples_rename_thread(struct tv_samples *samples, uint32_t id, const char *name)
{
    assert(id >= TV_SAMPLES_FIRST_THREAD && id - TV_SAMPLES_FIRST_THREAD < samples->threads.count);
    struct tv_sample_thread *threads = samples->threads.at;
    char *copy = strdup(name);
    if (copy == NULL)
        return;
    free(threads[id - TV_SAMPLES_FIRST_THREAD].name);
    threads[id - TV_SAMPLES_FIRST_THREAD].name = copy;
}

/* A count with its index, so that sorting needs no context. */
struct ranked_trace {
    uint64_t count;
    uint32_t index;
};

static int samples_compare_ranks(const void *a, const void *b)
{
    const struct ranked_trace *one = a, *other = b;
    if (one->count != other->count)
        return one->count > other->count ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

uint32_t *tv_samples_rank_traces(const struct tv_samples *samples)
{
    uint32_t count = samples->traces.count;
    const struct tv_sample_trace *traces = samples->traces.at;
    struct ranked_trace *ranked = calloc((size_t)count + 1, sizeof ranked[0]);
    uint32_t *order = calloc((size_t)count + 1, sizeof order[0]);
    if (ranked == NULL || order == NULL) {
        free(ranked);
        free(order);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (struct ranked_trace){traces[i].count, i};
    qsort(ranked, count, sizeof ranked[0], samples_compare_ranks);
    for (uint32_t i = 0; i < count; i++)
        order[i] = ranked[i].index;
    free(ranked);
    return order;
}

void tv_samples_release(struct tv_samples *samples)
{
    struct tv_sample_element *elements = samples->elements.at;
    struct tv_sample_thread *threads = samples->threads.at;
    for (uint32_t i = 0; i < samples->elements.count; i++) {
        free(elements[i].class_name);
        free(elements[i].name);
        free(elements[i].file);
    }
    for (uint32_t i = 0; i < samples->threads.count; i++) {
        free(threads[i].name);
        free(threads[i].group);
    }
    free(samples->moments.at);
    free(samples->waits.at);
    free(samples->allocations.at);
    free(samples->locks.at);
    free(samples->elements.at);
    free(samples->threads.at);
    free(samples->events.at);
    free(samples->traces.at);
    free(samples->stacks.at);
    free(samples->element_index.slots);
    free(samples->trace_index.slots);
    *samples = (struct tv_samples){0};
}
