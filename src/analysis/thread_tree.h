/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_tree.h - the call tree of a trace with a node for each thread under the root, as
 * tree_sink.h makes it without a trace.
 */
#ifndef TV_ANALYSIS_THREAD_TREE_H
#define TV_ANALYSIS_THREAD_TREE_H

#include "analysis/call_tree.h"

/* A thread's node has the frame TV_THREAD_FRAME + thread and no figures of its own. */
struct tv_call_tree *tv_call_tree_by_thread(const struct tv_trace *trace,
                                            const struct tv_selection *selection, unsigned workers);

#endif
