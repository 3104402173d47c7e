/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.h - read the parameters of a question: numbers within bounds, lists of tracks and
 * rows.
 *
 * Nothing trusts them: each getter fails with a message that names the parameter.
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

/* Return the value; its data is NULL if the parameter was not given. */
struct tv_bytes tv_parameter_text(const struct tv_parameters *parameters, const char *name);

/* Read an integer from low to high; `otherwise` if it was not given. */
struct tv_parameter_bounds {
    int64_t low, high;
};
enum tv_status tv_parameter_integer(const struct tv_parameters *parameters, const char *name,
                                    struct tv_parameter_bounds bounds, int64_t otherwise,
                                    int64_t *value, struct tv_error *err) TV_MUST_CHECK;

/* As above, but the parameter is required. */
enum tv_status tv_parameter_required(const struct tv_parameters *parameters, const char *name,
                                     struct tv_parameter_bounds bounds, int64_t *value,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Read a list like "0,3,4": at most `most` numbers below `end`.  `numbers` has room for `most`. */
struct tv_parameter_list {
    const char *name;
    uint32_t most, end;
};
enum tv_status tv_parameter_numbers(const struct tv_parameters *parameters,
                                    struct tv_parameter_list list, uint32_t *numbers,
                                    uint32_t *count, struct tv_error *err) TV_MUST_CHECK;

/* Read one of `choices` (NULL-terminated) as its index; 0 if it was not given. */
enum tv_status tv_parameter_choice(const struct tv_parameters *parameters, const char *name,
                                   const char *const *choices, unsigned *value,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Read 0 or 1; 0 if it was not given. */
enum tv_status tv_parameter_switch(const struct tv_parameters *parameters, const char *name,
                                   bool *on, struct tv_error *err) TV_MUST_CHECK;

/* Read a decimal fraction from 0 to 1, like 0.0005; `otherwise` if it was not given. */
enum tv_status tv_parameter_share(const struct tv_parameters *parameters, const char *name,
                                  double otherwise, double *value,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Read from, to and tracks.  Free the list of tracks with tv_parameter_release_selection. */
enum tv_status tv_parameter_selection(const struct tv_parameters *parameters,
                                      const struct tv_trace *trace, struct tv_selection *selection,
                                      struct tv_error *err) TV_MUST_CHECK;
void tv_parameter_release_selection(struct tv_selection *selection);

/* Read real or cpu, which the trace must have; the default is real, or CPU if that is the only
 * clock. */
enum tv_status tv_parameter_clock(const struct tv_parameters *parameters,
                                  const struct tv_trace *trace, enum tv_clocks *clock,
                                  struct tv_error *err) TV_MUST_CHECK;

/* A range divided into pixels: from, to (default: the whole trace) and pixels (1 to `most`,
 * default 1600). */
struct tv_view_window {
    tv_ns from, to; /* to > from */
    int64_t pixels;
};
enum tv_status tv_parameter_window(const struct tv_parameters *parameters,
                                   const struct tv_trace *trace, int64_t most,
                                   struct tv_view_window *window,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Read row and index of an existing slice. */
enum tv_status tv_parameter_slice(const struct tv_parameters *parameters,
                                  const struct tv_trace *trace, uint32_t *row, uint32_t *index,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Read a list like "r5-9,r12,i0,w0": rows r, innermost calls i and waits w of tracks; at most
 * `limit` items.  Free it with tv_free. */
struct tv_tile_row {
    enum tv_tile_kind kind;
    uint32_t of;
};
enum tv_status tv_parameter_rows(const struct tv_parameters *parameters,
                                 const struct tv_trace *trace, uint32_t limit,
                                 struct tv_tile_row **rows, uint32_t *count,
                                 struct tv_error *err) TV_MUST_CHECK;

#endif
