/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_gap.c - merging and evaluating the counts of events over time.
 */
#include "model/assembly/idle_gap.h"

#include <assert.h>
#include <string.h>

void tv_idle_gap_init(struct tv_idle_gap *gap)
{
    *gap = (struct tv_idle_gap){.first = INT64_MAX, .last = INT64_MIN};
}

/* Add the counts of `from` to `counts`, whose bins are at least as long. */
static void idle_gap_fold_counts(uint64_t *counts, unsigned shift, const struct tv_idle_gap *from)
{
    uint64_t first = tv_idle_gap_bin(from->first, from->shift);
    uint64_t last = tv_idle_gap_bin(from->last, from->shift);
    for (uint64_t i = 0; from->first <= from->last && i <= last - first; i++)
        counts[((first + i) >> (shift - from->shift)) % TV_IDLE_GAP_BINS] +=
            from->counts[(first + i) % TV_IDLE_GAP_BINS];
}

void tv_idle_gap_coarsen(struct tv_idle_gap *gap, int64_t first, int64_t last)
{
    uint64_t counts[TV_IDLE_GAP_BINS] = {0};
    unsigned shift = gap->shift;
    assert(first <= last);
    while (tv_idle_gap_bin(last, shift) - tv_idle_gap_bin(first, shift) >= TV_IDLE_GAP_BINS)
        shift++;
    idle_gap_fold_counts(counts, shift, gap);
    memcpy(gap->counts, counts, sizeof counts);
    gap->shift = shift;
}

void tv_idle_gap_merge(struct tv_idle_gap *to, const struct tv_idle_gap *chunk)
{
    if (chunk->first > chunk->last)
        return;
    struct tv_idle_gap both = {
        .first = chunk->first < to->first ? chunk->first : to->first,
        .last = chunk->last > to->last ? chunk->last : to->last,
        .shift = chunk->shift > to->shift ? chunk->shift : to->shift,
    };
    while (tv_idle_gap_bin(both.last, both.shift) - tv_idle_gap_bin(both.first, both.shift) >=
           TV_IDLE_GAP_BINS)
        both.shift++;
    idle_gap_fold_counts(both.counts, both.shift, to);
    idle_gap_fold_counts(both.counts, both.shift, chunk);
    *to = both;
}

bool tv_idle_gap_find(const struct tv_idle_gap *gap, int64_t *until)
{
    if (gap->first > gap->last)
        return false;
    uint64_t first = tv_idle_gap_bin(gap->first, gap->shift);
    uint64_t bins = tv_idle_gap_bin(gap->last, gap->shift) - first + 1;
    uint64_t all = 0, before = 0, empty = 0;
    for (size_t i = 0; i < TV_IDLE_GAP_BINS; i++)
        all += gap->counts[i];
    for (uint64_t i = 0; i < bins; i++) {
        uint64_t count = gap->counts[(first + i) % TV_IDLE_GAP_BINS];
        if (count > 0 && empty > bins / 2 && (all - before) * 10 < before) {
            *until = (int64_t)(((first + i) << gap->shift) ^ (UINT64_C(1) << 63));
            return true;
        }
        empty = count > 0 ? 0 : empty + 1;
        before += count;
    }
    return false;
}
