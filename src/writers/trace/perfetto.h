/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.h - a trace as a Perfetto trace of track events, for the Perfetto UI and others.
 *
 * Processes, threads, counters and every other track have a descriptor.  Slices become beginnings
 * and ends, arguments debug annotations.  All packets belong to one sequence.  Times are
 * nanoseconds of boot time, which is what a packet without a clock means.  Threads and processes
 * keep their ids where these are unique in the whole file.
 */
#ifndef TV_WRITERS_TRACE_PERFETTO_H
#define TV_WRITERS_TRACE_PERFETTO_H

#include "base/out.h"
#include "model/trace.h"

/* Facts that the format could not represent, or represents in another way. */
struct tv_perfetto_losses {
    uint64_t renumbered; /* processes and threads whose id was 0, no number, or taken */
    uint64_t homeless;   /* threads of no process: now of a new process */
    uint64_t namesakes;  /* methods that differ from another one only in their arguments */
    uint64_t unnested;   /* slices that do not nest in their thread: on a track of their own */
    uint64_t processors; /* slices of processors: on tracks of their own */
    uint64_t states;     /* slices of states: on tracks of their own */
    uint64_t handed;     /* async slices that end on another thread than they begin */
    uint64_t series;     /* counters with several series: now several counters */
    uint64_t rounded;    /* CPU times that were not whole microseconds */
    uint64_t samples;    /* left out */
    uint64_t flows;      /* whose end would come before their beginning: left out */
    uint64_t flow_names; /* left out */
    uint64_t wakeups;    /* who woke whom, and reasons for blocking: left out */
    uint64_t metadata;   /* left out */
    uint64_t others;     /* rows of other tables: left out */
    bool moved;          /* all times, because some were below 0 */
};

/* Write the whole trace; *losses says what the format could not represent. */
void tv_perfetto_write(struct tv_out *out, const struct tv_trace *trace,
                       struct tv_perfetto_losses *losses);

#endif
