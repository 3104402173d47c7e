/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states_table.h - the table of threads by state and that of threads by processor, as text, TSV,
 * CSV or JSON.
 *
 * TSV and CSV have one line a thread with everything; text and JSON also tell how busy the
 * processors were.  Times are milliseconds in text and nanoseconds elsewhere.
 */
#ifndef TV_WRITERS_STATES_TABLE_H
#define TV_WRITERS_STATES_TABLE_H

#include "analysis/states/states.h"
#include "base/out.h"

enum tv_states_format {
    TV_STATES_TEXT,
    TV_STATES_TSV,
    TV_STATES_CSV,
    TV_STATES_JSON,
};

/* The columns of the text that can be chosen; "cpus" are those of the second table. */
#define TV_STATES_COLUMNS                                                                          \
    "running|runnable|preempted|sleeping|uninterruptible|io-wait|other|wakeups|longest-wait|cpus"

/* At most `limit` threads; 0: all. */
void tv_states_table_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_states *states, enum tv_states_format format,
                           uint64_t limit);

#endif
