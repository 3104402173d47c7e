/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what a view keeps, and its questions: each is a function in one of the files of this
 * room.
 */
#ifndef TV_VIEW_STATE_H
#define TV_VIEW_STATE_H

#include "analysis/calltree/profile.h"
#include "analysis/timeline/pyramid.h"
#include "view/parameters.h"
#include "view/view.h"

struct tv_tree_cache;
struct tv_flow_index;
struct tv_object_index;
struct tv_filtered_views;

/* A track as the page shows it. */
struct tv_view_track {
    uint32_t track;
    int64_t wall, cpu; /* of its calls of depth 0 */
};

struct tv_view {
    const struct tv_trace *trace;
    struct tv_pyramid *pyramid;
    uint32_t *rank;               /* [frames] place by inclusive time, from 1; 0: never called */
    struct tv_view_track *tracks; /* in the order shown */
    struct tv_tree_cache *trees;
    struct tv_flow_index *flows;
    struct tv_object_index *objects;
    const struct tv_view *whole;        /* of a filtered trace: that of the whole one; else NULL */
    struct tv_filtered_views *filtered; /* made of this one */
    const struct tv_view_reporter *reporter; /* of the whole one; NULL: it makes no reports */
    uint32_t *thread_track; /* [threads] where its slices lie; TV_NONE: it has none */
    bool wall, cpu;         /* the clocks there are */
    bool by_owner;          /* tracks are ordered by process and thread, not busiest first */
};

typedef enum tv_status tv_view_function(const struct tv_view *view,
                                        const struct tv_parameters *parameters, struct tv_out *out,
                                        struct tv_error *err);

tv_view_function tv_view_trace, tv_view_frames;                        /* about.c */
tv_view_function tv_view_profile, tv_view_relations;                   /* tables.c */
tv_view_function tv_view_tree, tv_view_sample_tree;                    /* tree.c */
tv_view_function tv_view_slice, tv_view_step;                          /* calls.c */
tv_view_function tv_view_extents, tv_view_activity;                    /* pictures.c */
tv_view_function tv_view_flame, tv_view_sample_flame;                  /* flame.c */
tv_view_function tv_view_counters, tv_view_counter_values;             /* counters.c */
tv_view_function tv_view_instants, tv_view_instant;                    /* marks.c */
tv_view_function tv_view_flows, tv_view_flow, tv_view_flow_categories; /* flows.c */
tv_view_function tv_view_arrows;                                       /* arrows.c */
tv_view_function tv_view_beside;                                       /* beside.c */
tv_view_function tv_view_reference;                                    /* objects.c */
tv_view_function tv_view_objects, tv_view_object, tv_view_snapshot;    /* objects.c */
tv_view_function tv_view_samples, tv_view_sample;                      /* samples.c */
tv_view_function tv_view_memory_dumps, tv_view_memory_dump;            /* memory.c */
tv_view_function tv_view_tiles;                                        /* tiles.c */
tv_view_function tv_view_search, tv_view_search_frames;                /* search.c */
tv_view_function tv_view_states, tv_view_state;                        /* states.c */
tv_view_function tv_view_statistics;                                   /* statistics.c */
tv_view_function tv_view_findings;                                     /* findings.c */
tv_view_function tv_view_save;                                         /* save.c */
tv_view_function tv_view_flamegraph, tv_view_collapsed;                /* downloads.c */
tv_view_function tv_view_facts;                                        /* downloads.c */
tv_view_function tv_view_same;                                         /* filtered.c */
tv_view_function tv_view_health, tv_view_at, tv_view_bytes;            /* bytes.c */

/* The call tree of a selection, of those asked for last or made now. Nobody else has one before
 * tv_trees_leave. */
struct tv_tree_cache *tv_trees_new(const struct tv_trace *trace);
void tv_trees_free(struct tv_tree_cache *cache);

/* Adds the tree of the whole trace to a file that the trace is written to. */
void tv_trees_keep(const struct tv_tree_cache *cache, struct tv_sections_writer *writer);

/* Does now what the first questions would have to wait for. */
void tv_trees_prepare(struct tv_tree_cache *cache);
const struct tv_call_tree *tv_trees_enter(struct tv_tree_cache *cache,
                                          const struct tv_selection *selection);
/* The same with `cost` taken off for each reading of the clock (compensate.h); 0: nothing is. */
const struct tv_call_tree *tv_trees_enter_compensated(struct tv_tree_cache *cache,
                                                      const struct tv_selection *selection,
                                                      tv_ns cost);
void tv_trees_leave(struct tv_tree_cache *cache);

/* Whether compensated figures are asked for: the cost, or 0; fails where the trace has none. */
enum tv_status tv_view_compensation(const struct tv_view *view,
                                    const struct tv_parameters *parameters, tv_ns *cost,
                                    struct tv_error *err); /* trees.c */

/* An event of an input that is to be read again. */
struct tv_view_event {
    uint32_t input, frame;       /* frame TV_NONE: what has one tells its category elsewhere */
    uint64_t offset, end_offset; /* TV_NO_OFFSET: none */
};

/* Its category, offset and what it says beside all that the model holds, as members of an object
 * that is being written; nothing where the input says no more. */
void tv_view_write_event(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_view_event *event); /* calls.c */

/* A flow with both its ends: an object that is left open for more members. */
void tv_view_write_flow(struct tv_out *out, const struct tv_trace *trace,
                        uint32_t number); /* flows.c */

/* A process as references name it: by its number, which is written into `room`, or its key where it
 * has one. */
#define TV_PROCESS_ROOM 24
struct tv_bytes tv_view_process_name(const struct tv_head *head, uint32_t process,
                                     char room[TV_PROCESS_ROOM]); /* objects.c */

/* The contexts that a slice began in, as a member of an object; nothing where there are none. */
void tv_view_write_contexts(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                            uint32_t index); /* contexts.c */

/* What "=" events say of a group of joined ids, as a member of an object; nothing without one. */
void tv_view_write_joins(struct tv_out *out, const struct tv_trace *trace,
                         uint32_t group); /* joins.c */

/* [frames] The reserved colour of all slices and instants of each, 0: automatic; for the caller to
 * free. */
uint8_t *tv_view_frame_colours(const struct tv_trace *trace); /* colours.c */

/* What the others stand beside: the first input that has times, by a clock that is not its own; and
 * what it is called.  There is at least one. */
const struct tv_input *tv_view_main_input(const struct tv_head *head); /* about.c */
struct tv_bytes tv_view_input_name(const struct tv_head *head);        /* about.c */

/* A number, or null where there is no such clock. */
static inline void tv_view_time(struct tv_out *out, bool there, int64_t value)
{
    if (there)
        tv_out_i64(out, value);
    else
        tv_out_text(out, "null");
}

#endif
