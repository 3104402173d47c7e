/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_tree.h - the call tree of samples: how often each stack was seen, and how much that
 * weighs.
 */
#ifndef TV_ANALYSIS_SAMPLE_TREE_H
#define TV_ANALYSIS_SAMPLE_TREE_H

#include "analysis/call_tree.h"

enum tv_sample_measure {
    TV_SAMPLES_COUNT,  /* each is 1 */
    TV_SAMPLES_WEIGHT, /* as the file says, 1 where it says nothing; below 0: 0 */
    TV_SAMPLES_TIME,   /* until the thread's next one; the last as long as the one before it */
};

/* The samples of a selection: those with a time in the range, of the threads of its tracks (NULL:
 * all samples) or, where `threads` [head->thread_count] is not NULL, of these.  `calls` of a node
 * are the samples with it in their stacks, `wall` is the measure; `cpu` is 0.  Samples without a
 * stack are not in it. */
struct tv_call_tree *tv_sample_tree_of_trace(const struct tv_trace *trace,
                                             const struct tv_selection *selection,
                                             const bool *threads, enum tv_sample_measure measure);

/* The measures of all samples as that tree has them, each in its place; -1: it is not in the tree.
 * To be freed. */
int64_t *tv_sample_measures(const struct tv_trace *trace, const struct tv_selection *selection,
                            const bool *threads, enum tv_sample_measure measure);

#endif
