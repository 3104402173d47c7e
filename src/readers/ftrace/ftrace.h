/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace.h - the text of Linux' ftrace: tracefs, trace-cmd report, atrace.
 *
 * docs/formats/ftrace.md says what is read and what becomes of it.  The text is read in parts, side
 * by side (text.h), which are put together (merge.h); who ran is worked out from all switches
 * in their order (sched.h).
 */
#ifndef TV_READERS_FTRACE_FTRACE_H
#define TV_READERS_FTRACE_FTRACE_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_ftrace;

#endif
