/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/edit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "readers/json/json.h"

/* What most events fit into; longer ones than the largest were not read in the first place. */
#define FIRST_WANT ((size_t)4096)
#define MOST_WANT ((size_t)128 << 20)

/* False: the event is longer than `want`, or there is none (*status says so). */
static bool te_event_text_try(struct tv_te_event_text *event, struct tv_source *source, uint64_t offset,
                      size_t want, enum tv_status *status, struct tv_error *err)
{
    const uint8_t *end;
    size_t got = 0;
    event->bytes = tv_realloc(event->bytes, want + TV_WINDOW_SLACK, 1);
    *status = tv_source_read(source, offset, event->bytes, want, &got, err);
    if (*status != TV_OK)
        return false;
    memset(event->bytes + got, 0, TV_WINDOW_SLACK);
    enum tv_te_read read =
        tv_te_fields_read(event->bytes, event->bytes + got, &event->fields, &end);
    if (read == TV_TE_CUT && got < want && got > 0)
        read = tv_te_fields_close(event->bytes, event->bytes + got, &event->fields, &end);
    if (read == TV_TE_READ)
        event->object = (struct tv_bytes){event->bytes, (size_t)(end - event->bytes)};
    else if (read != TV_TE_CUT || got < want)
        *status = tv_fail(err, TV_ERR_SYNTAX, offset, "no event here any more: the file changed");
    return read == TV_TE_READ;
}

enum tv_status tv_te_event_text_read(struct tv_te_event_text *event, struct tv_source *source,
                                     uint64_t offset, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (size_t want = FIRST_WANT; want <= MOST_WANT && status == TV_OK; want *= 4)
        if (te_event_text_try(event, source, offset, want, &status, err))
            return TV_OK;
    return status == TV_OK ? tv_fail(err, TV_ERR_LIMIT, offset, "the event is too long") : status;
}

/* ---- Editing ---- */

bool tv_te_rewrite_edit_is_any(const struct tv_te_rewrite_edit *edit)
{
    return edit->phase != 0 || edit->has_ts || edit->has_dur || edit->has_tts || edit->has_tdur ||
           edit->no_flow_out || edit->no_flow_in || edit->around || edit->no_args || edit->bare;
}

static bool te_edit_is_identity(struct tv_bytes key)
{
    static const char *const keys[] = {"name", "cat", "ph", "pid", "tid", "id", "id2", "scope"};
    for (size_t i = 0; i < TV_COUNT(keys); i++)
        if (tv_te_key_is(key, keys[i]))
            return true;
    return false;
}

/* Members that are written behind the others, or not at all. */
static bool te_edit_drops(const struct tv_te_rewrite_edit *edit, struct tv_bytes key)
{
    const struct {
        bool out;
        const char *key;
    } members[] = {
        {edit->phase != 0, "ph"},      {edit->has_ts, "ts"},
        {edit->has_dur, "dur"},        {edit->has_tts, "tts"},
        {edit->has_tdur, "tdur"},      {edit->around, "bp"},
        {edit->no_args, "args"},       {edit->no_flow_out, "flow_out"},
        {edit->no_flow_in, "flow_in"}, {edit->no_flow_out && edit->no_flow_in, "bind_id"},
    };
    for (size_t i = 0; i < TV_COUNT(members); i++)
        if (members[i].out && tv_te_key_is(key, members[i].key))
            return true;
    return edit->bare && !te_edit_is_identity(key);
}

static void te_edit_put_time(struct tv_out *out, const char *key, bool there, tv_ns time)
{
    if (!there)
        return;
    tv_out_format(out, ",\"%s\":", key);
    tv_out_time(out, time, 1000, 3);
}

void tv_te_rewrite_edit_write(struct tv_bytes event, const struct tv_te_rewrite_edit *edit, struct tv_out *out)
{
    struct tv_bytes key, value;
    bool any = edit->phase != 0;
    const uint8_t *at = event.data + 1, *end = event.data + event.length;
    tv_out_char(out, '{');
    if (edit->phase != 0)
        tv_out_format(out, "\"ph\":\"%c\"", edit->phase);
    while (tv_te_member_next(&at, end, &key, &value)) {
        if (te_edit_drops(edit, key))
            continue;
        tv_out_text(out, any ? "," : "");
        any = true;
        /* A key without quotes is a string all the same. */
        if (tv_te_is_string(key))
            tv_json_normalise(key, out, NULL);
        else
            tv_out_json(out, key);
        tv_out_char(out, ':');
        tv_json_normalise(value, out, NULL);
    }
    /* Whoever has a time to change has other members. */
    te_edit_put_time(out, "ts", edit->has_ts, edit->ts);
    te_edit_put_time(out, "dur", edit->has_dur, edit->dur);
    te_edit_put_time(out, "tts", edit->has_tts, edit->tts);
    te_edit_put_time(out, "tdur", edit->has_tdur, edit->tdur);
    if (edit->around)
        tv_out_text(out, ",\"bp\":\"e\"");
    tv_out_char(out, '}');
}
