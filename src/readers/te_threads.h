/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_threads.h - processes and threads of a Trace Event file by their ids.
 *
 * An id is (kind, text): 1 and "1" are two processes.  A missing pid is 0; a missing tid is that of
 * the pid.  An id that is no plain number is shown as text, and is the name when it is a string.
 */
#ifndef TV_READERS_TE_THREADS_H
#define TV_READERS_TE_THREADS_H

#include "base/map.h"
#include "model/head.h"
#include "readers/te_values.h"

struct tv_te_threads {
    struct tv_head *head;
    uint32_t input;
    struct tv_map processes; /* string of the id's key -> index in the head */
    struct tv_map threads;   /* (process, string of the id's key) -> index in the head */
    struct tv_interner *keys;
    struct tv_te_scratch scratch;
};

void tv_te_threads_init(struct tv_te_threads *threads, struct tv_head *head, uint32_t input);
void tv_te_threads_release(struct tv_te_threads *threads);

/* The index in the head of a process with this raw id; added when there is none. */
uint32_t tv_te_process(struct tv_te_threads *threads, struct tv_bytes pid);

/* The same of a thread of the process; `pid` is for a missing tid. */
uint32_t tv_te_thread(struct tv_te_threads *threads, uint32_t process, struct tv_bytes pid,
                      struct tv_bytes tid);

#endif
