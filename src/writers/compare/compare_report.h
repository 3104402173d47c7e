/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_report.h - a comparison of groups of runs, and the verdicts of its rules, in every format
 * of `traceview diff --base ... --new ...`.
 *
 * traceview(1) defines the columns and keys; those of JSON ("traceview.diff/1") and CSV are a
 * contract.  All outputs are functions of the input alone: equal files give equal bytes.
 */
#ifndef TV_WRITERS_COMPARE_REPORT_H
#define TV_WRITERS_COMPARE_REPORT_H

#include "analysis/compare/change_flame.h"
#include "analysis/compare/compared_calls.h"
#include "analysis/compare/gate.h"
#include "base/out.h"

enum tv_compare_format {
    TV_COMPARE_TEXT,
    TV_COMPARE_CSV,
    TV_COMPARE_JSON,
    TV_COMPARE_MARKDOWN,
    TV_COMPARE_JUNIT,
    TV_COMPARE_SARIF,
    TV_COMPARE_GITHUB,
    TV_COMPARE_GITLAB,
    TV_COMPARE_SVG, /* this and the following have a flame graph */
    TV_COMPARE_HTML,
};

/* The columns of the text that --columns can name. */
#define TV_COMPARE_COLUMNS "base|new|change|interval|p|calls|detectable|runs"

struct tv_compare_report {
    const struct tv_comparison *comparison;
    const struct tv_gate_rule *rules;
    const struct tv_gate_result *results; /* [rule_count] */
    uint32_t rule_count;
    uint64_t limit;     /* most rows of text, CSV and Markdown; 0: all */
    uint32_t json_rows; /* most rows of JSON, which then tells the number of others; 0: all */
    double alpha;       /* rows with a smaller p are marked as changed */
    /* --plan: instead of changes, how small a change each row could show.  0: no plan. */
    uint32_t plan_runs;
    const char *title;                   /* of SVG and HTML */
    const struct tv_change_flame *graph; /* of SVG and HTML; NULL for other formats */
    /* Calls of the first rows, and a line that says why there are none; of HTML, or of text and
     * JSON with one run on each side; else NULL. */
    const struct tv_compared_calls *calls;
    const char *calls_note;
    bool json_frames; /* the rows of JSON are the frames of the graph */
};

/* Write the report in a format. */
void tv_compare_report_write(struct tv_out *out, const struct tv_compare_report *report,
                             enum tv_compare_format format);

/* Write for scripts. (compare_json.c) */
void tv_compare_write_json(struct tv_out *out, const struct tv_compare_report *report);

/* Write for the tools that run checks. (compare_ci.c) */
void tv_compare_write_junit(struct tv_out *out, const struct tv_compare_report *report);
void tv_compare_write_sarif(struct tv_out *out, const struct tv_compare_report *report);
void tv_compare_write_github(struct tv_out *out, const struct tv_compare_report *report);
void tv_compare_write_gitlab(struct tv_out *out, const struct tv_compare_report *report);

/* Write a comment on a pull request. (compare_markdown.c) */
void tv_compare_write_markdown(struct tv_out *out, const struct tv_compare_report *report);

/* Write one page for people. (compare_html.c) */
void tv_compare_write_html(struct tv_out *out, const struct tv_compare_report *report);

/* Write the calls of row `row`, a place in the comparison: a histogram of their lengths, their
 * percentiles, and the slowest of each side. (compare_calls_html.c) */
void tv_compare_put_calls_html(struct tv_out *out, const struct tv_compare_report *report,
                               uint32_t row);

/* Write the calls of two traces: a table of the first rows that have any, and the member "lengths"
 * of a row of JSON, which is one of those with calls. (compare_calls_text.c) */
void tv_compare_put_calls_text(struct tv_out *out, const struct tv_compare_report *report);
void tv_compare_put_calls_json(struct tv_out *out, const struct tv_compare_report *report,
                               uint32_t row);

/* ---- Shared by the formats ---- */

/* Write what was compared, and what may be promised: lines, then an empty one. */
void tv_compare_put_heading(struct tv_out *out, const struct tv_compare_report *report);

/* Write the verdict of a rule and the first rows that made it fire, as lines. */
void tv_compare_put_rule(struct tv_out *out, const struct tv_compare_report *report,
                         uint32_t number);

/* Return what a row is: "Method". */
const char *tv_compare_rows_title(const struct tv_comparison *comparison);

/* Return the mark of a row: "~" matched by form, "=" renamed, "+" only new, "-" only base, "i"
 * inlined, "!" calls certainly differ, "t" calls are too short for times; or "". */
const char *tv_compare_mark(const struct tv_comparison *comparison,
                            const struct tv_compared_row *row);

/* Write the full name of a row of the table, as one line. */
void tv_compare_put_name(struct tv_out *out, const struct tv_comparison *comparison, uint32_t row);

/* Write the change of a row, or that it is new or gone. */
void tv_compare_put_row_change(struct tv_out *out, const struct tv_compared_row *row,
                               double change);

/* Return how many rows to write; a limit of 0 means all. */
uint32_t tv_compare_row_count(const struct tv_compare_report *report, uint64_t limit);

/* Write a finite number as JSON and HTML have it. */
void tv_compare_put_number(struct tv_out *out, double value);

/* Write a figure: "12.345 ms", a weight of samples in its unit, or a number of calls.  The second
 * one leaves out the unit, which is the same for all figures of the comparison. */
void tv_compare_put_figure(struct tv_out *out, const struct tv_comparison *comparison,
                           enum tv_run_figure figure, double value);
void tv_compare_put_bare(struct tv_out *out, const struct tv_comparison *comparison,
                         enum tv_run_figure figure, double value);

/* Write what the figures are: "CPU time", "wall time without the common factor", "samples: space in
 * MiB". */
void tv_compare_put_kind(struct tv_out *out, const struct tv_comparison *comparison);

/* Write a relative change: "+5.3 %", "new", "gone". */
void tv_compare_put_change(struct tv_out *out, double change);

/* Write a relative change in percent, without the sign of percent: "+5.3", or "0.0" if it rounds to
 * nothing. */
void tv_compare_put_percent(struct tv_out *out, double change);

/* Write both ends of an interval: "-1.2..+3.4 %". */
void tv_compare_put_interval(struct tv_out *out, const struct tv_relative_change *change);

/* Write a probability: "0.186", "0.0040", "<0.0001". */
void tv_compare_put_p(struct tv_out *out, double p);

/* Tell whether a rule judges times of one run on a side, of which nobody knows how much is noise.
 */
bool tv_compare_may_be_noise(const struct tv_compare_report *report, uint32_t number);

/* Write "draw: 1.2 ms -> 1.4 ms (+16.7 %, p = 0.004)" for a hit of a rule. */
void tv_compare_put_hit(struct tv_out *out, const struct tv_compare_report *report, uint32_t number,
                        const struct tv_gate_hit *hit);

/* Return what may be promised about p, or why not. */
const char *tv_compare_promise(const struct tv_comparison *comparison);

/* Return false when calls are not counted in some run, because stacks were sampled over time: the
 * numbers of calls mean nothing. (compare_calls_text.c) */
bool tv_compare_has_counts(const struct tv_comparison *comparison);

/* Write numbers of calls or samples; equal ones are written once. (compare_calls_text.c) */
void tv_compare_put_counts(struct tv_out *out, const struct tv_compared_row *row);

/* Write between `before` and `after` how many runs were sampled, if any. (compare_calls_text.c) */
void tv_compare_put_sampled(struct tv_out *out, const struct tv_comparison *comparison,
                            const char *before, const char *after);

#endif
