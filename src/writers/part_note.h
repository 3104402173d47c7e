/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Notes: what an excerpt contains and lacks, in a few sentences for its readers ----
 */
#ifndef TV_WRITERS_PART_NOTE_H
#define TV_WRITERS_PART_NOTE_H

#include "base/out.h"
#include "model/head.h"
#include "writers/trace_event.h"

/* One of the user's selections, in their own words. */
struct tv_excerpt_selection {
    const char *what; /* "threads" */
    const char *const *words;
    size_t count;
};

struct tv_excerpt_facts {
    bool chosen;    /* a part of the trace was selected; else the excerpt is complete */
    tv_ns from, to; /* INT64_MIN, INT64_MAX: that end is open */
    const struct tv_excerpt_selection *choices;
    size_t choice_count;
    const char *shortest;       /* "20us": shorter slices were left out to save space; or NULL */
    uint64_t kept, all;         /* slices */
    bool hashed, stripped;      /* names were hashed, arguments dropped; with hashed names the
                                 * note does not repeat the selections */
    struct tv_bytes losses;     /* lines about losses (see below) */
    const struct tv_head *head; /* of the whole trace: its warnings, and its files if there are
                                 * several; or NULL */
    const struct tv_event_limit *limit; /* beyond it, events were left out to save space; or NULL */
};

/* Write the note; nothing when the excerpt is complete, unchanged and free of warnings. */
void tv_excerpt_note(struct tv_out *out, const struct tv_excerpt_facts *excerpt);

/* Write the name of an excerpt: "a.json", or "a.json and 2 more". `first` names its first file. */
void tv_excerpt_name(struct tv_out *out, const struct tv_head *head, struct tv_bytes first);

#endif
