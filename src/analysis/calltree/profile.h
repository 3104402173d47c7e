/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - the method table: inclusive and exclusive time by wall and CPU clock, calls and
 * recursive calls; and the parents and children of a method.
 *
 * Inclusive time counts only the outermost activation of a recursive method.  A profile is computed
 * from a call tree, or in one pass by a sink (struct tv_profile_sink); the results are equal.
 */
#ifndef TV_ANALYSIS_CALLTREE_PROFILE_H
#define TV_ANALYSIS_CALLTREE_PROFILE_H

#include "analysis/calltree/call_tree.h"
#include "model/builder/sink.h"

struct tv_method_cost {
    uint32_t frame;
    uint64_t calls;                                   /* outermost calls */
    uint64_t recursive_calls;                         /* all other calls */
    int64_t incl_wall, excl_wall, incl_cpu, excl_cpu; /* nanoseconds; 0 without that clock */
};

struct tv_profile {
    const struct tv_trace_info *head; /* not owned */
    unsigned clocks;
    int64_t total_wall, total_cpu; /* sum over all threads: 100 % */
    uint32_t count;
    struct tv_method_cost *methods; /* methods with calls, by frame */
    struct tv_path_cost waits;
    struct tv_compensation compensation;
    struct tv_sample_figures figures; /* figures of samples: as in a call tree */
    int64_t unshown;                  /* of samples: the part of figures.sum in no method */
};

/* Compute the method table of a call tree, which may be freed before it. */
struct tv_profile *tv_profile_of_tree(const struct tv_call_tree *tree);

/* If the trace has exact costs of functions (struct tv_function_cost) for the value type of a
 * profile of samples, use these instead of the estimate: unless samples were left out, or one of
 * the inputs with this value type has real samples. */
void tv_profile_use_function_costs(struct tv_profile *profile, const struct tv_trace *trace);
void tv_profile_free(struct tv_profile *profile);

enum tv_profile_order {
    TV_ORDER_NAME, /* class.name, then signature */
    TV_ORDER_CALLS,
    TV_ORDER_INCL_WALL,
    TV_ORDER_EXCL_WALL,
    TV_ORDER_INCL_CPU,
    TV_ORDER_EXCL_CPU,
};

/* Return the figure that an order sorts by; 0 for TV_ORDER_NAME. */
int64_t tv_method_figure(const struct tv_method_cost *method, enum tv_profile_order order);

/* Sort by a figure in descending order; ties, and TV_ORDER_NAME, by name, then by frame. */
void tv_profile_sort(struct tv_profile *profile, enum tv_profile_order order);

/* Return the most telling order: inclusive CPU, or wall time without a CPU clock. */
enum tv_profile_order tv_profile_default_order(const struct tv_profile *profile);

/* Return rank[frame], the position in tv_profile_default_order from 1; 0 if not called.  Free it
 * with tv_free. */
uint32_t *tv_profile_ranks(const struct tv_profile *profile);

/* Compare two frames by class, name, signature, then number: below, equal to or above 0. */
int tv_frame_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b);

/* One parent or child of a method. */
struct tv_edge_cost {
    uint32_t frame; /* TV_NONE: called by no method */
    uint64_t calls;
    uint64_t total_calls; /* of the edge's child, from all callers, in this selection */
    int64_t wall, cpu;    /* inclusive time of the calls along the edge */
};

struct tv_edges {
    struct tv_edge_cost *edges; /* by wall (CPU without it), descending; ties by name */
    uint32_t count;
};

/* Parents and children of a method.  An edge is recursive if the method's activation is not the
 * outermost (method-trace.md section 8, rule 7). */
struct tv_relations {
    struct tv_edges parents, children, recursive_parents, recursive_children;
    int64_t self_wall, self_cpu; /* exclusive time of the outermost activations */
    int64_t recursive_self_wall, recursive_self_cpu; /* of all other activations */
};

/* Compute the relations of a frame in a call tree, which may be freed before them. */
struct tv_relations *tv_relations_of_tree(const struct tv_call_tree *tree, uint32_t frame);
void tv_relations_free(struct tv_relations *relations);

/* ---- Computed by a sink ----
 *
 * A sink that computes the method table straight from a reader's events, in one
 * pass and in memory that does not grow with the trace.
 */

struct tv_profile_sink;

/* Make a sink.  `wanted` tells if a thread counts (NULL: all do); called once per thread. */
struct tv_profile_sink *tv_profile_sink_new(bool (*wanted)(const struct tv_trace_info *head,
                                                           uint32_t thread, void *context),
                                            void *context);
/* Return the sink to pass to a reader. */
struct tv_sink *tv_profile_sink_sink(struct tv_profile_sink *sink);

/* Return the profile of everything that was read, and free the sink.  `head` must outlive the
 * profile. */
struct tv_profile *tv_profile_sink_finish(struct tv_profile_sink *sink,
                                          const struct tv_trace_info *head);

/* Further facts from the walk, for `info` without a trace. */
struct tv_walk_facts {
    uint64_t calls, unmatched_exits, open_calls;
    uint32_t max_depth, threads_with_events;
};
/* Return the facts of what was read so far. */
void tv_profile_sink_facts(const struct tv_profile_sink *sink, struct tv_walk_facts *facts);

#endif
