/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h - finds the call paths of a batch before it is walked.
 *
 * In a tree larger than the caches each new call waits for memory, and the next call below it
 * cannot even be looked for.  A path's hash needs no memory but the stack's own: so the hashes of
 * all entries of a batch are found first, then the nodes that they probably are, and what the walk
 * will look at comes at once.  All of this is a guess, which the walk holds against the node: a
 * wrong one costs time and nothing else.
 */
#ifndef TV_ANALYSIS_AHEAD_H
#define TV_ANALYSIS_AHEAD_H

#include "analysis/tally.h"
#include "model/builder/walk.h"

/* A thread's stack, as the batch will leave it. */
struct tv_ahead_thread {
    uint32_t *hashes; /* [capacity]; of the path below the stack, then of each open call */
    uint32_t depth, capacity;
    uint32_t batch; /* the last one that it was in */
};

struct tv_ahead {
    struct tv_ahead_thread *threads; /* of all threads of the walk */
    uint32_t thread_count;
    uint32_t batch;
    const uint32_t *fold; /* [fold_count] frame -> the frame that stands for it, or NULL */
    uint32_t fold_count;
    uint32_t nodes[TV_BATCH_EVENTS + 1]; /* the guesses */
};

void tv_ahead_init(struct tv_ahead *ahead, uint32_t thread_count, const uint32_t *fold,
                   uint32_t fold_count);
void tv_ahead_release(struct tv_ahead *ahead);

/* Guesses the nodes of the calls that begin in a batch of up to TV_BATCH_EVENTS, which the walk has
 * not seen yet: returns their number; ahead->nodes has them, 0 for one that is not known, and 0
 * behind the last.  Threads that the walk skips have none. */
size_t tv_ahead_look(struct tv_ahead *ahead, const struct tv_walk *walk,
                     const struct tv_tally *tally, const struct tv_batch *batch);

#endif
