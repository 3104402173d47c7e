/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event.h - the Trace Event Format: JSON of Chrome, Node, Bazel, clang and many others.
 *
 * The family, from the bytes upwards:
 *     te_scan te_fields te_values       one event's text
 *     te_names te_threads te_counters   what events have in common
 *     te_part                           all that a part of the events says
 *     te_list te_split te_container     the text around events, and reading it in parts
 *     te_metadata trace_event           putting the parts together
 *     te_async te_flows ... te_finish   joining events with others (events.h)
 */
#ifndef TV_READERS_TRACE_EVENT_TRACE_EVENT_H
#define TV_READERS_TRACE_EVENT_TRACE_EVENT_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_trace_event;

#endif
