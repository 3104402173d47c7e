/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ft_line.h - one line of ftrace text taken apart (ftrace.md section 2).
 *
 *     comm-tid (tgid) [cpu] flags secs.frac: event: details        tracefs, trace-cmd report
 *     comm-tid cpu+flags secs.frac: event: details                 latency format of trace-cmd
 *     comm-tid cpu+flags delta us : details                        latency format of the kernel
 *
 * tgid and flags may be missing.  Each line is tried by itself: a file may mix forms.
 */
#ifndef TV_READERS_FT_LINE_H
#define TV_READERS_FT_LINE_H

#include "base/types.h"

#define TV_FT_NO_ID (-1)

/* Spaces around texts are cut off. */
struct tv_ft_line {
    struct tv_bytes task; /* "<...>": unknown; "<idle>" of tid 0 */
    int64_t tid;
    int64_t tgid; /* TV_FT_NO_ID: the line does not say */
    uint32_t cpu;
    struct tv_bytes flags;   /* empty: none */
    tv_ns time;              /* of clocks that count no seconds: their number */
    bool relative;           /* the time counts from where the tracer began, in microseconds */
    bool ticks;              /* the time had no '.': a clock of unknown unit */
    struct tv_bytes event;   /* "sched_switch"; empty: `details` is "function <-parent" */
    struct tv_bytes details; /* may be empty */
};

/* False: no event line. `text` has neither '\n' nor '\r' at its end. */
bool tv_ft_line_parse(struct tv_bytes text, struct tv_ft_line *line);

#endif
