/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_report.h - what was repaired or skipped in a file, each with its place, and what was found
 * in the trace: `check`.
 */
#ifndef TV_WRITERS_CHECK_REPORT_H
#define TV_WRITERS_CHECK_REPORT_H

#include "analysis/findings.h"
#include "base/out.h"
#include "model/trace.h"

/* Whether a kind counts: calls that began before the trace or are open at its end do only when
 * `strict`, as almost every trace has them; events without a tid too, as whole programs leave it
 * away. */
bool tv_check_counts(enum tv_diagnostic_kind kind, bool strict);

/* Whether a kind is told: what counts, and what is unfinished in formats whose traces mostly finish
 * what they begin. */
bool tv_check_tells(const struct tv_trace *trace, enum tv_diagnostic_kind kind, bool strict);

/* One line a place: file, byte, of text formats the line and how it begins, what is wrong; then one
 * line a kind that has more places than are kept; then the findings (NULL: none).  Returns how many
 * diagnostics count. */
uint64_t tv_check_write_text(struct tv_out *out, const struct tv_trace *trace,
                             const struct tv_findings *findings, bool strict);

/* A list of objects {file, kind, severity, text, count, places: [{offset, line, excerpt}]}; those
 * of findings have no places and {total_ns, range_ns, worst} as `finding`. */
uint64_t tv_check_write_json(struct tv_out *out, const struct tv_trace *trace,
                             const struct tv_findings *findings, bool strict);

#endif
