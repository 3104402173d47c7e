/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_time.h - a flame graph in the order of time: the calls of a thread as they followed each
 * other, without the time between them, those of one frame that follow each other on one frame as
 * one.  Threads stand side by side, for their calls have no common order.
 *
 * What took no time in the clock is passed over.
 */
#ifndef TV_ANALYSIS_FLAME_TIME_H
#define TV_ANALYSIS_FLAME_TIME_H

#include "analysis/flame.h"

struct tv_flame_time_options {
    enum tv_clocks clock;
    bool fold;        /* what a frame calls by way of itself alone lies directly on it */
    int64_t total;    /* of the selection, of which min_share is a share; with a root its own is */
    double min_share; /* as in struct tv_flame_options: but their places stay free */
    uint32_t root;    /* the `path` of a frame; TV_ROOT_PATH: the whole */
};

/* Frames of several threads lie on one of their thread, whose number is TV_THREAD_FRAME + thread
 * (tree_sink.h).  `path` names the first call of a frame, or the thread, whatever the selection;
 * TV_NONE: there are too many. */
struct tv_flame *tv_flame_in_time(const struct tv_trace *trace,
                                  const struct tv_selection *selection,
                                  const struct tv_flame_time_options *options);

#endif
