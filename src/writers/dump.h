/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.h - a sink that prints each event on a line while the file is read, as dmtracedump -o does.
 *
 *     VERSION: 3
 *     Threads (2):
 *      1 main
 *      2 Worker-1
 *     Trace (threadID action usecs class.method signature):
 *      1 ent         0 ...com.ex.A.run ()V
 *
 * The dots show the depth, from two at the thread's first event; below none stands a '-' instead of
 * the blank.  The list has the threads that are known when the first event comes: of long inputs
 * those that the input lists, of streaming ones by its beginning.  Others stand behind the last
 * event, as "Threads (1 more):".
 */
#ifndef TV_WRITERS_DUMP_H
#define TV_WRITERS_DUMP_H

#include "analysis/subset/subset.h"
#include "base/out.h"
#include "model/sink.h"

enum tv_dump_clock {
    /* The CPU clock where the input has one: what dmtracedump prints. The real one of a finished
     * trace whose inputs differ in this: their times are compared. */
    TV_DUMP_FIRST,
    TV_DUMP_REAL,
    TV_DUMP_CPU,
};

struct tv_dump;

struct tv_dump_options {
    enum tv_dump_clock clock;
    /* Whether a thread's events are printed; NULL: all are. Called once a thread. */
    bool (*wanted)(const struct tv_head *head, uint32_t thread, void *context);
    /* Asked once, before anything is written; false: nothing will be. NULL: nobody is asked. */
    bool (*start)(const struct tv_head *head, void *context);
    void *context;
};

/* `out` must live as long, and be there when start() has been asked. */
struct tv_dump *tv_dump_new(struct tv_out *out, const struct tv_dump_options *options);
struct tv_sink *tv_dump_sink(struct tv_dump *dump);

/* Instead of reading into the sink: the calls of a finished trace, in the order of time; those to
 * keep. */
void tv_dump_trace(struct tv_dump *dump, const struct tv_trace *trace, const struct tv_subset *keep);

/* Lets go of the head that was read into. */
void tv_dump_end(struct tv_dump *dump);
void tv_dump_free(struct tv_dump *dump);

#endif
