/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a finished trace: rows of packed columns and one tree of call paths (decision P2).
 *
 * A trace is immutable: any number of threads may read it.  A track is a line of the time line
 * (here: a thread with events); its calls lie in rows, one for each depth.  A slice (a call) is
 * named (row, index).  Slices of a row are sorted by start and do not overlap.
 *
 * Columns hold 32 bits a time: the low half of the start in ticks, decoded against the 64-bit
 * base of the slice's block of 1024.  A block whose times do not fit holds 64 bits in a side
 * table.  Only tv_slices_read and tv_slice_get know this.
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
    TV_SLICE_FIRST_CHILD = 32, /* the first of its parent's children */
    TV_SLICE_NO_CPU = 64,      /* the trace has a CPU clock, but this slice has no CPU time */
    TV_SLICE_CLIPPED = 128,    /* ended a little after its parent: cut to fit (assembly.h) */
};

struct tv_slice_block {
    int64_t wall_base; /* start of the block's first slice, ticks */
    int64_t cpu_base;
    uint32_t wide;           /* index of the first slice's struct tv_wide_time, or TV_NONE */
    uint32_t first_children; /* slices with TV_SLICE_FIRST_CHILD in this row before this block */
    uint32_t parents;        /* slices with TV_SLICE_HAS_CHILDREN in this row before this block */
    uint32_t no_padding;
};

/* The times of one slice of a block that does not fit, ticks. */
struct tv_wide_time {
    int64_t start, length, cpu_start, cpu_length;
};

/* The columns of slices that came together, all of one input; row r holds [row.first, row.first +
 * row.count) of them. */
struct tv_columns {
    uint64_t count;
    uint32_t *start, *length;         /* wall clock; NULL when the input has none */
    uint32_t *cpu_start, *cpu_length; /* CPU clock; NULL when the input has none */
    uint32_t *path;
    uint8_t *flags;
    uint32_t *offset;     /* low half of the event's place in the input; NULL: none is known */
    uint8_t *offset_high; /* the next 8 bits; NULL: the input is smaller than 4 GiB */
    struct tv_slice_block *blocks;
    uint64_t block_count;
    struct tv_wide_time *wide;
    size_t wide_count, wide_capacity;
};

struct tv_row {
    uint64_t first;       /* in the row's columns */
    uint64_t first_block; /* the same */
    uint32_t count;
    uint32_t track;
    uint32_t depth;
    uint32_t input;
    uint32_t columns; /* index */
    uint32_t zero;    /* no byte of a row is left to chance: an index has them as they are */
};

/* A time in which a call did not run: wall time passed, the thread's CPU clock stood
 * (method-trace.md section 9, "(context switch)"). */
struct tv_wait {
    int64_t start, length; /* ticks of the wall clock */
    uint32_t depth;        /* of the call that waited */
    uint32_t path;
};

enum tv_track_kind {
    TV_TRACK_THREAD,   /* the calls of a thread */
    TV_TRACK_OVERFLOW, /* those of the thread before that do not nest with the others */
    TV_TRACK_ASYNC,    /* async slices of one name */
    TV_TRACK_CPU,      /* what a processor ran: slices named by threads */
    TV_TRACK_STATES,   /* the states of a thread: running, runnable, sleeping, ... */
};

struct tv_track {
    enum tv_track_kind kind;
    uint32_t name;    /* string: of tracks that are not a thread's calls; else empty */
    uint32_t process; /* index; TV_NONE: the trace knows none */
    uint32_t lane;    /* of the tracks with this name and owner (overflow tracks: from 1) */
    uint32_t thread;  /* in the head; TV_NONE: it belongs to the whole process */
    uint32_t input;
    uint32_t first_row;
    uint32_t row_count;
    uint64_t slice_count;
    int64_t first_wall, last_wall; /* of its records, ticks */
    int64_t first_cpu, last_cpu;
    struct tv_wait *waits; /* sorted by start */
    uint32_t wait_count;
    uint32_t no_padding; /* tables.h says why */
};

struct tv_trace {
    struct tv_trace_info *head;
    const struct tv_trace *base; /* NULL, or whose head and sources it uses (sift.h) */
    bool is_subset;              /* it is not all that its inputs hold */
    struct tv_paths paths;
    struct tv_columns *columns;
    uint32_t columns_count;
    struct tv_row *rows;
    uint32_t row_count;
    struct tv_track *tracks; /* threads that have events, in the order of the head's threads */
    uint32_t track_count;
    struct tv_tables tables;
    struct tv_source **sources; /* owned: what arguments are read from again */
    size_t source_count;
    size_t inner_count;           /* of them, the first: texts that stand inside of others */
    struct tv_sections *sections; /* owned: of a file that columns, paths, waits and tables lie in
                                   * (index/index.h); NULL: they are the trace's own */
    /* Somebody else reads the trace: called before it is given back, or anything of it; or NULL. */
    void (*await)(void *context);
    void *await_context;
    uint32_t offset_count;
    tv_ns origin;     /* of the axis, on the clock of inputs that were assembled (assembly.h):
                       * subtracted     from their times */
    tv_ns *offset;    /* of each input's clock, added to its times */
    tv_ns start, end; /* of everything on the axis */
    uint64_t slice_count;
    uint64_t recorded_calls;  /* entries in the inputs: slices but for the supplied ones */
    uint64_t unmatched_exits; /* slices that were supplied */
    uint64_t open_calls;
    uint32_t max_depth; /* levels of recorded entries: one call alone is 1 */
    bool cpu_axis;      /* there is no wall clock: starts and ends are on each thread's CPU clock */
};

/* One slice, decoded to nanoseconds. `start` and `length` are on the trace's axis. */
struct tv_slice {
    tv_ns start, length;
    tv_ns cpu_start, cpu_length; /* 0 without a CPU clock */
    uint32_t path;
    uint32_t flags;
};

/* A time of a table (or in ticks of 1 ns) of an input on the trace's axis. */
static inline tv_ns tv_trace_time(const struct tv_trace *trace, uint32_t input, tv_ns time)
{
    return time + trace->offset[input];
}

/* Where the text of the event that began a slice stands in the row's input, or TV_NO_OFFSET. */
uint64_t tv_slice_offset(const struct tv_trace *trace, uint32_t row, uint32_t index);

/* Takes a source over, which lives as long as the trace. */
void tv_trace_keep_source(struct tv_trace *trace, struct tv_source *source);

/* The same of a text that stands inside of another source: before all that do not. */
void tv_trace_keep_inner_source(struct tv_trace *trace, struct tv_source *source);

/* The error of the first read of a source that failed: for those who go on when the text of an
 * event cannot be read, and must not take their answer for complete. */
enum tv_status tv_trace_check_sources(const struct tv_trace *trace,
                                      struct tv_error *err) TV_MUST_CHECK;

/* The reserved colour of a slice or else of its frame, as in struct tv_slice_extra; 0: automatic.
 */
uint8_t tv_slice_colour(const struct tv_trace *trace, uint32_t row, uint32_t index, uint32_t frame);

/* Waits for whoever else reads the trace. */
void tv_trace_await(struct tv_trace *trace);

/* Gives back the trace, its head included. */
void tv_trace_free(struct tv_trace *trace);

/* Decodes slices [first, first + count) of a row; they must exist. */
void tv_slices_read(const struct tv_trace *trace, uint32_t row, uint32_t first, uint32_t count,
                    struct tv_slice *slices);
struct tv_slice tv_slice_get(const struct tv_trace *trace, uint32_t row, uint32_t index);

/* The start and end alone, for searching. */
tv_ns tv_slice_start(const struct tv_trace *trace, uint32_t row, uint32_t index);
tv_ns tv_slice_end(const struct tv_trace *trace, uint32_t row, uint32_t index);

/* The first slice of the row that ends after `time` (row.count when none does). */
uint32_t tv_row_find(const struct tv_trace *trace, uint32_t row, tv_ns time);

/* The same when it is known that it is not before the index `from` (at most row.count); quick when
 * it is near. */
uint32_t tv_row_find_from(const struct tv_trace *trace, uint32_t row, uint32_t from, tv_ns time);

/* The first slice of the row that starts at or after `time` (row.count when none does). */
uint32_t tv_row_find_start(const struct tv_trace *trace, uint32_t row, tv_ns time);

/* The same, looked for from slice `near` on, whichever that is: quick when it is close. */
uint32_t tv_row_find_start_near(const struct tv_trace *trace, uint32_t row, tv_ns time,
                                uint32_t near);

/* The call that this one was made from: its index in the row above (row - 1), or TV_NONE at depth
 * 0. */
uint32_t tv_slice_parent(const struct tv_trace *trace, uint32_t row, uint32_t index);

/* The calls made by this one: indices [*first, *first + *count) in the row below (row + 1). */
void tv_slice_children(const struct tv_trace *trace, uint32_t row, uint32_t index, uint32_t *first,
                       uint32_t *count);

/* CPU time of a track at a wall time, nanoseconds: on the straight line between the thread's
 * records around it, rounded down (decision P3); before the first record its CPU time, after the
 * last the last. */
tv_ns tv_track_cpu_at(const struct tv_trace *trace, uint32_t track, tv_ns wall);

/* Whether it holds calls of a thread, which profiles and trees are made of. */
static inline bool tv_track_has_calls(const struct tv_track *track)
{
    return track->kind == TV_TRACK_THREAD || track->kind == TV_TRACK_OVERFLOW;
}

/* Nanoseconds a tick of the track's input. */
static inline int64_t tv_track_tick(const struct tv_trace *trace, uint32_t track)
{
    return trace->head->inputs[trace->tracks[track].input].tick_ns;
}

static inline const struct tv_columns *tv_row_columns(const struct tv_trace *trace, uint32_t row)
{
    return &trace->columns[trace->rows[row].columns];
}

/* Whether the track has calls with times of the wall clock, of the CPU clock. */
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

/* The frames of a path, the outermost first, in an array of `count` for the caller to free. */
uint32_t *tv_path_frames(const struct tv_trace *trace, uint32_t path, size_t *count);

/* Return at most the `most` innermost frames of the path; *cut is true when it has more. */
uint32_t *tv_path_innermost(const struct tv_trace *trace, uint32_t path, size_t most, size_t *count,
                            bool *cut);

/* Stacks that are written again and again, one for each sample or event, have so many names: the
 * sum of all chains may be as long as the square of the file. */
#define TV_STACK_NAMES 512u

/*
 * objects.h - what a reference to an object means at a time ("id_ref" in arguments).
 */

struct tv_object_reference {
    uint32_t input;
    struct tv_bytes pid;   /* of the process: its number, or its key where it has one */
    struct tv_bytes scope; /* data NULL: the usual one */
    struct tv_bytes id;
    tv_ns time; /* on the input's clock, as in tables */
};

/* Puts the objects of a trace in the order in which they are looked for; once. */
void tv_objects_index(struct tv_trace *trace);

/* The object's last snapshot up to the time, or its first when all are later; TV_NONE when the
 * object is unknown, gone by then, or has none. */
uint32_t tv_object_find_snapshot(const struct tv_trace *trace,
                                 const struct tv_object_reference *reference);

/*
 * flow_end.h - what a flow touches, a slice or an instant, and whose that is.
 */

static inline bool tv_flow_end_is_instant(const struct tv_flow_end *end)
{
    return end->row == TV_NONE;
}

/* The name of the slice or instant. */
uint32_t tv_flow_end_frame(const struct tv_trace *trace, const struct tv_flow_end *end);

/* TV_NONE: an instant, which lies on none. */
uint32_t tv_flow_end_track(const struct tv_trace *trace, const struct tv_flow_end *end);

/* TV_NONE: its track is of no thread. */
uint32_t tv_flow_end_thread(const struct tv_trace *trace, const struct tv_flow_end *end);

#endif
