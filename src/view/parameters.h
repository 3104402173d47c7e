/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.h - the parameters of a question: numbers within bounds, lists of tracks and rows.
 *
 * Nothing here trusts them: each getter fails with a sentence that names the parameter.
 */
#ifndef TV_VIEW_PARAMETERS_H
#define TV_VIEW_PARAMETERS_H

#include "analysis/calltree/call_tree.h"
#include "analysis/timeline/tiles.h"
#include "view/view.h"

struct tv_parameters {
    const struct tv_view_parameter *list;
    size_t count;
};

/* The value, or a view with data NULL when it was not given. */
struct tv_bytes tv_parameter_text(const struct tv_parameters *parameters, const char *name);

/* An integer from low to high; `otherwise` when it was not given. */
struct tv_parameter_bounds {
    int64_t low, high;
};
enum tv_status tv_parameter_integer(const struct tv_parameters *parameters, const char *name,
                                    struct tv_parameter_bounds bounds, int64_t otherwise,
                                    int64_t *value, struct tv_error *err) TV_MUST_CHECK;

/* The same, but it must be given. */
enum tv_status tv_parameter_required(const struct tv_parameters *parameters, const char *name,
                                     struct tv_parameter_bounds bounds, int64_t *value,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Which of `choices` (ended by NULL) the value is; 0 when it was not given. */
enum tv_status tv_parameter_choice(const struct tv_parameters *parameters, const char *name,
                                   const char *const *choices, unsigned *value,
                                   struct tv_error *err) TV_MUST_CHECK;

/* A decimal fraction from 0 to 1, as 0.0005; `otherwise` when it was not given. */
enum tv_status tv_parameter_share(const struct tv_parameters *parameters, const char *name,
                                  double otherwise, double *value,
                                  struct tv_error *err) TV_MUST_CHECK;

/* from, to and tracks. The list of tracks is to be given back with tv_parameter_release_selection.
 */
enum tv_status tv_parameter_selection(const struct tv_parameters *parameters,
                                      const struct tv_trace *trace, struct tv_selection *selection,
                                      struct tv_error *err) TV_MUST_CHECK;
void tv_parameter_release_selection(struct tv_selection *selection);

/* real or cpu, one that the trace has; when it was not given real, or CPU where that is all. */
enum tv_status tv_parameter_clock(const struct tv_parameters *parameters,
                                  const struct tv_trace *trace, enum tv_clocks *clock,
                                  struct tv_error *err) TV_MUST_CHECK;

/* A range cut into pixels: from, to (absent: the whole trace) and pixels (1 to `most`, usually
 * 1600). */
struct tv_view_window {
    tv_ns from, to; /* to > from */
    int64_t pixels;
};
enum tv_status tv_parameter_window(const struct tv_parameters *parameters,
                                   const struct tv_trace *trace, int64_t most,
                                   struct tv_view_window *window,
                                   struct tv_error *err) TV_MUST_CHECK;

/* row and index: a slice that exists. */
enum tv_status tv_parameter_slice(const struct tv_parameters *parameters,
                                  const struct tv_trace *trace, uint32_t *row, uint32_t *index,
                                  struct tv_error *err) TV_MUST_CHECK;

/* What "r5-9,r12,i0,w0" names: rows r, innermost calls i and waits w of tracks; at most `limit` of
 * them. To be given back with tv_free. */
struct tv_tile_row {
    enum tv_tile_kind kind;
    uint32_t of;
};
enum tv_status tv_parameter_rows(const struct tv_parameters *parameters,
                                 const struct tv_trace *trace, uint32_t limit,
                                 struct tv_tile_row **rows, uint32_t *count,
                                 struct tv_error *err) TV_MUST_CHECK;

#endif
