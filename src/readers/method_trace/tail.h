/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail.h - the summary at the end of a packet file, looked at before the packets on the way to it.
 *
 * Of entries of variant B only the summary says whether their times are microseconds or
 * nanoseconds, and of one clock which it is.
 */
#ifndef TV_READERS_METHOD_TRACE_TAIL_H
#define TV_READERS_METHOD_TRACE_TAIL_H

#include "base/error.h"
#include "readers/method_trace/file.h"

/* What was taken for certain before the summary was read in its turn. */
struct tv_mt_told {
    int64_t tick_ns; /* 0: not told */
    unsigned clocks; /* enum tv_clocks; 0: not told */
};

/* Fills *told from the last bytes of a source whose end is known, if a summary stands there; else
 * leaves it. Never waits. */
enum tv_status tv_mt_tail_look(struct tv_mt_file *file, struct tv_mt_told *told,
                               struct tv_error *err) TV_MUST_CHECK;

/* Of a file whose walk went astray before its summary: what was told, or else what tv_mt_tail_look
 * finds, becomes file->facts. */
enum tv_status tv_mt_tail_take(struct tv_mt_file *file, struct tv_mt_told *told,
                               struct tv_error *err) TV_MUST_CHECK;

/* TV_ERR_SYNTAX: the file was settled now and says something else than was told. */
enum tv_status tv_mt_tail_check(struct tv_mt_file *file, const struct tv_mt_told *told,
                                struct tv_error *err) TV_MUST_CHECK;

#endif
