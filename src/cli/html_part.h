/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_part.h - the report of a part of a trace, and parts that are small enough.
 */
#ifndef TV_CLI_HTML_PART_H
#define TV_CLI_HTML_PART_H

#include "base/file.h"
#include "base/out.h"
#include "cli/options.h"
#include "report/report.h"
#include "writers/trace/redaction.h"

/* Where a report is made: nothing is written before all of it is there. */
struct tv_html_made {
    struct tv_spool *spool;
    uint64_t size, most; /* most: TV_ANY_SIZE: any size */
    bool too_large;
    struct tv_out losses; /* of a part, a line each; with the spool alone */
};

/* What is in it, if anything. */
void tv_html_made_release(struct tv_html_made *made);

/* The report in a spool; one that is too large is no failure, and there is none then. */
enum tv_status tv_html_make(const struct tv_settings *settings, const struct tv_report *report,
                            struct tv_html_made *made, struct tv_error *err) TV_MUST_CHECK;

/* A part of what was read, as a trace of its own. */
struct tv_html_part {
    const struct tv_settings *settings;
    const struct tv_trace *whole;
    const struct tv_trace *trace; /* what is wanted of it */
    struct tv_redaction_options disguise;
    bool disguised;
    /* What is left out for a size: */
    const char *shortest;               /* slices shorter than that ("20us"); NULL: none */
    const struct tv_event_limit *limit; /* what events have beyond that; NULL: nothing */
    unsigned share; /* what comes after so many TV_HTML_SHARES of the range; 0: nothing */
    bool smaller;   /* anything is */
    bool sliced;    /* then a part without a slice is none (TV_ERR_USAGE) */
};

#define TV_HTML_SHARES 1024u

/* Whether the settings choose a part by what is in it. */
bool tv_html_is_chosen(const struct tv_settings *settings);

/* As tv_html_make, of what the settings choose of the part's trace. */
enum tv_status tv_html_make_part(const struct tv_html_part *part, struct tv_html_made *made,
                                 struct tv_error *err) TV_MUST_CHECK;

/* The trace of what would be in it, to be looked at. */
enum tv_status tv_html_look_at_part(const struct tv_html_part *part,
                                    void (*look)(void *context, const struct tv_trace *trace),
                                    void *context, struct tv_error *err) TV_MUST_CHECK;

/* The same of a part that is too large: leaves out what is missed least, no more than it must
 * (docs/decisions/0019-what-a-small-report-keeps.md).  Says so on standard error.  TV_ERR_LIMIT:
 * nothing is as small as that; the message has the size of the smallest. */
enum tv_status tv_html_make_smaller(const struct tv_html_part *part, struct tv_html_made *made,
                                    struct tv_error *err) TV_MUST_CHECK;

#endif
