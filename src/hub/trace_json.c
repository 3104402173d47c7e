/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/trace_json.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "hub/iso_time.h"
#include "hub/reading.h"

static void write_text(struct tv_out *out, const char *name, const char *text)
{
    tv_out_format(out, ",\"%s\":", name);
    if (text != NULL)
        tv_out_json(out, tv_bytes_of(text));
    else
        tv_out_text(out, "null");
}

static void write_time(struct tv_out *out, const char *name, int64_t ms)
{
    char text[TV_ISO_TIME];
    write_text(out, name, ms == TV_STORE_NEVER ? NULL : tv_iso_time(ms / 1000, text));
}

static void write_texts(struct tv_out *out, const char *name, const char *const *texts,
                        size_t count)
{
    tv_out_format(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            tv_out_char(out, ',');
        tv_out_json(out, tv_bytes_of(texts[i]));
    }
    tv_out_char(out, ']');
}

static void write_error(struct tv_out *out, const struct tv_store_trace *trace)
{
    tv_out_text(out, ",\"error\":");
    if (trace->error == NULL) {
        tv_out_text(out, "null");
        return;
    }
    tv_out_text(out, "{\"message\":");
    tv_out_json(out, tv_bytes_of(trace->error));
    if (trace->error_offset != TV_NO_OFFSET)
        tv_out_format(out, ",\"offset\":%" PRIu64, trace->error_offset);
    else
        tv_out_text(out, ",\"offset\":null");
    write_text(out, "remedy", trace->remedy);
    tv_out_char(out, '}');
}

static void write_state(const struct tv_hub *hub, const struct tv_store_trace *trace,
                        struct tv_out *out)
{
    static const char *const names[] = {
        [TV_STORE_WAITING] = "waiting",
        [TV_STORE_READING] = "reading",
        [TV_STORE_READY] = "ready",
        [TV_STORE_UNREADABLE] = "failed",
    };
    double progress = -1;
    write_text(out, "state", names[trace->state]);
    if (trace->state == TV_STORE_READING)
        progress = tv_reading_progress(hub->reading, trace->id.text);
    if (progress >= 0)
        tv_out_format(out, ",\"progress\":%.3f", progress);
    else
        tv_out_text(out, ",\"progress\":null");
    write_error(out, trace);
}

static void write_figures(const struct tv_store_trace *trace, struct tv_out *out)
{
    write_text(out, "format", trace->format);
    write_text(out, "version", trace->version);
    if (trace->length_ns >= 0)
        tv_out_format(out, ",\"length_ns\":%" PRId64, trace->length_ns);
    else
        tv_out_text(out, ",\"length_ns\":null");
    tv_out_format(out, ",\"events\":%" PRIu64 ",\"calls\":%" PRIu64, trace->events, trace->calls);
    tv_out_format(out, ",\"warnings\":%" PRIu32 ",\"finding_count\":%" PRIu32, trace->warnings,
                  trace->findings);
    write_time(out, "recorded", trace->recorded_ms);
    write_texts(out, "processes", trace->processes, trace->process_count);
}

/* The members of the object that the facts are (found.h). */
static void write_lists(struct tv_bytes facts, struct tv_out *out)
{
    if (facts.length <= 2)
        facts = TV_BYTES("{\"threads\":[],\"health\":[],\"findings\":[]}");
    tv_out_char(out, ',');
    tv_out_bytes(out, (struct tv_bytes){facts.data + 1, facts.length - 2});
}

void tv_trace_write_json(const struct tv_hub *hub, const struct tv_store_trace *trace, bool in_list,
                         struct tv_out *out)
{
    tv_out_format(out, "{\"id\":\"%s\"", trace->id.text);
    write_text(out, "name", trace->name);
    tv_out_format(out, ",\"bytes\":%" PRIu64, trace->bytes);
    write_time(out, "uploaded", trace->uploaded_ms);
    write_time(out, "expires", trace->expires_ms);
    tv_out_format(out, ",\"pinned\":%s", trace->pinned ? "true" : "false");
    write_text(out, "note", trace->note);
    write_texts(out, "labels", trace->labels, trace->label_count);
    write_state(hub, trace, out);
    write_figures(trace, out);
    if (!in_list) {
        write_lists(trace->facts, out);
    }
    tv_out_char(out, '}');
}
