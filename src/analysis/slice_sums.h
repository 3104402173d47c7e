/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_sums.h - what the slices of a trace come to.
 */
#ifndef TV_ANALYSIS_SLICE_SUMS_H
#define TV_ANALYSIS_SLICE_SUMS_H

#include "model/trace.h"

/* Of the slices of threads, but for the last three. */
struct tv_slice_sums {
    uint64_t slices;
    uint64_t unfinished; /* open at the end */
    int64_t length;      /* nanoseconds, of all */
    int64_t self;        /* nanoseconds: lengths less those of children */
    uint64_t async;      /* slices of async tracks */
    uint32_t cpus;       /* processors with a track, or that samples name */
    uint64_t cpu_slices; /* what they ran */
};

/* One pass over all slices. */
struct tv_slice_sums tv_slice_sums_of(const struct tv_trace *trace);

#endif
