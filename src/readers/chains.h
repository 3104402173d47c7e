/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chains.h - call chains with weights as events: what profilers keep that sum up and forget when.
 *
 * The weights are laid one behind the other, so that a thread's time says how much, not when.
 * Frames that a chain shares with the one before, from the root on, go on without a break.
 */
#ifndef TV_READERS_CHAINS_H
#define TV_READERS_CHAINS_H

#include "model/builder/sink.h"

/* The axis of a thread ends here, in nanoseconds. */
#define TV_CHAINS_LONGEST ((tv_ns)1 << 60)

struct tv_chains {
    struct tv_trace_info *head;
    struct tv_sink *sink;
    uint32_t input;
    unsigned pass;
    uint32_t thread;
    tv_ns now;    /* where the thread's next chain begins */
    tv_ns latest; /* of all threads */
    tv_ns weight; /* of all chains, as in struct tv_input */
    uint32_t *stack;
    size_t depth, capacity;
    uint64_t events_done;
    struct tv_event events[TV_BATCH_EVENTS];
    uint32_t offsets[TV_BATCH_EVENTS];
    struct tv_batch batch;
};

void tv_chains_init(struct tv_chains *chains, struct tv_trace_info *head, struct tv_sink *sink,
                    uint32_t input);
void tv_chains_release(struct tv_chains *chains);

/* Begins a pass over the chains, with the thread whose chains come first. */
void tv_chains_begin(struct tv_chains *chains, unsigned pass, uint32_t thread);

/* The chains that follow are of another thread, which had none yet. */
void tv_chains_turn_to(struct tv_chains *chains, uint32_t thread, uint64_t offset);

/* One chain, its frames from the root on.  `weight` is at most what is left of TV_CHAINS_LONGEST;
 * `offset` is its place in the input. */
void tv_chains_put(struct tv_chains *chains, const uint32_t *frames, size_t depth, tv_ns weight,
                   uint64_t offset);

/* Ends the pass: the last events go out, and the input knows how many there were.  The sink's
 * splice is left to the caller. */
void tv_chains_end(struct tv_chains *chains, uint64_t offset);

#endif
