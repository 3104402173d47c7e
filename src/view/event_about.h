/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_about.h - what is known of any event without reading it: when, where, its name.
 */
#ifndef TV_VIEW_EVENT_ABOUT_H
#define TV_VIEW_EVENT_ABOUT_H

#include "analysis/search/event_lookup.h"
#include "view/state.h"

struct tv_event_about {
    tv_ns time, length;
    uint32_t track, process, frame; /* each may be TV_NONE */
    uint32_t name;                  /* string, where there is no frame */
};

/* Of whatever the place says; it must be of this trace. */
struct tv_event_about tv_event_about(const struct tv_view *view,
                                     const struct tv_event_place *place);

/* kind, a, b, time, length, track, process, frame, name: without brackets; -1 for none, name null
 * where there is a frame. */
void tv_event_about_write(struct tv_out *out, const struct tv_view *view,
                          const struct tv_event_place *place, const struct tv_event_about *about);

#endif
