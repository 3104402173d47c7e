/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_proxy.c - passes questions, flame graphs, collapsed stacks and reports on to the engine of
 * a trace, and streams the answer to the client.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "upload/internal.h"

/* Time to wait for an engine that must start first. With an index that takes a moment. */
#define PATIENCE_MS 30000

/* ---- Answers are streamed, and never held in memory as a whole ---- */

static enum tv_status proxy_read_answer(void *context, uint8_t *buffer, size_t size, size_t *got)
{
    struct tv_error err;
    return tv_engine_answer_read(context, buffer, size, got, &err);
}

static void proxy_close_answer(void *context)
{
    tv_engine_answer_free(context);
}

/* Note that somebody looks at the trace. False: it does not exist, and the answer says so. */
static bool proxy_touch_trace(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_error err = {0};
    enum tv_store_status status =
        tv_store_trace_touch(req->server->store, req->id, tv_store_now(), &err);
    if (status == TV_STORE_OK)
        return true;
    tv_upload_refuse_store(answer, status, &err);
    return false;
}

/* Ask the trace's engine, starting it if there is none. `more`: an additional parameter, or
 * NULL. */
static void proxy_ask_engine(struct tv_upload_request *req, struct tv_bytes name,
                             const struct tv_query *query, const struct tv_view_parameter *more,
                             struct tv_answer *answer)
{
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS + 1];
    size_t count = query->count;
    for (size_t i = 0; i < count; i++)
        parameters[i] = (struct tv_view_parameter){query->items[i].name, query->items[i].value};
    if (more)
        parameters[count++] = *more;
    const struct tv_view_question question = {name, parameters, count};
    struct tv_engine *engine = tv_engine_open(req->server->engines, req->id);
    if (!tv_bytes_equal(name, TV_BYTES("status")))
        tv_engine_wait(engine, PATIENCE_MS);
    struct tv_engine_answer *from = tv_engine_ask(engine, &question);
    tv_engine_close(engine);
    answer->status = (enum tv_http_status)tv_engine_answer_status(from);
    answer->type = tv_answer_type_name(tv_engine_answer_type(from));
    answer->stream = (struct tv_stream){
        .read = proxy_read_answer,
        .close = proxy_close_answer,
        .context = from,
        .length = TV_HTTP_UNKNOWN_LENGTH,
    };
}

static bool proxy_parse_query(struct tv_upload_request *req, struct tv_query *query,
                              struct tv_answer *answer)
{
    struct tv_error err = {0};
    if (tv_query_parse(query, req->http->query, req->http->query_length, &err) == TV_OK)
        return true;
    tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, err.message);
    return false;
}

void tv_upload_proxy_question(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_query query;
    if (proxy_parse_query(req, &query, answer) && proxy_touch_trace(req, answer))
        proxy_ask_engine(req, req->rest, &query, NULL, answer);
}

/* The picture contains a script for searching and zooming. The script may run, but in a sandbox
 * without an origin, so it cannot send requests to this server. */
#define PICTURE_POLICY                                                                             \
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "                  \
    "sandbox allow-scripts; frame-ancestors 'none'"

/* Return the name of the trace. NULL: the answer says why not. */
static const char *proxy_find_name(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_store_trace trace;
    struct tv_error err = {0};
    if (!proxy_touch_trace(req, answer))
        return NULL;
    enum tv_store_status status =
        tv_store_trace_get(req->server->store, req->id, &answer->arena, &trace, &err);
    if (status == TV_STORE_OK)
        return trace.name;
    tv_upload_refuse_store(answer, status, &err);
    return NULL;
}

/* The title is the trace's name, unless the query gives another one. */
void tv_upload_proxy_flamegraph(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_query query;
    const char *name = proxy_parse_query(req, &query, answer) ? proxy_find_name(req, answer) : NULL;
    if (!name)
        return;
    const struct tv_view_parameter title = {TV_BYTES("title"), tv_bytes_of(name)};
    bool titled = tv_query_find(&query, "title") != NULL || *name == '\0';
    proxy_ask_engine(req, TV_BYTES("flamegraph"), &query, titled ? NULL : &title, answer);
    answer->policy = PICTURE_POLICY;
}

void tv_upload_proxy_collapsed(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_query query;
    if (proxy_parse_query(req, &query, answer) && proxy_touch_trace(req, answer))
        proxy_ask_engine(req, TV_BYTES("collapsed"), &query, NULL, answer);
}

/* A report is to be saved, not shown from here: its own <meta> policy says what it may do. If a
 * browser shows it nevertheless, the sandbox takes its origin away. */
#define REPORT_POLICY "default-src 'none'; sandbox; frame-ancestors 'none'"

static void proxy_add_report_name(struct tv_answer *answer, const char *name)
{
    struct tv_out file;
    tv_out_init_memory(&file);
    tv_out_text(&file, name);
    tv_out_bytes(&file, TV_BYTES(".html"));
    tv_out_char(&file, '\0');
    tv_upload_add_file_name(answer, (const char *)file.buffer);
    tv_out_release(&file);
}

static bool proxy_hides_names(const struct tv_query *query)
{
    const struct tv_bytes *hashed = tv_query_find(query, "hash_names");
    return hashed != NULL && tv_bytes_equal(*hashed, TV_BYTES("yes"));
}

void tv_upload_proxy_report(struct tv_upload_request *req, struct tv_answer *answer)
{
    const struct tv_view_parameter as = {TV_BYTES("as"), TV_BYTES("html")};
    struct tv_query query;
    if (!req->server->options.reports) {
        tv_upload_refuse(answer, TV_HTTP_NOT_FOUND, "this server was built without reports");
        return;
    }
    const char *name = proxy_parse_query(req, &query, answer) ? proxy_find_name(req, answer) : NULL;
    if (!name)
        return;
    if (tv_query_find(&query, "as") != NULL) {
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, "as: it is HTML here");
        return;
    }
    proxy_ask_engine(req, TV_BYTES("save"), &query, &as, answer);
    answer->policy = REPORT_POLICY;
    if (answer->status != TV_HTTP_OK)
        return;
    answer->type = "text/html; charset=utf-8";
    /* when names are hashed, the file name must not reveal one either */
    proxy_add_report_name(answer, proxy_hides_names(&query) ? "report" : name);
}
