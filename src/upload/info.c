/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - pages and original files, and what the server says about itself: to its page, to
 * monitoring (Prometheus text format, https://prometheus.io/docs/instrumenting/exposition_formats),
 * and to programmers (OpenAPI).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "upload/internal.h"
#include "viewer/viewer.h"

/* Answer with a page that is inside the program.  Its tag is a hash of its
 * bytes, so browsers load it once. */
static void pages_answer_page(struct tv_upload_request *req, const char *start, const char *end,
                              struct tv_answer *answer)
{
    const struct tv_bytes page = {(const uint8_t *)start, (size_t)(end - start)};
    const char *known = tv_request_header(req->http, "If-None-Match");
    struct tv_page_headers *headers = tv_arena_alloc(&answer->arena, 1, sizeof *headers);
    tv_page_describe(page, headers);
    answer->type = "text/html; charset=utf-8";
    answer->policy = headers->policy;
    answer->tag = headers->tag;
    if (known != NULL && strcmp(known, headers->tag) == 0)
        answer->status = TV_HTTP_NOT_MODIFIED;
    else
        answer->constant = page;
}

void tv_upload_front_page(struct tv_upload_request *req, struct tv_answer *answer)
{
    pages_answer_page(req, tv_upload_page, tv_upload_page_end, answer);
}

void tv_upload_fleet_page(struct tv_upload_request *req, struct tv_answer *answer)
{
    pages_answer_page(req, tv_fleet_page, tv_fleet_page_end, answer);
}

void tv_upload_view_page(struct tv_upload_request *req, struct tv_answer *answer)
{
    pages_answer_page(req, tv_page, tv_page_end, answer);
}

/* Answer with the same address and a slash: links in the page are relative. */
void tv_upload_redirect_to_folder(struct tv_upload_request *req, struct tv_answer *answer)
{
    const struct tv_bytes path = req->http->path;
    answer->status = TV_HTTP_PERMANENT_REDIRECT;
    tv_answer_header(answer, "Location", "%.*s/", (int)path.length, (const char *)path.data);
}

/* The encoding is that of RFC 8187. */
void tv_upload_add_file_name(struct tv_answer *answer, const char *name)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    char text[3 * TV_STORE_NAME + 1];
    size_t length = 0;
    for (const char *c = name; *c != '\0' && length + 3 < sizeof text; c++) {
        if (strchr(plain, *c) != NULL)
            text[length++] = *c;
        else
            length += (size_t)snprintf(text + length, 4, "%%%02X", (unsigned)(uint8_t)*c);
    }
    text[length] = '\0';
    tv_answer_header(answer, "Content-Disposition", "attachment; filename*=UTF-8''%s", text);
}

/* Answer with the file as it was uploaded; parts of it may be asked for. */
void tv_upload_get_original(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_store *store = req->server->store;
    struct tv_store_trace trace;
    struct tv_error err = {0};
    uint64_t bytes;
    int fd = -1;
    enum tv_store_status status = tv_store_trace_get(store, req->id, &answer->arena, &trace, &err);
    if (status == TV_STORE_OK)
        status = tv_store_file_open(store, req->id, &fd, &bytes, &err);
    if (status != TV_STORE_OK) {
        tv_upload_refuse_store(answer, status, &err);
        return;
    }
    if (tv_source_open_fd(fd, trace.name, &answer->source, &err) != TV_OK) {
        tv_upload_refuse(answer, TV_HTTP_INTERNAL_ERROR, err.message);
        return;
    }
    answer->type = "application/octet-stream";
    answer->ranges = true;
    tv_upload_add_file_name(answer, trace.name);
}

/* ---- Server info ---- */

/* Write a limit, or null if there is none. */
static void info_write_limit(struct tv_out *out, const char *name, uint64_t value)
{
    if (value > 0)
        tv_out_format(out, "\"%s\":%" PRIu64, name, value);
    else
        tv_out_format(out, "\"%s\":null", name);
}

/* Would the client be admitted with a right?  The answer has no consequence, so
 * Origin does not matter. */
static bool info_client_may(struct tv_upload_request *req, enum tv_right right)
{
    const struct tv_credentials client = {
        .peer = req->peer,
        .host = tv_request_header(req->http, "Host"),
        .authorization = tv_request_header(req->http, "Authorization"),
        .cookie = tv_request_header(req->http, "Cookie"),
    };
    return tv_access_check(req->server->access, &client, right) == TV_ADMITTED;
}

/* Write what confines the engines: the limits of resources always hold. */
static void info_write_sandbox(const struct tv_upload_server *server, struct tv_out *out)
{
    const unsigned parts = tv_engines_sandbox(server->engines);
    tv_out_text(out, ",\"sandbox\":[\"limits\"");
    if (parts & TV_SANDBOX_SECCOMP)
        tv_out_text(out, ",\"seccomp\"");
    if (parts & TV_SANDBOX_LANDLOCK)
        tv_out_text(out, ",\"landlock\"");
    tv_out_char(out, ']');
}

/* The sample's address is as secret as that of any trace, so only clients that may list traces see
 * it. It may have been deleted. */
static void info_write_sample(const struct tv_upload_server *server, bool lists,
                              struct tv_answer *answer)
{
    struct tv_store_trace trace;
    struct tv_error err;
    if (lists && server->sample.text[0] != '\0' &&
        tv_store_trace_get(server->store, server->sample.text, &answer->arena, &trace, &err) ==
            TV_STORE_OK)
        tv_out_format(&answer->body, ",\"sample\":\"%s\"", server->sample.text);
    else
        tv_out_text(&answer->body, ",\"sample\":null");
}

/* Answer GET /api/hub: what the page must know before it shows anything. */
void tv_upload_server_info(struct tv_upload_request *req, struct tv_answer *answer)
{
    const struct tv_upload_server *server = req->server;
    const struct tv_store_options *limits = &server->options.store;
    const char *login = tv_access_login_kind(server->access);
    struct tv_out *out = &answer->body;
    bool lists = info_client_may(req, TV_RIGHT_LIST),
         changes = info_client_may(req, TV_RIGHT_CHANGE);
    answer->type = "application/json";
    char name[256] = "";
    bool known = lists || changes; /* strangers learn neither the machine nor the version */
    if (known)
        (void)gethostname(name, sizeof name - 1);
    tv_out_text(out, "{\"name\":");
    tv_out_json(out, tv_bytes_of(name));
    tv_out_text(out, ",\"version\":");
    tv_out_json(out, tv_bytes_of(known ? TV_VERSION : ""));
    tv_out_format(out, ",\"may\":{\"upload\":%s,\"list\":%s,\"change\":%s}",
                  changes ? "true" : "false", lists ? "true" : "false", changes ? "true" : "false");
    tv_out_format(out, login != NULL ? ",\"login\":\"%s\"" : ",\"login\":null", login);
    info_write_sample(server, lists, answer);
    tv_out_text(out, ",\"limits\":{");
    info_write_limit(out, "upload_bytes", limits->max_upload_bytes);
    tv_out_char(out, ',');
    info_write_limit(out, "keep_seconds", (uint64_t)limits->keep_ms / 1000);
    tv_out_char(out, ',');
    info_write_limit(out, "store_bytes", limits->max_store_bytes);
    tv_out_char(out, '}');
    if (lists) {
        const struct tv_store_totals totals = tv_store_totals(server->store);
        tv_out_format(out, ",\"store\":{\"traces\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
                      totals.traces, totals.trace_bytes);
    } else {
        tv_out_text(out, ",\"store\":null");
    }
    info_write_sandbox(server, out);
    tv_out_format(out, ",\"reports\":%s,\"fleet\":%s}", server->options.reports ? "true" : "false",
                  lists && server->fleet != NULL ? "true" : "false");
}

/* Answer GET /healthz: the server runs.  It touches neither store nor engines. */
void tv_upload_server_health(struct tv_upload_request *req, struct tv_answer *answer)
{
    (void)req;
    answer->type = "text/plain; charset=utf-8";
    tv_out_text(&answer->body, "ok\n");
}

void tv_upload_server_openapi(struct tv_upload_request *req, struct tv_answer *answer)
{
    (void)req;
    answer->type = "application/json";
    answer->constant =
        (struct tv_bytes){(const uint8_t *)tv_openapi, (size_t)(tv_openapi_end - tv_openapi)};
}

/* ---- Metrics ---- */

/* Write a metric without labels. */
static void metrics_write(struct tv_out *out, const char *name, const char *type, const char *help,
                          uint64_t value)
{
    tv_out_format(out, "# HELP traceview_%s %s\n# TYPE traceview_%s %s\ntraceview_%s %" PRIu64 "\n",
                  name, help, name, type, name, value);
}

/* Write what HTTP counts. */
static void metrics_write_http(const struct tv_upload_server *server, struct tv_out *out)
{
    const struct tv_http_counts http = tv_http_count(server->http);
    tv_out_text(out, "# HELP traceview_answers_total Answers by class of their HTTP status.\n"
                     "# TYPE traceview_answers_total counter\n");
    for (unsigned i = 1; i < TV_COUNT(server->counts.answers); i++)
        tv_out_format(out, "traceview_answers_total{status=\"%uxx\"} %" PRIu64 "\n", i,
                      atomic_load(&server->counts.answers[i]));
    metrics_write(out, "connections", "gauge", "Open connections.", http.connections);
    metrics_write(out, "connections_total", "counter", "Connections accepted.", http.accepted);
    metrics_write(out, "connections_refused_total", "counter",
                  "Connections refused because of a limit.", http.refused);
    metrics_write(out, "connections_slow_total", "counter",
                  "Connections closed because they were too slow.", http.slow);
    metrics_write(out, "requests_total", "counter", "Requests received.", http.requests);
    metrics_write(out, "requests_malformed_total", "counter", "Requests that are not valid HTTP.",
                  http.malformed);
    metrics_write(out, "received_bytes_total", "counter", "Bytes of request bodies received.",
                  http.received);
    metrics_write(out, "sent_bytes_total", "counter", "Bytes of answer bodies sent.", http.sent);
    metrics_write(out, "clients_refused_total", "counter", "Answers 401, 403 and 429.",
                  server->counts.refused_clients);
}

/* Write what is stored, and what happened to uploads. */
static void metrics_write_store(const struct tv_upload_server *server, struct tv_out *out)
{
    const struct tv_store_totals totals = tv_store_totals(server->store);
    metrics_write(out, "uploads_total", "counter", "Uploads that became traces.",
                  server->counts.uploads);
    metrics_write(out, "uploads_broken_total", "counter", "Upload requests that were interrupted.",
                  server->counts.broken_uploads);
    metrics_write(out, "uploads_without_room_total", "counter",
                  "Uploads refused because the store or the disk was full.",
                  server->counts.full_disks);
    metrics_write(out, "upload_bytes_total", "counter", "Bytes of uploads received.",
                  server->counts.upload_bytes);
    metrics_write(out, "store_traces", "gauge", "Traces in the store.", totals.traces);
    metrics_write(out, "store_trace_bytes", "gauge", "Bytes of the traces in the store.",
                  totals.trace_bytes);
    metrics_write(out, "store_caches", "gauge", "Caches in the store.", totals.caches);
    metrics_write(out, "store_cache_bytes", "gauge", "Bytes of the caches in the store.",
                  totals.cache_bytes);
    metrics_write(out, "store_uploads", "gauge", "Incomplete uploads in the store.",
                  totals.uploads);
    metrics_write(out, "store_upload_bytes", "gauge", "Bytes of incomplete uploads.",
                  totals.upload_bytes);
}

/* Write what the engines do. */
static void metrics_write_engines(const struct tv_upload_server *server, struct tv_out *out)
{
    struct tv_engines_counts counts;
    tv_engines_count(server->engines, &counts);
    metrics_write(out, "engines_waiting", "gauge", "Engines waiting to start.", counts.waiting);
    metrics_write(out, "engines_loading", "gauge", "Engines reading a trace.", counts.loading);
    metrics_write(out, "engines_ready", "gauge", "Engines answering questions.", counts.ready);
    metrics_write(out, "engines_started_total", "counter", "Engines started.", counts.started);
    metrics_write(out, "engines_failed_total", "counter",
                  "Engines that could not read their trace.", counts.failed);
    metrics_write(out, "engines_died_total", "counter", "Engines that died.", counts.died);
    metrics_write(out, "traces_read_total", "counter", "Traces read.", server->counts.read);
    metrics_write(out, "traces_unreadable_total", "counter", "Traces that could not be read.",
                  server->counts.unreadable);
}

/* Write what the fleet's queue does, if there is one. */
static void metrics_write_fleet(const struct tv_upload_server *server, struct tv_out *out)
{
    if (server->fleet == NULL)
        return;
    const struct tv_fleet_queue_counts counts = tv_fleet_queue_count(server->fleet);
    metrics_write(out, "fleet_added_total", "counter",
                  "Traces added to the fleet, or there already.", counts.added);
    metrics_write(out, "fleet_failed_total", "counter",
                  "Traces that could not be added to the fleet.", counts.failed);
    metrics_write(out, "fleet_waiting", "gauge", "Traces waiting to be added to the fleet.",
                  counts.waiting);
    metrics_write(out, "fleet_answers_kept", "gauge",
                  "Answers about the fleet that were given before.", counts.answers);
    metrics_write(out, "fleet_change_points", "gauge",
                  "Change points of the fleet at the last look.", counts.changes);
    metrics_write(out, "fleet_change_points_found_total", "counter",
                  "Change points that were found for the first time.", counts.new_changes);
    metrics_write(out, "fleet_webhook_sent_total", "counter",
                  "Change points that the webhook accepted.", counts.sent);
    metrics_write(out, "fleet_webhook_failed_total", "counter",
                  "Change points that the webhook did not accept.", counts.unsent);
}

/* Answer GET /metrics.  Counters begin at 0 with each start, as Prometheus
 * expects. */
void tv_upload_server_metrics(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_out *out = &answer->body;
    answer->type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(out, "start_time_seconds", "gauge", "When the server started.",
                  (uint64_t)req->server->started);
    metrics_write_http(req->server, out);
    metrics_write_store(req->server, out);
    metrics_write_engines(req->server, out);
    metrics_write_fleet(req->server, out);
}
