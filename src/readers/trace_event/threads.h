/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h - processes and threads of a Trace Event file by their ids.
 *
 * An id is (kind, text): 1 and "1" are two processes.  A missing pid is 0; a missing tid is that of
 * the pid.  An id that is no plain number is shown as text, and is the name when it is a string.
 *
 * A chunk of the file that is read by itself has numbers of its own from 0; those of the whole file
 * are indices in the head.
 */
#ifndef TV_READERS_TRACE_EVENT_THREADS_H
#define TV_READERS_TRACE_EVENT_THREADS_H

#include "base/map.h"
#include "model/head.h"
#include "readers/trace_event/values.h"

struct tv_te_thread {
    uint32_t process; /* counted from 0 */
    uint32_t key;
};

struct tv_te_threads {
    struct tv_head *head; /* NULL: of a chunk */
    uint32_t input;
    uint32_t first_process, first_thread; /* in the head */
    struct tv_interner *keys;             /* a letter for the kind of id, then its text */
    uint32_t *processes;                  /* keys */
    size_t process_count, process_capacity;
    struct tv_te_thread *threads;
    size_t thread_count, thread_capacity;
    struct tv_map process_index; /* key -> counted from 0 */
    struct tv_map thread_index;  /* (process, key) -> counted from 0 */
    struct tv_te_scratch scratch;
};

/* `head` NULL: for a chunk. */
void tv_te_threads_init(struct tv_te_threads *threads, struct tv_head *head, uint32_t input);
void tv_te_threads_release(struct tv_te_threads *threads);

/* The number of a process with this raw id; added when there is none. */
uint32_t tv_te_threads_add_process(struct tv_te_threads *threads, struct tv_bytes pid);

/* The same of one that is there, or TV_NONE. */
uint32_t tv_te_threads_find_process(struct tv_te_threads *threads, struct tv_bytes pid);

/* The number of a thread of the process, added when there is none; `pid` is for a missing tid. */
uint32_t tv_te_threads_add_thread(struct tv_te_threads *threads, uint32_t process, struct tv_bytes pid,
                      struct tv_bytes tid);

/* The numbers in `all` of the processes of a chunk, added in their order; then those of its threads.
 */
void tv_te_threads_merge_processes(struct tv_te_threads *all, const struct tv_te_threads *chunk,
                                   uint32_t *processes);
void tv_te_threads_merge(struct tv_te_threads *all, const struct tv_te_threads *chunk,
                         const uint32_t *processes, uint32_t *threads);

#endif
