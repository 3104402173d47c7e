/* SPDX-License-Identifier: Apache-2.0 */
/* profile_kind.h - which profile format in JSON a file has, by its keys. */
#ifndef TV_READERS_JSON_PROFILE_KIND_H
#define TV_READERS_JSON_PROFILE_KIND_H

#include "base/types.h"

enum tv_json_profile {
    TV_JSON_PROFILE_NONE,
    TV_JSON_PROFILE_CPUPROFILE,
    TV_JSON_PROFILE_HEAPPROFILE,
    TV_JSON_PROFILE_SPEEDSCOPE,
    TV_JSON_PROFILE_FIREFOX, /* processed and gecko */
    TV_JSON_PROFILE_OTLP,    /* OpenTelemetry */
    TV_JSON_PROFILE_OTLP_SPANS,
};

/* Return the format of a text that begins like this. */
enum tv_json_profile tv_json_profile_kind(struct tv_bytes prefix);

/* Certainty of a reader that found its keys: no other format has them, but they are no magic
 * number. */
#define TV_JSON_PROFILE_SURE 98

#endif
