/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Findings in words: the same sentences wherever they are shown ----
 */
#ifndef TV_WRITERS_FINDINGS_TEXT_H
#define TV_WRITERS_FINDINGS_TEXT_H

#include "analysis/findings.h"
#include "base/out.h"

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
