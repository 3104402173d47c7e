/* SPDX-License-Identifier: Apache-2.0 */
#include "server/session.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/sketch.h"
#include "view/view.h"

struct tv_session {
    char *name;
    struct tv_loader loader;
    struct tv_progress progress;
    /* Written before the state, read after it. */
    struct tv_trace *trace;
    struct tv_view *view;
    struct tv_error error;
    _Atomic int state; /* enum tv_session_state */
};

struct tv_session *tv_session_new(const char *name, const struct tv_loader *loader)
{
    struct tv_session *session = tv_alloc(1, sizeof *session);
    size_t size = strlen(name) + 1;
    session->name = memcpy(tv_alloc(size, 1), name, size);
    session->loader = *loader;
    session->progress.sketch = tv_sketch_new();
    return session;
}

void tv_session_free(struct tv_session *session)
{
    if (session == NULL)
        return;
    tv_view_free(session->view);
    tv_trace_free(session->trace);
    tv_sketch_free(session->progress.sketch);
    tv_free(session->name);
    tv_free(session);
}

enum tv_session_state tv_session_load(struct tv_session *session)
{
    enum tv_session_state state = TV_SESSION_FAILED;
    if (session->loader.load(session->loader.context, &session->progress, &session->trace,
                             &session->error) == TV_OK) {
        session->view = tv_view_new(session->trace);
        state = TV_SESSION_READY;
    }
    atomic_store_explicit(&session->state, state, memory_order_release);
    return state;
}

void tv_session_cancel(struct tv_session *session)
{
    atomic_store(&session->progress.cancel, true);
}

enum tv_session_state tv_session_state(const struct tv_session *session)
{
    return (enum tv_session_state)atomic_load_explicit(&session->state, memory_order_acquire);
}

const struct tv_view *tv_session_view(const struct tv_session *session)
{
    return tv_session_state(session) == TV_SESSION_READY ? session->view : NULL;
}

const struct tv_error *tv_session_error(const struct tv_session *session)
{
    return tv_session_state(session) == TV_SESSION_FAILED ? &session->error : NULL;
}

static void write_error(struct tv_out *out, const struct tv_error *error)
{
    char line[sizeof error->message + 32];
    tv_out_text(out, ",\"error\":{\"message\":");
    tv_out_json(out, tv_bytes_of(tv_error_text(error, line, sizeof line)));
    if (error->offset != TV_NO_OFFSET)
        tv_out_format(out, ",\"offset\":%" PRIu64, error->offset);
    tv_out_char(out, '}');
}

static void write_sketch(struct tv_out *out, struct tv_sketch *sketch)
{
    struct tv_sketch_shown *shown = tv_alloc(1, sizeof *shown);
    tv_sketch_show(sketch, shown);
    if (shown->track_count > 0)
        tv_out_format(out, ",\"sketch\":{\"length_ns\":%" PRId64 ",\"tracks\":[", shown->length);
    for (uint32_t i = 0; i < shown->track_count; i++) {
        tv_out_text(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        tv_out_json(out, tv_bytes_of(shown->names[i]));
        for (uint32_t j = 0; j < TV_SKETCH_BUCKETS; j++)
            tv_out_format(out, j > 0 ? ",%u" : ",\"heights\":[%u", (unsigned)shown->heights[i][j]);
        tv_out_text(out, "]}");
    }
    if (shown->track_count > 0)
        tv_out_text(out, "]}");
    tv_free(shown);
}

void tv_session_write_status(const struct tv_session *session, struct tv_out *out)
{
    static const char *const names[] = {"loading", "ready", "error"};
    tv_out_format(out, "{\"state\":\"%s\",\"name\":", names[tv_session_state(session)]);
    tv_out_json(out, tv_bytes_of(session->name));
    struct tv_progress_shown shown = tv_progress_show(&session->progress);
    tv_out_format(out, ",\"bytes\":%" PRIu64 ",\"total_bytes\":%" PRIu64 ",\"records\":%" PRIu64,
                  shown.bytes, shown.total_bytes, shown.records);
    const struct tv_error *error = tv_session_error(session);
    if (error != NULL)
        write_error(out, error);
    if (tv_session_state(session) == TV_SESSION_LOADING)
        write_sketch(out, session->progress.sketch);
    tv_out_char(out, '}');
}
