/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.h - a finished trace as an Android method trace: versions 1, 2 and 3, and streaming
 * 0xF2 and 0xF3.
 *
 * Records are in order of time, such that reading the file gives the same calls again. Calls
 * that began before the trace have an exit only, calls open at the end an entry only: they last
 * from their thread's first record to its last. If the first record was hidden or cut off, these
 * calls also get an entry; if the last record was an exit that ended no call, such an exit is
 * written again. Whatever the target cannot hold is counted in the losses.
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

struct tv_trace_file_losses {
    bool cpu_clock, wall_clock; /* in the source, but not in the target */
    bool invented_clock;        /* in the target, but not in the source: its times are 0 */
    uint64_t rounded;           /* records whose times were not whole microseconds */
    uint64_t long_steps;        /* steps between records that exceed 32 bits */
    uint64_t stray_exits;       /* exits that were written anew; other exits that ended no call
                                 * are left out */
    uint64_t renumbered;        /* threads whose ID was too large, or taken */
    uint64_t renamed;           /* names with tabs or line breaks, which became blanks */
    uint64_t unnested;          /* slices that are not nested calls of a thread */
    uint64_t inputs;            /* more than 1: they became one */
};

struct tv_trace_file_options {
    enum tv_trace_target target;
    bool cpu;                     /* use the CPU clock in a target with one clock */
    const struct tv_subset *keep; /* selected calls; NULL: all */
    bool used;                    /* list only the threads and methods of these calls */
    bool closed; /* give open calls both records, because those they lasted from and to may be
                  * left out */
};

/* Write the file and fill *losses. TV_ERR_LIMIT when the target cannot number all threads or
 * methods; then nothing is written. */
enum tv_status tv_trace_file_write(struct tv_out *out, const struct tv_trace *trace,
                                   const struct tv_trace_file_options *options,
                                   struct tv_trace_file_losses *losses,
                                   struct tv_error *err) TV_MUST_CHECK;

#endif
