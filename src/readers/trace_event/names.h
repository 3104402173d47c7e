/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - names with their categories, as raw text, numbered by one chunk of a file.
 *
 * Looked up for each event: nothing is decoded until the chunks come together.
 */
#ifndef TV_READERS_TRACE_EVENT_NAMES_H
#define TV_READERS_TRACE_EVENT_NAMES_H

#include "base/arena.h"
#include "model/head.h"
#include "readers/trace_event/values.h"

struct tv_te_name {
    const uint8_t *text; /* the name's raw text, the category's behind it */
    uint32_t name_length, category_length;
    bool has_name, overhead; /* overhead: of the tracing itself, not to be shown */
    uint8_t colour;          /* its own, if the name ever ended a slice; 0: not known so far */
};

struct tv_te_names {
    struct tv_te_name *names;
    size_t count, capacity;
    struct tv_te_name_place *places; /* hash table of numbers */
    size_t mask;
    struct tv_arena texts;
};

void tv_te_names_init(struct tv_te_names *names);
void tv_te_names_release(struct tv_te_names *names);

/* The number of a name with a category, raw; each may be absent.  Both must have TV_WINDOW_SLACK
 * readable bytes behind them. */
uint32_t tv_te_names_add(struct tv_te_names *names, struct tv_bytes name, struct tv_bytes category);

/* Adds the frames that the names are to the head, in their order. */
void tv_te_names_merge(const struct tv_te_names *names, struct tv_head *head, uint32_t *frames);

#endif
