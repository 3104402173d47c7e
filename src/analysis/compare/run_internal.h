/* SPDX-License-Identifier: Apache-2.0 */
/* run_internal.h - what filling and matching a run table share. */
#ifndef TV_ANALYSIS_COMPARE_RUN_INTERNAL_H
#define TV_ANALYSIS_COMPARE_RUN_INTERNAL_H

#include "analysis/compare/run_table.h"

/* Return the number of the row with the names and the caller in `wanted`, adding it if needed. */
uint32_t tv_run_table_place_row(struct tv_run_table *table, const struct tv_run_row *wanted);

/* Return the place of a row's figures, or of the lengths of its calls, in a run. */
struct tv_run_figures *tv_run_table_place_figures(struct tv_run_table *table, uint32_t row,
                                                  uint32_t run);
struct tv_run_lengths *tv_run_table_place_lengths(struct tv_run_table *table, uint32_t row,
                                                  uint32_t run);

/* Return a row with the names of a frame, which is not in the table. */
struct tv_run_row tv_run_table_frame_key(struct tv_run_table *table,
                                         const struct tv_trace_info *info, uint32_t frame);

/* Return the row of each frame of a trace, TV_NONE where there is none; free them with tv_free.
 * Rows that were joined stand for themselves. */
uint32_t *tv_run_table_find_frames(struct tv_run_table *table, const struct tv_trace_info *info);

/* Set in_base, in_new and in_all of all rows. */
void tv_run_table_note_sides(struct tv_run_table *table);

/* Pair rows that differ by generated numbers by their callers and callees: paths have these among
 * them, of methods they were learnt.
 * Rows that this has judged are `settled`. (run_callers.c) */
void tv_run_table_match_numbered(struct tv_run_table *table);

/* Add the figures of one row to those of another. */
void tv_run_figures_add(struct tv_run_figures *sum, const struct tv_run_figures *figures);

#endif
