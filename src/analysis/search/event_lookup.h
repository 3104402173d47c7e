/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_lookup.h - find the event at an offset of an input file, and iterate over its arguments.
 *
 * There is no index of offsets, which would be half as large as the trace.  One pass over the
 * offset columns answers for any number of offsets at once.
 */
#ifndef TV_ANALYSIS_SEARCH_EVENT_LOOKUP_H
#define TV_ANALYSIS_SEARCH_EVENT_LOOKUP_H

#include "base/types.h"
#include "model/trace.h"

enum tv_event_kind {
    TV_EVENT_NONE,
    TV_EVENT_SLICE,       /* row, index; also found by the offset of its end */
    TV_EVENT_INSTANT,     /* number */
    TV_EVENT_COUNTER,     /* counter, sample */
    TV_EVENT_SNAPSHOT,    /* number */
    TV_EVENT_SAMPLE,      /* number */
    TV_EVENT_FLOW,        /* number */
    TV_EVENT_MEMORY_DUMP, /* number */
    TV_EVENT_OBJECT,      /* number; this kind and those below have no offset in a file */
    TV_EVENT_PROCESS,     /* number */
    TV_EVENT_THREAD,      /* number */
    TV_EVENT_METADATA,    /* number */
};

/* One element of the trace, and the offset of an event that belongs to it. */
struct tv_event_place {
    enum tv_event_kind kind;
    uint32_t a, b;
    uint64_t offset;
};

/* The last event that begins at or before an offset, and the first one after it. */
struct tv_event_neighbours {
    struct tv_event_place at, after; /* TV_EVENT_NONE if there is none */
};

/* Find the events around `count` offsets of an input, in ascending order.  If several elements
 * share an offset, the slice is found. */
void tv_event_lookup(const struct tv_trace *trace, uint32_t input, const uint64_t *offsets,
                     size_t count, struct tv_event_neighbours *found);

/* ---- Arguments: one value of strict JSON without white space, as tv_describe writes it ---- */

enum tv_json_token_kind {
    TV_TOKEN_KEY,
    TV_TOKEN_STRING,
    TV_TOKEN_WORD, /* number, true, false or null */
    TV_TOKEN_OPEN,
    TV_TOKEN_CLOSE,
};

struct tv_json_token {
    enum tv_json_token_kind kind;
    struct tv_bytes text; /* text of a string: the bytes between its quotes */
};

struct tv_json_tokens {
    const uint8_t *at, *end;
    size_t depth;
    bool over;
};

/* Begin at the arguments in a text of tv_describe; false if there are none. */
bool tv_json_tokens_of_arguments(struct tv_json_tokens *tokens, struct tv_bytes described);

/* At the end of the arguments: begin at the arguments of a slice's begin event that the end event
 * overrides, which follow them; false if there are none (left). */
bool tv_json_tokens_of_overridden(struct tv_json_tokens *tokens);

/* Read the next token; false at the end of the value. */
bool tv_json_tokens_next(struct tv_json_tokens *tokens, struct tv_json_token *token);

#endif
