/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.h - collapsed stacks: one line a call chain, "root;caller;callee 1234".
 *
 * Lines are sorted bytewise; chains whose number is zero are left out.
 */
#ifndef TV_WRITERS_COLLAPSED_H
#define TV_WRITERS_COLLAPSED_H

#include "base/out.h"
#include "writers/name_tree.h"

/* What the numbers are. */
struct tv_collapsed_unit {
    int64_t ns;     /* of one */
    bool fractions; /* "7.5", as far as it goes; else they are rounded down */
};

/* Microseconds, or counts of chains that had no time.  Those that were counted in parts are written
 * in parts. */
struct tv_collapsed_unit tv_collapsed_unit_of(const struct tv_trace_info *head);

/* Return true when the numbers count samples and none is a time. */
bool tv_collapsed_is_counted(const struct tv_trace_info *head);

/* Chains that are left out because their self time is less than one unit. */
struct tv_collapsed_rest {
    uint64_t chains;
    int64_t ns; /* of all of them */
};

/* Count what tv_collapsed_write leaves out so. */
struct tv_collapsed_rest tv_collapsed_find_rest(const struct tv_name_tree *tree,
                                                struct tv_collapsed_unit unit);

/* Return how many bytes tv_collapsed_write will write, which may be as many as the square of the
 * tree's nodes, and in *longest those of the longest line; UINT64_MAX: more than that. */
uint64_t tv_collapsed_measure(const struct tv_name_tree *tree, struct tv_collapsed_unit unit,
                              uint64_t *longest);

/* Writes self times in such units, on `workers` threads (0: one a processor).  The tree's names
 * hold no ';'. */
void tv_collapsed_write(struct tv_out *out, const struct tv_name_tree *tree,
                        struct tv_collapsed_unit unit, unsigned workers);

#endif
