/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- States: the time of threads by state and by processor ----
 *
 * TSV and CSV have one line a thread with all figures; text and JSON also show how busy the
 * processors were.
 */
#ifndef TV_WRITERS_STATES_TABLE_H
#define TV_WRITERS_STATES_TABLE_H

#include "analysis/states.h"
#include "base/out.h"

enum tv_states_format {
    TV_STATES_TEXT,
    TV_STATES_TSV,
    TV_STATES_CSV,
    TV_STATES_JSON,
};

/* The columns of the text that --columns can name; "cpus" are those of the second table. */
#define TV_STATES_COLUMNS                                                                          \
    "running|runnable|preempted|sleeping|uninterruptible|io-wait|other|wakeups|longest-wait|cpus"

/* Write at most `limit` threads; 0: all. */
void tv_states_table_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_states *states, enum tv_states_format format,
                           uint64_t limit);

#endif
