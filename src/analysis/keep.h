/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - filters: which processes, threads and categories are wanted, and a call tree of nothing
 * but the wanted frames.
 *
 * A frame's category is a list with commas ("cc,benchmark").  A call of an unwanted frame is as if
 * it were not there: what it called was called by the nearest wanted call around it, and its own
 * time is that call's.
 */
#ifndef TV_ANALYSIS_KEEP_H
#define TV_ANALYSIS_KEEP_H

#include "analysis/call_tree.h"

/* What of a trace is wanted; NULL: everything. */
struct tv_keep {
    bool *processes; /* [head->process_count] */
    bool *tracks;    /* [track_count] */
    bool *threads;   /* [head->thread_count], also those without a track; there when `tracks` is */
    bool *frames;    /* [head->frame_count]: of calls, instants and flows */
    /* Whether a list of categories is wanted, for what has a category and no frame. */
    bool (*category)(struct tv_bytes list, const void *context);
    const void *context;
};

/* Gives back the arrays. */
void tv_keep_release(struct tv_keep *keep);

static inline bool tv_keep_frame(const struct tv_keep *keep, uint32_t frame)
{
    return !keep->frames || keep->frames[frame];
}

/* TV_NONE, which is no process, is wanted only when all are. */
static inline bool tv_keep_process(const struct tv_keep *keep, uint32_t process)
{
    return !keep->processes || (process != TV_NONE && keep->processes[process]);
}

static inline bool tv_keep_category(const struct tv_keep *keep, struct tv_bytes list)
{
    return !keep->category || keep->category(list, keep->context);
}

/* Of the rows of tables.  An arrow between two processes belongs to both, a stack frame of the
 * whole file to all. */
bool tv_keep_instant(const struct tv_keep *keep, const struct tv_trace_info *head,
                     const struct tv_instant *instant);
bool tv_keep_counter(const struct tv_keep *keep, const struct tv_trace_info *head,
                     const struct tv_counter *counter);
bool tv_keep_flow(const struct tv_keep *keep, const struct tv_trace *trace,
                  const struct tv_flow *flow);
bool tv_keep_object(const struct tv_keep *keep, const struct tv_trace_info *head,
                    const struct tv_object *object);
bool tv_keep_stack_frame(const struct tv_keep *keep, const struct tv_stack_frame *frame);

/* The process of a thread, a track or what a flow touches; TV_NONE: none is known. */
uint32_t tv_thread_process(const struct tv_trace_info *head, uint32_t thread);
uint32_t tv_track_process(const struct tv_trace *trace, uint32_t track);
uint32_t tv_flow_end_process(const struct tv_trace *trace, const struct tv_flow_end *end);

/* Whether a name is what a pattern says, in which '*' stands for any bytes, also none. */
bool tv_name_fits(struct tv_bytes name, struct tv_bytes pattern);

/* The same of a process (its name or its id), a thread, and of one category in a list; the empty
 * pattern fits a list that is empty. */
bool tv_process_fits(const struct tv_trace_info *head, uint32_t process, struct tv_bytes pattern);
bool tv_thread_fits(const struct tv_trace_info *head, uint32_t thread, struct tv_bytes pattern);
bool tv_categories_fit(struct tv_bytes list, struct tv_bytes pattern);

/* The next name of a list of categories, without the white space around it; false: no more. */
bool tv_categories_next(struct tv_bytes *list, struct tv_bytes *name);

/* A tree without the calls of unwanted frames, of any tree; its nodes are numbered anew. */
struct tv_call_tree *tv_call_tree_sift(const struct tv_call_tree *tree, const bool *frames);

#endif
