/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_traces.c - the trace that is shown, and the one that loads to replace it.
 *
 *     next ---- ready ----> open
 *       \---- failed or cancelled: dropped, `open` stays
 *
 * The open trace stays until the next one is completely loaded, so a user who cancels a loading is
 * back where he was. Whoever looks first after a loading has ended moves `next` to `open`: when the
 * status says "ready", questions are answered about the new trace.
 *
 * A session has a reference count: one for its slot, one for each question in progress, one for the
 * thread that loads it. The last one to let go frees the session, outside the lock, because freeing
 * a large trace takes long.
 */
#include "viewer/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"
#include "base/workers.h"

/* A session and the number of its trace. */
struct open_trace_slot {
    struct tv_session *session; /* NULL: empty */
    uint32_t trace;
};

/* The reference count of a session. */
struct open_trace_ref {
    struct tv_session *session;
    uint32_t holders;
};

struct tv_open_traces {
    struct tv_loader loader;
    void (*ended)(void *context, enum tv_session_state state, const struct tv_error *error);
    void *context;
    struct tv_uploaded_files *files;
    struct tv_open_files own;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* no loading thread is left */
    struct open_trace_slot open, next;
    struct open_trace_ref *holds;
    size_t hold_count, hold_capacity;
    uint32_t loadings, last_trace;
};

/* The argument of a loading thread. */
struct open_trace_loading {
    struct tv_open_traces *traces;
    struct tv_session *session;
};

struct tv_open_traces *tv_open_traces_new(const struct tv_open_traces_options *options)
{
    struct tv_open_traces *traces = tv_alloc(1, sizeof *traces);
    pthread_condattr_t attributes;
    traces->loader = options->loader;
    traces->ended = options->ended;
    traces->context = options->context;
    traces->files = tv_uploaded_files_new();
    for (size_t i = 0; i < options->file_count; i++) {
        tv_uploaded_files_add_own(traces->files, options->files[i].name);
        if (i >= TV_OPEN_INPUTS)
            continue;
        traces->own.numbers[i] = (uint32_t)i;
        traces->own.offsets[i] = options->files[i].offset;
        traces->own.count++;
    }
    pthread_mutex_init(&traces->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&traces->idle, &attributes);
    pthread_condattr_destroy(&attributes);
    return traces;
}

struct tv_uploaded_files *tv_open_traces_files(struct tv_open_traces *traces)
{
    return traces->files;
}

/* ---- References; all functions run under the lock ---- */

static struct open_trace_ref *open_traces_find_ref(struct tv_open_traces *traces,
                                                   const struct tv_session *session)
{
    size_t i = 0;
    while (i < traces->hold_count && traces->holds[i].session != session)
        i++;
    return i < traces->hold_count ? &traces->holds[i] : NULL;
}

static void open_traces_add_ref(struct tv_open_traces *traces, struct tv_session *session)
{
    struct open_trace_ref *found = open_traces_find_ref(traces, session);
    if (!found) {
        traces->holds = tv_array_reserve(traces->holds, &traces->hold_capacity,
                                         traces->hold_count + 1, sizeof *traces->holds);
        found = &traces->holds[traces->hold_count++];
        *found = (struct open_trace_ref){session, 0};
    }
    found->holders++;
}

/* Drop a reference. Return the session if it was the last one: to be freed without the lock. */
static struct tv_session *open_traces_drop_ref(struct tv_open_traces *traces,
                                               struct tv_session *session)
{
    struct open_trace_ref *found = session ? open_traces_find_ref(traces, session) : NULL;
    if (!found || --found->holders > 0)
        return NULL;
    *found = traces->holds[--traces->hold_count];
    return session;
}

/* Move a ready trace from `next` to `open`. Return the session that must be freed, or NULL. */
static struct tv_session *open_traces_swap_in(struct tv_open_traces *traces)
{
    struct tv_session *old = traces->open.session;
    if (!traces->next.session || tv_session_state(traces->next.session) != TV_SESSION_READY)
        return NULL;
    traces->open = traces->next;
    traces->next.session = NULL;
    return open_traces_drop_ref(traces, old);
}

struct tv_session *tv_open_traces_acquire(struct tv_open_traces *traces, uint32_t *trace)
{
    pthread_mutex_lock(&traces->lock);
    struct tv_session *left = open_traces_swap_in(traces);
    struct tv_session *session = traces->open.session;
    *trace = traces->open.trace;
    if (session)
        open_traces_add_ref(traces, session);
    pthread_mutex_unlock(&traces->lock);
    tv_session_free(left);
    return session;
}

void tv_open_traces_release(struct tv_open_traces *traces, struct tv_session *session)
{
    pthread_mutex_lock(&traces->lock);
    struct tv_session *left = open_traces_drop_ref(traces, session);
    pthread_mutex_unlock(&traces->lock);
    tv_session_free(left);
}

/* ---- Loading ---- */

/* Report the end of a loading. The last statement of a loading thread, because `traces` may be
 * freed right after it. */
static void open_traces_end_loading(struct tv_open_traces *traces, struct tv_session *session)
{
    pthread_mutex_lock(&traces->lock);
    struct tv_session *old = open_traces_swap_in(traces);
    bool wanted = traces->open.session == session || traces->next.session == session;
    pthread_mutex_unlock(&traces->lock);
    traces->ended(traces->context, wanted ? tv_session_state(session) : TV_SESSION_EMPTY,
                  wanted ? tv_session_error(session) : NULL);
    tv_session_free(old);
    tv_session_show(session);
    tv_open_traces_release(traces, session);
    pthread_mutex_lock(&traces->lock);
    if (--traces->loadings == 0)
        pthread_cond_broadcast(&traces->idle);
    pthread_mutex_unlock(&traces->lock);
}

static void *open_traces_run_loading(void *context)
{
    struct open_trace_loading loading = *(struct open_trace_loading *)context;
    tv_free(context);
    tv_session_load(loading.session);
    open_traces_end_loading(loading.traces, loading.session);
    return NULL;
}

/* Start a thread that loads the session. Runs under the lock. */
static enum tv_status open_traces_begin_loading(struct tv_open_traces *traces,
                                                struct tv_session *session, struct tv_error *err)
{
    assert(open_traces_find_ref(traces, session) == NULL);
    pthread_t thread;
    struct open_trace_loading *loading = tv_alloc(1, sizeof *loading);
    *loading = (struct open_trace_loading){traces, session};
    int error = tv_thread_start(&thread, TV_THREAD_STACK, open_traces_run_loading, loading);
    if (error != 0) {
        tv_free(loading);
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread: %s", strerror(error));
    }
    pthread_detach(thread);
    traces->loadings++;
    open_traces_add_ref(traces, session); /* of the thread */
    open_traces_add_ref(traces, session); /* of the slot */
    return TV_OK;
}

/* Drop the files that neither the open trace nor `spare` uses. */
static void open_traces_drop_files(struct tv_open_traces *traces, const struct tv_session *session,
                                   const struct tv_session *spare)
{
    uint32_t number;
    for (size_t i = 0; tv_session_input(session, i, &number); i++) {
        bool wanted = (traces->open.session && tv_session_has(traces->open.session, number)) ||
                      (spare && tv_session_has(spare, number));
        if (!wanted)
            tv_uploaded_files_drop(traces->files, number);
    }
}

/* Cancel the loading in progress, or dismiss one that failed. Runs under the lock. Return the
 * session that must be freed, or NULL. */
static struct tv_session *open_traces_take_next(struct tv_open_traces *traces,
                                                const struct tv_session *spare)
{
    struct tv_session *session = traces->next.session;
    if (!session)
        return NULL;
    tv_session_cancel(session);
    open_traces_drop_files(traces, session, spare);
    traces->next.session = NULL;
    return open_traces_drop_ref(traces, session);
}

void tv_open_traces_cancel(struct tv_open_traces *traces)
{
    pthread_mutex_lock(&traces->lock);
    struct tv_session *left = open_traces_take_next(traces, NULL);
    pthread_mutex_unlock(&traces->lock);
    tv_session_free(left);
}

/* Make a session of these files without loading it. NULL: one of the files does not exist. */
static struct tv_session *open_traces_make_session(struct tv_open_traces *traces,
                                                   const struct tv_open_files *chosen,
                                                   struct tv_error *err)
{
    assert(chosen->count <= TV_OPEN_INPUTS);
    struct tv_session_input inputs[TV_OPEN_INPUTS];
    const char *names[TV_OPEN_INPUTS];
    struct tv_uploaded_file *files = tv_alloc(TV_OPEN_INPUTS, sizeof *files);
    struct tv_session *session = NULL;
    size_t got = 0;
    while (got < chosen->count &&
           tv_uploaded_files_get(traces->files, chosen->numbers[got], &files[got])) {
        inputs[got] = (struct tv_session_input){chosen->numbers[got], files[got].source,
                                                chosen->offsets[got]};
        names[got] = files[got].name;
        got++;
    }
    if (got == chosen->count) {
        session = tv_session_new(&traces->loader, inputs, names, got);
    } else {
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "file %" PRIu32 " is not here (any more)",
                chosen->numbers[got]);
        for (size_t i = 0; i < got; i++)
            if (files[i].source)
                tv_source_free(files[i].source);
    }
    tv_free(files);
    return session;
}

enum tv_status tv_open_traces_load(struct tv_open_traces *traces,
                                   const struct tv_open_files *chosen, uint32_t *trace,
                                   struct tv_error *err)
{
    struct tv_session *session = open_traces_make_session(traces, chosen, err), *left = NULL;
    if (!session)
        return TV_ERR_USAGE;
    pthread_mutex_lock(&traces->lock);
    enum tv_status status = open_traces_begin_loading(traces, session, err);
    if (status == TV_OK) {
        left = open_traces_take_next(traces, session);
        *trace = ++traces->last_trace;
        traces->next = (struct open_trace_slot){session, *trace};
    }
    pthread_mutex_unlock(&traces->lock);
    tv_session_free(status == TV_OK ? left : session);
    return status;
}

enum tv_status tv_open_traces_start(struct tv_open_traces *traces, struct tv_error *err)
{
    uint32_t trace;
    return traces->own.count > 0 ? tv_open_traces_load(traces, &traces->own, &trace, err) : TV_OK;
}

bool tv_open_traces_free(struct tv_open_traces *traces, unsigned timeout_ms)
{
    struct timespec until;
    int error = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    tv_open_traces_cancel(traces);
    pthread_mutex_lock(&traces->lock);
    while (traces->loadings > 0 && error == 0)
        error = pthread_cond_timedwait(&traces->idle, &traces->lock, &until);
    bool over = traces->loadings == 0;
    struct tv_session *left = over ? open_traces_drop_ref(traces, traces->open.session) : NULL;
    pthread_mutex_unlock(&traces->lock);
    if (!over)
        return false;
    tv_session_free(left);
    tv_uploaded_files_free(traces->files);
    tv_free(traces->holds);
    pthread_cond_destroy(&traces->idle);
    pthread_mutex_destroy(&traces->lock);
    tv_free(traces);
    return true;
}

bool tv_open_traces_is_sketched(struct tv_open_traces *traces)
{
    pthread_mutex_lock(&traces->lock);
    bool sketched = traces->next.session && tv_session_is_sketched(traces->next.session);
    pthread_mutex_unlock(&traces->lock);
    return sketched;
}

/* Write the files from the command line: an address without any files means these. */
static void open_traces_write_start(const struct tv_open_files *own, struct tv_out *out)
{
    tv_out_text(out, ",\"start\":[");
    for (size_t i = 0; i < own->count; i++)
        tv_out_format(out, "%s{\"input\":%" PRIu32 ",\"offset_ns\":\"%" PRId64 "\"}",
                      i > 0 ? "," : "", own->numbers[i], own->offsets[i]);
    tv_out_char(out, ']');
}

void tv_open_traces_write_status(struct tv_open_traces *traces, struct tv_out *out)
{
    pthread_mutex_lock(&traces->lock);
    struct tv_session *left = open_traces_swap_in(traces);
    struct open_trace_slot place = traces->next.session ? traces->next : traces->open;
    bool behind = traces->next.session && traces->open.session;
    if (place.session)
        open_traces_add_ref(traces, place.session);
    pthread_mutex_unlock(&traces->lock);
    tv_session_free(left);
    tv_out_char(out, '{');
    if (place.session)
        tv_session_write_status(place.session, out);
    else
        tv_out_text(out, "\"state\":\"empty\",\"name\":\"\",\"bytes\":0,\"total_bytes\":0,"
                         "\"records\":0,\"inputs\":[]");
    tv_out_format(out, ",\"trace\":%" PRIu32 ",\"behind\":%s,\"files\":",
                  place.session ? place.trace : 0, behind ? "true" : "false");
    tv_uploaded_files_write(traces->files, out);
    open_traces_write_start(&traces->own, out);
    tv_out_char(out, '}');
    if (place.session)
        tv_open_traces_release(traces, place.session);
}
