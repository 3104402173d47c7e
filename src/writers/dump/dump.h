/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.h - the output of `dump`: events as text while a file is read, and the model as JSON
 * lines.
 *
 * Calls, as dmtracedump -o prints them:
 *
 *     VERSION: 3
 *     Threads (2):
 *      1 main
 *      2 Worker-1
 *     Trace (threadID action usecs class.method signature):
 *      1 ent         0 ...com.ex.A.run ()V
 *
 * The dots show the depth, from two at the thread's first event; a '-' instead of the blank
 * marks a depth below zero. The list contains the threads that are known when the first event
 * comes: for streaming formats, only those at the beginning of the file. Others are listed
 * after the last event, as "Threads (1 more):".
 */
#ifndef TV_WRITERS_DUMP_DUMP_H
#define TV_WRITERS_DUMP_DUMP_H

#include "analysis/subset/subset.h"
#include "base/out.h"
#include "model/builder/sink.h"
#include "readers/reader.h"

enum tv_dump_clock {
    /* The CPU clock if the input has one, as in dmtracedump. In a finished trace whose inputs
     * differ in this, the wall clock, which makes their times comparable. */
    TV_DUMP_FIRST,
    TV_DUMP_REAL,
    TV_DUMP_CPU,
};

struct tv_dump;

struct tv_dump_options {
    enum tv_dump_clock clock;
    /* Return true when the events of a thread are printed; NULL: all are. Called once a thread. */
    bool (*wanted)(const struct tv_trace_info *head, uint32_t thread, void *context);
    /* Called once before anything is written. Return false to suppress all output. NULL: always
     * write. */
    bool (*start)(const struct tv_trace_info *head, void *context);
    void *context;
};

/* `out` must outlive the dump. It is first used after start() was called. */
struct tv_dump *tv_dump_new(struct tv_out *out, const struct tv_dump_options *options);
struct tv_sink *tv_dump_sink(struct tv_dump *dump);

/* Instead of reading into the sink: write the selected calls of a finished trace, in order of
 * time. */
void tv_dump_trace(struct tv_dump *dump, const struct tv_trace *trace,
                   const struct tv_subset *keep);

/* Forget the head that was read; the dump can be used again. */
void tv_dump_end(struct tv_dump *dump);
void tv_dump_free(struct tv_dump *dump);

/*
 * ---- Records in the order of the file ----
 *
 *     FORMAT: Trace Event Format
 *     {"displayTimeUnit":"ns"}
 *     Events (phase pid tid usecs dur category<tab>name<tab>other members):
 *     X       1       7           12.5            3 gc<tab>"sweep"<tab>{"args":{"full":true}}
 *
 *     FORMAT: ftrace text
 *     # tracer: nop
 *     Lines (tid tgid cpu flags seconds event<tab>task<tab>details):
 *        1328     901 [003] d..2.    73214.000047 sched_waking<tab>main<tab>comm=x pid=7
 *     | what somebody printed goes on
 *
 * Columns up to the first tab contain no blanks, and '-' when the event lacks the value. Values
 * are JSON as in the file; phases and categories that are plain words lose their quotes. An
 * event is always one line, whatever its bytes. A line that begins with '{' is a member of the
 * file beside its events, one with '|' a line that is not an event, one with '#' a remark.
 */

struct tv_dump_records {
    struct tv_record_visitor visitor;
    struct tv_out *out;
    /* Called once an input before its output. Return false to suppress it. */
    bool (*start)(const struct tv_trace_info *head, void *context);
    void *context;
    /* Private: */
    bool mute;
    struct tv_out cell; /* a value that is not printed as it is */
    bool listed;        /* the columns were named */
};

/* `out` must outlive the dump. It is first used after start() was called. */
void tv_dump_records_init(struct tv_dump_records *dump, struct tv_out *out);
void tv_dump_records_release(struct tv_dump_records *dump);

/*
 * ---- The whole model, one JSON object a line, which conformance tests read ----
 *
 * The types of lines and their keys are a contract, defined in traceview(1), dump.
 */

/* Write the slices of the selected tracks and frames, and all other rows of the selected
 * processes and categories; NULL: all. Threads that are not selected lose only their slices.
 * When categories are selected, rows that cannot have one are omitted. */
void tv_model_jsonl_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_subset *keep);

#endif
