/* SPDX-License-Identifier: Apache-2.0 */
/*
 * described_run.h - what a trace says about itself as a run that is compared: its clocks, when it
 * was recorded, and the labels of `traceview record --side`.
 */
#ifndef TV_WRITERS_COMPARE_DESCRIBED_RUN_H
#define TV_WRITERS_COMPARE_DESCRIBED_RUN_H

#include "analysis/compare/run_table.h"
#include "model/trace_info.h"

/* Return a run with everything but its totals, which its profile has.  The name must outlive the
 * run; `session` is that of a history run. */
struct tv_run tv_run_describe(const char *name, enum tv_run_side side, uint32_t session,
                              const struct tv_trace_info *info);

/* Return a label that was written into a file, as metadata or in "otherData"; empty: there is none.
 */
struct tv_bytes tv_run_find_label(const struct tv_trace_info *info, const char *key);

/* Return the number that stands for a label in struct tv_run; 0 without a label. */
uint64_t tv_run_hash_label(struct tv_bytes label);

#endif
