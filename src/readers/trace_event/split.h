/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - a list of events read in chunks, side by side.
 *
 * Where chunks begin is guessed: at something that looks like an event.  A guess was right when the
 * chunk before it, read from its own true beginning, ends exactly there, one comma before it.  Else
 * that chunk reads on, and what was read from the wrong place is thrown away.  So the chunks say what
 * one chunk would.
 */
#ifndef TV_READERS_TRACE_EVENT_SPLIT_H
#define TV_READERS_TRACE_EVENT_SPLIT_H

#include "readers/reader.h"
#include "readers/trace_event/list.h"

/* The chunks of all lists of a file, in the order of the file. */
struct tv_te_lists {
    struct tv_te_list **rows;
    size_t count, capacity;
    struct tv_te_copy *copy; /* or NULL; then there is one chunk */
    bool lines; /* the list that is read next has an element a line, without brackets */
};

void tv_te_lists_release(struct tv_te_lists *lists);

/* Reads a list whose elements begin at `start`; *last is its last chunk, which says where it ended
 * and how. */
enum tv_status tv_te_lists_read(struct tv_te_lists *lists, struct tv_source *source, uint64_t start,
                                const struct tv_read_options *options,
                                const struct tv_te_list **last, struct tv_error *err) TV_MUST_CHECK;

#endif
