/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the axis that holds nearly all events.
 *
 * A histogram counts the events of the trace by their start.  Two indices that only move forward
 * find the shortest run of buckets with enough events.  If that run is only a few buckets long, the
 * next round divides it anew, so that a millisecond of data is found in an hour:
 *
 *   |.:        round 1: all in one bucket of 1024          :|
 *    |..::||||::.   round 2: that bucket in 1024           |
 *
 * The number of events that the part must hold stays the same in all rounds.
 */
#include "analysis/timeline/dense.h"

#include <string.h>

#include "base/memory.h"

enum {
    BUCKETS = 1024,
    /* A run of fewer buckets is divided again. */
    FINE = 256,
    /* 1024 buckets of at least a quarter of the length: 2^62 ns need no more. */
    ROUNDS = 16,
    /* Search the bounds of buckets in rows with more slices than this, instead of reading all. */
    LONG_ROW = 16 * BUCKETS,
};

struct histogram {
    tv_ns from;
    tv_ns width; /* width of a bucket */
    uint64_t counts[BUCKETS];
};

static void histogram_add(struct histogram *h, tv_ns time)
{
    tv_ns bucket = time < h->from ? -1 : (time - h->from) / h->width;
    if (bucket >= 0 && bucket < BUCKETS)
        h->counts[bucket]++;
}

/* Count the starts of a row. Binary searches for the ends of the buckets cost less than looking at
 * every slice of a long row. */
static void histogram_add_row(struct histogram *h, const struct tv_trace *trace, uint32_t row)
{
    uint32_t count = trace->rows[row].count;
    if (count <= LONG_ROW) {
        for (uint32_t i = 0; i < count; i++)
            histogram_add(h, tv_slice_start(trace, row, i));
        return;
    }
    uint32_t before = tv_row_find_start(trace, row, h->from);
    for (unsigned b = 0; b < BUCKETS; b++) {
        tv_ns end = h->from + h->width * (b + 1);
        uint32_t next = tv_row_find_start_near(trace, row, end, before);
        h->counts[b] += next - before;
        before = next;
    }
}

/* Count the events of the trace by time: slices, instants, samples and values of counters. */
static void histogram_fill(struct histogram *h, const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    memset(h->counts, 0, sizeof h->counts);
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct tv_track *track = &trace->tracks[t];
        for (uint32_t i = 0; track->kind != TV_TRACK_STATES && i < track->row_count; i++)
            histogram_add_row(h, trace, track->first_row + i);
    }
    for (size_t i = 0; i < tables->instants.count; i++) {
        const struct tv_instant *instant = &tables->instants.rows[i];
        histogram_add(h, tv_trace_time(trace, instant->input, instant->time));
    }
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        histogram_add(h, tv_trace_time(trace, sample->input, sample->time));
    }
    for (size_t c = 0; c < tables->counters.count; c++) {
        const struct tv_counter *counter = &tables->counters.rows[c];
        for (uint32_t i = 0; i < counter->sample_count; i++)
            histogram_add(h, tv_trace_time(trace, counter->input,
                                           tables->counter_times[counter->first_sample + i]));
    }
}

/* Find the first of the shortest runs of buckets that hold `wanted` events, which must exist. */
static void histogram_shortest_run(const struct histogram *h, uint64_t wanted, unsigned *first,
                                   unsigned *count)
{
    uint64_t held = 0;
    unsigned from = 0;
    *first = 0;
    *count = BUCKETS;
    for (unsigned to = 0; to < BUCKETS; to++) {
        held += h->counts[to];
        while (from < to && held - h->counts[from] >= wanted)
            held -= h->counts[from++];
        if (held >= wanted && to + 1 - from < *count) {
            *first = from;
            *count = to + 1 - from;
        }
    }
}

/* Grow a run over events that are no further from it than an eighth of its length, so that it does
 * not cut off the edge of the data. */
static void histogram_grow_run(const struct histogram *h, unsigned *first, unsigned *count)
{
    unsigned from = *first, to = from + *count;
    for (unsigned gap = 1; from >= gap && gap <= 1 + (to - from) / 8; gap++)
        if (h->counts[from - gap] > 0) {
            from -= gap;
            gap = 0;
        }
    for (unsigned gap = 1; to + gap <= BUCKETS && gap <= 1 + (to - from) / 8; gap++)
        if (h->counts[to + gap - 1] > 0) {
            to += gap;
            gap = 0;
        }
    *first = from;
    *count = to - from;
}

static uint64_t histogram_sum(const struct histogram *h, unsigned from, unsigned to)
{
    uint64_t sum = 0;
    for (unsigned b = from; b < to; b++)
        sum += h->counts[b];
    return sum;
}

bool tv_trace_find_dense(const struct tv_trace *trace, struct tv_dense *dense)
{
    tv_ns length = trace->end - trace->start;
    if (length < BUCKETS)
        return false;
    struct histogram *h = tv_alloc(1, sizeof *h);
    uint64_t all = 0, wanted = 0;
    *dense = (struct tv_dense){trace->start, trace->end, 0, 0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned first, count;
        /* One more than the quotient: an event at the very end is in the last bucket. */
        *h = (struct histogram){.from = dense->from,
                                .width = (dense->to - dense->from) / BUCKETS + 1};
        histogram_fill(h, trace);
        if (round == 0) {
            all = histogram_sum(h, 0, BUCKETS);
            wanted = all - all * (100 - TV_DENSE_PERCENT) / 100;
        }
        if (all == 0)
            break;
        histogram_shortest_run(h, wanted, &first, &count);
        histogram_grow_run(h, &first, &count);
        dense->from = h->from + h->width * first;
        dense->to = dense->from + h->width * count;
        dense->before += histogram_sum(h, 0, first);
        dense->after += histogram_sum(h, first + count, BUCKETS);
        if (count >= FINE || h->width == 1)
            break;
    }
    tv_free(h);
    if (dense->to > trace->end)
        dense->to = trace->end;
    bool is_part = dense->before > 0 || dense->after > 0;
    return is_part && dense->to - dense->from <= length / TV_DENSE_SHARE;
}
