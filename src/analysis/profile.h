/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - the method table: inclusive and exclusive, CPU and real, calls and recursions.
 *
 * Inclusive time counts only the outermost activation of a recursive method.  It comes from a call
 * tree, or straight from a reader (profile_sink.h); the two are equal.
 */
#ifndef TV_ANALYSIS_PROFILE_H
#define TV_ANALYSIS_PROFILE_H

#include "analysis/call_tree.h"

struct tv_method_cost {
    uint32_t frame;
    uint64_t calls;                                   /* outermost */
    uint64_t recursive_calls;                         /* the others */
    int64_t incl_wall, excl_wall, incl_cpu, excl_cpu; /* nanoseconds; 0 without that clock */
};

struct tv_profile {
    const struct tv_trace_info *head; /* not owned */
    unsigned clocks;
    int64_t total_wall, total_cpu; /* sum over the threads: what 100 % is */
    uint32_t count;
    struct tv_method_cost *methods; /* those with calls, by frame */
    struct tv_path_cost waits;
    struct tv_compensation compensation;
};

/* The method table of a call tree, which may go before it. */
struct tv_profile *tv_profile_of_tree(const struct tv_call_tree *tree);
void tv_profile_free(struct tv_profile *profile);

enum tv_profile_order {
    TV_ORDER_NAME, /* class.name, then signature */
    TV_ORDER_CALLS,
    TV_ORDER_INCL_WALL,
    TV_ORDER_EXCL_WALL,
    TV_ORDER_INCL_CPU,
    TV_ORDER_EXCL_CPU,
};

/* The figure that an order goes by; 0 for TV_ORDER_NAME. */
int64_t tv_method_figure(const struct tv_method_cost *method, enum tv_profile_order order);

/* Sorts the methods: numbers descending, ties (and TV_ORDER_NAME) by name ascending, then by frame.
 */
void tv_profile_sort(struct tv_profile *profile, enum tv_profile_order order);

/* The order that says most: inclusive CPU, or real where there is no CPU clock. */
enum tv_profile_order tv_profile_default_order(const struct tv_profile *profile);

/* rank[frame] for each of head->frame_count frames: place by tv_profile_default_order from 1; 0:
 * not called. To be given back with tv_free. */
uint32_t *tv_profile_ranks(const struct tv_profile *profile);

/* By class, name, signature, then number: below 0, 0 (the same frame) or above 0. */
int tv_frame_compare_names(const struct tv_trace_info *head, uint32_t a, uint32_t b);

/* One parent or child of a method. */
struct tv_edge_cost {
    uint32_t frame; /* TV_NONE: called from nowhere */
    uint64_t calls;
    uint64_t total_calls; /* of the child of the edge, from everywhere, in this selection */
    int64_t wall, cpu;    /* inclusive time of the calls along the edge */
};

struct tv_edges {
    struct tv_edge_cost *edges; /* by wall (cpu without it), descending; ties by name */
    uint32_t count;
};

/* Parents and children of one method.  An edge is "recursive" when the method's own activation is
 * not the outermost (method-trace.md section 8, rule 7). */
struct tv_relations {
    struct tv_edges parents, children, recursive_parents, recursive_children;
    int64_t self_wall, self_cpu; /* exclusive time of the outermost activations */
    int64_t recursive_self_wall, recursive_self_cpu; /* of the others */
};

/* The relations of a frame in a call tree, which may go before them. */
struct tv_relations *tv_relations_of(const struct tv_call_tree *tree, uint32_t frame);
void tv_relations_free(struct tv_relations *relations);

#endif
