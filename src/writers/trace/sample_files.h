/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_files.h - a trace as a profile that other viewers open: speedscope, Firefox Profiler and
 * .cpuprofile.
 *
 * Each thread and value type is a profile of its own, as weights of different types are never
 * added.  Threads with slices become entries and exits (speedscope) or markers (Firefox), counters
 * become those of Firefox.
 */
#ifndef TV_WRITERS_TRACE_SAMPLE_FILES_H
#define TV_WRITERS_TRACE_SAMPLE_FILES_H

#include "analysis/subset/subset.h"
#include "base/error.h"
#include "base/out.h"
#include "model/trace.h"
#include "writers/stacks/profile_losses.h"

enum tv_sample_format {
    TV_SAMPLES_SPEEDSCOPE,
    TV_SAMPLES_FIREFOX,    /* processed version 60 */
    TV_SAMPLES_CPUPROFILE, /* one thread: the one with most samples */
};

/* Counts of everything that the format does not hold. */
struct tv_sample_file_losses {
    uint64_t samples;   /* of other threads or value types */
    uint64_t times;     /* of samples: there is only their order */
    uint64_t lines;     /* of samples, of threads whose functions are kept */
    uint64_t fractions; /* times rounded to microseconds */
    uint64_t negative;  /* weights, left out */
    uint64_t amounts;   /* weights below 0 without their sign */
    uint64_t units;     /* value types that are neither times nor sizes */
    uint64_t weights;   /* other than 1, left out */
    uint64_t as_times;  /* weights that are no times, written as such */
    uint64_t cpu_times; /* of slices that also have real times */
    uint64_t sampled;   /* calls of sampled traces, which read as counted */
    uint64_t modules;   /* modules of functions */
    uint64_t renamed;   /* nodes whose names mean something else in the format */
    uint64_t slices, instants, counters;
    struct tv_profile_losses profile;
};

/* Write the selected threads; tv_losses_write_samples releases *losses.  TV_ERR_UNSUPPORTED: there
 * is nothing that the format holds. */
enum tv_status tv_sample_file_write(struct tv_out *out, const struct tv_trace *trace,
                                    const struct tv_subset *keep, enum tv_sample_format format,
                                    struct tv_sample_file_losses *losses,
                                    struct tv_error *err) TV_MUST_CHECK;

/* The process ids of the threads in a Firefox profile, by their numbers. */
struct tv_firefox_threads {
    uint64_t *pids;
    size_t count, capacity;
};

/* Write the selected counters as the elements of the array of a Firefox profile. */
void tv_firefox_counters_write(struct tv_out *out, const struct tv_trace *trace,
                               const struct tv_subset *keep,
                               const struct tv_firefox_threads *threads);

/* Put the losses into words, a line for each kind, and release them. */
void tv_losses_write_samples(struct tv_out *out, struct tv_sample_file_losses *losses);

#endif
