/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filtered.h - the views of what filters leave of a trace, each made when it is first asked for.
 *
 * The last few are kept, as long as they hold no more slices together than the whole trace.
 */
#ifndef TV_VIEW_FILTERED_H
#define TV_VIEW_FILTERED_H

#include "view/state.h"

struct tv_filtered_views;

struct tv_filtered_views *tv_filtered_views_new(const struct tv_view *whole);
void tv_filtered_views_free(struct tv_filtered_views *views);

/* One of them, which nobody gives up before tv_filtered_leave. */
struct tv_filtered;

/* The view of a filter.  Who asks for one that is being made waits for it.  TV_ERR_USAGE: the
 * filter is wrong, at character err->offset (from 1) of it. */
enum tv_status tv_filtered_enter(struct tv_filtered_views *views, struct tv_bytes text,
                                 struct tv_filtered **filtered, struct tv_error *err) TV_MUST_CHECK;
void tv_filtered_leave(struct tv_filtered_views *views, struct tv_filtered *filtered);

/* Until then. */
const struct tv_view *tv_filtered_view(const struct tv_filtered *filtered);

#endif
