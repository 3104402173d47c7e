/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding_parts.h - what the conditions of findings share: findings.c goes through the rules,
 * finding_calls.c looks at calls, finding_methods.c at the call tree.
 */
#ifndef TV_ANALYSIS_FINDING_PARTS_H
#define TV_ANALYSIS_FINDING_PARTS_H

#include "analysis/findings.h"

struct tv_finding_look {
    const struct tv_trace *trace;
    const struct tv_call_tree *tree;
    const struct tv_selection *selection;
    bool *wanted;         /* [tracks] calls with times */
    bool *main;           /* [tracks] those of them that are of main threads */
    uint8_t *frames;      /* [frames] lists that a frame is on */
    uint8_t *paths;       /* [paths] the same of a path's frame */
    uint8_t *around;      /* [paths] of those around it */
    uint8_t *depths;      /* [depth_count] of all paths of a depth, from that of rows 0 on */
    uint32_t depth_count; /* 0: no frame is on a list */
};

/* Each fills `finding`, whose numbers are 0. */
typedef void tv_finding_condition(const struct tv_finding_look *look, const struct tv_rule *rule,
                                  struct tv_finding *finding);
tv_finding_condition tv_finding_calls, tv_finding_waits;     /* finding_calls.c */
tv_finding_condition tv_finding_clock, tv_finding_recursion; /* finding_methods.c */

/* Keeps a place if it is one of the worst by `by`: those that are equal stay in their order. */
void tv_finding_keep(struct tv_finding *finding, const struct tv_finding_place *place,
                     int64_t (*by)(const struct tv_finding_place *place));

/* How much of [start, start + length) lies in the range. */
tv_ns tv_finding_within(const struct tv_finding_look *look, tv_ns start, tv_ns length);

/* Whether a part is so many thousandths of a whole, or more. */
static inline bool tv_finding_is_share(int64_t part, int64_t whole, uint32_t thousandths)
{
    return part >= whole / 1000 * thousandths + whole % 1000 * thousandths / 1000;
}

#endif
