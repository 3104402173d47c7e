/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - what stands in tables of a trace whose figures are not those of counted calls.
 */
#ifndef TV_WRITERS_FIGURES_H
#define TV_WRITERS_FIGURES_H

#include "base/out.h"
#include "model/trace_info.h"

/* In which figures are written: milliseconds, or samples where there are no times. */
struct tv_figure_unit {
    const char *name; /* "ms" */
    tv_ns ns;         /* of one of them on the axis */
    int decimals;
};

/* The unit of all figures of a trace. */
struct tv_figure_unit tv_figures_unit(const struct tv_trace_info *head);

/* Return true when every input counts calls, so that calls and times per call may be shown. */
bool tv_figures_count_calls(const struct tv_trace_info *head);

/* The title of a column as this trace has it: of samples where the title is one of times ("Self
 * ms").  It lives for ever. */
const char *tv_figures_title(const struct tv_trace_info *head, const char *title);

/* The lines above a table: that the trace was sampled, and how often; that samples without times
 * stand beside times. */
void tv_figures_note(struct tv_out *out, const struct tv_trace_info *head);

#endif
