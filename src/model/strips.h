/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strips.h - tracks of one row of slices that are whole and follow one another: what a processor
 * ran, the states of a thread.
 */
#ifndef TV_MODEL_STRIPS_H
#define TV_MODEL_STRIPS_H

#include "model/assembly.h"

/* Reserved colours of states: their ids of trace-event.md section 5, less 22. */
enum tv_state_colour {
    TV_COLOUR_BLOCKED = 1, /* thread_state_uninterruptible */
    TV_COLOUR_IO = 2,      /* thread_state_iowait */
    TV_COLOUR_RUNNING = 3,
    TV_COLOUR_RUNNABLE = 4,
    TV_COLOUR_SLEEPING = 5,
};

struct tv_strip {
    enum tv_track_kind kind;  /* TV_TRACK_CPU or TV_TRACK_STATES */
    uint32_t name;            /* string */
    uint32_t process, thread; /* TV_NONE: of none */
    bool known;               /* it is a track even without slices, */
    int64_t since;            /* and begins then */
};

struct tv_strip_slice {
    int64_t start, length;
    uint64_t offset : 40; /* of the event that began it */
    uint64_t flags : 8;   /* enum tv_slice_flags */
    uint32_t frame;
    uint32_t strip; /* which one it belongs to */
};

/* All slices of one strip, which need not say which one it is. */
struct tv_strip_list {
    const struct tv_strip_slice *slices;
    size_t count;
};

/* Makes the tracks, after tv_assembly_place.  The slices of a strip are given in the order of time
 * and do not overlap.  A strip without slices makes no track unless it is known.  Many slices are
 * written by `workers` threads (0: one a processor). */
void tv_assembly_strip_lists(struct tv_assembly *assembly, const struct tv_strip *strips,
                             const struct tv_strip_list *lists, size_t strip_count,
                             unsigned workers);

/* The same of slices of all strips, mixed. */
void tv_assembly_strips(struct tv_assembly *assembly, const struct tv_strip *strips,
                        size_t strip_count, const struct tv_strip_slice *slices, size_t slice_count,
                        unsigned workers);

#endif
