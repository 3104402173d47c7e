/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_tree.h - the call tree: how often each call path ran and for how long.  Every profile,
 * tree, flame graph and list of stacks is computed from it.
 *
 * A tree comes from a finished trace, for any time range and tracks (tv_call_tree_of_trace), or in
 * one pass from a reader, without a trace (struct tv_tree_sink).  In a tree of a trace, node
 * numbers are the trace's path numbers.
 */
#ifndef TV_ANALYSIS_CALLTREE_CALL_TREE_H
#define TV_ANALYSIS_CALLTREE_CALL_TREE_H

#include "analysis/calltree/sample_values.h"
#include "analysis/subset/selection.h"
#include "model/builder/sink.h"
#include "model/trace.h"

/* Cost of a node: its calls that overlap the range, clipped to it. */
struct tv_path_cost {
    uint64_t calls;
    int64_t wall, cpu; /* inclusive, in nanoseconds */
};

/* Times subtracted for the cost of recording (tv_call_tree_compensate). */
struct tv_compensation {
    tv_ns cost;        /* of one clock reading; 0: nothing was subtracted */
    int64_t wall, cpu; /* in total, in nanoseconds */
};

struct tv_tree_shape;

struct tv_call_tree {
    const struct tv_trace_info *head; /* for names; not owned */
    unsigned clocks;                  /* enum tv_clocks */
    uint32_t count;
    const uint32_t
        *parent; /* [count]; a parent's number is smaller than its children's; node 0 is the root */
    const uint32_t *frame; /* [count] */
    struct tv_path_cost *cost;
    int64_t *self_wall, *self_cpu; /* [count] inclusive time minus that of the children; never
                                      negative in a tree of calls */
    struct tv_path_cost waits;     /* "(context switch)": calls and wall; both 0 when unknown */
    struct tv_compensation compensation;
    struct tv_sample_figures figures; /* of a tree of samples: their calls are numbers of samples,
                                         and their wall times are weights, also negative ones */
    struct tv_tree_shape *shape;
    struct tv_trace_info *own_head; /* `head`, extended for this tree, which owns it; or NULL */
    bool owns_shape;
    bool lent;    /* the costs are in the sections of an index file and are read-only */
    bool kept;    /* costs, parents and frames are in a block of tv_call_tree_in */
    bool counted; /* the costs are no longer all 0 */
    bool raised;  /* no range can be subtracted: some CPU times are not exact, or a sum overflowed
                     (tv_call_tree_settle) */
};

/* Return the tree of a selection.  `workers` threads share the work (0: one per processor). */
struct tv_call_tree *tv_call_tree_of_trace(const struct tv_trace *trace,
                                           const struct tv_selection *selection, unsigned workers);
void tv_call_tree_free(struct tv_call_tree *tree);

/* The part that all trees of one trace share.  Make it once to build trees for several
 * selections; it must outlive them. */
struct tv_tree_shape *tv_tree_shape_new(const struct tv_trace_info *head,
                                        const struct tv_paths *paths);
void tv_tree_shape_free(struct tv_tree_shape *shape);

/* Return a tree with every cost 0. */
struct tv_call_tree *tv_call_tree_of_shape(struct tv_tree_shape *shape);

/* Return a tree without costs, whose parents and frames the caller fills in.  It is in `block`, of
 * tv_call_tree_bytes(count) bytes, which must outlive it. */
struct tv_call_tree *tv_call_tree_in(const struct tv_trace_info *head, uint32_t count, void *block);
size_t tv_call_tree_bytes(uint32_t count);

/* Write the costs of a tree to an index file, along with its trace. */
struct tv_sections_writer;
void tv_call_tree_store(const struct tv_call_tree *tree, struct tv_sections_writer *writer);

/* Return the tree that was stored along with a trace; NULL if there is none.  It is read-only: do
 * not count it again. */
struct tv_call_tree *tv_call_tree_load_stored(struct tv_tree_shape *shape,
                                              const struct tv_trace *trace);

/* Copy the costs of a tree, so that they can be changed; both trees share one shape. */
struct tv_call_tree *tv_call_tree_copy(const struct tv_call_tree *tree);

/* Return the subtree of a node, which becomes node 1.  The first call for a tree takes a pass
 * over all nodes, later calls take time proportional to the subtree. */
struct tv_call_tree *tv_call_tree_part(const struct tv_call_tree *tree, uint32_t node);

/* Make the system provide a new tree's memory now, not while it is counted. */
void tv_call_tree_touch(struct tv_call_tree *tree);

/* Recount `tree` for another selection of its trace.  Reuses the memory, because fresh memory
 * costs more than counting does. */
void tv_call_tree_count(struct tv_call_tree *tree, const struct tv_trace *trace,
                        const struct tv_selection *selection, unsigned workers);

/* As tv_call_tree_count, but given the tree of all threads and all time (or NULL): if most of the
 * trace is selected, subtract the rest from that tree's costs instead. */
void tv_call_tree_count_within(struct tv_call_tree *tree, const struct tv_trace *trace,
                               const struct tv_selection *selection,
                               const struct tv_call_tree *whole, unsigned workers);

/* Add the calls and waits of the selection's tracks to a tree.  The time depends on those tracks
 * only, not on the size of the trace.  Call tv_call_tree_settle afterwards. */
void tv_call_tree_add(struct tv_call_tree *tree, const struct tv_trace *trace,
                      const struct tv_selection *selection, unsigned workers);

/* Return recursive[node]: true if an ancestor has the same frame.  Computed by the first call,
 * which must not happen in two threads at once for trees of one shape. */
const uint8_t *tv_call_tree_recursion(const struct tv_call_tree *tree);

/* Announce that TV_TREE_READ_AHEAD nodes from block * TV_TREE_READ_AHEAD on are read next: a
 * large tree may be in a file (base/memory.h). */
#define TV_TREE_READ_AHEAD 65536u
void tv_call_tree_expect(const struct tv_call_tree *tree, uint32_t block);

/* Return a tree with the nodes of `paths` and every cost 0, to be filled by the caller. */
struct tv_call_tree *tv_call_tree_new(const struct tv_trace_info *head,
                                      const struct tv_paths *paths);

/* Compute self_wall and self_cpu from the costs. */
void tv_call_tree_settle(struct tv_call_tree *tree);

/* Sum up the times of all calls of depth 0; of samples, all weights. */
void tv_call_tree_totals(const struct tv_call_tree *tree, int64_t *wall, int64_t *cpu);

/* Return true if a node is a call of a frame, not the root or a thread's node. */
static inline bool tv_call_tree_is_call(const struct tv_call_tree *tree, uint32_t node)
{
    return node != TV_ROOT_PATH && tree->frame[node] < tree->head->frame_count;
}

/* ---- Built by a sink ----
 *
 * A sink that builds the call tree straight from a reader's events, without a
 * trace, for the commands that work on a whole file.
 */

struct tv_tree_sink;

/* Trees of files that are read one after the other.  Runs of one program have nearly the same call
 * paths, so the tree of a file begins with those of the file before, each of which it then finds
 * where it is expected. */
struct tv_tree_memory;

struct tv_tree_memory *tv_tree_memory_new(void);
void tv_tree_memory_free(struct tv_tree_memory *memory);

struct tv_tree_sink_options {
    /* Tells if a thread (index in the head) counts; NULL: all do.  Called once per thread. */
    bool (*wanted)(const struct tv_trace_info *head, uint32_t thread, void *context);
    void *context;
    bool split_threads; /* each thread gets a node under the root, with frame TV_THREAD_FRAME +
                           thread */
    bool fold_names; /* merge frames that have the same class and name, as collapsed stacks need */
    struct tv_tree_memory *memory; /* used by one sink at a time, and by its tree: must outlive
                                      both; or NULL */
};

/* First `frame` of thread nodes, when threads are split. */
#define TV_THREAD_FRAME 0x80000000u

/* Make a sink.  Options are copied; their context must outlive the sink. */
struct tv_tree_sink *tv_tree_sink_new(const struct tv_tree_sink_options *options);
/* Return the sink to pass to a reader. */
struct tv_sink *tv_tree_sink_sink(struct tv_tree_sink *sink);

/* Return the tree of everything that was read, and free the sink.  `head`, the reader's, must
 * outlive the tree. */
struct tv_call_tree *tv_tree_sink_finish(struct tv_tree_sink *sink,
                                         const struct tv_trace_info *head);

#endif
