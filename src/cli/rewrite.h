/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - a Trace Event file with the events of some processes and categories alone.
 */
#ifndef TV_CLI_REWRITE_H
#define TV_CLI_REWRITE_H

#include "analysis/keep.h"
#include "base/out.h"

/* The trace must be of one Trace Event file (tv_te_is_input).  Every wanted event with all its
 * members; where categories are chosen, beginnings with their ends become complete events, since
 * ends need not say what they end. */
enum tv_status tv_rewrite_kept(const struct tv_trace *trace, const struct tv_keep *keep,
                               struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

#endif
