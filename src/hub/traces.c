/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.c - the list of traces, what is known of one, and changing that.
 */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/encoding.h"
#include "hub/handlers.h"
#include "hub/iso_time.h"
#include "hub/reading.h"
#include "hub/small_body.h"
#include "hub/trace_json.h"
#include "store/search.h"

#define LARGEST_CHANGE ((size_t)64 * 1024)

/* The list. */

static bool parse_time(struct tv_bytes text, int64_t *ms)
{
    int64_t seconds;
    if (!tv_iso_parse(text, &seconds))
        return false;
    *ms = seconds * 1000;
    return true;
}

static bool parse_sort(struct tv_bytes word, enum tv_store_sort *sort)
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

static bool parse_limit(struct tv_bytes text, uint32_t *limit)
{
    uint64_t number;
    if (!tv_parse_u64(text, &number) || number == 0)
        return false;
    *limit = number < TV_STORE_PAGE ? (uint32_t)number : TV_STORE_PAGE;
    return true;
}

/* One parameter of the list. */
static bool take_parameter(struct tv_bytes name, struct tv_bytes value,
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
        return query->has_since = parse_time(value, &query->since_ms);
    else if (tv_bytes_equal(name, TV_BYTES("until")))
        return query->has_until = parse_time(value, &query->until_ms);
    else if (tv_bytes_equal(name, TV_BYTES("sort")))
        return parse_sort(value, &query->sort);
    else if (tv_bytes_equal(name, TV_BYTES("limit")))
        return parse_limit(value, &query->limit);
    else if (tv_bytes_equal(name, TV_BYTES("order")))
        return (query->descending = tv_bytes_equal(value, TV_BYTES("desc"))) ||
               tv_bytes_equal(value, TV_BYTES("asc"));
    else
        return false;
    return true;
}

static void write_page(const struct tv_hub *hub, const struct tv_store_page *page,
                       struct tv_out *out)
{
    tv_out_text(out, "{\"traces\":[");
    for (size_t i = 0; i < page->count; i++) {
        if (i > 0)
            tv_out_char(out, ',');
        tv_trace_write_json(hub, &page->traces[i], true, out);
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

void tv_hub_list(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_store_query wanted = {.descending = true};
    struct tv_query query;
    struct tv_error err = {0};
    struct tv_store_page page;
    if (tv_query_parse(&query, asked->request->query, asked->request->query_length, &err) !=
        TV_OK) {
        tv_hub_refuse(answer, TV_HTTP_BAD_QUESTION, err.message);
        return;
    }
    for (size_t i = 0; i < query.count; i++) {
        if (take_parameter(query.items[i].name, query.items[i].value, &wanted))
            continue;
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "wrong parameter '%.*s'",
                (int)(query.items[i].name.length < 40 ? query.items[i].name.length : 40),
                (const char *)query.items[i].name.data);
        tv_hub_refuse(answer, TV_HTTP_BAD_QUESTION, err.message);
        return;
    }
    enum tv_store_status status =
        tv_store_search(asked->hub->store, &wanted, &answer->arena, &page, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return;
    }
    answer->type = "application/json";
    write_page(asked->hub, &page, &answer->body);
}

/* One trace. */

void tv_hub_trace(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_store_trace trace;
    struct tv_error err = {0};
    enum tv_store_status status =
        tv_store_trace_get(asked->hub->store, asked->id, &answer->arena, &trace, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return;
    }
    answer->type = "application/json";
    answer->status = TV_HTTP_OK;
    tv_trace_write_json(asked->hub, &trace, false, &answer->body);
}

void tv_hub_delete(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_hub *hub = asked->hub;
    struct tv_error err = {0};
    struct tv_log_line line;
    enum tv_store_status status = tv_store_trace_delete(hub->store, asked->id, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return;
    }
    tv_engines_end(hub->engines, asked->id);
    answer->status = TV_HTTP_NO_CONTENT;
    tv_log_begin(&line, &hub->options.log, TV_LOG_INFO, "trace.deleted");
    tv_log_text(&line, "trace", asked->id);
    tv_log_text(&line, "client", asked->peer);
    tv_log_end(&line);
}

/* Whether nobody reads it, or is about to. */
static bool is_at_rest(const struct tv_store_trace *trace)
{
    return trace->state == TV_STORE_READY || trace->state == TV_STORE_UNREADABLE;
}

void tv_hub_read_again(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_hub *hub = asked->hub;
    struct tv_store_trace trace;
    struct tv_error err = {0};
    enum tv_store_status status =
        tv_store_trace_get(hub->store, asked->id, &answer->arena, &trace, &err);
    if (status == TV_STORE_OK && is_at_rest(&trace)) {
        tv_engines_end(hub->engines, asked->id);
        status = tv_store_trace_set_state(hub->store, asked->id, TV_STORE_WAITING, &err);
        tv_reading_wake(hub->reading);
    }
    if (status != TV_STORE_OK)
        tv_hub_refuse_store(answer, status, &err);
    else
        tv_hub_trace(asked, answer);
}

/* Changes. */

/* What the client wants changed, as the store takes it; its texts are the JSON's. */
struct change {
    struct tv_bytes name, note, labels[TV_STORE_LABELS + 1];
    bool pinned;
    struct tv_store_change is;
};

static bool take_labels(const cJSON *list, struct change *change)
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

static bool take_member(const cJSON *item, struct change *change)
{
    if (strcmp(item->string, "labels") == 0)
        return take_labels(item, change);
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

static bool read_change(const cJSON *json, struct change *change)
{
    const cJSON *item;
    if (!cJSON_IsObject(json))
        return false;
    cJSON_ArrayForEach(item, json)
    {
        if (!take_member(item, change))
            return false;
    }
    return true;
}

bool tv_hub_change_begin(struct tv_asked *asked, struct tv_body *body, struct tv_answer *answer)
{
    return tv_small_body_begin(asked, LARGEST_CHANGE, body, answer);
}

void tv_hub_change(struct tv_asked *asked, struct tv_answer *answer)
{
    const struct tv_bytes text = tv_small_body_text(asked->request->body);
    struct change *change = tv_alloc(1, sizeof *change);
    struct tv_error err = {0};
    cJSON *json = cJSON_ParseWithLength((const char *)text.data, text.length);
    enum tv_store_status status = TV_STORE_OK;
    if (!read_change(json, change))
        tv_hub_refuse(answer, TV_HTTP_WRONG_CONTENT,
                      "expected an object of name, note (texts), labels (texts) and pinned");
    else
        status = tv_store_trace_change(asked->hub->store, asked->id, &change->is, &err);
    if (status != TV_STORE_OK)
        tv_hub_refuse_store(answer, status, &err);
    else if (answer->status == TV_HTTP_OK)
        tv_hub_trace(asked, answer);
    cJSON_Delete(json);
    tv_free(change);
}
