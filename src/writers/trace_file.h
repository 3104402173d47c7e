/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.h - a finished trace as an Android method trace: versions 1, 2 and 3, and streaming
 * 0xF2 and 0xF3.
 *
 * Records are written in the order of time.  Calls that began before the trace get an exit only,
 * calls open at the end an entry only, so that reading back gives the same calls.  They last from
 * their thread's first record to its last; where an earlier one was hidden or cut off, such calls
 * get an entry as well, and where the last was an exit that ended no call, such an exit is written
 * again.  What the target cannot hold is counted for the caller to say.
 */
#ifndef TV_WRITERS_TRACE_FILE_H
#define TV_WRITERS_TRACE_FILE_H

#include "analysis/subset/subset.h"
#include "base/out.h"

enum tv_trace_target {
    TV_TRACE_V1,
    TV_TRACE_V2,
    TV_TRACE_V3,
    TV_TRACE_STREAM_1, /* 0xF2: one clock */
    TV_TRACE_STREAM_2, /* 0xF3: both clocks */
};

struct tv_trace_losses {
    bool cpu_clock, wall_clock; /* the source has it, the target not */
    bool invented_clock;        /* the target has a clock that the source lacks: its times are 0 */
    uint64_t rounded;           /* records whose times were no whole microseconds */
    uint64_t long_steps;        /* between records: more than 32 bits can tell */
    uint64_t stray_exits;       /* written anew; other exits that ended no call are left out */
    uint64_t renumbered;        /* threads whose id was too large, or taken */
    uint64_t renamed;           /* names whose tabs or line breaks became blanks */
    uint64_t unnested;          /* slices that are no calls of a thread, nested in each other */
    uint64_t inputs;            /* more than one: they became one */
};

struct tv_trace_file_options {
    enum tv_trace_target target;
    bool cpu;                   /* a target with one clock gets the CPU clock */
    const struct tv_subset *keep; /* only these calls; NULL: all */
    bool used;                  /* of threads and methods only those of the calls */
    bool closed; /* open calls begin and end here: what they lasted from and to may be left out */
};

/* Fills *losses. TV_ERR_LIMIT when the target cannot number all threads or methods; nothing is
 * written then. */
enum tv_status tv_trace_file_write(struct tv_out *out, const struct tv_trace *trace,
                                   const struct tv_trace_file_options *options,
                                   struct tv_trace_losses *losses,
                                   struct tv_error *err) TV_MUST_CHECK;

#endif
