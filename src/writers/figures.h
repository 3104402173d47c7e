/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Figures: units and titles of a trace whose figures need not be times of counted calls
 * ----
 */
#ifndef TV_WRITERS_FIGURES_H
#define TV_WRITERS_FIGURES_H

#include "base/out.h"
#include "model/head.h"

/* The unit in which figures are written: milliseconds, or samples when there are no times. */
struct tv_figure_unit {
    const char *name; /* "ms" */
    tv_ns ns;         /* nanoseconds of one on the trace's axis */
    int decimals;
};

/* Return the unit of all figures of a trace. */
struct tv_figure_unit tv_figures_unit(const struct tv_head *head);

/* Return true when every input counts calls, so that calls and times per call may be shown. */
bool tv_figures_count_calls(const struct tv_head *head);

/* Return the title of a column for this trace: the title of samples for the title of a time
 * ("Self ms"). The title is a constant. */
const char *tv_figures_title(const struct tv_head *head, const char *title);

/* Write the remarks above a table: that and how often the trace was sampled; that samples
 * without times are shown beside times. */
void tv_figures_note(struct tv_out *out, const struct tv_head *head);

#endif
