/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_parts.h - what the builder keeps for each chunk of an input while it passes twice.
 *
 * count.c is pass 0: how many calls each (thread, level) has.  place.c is pass 1: each slice to
 * its place. builder.c joins them.  For these files alone.
 */
#ifndef TV_MODEL_BUILDER_BUILDER_INTERNAL_H
#define TV_MODEL_BUILDER_BUILDER_INTERNAL_H

#include "model/builder/builder.h"
#include "model/builder/stitch.h"
#include "model/builder/walk.h"
#include "model/columns.h"

/* Calls of one thread in one chunk by level: depth against the chunk's start, so that levels below
 * it are negative. */
struct tv_levels {
    uint32_t *counts; /* of level l: counts[l + bias] */
    uint32_t bias, size;
};

/* The end of a slice of an earlier chunk, to be written when all chunks have come through. */
struct tv_deferred {
    uint32_t thread, depth, index;
    uint32_t flags; /* to be added */
    int64_t wall, cpu;
};

struct tv_chunk_wait {
    uint32_t thread;
    struct tv_wait wait;
};

/* Where a thread's next call at a depth goes, and the path of its last one. */
struct tv_depth_tip {
    struct tv_row_writer place;
    uint32_t path;
    uint32_t hash; /* of that path, or of one that is not known yet */
};

/* A call that began, whose path is not known yet. */
struct tv_unresolved_path {
    struct tv_depth_tip *tip;
    uint64_t slice;
    uint32_t frame, hash;
};

struct tv_build_chunk {
    struct tv_walk walk;
    struct tv_diagnostics diagnostics;
    struct tv_levels *levels; /* of each thread */

    struct tv_columns *columns;
    uint32_t *walls[2], *cpus[2]; /* of them: starts, lengths */
    struct tv_paths paths;
    struct tv_depth_tip **tips; /* of each thread, by depth; tips[-1] is what lies below them */
    struct tv_unresolved_path *begun; /* [TV_BATCH_EVENTS + 1] of the batch, in their order */
    size_t begun_count;
    struct tv_deferred *deferred;
    size_t deferred_count, deferred_capacity;
    struct tv_chunk_wait *waits;
    size_t wait_count, wait_capacity;
    bool wide; /* times may need 64 bits */
};

/* Takes a batch of pass 0. */
void tv_chunk_count_batch(struct tv_build_chunk *chunk, const struct tv_batch *batch);
/* After the last batch: prepares for the stitch. */
void tv_chunk_finish_count(struct tv_build_chunk *chunk);

/* Calls of the thread at the level. */
uint32_t tv_levels_get(const struct tv_levels *levels, int64_t level);

/* Takes a batch of pass 1. */
void tv_chunk_write_batch(struct tv_build_chunk *chunk, const struct tv_batch *batch);

void tv_chunk_release(struct tv_build_chunk *chunk);

/*
 * builder_trace.h - the trace that a builder is making, for the assembly, which adds to it.
 */

/* Owned by the builder until it finishes. */
struct tv_trace *tv_builder_trace(struct tv_builder *builder);

/* An offset of 0 for each input that has none yet. */
void tv_trace_reserve_offsets(struct tv_trace *trace);

/* What is found out when everything is there: the origin, the span, the order of the tables. */
void tv_trace_finalize(struct tv_trace *trace);

#endif
