/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_note.h - what a part of a trace is, which, and how much it lacks: a few sentences for
 * whoever gets it.
 */
#ifndef TV_WRITERS_PART_NOTE_H
#define TV_WRITERS_PART_NOTE_H

#include "base/out.h"
#include "model/trace_info.h"
#include "writers/trace_event.h"

/* What people chose, in their words. */
struct tv_part_choice {
    const char *what; /* "threads" */
    const char *const *words;
    size_t count;
};

struct tv_part_facts {
    bool chosen;    /* it was cut or filtered; else all is in it */
    tv_ns from, to; /* INT64_MIN, INT64_MAX: that end is open */
    const struct tv_part_choice *choices;
    size_t choice_count;
    const char *shortest;       /* "20us": shorter slices are left out for a size; or NULL */
    uint64_t kept, all;         /* slices */
    bool hashed, stripped;      /* names, arguments; of what is hashed the choices do not tell */
    struct tv_bytes losses;     /* what could not be written as it was: lines */
    const struct tv_trace_info *head; /* of all that was read: its warnings, and several files; or NULL */
    const struct tv_event_limit *limit; /* beyond it events are left out for a size; or NULL */
};

/* Nothing, when all is in it as it was, and nothing was wrong with the files. */
void tv_part_note(struct tv_out *out, const struct tv_part_facts *part);

/* What a part of all that was read is called, whose first file is called `first`: "a.json", "a.json
 * and 2 more". */
void tv_part_name(struct tv_out *out, const struct tv_trace_info *head, struct tv_bytes first);

#endif
