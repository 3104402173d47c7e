/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_report.h - HTML reports: the viewer's page, its engine and a trace in one file.
 *
 *     html_report.c    a report of whole files, or of a part of a trace
 *     html_smaller.c   the part to keep when a report must fit into --max-size
 */
#ifndef TV_CLI_OUTPUT_HTML_REPORT_H
#define TV_CLI_OUTPUT_HTML_REPORT_H

#include "base/file.h"
#include "base/out.h"
#include "cli/options.h"
#include "model/trace.h"
#include "report/report.h"
#include "view/view.h"
#include "writers/trace/redaction.h"

/* ---- The page of this program ---- */

/* Write a report on the viewer's page. */
enum tv_status tv_reporter_write(const struct tv_report *report, struct tv_out *out,
                                 struct tv_error *err) TV_MUST_CHECK;

/* Write what `making` makes into a temporary file; *source reads it. */
enum tv_status tv_reporter_make(const struct tv_view_generated_file *making,
                                struct tv_source **source, struct tv_error *err) TV_MUST_CHECK;

/* Return the functions with which the viewer and the upload server save reports; NULL when this
 * build has no engine for pages. */
const struct tv_view_reporter *tv_reporter(bool renames);

/* ---- A report in a spool ---- */

/* A report that is being made.  Nothing goes to the output before the report is complete. */
struct tv_html_output {
    struct tv_spool *spool; /* NULL: no report, because it is too large */
    uint64_t size, most;    /* bytes; most: TV_ANY_SIZE: no limit */
    bool too_large;
    struct tv_out losses; /* of a part, one per line; valid only with the spool */
};

void tv_html_output_release(struct tv_html_output *made);

/* Write a report into a spool.  A report that is too large is not an error: made->spool is NULL. */
enum tv_status tv_html_make(const struct tv_settings *settings, const struct tv_report *report,
                            struct tv_html_output *made, struct tv_error *err) TV_MUST_CHECK;

/* ---- A part of a trace ---- */

#define TV_HTML_SHARES 1024u

/* A part of the trace as a trace of its own. */
struct tv_html_part {
    const struct tv_settings *settings;
    const struct tv_trace *whole;
    const struct tv_trace *trace; /* `whole`, or what --filter leaves of it */
    struct tv_redaction_options redaction;
    bool redacted;
    /* Left out to meet --max-size: */
    const char *shortest;               /* slices shorter than this ("20us"); NULL: none */
    const struct tv_event_limit *limit; /* details of events beyond this; NULL: none */
    unsigned share; /* the range after this many TV_HTML_SHARES of it; 0: nothing */
    bool smaller;   /* anything is left out */
    bool sliced;    /* a part without slices is an error (TV_ERR_USAGE) */
};

/* Do the settings select a part by its contents? */
bool tv_html_is_chosen(const struct tv_settings *settings);

/* Make a report of what the settings select of the part's trace (tv_html_make). */
enum tv_status tv_html_make_part(const struct tv_html_part *part, struct tv_html_output *made,
                                 struct tv_error *err) TV_MUST_CHECK;

/* Call `look` with the trace that the report of the part would contain. */
enum tv_status tv_html_visit_part(const struct tv_html_part *part,
                                  void (*look)(void *context, const struct tv_trace *trace),
                                  void *context, struct tv_error *err) TV_MUST_CHECK;

/* Make a report that fits into --max-size: leave out the least important details, and no more than
 * necessary (docs/decisions/0019-what-a-small-report-keeps.md).  Print what is left out.
 * TV_ERR_LIMIT: nothing is small enough; the message has the size of the smallest report. */
enum tv_status tv_html_make_smaller(const struct tv_html_part *part, struct tv_html_output *made,
                                    struct tv_error *err) TV_MUST_CHECK;

/* ---- A histogram of the lengths of slices ----
 *
 * It answers how much of the time remains visible when short slices are left out.  The time of a
 * slice is its self time: when a slice is left out, its time becomes self time of its parent. */

/* Steps: 24 lengths per decade, two digits each, from 10 ns to 910 s. */
#define TV_HTML_LENGTHS 264u

struct tv_html_lengths {
    /* Self time in ns of the slices that are shorter than length i, but not than length i - 1; the
     * last element: of all longer slices. */
    double self[TV_HTML_LENGTHS + 1];
    uint64_t count[TV_HTML_LENGTHS + 1]; /* number of these slices */
    uint64_t slices;
    tv_ns span; /* of the trace */
};

/* Format the length of a step: "1.5us". */
void tv_html_length_text(size_t step, char text[16]);

/* Add the slices of a trace to a struct tv_html_lengths that was zeroed before (a callback of
 * tv_html_visit_part). */
void tv_html_lengths_add(void *lengths, const struct tv_trace *trace);

/* Return how many steps can be left out without losing a slice. */
size_t tv_html_lengths_idle(const struct tv_html_lengths *lengths);

/* Return how many steps can be left out so that the remaining slices keep this share of all self
 * time.  A slice that lasts a hundredth of the trace always remains: it is wide on the page. */
size_t tv_html_lengths_covering(const struct tv_html_lengths *lengths, double share);

#endif
