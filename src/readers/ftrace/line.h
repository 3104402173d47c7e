/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - one line of ftrace text taken apart (ftrace.md section 2).
 *
 *     comm-tid (tgid) [cpu] flags secs.frac: event: details        tracefs, trace-cmd report
 *     comm-tid cpu+flags secs.frac: event: details                 latency format of trace-cmd
 *     comm-tid cpu+flags delta us : details                        latency format of the kernel
 *
 * trace-cmd report of several buffers or files writes "name: " in front, right-aligned, and as many
 * spaces before the lines of the main buffer.  tgid and flags may be missing.  Each line is tried
 * by itself: a file may mix forms.
 */
#ifndef TV_READERS_FTRACE_LINE_H
#define TV_READERS_FTRACE_LINE_H

#include "base/types.h"

#define TV_FT_NO_ID (-1)

/* What a time counts. */
enum tv_ft_clock {
    TV_FT_CLOCK_SECONDS,
    TV_FT_CLOCK_TICKS, /* there was no '.': a clock of unknown unit */
    TV_FT_CLOCK_DELTA, /* microseconds from where the tracer began */
    TV_FT_CLOCKS
};

/* Spaces around texts are cut off. */
struct tv_ft_line {
    struct tv_bytes buffer; /* of an instance of tracefs, or a file; empty: the main buffer */
    struct tv_bytes task;   /* "<...>": unknown; "<idle>" of tid 0 */
    int64_t tid;
    int64_t tgid; /* TV_FT_NO_ID: the line does not say */
    uint32_t cpu;
    struct tv_bytes flags; /* empty: none */
    tv_ns time;            /* of clocks that count no seconds: their number */
    enum tv_ft_clock clock;
    struct tv_bytes event;   /* "sched_switch"; empty: `details` is "function <-parent" */
    struct tv_bytes details; /* may be empty */
};

/* What stood in front of processors lately: the same few threads tell most events. */
#define TV_FT_OWNERS 512u
#define TV_FT_OWNER_BYTES 40u

struct tv_ft_owner {
    uint8_t text[TV_FT_OWNER_BYTES]; /* all up to the '[' of the processor */
    uint8_t length;                  /* 0: none yet */
    uint8_t task, task_length;       /* in the text */
    int64_t tid, tgid;
};

struct tv_ft_owners {
    struct tv_ft_owner rows[TV_FT_OWNERS];
};

/* False: no event line. `text` has neither '\n' nor '\r' at its end. */
bool tv_ft_line_parse(struct tv_bytes text, struct tv_ft_line *line);

/* The same, faster for the many lines of a file: `owners` is zeroed before the first. */
bool tv_ft_line_parse_next(struct tv_ft_owners *owners, struct tv_bytes text,
                           struct tv_ft_line *line);

#endif
