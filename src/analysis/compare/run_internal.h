/* SPDX-License-Identifier: Apache-2.0 */
/* run_internal.h - what filling and matching a run table share. */
#ifndef TV_ANALYSIS_COMPARE_RUN_INTERNAL_H
#define TV_ANALYSIS_COMPARE_RUN_INTERNAL_H

#include "analysis/compare/run_table.h"

/* Return the place of a row's figures, or of the lengths of its calls, in a run. */
struct tv_run_figures *tv_run_table_place_figures(struct tv_run_table *table, uint32_t row,
                                                  uint32_t run);
struct tv_run_lengths *tv_run_table_place_lengths(struct tv_run_table *table, uint32_t row,
                                                  uint32_t run);

void tv_run_figures_add(struct tv_run_figures *sum, const struct tv_run_figures *figures);

#endif
