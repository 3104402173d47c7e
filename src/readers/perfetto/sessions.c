/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.c - other recordings that ran beside this one: ConcurrentSessionEvent {1 state,
 * 2 session_name, 3 session_id}.
 *
 * Each session is a track of its states.  A session that is disabled has no further state, so that
 * this one has no length.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/perfetto/field_names.h"
#include "readers/perfetto/reading.h"

enum { DISABLED = 1, CLONED = 5 };

/* Uuids of tracks are random: one of a session does not meet them. */
#define SESSION_UUID UINT64_C(0x7365737369000000)

/* Return the track of a session, which is named after the session when that is first told. */
static uint32_t pf_session_track(struct tv_pf_reading *reading, struct tv_bytes event,
                                 uint64_t state)
{
    char text[160];
    struct tv_bytes name = tv_pf_find(event, 2).bytes;
    uint64_t id = tv_pf_find(event, 3).value;
    uint32_t number = tv_pf_find_track(reading, SESSION_UUID ^ tv_hash_u64(id) >> 8);
    struct tv_pf_track *track = &reading->tracks.rows[number];
    if (track->described)
        return number;
    int length =
        name.length > 0
            ? snprintf(text, sizeof text, "%.*s%s", (int)(name.length < 120 ? name.length : 120),
                       (const char *)name.data, state == CLONED ? " (clone)" : "")
            : snprintf(text, sizeof text, "Session %" PRIu64, id);
    track->name = tv_pf_text(reading, (struct tv_bytes){(uint8_t *)text, (size_t)length});
    track->described = track->is_state = true;
    return number;
}

void tv_pf_take_session(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                        struct tv_bytes event)
{
    uint64_t state = tv_pf_find(event, 1).value;
    uint32_t message = tv_pf_find_message("ConcurrentSessionEvent");
    const struct tv_pf_member *member = tv_pf_find_member(message, 1);
    const char *name = member ? tv_pf_enum_name(member->of, (int32_t)state) : NULL;
    struct tv_pf_track_event row = {
        .time = packet->time,
        .offset = packet->offset & TV_OFFSET_MASK,
        .track = pf_session_track(reading, event, state),
        .named = 1,
    };
    if (name && strncmp(name, "STATE_", 6) == 0)
        name += 6;
    row.frame = tv_ft_chunk_frame(reading->chunk, tv_bytes_of(name ? name : "of another kind"),
                                  "concurrent_tracing_sessions");
    tv_ft_chunk_note(reading->chunk, row.time);
    row.kind = TV_PF_STATE;
    *tv_table_add(&reading->track_events) = row;
    if (state == DISABLED) {
        row.kind = TV_PF_END;
        *tv_table_add(&reading->track_events) = row;
    }
}
