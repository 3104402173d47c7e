/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.h - the reader of collapsed stacks: "main;parse;read 12", one line per call chain with
 * its weight. docs/formats/collapsed.md describes the format.
 *
 * The weights become an axis on which the chains lie one after the other, one microsecond per
 * count, in a thread "all". A frame that two neighbouring lines share continues.
 */
#ifndef TV_READERS_COLLAPSED_H
#define TV_READERS_COLLAPSED_H

#include "model/builder/sink.h"
#include "readers/reader.h"

extern const struct tv_reader tv_reader_collapsed;

/*
 * Call chains with weights, as events. Profilers that sum up keep such chains, without times.
 *
 * The chains of a thread are laid one after the other, each as long as its weight, so the time axis
 * shows how much, not when. Frames that a chain shares with the one before, from the root on,
 * continue without a break.
 */

/* Maximum length of the axis of a thread, in nanoseconds. */
#define TV_CHAINS_LONGEST ((tv_ns)1 << 60)

struct tv_chains {
    struct tv_trace_info *head;
    struct tv_sink *sink;
    uint32_t input;
    unsigned pass;
    uint32_t thread;
    tv_ns now;    /* start of the thread's next chain */
    tv_ns latest; /* end of the longest thread */
    tv_ns weight; /* sum over all chains, as in struct tv_input */
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

/* Begin a pass over the chains, with the thread of the first chains. */
void tv_chains_begin(struct tv_chains *chains, unsigned pass, uint32_t thread);

/* The next chains belong to another thread, which had none yet. */
void tv_chains_begin_thread(struct tv_chains *chains, uint32_t thread, uint64_t offset);

/* Add a chain; its frames begin with the root. `weight` is at most the rest of
 * TV_CHAINS_LONGEST; `offset` is the chain's place in the input. */
void tv_chains_put(struct tv_chains *chains, const uint32_t *frames, size_t depth, tv_ns weight,
                   uint64_t offset);

/* End the pass: deliver the last events, and store their number in the input. The caller lets
 * the sink stitch. */
void tv_chains_end(struct tv_chains *chains, uint64_t offset);

#endif
