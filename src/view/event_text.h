/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_text.h - what an event of a file says, read again, for who searches in it.
 */
#ifndef TV_VIEW_EVENT_TEXT_H
#define TV_VIEW_EVENT_TEXT_H

#include "analysis/search/text_search.h"
#include "analysis/search/event_lookup.h"
#include "base/out.h"

/* Return true when an event has the needle in a key or a value of its arguments, and add an excerpt
 * around the first match to `out` as a JSON string ("key: ... value ...").  Adds to *read the bytes
 * of text that this took: an event with a deep stack has many.  A slice whose end is
 * an event as well has the arguments of both; it matches at the end only if the beginning alone
 * does not, so that it is found once. */
bool tv_event_text_match(const struct tv_trace *trace, uint32_t input,
                         const struct tv_event_place *place, const struct tv_text_search *needle,
                         struct tv_out *out, uint64_t *read);

#endif
