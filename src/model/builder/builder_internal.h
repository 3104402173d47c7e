/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_internal.h - state of the builder for one chunk, and the interface to the rest of the
 * model.
 *
 * builder_passes.c fills it: the count pass counts the calls of each (thread, level), the write
 * pass writes each slice.  builder.c connects the two.
 */
#ifndef TV_MODEL_BUILDER_BUILDER_INTERNAL_H
#define TV_MODEL_BUILDER_BUILDER_INTERNAL_H

#include "model/builder/builder.h"
#include "model/builder/stitch.h"
#include "model/builder/walk.h"
#include "model/columns.h"

/* Number of calls of one thread in one chunk by level.  A level is a depth relative to the chunk's
 * start, so levels below the start are negative. */
struct tv_levels {
    uint32_t *counts; /* count of level l: counts[l + bias] */
    uint32_t bias, size;
};

/* End of a slice of an earlier chunk, applied after all chunks are written. */
struct tv_deferred {
    uint32_t thread, depth, index;
    uint32_t flags; /* flags to add to the slice */
    int64_t wall, cpu;
};

struct tv_chunk_wait {
    uint32_t thread;
    struct tv_wait wait;
};

/* Per thread and depth: where the next slice goes, and the path of the last one. */
struct tv_depth_tip {
    struct tv_row_writer place;
    uint32_t path;
    uint32_t hash; /* of that path, or of one that is not resolved yet */
};

/* A call that began and whose path node is not known yet. */
struct tv_unresolved_path {
    struct tv_depth_tip *tip;
    uint64_t slice;
    uint32_t frame, hash;
};

struct tv_build_chunk {
    struct tv_walk walk;
    struct tv_diagnostics diagnostics;
    struct tv_levels *levels; /* per thread */

    struct tv_columns *columns;
    uint32_t *walls[2], *cpus[2]; /* columns of starts and of lengths */
    struct tv_paths paths;
    struct tv_depth_tip **tips;       /* per thread and depth; tips[-1] stands for what is below */
    struct tv_unresolved_path *begun; /* [TV_BATCH_EVENTS + 1] calls of the batch in order */
    size_t begun_count;
    struct tv_deferred *deferred;
    size_t deferred_count, deferred_capacity;
    struct tv_chunk_wait *waits;
    size_t wait_count, wait_capacity;
    bool wide; /* times may need 64 bits */
};

/* Count pass: process a batch. */
void tv_chunk_count_batch(struct tv_build_chunk *chunk, const struct tv_batch *batch);
/* Prepare the chunk for stitching after its last batch. */
void tv_chunk_finish_count(struct tv_build_chunk *chunk);

/* Return the number of calls at a level. */
uint32_t tv_levels_get(const struct tv_levels *levels, int64_t level);

/* Write pass: process a batch. */
void tv_chunk_write_batch(struct tv_build_chunk *chunk, const struct tv_batch *batch);

void tv_chunk_release(struct tv_build_chunk *chunk);

/*
 * ---- For the assembly and the finalizer ----
 */

/* Give each new input the clock offset 0. */
void tv_trace_reserve_offsets(struct tv_trace *trace);

/* Compute what requires all inputs: the origin, the extent, and the order of the tables. */
void tv_trace_finalize(struct tv_trace *trace);

#endif
