/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a finished trace: rows of packed columns, and one tree of call paths (decision P2).
 *
 * A trace is immutable, so any number of threads may read it.
 *
 *     track   a line of the timeline, here the calls of thread "main"
 *     row     one per depth: its slices are sorted by start and do not overlap
 *     slice   a call, identified by (row, index)
 *
 *     row 0   | main --------------------------------- |
 *     row 1     | parse ---------- |   | draw -- |
 *     row 2       | read | | read |
 *
 * Times are packed into 32 bits: the low half of the start in ticks, decoded against the 64-bit
 * base of the slice's block of 1024.  A block whose times do not fit has 64-bit times in a side
 * table ("wide").  Only the functions that decode slices know this.
 */
#ifndef TV_MODEL_TRACE_H
#define TV_MODEL_TRACE_H

#include "base/types.h"
#include "model/paths.h"
#include "model/tables.h"
#include "model/trace_info.h"

struct tv_sections;
struct tv_source;

#define TV_BLOCK_SLICES 1024u

enum tv_slice_flags {
    TV_SLICE_UNROLLED = 1,       /* left by an exception */
    TV_SLICE_ENTERED_BEFORE = 2, /* supplied for an exit without an entry: began before the trace */
    TV_SLICE_OPEN = 4,           /* still open at the end */
    TV_SLICE_MISSING_EXIT = 8,   /* closed by the exit of a caller */
    TV_SLICE_HAS_CHILDREN = 16,
    TV_SLICE_FIRST_CHILD = 32, /* first child of its parent */
    TV_SLICE_NO_CPU = 64,      /* the trace has a CPU clock, but this slice has no CPU time */
    TV_SLICE_CLIPPED = 128,    /* ended a little after its parent and was clipped (assembly.h) */
};

struct tv_slice_block {
    int64_t wall_base; /* ticks: start of the block's first slice */
    int64_t cpu_base;
    uint32_t wide;           /* index of the first slice's struct tv_wide_time, or TV_NONE */
    uint32_t first_children; /* slices with TV_SLICE_FIRST_CHILD in the row before this block */
    uint32_t parents;        /* slices with TV_SLICE_HAS_CHILDREN in the row before this block */
    uint32_t no_padding;
};

/* The times of one slice in a wide block, ticks. */
struct tv_wide_time {
    int64_t start, length, cpu_start, cpu_length;
};

/* A set of columns, all from one input; row r holds the slices [row.first, row.first + row.count).
 */
struct tv_columns {
    uint64_t count;
    uint32_t *start, *length;         /* wall clock; NULL when the input has none */
    uint32_t *cpu_start, *cpu_length; /* CPU clock; NULL when the input has none */
    uint32_t *path;
    uint8_t *flags;
    uint32_t *offset;     /* low 32 bits of the event's offset in the input; NULL: unknown */
    uint8_t *offset_high; /* next 8 bits; NULL: the input is smaller than 4 GiB */
    struct tv_slice_block *blocks;
    uint64_t block_count;
    struct tv_wide_time *wide;
    size_t wide_count, wide_capacity;
};

struct tv_row {
    uint64_t first;       /* in the columns */
    uint64_t first_block; /* in the columns */
    uint32_t count;
    uint32_t track;
    uint32_t depth;
    uint32_t input;
    uint32_t columns; /* index */
    uint32_t zero;    /* explicit padding, because an index stores rows as they are */
};

/* A time in which a call did not run: the wall clock advanced and the thread's CPU clock stood
 * still (method-trace.md section 9, "(context switch)"). */
struct tv_wait {
    int64_t start, length; /* ticks of the wall clock */
    uint32_t depth;        /* depth of the waiting call */
    uint32_t path;
};

enum tv_track_kind {
    TV_TRACK_THREAD,   /* the calls of a thread */
    TV_TRACK_OVERFLOW, /* calls of the preceding thread that do not nest with the others */
    TV_TRACK_ASYNC,    /* async slices of one name */
    TV_TRACK_CPU,      /* what a processor ran: slices named after threads */
    TV_TRACK_STATES,   /* the states of a thread: running, runnable, sleeping, ... */
};

struct tv_track {
    enum tv_track_kind kind;
    uint32_t name;    /* string: name of a track that is not a thread's calls; else empty */
    uint32_t process; /* index; TV_NONE: unknown */
    uint32_t lane;    /* number among the tracks with this name and owner (overflow: from 1) */
    uint32_t thread;  /* in the trace info; TV_NONE: the track belongs to the process */
    uint32_t input;
    uint32_t first_row;
    uint32_t row_count;
    uint64_t slice_count;
    int64_t first_wall, last_wall; /* of its records, ticks */
    int64_t first_cpu, last_cpu;
    struct tv_wait *waits; /* sorted by start */
    uint32_t wait_count;
    uint32_t no_padding; /* tables.h explains why */
};

struct tv_trace {
    struct tv_trace_info *head;
    const struct tv_trace
        *base;      /* the trace whose info and sources this subset uses; or NULL (subset.h) */
    bool is_subset; /* some contents of the inputs are missing */
    struct tv_paths paths;
    struct tv_columns *columns;
    uint32_t columns_count;
    struct tv_row *rows;
    uint32_t row_count;
    struct tv_track *tracks; /* in the order of threads in the trace info */
    uint32_t track_count;
    struct tv_tables tables;
    struct tv_source **sources; /* owned; arguments are read from there again */
    size_t source_count;
    size_t inner_count;           /* the first ones are texts embedded in other sources */
    struct tv_sections *sections; /* owned: the file that holds columns, paths, waits and tables
                                     (index/index.h); NULL: the trace owns them */
    /* Wait for another reader of the trace; called before anything of it is freed; or NULL. */
    void (*await)(void *context);
    void *await_context;
    uint32_t offset_count;
    tv_ns origin; /* zero of the axis on the clock of assembled inputs (assembly.h): subtracted from
                     their times */
    tv_ns *offset;    /* per input: clock offset, added to its times */
    tv_ns start, end; /* extent of everything on the axis */
    uint64_t slice_count;
    uint64_t recorded_calls;  /* entries in the inputs: all slices but the supplied ones */
    uint64_t unmatched_exits; /* number of supplied slices */
    uint64_t open_calls;
    uint32_t max_depth; /* levels of recorded entries; a single call has depth 1 */
    bool cpu_axis;      /* no input has a wall clock: times are those of each thread's CPU clock */
};

/* A slice decoded to nanoseconds; `start` is on the axis of the trace. */
struct tv_slice {
    tv_ns start, length;
    tv_ns cpu_start, cpu_length; /* 0 without a CPU clock */
    uint32_t path;
    uint32_t flags;
};

/* Convert a time from a table, or in ticks of 1 ns, from the clock of an input to the axis. */
static inline tv_ns tv_trace_time(const struct tv_trace *trace, uint32_t input, tv_ns time)
{
    return time + trace->offset[input];
}

/* Return how long a thread's last sample lasts according to the file; -1: it does not say. */
tv_ns tv_trace_last_sample_length(const struct tv_trace *trace, const struct tv_sample *sample);

/* Return the offset of the event that began a slice, in the input of the row, or TV_NO_OFFSET. */
uint64_t tv_slice_offset(const struct tv_trace *trace, uint32_t row, uint32_t index);

/* Take a source over; it lives as long as the trace. */
void tv_trace_keep_source(struct tv_trace *trace, struct tv_source *source);

/* As above, for a text embedded in another source; call this before the others. */
void tv_trace_keep_inner_source(struct tv_trace *trace, struct tv_source *source);

/* Return the first error of reading a source.  Code that continues when the text of an event cannot
 * be read must call this, so that an incomplete answer is not taken for a complete one. */
enum tv_status tv_trace_check_sources(const struct tv_trace *trace,
                                      struct tv_error *err) TV_MUST_CHECK;

/* Return the reserved colour of a slice, or else of its frame, as in struct tv_slice_extra; 0:
 * automatic. */
uint8_t tv_slice_colour(const struct tv_trace *trace, uint32_t row, uint32_t index, uint32_t frame);

/* Wait for another reader of the trace. */
void tv_trace_await(struct tv_trace *trace);

/* Free the trace and, unless it is a subset, its trace info. */
void tv_trace_free(struct tv_trace *trace);

/* Decode the slices [first, first + count) of a row, which must exist. */
void tv_slices_read(const struct tv_trace *trace, uint32_t row, uint32_t first, uint32_t count,
                    struct tv_slice *slices);
struct tv_slice tv_slice_get(const struct tv_trace *trace, uint32_t row, uint32_t index);

/* Decode one of their members alone.  CPU lengths: the row's columns must have that clock. */
void tv_slices_read_starts(const struct tv_trace *trace, uint32_t row, uint32_t first,
                           uint32_t count, tv_ns *starts);
void tv_slices_read_lengths(const struct tv_trace *trace, uint32_t row, uint32_t first,
                            uint32_t count, tv_ns *lengths);
void tv_slices_read_cpu_lengths(const struct tv_trace *trace, uint32_t row, uint32_t first,
                                uint32_t count, tv_ns *lengths);

/* Return the start or the end alone, for searches. */
tv_ns tv_slice_start(const struct tv_trace *trace, uint32_t row, uint32_t index);
tv_ns tv_slice_end(const struct tv_trace *trace, uint32_t row, uint32_t index);

/* Return the first slice of the row that ends after `time`, or row.count. */
uint32_t tv_row_find(const struct tv_trace *trace, uint32_t row, tv_ns time);

/* As above, when the result is at least `from` (at most row.count); fast when it is near. */
uint32_t tv_row_find_from(const struct tv_trace *trace, uint32_t row, uint32_t from, tv_ns time);

/* Return the first slice of the row that starts at or after `time`, or row.count. */
uint32_t tv_row_find_start(const struct tv_trace *trace, uint32_t row, tv_ns time);

/* As above, but start the search at slice `near`; fast when the result is near. */
uint32_t tv_row_find_start_near(const struct tv_trace *trace, uint32_t row, tv_ns time,
                                uint32_t near);

/* Return the caller of a call: its index in the row above (row - 1), or TV_NONE at depth 0. */
uint32_t tv_slice_parent(const struct tv_trace *trace, uint32_t row, uint32_t index);

/* Return the calls made by this one: indices [*first, *first + *count) in the row below (row + 1).
 */
void tv_slice_children(const struct tv_trace *trace, uint32_t row, uint32_t index, uint32_t *first,
                       uint32_t *count);

/* Return the CPU time of a track at a wall time, ns: interpolate between the thread's records
 * around it, rounded down (decision P3), and clamp outside of them. */
tv_ns tv_track_cpu_at(const struct tv_trace *trace, uint32_t track, tv_ns wall);

/* Return whether the track has calls of a thread, which profiles and call trees are made of. */
static inline bool tv_track_has_calls(const struct tv_track *track)
{
    return track->kind == TV_TRACK_THREAD || track->kind == TV_TRACK_OVERFLOW;
}

/* Return the ns per tick of the track's input. */
static inline int64_t tv_track_tick(const struct tv_trace *trace, uint32_t track)
{
    return trace->head->inputs[trace->tracks[track].input].tick_ns;
}

static inline const struct tv_columns *tv_row_columns(const struct tv_trace *trace, uint32_t row)
{
    return &trace->columns[trace->rows[row].columns];
}

/* Return whether the track has calls with wall times, or with CPU times. */
static inline bool tv_track_has_wall(const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    return t->row_count > 0 && tv_row_columns(trace, t->first_row)->start != NULL;
}

static inline bool tv_track_has_cpu(const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    return t->row_count > 0 && tv_row_columns(trace, t->first_row)->cpu_start != NULL;
}

static inline const struct tv_frame *tv_path_frame(const struct tv_trace *trace, uint32_t path)
{
    return &trace->head->frames[trace->paths.nodes[path].frame];
}

/* Return the frames of a path, outermost first, in an array that the caller frees. */
uint32_t *tv_path_frames(const struct tv_trace *trace, uint32_t path, size_t *count);

/* Return at most the `most` innermost frames of the path; *cut tells whether it has more. */
uint32_t *tv_path_innermost(const struct tv_trace *trace, uint32_t path, size_t most, size_t *count,
                            bool *cut);

/* Number of names written for a stack that is repeated for every sample or event: complete stacks
 * could add up to the square of the file's size. */
#define TV_STACK_NAMES 512u

/*
 * References to objects ("id_ref" in arguments).
 */

struct tv_object_reference {
    uint32_t input;
    struct tv_bytes pid;   /* of the process: its number, or its key if it has one */
    struct tv_bytes scope; /* data NULL: the default scope */
    struct tv_bytes id;
    tv_ns time; /* on the input's clock, as in tables */
};

/* Build the index that tv_object_find_snapshot needs; once. */
void tv_objects_index(struct tv_trace *trace);

/* Return the last snapshot of the object up to the time, or its first one when all are later;
 * TV_NONE when the object is unknown, deleted, or has none. */
uint32_t tv_object_find_snapshot(const struct tv_trace *trace,
                                 const struct tv_object_reference *reference);

/*
 * Ends of flows: a slice or an instant, and its owner.
 */

static inline bool tv_flow_end_is_instant(const struct tv_flow_end *end)
{
    return end->row == TV_NONE;
}

/* Return the frame of the slice or instant. */
uint32_t tv_flow_end_frame(const struct tv_trace *trace, const struct tv_flow_end *end);

/* Return the track, or TV_NONE for an instant. */
uint32_t tv_flow_end_track(const struct tv_trace *trace, const struct tv_flow_end *end);

/* Return the thread, or TV_NONE when the track has none. */
uint32_t tv_flow_end_thread(const struct tv_trace *trace, const struct tv_flow_end *end);

#endif
