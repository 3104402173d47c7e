/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - the upload server: starts and stops its parts, admits requests and routes them.
 *
 *     request -> rate limit -> Host, Origin -> route -> right of the route -> begin, answer
 *                   429            403          404           401, 403
 *
 * The parts start in this order, and stop in reverse: access, store, engines, reading queue, HTTP.
 *
 * A route is a pattern of segments: ID is 32 hexadecimal digits, NAME any one segment, REST all
 * that follows.  The path is compared as it came; nothing is decoded, so "%2e" is no dot.  The
 * table is searched from its start, and "/NAME" fits any path of one segment: it does not make a
 * path exist whose methods all differ (404, not 405).
 *
 * Headers about the client are believed only behind a proxy that the owner named: of
 * X-Forwarded-For only the last address, which that proxy has added.
 */
#include "upload/server.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "upload/internal.h"

/* ---- Refusals ---- */

void tv_upload_refuse(struct tv_answer *answer, enum tv_http_status status, const char *sentence)
{
    answer->status = status;
    answer->type = "application/json";
    tv_out_text(&answer->body, "{\"error\":");
    tv_out_json(&answer->body, tv_bytes_of(sentence));
    tv_out_text(&answer->body, "}\n");
}

void tv_upload_refuse_store(struct tv_answer *answer, enum tv_store_status status,
                            const struct tv_error *err)
{
    static const enum tv_http_status statuses[] = {
        [TV_STORE_OK] = TV_HTTP_INTERNAL_ERROR,         [TV_STORE_NOT_FOUND] = TV_HTTP_NOT_FOUND,
        [TV_STORE_WRONG_OFFSET] = TV_HTTP_CONFLICT,     [TV_STORE_BUSY] = TV_HTTP_LOCKED,
        [TV_STORE_TOO_LARGE] = TV_HTTP_TOO_LARGE,       [TV_STORE_INVALID] = TV_HTTP_UNPROCESSABLE,
        [TV_STORE_FULL] = TV_HTTP_INSUFFICIENT_STORAGE, [TV_STORE_FAILED] = TV_HTTP_INTERNAL_ERROR,
    };
    tv_upload_refuse(answer, statuses[status], err->message);
}

void tv_upload_write_base_url(const struct tv_upload_request *req, struct tv_out *out)
{
    const char *host = tv_request_header(req->http, "Host");
    tv_out_text(out, req->secure ? "https://" : "http://");
    tv_out_text(out, host != NULL ? host : "localhost");
}

/* A body that is kept in memory: a token, or the JSON of a change. */
struct small_body {
    size_t most, length;
    uint8_t text[];
};

/* Append a piece of the body, or refuse it: a body may have announced no
 * length. */
static enum tv_status small_body_take(void *context, struct tv_bytes piece,
                                      struct tv_answer *answer)
{
    struct small_body *body = context;
    if (piece.length > body->most - body->length) {
        tv_upload_refuse(answer, TV_HTTP_TOO_LARGE, "the body of this request is too large");
        return TV_ERR_LIMIT;
    }
    memcpy(body->text + body->length, piece.data, piece.length);
    body->length += piece.length;
    return TV_OK;
}

/* Free the body.  It may be a token, so its bytes are overwritten. */
static void small_body_end(void *context, bool whole)
{
    struct small_body *body = context;
    (void)whole;
    explicit_bzero(body->text, body->length);
    tv_free(body);
}

bool tv_small_body_begin(struct tv_upload_request *req, size_t most, struct tv_body *body,
                         struct tv_answer *answer)
{
    const uint64_t announced = req->http->length;
    if (announced != TV_HTTP_UNKNOWN_LENGTH && announced > most) {
        tv_upload_refuse(answer, TV_HTTP_TOO_LARGE, "the body of this request is too large");
        return false;
    }
    struct small_body *made = tv_alloc(sizeof *made + most, 1);
    made->most = most;
    *body = (struct tv_body){.take = small_body_take, .end = small_body_end, .context = made};
    return true;
}

struct tv_bytes tv_small_body_text(const void *context)
{
    const struct small_body *body = context;
    return (struct tv_bytes){body->text, body->length};
}

/* ---- Routes ---- */

/* All addresses of the server; docs/openapi.json describes them. */

static const struct tv_route upload_routes[] = {
    {TV_HTTP_GET, "/", TV_RIGHT_NONE, tv_upload_front_page, NULL},
    {TV_HTTP_GET, "/fleet", TV_RIGHT_NONE, tv_upload_fleet_page, NULL},
    {TV_HTTP_GET, "/t/ID/", TV_RIGHT_NONE, tv_upload_front_page, NULL},
    {TV_HTTP_GET, "/t/ID", TV_RIGHT_NONE, tv_upload_redirect_to_folder, NULL},
    {TV_HTTP_GET, "/t/ID/view", TV_RIGHT_NONE, tv_upload_redirect_to_folder, NULL},
    {TV_HTTP_GET, "/t/ID/view/", TV_RIGHT_READ, tv_upload_view_page, NULL},
    {TV_HTTP_GET, "/t/ID/view/api/REST", TV_RIGHT_READ, tv_upload_proxy_question, NULL},
    {TV_HTTP_GET, "/t/ID/file", TV_RIGHT_READ, tv_upload_get_original, NULL},
    {TV_HTTP_GET, "/t/ID/flamegraph.svg", TV_RIGHT_READ, tv_upload_proxy_flamegraph, NULL},
    {TV_HTTP_GET, "/t/ID/collapsed.txt", TV_RIGHT_READ, tv_upload_proxy_collapsed, NULL},
    {TV_HTTP_GET, "/t/ID/report.html", TV_RIGHT_READ, tv_upload_proxy_report, NULL},
    {TV_HTTP_PUT, "/", TV_RIGHT_CHANGE, tv_upload_put, tv_upload_put_begin},
    {TV_HTTP_PUT, "/NAME", TV_RIGHT_CHANGE, tv_upload_put, tv_upload_put_begin},
    {TV_HTTP_OPTIONS, "/api/uploads", TV_RIGHT_NONE, tv_upload_tus_options, NULL},
    {TV_HTTP_POST, "/api/uploads", TV_RIGHT_CHANGE, tv_upload_tus_create, NULL},
    {TV_HTTP_HEAD, "/api/uploads/ID", TV_RIGHT_CHANGE, tv_upload_tus_head, NULL},
    {TV_HTTP_PATCH, "/api/uploads/ID", TV_RIGHT_CHANGE, tv_upload_tus_patch,
     tv_upload_tus_patch_begin},
    {TV_HTTP_DELETE, "/api/uploads/ID", TV_RIGHT_CHANGE, tv_upload_tus_delete, NULL},
    {TV_HTTP_GET, "/api/hub", TV_RIGHT_NONE, tv_upload_server_info, NULL},
    {TV_HTTP_GET, "/api/traces", TV_RIGHT_LIST, tv_upload_list_traces, NULL},
    {TV_HTTP_GET, "/api/traces/ID", TV_RIGHT_READ, tv_upload_get_trace, NULL},
    {TV_HTTP_PATCH, "/api/traces/ID", TV_RIGHT_CHANGE, tv_upload_change_trace,
     tv_upload_change_trace_begin},
    {TV_HTTP_DELETE, "/api/traces/ID", TV_RIGHT_CHANGE, tv_upload_delete_trace, NULL},
    {TV_HTTP_POST, "/api/traces/ID/read", TV_RIGHT_CHANGE, tv_upload_reread_trace, NULL},
    {TV_HTTP_GET, "/api/fleet/NAME", TV_RIGHT_LIST, tv_upload_ask_fleet, NULL},
    {TV_HTTP_POST, "/login", TV_RIGHT_NONE, tv_upload_login, tv_upload_login_begin},
    {TV_HTTP_POST, "/logout", TV_RIGHT_NONE, tv_upload_logout, NULL},
    {TV_HTTP_GET, "/healthz", TV_RIGHT_NONE, tv_upload_server_health, NULL},
    {TV_HTTP_GET, "/metrics", TV_RIGHT_LIST, tv_upload_server_metrics, NULL},
    {TV_HTTP_GET, "/openapi.json", TV_RIGHT_NONE, tv_upload_server_openapi, NULL},
    {TV_HTTP_OTHER, NULL, TV_RIGHT_NONE, NULL, NULL},
};

/* Is a segment an id: 32 hexadecimal digits in lower case? */
static bool route_is_id(struct tv_bytes text)
{
    if (text.length != TV_STORE_ID_DIGITS)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (memchr("0123456789abcdef", text.data[i], 16) == NULL)
            return false;
    return true;
}

/* Match one path segment against one of the pattern. */
static bool route_fits_segment(struct tv_bytes pattern, struct tv_bytes part,
                               struct tv_upload_request *req)
{
    if (tv_bytes_equal(pattern, TV_BYTES("ID"))) {
        if (!route_is_id(part))
            return false;
        memcpy(req->id, part.data, part.length);
        req->id[part.length] = '\0';
        return true;
    }
    if (tv_bytes_equal(pattern, TV_BYTES("NAME"))) {
        req->rest = part;
        return part.length > 0;
    }
    return tv_bytes_equal(pattern, part);
}

/* Compare a path with a pattern, segment by segment; both begin with "/", so
 * the first segment is empty. */
static bool route_fits(const char *pattern, struct tv_bytes path, struct tv_upload_request *req)
{
    struct tv_bytes parts = tv_bytes_of(pattern), wanted, part;
    bool more_wanted = true, more = true;
    while (more_wanted && more) {
        more_wanted = tv_bytes_split(&parts, '/', &wanted);
        if (!more_wanted && tv_bytes_equal(wanted, TV_BYTES("REST"))) {
            req->rest = path;
            return true;
        }
        more = tv_bytes_split(&path, '/', &part);
        if (!route_fits_segment(wanted, part, req))
            return false;
    }
    return more_wanted == more;
}

/* A GET route also serves HEAD, unless there is a separate HEAD route. */
static bool route_has_method(const struct tv_route *route, enum tv_http_method method)
{
    return route->method == method || (route->method == TV_HTTP_GET && method == TV_HTTP_HEAD);
}

/* Every name matches this pattern, so its methods say nothing about whether the path exists. */
static bool route_is_any_name(const char *pattern)
{
    return strcmp(pattern, "/NAME") == 0;
}

const struct tv_route *tv_route_find(enum tv_http_method method, struct tv_bytes path,
                                     struct tv_upload_request *req, char allow[64])
{
    size_t length = 0;
    allow[0] = '\0';
    for (const struct tv_route *route = upload_routes; route->path != NULL; route++) {
        if (!route_fits(route->path, path, req))
            continue;
        if (route_has_method(route, method))
            return route;
        if (route_is_any_name(route->path))
            continue;
        int more = snprintf(allow + length, 64 - length, "%s%s%s", length > 0 ? ", " : "",
                            tv_http_method_name(route->method),
                            route->method == TV_HTTP_GET ? ", HEAD" : "");
        length += more > 0 && (size_t)more < 64 - length ? (size_t)more : 0;
    }
    return NULL;
}

/* ---- Requests ---- */

/* Is the peer a proxy whose X-Forwarded headers are believed (--proxy)? */
static bool upload_is_proxy(const struct tv_upload_server *server, const char *peer)
{
    for (size_t i = 0; i < server->options.proxy_count; i++)
        if (strcmp(server->options.proxies[i], peer) == 0)
            return true;
    return false;
}

/* Return the last address of "X-Forwarded-For: client, proxy": the one that our own proxy saw. The
 * others may be forged. */
static const char *upload_forwarded_peer(const struct tv_request *request)
{
    const char *addresses = tv_request_header(request, "X-Forwarded-For");
    if (addresses == NULL)
        return request->peer;
    const char *comma = strrchr(addresses, ',');
    const char *last = comma != NULL ? comma + 1 : addresses;
    last += strspn(last, " \t");
    return last[0] != '\0' ? last : request->peer;
}

/* Describe the request from the client's point of view, also behind a trusted proxy. */
static struct tv_upload_request upload_make_request(struct tv_upload_server *server,
                                                    const struct tv_request *request)
{
    struct tv_upload_request req = {
        .server = server, .http = request, .peer = request->peer, .secure = request->secure};
    if (upload_is_proxy(server, request->peer)) {
        const char *scheme = tv_request_header(request, "X-Forwarded-Proto");
        req.peer = upload_forwarded_peer(request);
        req.secure = scheme != NULL && strcasecmp(scheme, "https") == 0;
    }
    tv_client_key_make(req.peer, req.client);
    return req;
}

/* May a method change something?  Then the request must come from our own page,
 * or from no page. */
static bool upload_is_change(enum tv_http_method method)
{
    return method != TV_HTTP_GET && method != TV_HTTP_HEAD && method != TV_HTTP_OPTIONS;
}

/* Ask access.c about the headers of the request. */
static enum tv_verdict upload_check_access(const struct tv_upload_request *req, enum tv_right right)
{
    const struct tv_request *request = req->http;
    const struct tv_credentials client = {
        .peer = req->peer,
        .host = tv_request_header(request, "Host"),
        .origin = tv_request_header(request, "Origin"),
        .fetch_site = tv_request_header(request, "Sec-Fetch-Site"),
        .authorization = tv_request_header(request, "Authorization"),
        .cookie = tv_request_header(request, "Cookie"),
        .changes = upload_is_change(request->method),
    };
    return tv_access_check(req->server->access, &client, right);
}

/* Refuse a client with the reason and what to do. */
static void upload_refuse_client(const struct tv_upload_request *req, enum tv_verdict verdict,
                                 struct tv_answer *answer)
{
    const char *login = tv_access_login_kind(req->server->access);
    req->server->counts.refused_clients++;
    switch (verdict) {
    case TV_FOREIGN_HOST:
        tv_upload_refuse(answer, TV_HTTP_FORBIDDEN,
                         "this server does not answer to that host name; its owner can allow the "
                         "name with --host");
        break;
    case TV_FOREIGN_ORIGIN:
        tv_upload_refuse(answer, TV_HTTP_FORBIDDEN,
                         "requests from pages of other sites are refused");
        break;
    case TV_TOO_MANY_TRIES:
        tv_upload_refuse(answer, TV_HTTP_TOO_MANY_REQUESTS,
                         "too many wrong passwords; wait a minute");
        tv_answer_header(answer, "Retry-After", "60");
        break;
    default:
        tv_upload_refuse(answer, TV_HTTP_UNAUTHORIZED, "log in first");
        tv_answer_header(answer, "WWW-Authenticate", "%s",
                         login != NULL && strcmp(login, "basic") == 0
                             ? "Basic realm=\"traceview\", charset=\"UTF-8\""
                             : "Bearer realm=\"traceview\"");
    }
}

/* Take a token of the client; false: it has sent too many requests. */
static bool upload_check_rate(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_upload_server *server = req->server;
    if (server->options.rate == 0 ||
        tv_rate_limit_take(&server->requests, req->peer, tv_access_now()))
        return true;
    server->counts.refused_clients++;
    tv_upload_refuse(answer, TV_HTTP_TOO_MANY_REQUESTS, "too many requests; slow down");
    tv_answer_header(answer, "Retry-After", "1");
    return false;
}

/* Check everything that is independent of the route's handler. NULL: the answer refuses the
 * request. */
static const struct tv_route *upload_admit(struct tv_upload_request *req, struct tv_answer *answer)
{
    char allow[64];
    if (!upload_check_rate(req, answer))
        return NULL;
    enum tv_verdict verdict = upload_check_access(req, TV_RIGHT_NONE);
    const struct tv_route *route = tv_route_find(req->http->method, req->http->path, req, allow);
    if (verdict == TV_ADMITTED && route != NULL)
        verdict = upload_check_access(req, route->right);
    if (verdict != TV_ADMITTED) {
        upload_refuse_client(req, verdict, answer);
        return NULL;
    }
    if (route != NULL)
        return route;
    if (allow[0] == '\0') {
        tv_upload_refuse(answer, TV_HTTP_NOT_FOUND, "there is nothing at this address");
        return NULL;
    }
    tv_upload_refuse(answer, TV_HTTP_METHOD_NOT_ALLOWED,
                     "this address does not accept this method");
    tv_answer_header(answer, "Allow", "%s", allow);
    return NULL;
}

/* Called when the headers have arrived, before the body: nobody reads the body
 * of a request that is refused. */
static bool upload_begin_request(void *context, const struct tv_request *request,
                                 struct tv_body *body, struct tv_answer *answer)
{
    struct tv_upload_request req = upload_make_request(context, request);
    const struct tv_route *route = upload_admit(&req, answer);
    if (route == NULL)
        return false;
    return route->begin == NULL || route->begin(&req, body, answer);
}

/* Called when the body is complete.  The request was admitted, so its route
 * exists. */
static void upload_answer_request(void *context, const struct tv_request *request,
                                  struct tv_answer *answer)
{
    assert(request->method <= TV_HTTP_OTHER);
    char allow[64];
    struct tv_upload_request req = upload_make_request(context, request);
    const struct tv_route *route = tv_route_find(request->method, request->path, &req, allow);
    tv_answer_header(answer, "X-Robots-Tag", "noindex");
    route->answer(&req, answer);
}

/* Called after each answer: count it, and log it, as an error if it is one of
 * ours. */
static void upload_log_request(void *context, const struct tv_http_note *note)
{
    struct tv_upload_server *server = context;
    struct tv_log_line line;
    char path[256];
    unsigned hundreds = note->status / 100;
    server->counts.answers[hundreds < TV_COUNT(server->counts.answers) ? hundreds : 0]++;
    snprintf(path, sizeof path, "%.*s", (int)(note->path.length < 200 ? note->path.length : 200),
             (const char *)note->path.data);
    tv_log_begin(&line, &server->options.log, note->status >= 500 ? TV_LOG_ERROR : TV_LOG_DEBUG,
                 "request");
    tv_log_text(&line, "method", tv_http_method_name(note->method));
    tv_log_text(&line, "path", path);
    tv_log_text(&line, "client", note->peer);
    tv_log_number(&line, "status", note->status);
    tv_log_number(&line, "received", note->received);
    tv_log_number(&line, "us", (uint64_t)(note->took / 1000));
    tv_log_end(&line);
}

/* ---- Life cycle ---- */

/* Log what the store cleaned up. */
static void upload_log_store(void *context, const char *text)
{
    struct tv_upload_server *server = context;
    struct tv_log_line line;
    tv_log_begin(&line, &server->options.log, TV_LOG_INFO, "store.cleaned");
    tv_log_text(&line, "text", text);
    tv_log_end(&line);
}

static enum tv_status upload_open_store(struct tv_upload_server *server, struct tv_error *err)
{
    struct tv_store_options options = server->options.store;
    options.report = upload_log_store;
    options.context = server;
    return tv_store_open(server->options.folder, &options, &server->store, err);
}

/* Start the engines; parts of the sandbox that this kernel lacks are warnings. */
static enum tv_status upload_start_engines(struct tv_upload_server *server, struct tv_error *err)
{
    struct tv_engines_options options = server->options.engines;
    struct tv_log_line line;
    const char *lack;
    char scratch[4096];
    if (tv_store_scratch_make(server->store, scratch, sizeof scratch, err) != TV_STORE_OK)
        return TV_ERR_IO;
    options.scratch = scratch;
    options.host = tv_reading_queue_host(server);
    enum tv_status status = tv_engines_new(&options, &server->engines, err);
    if (status != TV_OK)
        return status;
    for (size_t i = 0; tv_engines_sandbox_missing(server->engines, i, &lack); i++) {
        tv_log_begin(&line, &server->options.log, TV_LOG_WARNING, "sandbox.lacks");
        tv_log_text(&line, "text", lack);
        tv_log_end(&line);
    }
    return TV_OK;
}

/* Start the parts in order; after an error, tv_upload_server_free stops those
 * that run. */
static enum tv_status upload_start(struct tv_upload_server *server, struct tv_error *err)
{
    const struct tv_handler handler = {.answer = upload_answer_request,
                                       .begin = upload_begin_request,
                                       .note = upload_log_request,
                                       .context = server};
    enum tv_status status = tv_access_new(&server->options.access, &server->access, err);
    if (status == TV_OK)
        status = upload_open_store(server, err);
    if (status == TV_OK)
        status = upload_start_engines(server, err);
    if (status == TV_OK && server->options.sample != NULL)
        tv_sample_install(server);
    if (status == TV_OK && server->options.fleet != NULL)
        status = tv_fleet_queue_new(server, server->options.fleet, &server->fleet, err);
    if (status == TV_OK)
        status = tv_reading_queue_start(server->reading, err);
    if (status == TV_OK)
        status = tv_http_new(&server->options.http, &handler, &server->http, err);
    if (status == TV_OK)
        status = tv_http_start(server->http, err);
    return status;
}

enum tv_status tv_upload_server_new(const struct tv_upload_server_options *options,
                                    struct tv_upload_server **server, struct tv_error *err)
{
    struct tv_upload_server *made = tv_alloc(1, sizeof *made);
    made->options = *options;
    made->started = time(NULL);
    made->reading = tv_reading_queue_new(made);
    tv_rate_limit_init(&made->requests, options->rate, 4.0 * options->rate);
    enum tv_status status = upload_start(made, err);
    if (status == TV_OK)
        *server = made;
    else
        tv_upload_server_free(made);
    return status;
}

const char *tv_upload_server_address(const struct tv_upload_server *server, size_t index)
{
    return tv_http_address(server->http, index);
}

/* Let requests end for a while, so that uploads are not cut without need. */
void tv_upload_server_stop(struct tv_upload_server *server, unsigned timeout_ms)
{
    assert(server->http != NULL);
    struct tv_log_line line;
    tv_http_stop_listening(server->http);
    bool idle = tv_http_wait_idle(server->http, timeout_ms);
    tv_log_begin(&line, &server->options.log, TV_LOG_INFO, "server.stops");
    tv_log_text(&line, "requests", idle ? "all ended" : "some are cut; uploads can be resumed");
    tv_log_end(&line);
}

void tv_upload_server_free(struct tv_upload_server *server)
{
    if (server == NULL)
        return;
    /* In reverse order: no request may reach a part that is gone. */
    tv_http_free(server->http);
    tv_reading_queue_stop(server->reading);
    tv_fleet_queue_free(server->fleet);
    tv_engines_free(server->engines);
    tv_reading_queue_free(server->reading);
    tv_store_close(server->store);
    tv_access_free(server->access);
    tv_rate_limit_release(&server->requests);
    tv_free(server);
}
