/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly_internal.h - data structures of the assembly: packed spans, the spans of one thread on
 * their way to rows, and the state of an input.
 *
 *     gather.c           packed blocks per (chunk, thread)
 *     assembly_thread.c  blocks of a thread -> array of struct tv_span -> sort, pair, nest -> rows
 *     pair.c             begins and ends -> whole spans
 *     nest.c             whole spans -> (lane, depth)
 *     assembly.c         all threads of an input -> tracks of the trace
 */
#ifndef TV_MODEL_ASSEMBLY_ASSEMBLY_INTERNAL_H
#define TV_MODEL_ASSEMBLY_ASSEMBLY_INTERNAL_H

#include "model/assembly/assembly.h"
#include "model/columns.h"

/*
 * ---- Spans ----
 */

/* Rare properties of a span; tv_span.side is the index, or TV_NONE. */
struct tv_span_extra {
    int64_t cpu_start, cpu_length; /* TV_NO_TIME: unknown */
    /* TV_EXTRA_NO_OFFSET: no event ended the span, or it has nothing to add. */
    uint64_t end_offset : 40;
    /* For a span of length 0: how many of the following spans of length 0 it contains, because they
     * began after its begin and ended before its end. */
    uint64_t inside : 24;
};

#define TV_EXTRA_NO_OFFSET TV_OFFSET_MASK
#define TV_EXTRA_MAX_INSIDE 0xffffffu

/* Reference values of packed spans, which store differences. */
struct tv_span_bases {
    int64_t time, cpu;
    uint64_t offset;
    uint64_t length; /* for the next span only */
};

/* A block of gathered spans: records of one size. */
struct tv_span_block {
    struct tv_span_block *next;
    uint32_t count, capacity; /* in records */
    uint32_t since;           /* spans since the bases changed */
    bool packed;              /* else each record is a struct tv_span */
    bool timed;               /* each record is followed by CPU times */
    struct tv_span_bases bases;
    uint8_t bytes[];
};

void tv_span_block_free(struct tv_span_block *block);

/* Iterates over a block; start with zeros besides `block`. */
struct tv_span_reader {
    const struct tv_span_block *block;
    uint32_t next;
    struct tv_span_bases bases;
};

/* Read the next span, with `side` TV_NONE, and the CPU times of a whole one (TV_NO_TIME: unknown).
 * Return false at the end. */
bool tv_span_read(struct tv_span_reader *reader, struct tv_span *span, struct tv_cpu_times *cpu);

/* The blocks of one thread in one chunk. */
struct tv_span_list {
    struct tv_span_block *first, *last;
    uint64_t count;
};

struct tv_gather {
    struct tv_span_list *threads;
    size_t thread_count, thread_capacity;
    size_t frame_count; /* all frame numbers of the spans are smaller */
};

/* Memory that a worker reuses for thread after thread: fresh pages are slow. */
struct tv_scratch {
    void *memory;
    size_t size;
};

/* Return room for `count` elements of `size` bytes with arbitrary contents. */
void *tv_scratch_get(struct tv_scratch *scratch, size_t count, size_t size);

/* Release the memory after use if it is large. */
void tv_scratch_trim(struct tv_scratch *scratch);
void tv_scratch_release(struct tv_scratch *scratch);

struct tv_span_scratch {
    struct tv_scratch spans, spare, row_of, depths;
    struct tv_paths paths;
    struct tv_diagnostics *diagnostics; /* of the current thread: large, and mostly empty */
};

void tv_span_scratch_init(struct tv_span_scratch *scratch);
void tv_span_scratch_release(struct tv_span_scratch *scratch);

/* All spans of one thread. */
struct tv_spans {
    struct tv_span_scratch *scratch;
    struct tv_span *spans;
    size_t count;
    struct tv_span_extra *sides;
    size_t side_count, side_capacity;
    uint32_t *depths; /* [count] how many spans are open around each, where begins and ends alone
                         tell it; else NULL. Scratch memory (pair.c) */
    const uint32_t *names; /* name (string) of each frame */
    struct tv_diagnostics *diagnostics;
};

static inline int64_t tv_span_end(const struct tv_span *span)
{
    return span->time + span->length;
}

/* Sort by time; the sort is stable. */
void tv_spans_sort_by_time(struct tv_spans *spans);

/* Sort whole spans by start; of equal starts the longest comes first. */
void tv_spans_sort_by_start(struct tv_spans *spans);

/* End times for spans without an end. */
struct tv_open_ends {
    int64_t end;
    int64_t idle_end; /* for spans that began before the idle gap, or TV_NO_TIME */
};

/* Return the end of an open span and count a diagnostic when it ends before the idle gap. */
int64_t tv_open_end(const struct tv_open_ends *ends, const struct tv_span *span,
                    struct tv_diagnostics *diagnostics);

/* Combine begins and ends, sorted by time, into whole spans, which stay sorted by start. Set
 * `depths` if each end closes the innermost span: the spans need no sorting by start then. */
void tv_spans_pair(struct tv_spans *spans, const struct tv_open_ends *ends);

/* Maximum depth of a lane, as for method traces. */
#define TV_NEST_DEPTH_LIMIT 65536u

/* A row of the result of nesting. */
struct tv_nested_row {
    uint32_t lane;  /* 0: the thread's own rows; else an overflow track */
    uint32_t depth; /* within the lane */
    uint32_t count;
};

struct tv_nesting {
    uint32_t *row_of;           /* [spans] index in rows; scratch memory */
    struct tv_nested_row *rows; /* by lane and depth */
    size_t row_count;
    uint32_t lane_count;
    /* path tree of the thread, made of the spans' frames */
    struct tv_path_node *nodes;
    uint32_t node_count;
};

/* Assign a row to each whole span, sorted by start or with its depth: replace `frame` by the path,
 * set flags, and clip what overhangs by less than the tolerance. */
void tv_spans_nest(struct tv_spans *spans, int64_t tolerance, struct tv_nesting *nesting);

/*
 * Packed spans: 20 bytes instead of 32; a whole one with CPU times 28 instead of 48.
 *
 * A packed span stores 32-bit differences to the bases, which special records in the same stream
 * set; each block starts with one.  When the bases would have to change too often, a block stores
 * unpacked spans instead.
 *
 *     block   | bases | span | span | span | bases | span | ...
 */

/* A span may precede the one that set the bases by this many ns, or follow it by 3.8 s. */
#define TV_PACK_EARLIER ((int64_t)1 << 29)

/* `flags` of the records that set the bases: all of them but that of the CPU time, which becomes 0,
 * and that one alone.  Spans have smaller values. */
#define TV_PACK_BASES 0xffu
#define TV_PACK_CPU_BASE 0xfeu

/* Maximum length in a packed block. */
#define TV_PACK_LONGEST (((int64_t)1 << 56) - 1)

struct tv_packed_span {
    uint32_t time;
    uint32_t length; /* length of a begin or an end: its CPU time; UINT32_MAX: unknown */
    uint32_t offset, frame;
    uint8_t colour, flags, no_padding[2];
};

/* Same size as a packed span.  The length of the next span grows by length << 32. */
struct tv_packed_bases {
    int64_t time;
    uint64_t offset : 40;
    uint64_t length : 24;
    uint8_t colour, flags, no_padding[6];
};

/* As large as a packed span. */
struct tv_packed_cpu_base {
    int64_t cpu;
    uint8_t zero[8];
    uint8_t colour, flags, no_padding[6];
};

/* Follows each record of a timed block, for whole spans (UINT32_MAX: unknown). */
struct tv_packed_cpu {
    uint32_t start, length;
};

static inline size_t tv_pack_size(bool packed, bool timed)
{
    if (packed)
        return sizeof(struct tv_packed_span) + (timed ? sizeof(struct tv_packed_cpu) : 0);
    return sizeof(struct tv_span) + (timed ? sizeof(struct tv_cpu_times) : 0);
}

/* ---- The assembly ---- */

/* A list of blocks, and the chunk whose frame numbers it uses. */
struct chunk_spans {
    struct tv_span_block *first;
    uint64_t count;
    uint32_t chunk;
};

/* Diagnostics of one kind from one thread. */
struct thread_diagnostic {
    enum tv_diagnostic_kind kind;
    struct tv_diagnostic noted;
};

/* One thread from its gathered lists to its rows. */
struct assembly_thread {
    struct chunk_spans *lists;
    size_t list_count, list_capacity;
    uint64_t count;
    struct tv_nesting nesting;
    struct tv_columns columns;
    bool placed;
    TV_TABLE(thread_diagnostic) noted; /* only the kinds that occurred */
    int64_t idle_end;                  /* as in tv_diagnostics, on the input's clock */
    TV_TABLE(tv_slice_extra) extras;   /* `row` counts from the thread's first row */
    int64_t first, last, first_cpu, last_cpu;
    uint32_t first_track; /* TV_NONE: no spans */
};

struct tv_assembly {
    struct tv_trace *trace;
    uint32_t input;
    uint32_t **chunks; /* per chunk: frame numbers of the trace info */
    size_t chunk_count, chunk_capacity;
    struct assembly_thread *threads; /* per thread of the trace info */
    uint32_t thread_count;
    uint32_t *names; /* per frame; a copy, because the other job may add frames meanwhile */
};

/* Build the rows of a thread, which needs nothing of other threads. */
void tv_assembly_thread_build(const struct tv_assembly *assembly,
                              const struct tv_row_options *placing, struct tv_span_scratch *scratch,
                              struct assembly_thread *work);

/* Position of an async slice in its tree. */
struct tv_async_place {
    uint32_t parent;  /* index among the slices; TV_NONE: a root */
    uint32_t nesting; /* number of ancestors */
};

/* Nest the slices of each group by time, whatever their ids. */
void tv_async_join(const struct tv_async_slice *slices, size_t count,
                   struct tv_async_place *places);

#endif
