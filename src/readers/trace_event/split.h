/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - a list of events read in parts, side by side.
 *
 * Where parts begin is guessed: at something that looks like an event.  A guess was right when the
 * part before it, read from its own true beginning, ends exactly there, one comma before it.  Else
 * that part reads on, and what was read from the wrong place is thrown away.  So the parts say what
 * one part would.
 */
#ifndef TV_READERS_TRACE_EVENT_SPLIT_H
#define TV_READERS_TRACE_EVENT_SPLIT_H

#include "readers/reader.h"
#include "readers/trace_event/list.h"

/* The parts of all lists of a file, in the order of the file. */
struct tv_te_lists {
    struct tv_te_list **rows;
    size_t count, capacity;
    struct tv_te_copy *copy; /* or NULL; then there is one part */
    bool lines; /* the list that is read next has an element a line, without brackets */
};

void tv_te_lists_release(struct tv_te_lists *lists);

/* Reads a list whose elements begin at `start`; *last is its last part, which says where it ended
 * and how. */
enum tv_status tv_te_lists_read(struct tv_te_lists *lists, struct tv_source *source, uint64_t start,
                                const struct tv_read_options *options,
                                const struct tv_te_list **last, struct tv_error *err) TV_MUST_CHECK;

#endif
