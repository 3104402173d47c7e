/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_samples.h - a flame graph of samples in the order of time: the stacks of a thread as they
 * followed each other, frames of one method that follow each other on one frame as one.  Threads
 * stand side by side.
 */
#ifndef TV_ANALYSIS_FLAME_SAMPLES_H
#define TV_ANALYSIS_FLAME_SAMPLES_H

#include "analysis/flame.h"
#include "analysis/sample_tree.h"

struct tv_flame_samples_options {
    enum tv_sample_measure measure;
    bool fold;        /* what a frame calls by way of itself alone lies directly on it */
    double min_share; /* as in struct tv_flame_time_options */
    uint32_t root;    /* the `path` of a frame; TV_ROOT_PATH: the whole */
};

/* The samples are those of tv_sample_tree_of_trace.  Frames of several threads lie on one of their
 * thread, whose number is TV_THREAD_FRAME + thread.  `path` names the first sample of a frame with
 * its depth, or the thread, whatever the selection; TV_NONE: there are too many. */
struct tv_flame *tv_flame_of_samples(const struct tv_trace *trace,
                                     const struct tv_selection *selection,
                                     const struct tv_flame_samples_options *options);

#endif
