/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - names, processes, threads and stack frame ids, numbered.
 *
 * A chunk has tables of its own, numbered from 0 in the order of its text.  Merging adds the rows
 * of the chunks in the order of the file, so that the numbers in the trace do not depend on the
 * chunks.
 */
#ifndef TV_READERS_TRACE_EVENT_TABLES_H
#define TV_READERS_TRACE_EVENT_TABLES_H

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/types.h"
#include "model/trace_info.h"
#include "readers/trace_event/text/values.h"

/* ---- Names ---- */

/* A name with its category.  Every event is looked up here, so texts stay raw until the merge. */
struct tv_te_name {
    const uint8_t *text; /* raw: the name, then the category */
    uint32_t name_length, category_length;
    bool has_name, overhead; /* overhead: of the tracing itself, not to be shown */
    uint8_t colour;          /* of the name, once it ended a slice; 0: not computed yet */
};

struct tv_te_names {
    struct tv_te_name *names;
    size_t count, capacity;
    struct tv_te_name_slot *slots; /* hash table of numbers */
    size_t mask;
    struct tv_arena texts;
};

void tv_te_names_init(struct tv_te_names *names);
void tv_te_names_release(struct tv_te_names *names);

/* Return the number of a name with a category; add them when new.  Both are raw, may be absent, and
 * have TV_WINDOW_SLACK readable bytes after them. */
uint32_t tv_te_names_add(struct tv_te_names *names, struct tv_bytes name, struct tv_bytes category);

/* Add a frame to the head for each name; frames[i] is the one of name i. */
void tv_te_names_merge(const struct tv_te_names *names, struct tv_trace_info *head,
                       uint32_t *frames);

/* ---- Processes and threads ---- */

/* An id is (kind, text): 1 and "1" are two processes.  A missing pid is 0; a missing tid is the
 * pid. An id that is not a plain number is shown as text; a string is the name as well. */
struct tv_te_thread {
    uint32_t process; /* counted from 0 */
    uint32_t key;
};

struct tv_te_threads {
    struct tv_trace_info *head; /* NULL: the tables of a chunk */
    uint32_t input;
    uint32_t first_process, first_thread; /* in the head; 0 in a chunk */
    struct tv_interner *keys;             /* a letter for the kind of id, then its text */
    uint32_t *processes;                  /* keys */
    size_t process_count, process_capacity;
    struct tv_te_thread *threads;
    size_t thread_count, thread_capacity;
    struct tv_map process_index; /* key -> counted from 0 */
    struct tv_map thread_index;  /* (process, key) -> counted from 0 */
    struct tv_te_scratch scratch;
};

/* `head` NULL: the tables of a chunk.  Else new processes and threads are added to the head too. */
void tv_te_threads_init(struct tv_te_threads *threads, struct tv_trace_info *head, uint32_t input);
void tv_te_threads_release(struct tv_te_threads *threads);

/* Return the letter for the kind of a raw id: 'n' a number, 's' a string, 'o' anything else. */
uint8_t tv_te_raw_id_kind(struct tv_bytes raw);

/* Return the number of the process with this raw id; add it when new. */
uint32_t tv_te_threads_add_process(struct tv_te_threads *threads, struct tv_bytes pid);

/* Return the number of the process with this raw id, or TV_NONE. */
uint32_t tv_te_threads_find_process(struct tv_te_threads *threads, struct tv_bytes pid);

/* Return the number of a thread of the process; add it when new.  `pid` stands in for a missing
 * tid. */
uint32_t tv_te_threads_add_thread(struct tv_te_threads *threads, uint32_t process,
                                  struct tv_bytes pid, struct tv_bytes tid);

/* Add the processes, then the threads, of a chunk; processes[i] and threads[i] become the numbers
 * in `all` of those that the chunk calls i. */
void tv_te_threads_merge_processes(struct tv_te_threads *all, const struct tv_te_threads *chunk,
                                   uint32_t *processes);
void tv_te_threads_merge(struct tv_te_threads *all, const struct tv_te_threads *chunk,
                         const uint32_t *processes, uint32_t *threads);

/* ---- Uses of stack frames ---- */

/* The ids of stack frames that events name.  The table of frames may be after the events, so
 * unknown ids are found at the end. */

struct tv_interner;

/* An id keeps the places of its first events for a diagnostic; most ids turn out to be known. */
#define TV_TE_STACK_USE_OFFSETS 8

/* An id that events of one process name. */
struct tv_te_stack_use {
    uint32_t process;
    uint32_t key; /* number of the text in the interner */
    uint64_t count;
    uint64_t offsets[TV_TE_STACK_USE_OFFSETS]; /* of the first events */
};

/* Zeroed at first. */
struct tv_te_stack_uses {
    struct tv_interner *keys;
    struct tv_map index; /* (process, key) -> row */
    struct tv_te_stack_use *rows;
    size_t count, capacity;
};

void tv_te_stack_uses_release(struct tv_te_stack_uses *uses);

/* Count one more event. */
void tv_te_stack_uses_add(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key,
                          uint64_t offset);

/* Add what a chunk counted of one id. */
void tv_te_stack_uses_merge(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key,
                            const struct tv_te_stack_use *use);

/* Return the place of the nth event, or TV_NO_OFFSET when it was not kept. */
static inline uint64_t tv_te_stack_use_offset(const struct tv_te_stack_use *use, uint64_t nth)
{
    return nth < TV_TE_STACK_USE_OFFSETS ? use->offsets[nth] : TV_NO_OFFSET;
}

#endif
