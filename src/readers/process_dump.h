/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_dump.h - "PROCESS DUMP": what ps printed beside a trace, a table of processes and one of
 * threads.
 *
 *     USER PID PPID VSZ RSS WCHAN PC S NAME COMM     processes since Android 8
 *     USER PID PPID VSIZE RSS WCHAN PC NAME          before; S has no heading there
 *     USER PID TID CMD                               threads
 *
 * A line that begins with USER is the heading of what follows.  The words PROCESS DUMP may be
 * missing: some writers put the tables alone into their block.
 */
#ifndef TV_READERS_PROCESS_DUMP_H
#define TV_READERS_PROCESS_DUMP_H

#include "model/tables.h"
#include "readers/reader.h"

/* What the heading says of the rows: columns count from 0. */
struct tv_process_dump {
    bool headed; /* a heading was there */
    bool threads;
    unsigned columns;
    unsigned pid, tid, name;
    size_t name_place; /* of the name's heading in its line */
    size_t name_end;   /* of the next heading; 0: the name is the last column */
};

enum tv_process_dump_kind {
    TV_PROCESS_DUMP_NOTHING, /* a heading, a title or a blank line */
    TV_PROCESS_DUMP_ROW,
    TV_PROCESS_DUMP_BAD, /* none of a table's lines */
};

struct tv_process_dump_row {
    uint64_t pid, tid;
    bool is_thread;       /* else `tid` means nothing */
    struct tv_bytes name; /* never empty; a part of the line */
};

/* Takes one line, without its end; `dump` begins as {0}. */
enum tv_process_dump_kind tv_process_dump_line(struct tv_process_dump *dump, struct tv_bytes line,
                                               struct tv_process_dump_row *row);

/* Adds the rows of the source to tables->known_names of the trace that is built:
 * model/finalize.h applies them. */
extern const struct tv_reader tv_reader_process_dump;

#endif
