/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lengths.c - one pass over all calls of a trace: the sketch and the longest call of each method,
 * and the sums of each thread.
 *
 * A sketch counts the calls of a method by their length: bucket 0 has those of 0 ns, bucket b those
 * from 1.02^(b-1) up to 1.02^b ns.  The middle of a bucket is within 1 % of everything in it, and
 * sketches of many traces are added up bucket by bucket.
 *
 * A trace has thousands of methods, most of which have few calls, and millions of calls, most of
 * which are of few methods:
 *
 *     method with up to MAX_FEW calls   a key for each call in one list, which is sorted at the end
 *     method with more                  counters for BLOCK_BUCKETS neighbouring buckets at a time
 *
 * So the counters that are used stay in the caches of the processor, and no call is looked up.
 */
#include "fleet/batch.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>

#include "base/memory.h"
#include "base/sort.h"

/* Bucket 2206 has the longest time of 63 bits, so 12 bits hold every bucket. */
#define BUCKET_BITS 12u
#define BLOCK_BUCKETS 64u
#define BLOCKS ((1u << BUCKET_BITS) / BLOCK_BUCKETS)
#define MAX_FEW 16u
#define SLICES_AT_ONCE 1024u

/* The blocks of a method: 1 + number of the block; 0: it has no calls there. */
struct lengths_blocks {
    uint32_t numbers[BLOCKS];
};

struct lengths_block {
    uint32_t counts[BLOCK_BUCKETS];
};

/* Calls by method and bucket.  Methods are numbered from the first of the trace. */
struct fleet_lengths {
    const uint32_t *rows;    /* [frames] its method; TV_NONE: none */
    struct tv_sort_key *few; /* key: method << BUCKET_BITS | bucket; an entry for each call */
    size_t few_count, few_room;
    uint32_t *many; /* [methods] 1 + place in `blocks`; 0: its calls are in `few` */
    struct lengths_blocks *blocks;
    struct lengths_block *counters;
    size_t block_count, block_room;
};

/* ---- Buckets ---- */

/* Return the bucket of a length: the smallest b such that the length is below 1.02^b. */
static uint32_t lengths_compute_bucket(tv_ns length)
{
    static const double step = 0.019802627296179712; /* ln 1.02 */
    return length < 1 ? 0 : (uint32_t)(log((double)length) / step) + 1;
}

/* A logarithm for each call would take a tenth of the time to add a large trace.  The highest bits
 * of a length choose one or two buckets, of which the length is compared with the upper end:
 *
 *     length   1 0 1 1 0 0 1 | 0 1 1 ...      a leading 1 and HEAD_BITS more
 *              '--- head ----'  `--> heads[]: the bucket of the smallest such length
 *
 * Lengths from 2^MAX_TABLE_BITS ns (18 minutes) on are computed. */
#define HEAD_BITS 6u
#define MAX_TABLE_BITS 40u

static struct {
    pthread_once_t once;
    uint16_t heads[MAX_TABLE_BITS << HEAD_BITS];
    tv_ns ends[MAX_TABLE_BITS * 36u]; /* by bucket: the first length above it; 2 < 1.02^36 */
} buckets = {.once = PTHREAD_ONCE_INIT};

/* Return the place of a length in `heads`.  Below 2^HEAD_BITS, each length has its own. */
static inline uint32_t lengths_head_of(uint64_t length)
{
    uint32_t bits = 63u - (uint32_t)__builtin_clzll(length | 1);
    return bits < HEAD_BITS
               ? (uint32_t)length
               : ((bits - HEAD_BITS) << HEAD_BITS) + (uint32_t)(length >> (bits - HEAD_BITS));
}

static void lengths_fill_buckets(void)
{
    uint32_t bucket = 0;
    for (; buckets.ends[bucket > 0 ? bucket - 1 : 0] >> MAX_TABLE_BITS == 0; bucket++) {
        tv_ns end = bucket == 0 ? 1 : (tv_ns)ceil(pow(1.02, bucket));
        while (lengths_compute_bucket(end - 1) > bucket)
            end--;
        while (lengths_compute_bucket(end) <= bucket)
            end++;
        assert(bucket < TV_COUNT(buckets.ends) && (bucket == 0 || end >= buckets.ends[bucket - 1]));
        buckets.ends[bucket] = end;
    }
    for (uint32_t bits = 0; bits < MAX_TABLE_BITS; bits++)
        for (uint64_t low = 0; low < 1u << HEAD_BITS; low++) {
            uint64_t length =
                bits < HEAD_BITS ? low : (low | 1u << HEAD_BITS) << (bits - HEAD_BITS);
            buckets.heads[lengths_head_of(length)] =
                (uint16_t)lengths_compute_bucket((tv_ns)length);
        }
}

static inline uint32_t lengths_bucket_of(tv_ns length)
{
    if (TV_UNLIKELY(length < 0 || length >> MAX_TABLE_BITS != 0))
        return lengths_compute_bucket(length);
    uint32_t bucket = buckets.heads[lengths_head_of((uint64_t)length)];
    while (length >= buckets.ends[bucket])
        bucket++;
    return bucket;
}

/* ---- Counting ---- */

/* Choose how the calls of each method are counted. */
static void lengths_init(struct fleet_lengths *lengths, const struct fleet_method *methods,
                         size_t count)
{
    uint32_t many = 0;
    lengths->many = tv_alloc(count, sizeof *lengths->many);
    for (size_t i = 0; i < count; i++)
        if (methods[i].calls > MAX_FEW)
            lengths->many[i] = ++many;
    lengths->blocks = tv_alloc(many, sizeof *lengths->blocks);
}

/* Append a block of counters that are 0, and return 1 + its number. */
static uint32_t lengths_add_block(struct fleet_lengths *lengths)
{
    lengths->counters = tv_array_reserve(lengths->counters, &lengths->block_room,
                                         lengths->block_count + 1, sizeof *lengths->counters);
    lengths->counters[lengths->block_count++] = (struct lengths_block){{0}};
    return (uint32_t)lengths->block_count;
}

static void lengths_count(struct fleet_lengths *lengths, uint32_t method, tv_ns length)
{
    uint32_t bucket = lengths_bucket_of(length), many = lengths->many[method];
    assert(bucket < BLOCKS * BLOCK_BUCKETS);
    if (many == 0) {
        lengths->few = tv_array_reserve(lengths->few, &lengths->few_room, lengths->few_count + 1,
                                        sizeof *lengths->few);
        lengths->few[lengths->few_count++] =
            (struct tv_sort_key){(uint64_t)method << BUCKET_BITS | bucket, 0};
        return;
    }
    uint32_t *block = &lengths->blocks[many - 1].numbers[bucket / BLOCK_BUCKETS];
    if (*block == 0)
        *block = lengths_add_block(lengths);
    uint32_t *count = &lengths->counters[*block - 1].counts[bucket % BLOCK_BUCKETS];
    *count += *count < UINT32_MAX;
}

/* Add a call to the sums of its thread. */
static void lengths_count_of_thread(struct fleet_thread_calls *thread, const struct tv_slice *slice,
                                    bool is_outermost)
{
    thread->calls++;
    thread->lacks_cpu |= (slice->flags & TV_SLICE_NO_CPU) != 0;
    if (!is_outermost)
        return; /* its time is part of its caller's */
    tv_time_add(&thread->wall, slice->length);
    tv_time_add(&thread->cpu, slice->cpu_length);
}

/* Count the calls in slices of one row; `id` is the number of the first in SQL. */
static void lengths_count_slices(const struct tv_trace *trace, struct fleet_lengths *lengths,
                                 struct fleet_method *methods, struct fleet_thread_calls *thread,
                                 uint32_t row, uint64_t id)
{
    struct tv_slice slices[SLICES_AT_ONCE];
    uint32_t count = trace->rows[row].count;
    for (uint32_t first = 0; first < count; first += SLICES_AT_ONCE) {
        uint32_t some = count - first < SLICES_AT_ONCE ? count - first : SLICES_AT_ONCE;
        tv_slices_read(trace, row, first, some, slices);
        for (uint32_t i = 0; i < some; i++) {
            const struct tv_path_node *node = &trace->paths.nodes[slices[i].path];
            uint32_t at = lengths->rows[node->frame];
            lengths_count_of_thread(thread, &slices[i], node->parent == TV_ROOT_PATH);
            if (at == TV_NONE)
                continue;
            lengths_count(lengths, at, slices[i].length);
            if (methods[at].longest_slice < 0 || slices[i].length > methods[at].longest) {
                methods[at].longest = slices[i].length;
                methods[at].longest_at = slices[i].start;
                methods[at].longest_slice = (int64_t)(id + first + i);
            }
        }
    }
}

static void lengths_add_bucket(struct tv_fleet_batch *batch, struct fleet_method *method,
                               uint32_t bucket, uint32_t count)
{
    batch->buckets = tv_array_reserve(batch->buckets, &batch->bucket_room, batch->bucket_count + 1,
                                      sizeof *batch->buckets);
    if (method->bucket_count++ == 0)
        method->first_bucket = (uint32_t)batch->bucket_count;
    batch->buckets[batch->bucket_count++] = (struct fleet_bucket){bucket, count};
}

/* Make the sketch of a method from its blocks. */
static void lengths_add_blocks(struct tv_fleet_batch *batch, const struct fleet_lengths *lengths,
                               const struct lengths_blocks *blocks, struct fleet_method *method)
{
    for (uint32_t block = 0; block < BLOCKS; block++) {
        if (blocks->numbers[block] == 0)
            continue;
        const struct lengths_block *counter = &lengths->counters[blocks->numbers[block] - 1];
        for (uint32_t i = 0; i < BLOCK_BUCKETS; i++)
            if (counter->counts[i] > 0)
                lengths_add_bucket(batch, method, block * BLOCK_BUCKETS + i, counter->counts[i]);
    }
}

/* Make the sketches of the methods of a trace, which begin at `first`. */
static void lengths_add_sketches(struct tv_fleet_batch *batch, size_t first,
                                 struct fleet_lengths *lengths)
{
    const struct tv_sort_key *few = lengths->few;
    tv_sort_keys(lengths->few, lengths->few_count);
    for (size_t i = 0, end; i < lengths->few_count; i = end) {
        for (end = i; end < lengths->few_count && few[end].key == few[i].key;)
            end++;
        lengths_add_bucket(batch, &batch->methods[first + (few[i].key >> BUCKET_BITS)],
                           (uint32_t)few[i].key & ((1u << BUCKET_BITS) - 1), (uint32_t)(end - i));
    }
    for (size_t i = first; i < batch->method_count; i++)
        if (lengths->many[i - first] > 0)
            lengths_add_blocks(batch, lengths, &lengths->blocks[lengths->many[i - first] - 1],
                               &batch->methods[i]);
}

void tv_fleet_add_lengths(struct tv_fleet_batch *batch, size_t first, const struct tv_trace *trace,
                          const uint32_t *rows, struct fleet_thread_calls *threads)
{
    struct fleet_lengths lengths = {.rows = rows};
    uint64_t id = 0;
    assert(first <= batch->method_count); /* the methods of this trace are the last ones */
    if (batch->method_count == first)
        return;
    pthread_once(&buckets.once, lengths_fill_buckets);
    lengths_init(&lengths, &batch->methods[first], batch->method_count - first);
    for (uint32_t row = 0; row < trace->row_count; id += trace->rows[row++].count) {
        const struct tv_track *track = &trace->tracks[trace->rows[row].track];
        uint32_t thread =
            track->thread < trace->head->thread_count ? track->thread : trace->head->thread_count;
        if (tv_track_has_calls(track))
            lengths_count_slices(trace, &lengths, &batch->methods[first], &threads[thread], row,
                                 id);
    }
    lengths_add_sketches(batch, first, &lengths);
    tv_free(lengths.few);
    tv_free(lengths.many);
    tv_free(lengths.blocks);
    tv_free(lengths.counters);
}
