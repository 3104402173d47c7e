/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - the question "diff", which is about several open traces: what changed between the
 * runs of a base and those of a new version (docs/compare.md).
 *
 *     view of each run --> profile --> run table --> comparison --> JSON of traceview diff
 *
 * One process holds all traces, so it reads both sides itself (docs/decisions/0028).
 */
#ifndef TV_VIEW_COMPARE_H
#define TV_VIEW_COMPARE_H

#include "analysis/compare/changes.h"
#include "view/view.h"

/* A trace as a run of one side. */
struct tv_view_run {
    const struct tv_view *view;
    enum tv_run_side side;
};

/* Maximum number of rows of an answer; the comparison has as many tested rows. */
#define TV_VIEW_COMPARE_ROWS 20000u

/* Append the answer: JSON of the format "traceview.diff/1".
 *
 * Parameters: by (method, path, class, package or thread), figure (excl, incl, calls or mean),
 * clock (cpu or wall; default: CPU if all runs have it) and filter, which applies to each trace.
 * With graph (larger, base or new: the side that widths are of), the rows are the frames of the
 * differential flame graph that are at least `min` of it wide, at most TV_VIEW_COMPARE_ROWS.
 * TV_ERR_USAGE: a parameter is wrong, or the runs cannot be compared.  TV_ERR_LIMIT: the names are
 * too long.  After an error nothing was added. */
enum tv_status tv_view_compare(const struct tv_view_run *runs, size_t count,
                               const struct tv_view_parameter *parameters, size_t parameter_count,
                               struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

#endif
