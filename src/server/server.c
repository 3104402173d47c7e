/* SPDX-License-Identifier: Apache-2.0 */
#include "server/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "http/http.h"
#include "server/guard.h"
#include "server/opening.h"
#include "server/page.h"
#include "server/questions.h"

/* How long a browser may take to start and ask. */
#define PAGE_STARTS_MS 30000u
/* How soon a reader must notice that it shall stop. */
#define STOP_MS 3000u

/* So often somebody looks whether there is a sketch. */
#define LOOK_MS 5u

struct tv_server {
    struct tv_http *http;
    struct tv_desk *desk;
    struct tv_page_headers page;
    struct tv_guard guard;
    char address[80];
    pthread_mutex_t lock;
    pthread_cond_t changed;      /* one of these: */
    bool loaded;                 /* the first loading has ended, or there is none */
    bool watched;                /* somebody has opened the page or asked a question */
    bool ending;                 /* the end was asked for */
    enum tv_session_state first; /* that of the first loading */
    struct tv_error error;
};

static void set_flag(struct tv_server *server, bool *flag)
{
    pthread_mutex_lock(&server->lock);
    if (!*flag) {
        *flag = true;
        pthread_cond_broadcast(&server->changed);
    }
    pthread_mutex_unlock(&server->lock);
}

/* Waits, with the lock held, until one of the two flags is set or the time is over. */
static void wait_for(struct tv_server *server, const bool *flag, const bool *other,
                     unsigned timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    int error = 0;
    while (!*flag && !*other && error == 0)
        error = timeout_ms == TV_FOREVER
                    ? pthread_cond_wait(&server->changed, &server->lock)
                    : pthread_cond_timedwait(&server->changed, &server->lock, &until);
}

/* Answers. */

static void end_after_answer(void *context)
{
    tv_server_end(context);
}

static void answer_page(const struct tv_server *server, const struct tv_request *request,
                        struct tv_answer *answer)
{
    if (request->method != TV_HTTP_GET) {
        answer->status = TV_HTTP_WRONG_METHOD;
        answer->type = "text/plain; charset=utf-8";
        answer->allow = "GET, HEAD";
        return;
    }
    answer->type = "text/html; charset=utf-8";
    answer->policy = server->page.policy;
    answer->tag = server->page.tag;
    const char *known = tv_request_header(request, "If-None-Match");
    if (known != NULL && strcmp(known, server->page.tag) == 0)
        answer->status = TV_HTTP_NOT_MODIFIED;
    else
        answer->constant =
            (struct tv_bytes){(const uint8_t *)tv_page, (size_t)(tv_page_end - tv_page)};
}

static void answer_request(void *context, const struct tv_request *request,
                           struct tv_answer *answer)
{
    struct tv_server *server = context;
    struct tv_request asked = *request;
    if (!tv_guard_admit(&server->guard, &asked, answer))
        return;
    set_flag(server, &server->watched);
    if (asked.path.length == 0) {
        answer_page(server, &asked, answer);
        return;
    }
    if (tv_questions_answer(server->desk, &asked, answer))
        answer->sent = end_after_answer;
}

static bool begin_request(void *context, const struct tv_request *request, struct tv_body *body,
                          struct tv_answer *answer)
{
    struct tv_server *server = context;
    struct tv_request asked = *request;
    return tv_guard_admit(&server->guard, &asked, answer) &&
           tv_opening_begin(server->desk, &asked, body, answer);
}

/* Life. */

static void note_end(void *context, enum tv_session_state state, const struct tv_error *error)
{
    struct tv_server *server = context;
    pthread_mutex_lock(&server->lock);
    if (!server->loaded) {
        server->loaded = true;
        server->first = state;
        if (error != NULL)
            server->error = *error;
        pthread_cond_broadcast(&server->changed);
    }
    pthread_mutex_unlock(&server->lock);
}

static void init_waiting(struct tv_server *server)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static bool release(struct tv_server *server)
{
    tv_http_free(server->http);
    server->http = NULL;
    if (!tv_desk_free(server->desk, STOP_MS))
        return false;
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    tv_free(server);
    return true;
}

/* Listens on loopback alone. */
static enum tv_status listen_for_page(struct tv_server *server, uint16_t port, struct tv_error *err)
{
    struct tv_http_options options = {.port = port};
    struct tv_handler handler = {
        .answer = answer_request, .begin = begin_request, .context = server};
    enum tv_status status = tv_guard_init(&server->guard, err);
    if (status == TV_OK)
        status = tv_http_new(&options, &handler, &server->http, err);
    if (status != TV_OK)
        return status;
    server->guard.port = tv_http_port(server->http);
    snprintf(server->address, sizeof server->address, "%s%s/", tv_http_address(server->http, 0),
             server->guard.token);
    return TV_OK;
}

enum tv_status tv_server_new(const struct tv_server_options *options, struct tv_server **server,
                             struct tv_error *err)
{
    struct tv_server *made = tv_alloc(1, sizeof *made);
    struct tv_desk_options desk = {
        .loader = options->loader,
        .files = options->files,
        .file_count = options->file_count,
        .ended = note_end,
        .context = made,
    };
    init_waiting(made);
    tv_page_describe((struct tv_bytes){(const uint8_t *)tv_page, (size_t)(tv_page_end - tv_page)},
                     &made->page);
    made->loaded = options->file_count == 0;
    made->first = made->loaded ? TV_SESSION_EMPTY : TV_SESSION_LOADING;
    made->desk = tv_desk_new(&desk);
    enum tv_status status = listen_for_page(made, options->port, err);
    if (status == TV_OK)
        *server = made;
    else
        (void)!release(made); /* nothing loads */
    return status;
}

enum tv_status tv_server_start(struct tv_server *server, struct tv_error *err)
{
    enum tv_status status = tv_http_start(server->http, err);
    return status == TV_OK ? tv_desk_start(server->desk, err) : status;
}

bool tv_server_free(struct tv_server *server)
{
    return release(server);
}

const char *tv_server_address(const struct tv_server *server)
{
    return server->address;
}

enum tv_session_state tv_server_wait_loaded(struct tv_server *server, unsigned timeout_ms)
{
    pthread_mutex_lock(&server->lock);
    wait_for(server, &server->loaded, &server->ending, timeout_ms);
    enum tv_session_state state = server->first;
    pthread_mutex_unlock(&server->lock);
    return state;
}

enum tv_session_state tv_server_wait_sketched(struct tv_server *server, unsigned timeout_ms)
{
    enum tv_session_state state = tv_server_wait_loaded(server, LOOK_MS);
    for (unsigned waited = LOOK_MS; waited < timeout_ms; waited += LOOK_MS) {
        if (state != TV_SESSION_LOADING || tv_desk_is_sketched(server->desk))
            break;
        state = tv_server_wait_loaded(server, LOOK_MS);
    }
    return state;
}

void tv_server_wait_end(struct tv_server *server, bool page_opens)
{
    pthread_mutex_lock(&server->lock);
    bool failed = server->first == TV_SESSION_FAILED;
    if (failed && page_opens)
        wait_for(server, &server->ending, &server->watched, PAGE_STARTS_MS);
    if (!failed || server->watched)
        wait_for(server, &server->ending, &server->ending, TV_FOREVER);
    pthread_mutex_unlock(&server->lock);
}

void tv_server_end(struct tv_server *server)
{
    set_flag(server, &server->ending);
}

const struct tv_error *tv_server_error(const struct tv_server *server)
{
    return server->first == TV_SESSION_FAILED ? &server->error : NULL;
}
