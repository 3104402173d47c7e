/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the lines of ftrace text as they stand in it, for a teller.
 */
#ifndef TV_READERS_FTRACE_RECORDS_H
#define TV_READERS_FTRACE_RECORDS_H

#include "readers/ftrace/text.h"
#include "readers/reader.h"

struct tv_ft_record {
    struct tv_bytes text; /* the line, bare; not empty, but when it is too long to be read */
    uint64_t offset;
    bool too_long;
    bool is_event;            /* `event` says what the line does, else `other` */
    struct tv_ft_line event;  /* its texts lie in `text` */
    struct tv_ft_other other; /* the same */
};

/* The reader's `tell`. Empty lines are not told. */
enum tv_status tv_ft_records_tell(struct tv_source *source, struct tv_trace_info *head,
                                  struct tv_teller *teller, struct tv_error *err) TV_MUST_CHECK;

#endif
