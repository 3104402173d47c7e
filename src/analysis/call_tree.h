/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_tree.h - how often each call path ran and how long: what every profile, tree, flame graph
 * and list of stacks is made from.
 *
 * It comes from a finished trace, for any range and tracks (tv_call_tree_of_trace), or straight
 * from a reader without a model (tree_sink.h).  Node numbers of a tree of a trace are those of its
 * paths.
 */
#ifndef TV_ANALYSIS_CALL_TREE_H
#define TV_ANALYSIS_CALL_TREE_H

#include "model/trace.h"

/* What a question is about. */
struct tv_selection {
    tv_ns from,
        to; /* [from, to) on the trace's axis; from == INT64_MIN, to == INT64_MAX: everything */
    const uint32_t *tracks; /* NULL: those of all threads */
    uint32_t track_count;
};

/* The whole trace. */
#define TV_SELECT_ALL ((struct tv_selection){INT64_MIN, INT64_MAX, NULL, 0})

/* Figures of one node: its calls that overlap the range, clipped to it. */
struct tv_path_cost {
    uint64_t calls;
    int64_t wall, cpu; /* nanoseconds, inclusive: of the calls themselves */
};

/* What was taken off for recording itself (compensate.h). */
struct tv_compensation {
    tv_ns cost;        /* of one reading of the clocks; 0: nothing was taken off */
    int64_t wall, cpu; /* nanoseconds, in all */
};

struct tv_tree_shape;

struct tv_call_tree {
    const struct tv_trace_info *head; /* for the names; not owned */
    unsigned clocks;            /* enum tv_clocks */
    uint32_t count;
    const uint32_t *parent; /* [count]; parents before children; node 0 is the root */
    const uint32_t *frame;  /* [count] */
    struct tv_path_cost *cost;
    int64_t *self_wall, *self_cpu; /* [count]: inclusive less the children's; never negative */
    struct tv_path_cost
        waits; /* "(context switch)": calls, wall; calls 0 and wall 0 when unknown */
    struct tv_compensation compensation;
    struct tv_tree_shape *shape;
    bool owns_shape;
    bool lent;    /* the figures lie in the sections of a trace, and stay as they are */
    bool counted; /* the figures are not fresh */
    bool raised;  /* nothing can be taken off: some CPU times are not of their calls alone, or a sum
                   * did not fit (tv_call_tree_settle) */
};

/* The tree for a selection. `workers` threads share the work (0: one a processor). */
struct tv_call_tree *tv_call_tree_of_trace(const struct tv_trace *trace,
                                           const struct tv_selection *selection, unsigned workers);
void tv_call_tree_free(struct tv_call_tree *tree);

/* What all trees of one trace share: for whoever asks for one selection after the other.  It must
 * live as long as they do. */
struct tv_tree_shape *tv_tree_shape_new(const struct tv_trace_info *head, const struct tv_paths *paths);
void tv_tree_shape_free(struct tv_tree_shape *shape);

/* A tree with every figure 0. */
struct tv_call_tree *tv_call_tree_of_shape(struct tv_tree_shape *shape);

/* Adds the figures of a tree to a file that its trace is written to. */
struct tv_sections_writer;
void tv_call_tree_keep(const struct tv_call_tree *tree, struct tv_sections_writer *writer);

/* The tree that was kept with a trace, which is not to be counted again; NULL: none was. */
struct tv_call_tree *tv_call_tree_kept(struct tv_tree_shape *shape, const struct tv_trace *trace);

/* The same figures again, for whoever changes them; both are of one shape. */
struct tv_call_tree *tv_call_tree_copy(const struct tv_call_tree *tree);

/* What is on one node, with that node as node 1.  The first part of a tree takes a pass over all of
 * it, the others take as long as they are large. */
struct tv_call_tree *tv_call_tree_part(const struct tv_call_tree *tree, uint32_t node);

/* Has the memory of a tree that nothing was counted in given by the system now, not when it is
 * counted. */
void tv_call_tree_touch(struct tv_call_tree *tree);

/* Makes it the tree of a selection of its trace, whatever it was before: no new memory, which costs
 * more than counting. */
void tv_call_tree_count(struct tv_call_tree *tree, const struct tv_trace *trace,
                        const struct tv_selection *selection, unsigned workers);

/* The same, given the tree of all threads and all of the time as it was counted (or NULL): where
 * most of the trace is selected, what is not is taken off that one's figures. */
void tv_call_tree_count_within(struct tv_call_tree *tree, const struct tv_trace *trace,
                               const struct tv_selection *selection,
                               const struct tv_call_tree *whole, unsigned workers);

/* Adds the calls of the tracks that a selection names to the costs of a tree, and their waits:
 * takes as long as those tracks need, however many others the trace has.  The caller settles the
 * tree. */
void tv_call_tree_add(struct tv_call_tree *tree, const struct tv_trace *trace,
                      const struct tv_selection *selection, unsigned workers);

/* recursive[node]: a node of the same frame is among its ancestors. Found when first asked for,
 * which two threads must not do at once for trees of one shape. */
const uint8_t *tv_call_tree_recursion(const struct tv_call_tree *tree);

/* That nodes stretch * TV_TREE_STRETCH and so many after it are looked at next: a tree of millions
 * may lie in a file (memory.h). */
#define TV_TREE_STRETCH 65536u
void tv_call_tree_expect(const struct tv_call_tree *tree, uint32_t stretch);

/* For whoever fills a tree: nodes as in `paths`, every figure 0. */
struct tv_call_tree *tv_call_tree_new(const struct tv_trace_info *head, const struct tv_paths *paths);

/* Computes self_wall and self_cpu from cost. */
void tv_call_tree_settle(struct tv_call_tree *tree);

/* Whether a node stands for calls of a frame of the head: not the root, not a thread's node. */
static inline bool tv_call_tree_is_call(const struct tv_call_tree *tree, uint32_t node)
{
    return node != TV_ROOT_PATH && tree->frame[node] < tree->head->frame_count;
}

/* The slices of a row that belong to [from, to): those that overlap it, and those without length at
 * a time t with from <= t < to. */
void tv_row_overlap(const struct tv_trace *trace, uint32_t row, tv_ns from, tv_ns to,
                    uint32_t *first, uint32_t *end);

/* wanted[track] for the tracks of a selection; numbers that are no track are passed over. To be
 * given back with tv_free. */
bool *tv_selection_wanted(const struct tv_trace *trace, const struct tv_selection *selection);

/* Whether the trace has slices, and all are asynchronous: who asks for slices means these. */
bool tv_trace_has_only_async(const struct tv_trace *trace);

#endif
