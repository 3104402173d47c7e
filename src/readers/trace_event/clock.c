/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - marks that put the clocks of several inputs against each other: phase c, and the old
 * "ClockSyncEvent.<id>" of Chrome (trace-event.md section 3.12).
 *
 * What marks of two inputs mean together is found out when all inputs are there (model/clocks.h).
 */
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/ids.h"

static void te_clock_add_sync(struct tv_te_context *context, const struct tv_te_deferred *event,
                     struct tv_bytes id, int64_t asked)
{
    struct tv_clock_sync *mark = tv_table_add(&context->trace->tables.clock_syncs);
    mark->time = event->time;
    mark->asked = asked < event->time ? asked : event->time;
    mark->offset = event->offset;
    mark->id = tv_head_string(context->trace->head, id);
    mark->input = context->input;
}

static void te_clock_read_sync(struct tv_te_context *context, const struct tv_te_deferred *event)
{
    struct tv_te_fields fields;
    int64_t asked;
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    struct tv_bytes id = tv_te_member(fields.args, "sync_id");
    if (id.data == NULL) {
        tv_te_warn(context, TV_DIAGNOSTIC_CLOCK_NO_ID, event->offset);
        return;
    }
    if (!tv_te_parse_time(tv_te_member(fields.args, "issue_ts"), &asked))
        asked = event->time;
    te_clock_add_sync(context, event, tv_te_decode_text(id, &context->scratch), asked);
}

/* "ClockSyncEvent.<id>": S when Chrome asked, F when it had the answer. */
static bool te_clock_is_legacy_sync(const struct tv_te_context *context, const struct tv_te_deferred *event,
                        struct tv_bytes *id)
{
    static const struct tv_bytes prefix = {(const uint8_t *)"ClockSyncEvent.", 15};
    const struct tv_head *head = context->trace->head;
    *id = tv_head_text(head, head->frames[event->frame].name);
    if (!tv_bytes_starts_with(*id, prefix))
        return false;
    id->data += prefix.length;
    id->length -= prefix.length;
    return true;
}

static void te_clock_read_syncs(struct tv_te_context *context)
{
    struct tv_bytes asked_id = {NULL, 0}, id;
    int64_t asked = 0;
    if (tv_te_count_deferred(context, "cSF") == 0)
        return;
    for (size_t i = 0; i < context->deferred_count; i++) {
        const struct tv_te_deferred *event = &context->deferred[i];
        if (event->phase == 'c') {
            te_clock_read_sync(context, event);
        } else if (event->phase == 'S' && te_clock_is_legacy_sync(context, event, &id)) {
            asked_id = id;
            asked = event->time;
        } else if (event->phase == 'F' && te_clock_is_legacy_sync(context, event, &id)) {
            bool same = asked_id.data != NULL && tv_bytes_equal(id, asked_id);
            if (!same)
                tv_te_warn(context, TV_DIAGNOSTIC_CLOCK_NO_ID, event->offset);
            te_clock_add_sync(context, event, id, same ? asked : event->time);
        }
    }
}

/* The clock that the input names in its metadata. */
static void te_clock_read_domain(struct tv_te_context *context)
{
    struct tv_head *head = context->trace->head;
    struct tv_bytes metadata = tv_head_find_metadata(head, context->input, "metadata");
    if (metadata.data == NULL)
        return;
    /* Reading JSON wants room behind the text. */
    uint8_t *copy = tv_alloc(metadata.length + TV_WINDOW_SLACK, 1);
    memcpy(copy, metadata.data, metadata.length);
    struct tv_bytes name = tv_te_member((struct tv_bytes){copy, metadata.length}, "clock-domain");
    if (name.data != NULL)
        head->inputs[context->input].clock =
            tv_head_string(head, tv_te_decode_text(name, &context->scratch));
    tv_free(copy);
}

void tv_te_clock_read(struct tv_te_context *context)
{
    te_clock_read_syncs(context);
    te_clock_read_domain(context);
}
