/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_builder.h - build a call-path tree, with the own cost of each path, from a stream of
 * events.
 *
 * A tree of millions of paths is larger than the caches; speed is the number of cache lines that an
 * event touches.  That is one, if the path's node is known or predicted correctly: a node holds its
 * place in the tree and its costs, two nodes per line.
 *
 * Node 0 is the root; parents have smaller numbers than their children.
 */
#ifndef TV_ANALYSIS_CALLTREE_PATH_BUILDER_H
#define TV_ANALYSIS_CALLTREE_PATH_BUILDER_H

#include "model/builder/walk.h"
#include "model/paths.h"

struct tv_path_builder_node {
    uint32_t parent;
    uint32_t frame;
    uint64_t calls;
    int64_t wall, cpu; /* own time of the path, in ticks */
};

struct tv_path_builder {
    struct tv_path_builder_node *nodes;
    uint32_t *hashes; /* parallel to nodes: hash of the frames from the root on */
    size_t capacity;  /* capacity of both arrays */
    uint32_t count;
    struct tv_path_place *places; /* open addressing over the nodes, by (parent, frame) */
    size_t mask;                  /* at least half of the places are free */
};

void tv_path_builder_init(struct tv_path_builder *builder);
void tv_path_builder_release(struct tv_path_builder *builder);

/* Set all costs to 0 but keep the paths, for another file whose paths are most likely the same.
 * Remove the paths, too, if most of them had no calls: they are those of other files. */
void tv_path_builder_reset(struct tv_path_builder *builder);

/* Free the hash table, which only insertion needs; the finished tree is nodes[0..count). */
void tv_path_builder_finish(struct tv_path_builder *builder);

/* Return the node for `frame` called from `parent`, a new one if needed, with costs of 0. */
uint32_t tv_path_builder_child(struct tv_path_builder *builder, uint32_t parent, uint32_t frame);

/* Add the paths and costs of another tree. */
void tv_path_builder_merge(struct tv_path_builder *to, const struct tv_path_builder *from);

/* The prefixes that continue the paths of a chunk.  The tree of the chunk has placeholders:
 * children of the root whose frame is `first` + i, one for each set of calls that was open without
 * having begun in the chunk.  No other node has such a frame. */
struct tv_prefix_tree {
    struct tv_path_builder paths; /* the prefixes; costs unused */
    uint32_t first, count;
    uint32_t *node; /* [count] node of `paths` that placeholder `first` + i stands for */
};

/* Replace the placeholders by their prefixes and renumber the tree: the prefixes come first, and
 * paths that become equal are merged with their costs.  Times become nanoseconds, `tick_ns` per
 * tick. */
void tv_path_builder_attach(struct tv_path_builder *builder, const struct tv_prefix_tree *prefixes,
                            int64_t tick_ns);

/* Add the tree of a chunk, as tv_path_builder_attach would make it, and leave it as it is.  Nodes
 * without calls are of an earlier file (tv_path_builder_reset) and are not added.  places[i] is set
 * to the node of `to` that node i of the chunk became; before the call it is where the node is
 * expected, or 0. */
void tv_path_builder_add_chunk(struct tv_path_builder *to, const struct tv_path_builder *chunk,
                               const struct tv_prefix_tree *prefixes, int64_t tick_ns,
                               uint32_t *places);

/* Return the node whose hash is in one of the first two places of a lookup, or 0: most likely the
 * path with this hash. */
TV_INLINE uint32_t tv_path_builder_guess(const struct tv_path_builder *builder, uint32_t hash)
{
    size_t at = hash & builder->mask;
    struct tv_path_place first = builder->places[at],
                         second = builder->places[(at + 1) & builder->mask];
    return (first.node & -(uint32_t)(first.hash == hash)) |
           (second.node & -(uint32_t)((second.hash == hash) & (first.hash != hash)));
}

/* ---- Prediction ----
 *
 * Predict the call paths of a batch of events before it is walked.
 *
 * In a tree larger than the caches, each new call waits for memory, and its child cannot even be
 * looked up before.  A path's hash needs no memory but the thread's stack: so first compute the
 * hashes of all entries of a batch, then the nodes that they probably belong to, and prefetch
 * everything that the walk will look at.  A prediction is only a hint: the walk compares it with
 * the node, and a wrong one costs time only.
 */

/* A thread's stack as the batch will leave it. */
struct tv_path_predictor_thread {
    uint32_t *hashes; /* [capacity] hash of the path below the stack, then of each open call */
    uint32_t depth, capacity;
    uint32_t batch; /* last batch that the thread was in */
};

struct tv_path_predictor {
    struct tv_path_predictor_thread *threads; /* all threads of the walk */
    uint32_t thread_count;
    uint32_t batch;
    const uint32_t *fold; /* [fold_count] frame -> representative frame, or NULL */
    uint32_t fold_count;
    uint32_t nodes[TV_BATCH_EVENTS + 1]; /* the predictions */
};

void tv_path_predictor_init(struct tv_path_predictor *predictor, uint32_t thread_count,
                            const uint32_t *fold, uint32_t fold_count);
void tv_path_predictor_release(struct tv_path_predictor *predictor);

/* Predict the nodes of the calls that begin in a batch of up to TV_BATCH_EVENTS events, before
 * the walk sees it.  Return their number and set predictor->nodes: 0 for an unknown node, and 0
 * after the last.  Threads that the walk skips have no predictions. */
size_t tv_path_predictor_run(struct tv_path_predictor *predictor, const struct tv_walk *walk,
                             const struct tv_path_builder *builder, const struct tv_batch *batch);

#endif
