/* SPDX-License-Identifier: Apache-2.0 */
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
#ifndef TV_WRITERS_DUMP_RECORDS_H
#define TV_WRITERS_DUMP_RECORDS_H

#include "base/out.h"
#include "readers/teller.h"

struct tv_dump_records {
    struct tv_teller teller;
    struct tv_out *out;
    /* Called once an input before its output. Return false to suppress it. */
    bool (*start)(const struct tv_head *head, void *context);
    void *context;
    /* Private: */
    bool mute;
    struct tv_out cell; /* a value that is not printed as it is */
    bool listed;        /* the columns were named */
};

/* `out` must outlive the dump. It is first used after start() was called. */
void tv_dump_records_init(struct tv_dump_records *dump, struct tv_out *out);
void tv_dump_records_release(struct tv_dump_records *dump);

/* dump_events.c: the teller's functions for Trace Event files. */
void tv_dump_event(struct tv_teller *teller, struct tv_te_record *record);
void tv_dump_beside(struct tv_teller *teller, struct tv_te_beside *beside);

/* dump_lines.c: that for ftrace text. */
void tv_dump_line(struct tv_teller *teller, const struct tv_ft_record *record);

void tv_dump_column(struct tv_dump_records *dump, size_t width, struct tv_bytes text);

#endif
