/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/activity.h"

#include <string.h>

#include "analysis/strip.h"
#include "base/memory.h"

struct buckets {
    tv_ns from, to;
    uint32_t count;
    int64_t *covered; /* nanoseconds; -1: nothing is there */
};

/* Where bucket i begins. */
static tv_ns edge(const struct buckets *b, uint32_t i)
{
    tv_ns span = b->to - b->from;
    return b->from + span / b->count * i + span % b->count * i / b->count;
}

/* The bucket of a time within the range. */
static uint32_t bucket_at(const struct buckets *b, tv_ns time)
{
    uint32_t low = 0, high = b->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (edge(b, middle) <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void cover(struct buckets *b, uint32_t i, int64_t length)
{
    b->covered[i] = (b->covered[i] < 0 ? 0 : b->covered[i]) + length;
}

#define FURTHEST ((tv_ns)1 << 61)

static void cover_range(struct buckets *b, tv_ns start, tv_ns end)
{
    start = start > b->from ? start : b->from;
    end = end < b->to ? end : b->to;
    if (start >= end)
        return;
    for (uint32_t i = bucket_at(b, start); i < b->count && start < end; i++) {
        tv_ns stop = edge(b, i + 1) < end ? edge(b, i + 1) : end;
        cover(b, i, stop - start);
        start = stop;
    }
}

static void add_strip(struct buckets *b, const struct tv_strip *strip)
{
    for (unsigned i = 0; strip->any && i < TV_STRIP_PIXELS; i++) {
        tv_ns at = strip->from + ((tv_ns)i << strip->res);
        if (strip->longest[i] < 0)
            continue;
        at = at > b->from ? at : b->from;
        cover(b, bucket_at(b, at < b->to ? at : b->to - 1), strip->covered[i]);
    }
    for (uint32_t i = 0; i < strip->long_count; i++) {
        tv_ns start = strip->calls[i].start, end = start + strip->calls[i].length;
        tv_ns stop = tv_strip_end(strip);
        cover_range(b, start > strip->from ? start : strip->from, end < stop ? end : stop);
    }
}

/* Pixels of an eighth of a bucket or less: that much a short call may stand in the wrong one. */
static unsigned resolution(tv_ns span, uint32_t buckets)
{
    unsigned res = 0;
    while (res < TV_MAX_RES && ((tv_ns)16 << res) <= span / buckets)
        res++;
    return res;
}

static uint8_t height(const struct buckets *b, uint32_t i)
{
    int64_t covered = b->covered[i], width = edge(b, i + 1) - edge(b, i);
    if (covered < 0)
        return 0;
    if (covered >= width)
        return 255;
    int64_t value = (int64_t)((double)covered * 255 / (double)width + 0.5);
    return value < 1 ? 1 : (uint8_t)value;
}

void tv_activity_of_track(const struct tv_pyramid *pyramid, uint32_t track, tv_ns from, tv_ns to,
                          uint32_t buckets, uint8_t *heights)
{
    const struct tv_track *t = &pyramid->trace->tracks[track];
    memset(heights, 0, buckets);
    if (t->row_count == 0 || from >= to || buckets == 0)
        return;
    struct buckets b = {from, to, buckets, tv_alloc(buckets, sizeof *b.covered)};
    memset(b.covered, 0xff, buckets * sizeof *b.covered);
    unsigned res = resolution(to - from, buckets);
    tv_ns tile = (tv_ns)TV_STRIP_PIXELS << res;
    struct tv_strip strip;
    /* Strips lie within 62 bits: what a hostile trace has beyond is not drawn. */
    tv_ns low = from > -FURTHEST ? from : -FURTHEST, high = to < FURTHEST ? to : FURTHEST;
    int64_t first = low / tile - (low % tile < 0);
    int64_t last = (high - 1) / tile - ((high - 1) % tile < 0);
    for (int64_t number = first; number <= last; number++) {
        tv_strip_of_row(pyramid, t->first_row, res, number, &strip);
        add_strip(&b, &strip);
    }
    for (uint32_t i = 0; i < buckets; i++)
        heights[i] = height(&b, i);
    tv_free(b.covered);
}
