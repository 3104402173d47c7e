/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_scan.c - sums of pprof samples by stack (sample_scan.h).
 *
 * The tables of stacks do not fit into the cache, and samples use them in no order: a look-up that
 * waits for memory three times costs more than parsing the sample.  So samples go through in
 * batches, and each step fetches what the next one needs:
 *
 *     parse the samples of a batch, hash their locations     --> slots of the hash table
 *     look up the hashes                                     --> stacks, sums, locations
 *     compare the locations and add the values, in order
 */
#include "readers/pprof/sample_scan.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/protobuf.h"

/* The field of Profile, and those of Sample. */
enum {
    PROFILE_SAMPLE = 2,
    SAMPLE_LOCATIONS = 1,
    SAMPLE_VALUES = 2,
    SAMPLE_LABEL = 3,
};

#define BATCH 32

/* A sample of the batch. */
struct scanned_sample {
    struct tv_pprof_range field;
    struct tv_bytes locations;
    uint64_t hash;
    uint32_t stack; /* probably; TV_NONE: none yet */
    bool plain;     /* can be added up, if its stack is known */
};

/* Names and ids of a thread: the arguments of tv_sample_labels_thread. */
struct scanned_thread {
    uint64_t tid, pid;
    const uint8_t *name, *process; /* texts are views of the file's strings */
    bool has_tid;
};

struct sample_scanner {
    struct tv_pprof_scan *scan;
    const struct tv_pprof_scan_tables *tables;
    struct tv_sample_labels labels; /* of the current sample */
    struct tv_map thread_places;    /* hash of a thread -> its number in `threads` */
    struct scanned_thread *threads;
    size_t thread_count, thread_capacity;
    uint32_t last_thread; /* in `threads` */
    struct scanned_sample batch[BATCH];
    int64_t *values; /* of the batch: for each sample, one for each value type */
    size_t count;    /* of the batch */
};

/* ---- Parsing ---- */

/* Take the values of a sample.  Return whether there is one for each value type. */
static bool scanner_take_values(const struct sample_scanner *scanner, struct tv_bytes packed,
                                int64_t *values)
{
    struct tv_cursor list = tv_cursor_over(packed);
    uint64_t value;
    size_t count = 0;
    while (list.at != list.end && tv_protobuf_take_varint(&list, &value)) {
        if (count == scanner->tables->type_count)
            return false;
        values[count++] = (int64_t)value;
    }
    return count == scanner->tables->type_count && tv_protobuf_is_sound(&list);
}

/* Maximum number of threads that a scan knows: samples of all further ones are left. */
#define KNOWN_THREADS 65536

/* Return whether an earlier sample, which is left, had the thread of the current one. */
static bool scanner_knows_thread(struct sample_scanner *scanner)
{
    const struct tv_sample_labels *labels = &scanner->labels;
    struct scanned_thread thread;
    memset(&thread, 0, sizeof thread); /* the padding is hashed, too */
    thread.tid = labels->tid;
    thread.pid = labels->pid;
    thread.name = labels->name.data;
    thread.process = labels->process.data;
    thread.has_tid = labels->has_tid;
    if (scanner->thread_count > 0 &&
        memcmp(&scanner->threads[scanner->last_thread], &thread, sizeof thread) == 0)
        return true;
    uint64_t hash = tv_hash_bytes((struct tv_bytes){(const uint8_t *)&thread, sizeof thread});
    uint32_t number = tv_map_find(&scanner->thread_places, hash);
    if (number != TV_NONE) {
        scanner->last_thread = number;
        return memcmp(&scanner->threads[number], &thread, sizeof thread) == 0;
    }
    if (scanner->thread_count == KNOWN_THREADS)
        return false;
    scanner->threads = tv_array_reserve(scanner->threads, &scanner->thread_capacity,
                                        scanner->thread_count + 1, sizeof *scanner->threads);
    scanner->threads[scanner->thread_count] = thread;
    scanner->last_thread = (uint32_t)scanner->thread_count++;
    tv_map_set(&scanner->thread_places, hash, scanner->last_thread);
    return false;
}

/* Parse a sample.  Return whether it can be added up: it is sound, its locations and its values are
 * one packed field each, and its thread is known. */
static bool scanner_parse(struct sample_scanner *scanner, struct tv_bytes message,
                          struct scanned_sample *sample, int64_t *values)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    struct tv_bytes packed = {NULL, 0};
    tv_sample_labels_begin(&scanner->labels);
    sample->locations = packed;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == SAMPLE_LABEL && field.wire == TV_PROTOBUF_BYTES) {
            tv_sample_labels_take(&scanner->labels, field.bytes);
        } else if (field.number == SAMPLE_LOCATIONS || field.number == SAMPLE_VALUES) {
            struct tv_bytes *list = field.number == SAMPLE_VALUES ? &packed : &sample->locations;
            if (field.wire != TV_PROTOBUF_BYTES || list->length > 0)
                return false;
            *list = field.bytes;
        }
    }
    return tv_protobuf_is_sound(&cursor) && sample->locations.length > 0 &&
           scanner_take_values(scanner, packed, values) && scanner_knows_thread(scanner);
}

/* ---- Stacks ---- */

/* Return whether the file has all locations of a stack. */
static bool scanner_has_locations(const struct sample_scanner *scanner, struct tv_bytes locations)
{
    struct tv_cursor list = tv_cursor_over(locations);
    uint64_t id;
    while (list.at != list.end && tv_protobuf_take_varint(&list, &id))
        if (tv_lookup_find(scanner->tables->locations, id) == TV_NONE)
            return false;
    return tv_protobuf_is_sound(&list);
}

/* Note the first sample of a stack.  A stack that cannot be read, or has a location that the file
 * lacks, is not noted: each of its samples counts in the diagnostics.  A file can have any number
 * of stacks: what is noted is no larger than the part. */
static void scanner_meet_stack(struct sample_scanner *scanner, const struct scanned_sample *sample)
{
    struct tv_pprof_scan *scan = scanner->scan;
    size_t types = scanner->tables->type_count, count = scan->stack_count;
    size_t size = sizeof *scan->stacks + types * sizeof *scan->sums;
    if (count >= scan->part.length / size || count >= TV_NONE - 1 ||
        !scanner_has_locations(scanner, sample->locations))
        return;
    scan->stacks =
        tv_array_reserve(scan->stacks, &scan->stack_capacity, count + 1, sizeof *scan->stacks);
    scan->sums =
        tv_array_reserve(scan->sums, &scan->sum_capacity, (count + 1) * types, sizeof *scan->sums);
    scan->stacks[count] = (struct tv_pprof_stack){.locations = sample->locations};
    memset(scan->sums + count * types, 0, types * sizeof *scan->sums);
    tv_map_set(&scan->places, sample->hash, (uint32_t)count);
    scan->stack_count++;
}

/* Add the values of a sample that are not 0 to the sums of its stack. */
static void scanner_add_values(struct sample_scanner *scanner, uint32_t stack,
                               const int64_t *values)
{
    const struct tv_pprof_scan_tables *tables = scanner->tables;
    struct tv_pprof_sum *sums = scanner->scan->sums + stack * tables->type_count;
    scanner->scan->stacks[stack].samples++;
    for (size_t i = 0; i < tables->type_count; i++) {
        if (values[i] == 0)
            continue;
        sums[i].samples += tv_value_type_count(&tables->trace_types[tables->types[i]], values[i]);
        tv_time_add(&sums[i].weight, values[i]);
    }
}

/* Add a sample to the sums of its stack.  Return false for a sample that the trace needs. */
static bool scanner_add_sample(struct sample_scanner *scanner, const struct scanned_sample *sample,
                               const int64_t *values)
{
    if (!sample->plain)
        return false;
    /* An earlier sample of the batch may be the first of this stack. */
    uint32_t stack = sample->stack != TV_NONE ? sample->stack
                                              : tv_map_find(&scanner->scan->places, sample->hash);
    if (stack == TV_NONE) {
        scanner_meet_stack(scanner, sample);
        return false;
    }
    if (!tv_bytes_equal(scanner->scan->stacks[stack].locations, sample->locations))
        return false;
    scanner_add_values(scanner, stack, values);
    return true;
}

/* ---- Batches ---- */

static void scanner_leave(struct tv_pprof_scan *scan, struct tv_pprof_range field)
{
    if (scan->left.count > 0 && scan->left.rows[scan->left.count - 1].end == field.begin)
        scan->left.rows[scan->left.count - 1].end = field.end;
    else
        *tv_table_add(&scan->left) = field;
}

static void scanner_prefetch_stack(const struct sample_scanner *scanner, uint32_t stack)
{
    const struct tv_pprof_scan *scan = scanner->scan;
    if (stack == TV_NONE)
        return;
    TV_PREFETCH(&scan->sums[stack * scanner->tables->type_count]);
    /* The stack itself is small enough to be read here. */
    struct tv_bytes locations = scan->stacks[stack].locations;
    for (size_t at = 0; at < locations.length && at < 128; at += 64)
        TV_PREFETCH(locations.data + at);
}

/* Look up and add the samples of the batch, in three loops that each fetch what the next one reads.
 * A sample that the trace needs whole is left for the pass over all parts. */
static void scanner_end_batch(struct sample_scanner *scanner)
{
    struct tv_pprof_scan *scan = scanner->scan;
    size_t types = scanner->tables->type_count;
    for (size_t i = 0; i < scanner->count; i++) {
        struct scanned_sample *sample = &scanner->batch[i];
        sample->stack = sample->plain ? tv_map_find(&scan->places, sample->hash) : TV_NONE;
        if (sample->stack != TV_NONE)
            TV_PREFETCH(&scan->stacks[sample->stack]);
    }
    for (size_t i = 0; i < scanner->count; i++)
        scanner_prefetch_stack(scanner, scanner->batch[i].stack);
    for (size_t i = 0; i < scanner->count; i++)
        if (!scanner_add_sample(scanner, &scanner->batch[i], scanner->values + i * types))
            scanner_leave(scan, scanner->batch[i].field);
    scanner->count = 0;
}

/* Add a sample to the batch. */
static void scanner_take_sample(struct sample_scanner *scanner, struct tv_bytes message,
                                const uint8_t *field)
{
    const struct tv_map *places = &scanner->scan->places;
    struct scanned_sample *sample = &scanner->batch[scanner->count];
    int64_t *values = scanner->values + scanner->count * scanner->tables->type_count;
    sample->field = (struct tv_pprof_range){field, message.data + message.length};
    sample->plain = scanner_parse(scanner, message, sample, values);
    if (sample->plain) {
        sample->hash = tv_hash_bytes(sample->locations);
        if (places->mask != 0) {
            size_t slot = tv_map_start(places, sample->hash);
            TV_PREFETCH(&places->keys[slot]);
            TV_PREFETCH(&places->values[slot]);
        }
    }
    scanner->count++;
}

/* Take all samples of the part.  Progress is told once in a while: the counter is shared by all
 * threads. */
static void scanner_take_samples(struct sample_scanner *scanner)
{
    struct tv_pprof_scan *scan = scanner->scan;
    struct tv_cursor cursor = tv_cursor_over(scan->part);
    struct tv_protobuf_field field;
    const uint8_t *at = scan->part.data, *told = at;
    for (; scan->status == TV_OK && tv_protobuf_next(&cursor, &field); at = cursor.at) {
        if (field.number != PROFILE_SAMPLE || field.wire != TV_PROTOBUF_BYTES)
            continue;
        scanner_take_sample(scanner, field.bytes, at);
        if (scanner->count < BATCH)
            continue;
        scanner_end_batch(scanner);
        if (cursor.at - told > 1 << 18) {
            scan->status = tv_reader_add_progress(scanner->tables->progress,
                                                  (uint64_t)(cursor.at - told), &scan->err);
            told = cursor.at;
        }
    }
    scanner_end_batch(scanner);
}

void tv_pprof_scan_part(struct tv_pprof_scan *scan, const struct tv_pprof_scan_tables *tables)
{
    struct sample_scanner *scanner = tv_alloc(1, sizeof *scanner);
    assert(scan->stack_count == 0 && scan->left.count == 0);
    scan->status = TV_OK;
    tv_map_init(&scan->places);
    scanner->scan = scan;
    scanner->tables = tables;
    scanner->labels = *tables->labels;
    scanner->values = tv_alloc(tables->type_count * BATCH, sizeof *scanner->values);
    tv_map_init(&scanner->thread_places);
    scanner_take_samples(scanner);
    tv_map_release(&scan->places);
    tv_map_release(&scanner->thread_places);
    tv_free(scanner->threads);
    tv_free(scanner->values);
    tv_free(scanner);
}

void tv_pprof_scan_release(struct tv_pprof_scan *scan)
{
    tv_free(scan->left.rows);
    tv_free(scan->stacks);
    tv_free(scan->sums);
    *scan = (struct tv_pprof_scan){.stacks = NULL};
}
