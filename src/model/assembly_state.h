/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly_state.h - what an assembly keeps while an input is put together.
 *
 * For assembly.c, thread_work.c, async.c and async_joined.c alone.
 */
#ifndef TV_MODEL_ASSEMBLY_STATE_H
#define TV_MODEL_ASSEMBLY_STATE_H

#include "model/assembly.h"
#include "model/builder_store.h"
#include "model/spans.h"

/* A gathered list of blocks with what its numbers mean. */
struct piece {
    struct tv_span_block *first;
    uint64_t count;
    uint32_t part;
};

/* What there is to tell of a thread. */
struct told_kind {
    enum tv_diagnostic_kind kind;
    struct tv_diagnostic told;
};

/* One thread from its pieces to its rows. */
struct thread_work {
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    uint64_t count;
    struct tv_nesting nesting;
    struct tv_columns columns;
    bool placed;
    TV_TABLE(told_kind) told;        /* few kinds, of many */
    int64_t quiet;                   /* as in tv_diagnostics, on the clock of the input */
    TV_TABLE(tv_slice_extra) extras; /* `row` is the thread's own */
    int64_t first, last, first_cpu, last_cpu;
    uint32_t first_track; /* TV_NONE: no spans */
};

struct tv_assembly {
    struct tv_trace *trace;
    uint32_t input;
    uint32_t **parts; /* the frames of each: their numbers in the head */
    size_t part_count, part_capacity;
    struct thread_work *threads; /* of the head */
    uint32_t thread_count;
    uint32_t *names; /* of the head's frames, which others may add to while threads are placed */
};

/* From pieces to rows: all that a thread needs no other thread for. */
void tv_thread_work(const struct tv_assembly *assembly, const struct tv_placing *placing,
                    struct tv_spans_rooms *rooms, struct thread_work *work);

/* Where an async slice lies. */
struct tv_async_place {
    uint32_t parent;  /* index among the slices; TV_NONE: on top */
    uint32_t nesting; /* how many lie above it */
};

/* Changes the places of slices whose ids are joined: those of one group lie in each other. */
void tv_async_join(const struct tv_async_slice *slices, size_t count,
                   struct tv_async_place *places);

#endif
