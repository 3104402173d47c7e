/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_json.h - a trace as the API shows it (docs/openapi.json, "Trace" and "TraceInList").
 */
#ifndef TV_HUB_TRACE_JSON_H
#define TV_HUB_TRACE_JSON_H

#include "hub/context.h"

/* In a list the facts are left out. */
void tv_trace_write_json(const struct tv_hub *hub, const struct tv_store_trace *trace, bool in_list,
                         struct tv_out *out);

#endif
