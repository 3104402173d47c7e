/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_sink.h - a sink that makes the call tree straight from a reader's events, without a model:
 * collapse, callers and callees of a whole file.
 */
#ifndef TV_ANALYSIS_TREE_SINK_H
#define TV_ANALYSIS_TREE_SINK_H

#include "analysis/call_tree.h"
#include "model/builder/sink.h"

struct tv_tree_sink;

struct tv_tree_sink_options {
    /* Whether a thread (index in the head) counts; NULL: all do. Called once a thread. */
    bool (*wanted)(const struct tv_trace_info *head, uint32_t thread, void *context);
    void *context;
    bool split_threads; /* each thread has a node of its own under the root: frame TV_THREAD_FRAME +
                           thread */
    bool fold_names; /* frames with the same class and name are one (collapsed stacks name no more)
                      */
};

/* The `frame` of a thread's node, when threads are split. */
#define TV_THREAD_FRAME 0x80000000u

/* Options are copied; their context must live as long as the sink. */
struct tv_tree_sink *tv_tree_sink_new(const struct tv_tree_sink_options *options);
/* What a reader is given. */
struct tv_sink *tv_tree_sink_sink(struct tv_tree_sink *sink);

/* The tree of everything read; the sink is gone. `head` is the reader's and must live as long as
 * the tree. */
struct tv_call_tree *tv_tree_sink_finish(struct tv_tree_sink *sink, const struct tv_trace_info *head);

#endif
