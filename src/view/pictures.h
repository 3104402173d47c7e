/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pictures.h - what flame graphs of calls and of samples share.
 */
#ifndef TV_VIEW_PICTURES_H
#define TV_VIEW_PICTURES_H

#include "analysis/flame.h"
#include "base/out.h"
#include "view/parameters.h"

/* order, inverted, root and min; the clock stays as it is. */
enum tv_status tv_view_flame_layout(const struct tv_parameters *parameters,
                                    struct tv_flame_options *options,
                                    struct tv_error *err) TV_MUST_CHECK;

/* What samples can be measured by, as in enum tv_sample_measure; ended by NULL. */
extern const char *const tv_view_measures[4];

/* The binary answer of a layout. */
void tv_view_write_flame(struct tv_out *out, const struct tv_flame *flame);

#endif
