/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marks.h - what programs write to the kernel's trace_marker (ftrace.md section 4).
 *
 *     B|tgid|name          E[|tgid]            a slice of the thread that writes
 *     S|tgid|name|cookie   F|tgid|name|cookie  an async slice of the process
 *     G|tgid|track|name|cookie   H|tgid|track[|name]|cookie   the same on a track with a name
 *     I|tgid|name          N|tgid|track|name   an instant
 *     C|tgid|name|value                        a counter of the process
 *
 * Chrome adds |key=value;key=value|category.
 */
#ifndef TV_READERS_FTRACE_MARKS_H
#define TV_READERS_FTRACE_MARKS_H

#include "base/types.h"

struct tv_ft_mark {
    char phase;   /* 0: plain text */
    int64_t tgid; /* 0: of E, when it does not say */
    struct tv_bytes name, track, cookie;
    struct tv_bytes args, category; /* "key=value;key=value"; data NULL: none */
    double value;
};

/* Takes the text of a mark apart; a '\n' or NUL at its end is cut off. */
struct tv_ft_mark tv_ft_mark_parse(struct tv_bytes text);

/* The same of what stands behind an event: "print" and "bprint" of trace-cmd name the function that
 * wrote in front of the text. */
struct tv_ft_mark tv_ft_mark_of_event(struct tv_bytes event, struct tv_bytes details);

#endif
