/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said.h - what drivers and libraries of Chrome OS wrote as marks (ftrace.md section 3):
 *
 *     mali_driver: (mali-012345) cros_trace_print_enter: file.c@1505: gles2_texturep_upload
 *     mali_driver: cros_trace_print_exit: file.c:
 *     SyncInterpret: start: ClickWiggleFilterInterpreter      also HandleTimer, log
 */
#ifndef TV_READERS_FTRACE_SAID_H
#define TV_READERS_FTRACE_SAID_H

#include "readers/ftrace/part.h"

struct tv_ft_said {
    bool begins;           /* a slice; else it ends */
    struct tv_bytes line;  /* of the kernel's own */
    struct tv_bytes title; /* empty: an end that does not say of what */
    const char *category;
    const char *key; /* what `value` is */
    struct tv_bytes value, args;
};

/* False: it is none of these. */
bool tv_ft_said_parse(struct tv_bytes text, struct tv_ft_said *said);

/* Tells the slice. False: it is none of these. */
bool tv_ft_said_take(struct tv_ft_part *part, const struct tv_ft_at *at, struct tv_bytes text);

#endif
