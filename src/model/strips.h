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

/* Rows of strips whose slices are written one by one, each where it stays. */
struct tv_strip_rows;

/* How many slices each strip has, and which strips are written by one worker: those up to
 * ends[0], those from there up to ends[1], and so on. */
struct tv_strip_layout {
    const uint32_t *counts; /* by strip */
    size_t strip_count;
    const size_t *ends; /* of the groups; the last is strip_count */
    unsigned group_count;
};

/* Rows of an input, which may be written before the threads are placed. */
struct tv_strip_rows *tv_strip_rows_new(const struct tv_assembly *assembly,
                                        const struct tv_strip_layout *layout);

/* Writes the next slice of its strip, which follows the one before, and returns its index in the
 * row.  Strips of one group are written by one thread at a time. */
uint32_t tv_strip_rows_put(struct tv_strip_rows *rows, unsigned group,
                           const struct tv_strip_slice *slice);

/* A slice that was written is of another frame. */
void tv_strip_rows_rename(struct tv_strip_rows *rows, unsigned group, size_t strip, uint32_t index,
                          uint32_t frame);

/* Makes the tracks, once, after tv_assembly_place; takes the rows over.  A strip without slices
 * makes no track unless it is known. */
void tv_assembly_strip_rows(struct tv_assembly *assembly, const struct tv_strip *strips,
                            struct tv_strip_rows *rows);

/* All of it, of slices of all strips, mixed: those of one strip are in the order of time and do not
 * overlap.  Many slices are written by `workers` threads (0: one a processor). */
void tv_assembly_strips(struct tv_assembly *assembly, const struct tv_strip *strips,
                        size_t strip_count, const struct tv_strip_slice *slices, size_t slice_count,
                        unsigned workers);

/* Fewer slices are not worth a second group. */
#define TV_STRIP_GROUP_LEAST 65536u

#endif
