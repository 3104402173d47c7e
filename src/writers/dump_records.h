/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_records.h - a visitor that prints each record on a line, in the order of the file.
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
 * Columns up to the first tab hold no blank, and '-' where the event does not say; values stand as
 * they do in the file, as JSON, but phases and categories that are plain words without their
 * quotes.  No event is more than one line, whatever its bytes.  A line that begins with '{' is what
 * stands beside the events, one that begins with '|' a line that is no event, one with '#' a
 * remark.
 */
#ifndef TV_WRITERS_DUMP_RECORDS_H
#define TV_WRITERS_DUMP_RECORDS_H

#include "base/out.h"
#include "readers/reader.h"

struct tv_dump_records {
    struct tv_record_visitor visitor;
    struct tv_out *out;
    /* Asked once an input, before anything of it is written; false: nothing will be. */
    bool (*start)(const struct tv_head *head, void *context);
    void *context;
    /* Its own: */
    bool mute;
    struct tv_out cell; /* a value that is not printed as it stands */
    bool listed;        /* the columns were named */
};

/* `out` must live as long, and be there when start() has been asked. */
void tv_dump_records_init(struct tv_dump_records *dump, struct tv_out *out);
void tv_dump_records_release(struct tv_dump_records *dump);

/* dump_events.c: the visitor's functions for Trace Event files. */
void tv_dump_event(struct tv_record_visitor *visitor, struct tv_te_record *record);
void tv_dump_beside(struct tv_record_visitor *visitor, struct tv_te_beside *beside);

/* dump_lines.c: that for ftrace text. */
void tv_dump_line(struct tv_record_visitor *visitor, const struct tv_ft_record *record);

/* What is put into a column, right-aligned, with a blank behind it. */
void tv_dump_column(struct tv_dump_records *dump, size_t width, struct tv_bytes text);

#endif
