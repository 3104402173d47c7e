/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_gap.h - detects that the last events of an input lie far beyond the rest.
 *
 * A slice without an end is open until the end of the trace.  One timer tick of an idle program,
 * minutes after everything else, would make such slices minutes long.  So readers count the begins
 * of events over time.  An input has an idle gap when nothing begins for more than half of its
 * length, and less than a tenth as many events follow the gap as precede it.  Open slices then end
 * before the gap, except in threads that go on after it (tv_assembly_idle_ends).
 *
 *     events    |||||||||||||||||||||||                                                      |
 *               before                  gap: more than half of all                           after
 *
 * The counts are in a ring of 64 bins.  A time's bin consists of its high bits, so the counts of
 * chunks add up to those of the whole input, however it is divided.  Bins double in length when the
 * range needs it.
 */
#ifndef TV_MODEL_ASSEMBLY_IDLE_GAP_H
#define TV_MODEL_ASSEMBLY_IDLE_GAP_H

#include "base/types.h"

#define TV_IDLE_GAP_BINS 64u

struct tv_idle_gap {
    int64_t first, last; /* of all times; first > last: none */
    unsigned shift;      /* a bin is 2^shift ns long */
    uint64_t counts[TV_IDLE_GAP_BINS];
};

void tv_idle_gap_init(struct tv_idle_gap *gap);

TV_INLINE uint64_t tv_idle_gap_bin(int64_t time, unsigned shift)
{
    return ((uint64_t)time ^ (UINT64_C(1) << 63)) >> shift;
}

/* Lengthen the bins until the ring holds the range [first, last]. */
void tv_idle_gap_coarsen(struct tv_idle_gap *gap, int64_t first, int64_t last);

/* Extend the range to a time. */
TV_INLINE void tv_idle_gap_widen(struct tv_idle_gap *gap, int64_t time)
{
    if (TV_LIKELY(time >= gap->first && time <= gap->last))
        return;
    int64_t first = time < gap->first ? time : gap->first;
    int64_t last = time > gap->last ? time : gap->last;
    if (TV_UNLIKELY(tv_idle_gap_bin(last, gap->shift) - tv_idle_gap_bin(first, gap->shift) >=
                    TV_IDLE_GAP_BINS))
        tv_idle_gap_coarsen(gap, first, last);
    gap->first = first;
    gap->last = last;
}

/* Count an event that begins at a time. */
TV_INLINE void tv_idle_gap_count(struct tv_idle_gap *gap, int64_t time)
{
    tv_idle_gap_widen(gap, time);
    gap->counts[tv_idle_gap_bin(time, gap->shift) % TV_IDLE_GAP_BINS]++;
}

/* Add the counts of a chunk. */
void tv_idle_gap_merge(struct tv_idle_gap *to, const struct tv_idle_gap *chunk);

/* Return whether the input has an idle gap; *until is the time of its end: earlier events precede
 * it. */
bool tv_idle_gap_find(const struct tv_idle_gap *gap, int64_t *until);

#endif
