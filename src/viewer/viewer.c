/* SPDX-License-Identifier: Apache-2.0 */
/*
 * viewer.c - the viewer server's life cycle, the authentication of requests, and the page.
 *
 *     tv_viewer_new      listen on loopback with a random token in the address
 *     tv_viewer_start    answer, and load the files of the command line
 *     wait_loaded        the command says how it went, and opens a browser
 *     wait_stop          until a signal, or the page's button
 *     tv_viewer_free     threads end; a reader that does not stop in time is left behind
 *
 * Any web page can make a browser send requests to loopback.  So a request must know the token,
 * and its Host and Origin must be ours: the first keeps out pages that guess the port, the second
 * DNS rebinding and other sites.
 */
#include "viewer/viewer.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "http/http.h"
#include "viewer/internal.h"

/* Time for a browser to start and request the page. */
#define PAGE_STARTS_MS 30000u
/* Time for a reader to notice that it was cancelled. */
#define STOP_MS 3000u

/* Interval between checks for a sketch. */
#define LOOK_MS 5u

struct tv_viewer {
    struct tv_http *http;
    struct tv_open_traces *traces;
    struct tv_page_headers page;
    struct tv_request_auth auth;
    char address[80];
    pthread_mutex_t lock;
    pthread_cond_t changed;      /* signalled when one of these changes: */
    bool loaded;                 /* the first loading has ended, or there was none */
    bool watched;                /* the page was requested, or asked something */
    bool ending;                 /* tv_viewer_stop was called */
    enum tv_session_state first; /* state of the first loading */
    struct tv_error error;
};

/* Set a flag, and wake whoever waits for it. */
static void viewer_set_flag(struct tv_viewer *viewer, bool *flag)
{
    pthread_mutex_lock(&viewer->lock);
    if (!*flag) {
        *flag = true;
        pthread_cond_broadcast(&viewer->changed);
    }
    pthread_mutex_unlock(&viewer->lock);
}

/* Wait until one of the two flags is set or the time is over. Runs under the lock. */
static void viewer_wait_for(struct tv_viewer *viewer, const bool *flag, const bool *other,
                            unsigned timeout_ms)
{
    struct timespec until = tv_monotonic_deadline(timeout_ms);
    int error = 0;
    while (!*flag && !*other && error == 0)
        error = timeout_ms == TV_FOREVER
                    ? pthread_cond_wait(&viewer->changed, &viewer->lock)
                    : pthread_cond_timedwait(&viewer->changed, &viewer->lock, &until);
}

/* ---- Answers ---- */

/* Stop the viewer; called when the answer to "stop" has been sent. */
static void viewer_stop_after_answer(void *context)
{
    tv_viewer_stop(context);
}

/* Answer with the page, or with 304 when the browser has it. */
static void viewer_answer_page(const struct tv_viewer *viewer, const struct tv_request *request,
                               struct tv_answer *answer)
{
    if (request->method != TV_HTTP_GET) {
        answer->status = TV_HTTP_METHOD_NOT_ALLOWED;
        answer->type = "text/plain; charset=utf-8";
        answer->allow = "GET, HEAD";
        return;
    }
    answer->type = "text/html; charset=utf-8";
    answer->policy = viewer->page.policy;
    answer->tag = viewer->page.tag;
    const char *known = tv_request_header(request, "If-None-Match");
    if (known != NULL && strcmp(known, viewer->page.tag) == 0)
        answer->status = TV_HTTP_NOT_MODIFIED;
    else
        answer->constant =
            (struct tv_bytes){(const uint8_t *)tv_page, (size_t)(tv_page_end - tv_page)};
}

/* Answer a request; a callback of the HTTP server, on any of its threads. */
static void viewer_answer_request(void *context, const struct tv_request *request,
                                  struct tv_answer *answer)
{
    struct tv_viewer *viewer = context;
    struct tv_request asked = *request;
    if (!tv_request_auth_check(&viewer->auth, &asked, answer))
        return;
    viewer_set_flag(viewer, &viewer->watched);
    if (asked.path.length == 0) {
        viewer_answer_page(viewer, &asked, answer);
        return;
    }
    if (tv_viewer_api_answer(viewer->traces, &asked, answer))
        answer->sent = viewer_stop_after_answer;
}

/* Decide, before the body is received, whether it is wanted and where it goes; a callback. */
static bool viewer_begin_request(void *context, const struct tv_request *request,
                                 struct tv_body *body, struct tv_answer *answer)
{
    struct tv_viewer *viewer = context;
    struct tv_request asked = *request;
    return tv_request_auth_check(&viewer->auth, &asked, answer) &&
           tv_viewer_api_begin_body(viewer->traces, &asked, body, answer);
}

/* ---- Life cycle ---- */

/* Note how the first loading ended; later ones concern only the page that asked for them. */
static void viewer_note_loading_end(void *context, enum tv_session_state state,
                                    const struct tv_error *error)
{
    struct tv_viewer *viewer = context;
    pthread_mutex_lock(&viewer->lock);
    if (!viewer->loaded) {
        viewer->loaded = true;
        viewer->first = state;
        if (error != NULL)
            viewer->error = *error;
        pthread_cond_broadcast(&viewer->changed);
    }
    pthread_mutex_unlock(&viewer->lock);
}

/* Make the lock and the condition, which waits by the steady clock. */
static void viewer_init_waiting(struct tv_viewer *viewer)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&viewer->lock, NULL);
    pthread_cond_init(&viewer->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Free everything. False: a loading did not end in time, and nothing may be freed that it uses. */
static bool viewer_release(struct tv_viewer *viewer)
{
    tv_http_free(viewer->http);
    viewer->http = NULL;
    if (!tv_open_traces_free(viewer->traces, STOP_MS))
        return false;
    pthread_cond_destroy(&viewer->changed);
    pthread_mutex_destroy(&viewer->lock);
    tv_free(viewer);
    return true;
}

/* Listen on loopback only. */
static enum tv_status viewer_listen(struct tv_viewer *viewer, uint16_t port, struct tv_error *err)
{
    struct tv_http_options options = {.port = port};
    struct tv_handler handler = {
        .answer = viewer_answer_request, .begin = viewer_begin_request, .context = viewer};
    enum tv_status status = tv_request_auth_init(&viewer->auth, err);
    if (status == TV_OK)
        status = tv_http_new(&options, &handler, &viewer->http, err);
    if (status != TV_OK)
        return status;
    viewer->auth.port = tv_http_port(viewer->http);
    snprintf(viewer->address, sizeof viewer->address, "%s%s/", tv_http_address(viewer->http, 0),
             viewer->auth.token);
    return TV_OK;
}

enum tv_status tv_viewer_new(const struct tv_viewer_options *options, struct tv_viewer **viewer,
                             struct tv_error *err)
{
    struct tv_viewer *made = tv_alloc(1, sizeof *made);
    struct tv_open_traces_options traces = {
        .loader = options->loader,
        .files = options->files,
        .file_count = options->file_count,
        .begin_count = options->begin_count,
        .sql = options->sql,
        .sender = options->sender,
        .ended = viewer_note_loading_end,
        .context = made,
    };
    viewer_init_waiting(made);
    tv_page_describe((struct tv_bytes){(const uint8_t *)tv_page, (size_t)(tv_page_end - tv_page)},
                     &made->page);
    made->loaded = options->begin_count == 0;
    made->first = made->loaded ? TV_SESSION_EMPTY : TV_SESSION_LOADING;
    made->traces = tv_open_traces_new(&traces);
    enum tv_status status = viewer_listen(made, options->port, err);
    if (status == TV_OK)
        *viewer = made;
    else
        (void)!viewer_release(made); /* nothing is loading yet */
    return status;
}

enum tv_status tv_viewer_start(struct tv_viewer *viewer, struct tv_error *err)
{
    assert(viewer->http != NULL);
    enum tv_status status = tv_http_start(viewer->http, err);
    return status == TV_OK ? tv_open_traces_start(viewer->traces, err) : status;
}

bool tv_viewer_free(struct tv_viewer *viewer)
{
    return viewer_release(viewer);
}

const char *tv_viewer_address(const struct tv_viewer *viewer)
{
    assert(viewer->address[0] != '\0');
    return viewer->address;
}

enum tv_session_state tv_viewer_wait_loaded(struct tv_viewer *viewer, unsigned timeout_ms)
{
    pthread_mutex_lock(&viewer->lock);
    viewer_wait_for(viewer, &viewer->loaded, &viewer->ending, timeout_ms);
    enum tv_session_state state = viewer->first;
    pthread_mutex_unlock(&viewer->lock);
    return state;
}

enum tv_session_state tv_viewer_wait_sketched(struct tv_viewer *viewer, unsigned timeout_ms)
{
    enum tv_session_state state = tv_viewer_wait_loaded(viewer, LOOK_MS);
    for (unsigned waited = LOOK_MS; waited < timeout_ms; waited += LOOK_MS) {
        if (state != TV_SESSION_LOADING || tv_open_traces_is_sketched(viewer->traces))
            break;
        state = tv_viewer_wait_loaded(viewer, LOOK_MS);
    }
    return state;
}

void tv_viewer_wait_stop(struct tv_viewer *viewer, bool page_opens)
{
    pthread_mutex_lock(&viewer->lock);
    bool failed = viewer->first == TV_SESSION_FAILED;
    if (failed && page_opens)
        viewer_wait_for(viewer, &viewer->ending, &viewer->watched, PAGE_STARTS_MS);
    if (!failed || viewer->watched)
        viewer_wait_for(viewer, &viewer->ending, &viewer->ending, TV_FOREVER);
    pthread_mutex_unlock(&viewer->lock);
}

void tv_viewer_stop(struct tv_viewer *viewer)
{
    viewer_set_flag(viewer, &viewer->ending);
}

const struct tv_error *tv_viewer_error(const struct tv_viewer *viewer)
{
    return viewer->first == TV_SESSION_FAILED ? &viewer->error : NULL;
}

/* Browsers omit this port from Host and Origin. */
#define HTTP_PORT 80

enum tv_status tv_request_auth_init(struct tv_request_auth *auth, struct tv_error *err)
{
    auth->port = 0;
    return tv_random_hex(auth->token, TV_TOKEN_LENGTH, err);
}

/* Return true for "name:port", or for the name alone where browsers omit the port. */
static bool request_auth_is_name_and_port(const char *host, const char *name, uint16_t port)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s:%u", name, (unsigned)port);
    return strcasecmp(host, wanted) == 0 || (port == HTTP_PORT && strcasecmp(host, name) == 0);
}

bool tv_request_auth_is_our_host(const struct tv_request_auth *auth, const char *host)
{
    return request_auth_is_name_and_port(host, "127.0.0.1", auth->port) ||
           request_auth_is_name_and_port(host, "localhost", auth->port);
}

bool tv_request_auth_is_our_origin(const struct tv_request_auth *auth, const char *origin)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           tv_request_auth_is_our_host(auth, origin + sizeof scheme - 1);
}

bool tv_request_auth_take_token(const struct tv_request_auth *auth, struct tv_bytes path,
                                struct tv_bytes *rest)
{
    /* The path is a slash, the token, a slash, and the rest. */
    if (path.length < TV_TOKEN_LENGTH + 2)
        return false;
    const struct tv_bytes wanted = tv_bytes_of(auth->token);
    const struct tv_bytes found = {path.data + 1, TV_TOKEN_LENGTH};
    if (path.data[0] != '/' || path.data[TV_TOKEN_LENGTH + 1] != '/' ||
        !tv_secret_equal(wanted, found))
        return false;
    *rest = (struct tv_bytes){path.data + TV_TOKEN_LENGTH + 2, path.length - TV_TOKEN_LENGTH - 2};
    return true;
}

/* Judge a request. A wrong token is "not found", so that an answer does not tell how close a guess
 * was. */
static enum tv_http_status request_auth_judge(const struct tv_request_auth *auth,
                                              const struct tv_request *request,
                                              struct tv_bytes *rest)
{
    const char *host = tv_request_header(request, "Host");
    const char *origin = tv_request_header(request, "Origin");
    if (auth->port == 0 || host == NULL || !tv_request_auth_is_our_host(auth, host))
        return TV_HTTP_FORBIDDEN;
    if (origin != NULL && !tv_request_auth_is_our_origin(auth, origin))
        return TV_HTTP_FORBIDDEN;
    if (!tv_request_auth_take_token(auth, request->path, rest))
        return TV_HTTP_NOT_FOUND;
    return request->method <= TV_HTTP_PUT ? TV_HTTP_OK : TV_HTTP_METHOD_NOT_ALLOWED;
}

bool tv_request_auth_check(const struct tv_request_auth *auth, struct tv_request *request,
                           struct tv_answer *answer)
{
    struct tv_bytes rest;
    enum tv_http_status status = request_auth_judge(auth, request, &rest);
    if (status != TV_HTTP_OK) {
        answer->status = status;
        answer->type = "text/plain; charset=utf-8";
        answer->allow = status == TV_HTTP_METHOD_NOT_ALLOWED ? "GET, HEAD, POST, PUT" : NULL;
        tv_out_format(&answer->body, "%u\n", (unsigned)status);
        if (status == TV_HTTP_NOT_FOUND)
            tv_out_text(&answer->body, "No trace is at this address. If traceview was started "
                                       "again, open the address that it printed.\n");
        return false;
    }
    request->path = rest;
    if (request->method == TV_HTTP_HEAD)
        request->method = TV_HTTP_GET;
    return true;
}

/* The form in which the build of web/ writes the policy. */
#define META "<meta http-equiv=\"Content-Security-Policy\" content=\""

/* Return the policy in the page's <meta> element; empty when there is none. */
static struct tv_bytes page_find_policy(struct tv_bytes page)
{
    struct tv_bytes policy = {NULL, 0};
    const struct tv_bytes meta = TV_BYTES(META);
    while (page.length > meta.length && !tv_bytes_starts_with(page, meta)) {
        page.data++;
        page.length--;
    }
    if (page.length <= meta.length)
        return policy;
    page.data += meta.length;
    page.length -= meta.length;
    if (!tv_bytes_split(&page, '"', &policy))
        policy.length = 0;
    return policy;
}

void tv_page_describe(struct tv_bytes page, struct tv_page_headers *headers)
{
    static const char framing[] = "; frame-ancestors 'none'";
    struct tv_bytes policy = page_find_policy(page);
    if (policy.length == 0 || policy.length > sizeof headers->policy - sizeof framing)
        policy = TV_BYTES("default-src 'none'");
    snprintf(headers->policy, sizeof headers->policy, "%.*s%s", (int)policy.length,
             (const char *)policy.data, framing);
    snprintf(headers->tag, sizeof headers->tag, "\"%016" PRIx64 "\"", tv_hash_bytes(page));
}
