/* SPDX-License-Identifier: Apache-2.0 */
/*
 * teller.h - who takes the records of a file one after the other, as they stand in it, while it is
 * read.
 *
 * A sink (model/sink.h) and the builder get what records mean together; a teller gets the records
 * themselves: nothing is paired, sorted or repaired.  So those of formats whose events come in any
 * order can be told before the end is seen, and in memory for one of them.
 */
#ifndef TV_READERS_TELLER_H
#define TV_READERS_TELLER_H

#include "model/head.h"

struct tv_ft_record;
struct tv_te_member_record;
struct tv_te_record;

/* The first member of every teller.  What is given is valid during the call. */
struct tv_teller {
    /* Once an input, before all else of it. */
    void (*begin)(struct tv_teller *teller, const struct tv_head *head, uint32_t input);

    /* trace_event/records.h: an event, and what stands beside the events. */
    void (*take_event)(struct tv_teller *teller, struct tv_te_record *record);
    void (*take_beside)(struct tv_teller *teller, struct tv_te_member_record *beside);

    /* ftrace/records.h: a line. */
    void (*take_line)(struct tv_teller *teller, const struct tv_ft_record *record);
};

#endif
