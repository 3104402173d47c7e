/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_report.h - the output of `check`: what was repaired or skipped in a file, with its
 * offsets, and the findings about the trace, in words.
 */
#ifndef TV_WRITERS_TABLES_CHECK_REPORT_H
#define TV_WRITERS_TABLES_CHECK_REPORT_H

#include "analysis/findings/findings.h"
#include "base/error.h"
#include "base/out.h"
#include "model/trace.h"
#include "writers/text/verdicts.h"

/* Return true for kinds that almost every sound trace has: calls that began before the trace or
 * are open at its end, and events without a tid. */
bool tv_check_is_usual(enum tv_diagnostic_kind kind);

/* Return true when check reports the kind: every kind when `strict`, else the kinds that are not
 * usual, and open calls in formats whose traces mostly end their calls. */
bool tv_check_reports(const struct tv_trace *trace, enum tv_diagnostic_kind kind, bool strict);

/* The answer of a user's rule about a trace (cli/input/sql_rules.h). */
struct tv_rule_answer {
    struct tv_bytes name, text;
    enum tv_severity severity;
    uint64_t count;     /* rows of its query: it tells something unless this is 0 */
    bool more;          /* there are more rows, which were not counted */
    struct tv_out rows; /* in memory: the rows that were counted, JSON objects, one a line */
};

/* Everything that check found in a file. */
struct tv_check_report {
    const struct tv_trace *trace;
    const struct tv_findings *findings; /* NULL: not asked for */
    const struct tv_rule_answer *answers;
    size_t answer_count;
    bool strict; /* report usual diagnostics, too */
};

/* Write a line for each known offset: file, byte, what is wrong, and in text formats the line
 * and how it begins. A kind with more offsets than are stored gets one more line. Findings and
 * answers of rules follow. */
void tv_check_write_text(struct tv_out *out, const struct tv_check_report *report);

/* Write the line before each report of several files: "FILE: failed: 2 errors, 3 findings". */
void tv_check_write_summary(struct tv_out *out, const struct tv_check_report *report, bool fails);
void tv_check_write_unreadable(struct tv_out *out, const char *file);

/* Write members of a list, objects {file, kind, severity, text, count, places: [{offset, line,
 * excerpt}]}; objects of findings have no places and {total_ns, range_ns, worst} as `finding`;
 * those of rules have no places and their rows as `rows`, and `count` is null if there are more.
 * *any: the list is not empty; updated. */
void tv_check_write_json(struct tv_out *out, const struct tv_check_report *report, bool *any);
/* Write the object for a file that cannot be read: its kind is "unreadable". */
void tv_check_write_unreadable_json(struct tv_out *out, const char *file,
                                    const struct tv_error *reason, bool *any);

/* Add a test case of a file, which fails with the lines of its report. */
void tv_check_add_junit(struct tv_junit *junit, const struct tv_check_report *report, bool fails);
void tv_check_add_unreadable_junit(struct tv_junit *junit, const char *file,
                                   const struct tv_error *reason);

/* Add a result for each kind of diagnostic, at its first place, and for each finding and rule.  A
 * file that cannot be read is a result of the rule "unreadable". */
void tv_check_add_sarif(struct tv_sarif *sarif, const struct tv_check_report *report);
void tv_check_add_unreadable_sarif(struct tv_sarif *sarif, const char *file,
                                   const struct tv_error *reason);

/* ---- Findings in words: the same sentences wherever they are shown (findings_report.c) ---- */

/* Write a time with a suitable unit: "16.7 ms", "50 ms", "1.24 s", "190 ns". */
void tv_findings_time(struct tv_out *out, tv_ns time);

/* Write a rule's threshold as docs/findings.md states it: "longer than 50 ms". */
void tv_findings_threshold(struct tv_out *out, const struct tv_rule *rule);

/* Write the rule's sentence with its figures. */
void tv_findings_sentence(struct tv_out *out, const struct tv_findings *findings, uint32_t rule);

/* Write a line for each finding and an indented line for each of its places. */
void tv_findings_write_text(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_findings *findings);

/* Write the members of a list, objects as for diagnostics, with a member "finding". *any: the
 * list is not empty; updated. */
void tv_findings_write_json(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_findings *findings, bool *any);

#endif
