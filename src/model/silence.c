/* SPDX-License-Identifier: Apache-2.0 */
#include "model/silence.h"

#include <string.h>

void tv_silence_init(struct tv_silence *silence)
{
    *silence = (struct tv_silence){.first = INT64_MAX, .last = INT64_MIN};
}

/* Adds the counts of `from` to `counts`, whose bins are at least as long. */
static void fold_counts(uint64_t *counts, unsigned shift, const struct tv_silence *from)
{
    uint64_t first = tv_silence_bin(from->first, from->shift);
    uint64_t last = tv_silence_bin(from->last, from->shift);
    for (uint64_t i = 0; from->first <= from->last && i <= last - first; i++)
        counts[((first + i) >> (shift - from->shift)) % TV_SILENCE_BINS] +=
            from->counts[(first + i) % TV_SILENCE_BINS];
}

void tv_silence_coarsen(struct tv_silence *silence, int64_t first, int64_t last)
{
    uint64_t counts[TV_SILENCE_BINS] = {0};
    unsigned shift = silence->shift;
    while (tv_silence_bin(last, shift) - tv_silence_bin(first, shift) >= TV_SILENCE_BINS)
        shift++;
    fold_counts(counts, shift, silence);
    memcpy(silence->counts, counts, sizeof counts);
    silence->shift = shift;
}

void tv_silence_merge(struct tv_silence *to, const struct tv_silence *part)
{
    if (part->first > part->last)
        return;
    struct tv_silence both = {
        .first = part->first < to->first ? part->first : to->first,
        .last = part->last > to->last ? part->last : to->last,
        .shift = part->shift > to->shift ? part->shift : to->shift,
    };
    while (tv_silence_bin(both.last, both.shift) - tv_silence_bin(both.first, both.shift) >=
           TV_SILENCE_BINS)
        both.shift++;
    fold_counts(both.counts, both.shift, to);
    fold_counts(both.counts, both.shift, part);
    *to = both;
}

bool tv_silence_find(const struct tv_silence *silence, int64_t *until)
{
    if (silence->first > silence->last)
        return false;
    uint64_t first = tv_silence_bin(silence->first, silence->shift);
    uint64_t bins = tv_silence_bin(silence->last, silence->shift) - first + 1;
    uint64_t all = 0, before = 0, empty = 0;
    for (size_t i = 0; i < TV_SILENCE_BINS; i++)
        all += silence->counts[i];
    for (uint64_t i = 0; i < bins; i++) {
        uint64_t count = silence->counts[(first + i) % TV_SILENCE_BINS];
        if (count > 0 && empty > bins / 2 && (all - before) * 10 < before) {
            *until = (int64_t)(((first + i) << silence->shift) ^ (UINT64_C(1) << 63));
            return true;
        }
        empty = count > 0 ? 0 : empty + 1;
        before += count;
    }
    return false;
}
