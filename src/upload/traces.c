/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.c - lists, shows, changes and deletes traces (docs/openapi.json,
 * "Trace" and "TraceInList").
 *
 *     GET /api/traces?q=...    query --> store: a page of rows --> JSON without facts
 *     GET /api/traces/ID       one row --> JSON with facts: threads, health, findings
 *     PATCH                    JSON --> change --> store
 *     DELETE, POST .../read    the engine of the trace ends, too
 *
 * The facts of a trace are the JSON that its engine answered to api/facts
 * (reading.c).  They were checked when they were stored, and are copied as they
 * are.
 */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "store/traces.h"
#include "upload/internal.h"
#include "upload/log.h"

/* Write a member with a text, or null. */
static void json_write_text(struct tv_out *out, const char *name, const char *text)
{
    tv_out_format(out, ",\"%s\":", name);
    if (text != NULL)
        tv_out_json(out, tv_bytes_of(text));
    else
        tv_out_text(out, "null");
}

/* Write a member with a time in ISO 8601, or null. */
static void json_write_time(struct tv_out *out, const char *name, int64_t ms)
{
    char text[TV_ISO_TIME];
    json_write_text(out, name, ms == TV_STORE_NEVER ? NULL : tv_iso_time(ms / 1000, text));
}

/* Write a member with a list of texts. */
static void json_write_texts(struct tv_out *out, const char *name, const char *const *texts,
                             size_t count)
{
    tv_out_format(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            tv_out_char(out, ',');
        tv_out_json(out, tv_bytes_of(texts[i]));
    }
    tv_out_char(out, ']');
}

/* Write why a trace cannot be read, where, and what to do. */
static void json_write_trace_error(struct tv_out *out, const struct tv_store_trace *trace)
{
    tv_out_text(out, ",\"error\":");
    if (trace->error == NULL) {
        tv_out_text(out, "null");
        return;
    }
    tv_out_text(out, "{\"message\":");
    tv_out_json(out, tv_bytes_of(trace->error));
    if (trace->error_offset != TV_NO_OFFSET)
        tv_out_format(out, ",\"offset\":%" PRIu64, trace->error_offset);
    else
        tv_out_text(out, ",\"offset\":null");
    json_write_text(out, "remedy", trace->remedy);
    tv_out_char(out, '}');
}

/* Write how far a trace is: its progress is known only while it is being read. */
static void json_write_trace_state(const struct tv_upload_server *server,
                                   const struct tv_store_trace *trace, struct tv_out *out)
{
    static const char *const names[] = {
        [TV_STORE_WAITING] = "waiting",
        [TV_STORE_READING] = "reading",
        [TV_STORE_READY] = "ready",
        [TV_STORE_UNREADABLE] = "failed",
    };
    double progress = -1;
    json_write_text(out, "state", names[trace->state]);
    if (trace->state == TV_STORE_READING)
        progress = tv_reading_queue_progress(server->reading, trace->id.text);
    if (progress >= 0)
        tv_out_format(out, ",\"progress\":%.3f", progress);
    else
        tv_out_text(out, ",\"progress\":null");
    json_write_trace_error(out, trace);
}

/* Write the columns of the catalogue about the contents; unknown ones are null. */
static void json_write_trace_figures(const struct tv_store_trace *trace, struct tv_out *out)
{
    json_write_text(out, "format", trace->format);
    json_write_text(out, "version", trace->version);
    if (trace->length_ns >= 0)
        tv_out_format(out, ",\"length_ns\":%" PRId64, trace->length_ns);
    else
        tv_out_text(out, ",\"length_ns\":null");
    tv_out_format(out, ",\"events\":%" PRIu64 ",\"calls\":%" PRIu64, trace->events, trace->calls);
    tv_out_format(out, ",\"warnings\":%" PRIu32 ",\"finding_count\":%" PRIu32, trace->warnings,
                  trace->findings);
    json_write_time(out, "recorded", trace->recorded_ms);
    json_write_texts(out, "processes", trace->processes, trace->process_count);
}

/* Write the members of the facts' object (see reading.c). */
static void json_write_trace_lists(struct tv_bytes facts, struct tv_out *out)
{
    if (facts.length <= 2)
        facts = TV_BYTES("{\"threads\":[],\"health\":[],\"findings\":[]}");
    tv_out_char(out, ',');
    tv_out_bytes(out, (struct tv_bytes){facts.data + 1, facts.length - 2});
}

/* Write a trace as JSON. In a list the facts are left out. */
static void json_write_trace(const struct tv_upload_server *server,
                             const struct tv_store_trace *trace, bool in_list, struct tv_out *out)
{
    tv_out_format(out, "{\"id\":\"%s\"", trace->id.text);
    json_write_text(out, "name", trace->name);
    tv_out_format(out, ",\"bytes\":%" PRIu64, trace->bytes);
    json_write_time(out, "uploaded", trace->uploaded_ms);
    json_write_time(out, "expires", trace->expires_ms);
    tv_out_format(out, ",\"pinned\":%s", trace->pinned ? "true" : "false");
    json_write_text(out, "note", trace->note);
    json_write_texts(out, "labels", trace->labels, trace->label_count);
    json_write_trace_state(server, trace, out);
    json_write_trace_figures(trace, out);
    if (!in_list) {
        json_write_trace_lists(trace->facts, out);
    }
    tv_out_char(out, '}');
}

/* Bytes of the JSON of a change: names, notes and labels are shorter. */
#define LARGEST_CHANGE ((size_t)64 * 1024)

/* ---- The list ---- */

/* Parse a date, or a date and a time. */
static bool list_parse_time(struct tv_bytes text, int64_t *ms)
{
    int64_t seconds;
    if (!tv_iso_parse(text, &seconds))
        return false;
    *ms = seconds * 1000;
    return true;
}

static bool list_parse_sort(struct tv_bytes word, enum tv_store_sort *sort)
{
    static const struct {
        const char *word;
        enum tv_store_sort sort;
    } sorts[] = {
        {"uploaded", TV_STORE_BY_UPLOADED},
        {"name", TV_STORE_BY_NAME},
        {"bytes", TV_STORE_BY_BYTES},
        {"length", TV_STORE_BY_LENGTH},
    };
    for (size_t i = 0; i < TV_COUNT(sorts); i++)
        if (tv_bytes_equal(word, tv_bytes_of(sorts[i].word))) {
            *sort = sorts[i].sort;
            return true;
        }
    return false;
}

/* Parse the number of traces on a page; more than a page has is a page. */
static bool list_parse_limit(struct tv_bytes text, uint32_t *limit)
{
    uint64_t number;
    if (!tv_parse_u64(text, &number) || number == 0)
        return false;
    *limit = number < TV_STORE_PAGE ? (uint32_t)number : TV_STORE_PAGE;
    return true;
}

/* Apply one parameter of the list. False: its name or value is wrong. */
static bool list_take_parameter(struct tv_bytes name, struct tv_bytes value,
                                struct tv_store_query *query)
{
    if (tv_bytes_equal(name, TV_BYTES("q")))
        query->words = value;
    else if (tv_bytes_equal(name, TV_BYTES("label")))
        query->label = value;
    else if (tv_bytes_equal(name, TV_BYTES("process")))
        query->process = value;
    else if (tv_bytes_equal(name, TV_BYTES("after")))
        query->after = value;
    else if (tv_bytes_equal(name, TV_BYTES("since")))
        return query->has_since = list_parse_time(value, &query->since_ms);
    else if (tv_bytes_equal(name, TV_BYTES("until")))
        return query->has_until = list_parse_time(value, &query->until_ms);
    else if (tv_bytes_equal(name, TV_BYTES("sort")))
        return list_parse_sort(value, &query->sort);
    else if (tv_bytes_equal(name, TV_BYTES("limit")))
        return list_parse_limit(value, &query->limit);
    else if (tv_bytes_equal(name, TV_BYTES("order")))
        return (query->descending = tv_bytes_equal(value, TV_BYTES("desc"))) ||
               tv_bytes_equal(value, TV_BYTES("asc"));
    else
        return false;
    return true;
}

/* Write the traces, how many there are in all, and where the next page begins. */
static void list_write_page(const struct tv_upload_server *server, const struct tv_store_page *page,
                            struct tv_out *out)
{
    tv_out_text(out, "{\"traces\":[");
    for (size_t i = 0; i < page->count; i++) {
        if (i > 0)
            tv_out_char(out, ',');
        json_write_trace(server, &page->traces[i], true, out);
    }
    tv_out_text(out, "],\"total\":");
    tv_out_u64(out, page->total);
    tv_out_text(out, ",\"after\":");
    if (page->after != NULL)
        tv_out_json(out, tv_bytes_of(page->after));
    else
        tv_out_text(out, "null");
    tv_out_char(out, '}');
}

/* Answer GET /api/traces.  An unknown parameter is refused: a typing error must
 * not show all traces. */
void tv_upload_list_traces(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_store_query wanted = {.descending = true};
    struct tv_query query;
    struct tv_error err = {0};
    struct tv_store_page page;
    if (tv_query_parse(&query, req->http->query, req->http->query_length, &err) != TV_OK) {
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, err.message);
        return;
    }
    for (size_t i = 0; i < query.count; i++) {
        if (list_take_parameter(query.items[i].name, query.items[i].value, &wanted))
            continue;
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "wrong parameter '%.*s'",
                (int)(query.items[i].name.length < 40 ? query.items[i].name.length : 40),
                (const char *)query.items[i].name.data);
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, err.message);
        return;
    }
    enum tv_store_status status =
        tv_store_search(req->server->store, &wanted, &answer->arena, &page, &err);
    if (status != TV_STORE_OK) {
        tv_upload_refuse_store(answer, status, &err);
        return;
    }
    answer->type = "application/json";
    list_write_page(req->server, &page, &answer->body);
}

/* ---- One trace ---- */

/* Answer GET /api/traces/ID. */
void tv_upload_get_trace(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_store_trace trace;
    struct tv_error err = {0};
    enum tv_store_status status =
        tv_store_trace_get(req->server->store, req->id, &answer->arena, &trace, &err);
    if (status != TV_STORE_OK) {
        tv_upload_refuse_store(answer, status, &err);
        return;
    }
    answer->type = "application/json";
    answer->status = TV_HTTP_OK;
    json_write_trace(req->server, &trace, false, &answer->body);
}

/* Answer DELETE.  The store forgets the trace first, so that no new engine
 * starts for it. */
void tv_upload_delete_trace(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_upload_server *server = req->server;
    struct tv_error err = {0};
    struct tv_log_line line;
    enum tv_store_status status = tv_store_trace_delete(server->store, req->id, &err);
    if (status != TV_STORE_OK) {
        tv_upload_refuse_store(answer, status, &err);
        return;
    }
    tv_engines_end(server->engines, req->id);
    answer->status = TV_HTTP_NO_CONTENT;
    tv_log_begin(&line, &server->options.log, TV_LOG_INFO, "trace.deleted");
    tv_log_text(&line, "trace", req->id);
    tv_log_text(&line, "client", req->peer);
    tv_log_end(&line);
}

/* Return true when the trace is neither being read nor waiting for it. */
static bool trace_is_idle(const struct tv_store_trace *trace)
{
    return trace->state == TV_STORE_READY || trace->state == TV_STORE_UNREADABLE;
}

/* Answer POST /api/traces/ID/read; a trace that is being read or waits stays as
 * it is. */
void tv_upload_reread_trace(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_upload_server *server = req->server;
    struct tv_store_trace trace;
    struct tv_error err = {0};
    enum tv_store_status status =
        tv_store_trace_get(server->store, req->id, &answer->arena, &trace, &err);
    if (status == TV_STORE_OK && trace_is_idle(&trace)) {
        tv_engines_end(server->engines, req->id);
        status = tv_store_trace_set_state(server->store, req->id, TV_STORE_WAITING, &err);
        tv_reading_queue_wake(server->reading);
    }
    if (status != TV_STORE_OK)
        tv_upload_refuse_store(answer, status, &err);
    else
        tv_upload_get_trace(req, answer);
}

/* ---- Changes ---- */

/* A change from the client in the store's form. The texts point into the JSON. */
struct trace_change {
    struct tv_bytes name, note, labels[TV_STORE_LABELS + 1];
    bool pinned;
    struct tv_store_change is;
};

/* Take the list of labels.  One too many is kept for the store, which refuses
 * it with a reason. */
static bool change_take_labels(const cJSON *list, struct trace_change *change)
{
    const cJSON *item;
    if (!cJSON_IsArray(list))
        return false;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item))
            return false;
        if (change->is.label_count < TV_COUNT(change->labels))
            change->labels[change->is.label_count++] = tv_bytes_of(item->valuestring);
    }
    change->is.labels = change->labels;
    return true;
}

/* Take one member of the object; false if its name or type is wrong. */
static bool change_take_member(const cJSON *item, struct trace_change *change)
{
    if (strcmp(item->string, "labels") == 0)
        return change_take_labels(item, change);
    if (strcmp(item->string, "pinned") == 0) {
        change->pinned = cJSON_IsTrue(item);
        change->is.pinned = &change->pinned;
        return cJSON_IsBool(item);
    }
    bool name = strcmp(item->string, "name") == 0;
    if (!cJSON_IsString(item) || !(name || strcmp(item->string, "note") == 0))
        return false;
    *(name ? &change->name : &change->note) = tv_bytes_of(item->valuestring);
    *(name ? &change->is.name : &change->is.note) = name ? &change->name : &change->note;
    return true;
}

/* Take all members; those that are missing do not change. */
static bool change_read_json(const cJSON *json, struct trace_change *change)
{
    const cJSON *item;
    if (!cJSON_IsObject(json))
        return false;
    cJSON_ArrayForEach(item, json)
    {
        if (!change_take_member(item, change))
            return false;
    }
    return true;
}

bool tv_upload_change_trace_begin(struct tv_upload_request *req, struct tv_body *body,
                                  struct tv_answer *answer)
{
    return tv_small_body_begin(req, LARGEST_CHANGE, body, answer);
}

/* Answer PATCH with the changed trace. */
void tv_upload_change_trace(struct tv_upload_request *req, struct tv_answer *answer)
{
    const struct tv_bytes text = tv_small_body_text(req->http->body);
    struct trace_change *change = tv_alloc(1, sizeof *change);
    struct tv_error err = {0};
    cJSON *json = cJSON_ParseWithLength((const char *)text.data, text.length);
    enum tv_store_status status = TV_STORE_OK;
    if (!change_read_json(json, change))
        tv_upload_refuse(answer, TV_HTTP_UNPROCESSABLE,
                         "expected an object of name, note (texts), labels (texts) and pinned");
    else
        status = tv_store_trace_change(req->server->store, req->id, &change->is, &err);
    if (status != TV_STORE_OK)
        tv_upload_refuse_store(answer, status, &err);
    else if (answer->status == TV_HTTP_OK)
        tv_upload_get_trace(req, answer);
    cJSON_Delete(json);
    tv_free(change);
}
