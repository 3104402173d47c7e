/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the order in which a screen shows the tracks.
 */
#ifndef TV_VIEW_ORDER_H
#define TV_VIEW_ORDER_H

#include "view/state.h"

/* Fills view->tracks.  Of method traces the busiest track comes first; of other formats the order
 * is that of trace-event.md section 3.10: processes, in them threads, each by sort index, then
 * those with a name, by name, then by id; overflow and async tracks behind their thread, async
 * tracks of a whole process behind its threads. */
void tv_view_order_tracks(struct tv_view *view);

/* Where the order is that of processes and threads: theirs, as members of an object.  Those without
 * tracks have a place as well: other things of theirs are shown. */
void tv_view_write_order(const struct tv_view *view, struct tv_out *out);

#endif
