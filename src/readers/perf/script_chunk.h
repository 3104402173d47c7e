/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_chunk.h - reading a part of "perf script" text, and merging the parts.
 *
 *     lines --> samples with numbers of this chunk --> merged in the order of the file --> trace
 *
 * The same line of a frame comes again and again.  So each distinct line is parsed once: a hash of
 * its bytes finds what it means.
 */
#ifndef TV_READERS_PERF_SCRIPT_CHUNK_H
#define TV_READERS_PERF_SCRIPT_CHUNK_H

#include "model/paths.h"
#include "readers/perf/perf_sched.h"
#include "readers/perf/script_line.h"
#include "readers/profile_input.h"

struct tv_text_line;

/* A function, or with a line a function at that line.  Names are strings of the chunk. */
struct script_function {
    uint32_t name, module, file;
    int32_t line;
    uint32_t function; /* only with a line: the function itself */
    uint32_t kind;     /* enum tv_frame_kind */
};

/* A source line that the line below a frame names. */
struct script_place {
    uint32_t file;
    int32_t line;
};

struct script_thread {
    bool by_name; /* it has no id */
    uint64_t pid, tid;
    uint32_t comm; /* string; the last one that it had */
};

/* Samples of an event that have a period, or have none. */
struct script_event {
    uint32_t name;
    bool has_period;
    uint64_t count;
};

struct script_entry {
    uint32_t function;
    int32_t line;
};

struct tv_script_chunk {
    unsigned fields; /* enum tv_script_field */
    struct tv_diagnostics diagnostics;
    struct tv_interner *strings;
    struct tv_paths paths; /* paths of functions; their numbers are those of `functions` */
    struct tv_map lines;   /* hash of a line's bytes -> what it means */
    struct tv_map function_index, thread_index, event_index; /* hash of a row -> its number */
    TV_TABLE(script_function) functions;
    TV_TABLE(script_place) places;
    TV_TABLE(script_thread) threads;
    TV_TABLE(script_event) events;
    TV_TABLE(script_event) records; /* other than samples */
    TV_TABLE(tv_sample) samples;
    TV_TABLE(tv_perf_sched_event) switches; /* and wake-ups */
    TV_TABLE(script_entry) stack;           /* of the open sample, leaf first */
    struct tv_sample open;
    bool is_open, has_lines;
    bool has_tail;         /* the stack is the frame that the head ended with */
    size_t falls;          /* samples that are earlier than the one before */
    tv_ns first, previous; /* times of samples */
};

void tv_script_chunk_init(struct tv_script_chunk *chunk, unsigned fields);
void tv_script_chunk_release(struct tv_script_chunk *chunk);

/* Take the next line. */
void tv_script_chunk_take(struct tv_script_chunk *chunk, const struct tv_text_line *line);

/* Finish the last sample. */
void tv_script_chunk_end(struct tv_script_chunk *chunk);

/* Add what the chunk read to the input, and its switches to `sched`.  Chunks come in the order of
 * the file. */
void tv_script_chunk_merge(struct tv_script_chunk *chunk, struct tv_profile_input *profile,
                           struct tv_perf_sched *sched);

#endif
