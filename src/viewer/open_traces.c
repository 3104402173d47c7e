/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_traces.c - the traces that lie open, each for the pages that ask about it.
 *
 *     open ---- loading ---- ready ---- closed to make room
 *                  \---- failed ---- dismissed, or opened again
 *
 * A page names the trace of each question by its number, so what one page opens changes nothing in
 * another. Pages that open the same files share one trace. Nobody says when a page has gone;
 * instead the trace that was asked about least recently is closed when there are too many, or when
 * their files are too large together. A page whose trace was closed opens its files again.
 *
 * A trace has a reference count: one while it is listed, one for each question in progress, one for
 * the thread that loads it. The last one to let go frees it, outside the lock, because freeing a
 * large trace takes long.
 */
#include "viewer/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"
#include "base/workers.h"

struct tv_open_trace {
    struct tv_session *session;
    struct tv_trace_sql *sql;
    struct tv_open_files files;
    uint32_t number;  /* never used again */
    uint32_t holders; /* references */
    uint64_t used;    /* rises with each use of any trace: the smallest was used longest ago */
};

struct tv_open_traces {
    struct tv_loader loader;
    void (*ended)(void *context, enum tv_session_state state, const struct tv_error *error);
    void *context;
    struct tv_uploaded_files *files;
    struct tv_viewer_sql sql;
    struct tv_sending *sending;
    bool sends;
    struct tv_open_files own;
    uint64_t file_room; /* bytes that the files of all open traces may have together */
    pthread_mutex_t lock;
    pthread_cond_t idle;                          /* no loading thread is left */
    struct tv_open_trace *listed[TV_OPEN_TRACES]; /* by number */
    uint32_t listed_count, loadings, last_number;
    uint64_t uses;
};

/* Traces that nobody holds any more, to be freed without the lock. */
struct open_traces_left {
    struct tv_open_trace *traces[TV_OPEN_TRACES + 1];
    uint32_t count;
};

/* The argument of a loading thread. */
struct open_trace_loading {
    struct tv_open_traces *traces;
    struct tv_open_trace *trace;
};

/* Half of the machine's memory: a trace takes less than its files. */
static uint64_t open_traces_file_room(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : (uint64_t)1 << 30;
}

struct tv_open_traces *tv_open_traces_new(const struct tv_open_traces_options *options)
{
    struct tv_open_traces *traces = tv_alloc(1, sizeof *traces);
    pthread_condattr_t attributes;
    traces->loader = options->loader;
    traces->ended = options->ended;
    traces->context = options->context;
    traces->sql = options->sql;
    traces->sending = tv_sending_new(&options->sender);
    traces->sends = options->sender.start != NULL;
    traces->files = tv_uploaded_files_new();
    traces->file_room = open_traces_file_room();
    for (size_t i = 0; i < options->file_count; i++) {
        tv_uploaded_files_add_own(traces->files, options->files[i].name);
        if (i >= TV_OPEN_INPUTS || i >= options->begin_count)
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

/* ---- The list; all functions run under the lock ---- */

/* Drop a reference. */
static void open_traces_let_go(struct tv_open_trace *trace, struct open_traces_left *left)
{
    assert(trace->holders > 0);
    if (--trace->holders == 0)
        left->traces[left->count++] = trace;
}

/* Free what nobody holds. The one function here that runs without the lock. */
static void open_traces_free_left(struct open_traces_left *left)
{
    for (uint32_t i = 0; i < left->count; i++) {
        tv_trace_sql_free(left->traces[i]->sql); /* it reads the trace */
        tv_session_free(left->traces[i]->session);
        tv_free(left->traces[i]);
    }
}

static struct tv_open_trace *open_traces_use(struct tv_open_traces *traces,
                                             struct tv_open_trace *trace)
{
    trace->used = ++traces->uses;
    return trace;
}

/* Close listed trace `i`. Questions in progress keep it until they are answered. */
static void open_traces_close(struct tv_open_traces *traces, uint32_t i,
                              struct open_traces_left *left)
{
    assert(i < traces->listed_count);
    struct tv_open_trace *trace = traces->listed[i];
    tv_session_cancel(trace->session);
    traces->listed_count--;
    memmove(&traces->listed[i], &traces->listed[i + 1],
            (traces->listed_count - i) * sizeof traces->listed[0]);
    open_traces_let_go(trace, left);
}

/* Return the number of the listed trace that was used longest ago. */
static uint32_t open_traces_oldest(const struct tv_open_traces *traces)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < traces->listed_count; i++)
        if (traces->listed[i]->used < traces->listed[oldest]->used)
            oldest = i;
    return oldest;
}

/* Close traces until the files of the others fit. The one that was used last stays. */
static void open_traces_fit(struct tv_open_traces *traces, struct open_traces_left *left)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < traces->listed_count; i++)
        bytes += tv_session_progress(traces->listed[i]->session).total_bytes;
    while (traces->listed_count > 1 && bytes > traces->file_room) {
        uint32_t oldest = open_traces_oldest(traces);
        bytes -= tv_session_progress(traces->listed[oldest]->session).total_bytes;
        open_traces_close(traces, oldest, left);
    }
}

/* Return the trace with this number, or for TV_LATEST_TRACE the one that was opened last, of those
 * that can answer if `ready`; NULL: there is none. */
static struct tv_open_trace *open_traces_find(struct tv_open_traces *traces, uint64_t number,
                                              bool ready)
{
    for (uint32_t i = traces->listed_count; i-- > 0;) {
        struct tv_open_trace *trace = traces->listed[i];
        bool able = !ready || tv_session_state(trace->session) == TV_SESSION_READY;
        if (number == TV_LATEST_TRACE ? able : number == trace->number)
            return able ? trace : NULL;
    }
    return NULL;
}

/* Return true for the same files with the same offsets. */
static bool open_traces_same_files(const struct tv_open_files *a, const struct tv_open_files *b)
{
    return a->count == b->count &&
           memcmp(a->numbers, b->numbers, a->count * sizeof a->numbers[0]) == 0 &&
           memcmp(a->offsets, b->offsets, a->count * sizeof a->offsets[0]) == 0;
}

/* Return the index of the trace of these files; listed_count: there is none. */
static uint32_t open_traces_find_files(const struct tv_open_traces *traces,
                                       const struct tv_open_files *files)
{
    uint32_t i = 0;
    while (i < traces->listed_count && !open_traces_same_files(&traces->listed[i]->files, files))
        i++;
    return i;
}

/* Hold trace `number` as open_traces_find knows it, for a question. */
static struct tv_open_trace *open_traces_hold(struct tv_open_traces *traces, uint64_t number,
                                              bool ready)
{
    struct tv_open_trace *trace = open_traces_find(traces, number, ready);
    if (trace)
        open_traces_use(traces, trace)->holders++;
    return trace;
}

enum tv_open_trace_found tv_open_traces_acquire(struct tv_open_traces *traces, uint64_t number,
                                                struct tv_open_trace **trace)
{
    pthread_mutex_lock(&traces->lock);
    *trace = open_traces_hold(traces, number, true);
    bool known = *trace || number == TV_LATEST_TRACE || open_traces_find(traces, number, false);
    pthread_mutex_unlock(&traces->lock);
    return *trace ? TV_OPEN_TRACE_READY : known ? TV_OPEN_TRACE_NOT_READY : TV_OPEN_TRACE_CLOSED;
}

const struct tv_session *tv_open_trace_session(const struct tv_open_trace *trace)
{
    return trace->session;
}

struct tv_trace_sql *tv_open_trace_sql(const struct tv_open_trace *trace)
{
    return trace->sql;
}

const struct tv_viewer_sql *tv_open_traces_sql(const struct tv_open_traces *traces)
{
    return &traces->sql;
}

void tv_open_traces_release(struct tv_open_traces *traces, struct tv_open_trace *trace)
{
    struct open_traces_left left = {.count = 0};
    pthread_mutex_lock(&traces->lock);
    open_traces_let_go(trace, &left);
    pthread_mutex_unlock(&traces->lock);
    open_traces_free_left(&left);
}

/* ---- Loading ---- */

/* Report the end of a loading. The last statement of a loading thread, because `traces` may be
 * freed right after it. */
static void open_traces_end_loading(struct tv_open_traces *traces, struct tv_open_trace *trace)
{
    struct open_traces_left left = {.count = 0};
    pthread_mutex_lock(&traces->lock);
    bool wanted = open_traces_find(traces, trace->number, false) == trace;
    if (wanted) {
        open_traces_use(traces, trace);
        open_traces_fit(traces, &left);
    }
    pthread_mutex_unlock(&traces->lock);
    traces->ended(traces->context, wanted ? tv_session_state(trace->session) : TV_SESSION_EMPTY,
                  wanted ? tv_session_error(trace->session) : NULL);
    open_traces_free_left(&left);
    tv_session_show(trace->session);
    tv_open_traces_release(traces, trace);
    pthread_mutex_lock(&traces->lock);
    if (--traces->loadings == 0)
        pthread_cond_broadcast(&traces->idle);
    pthread_mutex_unlock(&traces->lock);
}

/* The thread that loads one trace. */
static void *open_traces_run_loading(void *context)
{
    struct open_trace_loading loading = *(struct open_trace_loading *)context;
    tv_free(context);
    tv_session_load(loading.trace->session);
    open_traces_end_loading(loading.traces, loading.trace);
    return NULL;
}

/* Start a thread that loads the trace, which holds it from now on. Runs under the lock. */
static enum tv_status open_traces_begin_loading(struct tv_open_traces *traces,
                                                struct tv_open_trace *trace, struct tv_error *err)
{
    pthread_t thread;
    struct open_trace_loading *loading = tv_alloc(1, sizeof *loading);
    *loading = (struct open_trace_loading){traces, trace};
    int error = tv_thread_start(&thread, TV_THREAD_STACK, open_traces_run_loading, loading);
    if (error != 0) {
        tv_free(loading);
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread: %s", strerror(error));
    }
    pthread_detach(thread);
    traces->loadings++;
    trace->holders++;
    return TV_OK;
}

/* Drop the uploaded files of a trace that no listed trace uses. Runs under the lock. */
static void open_traces_drop_files(struct tv_open_traces *traces, const struct tv_open_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        bool wanted = false;
        for (uint32_t k = 0; k < traces->listed_count; k++)
            wanted |= tv_session_has(traces->listed[k]->session, files->numbers[i]);
        if (!wanted)
            tv_uploaded_files_drop(traces->files, files->numbers[i]);
    }
}

void tv_open_traces_cancel(struct tv_open_traces *traces, uint64_t number)
{
    struct open_traces_left left = {.count = 0};
    pthread_mutex_lock(&traces->lock);
    struct tv_open_trace *trace = open_traces_find(traces, number, false);
    if (trace && tv_session_state(trace->session) != TV_SESSION_READY) {
        const struct tv_open_files files = trace->files;
        open_traces_close(traces, open_traces_find_files(traces, &files), &left);
        open_traces_drop_files(traces, &files);
    }
    pthread_mutex_unlock(&traces->lock);
    open_traces_free_left(&left);
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

/* Open files that no listed trace has. Runs under the lock. */
static enum tv_status open_traces_add(struct tv_open_traces *traces,
                                      const struct tv_open_files *files,
                                      struct open_traces_left *left, struct tv_error *err)
{
    struct tv_session *session = open_traces_make_session(traces, files, err);
    if (!session)
        return TV_ERR_USAGE;
    struct tv_open_trace *trace = tv_alloc(1, sizeof *trace);
    *trace = (struct tv_open_trace){.session = session,
                                    .sql = tv_trace_sql_new(&traces->sql),
                                    .files = *files,
                                    .number = traces->last_number + 1,
                                    .holders = 1};
    enum tv_status status = open_traces_begin_loading(traces, trace, err);
    if (status != TV_OK) {
        open_traces_let_go(trace, left);
        return status;
    }
    if (traces->listed_count == TV_OPEN_TRACES)
        open_traces_close(traces, open_traces_oldest(traces), left);
    traces->listed[traces->listed_count++] = open_traces_use(traces, trace);
    traces->last_number++;
    return TV_OK;
}

enum tv_status tv_open_traces_load(struct tv_open_traces *traces, const struct tv_open_files *files,
                                   uint32_t *number, struct tv_error *err)
{
    struct open_traces_left left = {.count = 0};
    enum tv_status status = TV_OK;
    pthread_mutex_lock(&traces->lock);
    uint32_t at = open_traces_find_files(traces, files);
    if (at < traces->listed_count &&
        tv_session_state(traces->listed[at]->session) == TV_SESSION_FAILED) {
        open_traces_close(traces, at, &left);
        at = traces->listed_count;
    }
    if (at == traces->listed_count) {
        status = open_traces_add(traces, files, &left, err);
        at = traces->listed_count - 1;
    }
    if (status == TV_OK)
        *number = open_traces_use(traces, traces->listed[at])->number;
    pthread_mutex_unlock(&traces->lock);
    open_traces_free_left(&left);
    return status;
}

enum tv_status tv_open_traces_start(struct tv_open_traces *traces, struct tv_error *err)
{
    uint32_t number;
    return traces->own.count > 0 ? tv_open_traces_load(traces, &traces->own, &number, err) : TV_OK;
}

bool tv_open_traces_free(struct tv_open_traces *traces, unsigned timeout_ms)
{
    struct timespec until = tv_monotonic_deadline(timeout_ms);
    struct open_traces_left left = {.count = 0};
    int error = 0;
    pthread_mutex_lock(&traces->lock);
    while (traces->listed_count > 0)
        open_traces_close(traces, traces->listed_count - 1, &left);
    while (traces->loadings > 0 && error == 0)
        error = pthread_cond_timedwait(&traces->idle, &traces->lock, &until);
    bool over = traces->loadings == 0;
    pthread_mutex_unlock(&traces->lock);
    open_traces_free_left(&left);
    if (!over)
        return false;
    tv_uploaded_files_free(traces->files);
    tv_sending_free(traces->sending);
    pthread_cond_destroy(&traces->idle);
    pthread_mutex_destroy(&traces->lock);
    tv_free(traces);
    return true;
}

bool tv_open_traces_is_sketched(struct tv_open_traces *traces)
{
    bool sketched = false;
    pthread_mutex_lock(&traces->lock);
    for (uint32_t i = 0; i < traces->listed_count; i++)
        sketched |= tv_session_is_sketched(traces->listed[i]->session);
    pthread_mutex_unlock(&traces->lock);
    return sketched;
}

struct tv_sending *tv_open_traces_sending(const struct tv_open_traces *traces)
{
    return traces->sending;
}

enum tv_status tv_open_traces_send(struct tv_open_traces *traces, uint64_t number,
                                   struct tv_error *err)
{
    pthread_mutex_lock(&traces->lock);
    struct tv_open_trace *trace = open_traces_hold(traces, number, false);
    pthread_mutex_unlock(&traces->lock);
    if (!trace)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "that trace is not open any more");
    enum tv_status status = TV_OK;
    struct tv_uploaded_file file;
    for (size_t i = 0; i < trace->files.count && status == TV_OK; i++) {
        if (!tv_uploaded_files_get(traces->files, trace->files.numbers[i], &file) || !file.source)
            continue;
        tv_source_free(file.source);
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "%s came from the page, so the program does not know where it lies. Send "
                         "it with: traceview push FILE",
                         file.name);
    }
    if (status == TV_OK)
        status = tv_sending_start(traces->sending, trace->files.numbers, trace->files.count, err);
    tv_open_traces_release(traces, trace);
    return status;
}

/* Write whether there is SQL, or why not. */
static void open_traces_write_sql(const struct tv_viewer_sql *sql, struct tv_out *out)
{
    if (sql->ready || sql->missing)
        tv_out_text(out, ",\"sql\":");
    if (sql->ready)
        tv_out_text(out, "true");
    else if (sql->missing)
        tv_out_json(out, tv_bytes_of(sql->missing));
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

void tv_open_traces_write_status(struct tv_open_traces *traces, uint64_t number, struct tv_out *out)
{
    pthread_mutex_lock(&traces->lock);
    struct tv_open_trace *trace = open_traces_hold(traces, number, false);
    pthread_mutex_unlock(&traces->lock);
    tv_out_char(out, '{');
    if (trace)
        tv_session_write_status(trace->session, out);
    else
        tv_out_text(out, "\"state\":\"empty\",\"name\":\"\",\"bytes\":0,\"total_bytes\":0,"
                         "\"records\":0,\"inputs\":[]");
    tv_out_format(out, ",\"trace\":%" PRIu32 ",\"files\":", trace ? trace->number : 0);
    tv_uploaded_files_write(traces->files, out);
    open_traces_write_start(&traces->own, out);
    open_traces_write_sql(&traces->sql, out);
    if (traces->sends)
        tv_out_text(out, ",\"sends\":true");
    tv_out_char(out, '}');
    if (trace)
        tv_open_traces_release(traces, trace);
}
