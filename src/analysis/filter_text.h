/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_text.h - the language of filters, "thread:main -name:access$ dur>2ms" (docs/filter.md):
 * from a line of text to terms, which all must hold, and whether a text or a number fits one.
 *
 * What the fields are of is filter.h's concern.
 */
#ifndef TV_ANALYSIS_FILTER_TEXT_H
#define TV_ANALYSIS_FILTER_TEXT_H

#include "analysis/pattern.h"
#include "base/error.h"
#include "base/types.h"

#define TV_FILTER_BYTES ((size_t)4096)
#define TV_FILTER_TERMS ((size_t)64)

enum tv_filter_field {
    TV_FILTER_NAME, /* also of a word without a field */
    TV_FILTER_CLASS,
    TV_FILTER_METHOD,
    TV_FILTER_CATEGORY,
    TV_FILTER_THREAD, /* by name or id */
    TV_FILTER_THREAD_ID,
    TV_FILTER_PROCESS,
    TV_FILTER_PROCESS_ID,
    TV_FILTER_ARGUMENT,
    TV_FILTER_DURATION, /* this and those below are numbers; times are nanoseconds */
    TV_FILTER_CPU,
    TV_FILTER_SELF,
    TV_FILTER_DEPTH,
};

/* Stands in a wanted text for any bytes, also none. No text of a filter holds it otherwise. */
#define TV_FILTER_ANY 0x01

/* One wanted text: it is the whole of what fits, where it does not begin and end with "any". */
struct tv_filter_wish {
    struct tv_bytes text; /* UTF-8; owned by the filter */
    bool fold;            /* case does not count: it holds no capital */
};

struct tv_filter_term {
    enum tv_filter_field field;
    bool negated;
    struct tv_filter_wish *wishes; /* any of them */
    size_t wish_count;             /* 0: a pattern or numbers */
    struct tv_pattern *pattern;    /* NULL: wishes or numbers */
    double low, high;              /* of numbers */
    bool above, below;             /* more than `low`, less than `high`: they do not count */
    struct tv_bytes key;           /* of an argument; empty: of any */
    size_t column;                 /* in the text, from 1, in characters */
};

struct tv_filter {
    struct tv_filter_term *terms;
    size_t count, capacity;
    unsigned workers; /* threads that tv_filter_trace may use; 0, as read: one a processor */
};

/* Reads a line; no terms are an empty filter, which keeps all.  TV_ERR_USAGE: what was expected,
 * and *column where, from 1, in characters.  To be released only after TV_OK. */
enum tv_status tv_filter_parse(struct tv_bytes text, struct tv_filter *filter, size_t *column,
                               struct tv_error *err) TV_MUST_CHECK;
void tv_filter_release(struct tv_filter *filter);

/* Whether a term is about one of these fields, first to last. */
static inline bool tv_filter_is_of(const struct tv_filter_term *term, enum tv_filter_field first,
                                   enum tv_filter_field last)
{
    return term->field >= first && term->field <= last;
}

/* Whether what the term says, `negated` aside, holds of a text, of a number. */
bool tv_filter_text_fits(const struct tv_filter_term *term, struct tv_bytes text);

static inline bool tv_filter_number_fits(const struct tv_filter_term *term, double number)
{
    return (term->above ? number > term->low : number >= term->low) &&
           (term->below ? number < term->high : number <= term->high);
}

/* A decimal number as JSON writes it. */
bool tv_filter_number_of(struct tv_bytes text, double *value);

/* Whether a term compares numbers. */
static inline bool tv_filter_has_numbers(const struct tv_filter_term *term)
{
    return term->wish_count == 0 && !term->pattern;
}

#endif
