/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly_state.h - what an assembly keeps while an input is put together.
 *
 * For assembly.c, assembly_thread.c, async.c and async_joined.c alone.
 */
#ifndef TV_MODEL_ASSEMBLY_ASSEMBLY_INTERNAL_H
#define TV_MODEL_ASSEMBLY_ASSEMBLY_INTERNAL_H

#include "model/assembly/assembly.h"
#include "model/columns.h"

/*
 * spans.h - the spans of one thread on their way to rows.
 *
 * For the files of the assembly alone: gather.c, span_sort.c, pair.c, nest.c, scratch.c,
 * assembly.c.
 */

/* What few spans have; tv_span.side is its index, or TV_NONE. */
struct tv_span_extra {
    int64_t cpu_start, cpu_length; /* TV_NO_TIME: unknown */
    /* TV_EXTRA_NO_OFFSET: no event of its own ended the span, or one that tells nothing. */
    uint64_t end_offset : 40;
    /* For a span without length: how many of the next spans without length it contains, because
     * they began after its beginning and before its end. */
    uint64_t inside : 24;
};

#define TV_EXTRA_NO_OFFSET TV_OFFSET_MASK
#define TV_EXTRA_MOST_INSIDE 0xffffffu

/* From where packed spans count. */
struct tv_span_bases {
    int64_t time, cpu;
    uint64_t offset;
    uint64_t length; /* of the next span alone */
};

/* Spans as they were gathered: records of one size (span_pack.h). */
struct tv_span_block {
    struct tv_span_block *next;
    uint32_t count, capacity; /* records */
    uint32_t since;           /* spans since the bases changed */
    bool packed;              /* else each record is a struct tv_span */
    bool timed;               /* each has CPU times behind it */
    struct tv_span_bases bases;
    uint8_t bytes[];
};

void tv_span_block_free(struct tv_span_block *block);

/* On its way through a block; the rest zeroed. */
struct tv_span_reader {
    const struct tv_span_block *block;
    uint32_t next;
    struct tv_span_bases bases;
};

/* The next span, whose `side` is TV_NONE; false: there are no more.  CPU times are those of a whole
 * one, TV_NO_TIME where they are not known. */
bool tv_span_read(struct tv_span_reader *reader, struct tv_span *span, struct tv_cpu_times *cpu);

/* One thread's blocks of one chunk. */
struct tv_span_list {
    struct tv_span_block *first, *last;
    uint64_t count;
};

struct tv_gather {
    struct tv_span_list *threads;
    size_t thread_count, thread_capacity;
    size_t frame_count; /* the spans mean frames below this number */
};

/* Memory that a worker uses for one thread after the other: fresh memory is slow. */
struct tv_scratch {
    void *memory;
    size_t size;
};

/* Room for `count` things of `size` bytes, which hold anything. */
void *tv_scratch_get(struct tv_scratch *room, size_t count, size_t size);

/* Nobody looks at it any more: gives it back when it is large. */
void tv_scratch_trim(struct tv_scratch *room);
void tv_scratch_release(struct tv_scratch *room);

struct tv_span_scratch {
    struct tv_scratch spans, spare, row_of;
    struct tv_paths paths;
    struct tv_diagnostics *diagnostics; /* of the thread at hand: large, and mostly empty */
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
    const uint32_t *names; /* of the head's frames: strings */
    struct tv_diagnostics *diagnostics;
};

static inline int64_t tv_span_end(const struct tv_span *span)
{
    return span->time + span->length;
}

/* Sorts by time; what has one time stays in its order. */
void tv_spans_sort_by_time(struct tv_spans *spans);

/* Sorts whole spans by start, the longest first. */
void tv_spans_sort_by_start(struct tv_spans *spans);

/* The times at which slices without an end are taken to end. */
struct tv_open_ends {
    int64_t end;
    int64_t idle_end; /* of what began until then, or TV_NO_TIME */
};

/* Return the end of an open span.  An end before a silence is counted as a diagnostic. */
int64_t tv_open_end(const struct tv_open_ends *ends, const struct tv_span *span,
                    struct tv_diagnostics *diagnostics);

/* Joins beginnings and ends, sorted by time, to whole spans, which stay sorted by start. */
void tv_spans_pair(struct tv_spans *spans, const struct tv_open_ends *ends);

/* Where a span went. */
struct tv_nested_row {
    uint32_t lane;  /* 0: the thread's own rows; else an overflow track */
    uint32_t depth; /* in the lane */
    uint32_t count;
};

struct tv_nesting {
    uint32_t *row_of;           /* [spans] index in rows; in the worker's room */
    struct tv_nested_row *rows; /* by lane and depth */
    size_t row_count;
    uint32_t lane_count;
    /* Frames of the spans become paths of this tree. */
    struct tv_path_node *nodes;
    uint32_t node_count;
};

/* Finds the row of each whole span, sorted by start; turns `frame` into the path; sets flags; cuts
 * what overhangs by up to the tolerance. */
void tv_spans_nest(struct tv_spans *spans, int64_t tolerance, struct tv_nesting *nesting);

/*
 * span_pack.h - gathered spans in 20 bytes instead of 32, or 28 instead of 48 with CPU times.
 *
 * They say how far they are from times and a place that records among them tell, first of all the
 * first of a block.  Where that would be needed too often, a block has whole spans.  For gather.c
 * and its tests alone.
 */

/* A span may be earlier than that with which the bases came by this; later by 3.8 s. */
#define TV_PACK_EARLIER ((int64_t)1 << 29)

/* Flags of a record that tells bases; no span has them. */
#define TV_PACK_BASES 0xffu

/* Lengths are no more than this, in packed blocks. */
#define TV_PACK_LONGEST (((int64_t)1 << 56) - 1)

struct tv_packed_span {
    uint32_t time, length, offset, frame;
    uint8_t colour, flags, no_padding[2];
};

/* As large; the next span is longer by length << 32. */
struct tv_packed_bases {
    int64_t time;
    uint64_t offset : 40;
    uint64_t length : 24;
    uint8_t colour, flags, no_padding[6];
};

/* What records of a timed block have behind them: of beginnings and ends `start` alone, UINT32_MAX:
 * unknown; of bases both are one number. */
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

/* A gathered list of blocks with what its numbers mean. */
struct chunk_spans {
    struct tv_span_block *first;
    uint64_t count;
    uint32_t chunk;
};

/* What there is to tell of a thread. */
struct thread_diagnostic {
    enum tv_diagnostic_kind kind;
    struct tv_diagnostic noted;
};

/* One thread from its lists to its rows. */
struct assembly_thread {
    struct chunk_spans *lists;
    size_t list_count, list_capacity;
    uint64_t count;
    struct tv_nesting nesting;
    struct tv_columns columns;
    bool placed;
    TV_TABLE(thread_diagnostic) noted; /* few kinds, of many */
    int64_t idle_end;                  /* as in tv_diagnostics, on the clock of the input */
    TV_TABLE(tv_slice_extra) extras;   /* `row` is the thread's own */
    int64_t first, last, first_cpu, last_cpu;
    uint32_t first_track; /* TV_NONE: no spans */
};

struct tv_assembly {
    struct tv_trace *trace;
    uint32_t input;
    uint32_t **chunks; /* the frames of each: their numbers in the head */
    size_t chunk_count, chunk_capacity;
    struct assembly_thread *threads; /* of the head */
    uint32_t thread_count;
    uint32_t *names; /* of the head's frames, which others may add to while threads are placed */
};

/* From lists to rows: all that a thread needs no other thread for. */
void tv_assembly_thread_build(const struct tv_assembly *assembly,
                              const struct tv_row_options *placing, struct tv_span_scratch *scratch,
                              struct assembly_thread *work);

/* Where an async slice lies. */
struct tv_async_place {
    uint32_t parent;  /* index among the slices; TV_NONE: on top */
    uint32_t nesting; /* how many lie above it */
};

/* Changes the places of slices whose ids are joined: those of one group lie in each other. */
void tv_async_join(const struct tv_async_slice *slices, size_t count,
                   struct tv_async_place *places);

#endif
