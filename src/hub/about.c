/* SPDX-License-Identifier: Apache-2.0 */
/*
 * about.c - what the server says of itself: to its page, to what watches it (Prometheus' text
 * format, https://prometheus.io/docs/instrumenting/exposition_formats), to who programs for it.
 */
#include <inttypes.h>
#include <unistd.h>

#include "base/bytes.h"
#include "hub/handlers.h"
#include "hub/openapi.h"

static void write_limit(struct tv_out *out, const char *name, uint64_t value)
{
    if (value > 0)
        tv_out_format(out, "\"%s\":%" PRIu64, name, value);
    else
        tv_out_format(out, "\"%s\":null", name);
}

static bool may(struct tv_asked *asked, enum tv_right right)
{
    const struct tv_credentials client = {
        .peer = asked->peer,
        .host = tv_request_header(asked->request, "Host"),
        .authorization = tv_request_header(asked->request, "Authorization"),
        .cookie = tv_request_header(asked->request, "Cookie"),
    };
    return tv_access_judge(asked->hub->access, &client, right) == TV_ADMITTED;
}

static void write_sandbox(const struct tv_hub *hub, struct tv_out *out)
{
    const unsigned parts = tv_engines_sandbox(hub->engines);
    tv_out_text(out, ",\"sandbox\":[\"limits\"");
    if (parts & TV_SANDBOX_SECCOMP)
        tv_out_text(out, ",\"seccomp\"");
    if (parts & TV_SANDBOX_LANDLOCK)
        tv_out_text(out, ",\"landlock\"");
    tv_out_char(out, ']');
}

/* Of those who may list, for its address is as secret as others; somebody may have deleted it. */
static void write_sample(const struct tv_hub *hub, bool lists, struct tv_answer *answer)
{
    struct tv_store_trace trace;
    struct tv_error err;
    if (lists && hub->sample.text[0] != '\0' &&
        tv_store_trace_get(hub->store, hub->sample.text, &answer->arena, &trace, &err) ==
            TV_STORE_OK)
        tv_out_format(&answer->body, ",\"sample\":\"%s\"", hub->sample.text);
    else
        tv_out_text(&answer->body, ",\"sample\":null");
}

void tv_hub_describe(struct tv_asked *asked, struct tv_answer *answer)
{
    const struct tv_hub *hub = asked->hub;
    const struct tv_store_options *limits = &hub->options.store;
    const char *login = tv_access_login_kind(hub->access);
    struct tv_out *out = &answer->body;
    bool lists = may(asked, TV_RIGHT_LIST), changes = may(asked, TV_RIGHT_CHANGE);
    answer->type = "application/json";
    char name[256] = "";
    bool known = lists || changes; /* strangers learn neither machine nor version */
    if (known)
        (void)gethostname(name, sizeof name - 1);
    tv_out_text(out, "{\"name\":");
    tv_out_json(out, tv_bytes_of(name));
    tv_out_text(out, ",\"version\":");
    tv_out_json(out, tv_bytes_of(known ? TV_VERSION : ""));
    tv_out_format(out, ",\"may\":{\"upload\":%s,\"list\":%s,\"change\":%s}",
                  changes ? "true" : "false", lists ? "true" : "false", changes ? "true" : "false");
    tv_out_format(out, login != NULL ? ",\"login\":\"%s\"" : ",\"login\":null", login);
    write_sample(hub, lists, answer);
    tv_out_text(out, ",\"limits\":{");
    write_limit(out, "upload_bytes", limits->max_upload_bytes);
    tv_out_char(out, ',');
    write_limit(out, "keep_seconds", (uint64_t)limits->keep_ms / 1000);
    tv_out_char(out, ',');
    write_limit(out, "store_bytes", limits->max_store_bytes);
    tv_out_char(out, '}');
    if (lists) {
        const struct tv_store_totals totals = tv_store_totals(hub->store);
        tv_out_format(out, ",\"store\":{\"traces\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
                      totals.traces, totals.trace_bytes);
    } else {
        tv_out_text(out, ",\"store\":null");
    }
    write_sandbox(hub, out);
    tv_out_text(out, hub->options.reports ? ",\"reports\":true}" : ",\"reports\":false}");
}

void tv_hub_health(struct tv_asked *asked, struct tv_answer *answer)
{
    (void)asked;
    answer->type = "text/plain; charset=utf-8";
    tv_out_text(&answer->body, "ok\n");
}

void tv_hub_openapi(struct tv_asked *asked, struct tv_answer *answer)
{
    (void)asked;
    answer->type = "application/json";
    answer->constant =
        (struct tv_bytes){(const uint8_t *)tv_openapi, (size_t)(tv_openapi_end - tv_openapi)};
}

/* Metrics. */

static void metric(struct tv_out *out, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    tv_out_format(out, "# HELP traceview_%s %s\n# TYPE traceview_%s %s\ntraceview_%s %" PRIu64 "\n",
                  name, help, name, type, name, value);
}

static void write_http(const struct tv_hub *hub, struct tv_out *out)
{
    const struct tv_http_counts http = tv_http_count(hub->http);
    tv_out_text(out, "# HELP traceview_answers_total Answers by hundreds of their status.\n"
                     "# TYPE traceview_answers_total counter\n");
    for (unsigned i = 1; i < TV_COUNT(hub->counts.answers); i++)
        tv_out_format(out, "traceview_answers_total{status=\"%uxx\"} %" PRIu64 "\n", i,
                      atomic_load(&hub->counts.answers[i]));
    metric(out, "connections", "gauge", "Connections now.", http.connections);
    metric(out, "connections_total", "counter", "Connections that got a place.", http.accepted);
    metric(out, "connections_refused_total", "counter", "Connections over a limit.", http.refused);
    metric(out, "connections_slow_total", "counter", "Connections cut for slowness.", http.slow);
    metric(out, "requests_total", "counter", "Requests.", http.requests);
    metric(out, "requests_malformed_total", "counter", "Requests that are none.", http.malformed);
    metric(out, "received_bytes_total", "counter", "Bytes of bodies that came.", http.received);
    metric(out, "sent_bytes_total", "counter", "Bytes of bodies that went.", http.sent);
    metric(out, "clients_refused_total", "counter", "Answers 401, 403 and 429.",
           hub->counts.refused_clients);
}

static void write_store(const struct tv_hub *hub, struct tv_out *out)
{
    const struct tv_store_totals totals = tv_store_totals(hub->store);
    metric(out, "uploads_total", "counter", "Uploads that became traces.", hub->counts.uploads);
    metric(out, "uploads_broken_total", "counter", "Requests of uploads that broke off.",
           hub->counts.broken_uploads);
    metric(out, "uploads_without_room_total", "counter", "Uploads that found no room.",
           hub->counts.full_disks);
    metric(out, "upload_bytes_total", "counter", "Bytes of uploads.", hub->counts.upload_bytes);
    metric(out, "store_traces", "gauge", "Traces in the store.", totals.traces);
    metric(out, "store_trace_bytes", "gauge", "Bytes of them.", totals.trace_bytes);
    metric(out, "store_caches", "gauge", "Caches in the store.", totals.caches);
    metric(out, "store_cache_bytes", "gauge", "Bytes of them.", totals.cache_bytes);
    metric(out, "store_uploads", "gauge", "Uploads that are not complete.", totals.uploads);
    metric(out, "store_upload_bytes", "gauge", "Bytes of them.", totals.upload_bytes);
}

static void write_engines(const struct tv_hub *hub, struct tv_out *out)
{
    struct tv_engines_counts counts;
    tv_engines_count(hub->engines, &counts);
    metric(out, "engines_waiting", "gauge", "Engines that wait to start.", counts.waiting);
    metric(out, "engines_loading", "gauge", "Engines that read a trace.", counts.loading);
    metric(out, "engines_ready", "gauge", "Engines that answer.", counts.ready);
    metric(out, "engines_started_total", "counter", "Engines started.", counts.started);
    metric(out, "engines_failed_total", "counter", "Engines that could not read.", counts.failed);
    metric(out, "engines_died_total", "counter", "Engines that died.", counts.died);
    metric(out, "traces_read_total", "counter", "Traces read.", hub->counts.read);
    metric(out, "traces_unreadable_total", "counter", "Traces that could not be read.",
           hub->counts.unreadable);
}

void tv_hub_metrics(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_out *out = &answer->body;
    answer->type = "text/plain; version=0.0.4; charset=utf-8";
    metric(out, "start_time_seconds", "gauge", "When the server started.",
           (uint64_t)asked->hub->started);
    write_http(asked->hub, out);
    write_store(asked->hub, out);
    write_engines(asked->hub, out);
}
