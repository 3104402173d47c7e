/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketch.h - a preview of a trace while it is being read: the activity of its tracks over time.
 *
 * A reader that finds a sketch in its progress marks some of its events there, from any number of
 * threads; the page draws a copy.  The range grows with the times: buckets double in length, and
 * their counts are added up.
 */
#ifndef TV_MODEL_SKETCH_H
#define TV_MODEL_SKETCH_H

#include "base/types.h"

#define TV_SKETCH_TRACKS 64u
#define TV_SKETCH_BUCKETS 200u
#define TV_SKETCH_NAME 40u

struct tv_sketch;

struct tv_sketch *tv_sketch_new(void);
void tv_sketch_free(struct tv_sketch *sketch);

/* Return the track with a name (cut to TV_SKETCH_NAME bytes), or TV_NONE when there are too many.
 */
uint32_t tv_sketch_track(struct tv_sketch *sketch, struct tv_bytes name);

/* An event on a track (TV_NONE: on a track that is not shown). */
struct tv_sketch_mark {
    int64_t time; /* nanoseconds on any clock */
    uint32_t track;
};

/* Add several marks per call, because each call takes a lock. */
void tv_sketch_add(struct tv_sketch *sketch, const struct tv_sketch_mark *marks, size_t count);

/* Take all marks back, and keep the tracks: their times had another unit. */
void tv_sketch_clear(struct tv_sketch *sketch);

/* Return whether there is any mark. */
bool tv_sketch_any(struct tv_sketch *sketch);

/* A copy of a sketch.  Heights are relative to the busiest bucket; 1 to 255 where anything
 * happened. */
struct tv_sketch_shown {
    uint32_t track_count; /* 0: nothing yet */
    int64_t length;       /* ns from the first bucket to the last */
    char names[TV_SKETCH_TRACKS][TV_SKETCH_NAME + 1];
    uint8_t heights[TV_SKETCH_TRACKS][TV_SKETCH_BUCKETS];
};

/* Fill the copy, from any thread. */
void tv_sketch_show(struct tv_sketch *sketch, struct tv_sketch_shown *shown);

#endif
