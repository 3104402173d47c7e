/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketch.h - what can be shown of a trace while it is read: how busy its tracks are over time.
 *
 * Readers that find a sketch in their progress mark some of the events that they read, from any
 * number of threads; whoever draws it takes a copy.  The range grows with the times that come:
 * buckets become twice as long, and what they hold is added up.
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

/* The track with a name (cut to TV_SKETCH_NAME bytes); TV_NONE: there are enough already. */
uint32_t tv_sketch_track(struct tv_sketch *sketch, struct tv_bytes name);

/* Something happened on a track (TV_NONE: on none that is shown). */
struct tv_sketch_mark {
    int64_t time; /* nanoseconds, on whatever clock */
    uint32_t track;
};

/* Some marks at a time: each call waits for others. */
void tv_sketch_add(struct tv_sketch *sketch, const struct tv_sketch_mark *marks, size_t count);

/* Whether anything was marked. */
bool tv_sketch_any(struct tv_sketch *sketch);

/* A copy. Heights are shares of the busiest bucket of all, 1 to 255 where anything happened. */
struct tv_sketch_shown {
    uint32_t track_count; /* 0: nothing yet */
    int64_t length;       /* nanoseconds that the buckets span together */
    char names[TV_SKETCH_TRACKS][TV_SKETCH_NAME + 1];
    uint8_t heights[TV_SKETCH_TRACKS][TV_SKETCH_BUCKETS];
};

/* Fills the copy, from any thread. */
void tv_sketch_show(struct tv_sketch *sketch, struct tv_sketch_shown *shown);

#endif
