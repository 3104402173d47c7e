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

/* Return the row of a frame of a trace whose runs were added; TV_NONE: there is none. */
uint32_t tv_run_table_find_frame(struct tv_run_table *table, const struct tv_trace_info *info,
                                 uint32_t frame);

/* Set in_base, in_new and in_all of all rows. */
void tv_run_table_note_sides(struct tv_run_table *table);

/* Pair rows that differ by generated numbers by their callers and callees, if these were learnt.
 * Rows that this has judged are `settled`. (run_callers.c) */
void tv_run_table_match_numbered(struct tv_run_table *table);

/* Add the figures of one row to those of another. */
void tv_run_figures_add(struct tv_run_figures *sum, const struct tv_run_figures *figures);

#endif
