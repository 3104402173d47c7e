/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset.h - a subset of a trace: the processes, threads, categories and frames that the user
 * asked for.
 *
 * A frame's category is a comma-separated list ("cc,benchmark").  When a call is not in the subset,
 * its children and its own time move to the nearest ancestor that is.
 */
#ifndef TV_ANALYSIS_SUBSET_SUBSET_H
#define TV_ANALYSIS_SUBSET_SUBSET_H

#include <assert.h>

#include "analysis/calltree/call_tree.h"

/* Members of a subset; a NULL array means "all".  The trace itself is not changed: see
 * tv_crop_trace. */
struct tv_subset {
    bool *processes; /* [head->process_count] */
    bool *tracks;    /* [trace->track_count] */
    bool *threads; /* [head->thread_count], including threads without a track; set whenever `tracks`
                      is */
    bool *frames;  /* [head->frame_count]: frames of calls, instants and flows */
    bool *types;   /* [tables->value_types.count]: value types of samples */
    /* Tells if a category list is in the subset; used for rows that have a category but no
     * frame. */
    bool (*category)(struct tv_bytes list, const void *context);
    const void *context;
};

/* Free the arrays. */
void tv_subset_release(struct tv_subset *subset);

static inline bool tv_subset_has_frame(const struct tv_subset *subset, uint32_t frame)
{
    assert(subset != NULL);
    return !subset->frames || subset->frames[frame];
}

static inline bool tv_subset_has_type(const struct tv_subset *subset, uint32_t type)
{
    return !subset->types || subset->types[type];
}

/* TV_NONE, an unknown process, is a member only if all processes are. */
static inline bool tv_subset_has_process(const struct tv_subset *subset, uint32_t process)
{
    return !subset->processes || (process != TV_NONE && subset->processes[process]);
}

static inline bool tv_subset_has_category(const struct tv_subset *subset, struct tv_bytes list)
{
    return !subset->category || subset->category(list, subset->context);
}

/* Membership of table rows.  A flow between two processes belongs to both; a stack frame that the
 * whole file shares belongs to every process. */
bool tv_subset_has_instant(const struct tv_subset *subset, const struct tv_trace_info *head,
                           const struct tv_instant *instant);
bool tv_subset_has_counter(const struct tv_subset *subset, const struct tv_trace_info *head,
                           const struct tv_counter *counter);
bool tv_subset_has_flow(const struct tv_subset *subset, const struct tv_trace *trace,
                        const struct tv_flow *flow);
bool tv_subset_has_object(const struct tv_subset *subset, const struct tv_trace_info *head,
                          const struct tv_object *object);
bool tv_subset_has_stack_frame(const struct tv_subset *subset, const struct tv_stack_frame *frame);

/* Return the process of a thread, a track or a flow end; TV_NONE if it is unknown. */
uint32_t tv_thread_process(const struct tv_trace_info *head, uint32_t thread);
uint32_t tv_track_process(const struct tv_trace *trace, uint32_t track);
uint32_t tv_flow_end_process(const struct tv_trace *trace, const struct tv_flow_end *end);

/* Match a name against a glob in which '*' stands for any number of bytes. */
bool tv_glob_matches(struct tv_bytes name, struct tv_bytes pattern);

/* Match a process (by name or id), a thread, or any category of a list against a glob.  The empty
 * glob matches an empty list. */
bool tv_process_matches(const struct tv_trace_info *head, uint32_t process,
                        struct tv_bytes pattern);
bool tv_thread_matches(const struct tv_trace_info *head, uint32_t thread, struct tv_bytes pattern);
bool tv_categories_match(struct tv_bytes list, struct tv_bytes pattern);

/* Split the next name off a category list, trimmed of white space; false at the end of the list. */
bool tv_categories_next(struct tv_bytes *list, struct tv_bytes *name);

/* ---- Cropping ----
 *
 * Cropping a trace makes a new trace of a subset and a time range.
 * The new trace has the slices that a profile of the same selection counts, clipped to the range in
 * whole ticks, so that a profile of the new trace equals a profile of the selection.  Events at one
 * point in time stay if that point is in the range; counters and snapshots also subset the value
 * that is current when the range begins.  A flow stays if both of its ends do.
 */

struct tv_crop {
    const struct tv_subset *keep; /* who and what */
    tv_ns from, to;               /* [from, to), as in struct tv_selection */
    bool tracks_only; /* subset only what belongs to the subset's tracks: drop counters, objects and
                         the like */
};

/* Return true if cropping would drop nothing. */
bool tv_crop_is_everything(const struct tv_trace *trace, const struct tv_crop *crop);

/* Clamp the range to the trace; false if it covers all times. */
bool tv_crop_range(const struct tv_trace *trace, const struct tv_crop *crop, tv_ns *from,
                   tv_ns *to);

/* Count the flows that are dropped although one of their ends stays. */
uint64_t tv_crop_lost_flows(const struct tv_trace *trace, const struct tv_crop *crop);

/* Return the cropped trace.  It shares the axis of `trace`, which must outlive it. */
struct tv_trace *tv_crop_trace(const struct tv_trace *trace, const struct tv_crop *crop);

#endif
