/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - the life of one trace: loading, then ready or failed (session.h).
 *
 *     EMPTY      LOADING ------------> READY     trace and view can be asked
 *     (no        |  progress, sketch
 *     session)   '-------------------> FAILED    the error, with the bytes around it
 *
 * The trace, the view and the error are written by the loading thread before it
 * sets `state` (release); all others read `state` first (acquire).  After that,
 * nothing of them changes.  So no lock is needed, and a question never sees a
 * part of a trace.
 *
 * While loading, other threads read only the progress and the sketch, which are
 * made for that.
 */
#include "view/session.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"
#include "model/sketch.h"
#include "model/trace.h"
#include "view/view.h"

/* Bytes: after reading this much, the file is a readable trace. */
#define WELL_READ ((uint64_t)8 << 20)

struct session_input {
    struct tv_session_input is; /* the source is NULL once loading begins */
    char *name;
};

struct tv_session {
    struct session_input *inputs;
    size_t count;
    struct tv_loader loader;
    struct tv_progress progress;
    /* Written before `state`, read after it. */
    struct tv_trace *trace;
    struct tv_view *view;
    struct tv_error error;
    _Atomic int state; /* enum tv_session_state */
};

struct tv_session *tv_session_new(const struct tv_loader *loader,
                                  const struct tv_session_input *inputs, const char *const *names,
                                  size_t count)
{
    struct tv_session *session = tv_alloc(1, sizeof *session);
    session->inputs = tv_alloc(count, sizeof *session->inputs);
    session->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(names[i]) + 1;
        session->inputs[i] =
            (struct session_input){inputs[i], memcpy(tv_alloc(size, 1), names[i], size)};
    }
    session->loader = *loader;
    session->progress.sketch = tv_sketch_new();
    atomic_store(&session->state, TV_SESSION_LOADING);
    return session;
}

void tv_session_free(struct tv_session *session)
{
    if (session == NULL)
        return;
    tv_view_free(session->view);
    tv_trace_free(session->trace);
    tv_sketch_free(session->progress.sketch);
    for (size_t i = 0; i < session->count; i++) {
        if (session->inputs[i].is.source != NULL)
            tv_source_free(session->inputs[i].is.source);
        tv_free(session->inputs[i].name);
    }
    tv_free(session->inputs);
    tv_free(session);
}

/* Hand the sources to the loader.  The loader takes ownership of the sources,
 * also when it fails: they are forgotten here before it is called. */
static enum tv_status session_load_trace(struct tv_session *session)
{
    assert(tv_session_state(session) == TV_SESSION_LOADING);
    struct tv_session_input *inputs = tv_alloc(session->count, sizeof *inputs);
    for (size_t i = 0; i < session->count; i++) {
        inputs[i] = session->inputs[i].is;
        session->inputs[i].is.source = NULL;
    }
    enum tv_status status =
        session->loader.load(session->loader.context, inputs, session->count, &session->progress,
                             &session->trace, &session->error);
    tv_free(inputs);
    return status;
}

enum tv_session_state tv_session_load(struct tv_session *session)
{
    enum tv_session_state state = TV_SESSION_FAILED;
    if (session_load_trace(session) == TV_OK) {
        session->view = tv_view_new(session->trace);
        tv_view_set_reporter(session->view, session->loader.reporter);
        state = TV_SESSION_READY;
    }
    atomic_store_explicit(&session->state, state, memory_order_release);
    return state;
}

void tv_session_show(const struct tv_session *session)
{
    if (session->loader.shown && tv_session_state(session) == TV_SESSION_READY)
        session->loader.shown(session->loader.context, session->trace, session->view);
}

void tv_session_cancel(struct tv_session *session)
{
    atomic_store(&session->progress.cancel, true);
}

enum tv_session_state tv_session_state(const struct tv_session *session)
{
    return (enum tv_session_state)atomic_load_explicit(&session->state, memory_order_acquire);
}

/* WELL_READ bytes of a file without a sketch still mean that it is a trace;
 * while a packed file is unpacked, bytes say nothing. */
bool tv_session_is_sketched(const struct tv_session *session)
{
    return tv_sketch_any(session->progress.sketch) ||
           (atomic_load(&session->progress.bytes) >= WELL_READ &&
            !atomic_load(&session->progress.unpacking));
}

struct tv_progress_shown tv_session_progress(const struct tv_session *session)
{
    return tv_progress_show(&session->progress);
}

bool tv_session_is_unpacking(const struct tv_session *session)
{
    return tv_session_state(session) == TV_SESSION_LOADING &&
           atomic_load(&session->progress.unpacking);
}

const struct tv_trace *tv_session_trace(const struct tv_session *session)
{
    assert(tv_session_state(session) == TV_SESSION_READY);
    return session->trace;
}

const struct tv_view *tv_session_view(const struct tv_session *session)
{
    return tv_session_state(session) == TV_SESSION_READY ? session->view : NULL;
}

const struct tv_error *tv_session_error(const struct tv_session *session)
{
    return tv_session_state(session) == TV_SESSION_FAILED ? &session->error : NULL;
}

bool tv_session_has(const struct tv_session *session, uint32_t number)
{
    for (size_t i = 0; i < session->count; i++)
        if (session->inputs[i].is.number == number)
            return true;
    return false;
}

/* The page chooses its advice by these words (docs/view-protocol.md). */
const char *tv_session_error_kind(enum tv_status status)
{
    switch (status) {
    case TV_ERR_IO:
        return "io";
    case TV_ERR_SYNTAX:
        return "syntax";
    case TV_ERR_UNSUPPORTED:
        return "unsupported";
    case TV_ERR_LIMIT:
        return "limit";
    case TV_ERR_USAGE:
        return "usage";
    default:
        return "other";
    }
}

/* Write the error with its place and the bytes around it. */
static void session_write_error(struct tv_out *out, const struct tv_error *error)
{
    char line[sizeof error->message + 32];
    tv_out_text(out, ",\"error\":{\"message\":");
    tv_out_json(out, tv_bytes_of(tv_error_text(error, line, sizeof line)));
    tv_out_format(out, ",\"kind\":\"%s\"", tv_session_error_kind(error->status));
    if (error->offset != TV_NO_OFFSET)
        tv_out_format(out, ",\"offset\":%" PRIu64, error->offset);
    if (error->quoted > 0)
        tv_out_format(out, ",\"quoted_at\":%" PRIu64 ",\"quote\":\"", error->quoted_at);
    for (uint32_t i = 0; i < error->quoted; i++)
        tv_out_format(out, "%02x%s", error->quote[i], i + 1 == error->quoted ? "\"" : "");
    tv_out_char(out, '}');
}

/* Write the sketch of a trace that is being loaded. */
static void session_write_sketch(struct tv_out *out, struct tv_sketch *sketch)
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

/* "app.trace and 2 more" */
static void session_write_name(const struct tv_session *session, struct tv_out *out)
{
    char name[512] = "";
    if (session->count > 1)
        snprintf(name, sizeof name, "%s and %zu more", session->inputs[0].name, session->count - 1);
    else if (session->count == 1)
        snprintf(name, sizeof name, "%s", session->inputs[0].name);
    tv_out_text(out, ",\"name\":");
    tv_out_json(out, tv_bytes_of(name));
}

/* Offsets are written as strings: a JavaScript number does not hold 19 digits. */
static void session_write_inputs(const struct tv_session *session, struct tv_out *out)
{
    tv_out_text(out, ",\"inputs\":[");
    for (size_t i = 0; i < session->count; i++) {
        const struct session_input *input = &session->inputs[i];
        tv_out_format(out, "%s{\"input\":%" PRIu32 ",\"name\":", i > 0 ? "," : "",
                      input->is.number);
        tv_out_json(out, tv_bytes_of(input->name));
        tv_out_format(out, ",\"offset_ns\":\"%" PRId64 "\"}", input->is.offset);
    }
    tv_out_char(out, ']');
}

void tv_session_write_status(const struct tv_session *session, struct tv_out *out)
{
    static const char *const names[] = {"empty", "loading", "ready", "error"};
    enum tv_session_state state = tv_session_state(session);
    struct tv_progress_shown shown = tv_session_progress(session);
    tv_out_format(out, "\"state\":\"%s\"", names[state]);
    session_write_name(session, out);
    tv_out_format(out, ",\"bytes\":%" PRIu64 ",\"total_bytes\":%" PRIu64 ",\"records\":%" PRIu64,
                  shown.bytes, shown.total_bytes, shown.records);
    if (tv_session_is_unpacking(session))
        tv_out_text(out, ",\"unpacking\":true");
    if (state == TV_SESSION_LOADING && atomic_load(&session->progress.joining))
        tv_out_text(out, ",\"joining\":true");
    if (state == TV_SESSION_READY && session->trace->sections)
        tv_out_text(out, ",\"cached\":true");
    if (session->loader.reporter)
        tv_out_text(out, ",\"reports\":true");
    session_write_inputs(session, out);
    if (state == TV_SESSION_FAILED)
        session_write_error(out, &session->error);
    if (state == TV_SESSION_LOADING)
        session_write_sketch(out, session->progress.sketch);
}
