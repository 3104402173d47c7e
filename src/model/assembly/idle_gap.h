/* SPDX-License-Identifier: Apache-2.0 */
/*
 * silence.h - whether the last events of an input lie far beyond the rest.
 *
 * A slice without an end is open to the end of the trace.  A single tick of an idle program,
 * minutes after all the rest, would make it minutes long.  So readers count the beginnings of
 * events over time: an input falls silent when nothing begins for more than half of its length, and
 * fewer than a tenth as many events come behind that as before.  Open slices end before the silence
 * then (tv_assembly_last_times).
 *
 * 64 bins lie in a ring: a time's bin is its high bits, so that counts of chunks add up to those
 * of the whole, whatever the chunks are.  Bins become twice as long when the range needs it.
 */
#ifndef TV_MODEL_SILENCE_H
#define TV_MODEL_SILENCE_H

#include "base/types.h"

#define TV_IDLE_GAP_BINS 64u

struct tv_idle_gap {
    int64_t first, last; /* of all times; first > last: there are none */
    unsigned shift;      /* a bin lasts 2^shift ns */
    uint64_t counts[TV_IDLE_GAP_BINS];
};

void tv_idle_gap_init(struct tv_idle_gap *silence);

TV_INLINE uint64_t tv_idle_gap_bin(int64_t time, unsigned shift)
{
    return ((uint64_t)time ^ (UINT64_C(1) << 63)) >> shift;
}

/* Makes bins so long that they hold a range around that at hand. */
void tv_idle_gap_coarsen(struct tv_idle_gap *silence, int64_t first, int64_t last);

/* Widens the range to a time. */
TV_INLINE void tv_idle_gap_widen(struct tv_idle_gap *silence, int64_t time)
{
    if (TV_LIKELY(time >= silence->first && time <= silence->last))
        return;
    int64_t first = time < silence->first ? time : silence->first;
    int64_t last = time > silence->last ? time : silence->last;
    if (TV_UNLIKELY(tv_idle_gap_bin(last, silence->shift) -
                        tv_idle_gap_bin(first, silence->shift) >=
                    TV_IDLE_GAP_BINS))
        tv_idle_gap_coarsen(silence, first, last);
    silence->first = first;
    silence->last = last;
}

/* An event begins. */
TV_INLINE void tv_idle_gap_count(struct tv_idle_gap *silence, int64_t time)
{
    tv_idle_gap_widen(silence, time);
    silence->counts[tv_idle_gap_bin(time, silence->shift) % TV_IDLE_GAP_BINS]++;
}

/* Adds what a chunk counted. */
void tv_idle_gap_merge(struct tv_idle_gap *to, const struct tv_idle_gap *chunk);

/* Return true when the input falls silent, and set *until: events that begin earlier come before
 * the silence. */
bool tv_idle_gap_find(const struct tv_idle_gap *silence, int64_t *until);

#endif
