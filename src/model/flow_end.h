/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_end.h - what a flow touches, a slice or an instant, and whose that is.
 */
#ifndef TV_MODEL_FLOW_END_H
#define TV_MODEL_FLOW_END_H

#include "model/trace.h"

static inline bool tv_flow_end_is_instant(const struct tv_flow_end *end)
{
    return end->row == TV_NONE;
}

/* The name of the slice or instant. */
uint32_t tv_flow_end_frame(const struct tv_trace *trace, const struct tv_flow_end *end);

/* TV_NONE: an instant, which lies on none. */
uint32_t tv_flow_end_track(const struct tv_trace *trace, const struct tv_flow_end *end);

/* TV_NONE: its track is of no thread. */
uint32_t tv_flow_end_thread(const struct tv_trace *trace, const struct tv_flow_end *end);

#endif
