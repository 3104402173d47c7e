/* SPDX-License-Identifier: Apache-2.0 */
/*
 * silence.h - whether the last events of an input lie far beyond the rest.
 *
 * A slice without an end is open to the end of the trace.  A single tick of an idle program,
 * minutes after all the rest, would make it minutes long.  So readers count the beginnings of
 * events over time: an input falls silent when nothing begins for more than half of its length, and
 * fewer than a tenth as many events come behind that as before.  Open slices end before the silence
 * then (tv_assembly_lasts).
 *
 * 64 bins lie in a ring: a time's bin is its high bits, so that counts of parts add up to those
 * of the whole, whatever the parts are.  Bins become twice as long when the range needs it.
 */
#ifndef TV_MODEL_SILENCE_H
#define TV_MODEL_SILENCE_H

#include "base/types.h"

#define TV_SILENCE_BINS 64u

struct tv_silence {
    int64_t first, last; /* of all times; first > last: there are none */
    unsigned shift;      /* a bin lasts 2^shift ns */
    uint64_t counts[TV_SILENCE_BINS];
};

void tv_silence_init(struct tv_silence *silence);

TV_INLINE uint64_t tv_silence_bin(int64_t time, unsigned shift)
{
    return ((uint64_t)time ^ (UINT64_C(1) << 63)) >> shift;
}

/* Makes bins so long that they hold a range around that at hand. */
void tv_silence_coarsen(struct tv_silence *silence, int64_t first, int64_t last);

/* Widens the range to a time. */
TV_INLINE void tv_silence_widen(struct tv_silence *silence, int64_t time)
{
    if (TV_LIKELY(time >= silence->first && time <= silence->last))
        return;
    int64_t first = time < silence->first ? time : silence->first;
    int64_t last = time > silence->last ? time : silence->last;
    if (TV_UNLIKELY(tv_silence_bin(last, silence->shift) - tv_silence_bin(first, silence->shift) >=
                    TV_SILENCE_BINS))
        tv_silence_coarsen(silence, first, last);
    silence->first = first;
    silence->last = last;
}

/* An event begins. */
TV_INLINE void tv_silence_count(struct tv_silence *silence, int64_t time)
{
    tv_silence_widen(silence, time);
    silence->counts[tv_silence_bin(time, silence->shift) % TV_SILENCE_BINS]++;
}

/* Adds what a part counted. */
void tv_silence_merge(struct tv_silence *to, const struct tv_silence *part);

/* Return true when the input falls silent, and set *until: events that begin earlier come before
 * the silence. */
bool tv_silence_find(const struct tv_silence *silence, int64_t *until);

#endif
