/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketch.c - counts of events in buckets that double in length.
 *
 * A sketch must cover a range of times that nobody knows yet, in memory of fixed size.  It begins
 * with short buckets.  When a mark falls outside, the buckets move, or pairs of them are joined
 * until the range fits; counts are added, so nothing is lost but resolution.
 *
 *     shift 10   |1|0|2|1|      a mark far to the right arrives
 *     shift 11   |1|3| | |      pairs are joined; the same range takes half of the buckets
 *
 * Readers add marks from several threads, so each public function takes the lock.
 */
#include "model/sketch.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"

/* The first buckets last a microsecond; shorter ones would show nothing. */
#define FIRST_SHIFT 10u

struct sketch_track {
    char name[TV_SKETCH_NAME + 1];
    uint32_t counts[TV_SKETCH_BUCKETS];
};

struct tv_sketch {
    struct tv_lock lock;
    unsigned shift; /* a bucket lasts 2^shift ns */
    int64_t first;  /* number of the first bucket, counted from time 0 */
    bool any;       /* there was a mark, so `first` is valid */
    uint32_t track_count;
    struct sketch_track tracks[TV_SKETCH_TRACKS];
};

struct tv_sketch *tv_sketch_new(void)
{
    struct tv_sketch *sketch = tv_alloc(1, sizeof *sketch);
    tv_lock_init(&sketch->lock);
    sketch->shift = FIRST_SHIFT;
    return sketch;
}

void tv_sketch_free(struct tv_sketch *sketch)
{
    if (!sketch)
        return;
    tv_lock_release(&sketch->lock);
    tv_free(sketch);
}

/* Return the number of the track with a name of TV_SKETCH_NAME bytes at most, which is added when
 * it is new; TV_NONE when all tracks are taken. */
static uint32_t sketch_find_track(struct tv_sketch *sketch, const char *name)
{
    for (uint32_t i = 0; i < sketch->track_count; i++)
        if (strcmp(sketch->tracks[i].name, name) == 0)
            return i;
    if (sketch->track_count == TV_SKETCH_TRACKS)
        return TV_NONE;
    memcpy(sketch->tracks[sketch->track_count].name, name, TV_SKETCH_NAME + 1);
    return sketch->track_count++;
}

uint32_t tv_sketch_track(struct tv_sketch *sketch, struct tv_bytes name)
{
    char text[TV_SKETCH_NAME + 1] = {0};
    size_t length = name.length < TV_SKETCH_NAME ? name.length : TV_SKETCH_NAME;
    if (length > 0)
        memcpy(text, name.data, length);
    tv_lock_enter(&sketch->lock);
    uint32_t track = sketch_find_track(sketch, text);
    tv_lock_leave(&sketch->lock);
    return track;
}

/* Round down, also below 0. */
static int64_t sketch_bucket_of(int64_t time, unsigned shift)
{
    int64_t length = (int64_t)1 << shift;
    return time / length - (time % length < 0);
}

/* Return the number of buckets from the first to the last one in use. */
static uint32_t sketch_used_buckets(const struct tv_sketch *sketch, uint32_t *first)
{
    uint32_t end = 0;
    *first = TV_SKETCH_BUCKETS;
    for (uint32_t i = 0; i < sketch->track_count; i++)
        for (uint32_t j = 0; j < TV_SKETCH_BUCKETS; j++)
            if (sketch->tracks[i].counts[j] > 0) {
                *first = j < *first ? j : *first;
                end = j + 1 > end ? j + 1 : end;
            }
    return end > *first ? end - *first : 0;
}

/* Move the counts to buckets that start at `first` and last 2^shift ns. */
static void sketch_rearrange(struct tv_sketch *sketch, int64_t first, unsigned shift)
{
    for (uint32_t i = 0; i < sketch->track_count; i++) {
        uint32_t counts[TV_SKETCH_BUCKETS] = {0};
        for (uint32_t j = 0; j < TV_SKETCH_BUCKETS; j++)
            if (sketch->tracks[i].counts[j] > 0)
                counts[sketch_bucket_of(sketch->first + j, shift - sketch->shift) - first] +=
                    sketch->tracks[i].counts[j];
        memcpy(sketch->tracks[i].counts, counts, sizeof counts);
    }
    assert(shift >= sketch->shift); /* buckets never become shorter */
    sketch->first = first;
    sketch->shift = shift;
}

/* Extend the range to a time outside of the buckets. */
static void sketch_include_time(struct tv_sketch *sketch, int64_t time)
{
    uint32_t begin, count = sketch_used_buckets(sketch, &begin);
    unsigned shift = sketch->shift;
    int64_t bucket = sketch_bucket_of(time, shift);
    int64_t low = count > 0 ? sketch->first + begin : bucket, high = low + count;
    low = bucket < low ? bucket : low;
    high = bucket >= high ? bucket + 1 : high;
    for (; (uint64_t)high - (uint64_t)low > TV_SKETCH_BUCKETS; shift++) {
        high = sketch_bucket_of(high - 1, 1) + 1;
        low = sketch_bucket_of(low, 1);
    }
    sketch_rearrange(sketch, low, shift);
    sketch->any = true;
}

/* Count a mark. Marks of tracks that were refused are ignored. */
static void sketch_add_mark(struct tv_sketch *sketch, const struct tv_sketch_mark *mark)
{
    if (mark->track >= sketch->track_count)
        return;
    int64_t bucket = sketch_bucket_of(mark->time, sketch->shift) - sketch->first;
    if (!sketch->any || bucket < 0 || bucket >= (int64_t)TV_SKETCH_BUCKETS) {
        sketch_include_time(sketch, mark->time);
        bucket = sketch_bucket_of(mark->time, sketch->shift) - sketch->first;
    }
    sketch->tracks[mark->track].counts[bucket]++;
}

void tv_sketch_add(struct tv_sketch *sketch, const struct tv_sketch_mark *marks, size_t count)
{
    tv_lock_enter(&sketch->lock);
    for (size_t i = 0; i < count; i++)
        sketch_add_mark(sketch, &marks[i]);
    tv_lock_leave(&sketch->lock);
}

void tv_sketch_clear(struct tv_sketch *sketch)
{
    tv_lock_enter(&sketch->lock);
    for (uint32_t i = 0; i < sketch->track_count; i++)
        memset(sketch->tracks[i].counts, 0, sizeof sketch->tracks[i].counts);
    sketch->shift = FIRST_SHIFT;
    sketch->any = false;
    tv_lock_leave(&sketch->lock);
}

bool tv_sketch_any(struct tv_sketch *sketch)
{
    tv_lock_enter(&sketch->lock);
    bool any = sketch->any;
    tv_lock_leave(&sketch->lock);
    return any;
}

/* Return the largest count of any bucket, for the scale of the heights. */
static uint32_t sketch_largest_count(const struct tv_sketch *sketch)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < sketch->track_count; i++)
        for (uint32_t j = 0; j < TV_SKETCH_BUCKETS; j++)
            most = sketch->tracks[i].counts[j] > most ? sketch->tracks[i].counts[j] : most;
    return most;
}

void tv_sketch_show(struct tv_sketch *sketch, struct tv_sketch_shown *shown)
{
    memset(shown, 0, sizeof *shown);
    tv_lock_enter(&sketch->lock);
    uint64_t most = sketch_largest_count(sketch);
    if (most > 0) {
        shown->track_count = sketch->track_count;
        /* Buckets may reach the whole range of times; the length then ends at the last one. */
        shown->length = TV_SKETCH_BUCKETS <= INT64_MAX >> sketch->shift
                            ? (int64_t)TV_SKETCH_BUCKETS << sketch->shift
                            : INT64_MAX;
    }
    for (uint32_t i = 0; i < shown->track_count; i++) {
        const struct sketch_track *track = &sketch->tracks[i];
        memcpy(shown->names[i], track->name, sizeof shown->names[i]);
        for (uint32_t j = 0; j < TV_SKETCH_BUCKETS; j++)
            shown->heights[i][j] = (uint8_t)((track->counts[j] * UINT64_C(255) + most - 1) / most);
    }
    tv_lock_leave(&sketch->lock);
}
