/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/hub.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "hub/context.h"
#include "hub/reading.h"
#include "hub/route.h"
#include "hub/sample.h"

/* Requests. */

static bool is_proxy(const struct tv_hub *hub, const char *peer)
{
    for (size_t i = 0; i < hub->options.proxy_count; i++)
        if (strcmp(hub->options.proxies[i], peer) == 0)
            return true;
    return false;
}

/* The last address of "X-Forwarded-For: client, proxy": the one that our own proxy saw. */
static const char *forwarded_peer(const struct tv_request *request)
{
    const char *addresses = tv_request_header(request, "X-Forwarded-For");
    if (addresses == NULL)
        return request->peer;
    const char *comma = strrchr(addresses, ',');
    const char *last = comma != NULL ? comma + 1 : addresses;
    last += strspn(last, " \t");
    return last[0] != '\0' ? last : request->peer;
}

/* Who asks, also behind a proxy of ours. */
static struct tv_asked look_at(struct tv_hub *hub, const struct tv_request *request)
{
    struct tv_asked asked = {
        .hub = hub, .request = request, .peer = request->peer, .secure = request->secure};
    if (!is_proxy(hub, request->peer))
        return asked;
    const char *scheme = tv_request_header(request, "X-Forwarded-Proto");
    asked.peer = forwarded_peer(request);
    asked.secure = scheme != NULL && strcasecmp(scheme, "https") == 0;
    return asked;
}

static bool is_change(enum tv_http_method method)
{
    return method != TV_HTTP_GET && method != TV_HTTP_HEAD && method != TV_HTTP_OPTIONS;
}

static enum tv_verdict judge(const struct tv_asked *asked, enum tv_right right)
{
    const struct tv_request *request = asked->request;
    const struct tv_credentials client = {
        .peer = asked->peer,
        .host = tv_request_header(request, "Host"),
        .origin = tv_request_header(request, "Origin"),
        .fetch_site = tv_request_header(request, "Sec-Fetch-Site"),
        .authorization = tv_request_header(request, "Authorization"),
        .cookie = tv_request_header(request, "Cookie"),
        .changes = is_change(request->method),
    };
    return tv_access_judge(asked->hub->access, &client, right);
}

static void refuse_client(const struct tv_asked *asked, enum tv_verdict verdict,
                          struct tv_answer *answer)
{
    const char *login = tv_access_login_kind(asked->hub->access);
    asked->hub->counts.refused_clients++;
    switch (verdict) {
    case TV_FOREIGN_HOST:
        tv_hub_refuse(answer, TV_HTTP_FORBIDDEN,
                      "this server is not called so; its owner can allow the name with --host");
        break;
    case TV_FOREIGN_ORIGIN:
        tv_hub_refuse(answer, TV_HTTP_FORBIDDEN, "another page may not ask for this");
        break;
    case TV_TOO_MANY_TRIES:
        tv_hub_refuse(answer, TV_HTTP_TOO_OFTEN, "too many wrong passwords; wait a minute");
        tv_answer_header(answer, "Retry-After", "60");
        break;
    default:
        tv_hub_refuse(answer, TV_HTTP_NOT_LOGGED_IN, "log in first");
        tv_answer_header(answer, "WWW-Authenticate", "%s",
                         login != NULL && strcmp(login, "basic") == 0
                             ? "Basic realm=\"traceview\", charset=\"UTF-8\""
                             : "Bearer realm=\"traceview\"");
    }
}

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool is_within_rate(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_hub *hub = asked->hub;
    if (hub->options.rate == 0 || tv_tries_take(&hub->requests, asked->peer, seconds_now()))
        return true;
    hub->counts.refused_clients++;
    tv_hub_refuse(answer, TV_HTTP_TOO_OFTEN, "too many requests; slow down");
    tv_answer_header(answer, "Retry-After", "1");
    return false;
}

/* The route of a request that may go on; else the answer says why not. */
static const struct tv_route *admit(struct tv_asked *asked, struct tv_answer *answer)
{
    char allow[64];
    if (!is_within_rate(asked, answer))
        return NULL;
    enum tv_verdict verdict = judge(asked, TV_RIGHT_NONE);
    const struct tv_route *route =
        tv_route_find(asked->request->method, asked->request->path, asked, allow);
    if (verdict == TV_ADMITTED && route != NULL)
        verdict = judge(asked, route->right);
    if (verdict != TV_ADMITTED) {
        refuse_client(asked, verdict, answer);
        return NULL;
    }
    if (route != NULL)
        return route;
    if (allow[0] == '\0') {
        tv_hub_refuse(answer, TV_HTTP_NOT_FOUND, "there is nothing at this address");
        return NULL;
    }
    tv_hub_refuse(answer, TV_HTTP_WRONG_METHOD, "this address has other methods");
    tv_answer_header(answer, "Allow", "%s", allow);
    return NULL;
}

static bool begin_request(void *context, const struct tv_request *request, struct tv_body *body,
                          struct tv_answer *answer)
{
    struct tv_asked asked = look_at(context, request);
    const struct tv_route *route = admit(&asked, answer);
    if (route == NULL)
        return false;
    return route->begin == NULL || route->begin(&asked, body, answer);
}

static void answer_request(void *context, const struct tv_request *request,
                           struct tv_answer *answer)
{
    char allow[64];
    struct tv_asked asked = look_at(context, request);
    const struct tv_route *route = tv_route_find(request->method, request->path, &asked, allow);
    tv_answer_header(answer, "X-Robots-Tag", "noindex");
    route->answer(&asked, answer);
}

static void note_request(void *context, const struct tv_http_note *note)
{
    struct tv_hub *hub = context;
    struct tv_log_line line;
    char path[256];
    unsigned hundreds = note->status / 100;
    hub->counts.answers[hundreds < TV_COUNT(hub->counts.answers) ? hundreds : 0]++;
    snprintf(path, sizeof path, "%.*s", (int)(note->path.length < 200 ? note->path.length : 200),
             (const char *)note->path.data);
    tv_log_begin(&line, &hub->options.log, note->status >= 500 ? TV_LOG_ERROR : TV_LOG_DEBUG,
                 "request");
    tv_log_text(&line, "method", tv_http_method_name(note->method));
    tv_log_text(&line, "path", path);
    tv_log_text(&line, "client", note->peer);
    tv_log_number(&line, "status", note->status);
    tv_log_number(&line, "received", note->received);
    tv_log_number(&line, "us", (uint64_t)(note->took / 1000));
    tv_log_end(&line);
}

/* Start and end. */

static void report_store(void *context, const char *text)
{
    struct tv_hub *hub = context;
    struct tv_log_line line;
    tv_log_begin(&line, &hub->options.log, TV_LOG_INFO, "store.cleaned");
    tv_log_text(&line, "text", text);
    tv_log_end(&line);
}

static enum tv_status open_store(struct tv_hub *hub, struct tv_error *err)
{
    struct tv_store_options options = hub->options.store;
    options.report = report_store;
    options.context = hub;
    return tv_store_open(hub->options.folder, &options, &hub->store, err);
}

static enum tv_status start_engines(struct tv_hub *hub, struct tv_error *err)
{
    struct tv_engines_options options = hub->options.engines;
    struct tv_log_line line;
    const char *lack;
    char scratch[4096];
    if (tv_store_scratch_make(hub->store, scratch, sizeof scratch, err) != TV_STORE_OK)
        return TV_ERR_IO;
    options.scratch = scratch;
    options.host = tv_reading_host(hub);
    enum tv_status status = tv_engines_new(&options, &hub->engines, err);
    if (status != TV_OK)
        return status;
    for (size_t i = 0; tv_engines_sandbox_lacks(hub->engines, i, &lack); i++) {
        tv_log_begin(&line, &hub->options.log, TV_LOG_WARNING, "sandbox.lacks");
        tv_log_text(&line, "text", lack);
        tv_log_end(&line);
    }
    return TV_OK;
}

static enum tv_status start(struct tv_hub *hub, struct tv_error *err)
{
    const struct tv_handler handler = {
        .answer = answer_request, .begin = begin_request, .note = note_request, .context = hub};
    enum tv_status status = tv_access_new(&hub->options.access, &hub->access, err);
    if (status == TV_OK)
        status = open_store(hub, err);
    if (status == TV_OK)
        status = start_engines(hub, err);
    if (status == TV_OK && hub->options.sample != NULL)
        tv_sample_find(hub);
    if (status == TV_OK)
        status = tv_reading_start(hub->reading, err);
    if (status == TV_OK)
        status = tv_http_new(&hub->options.http, &handler, &hub->http, err);
    if (status == TV_OK)
        status = tv_http_start(hub->http, err);
    return status;
}

enum tv_status tv_hub_new(const struct tv_hub_options *options, struct tv_hub **hub,
                          struct tv_error *err)
{
    struct tv_hub *made = tv_alloc(1, sizeof *made);
    made->options = *options;
    made->started = time(NULL);
    made->reading = tv_reading_new(made);
    tv_tries_init(&made->requests, options->rate, 4.0 * options->rate);
    enum tv_status status = start(made, err);
    if (status == TV_OK)
        *hub = made;
    else
        tv_hub_free(made);
    return status;
}

const char *tv_hub_address(const struct tv_hub *hub, size_t index)
{
    return tv_http_address(hub->http, index);
}

void tv_hub_stop(struct tv_hub *hub, unsigned timeout_ms)
{
    struct tv_log_line line;
    tv_http_stop_listening(hub->http);
    bool idle = tv_http_wait_idle(hub->http, timeout_ms);
    tv_log_begin(&line, &hub->options.log, TV_LOG_INFO, "server.stops");
    tv_log_text(&line, "requests", idle ? "all ended" : "some are cut; uploads can be resumed");
    tv_log_end(&line);
}

void tv_hub_free(struct tv_hub *hub)
{
    if (hub == NULL)
        return;
    tv_http_free(hub->http);
    tv_reading_stop(hub->reading);
    tv_engines_free(hub->engines);
    tv_reading_free(hub->reading);
    tv_store_close(hub->store);
    tv_access_free(hub->access);
    tv_tries_release(&hub->requests);
    tv_free(hub);
}
