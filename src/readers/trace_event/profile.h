/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - CPU profiles of V8 among the samples: events named Profile and ProfileChunk.
 *
 * A profile begins with an event that tells its start; chunks add nodes of its call tree, and
 * samples: which node, and how long after the sample before.  Samples belong to the thread of the
 * event that began the profile, not to those of the chunks.
 */
#ifndef TV_READERS_TRACE_EVENT_PROFILE_H
#define TV_READERS_TRACE_EVENT_PROFILE_H

#include "readers/trace_event/events.h"

struct tv_te_profiles;

struct tv_te_profiles *tv_te_profiles_new(struct tv_te_context *context);
void tv_te_profiles_free(struct tv_te_profiles *profiles);

/* Looks for the beginnings of all profiles: they may stand behind their chunks. */
void tv_te_profiles_begin(struct tv_te_profiles *profiles);

/* Takes an event of phase P if it is of a profile, which its name and an id say; false: it is not.
 */
bool tv_te_profiles_take(struct tv_te_profiles *profiles, const struct tv_te_deferred *event,
                         const struct tv_te_fields *fields);

#endif
