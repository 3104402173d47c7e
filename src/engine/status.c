/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/status.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "engine/engine.h"

void tv_engine_write_status_end(struct tv_out *out, const char *name)
{
    tv_out_format(
        out, ",\"trace\":%d,\"behind\":false,\"files\":[{\"input\":0,\"name\":", TV_ENGINE_TRACE);
    tv_out_json(out, tv_bytes_of(name));
    tv_out_text(
        out, ",\"bytes\":null}],\"start\":[{\"input\":0,\"offset_ns\":\"0\"}],\"home\":\"../\"}");
}

static void write_error(struct tv_out *out, const struct tv_engine_status *status)
{
    char line[sizeof status->error.message + 32];
    tv_out_text(out, ",\"error\":{\"message\":");
    tv_out_json(out, tv_bytes_of(tv_error_text(&status->error, line, sizeof line)));
    tv_out_format(out, ",\"kind\":\"%s\"", status->kind);
    if (status->error.offset != TV_NO_OFFSET)
        tv_out_format(out, ",\"offset\":%" PRIu64, status->error.offset);
    tv_out_char(out, '}');
}

void tv_engine_write_status(struct tv_out *out, const struct tv_engine_status *status,
                            const char *name)
{
    bool over = status->state == TV_ENGINE_FAILED || status->state == TV_ENGINE_DIED;
    tv_out_format(out, "{\"state\":\"%s\",\"name\":", over ? "error" : "loading");
    tv_out_json(out, tv_bytes_of(name));
    tv_out_format(out, ",\"bytes\":%" PRIu64 ",\"total_bytes\":%" PRIu64 ",\"records\":%" PRIu64,
                  status->bytes, status->total_bytes, status->records);
    tv_out_text(out, ",\"inputs\":[{\"input\":0,\"name\":");
    tv_out_json(out, tv_bytes_of(name));
    tv_out_text(out, ",\"offset_ns\":\"0\"}]");
    if (over)
        write_error(out, status);
    tv_engine_write_status_end(out, name);
}

void tv_engine_write_refusal(struct tv_out *out, const char *sentence)
{
    tv_out_text(out, "{\"error\":");
    tv_out_json(out, tv_bytes_of(sentence));
    tv_out_char(out, '}');
}
