/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_sink.h - a sink that makes the method table straight from a reader's events, in one
 * pass and in memory that does not grow with the trace.
 */
#ifndef TV_ANALYSIS_PROFILE_SINK_H
#define TV_ANALYSIS_PROFILE_SINK_H

#include "analysis/profile.h"
#include "model/builder/sink.h"

struct tv_profile_sink;

/* `wanted` says whether a thread counts (NULL: all do); called once a thread. */
struct tv_profile_sink *tv_profile_sink_new(bool (*wanted)(const struct tv_trace_info *head,
                                                           uint32_t thread, void *context),
                                            void *context);
/* What a reader is given. */
struct tv_sink *tv_profile_sink_sink(struct tv_profile_sink *sink);

/* The profile of everything read; the sink is gone. `head` must live as long as the profile. */
struct tv_profile *tv_profile_sink_finish(struct tv_profile_sink *sink, const struct tv_trace_info *head);

/* What walking told besides, for `info` without a model. */
struct tv_walk_facts {
    uint64_t calls, unmatched_exits, open_calls;
    uint32_t max_depth, threads_with_events;
};
/* The facts of what was read so far. */
void tv_profile_sink_facts(const struct tv_profile_sink *sink, struct tv_walk_facts *facts);

#endif
