/* SPDX-License-Identifier: Apache-2.0 */
/*
 * excerpt.h - a selection of a trace as a trace of its own: an Android method trace, Trace Event
 * JSON or a Perfetto trace; the losses of writing it, and a note for its readers.
 *
 * Slices that reach beyond a selected range begin or end at its ends
 * (docs/decisions/0009-a-piece-is-closed.md).
 */
#ifndef TV_WRITERS_TRACE_EXCERPT_H
#define TV_WRITERS_TRACE_EXCERPT_H

#include "analysis/subset/subset.h"
#include "base/out.h"
#include "model/trace_info.h"
#include "writers/trace/perfetto.h"
#include "writers/trace/redaction.h"
#include "writers/trace/rewrite.h"
#include "writers/trace/trace_event.h"
#include "writers/trace/trace_file.h"

struct tv_excerpt_losses {
    struct tv_trace_file_losses file; /* of a method trace */
    struct tv_rewrite_losses events;  /* of JSON */
    uint64_t flows;                   /* with only one end in the excerpt: left out */
};

/* An excerpt that is about to be written. */
struct tv_excerpt {
    const struct tv_trace *trace;
    const struct tv_crop *cut;
    struct tv_trace *made;                        /* NULL: the excerpt is the whole trace */
    const struct tv_redaction_options *redaction; /* NULL: it is written as it is */
    const struct tv_event_limit *limit;           /* of JSON; NULL: no limits */
    bool tried, fits; /* cache: whether its times fit in a method trace */
};

/* Make the excerpt; release it afterwards. The trace and the cut must outlive it. */
void tv_excerpt_make(struct tv_excerpt *excerpt, const struct tv_trace *trace,
                     const struct tv_crop *cut);
void tv_excerpt_release(struct tv_excerpt *excerpt);

/* Check that the excerpt can be written. TV_ERR_USAGE: the selection contains nothing; or, for a
 * method trace (`file`), no call, or its times do not fit. TV_ERR_UNSUPPORTED: the whole trace is
 * empty, and no method trace. */
enum tv_status tv_excerpt_check(struct tv_excerpt *excerpt, bool file,
                                struct tv_error *err) TV_MUST_CHECK;

/* Return true when the excerpt is best written as a method trace: it came from one, and its
 * times fit. They do not fit when a cut leaves more than 70 minutes between two records: every
 * version has clocks of 32-bit microseconds, and readers assume that a clock that goes back
 * wrapped once. */
bool tv_excerpt_is_method_trace(struct tv_excerpt *excerpt);

/* Return the number of slices in the excerpt. */
uint64_t tv_excerpt_slice_count(const struct tv_excerpt *excerpt);

/* Return true when a trace has calls of threads, which are all that a method trace can contain. */
bool tv_excerpt_can_be_method_trace(const struct tv_trace *trace);

/* Return the version of method trace that fits the trace: the version of its input, if that is
 * one. *cpu: keep the CPU clock if the version has only one. */
enum tv_trace_target tv_excerpt_target(const struct tv_trace *trace, bool *cpu);

/* Write an excerpt that was checked, as tv_trace_file_write and tv_rewrite do. */
enum tv_status tv_excerpt_write_method_trace(const struct tv_excerpt *excerpt, struct tv_out *out,
                                             struct tv_excerpt_losses *losses,
                                             struct tv_error *err) TV_MUST_CHECK;
enum tv_status tv_excerpt_write_events(const struct tv_excerpt *excerpt, struct tv_out *out,
                                       struct tv_excerpt_losses *losses,
                                       struct tv_error *err) TV_MUST_CHECK;

/* As above; a method trace if `file`. */
enum tv_status tv_excerpt_write(const struct tv_excerpt *excerpt, bool file, struct tv_out *out,
                                struct tv_excerpt_losses *losses,
                                struct tv_error *err) TV_MUST_CHECK;

/* Return true when the excerpt is best written as a Perfetto trace: it came from one, and keeps its
 * names and arguments. */
bool tv_excerpt_is_perfetto(const struct tv_excerpt *excerpt);

/* Write an excerpt that was checked as a Perfetto trace: the packets of the range where it came
 * from one and only a range is selected, else from the model. */
enum tv_status tv_excerpt_write_perfetto(const struct tv_excerpt *excerpt, struct tv_out *out,
                                         struct tv_perfetto_losses *losses,
                                         struct tv_error *err) TV_MUST_CHECK;

/* ---- Losses: what a trace lost when it was written, a line for each kind ---- */

/* `trace`: the whole trace that was read. */
void tv_losses_write_method_trace(struct tv_out *out, const struct tv_trace *trace,
                                  enum tv_trace_target target,
                                  const struct tv_trace_file_losses *losses);
void tv_losses_write_events(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_excerpt_losses *losses);

/* Write lines for a Perfetto trace that lost something. */
void tv_losses_write_perfetto(struct tv_out *out, const struct tv_trace *trace,
                              const struct tv_perfetto_losses *losses);

/* Write lines for an excerpt that was written as a method trace (`file`) or as events. */
void tv_losses_write_excerpt(struct tv_out *out, const struct tv_excerpt *excerpt, bool file,
                             const struct tv_excerpt_losses *losses);

/* ---- Notes: what an excerpt contains and lacks, in a few sentences for its readers ---- */

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
    const char *shortest;   /* "20us": shorter slices were left out to save space; or NULL */
    uint64_t kept, all;     /* slices */
    bool hashed, stripped;  /* names were hashed, arguments dropped; with hashed names the
                             * note does not repeat the selections */
    struct tv_bytes losses; /* lines about losses (see above) */
    const struct tv_trace_info *head;   /* of the whole trace: its warnings, and its files if there
                                         * are several; or NULL */
    const struct tv_event_limit *limit; /* beyond it, events were left out to save space; or NULL */
};

/* Write the note; nothing when the excerpt is complete, unchanged and free of warnings. */
void tv_excerpt_note(struct tv_out *out, const struct tv_excerpt_facts *excerpt);

/* Write the name of an excerpt: "a.json", or "a.json and 2 more". `first` names its first file. */
void tv_excerpt_name(struct tv_out *out, const struct tv_trace_info *head, struct tv_bytes first);

#endif
