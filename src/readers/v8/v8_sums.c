/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_sums.c - the samples of a CPU profile, added up while they are read.
 *
 *     "samples":    [2,5,5,2,...]      the node of each sample
 *     "timeDeltas": [0,250,125,...]    microseconds since the sample before
 *
 * Both lists are read side by side, number by number, and each node keeps how many samples it had
 * and how long they lasted.  That is all that a table of functions or a flame graph needs of
 * millions of samples, and it fits into the processor's cache.
 *
 * Only plain lists are read so: numbers without a sign, in the order of time, of known nodes.
 * Anything else is left to the reader of single samples, which repairs and counts it.
 */
#include <assert.h>

#include "base/memory.h"
#include "readers/v8/v8.h"
#include "readers/v8/v8_list.h"

/* The samples of a path. */
struct v8_sum {
    uint64_t samples;
    int64_t length; /* nanoseconds; saturates */
    uint32_t path;
    bool idle;
};

struct v8_sums {
    const struct tv_v8_nodes *nodes;
    struct tv_paths *paths;
    struct v8_sum *rows; /* in the order of the first samples */
    size_t count, capacity;
    uint32_t *of_node;    /* row + 1; 0: it has no sample yet */
    struct tv_map gc;     /* path of a garbage collector -> row */
    uint32_t interrupted; /* path that the garbage collector interrupts */
};

/* ---- Rows ---- */

static uint32_t v8_sums_add_row(struct v8_sums *sums, uint32_t path, bool idle)
{
    if (sums->count >= TV_NONE - 1)
        tv_memory_exhausted();
    sums->rows = tv_array_reserve(sums->rows, &sums->capacity, sums->count + 1, sizeof *sums->rows);
    sums->rows[sums->count] = (struct v8_sum){.path = path, .idle = idle};
    return (uint32_t)sums->count++;
}

/* Return the row of the next sample.  The garbage collector runs on top of the code before it. */
static inline uint32_t v8_sums_find(struct v8_sums *sums, uint32_t number)
{
    const struct tv_v8_node *node = &sums->nodes->rows[number];
    if (TV_UNLIKELY(node->state == TV_V8_GC)) {
        uint32_t path = tv_paths_child(sums->paths, sums->interrupted, node->frame);
        uint32_t row = tv_map_add(&sums->gc, path, (uint32_t)sums->count);
        return row < sums->count ? row : v8_sums_add_row(sums, path, false);
    }
    bool idle = node->state == TV_V8_IDLE;
    sums->interrupted = idle ? TV_ROOT_PATH : node->path;
    if (sums->of_node[number] == 0)
        sums->of_node[number] = v8_sums_add_row(sums, node->path, idle) + 1;
    return sums->of_node[number] - 1;
}

/* ---- The lists ---- */

/* Read both lists; false: they are not plain.  *count becomes the number of samples. */
static bool v8_sums_read(struct v8_sums *sums, struct tv_v8_list ids, struct tv_v8_list deltas,
                         const struct tv_v8_span *span, uint64_t *count)
{
    int64_t id, delta, now = span->start, first = now, before = now;
    uint32_t row = TV_NONE;
    for (*count = 0; !tv_v8_list_has_ended(&ids); ++*count) {
        if (!tv_v8_list_take(&ids, &id) || !tv_v8_list_take(&deltas, &delta))
            return false;
        uint32_t node = tv_lookup_find(&sums->nodes->by_id, (uint64_t)id);
        if (node == TV_NONE)
            return false;
        now = tv_move_within(now + tv_move_within(delta * 1000));
        if (row == TV_NONE)
            first = now;
        else
            tv_time_add(&sums->rows[row].length, now - before);
        row = v8_sums_find(sums, node);
        sums->rows[row].samples++;
        before = now;
    }
    if (row == TV_NONE)
        return true;
    int64_t last = 0;
    if (span->end > before)
        last = span->end - before;
    else if (*count > 1)
        last = (before - first) / (int64_t)(*count - 1);
    tv_time_add(&sums->rows[row].length, last);
    return true;
}

static void v8_sums_deliver(const struct v8_sums *sums, struct tv_profile_input *profile)
{
    uint32_t number = tv_profile_value_type(profile, TV_V8_SAMPLES, TV_BYTES("count"));
    uint32_t cpu = tv_profile_value_type(profile, TV_V8_CPU, TV_BYTES("nanoseconds"));
    struct tv_sample_sums *to = &profile->trace->tables.sample_sums;
    for (size_t i = 0; i < sums->count; i++) {
        const struct v8_sum *row = &sums->rows[i];
        assert(row->samples > 0);
        tv_sample_sums_add(to, row->path, number, row->samples, (int64_t)row->samples);
        if (!row->idle)
            tv_sample_sums_add(to, row->path, cpu, row->samples, row->length);
    }
}

bool tv_v8_sum_samples(struct tv_v8_nodes *nodes, struct tv_json_stream ids,
                       struct tv_json_stream deltas, const struct tv_v8_span *span, uint64_t *count)
{
    struct tv_profile_input *profile = nodes->profile;
    struct v8_sums sums = {
        .nodes = nodes, .paths = &profile->trace->paths, .interrupted = TV_ROOT_PATH};
    if (!tv_json_open(&ids, '[') || !tv_json_open(&deltas, '['))
        return false;
    sums.of_node = tv_alloc(nodes->count, sizeof *sums.of_node);
    tv_map_init(&sums.gc);
    bool plain = v8_sums_read(&sums, (struct tv_v8_list){ids.at, ids.end},
                              (struct tv_v8_list){deltas.at, deltas.end}, span, count);
    if (plain)
        v8_sums_deliver(&sums, profile);
    tv_map_release(&sums.gc);
    tv_free(sums.of_node);
    tv_free(sums.rows);
    return plain;
}
