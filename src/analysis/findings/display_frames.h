/* SPDX-License-Identifier: Apache-2.0 */
/*
 * display_frames.h - the frames that a display was to show: when each was made, by which deadline
 * it had to be done, whether it was late, and what took the time.
 *
 * A display frame (elsewhere here a "frame" is a function on a stack) is found in one of these
 * ways:
 *
 *   timeline    Perfetto's frame timeline has the expected and the actual time of each frame
 *   pipeline    Chromium's PipelineReporter has a slice for each frame, which says what became of
 *               it
 *   calls       the call that makes the frame, by its name: the outermost of nested ones
 *
 * On Android a main thread and a render thread make a frame together; the main thread waits while
 * the render thread takes over what to draw.  So the drawing belongs to the call of the main thread
 * in which it begins, and the frame lasts to the end of both:
 *
 *     main            | Choreographer#doFrame |
 *     RenderThread                    | DrawFrame --- |
 *     frame           | ----------------------------- |
 *
 * Elsewhere (Flutter, Chromium) the threads work beside each other, and each has the whole time
 * between two pictures for itself: they make frames of their own.
 */
#ifndef TV_ANALYSIS_FINDINGS_DISPLAY_FRAMES_H
#define TV_ANALYSIS_FINDINGS_DISPLAY_FRAMES_H

#include "model/trace.h"

struct tv_listed_calls;
struct tv_selection;

/* Sources of a deadline, the least trustworthy first. */
enum tv_deadline_source {
    TV_DEADLINE_DEFAULT,  /* 60 Hz, because the trace says nothing about its display */
    TV_DEADLINE_ARGUMENT, /* the argument of an event */
    TV_DEADLINE_VSYNC,    /* the median distance of the changes of a counter of vertical syncs */
    TV_DEADLINE_TIMELINE, /* the end of the expected frame */
    TV_DEADLINE_STATED,   /* there is none: the trace itself says which frames are late */
};

/* 1 s / 60, the interval of most displays. */
#define TV_DISPLAY_INTERVAL_NS INT64_C(16666667)

/* The time between two pictures. */
struct tv_display_interval {
    tv_ns period;
    enum tv_deadline_source source;
    uint32_t name; /* string: of the counter (VSYNC) or the event (ARGUMENT); else empty */
};

/* The deadline of frames that have none (TV_DEADLINE_STATED). */
#define TV_NO_DEADLINE INT64_MIN

struct tv_display_frame {
    tv_ns start, length;
    tv_ns deadline;           /* from its start; below 0 if it began after its deadline */
    tv_ns main, render;       /* time of the main and of the render thread; 0: none is known */
    tv_ns cause_time;         /* of `cause`, on both threads */
    uint32_t row, index;      /* the slice that stands for the frame */
    uint32_t name;            /* frame (of a call) of that slice */
    uint32_t process, thread; /* index; TV_NONE: unknown */
    uint32_t cause;      /* frame (of calls) that took most time of its own; TV_NONE: unknown */
    uint32_t reason;     /* in tv_display_frames.reasons: why it was late; 0: unknown */
    uint32_t first_part; /* in tv_display_frames.parts; TV_NONE: none */
    uint8_t source;      /* enum tv_deadline_source */
    bool late;
    bool unfinished; /* the end is not in the trace: `length` is at least that long */
};

/* A call that does some of a frame's work. */
struct tv_display_part {
    tv_ns start, length;
    uint32_t row, index;
    uint32_t next; /* of the same frame; TV_NONE: the last */
    uint8_t lists; /* enum tv_rule_names */
    bool open;     /* the end is not in the trace */
};

struct tv_display_frames {
    const struct tv_trace *trace;  /* not owned */
    struct tv_display_frame *list; /* by start */
    uint32_t count;
    struct tv_display_part *parts;
    uint32_t part_count;
    struct tv_display_interval *intervals; /* [inputs] of frames found by calls */
    struct tv_interner *reasons;
};

/* Find the display frames that touch the selection's range, on its tracks; a selection of all
 * threads has the timeline and the pipeline, too.  `listed` are the calls of the trace, or NULL.
 * Frames of the timeline and the pipeline that may be late are read from their files again. */
struct tv_display_frames *tv_display_frames_of(const struct tv_trace *trace,
                                               const struct tv_selection *selection,
                                               const struct tv_listed_calls *listed);
void tv_display_frames_free(struct tv_display_frames *frames);

/* Find the cause of each frame, or only of the late ones: a pass over the slices in them. */
void tv_display_frames_explain(struct tv_display_frames *frames, bool only_late);

/* ---- The frames of a whole trace ---- */

/* Frames that are found when somebody first asks; any number of threads may ask. */
struct tv_display_cache;

/* Make a cache without frames yet, for a trace that must outlive it.  The causes will be found of
 * all frames, or only of the late ones. */
struct tv_display_cache *tv_display_cache_new(const struct tv_trace *trace, bool only_late);
void tv_display_cache_free(struct tv_display_cache *cache);

/* Return the frames, which belong to the cache. */
const struct tv_display_frames *tv_display_cache_get(struct tv_display_cache *cache);

/* Return what the deadline of a frame is from. */
struct tv_display_interval tv_display_frame_interval(const struct tv_display_frames *frames,
                                                     const struct tv_display_frame *frame);

/* Return the first frame of each kind of deadline: of each input that has an interval, and of
 * frames with deadlines of their own.  Free the array with tv_free. */
uint32_t *tv_display_frames_by_deadline(const struct tv_display_frames *frames, uint32_t *count);

/* ---- Figures ---- */

/* The frames of one process, or all. */
struct tv_display_group {
    uint32_t process; /* TV_NONE: unknown, or all */
    uint32_t count, late, unfinished;
    tv_ns p50, p95, p99, max; /* of the finished ones, as statistics.h defines them; 0: none */
};

/* Return figures of all frames, and after them those of each process, most late frames first;
 * free them with tv_free. */
struct tv_display_group *tv_display_groups_of(const struct tv_display_frames *frames,
                                              uint32_t *count);

#endif
