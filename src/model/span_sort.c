/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stable sorting of spans: they are nearly sorted most of the time, as events are written when they
 * happen or when they end.
 */
#include <string.h>

#include "base/memory.h"
#include "model/spans.h"

/* Runs of this many are sorted by insertion. */
#define RUN 16u

typedef bool less_function(const struct tv_span *a, const struct tv_span *b);

TV_INLINE bool earlier(const struct tv_span *a, const struct tv_span *b)
{
    return a->time < b->time;
}

TV_INLINE bool earlier_or_longer(const struct tv_span *a, const struct tv_span *b)
{
    return a->time < b->time || (a->time == b->time && a->length > b->length);
}

TV_INLINE bool is_sorted(const struct tv_span *spans, size_t count, less_function *less)
{
    for (size_t i = 1; i < count; i++)
        if (less(&spans[i], &spans[i - 1]))
            return false;
    return true;
}

TV_INLINE void sort_run(struct tv_span *spans, size_t count, less_function *less)
{
    for (size_t i = 1; i < count; i++) {
        struct tv_span span = spans[i];
        size_t at = i;
        for (; at > 0 && less(&span, &spans[at - 1]); at--)
            spans[at] = spans[at - 1];
        spans[at] = span;
    }
}

/* Merges [0, middle) and [middle, count); `spare` has room for the first. */
TV_INLINE void merge(struct tv_span *spans, size_t middle, size_t count, struct tv_span *spare,
                     less_function *less)
{
    size_t stays = 0; /* what is before all of the second half stands already */
    while (stays < middle && !less(&spans[middle], &spans[stays]))
        stays++;
    if (stays == middle)
        return;
    size_t left = 0, lefts = middle - stays, right = middle, to = stays;
    memcpy(spare, spans + stays, lefts * sizeof *spare);
    while (left < lefts && right < count)
        spans[to++] = less(&spans[right], &spare[left]) ? spans[right++] : spare[left++];
    memcpy(spans + to, spare + left, (lefts - left) * sizeof *spare);
}

TV_INLINE void sort(struct tv_spans *all, less_function *less)
{
    struct tv_span *spans = all->spans;
    size_t count = all->count;
    if (is_sorted(spans, count, less))
        return;
    for (size_t i = 0; i < count; i += RUN)
        sort_run(spans + i, count - i < RUN ? count - i : RUN, less);
    struct tv_span *spare = tv_room_take(&all->rooms->spare, count, sizeof *spare);
    for (size_t width = RUN; width < count; width *= 2)
        for (size_t i = 0; count - i > width; i += 2 * width) {
            size_t end = count - i < 2 * width ? count - i : 2 * width;
            merge(spans + i, width, end, spare, less);
            if (end < 2 * width)
                break;
        }
    tv_room_leave(&all->rooms->spare);
}

void tv_spans_sort_by_time(struct tv_spans *spans)
{
    sort(spans, earlier);
}

void tv_spans_sort_by_start(struct tv_spans *spans)
{
    sort(spans, earlier_or_longer);
}
