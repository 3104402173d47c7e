/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - what the rules (finding_rules.h) say of a trace: for any range and tracks, each with
 * the worst places.
 *
 * A call counts when it touches the range, and it is held against a rule with its whole length: a
 * long call stays one when half of it is looked at.  Sums are of what lies in the range.  What the
 * reader found, and that a trace was sampled, is said of whole files.
 */
#ifndef TV_ANALYSIS_FINDINGS_H
#define TV_ANALYSIS_FINDINGS_H

#include "analysis/calltree/call_tree.h"
#include "analysis/finding_rules.h"

#define TV_FINDING_PLACES 10

/* Evidence: a call, a method with its first or deepest call, or a kind of diagnostics. */
struct tv_finding_place {
    uint32_t row, index; /* row TV_NONE: there is no call */
    uint32_t frame;      /* TV_NONE: none */
    uint32_t kind;       /* enum tv_diagnostic_kind; TV_NONE: none */
    tv_ns start, length; /* of the call */
    tv_ns part;          /* the time that is told: all of it, waiting, reading the clock */
    uint64_t count;      /* calls of a method, levels, diagnostics; a call is 1 */
};

struct tv_finding {
    bool found;
    const char *missing; /* what the trace lacks for the rule: "a CPU clock"; NULL: looked for */
    uint64_t count;
    tv_ns total; /* within the range */
    tv_ns limit; /* the rule's, or what the trace says: the cost of a clock, an interval */
    struct tv_finding_place places[TV_FINDING_PLACES]; /* the worst first; of equals the earlier */
    uint32_t place_count;
};

struct tv_findings {
    const struct tv_head *head; /* not owned */
    tv_ns looked_at;            /* how long the range within the trace is */
    struct tv_finding of[TV_RULES];
};

/* `tree` is that of the same selection, and may go before the findings. */
struct tv_findings *tv_findings_of(const struct tv_trace *trace, const struct tv_call_tree *tree,
                                   const struct tv_selection *selection);
void tv_findings_free(struct tv_findings *findings);

#endif
