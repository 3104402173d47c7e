/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_text.h - findings in words: the same sentences wherever they are shown.
 */
#ifndef TV_WRITERS_FINDINGS_TEXT_H
#define TV_WRITERS_FINDINGS_TEXT_H

#include "analysis/findings/findings.h"
#include "base/out.h"

/* A time with the unit that suits it: "16.7 ms", "50 ms", "1.24 s", "190 ns". */
void tv_findings_time(struct tv_out *out, tv_ns time);

/* What a rule's numbers are, as docs/findings.md has them: "longer than 50 ms". */
void tv_findings_threshold(struct tv_out *out, const struct tv_rule *rule);

/* The rule's sentence with its figures. */
void tv_findings_sentence(struct tv_out *out, const struct tv_findings *findings, uint32_t rule);

/* For `check`: a line for each finding and, indented, one for each of its places. */
void tv_findings_write_text(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_findings *findings);

/* For `check`: the members of a list, objects as those of diagnostics are and "finding" in each;
 * *any: something stands before them. */
void tv_findings_write_json(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_findings *findings, bool *any);

#endif
