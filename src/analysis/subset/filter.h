/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - filters: the language in which the user says which events to keep, and the trace of
 * those events.
 *
 * A filter is a line of terms, "thread:main -name:access$ dur>2ms" (docs/filter.md).  It is parsed
 * once; then each term can be matched against a text or a number.
 */
#ifndef TV_ANALYSIS_SUBSET_FILTER_H
#define TV_ANALYSIS_SUBSET_FILTER_H

#include "analysis/search/regex.h"
#include "base/error.h"
#include "base/types.h"
#include "model/subset/subset.h"

#define TV_FILTER_BYTES ((size_t)4096)
#define TV_FILTER_TERMS ((size_t)64)

enum tv_filter_field {
    TV_FILTER_NAME, /* also a word without a field */
    TV_FILTER_CLASS,
    TV_FILTER_METHOD,
    TV_FILTER_CATEGORY,
    TV_FILTER_THREAD, /* by name or id */
    TV_FILTER_THREAD_ID,
    TV_FILTER_PROCESS,
    TV_FILTER_PROCESS_ID,
    TV_FILTER_ARGUMENT,
    TV_FILTER_DURATION, /* from here on the values are numbers; times are in nanoseconds */
    TV_FILTER_CPU,
    TV_FILTER_SELF,
    TV_FILTER_DEPTH,
};

/* Stands for any number of bytes in a value's text.  The parser rejects control characters, so no
 * filter text holds this byte otherwise. */
#define TV_FILTER_ANY 0x01

/* One text that a term accepts: the whole text, unless it begins and ends with TV_FILTER_ANY. */
struct tv_filter_value {
    struct tv_bytes text; /* UTF-8; owned by the filter */
    bool fold;            /* ignore case; the text has no capital letters then */
};

struct tv_filter_term {
    enum tv_filter_field field;
    bool negated;
    struct tv_filter_value *values; /* alternatives: any of them may match */
    size_t value_count;             /* 0: a regular expression or numbers */
    struct tv_regex *regex;         /* NULL: texts or numbers */
    double low, high;               /* bounds of a number; +-HUGE_VAL: open */
    bool above, below;              /* the bound itself does not match */
    struct tv_bytes key;            /* key of an argument; empty: any argument */
    size_t column;                  /* in the line, from 1, in characters */
};

struct tv_filter {
    struct tv_filter_term *terms;
    size_t count, capacity;
    unsigned workers; /* threads that tv_filter_trace may use; 0: one per processor */
};

/* Parse a line.  A line without terms is an empty filter, which keeps everything.  TV_ERR_USAGE:
 * err says what was expected, and *column where, from 1, in characters.  Release the filter only
 * after TV_OK. */
enum tv_status tv_filter_parse(struct tv_bytes text, struct tv_filter *filter, size_t *column,
                               struct tv_error *err) TV_MUST_CHECK;
void tv_filter_release(struct tv_filter *filter);

/* Return true if a term's field is in [first, last]. */
static inline bool tv_filter_field_in(const struct tv_filter_term *term, enum tv_filter_field first,
                                      enum tv_filter_field last)
{
    return term->field >= first && term->field <= last;
}

/* Match a text or a number, without regard to `negated`. */
bool tv_filter_matches_text(const struct tv_filter_term *term, struct tv_bytes text);

static inline bool tv_filter_matches_number(const struct tv_filter_term *term, double number)
{
    return (term->above ? number > term->low : number >= term->low) &&
           (term->below ? number < term->high : number <= term->high);
}

/* Parse a decimal number as JSON writes it. */
bool tv_filter_parse_number(struct tv_bytes text, double *value);

/* Return true if a term compares numbers. */
static inline bool tv_filter_has_numbers(const struct tv_filter_term *term)
{
    return term->value_count == 0 && !term->regex;
}

/* ---- Filtered traces ----
 *
 * A term is tested on every row that has its field, and a row must match every term.  Slices have
 * all fields.  When a slice is hidden, its time becomes self time of its nearest visible ancestor.
 */

/* Return the filtered trace.  Terms about arguments read the events from the input files again.
 * `trace` must outlive the result unless tv_trace_take_over is called. */
struct tv_trace *tv_filter_trace(const struct tv_trace *trace, const struct tv_filter *filter);

/* Compare tracks of two traces that were made from the same one. */
bool tv_filter_same_track(const struct tv_track *a, const struct tv_track *b);

/* Find a slice of `trace` in `other`, where both were made from the same trace: same track,
 * start, length and frame, and the n-th of those from the outside.  Return false if `other` does
 * not have it. */
bool tv_filter_same_slice(const struct tv_trace *trace, uint32_t row, uint32_t index,
                          const struct tv_trace *other, uint32_t *other_row, uint32_t *other_index);

/* ---- Terms about arguments, which only the input files hold ---- */

/* Unmark the slices, instants and samples (whose arrays must exist) that do not match a term about
 * arguments.  An event that cannot be read again has no arguments. */
void tv_filter_apply_arguments(const struct tv_trace *trace, const struct tv_filter_term *term,
                               struct tv_subset_filter *subset_filter);

/* Return true if an event's text, as tv_describe writes it, has an argument that matches. */
bool tv_filter_matches_event(const struct tv_filter_term *term, struct tv_bytes described);

#endif
