/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.c - the page's questions, below "/TOKEN/api/" (docs/view-protocol.md).
 *
 *     status, quit                   answered by the server itself
 *     upload, drop, open, cancel     files are uploaded in chunks, opened as a trace, or not opened
 *     diff                           answered from several open traces (view/compare.h)
 *     send, sent                     send the files of a trace to the user's server (sending.c)
 *     sql, sql_cancel, sql_place     questions in SQL about a trace (trace_sql.c)
 *     everything else                answered by the view of the trace that the question names
 *
 * Questions that change something need TV_HTTP_CSRF_HEADER, which no other page can send.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/file.h"
#include "base/memory.h"
#include "model/trace_info.h"
#include "sql/sql.h"
#include "view/compare.h"
#include "view/view.h"
#include "viewer/internal.h"

/* Refuse with a JSON object that holds one sentence for people. */
static void api_refuse(struct tv_answer *answer, enum tv_http_status status, const char *sentence)
{
    answer->status = status;
    answer->type = "application/json";
    tv_out_text(&answer->body, "{\"error\":");
    tv_out_json(&answer->body, tv_bytes_of(sentence));
    tv_out_char(&answer->body, '}');
}

/* The result of a question: a status and, unless it succeeded, a sentence. */
struct api_outcome {
    enum tv_http_status status;
    struct tv_error error;
};

/*
 * A request with a body comes in several calls:
 *
 *     tv_viewer_api_begin_body   its head is there: claim the file, or keep the reason why not
 *     take                       bytes of the body as they arrive
 *     tv_viewer_api_answer       all bytes were taken; `request->body` is the context of `take`
 *     end                        in any case, also when the client has gone before the answer
 */

/* A chunk of an upload in progress: the body of one PUT request.  `held` is how many bytes of the
 * file are here; a page that lost its connection sends the rest from there. */
struct api_chunk_body {
    struct tv_uploaded_chunk *chunk; /* NULL: refused, or already ended */
    struct api_outcome outcome;
    uint64_t held;
};

static enum tv_http_status api_http_status(enum tv_status status)
{
    switch (status) {
    case TV_OK:
        return TV_HTTP_OK;
    case TV_ERR_USAGE:
        return TV_HTTP_BAD_REQUEST;
    default:
        return TV_HTTP_INSUFFICIENT_STORAGE;
    }
}

/* Return a parameter that must be there; NULL: it is missing, and *err says so. */
static const struct tv_bytes *api_need_parameter(const struct tv_query *query, const char *name,
                                                 struct tv_error *err)
{
    const struct tv_bytes *value = tv_query_find(query, name);
    if (value == NULL)
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: it is missing", name);
    return value;
}

/* Read a number from 0 to `most` that must be there. */
static enum tv_status api_need_number(const struct tv_query *query, const char *name, uint64_t most,
                                      uint64_t *number, struct tv_error *err)
{
    const struct tv_bytes *value = api_need_parameter(query, name, err);
    if (value == NULL)
        return TV_ERR_USAGE;
    if (tv_parse_u64(*value, number) && *number <= most)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: expected a number up to %" PRIu64, name,
                   most);
}

/* ---- Uploads ---- */

static enum tv_status api_add_file(struct tv_open_traces *traces, const struct tv_query *query,
                                   struct tv_out *out, struct tv_error *err)
{
    uint32_t number;
    uint64_t bytes;
    const struct tv_bytes *name = api_need_parameter(query, "name", err);
    enum tv_status status =
        name ? api_need_number(query, "bytes", INT64_MAX, &bytes, err) : TV_ERR_USAGE;
    if (status == TV_OK)
        status = tv_uploaded_files_add(tv_open_traces_files(traces), *name, bytes, &number, err);
    if (status == TV_OK)
        tv_out_format(out, "{\"input\":%" PRIu32 "}", number);
    return status;
}

static enum tv_status api_drop_file(struct tv_open_traces *traces, const struct tv_query *query,
                                    struct tv_out *out, struct tv_error *err)
{
    uint64_t number;
    enum tv_status status = api_need_number(query, "input", UINT32_MAX, &number, err);
    if (status != TV_OK)
        return status;
    tv_uploaded_files_drop(tv_open_traces_files(traces), (uint32_t)number);
    tv_out_text(out, "{}");
    return TV_OK;
}

/* Keep an error for the answer. The rest of the body is read and dropped, because browsers do not
 * show an answer that arrives before they have sent the whole body. */
static enum tv_status api_take_chunk(void *context, struct tv_bytes bytes, struct tv_answer *answer)
{
    struct api_chunk_body *body = context;
    (void)answer;
    if (body->chunk)
        tv_uploaded_chunk_write(body->chunk, bytes);
    return TV_OK;
}

static void api_end_chunk(struct api_chunk_body *body)
{
    struct tv_uploaded_chunk *chunk = body->chunk;
    struct api_outcome *outcome = &body->outcome;
    body->chunk = NULL;
    if (chunk && tv_uploaded_chunk_end(chunk, &body->held, &outcome->error) != TV_OK)
        outcome->status = outcome->error.status == TV_ERR_LIMIT ? TV_HTTP_TOO_LARGE
                                                                : TV_HTTP_INSUFFICIENT_STORAGE;
}

/* End the chunk. A client that disconnected may come back and send the rest. */
static void api_end_chunk_body(void *context, bool whole)
{
    (void)whole;
    api_end_chunk(context);
    tv_free(context);
}

/* Claim the file for this chunk. An error is kept for the answer, see api_take_chunk. */
static void api_claim_file(struct tv_open_traces *traces, const struct tv_request *request,
                           struct api_chunk_body *body)
{
    struct tv_query query;
    struct tv_error *err = &body->outcome.error;
    uint64_t number, offset = 0;
    enum tv_status status = tv_query_parse(&query, request->query, request->query_length, err);
    body->outcome.status = TV_HTTP_BAD_REQUEST;
    if (status == TV_OK)
        status = api_need_number(&query, "input", UINT32_MAX, &number, err);
    if (status == TV_OK)
        status = api_need_number(&query, "offset", INT64_MAX, &offset, err);
    if (status != TV_OK)
        return;
    status = tv_uploaded_chunk_begin(tv_open_traces_files(traces), (uint32_t)number, offset,
                                     &body->chunk, &body->held, err);
    body->outcome.status = status == TV_OK          ? TV_HTTP_OK
                           : status == TV_ERR_USAGE ? TV_HTTP_CONFLICT
                                                    : TV_HTTP_GONE;
}

static bool api_is_path(const struct tv_request *request, const char *name)
{
    return tv_bytes_equal(request->path, tv_bytes_of(name));
}

/* Gather the text of a question in SQL. */
static enum tv_status api_take_sql(void *context, struct tv_bytes bytes, struct tv_answer *answer)
{
    struct tv_out *text = context;
    if (text->length + bytes.length > TV_SQL_QUESTION) {
        api_refuse(answer, TV_HTTP_TOO_LARGE, "SQL: a query has at most 64 KiB");
        return TV_ERR_LIMIT;
    }
    tv_out_bytes(text, bytes);
    return TV_OK;
}

static void api_end_sql(void *context, bool whole)
{
    (void)whole;
    tv_out_release(context);
    tv_free(context);
}

bool tv_viewer_api_begin_body(struct tv_open_traces *traces, const struct tv_request *request,
                              struct tv_body *body, struct tv_answer *answer)
{
    bool sql = request->method == TV_HTTP_POST && api_is_path(request, "api/sql");
    if (!sql && (request->method != TV_HTTP_PUT || !api_is_path(request, "api/upload")))
        return true;
    if (tv_request_header(request, TV_HTTP_CSRF_HEADER) == NULL) {
        api_refuse(answer, TV_HTTP_FORBIDDEN, "the header " TV_HTTP_CSRF_HEADER " is missing");
        return false;
    }
    if (sql) {
        struct tv_out *text = tv_alloc(1, sizeof *text);
        tv_out_init_memory(text);
        *body = (struct tv_body){api_take_sql, api_end_sql, text};
        return true;
    }
    struct api_chunk_body *chunk = tv_alloc(1, sizeof *chunk);
    api_claim_file(traces, request, chunk);
    *body = (struct tv_body){api_take_chunk, api_end_chunk_body, chunk};
    return true;
}

static void api_answer_chunk(struct api_chunk_body *body, struct tv_answer *answer)
{
    assert(body != NULL);
    api_end_chunk(body);
    if (body->outcome.status != TV_HTTP_OK) {
        api_refuse(answer, body->outcome.status, body->outcome.error.message);
        /* one more member in place of the closing brace */
        answer->body.length--;
        tv_out_format(&answer->body, ",\"held\":%" PRIu64 "}", body->held);
        return;
    }
    tv_out_format(&answer->body, "{\"held\":%" PRIu64 "}", body->held);
}

/* Read the number of the trace that a question is about; without it, the one opened last. */
static enum tv_status api_read_trace(const struct tv_query *query, uint64_t *number,
                                     struct tv_error *err)
{
    *number = TV_LATEST_TRACE;
    if (!tv_query_find(query, "trace"))
        return TV_OK;
    return api_need_number(query, "trace", UINT32_MAX, number, err);
}

/* ---- Opening ---- */

/* Read "1,5,2": numbers of open files, each once. */
static enum tv_status api_read_inputs(struct tv_bytes text, struct tv_open_files *chosen,
                                      struct tv_error *err)
{
    struct tv_bytes word;
    uint64_t number;
    while (text.length > 0) {
        tv_bytes_split(&text, ',', &word);
        if (chosen->count == TV_OPEN_INPUTS)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "inputs: more than %u files",
                           TV_OPEN_INPUTS);
        if (!tv_parse_u64(word, &number) || number > UINT32_MAX)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "inputs: expected numbers of files");
        for (size_t i = 0; i < chosen->count; i++)
            if (chosen->numbers[i] == number)
                return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "inputs: one stands there twice");
        chosen->numbers[chosen->count++] = (uint32_t)number;
    }
    return chosen->count > 0 ? TV_OK
                             : tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "inputs: there are none");
}

/* Read "0,-5000": nanoseconds for each chosen file, in their order; missing ones are 0. */
static enum tv_status api_read_offsets(struct tv_bytes text, struct tv_open_files *chosen,
                                       struct tv_error *err)
{
    struct tv_bytes word;
    int64_t offset;
    for (size_t i = 0; text.length > 0; i++) {
        tv_bytes_split(&text, ',', &word);
        if (i == chosen->count || !tv_parse_i64(word, &offset) || offset > TV_MOVE_MAX ||
            offset < -TV_MOVE_MAX)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "offsets: expected nanoseconds for each file, at most 73 years");
        chosen->offsets[i] = offset;
    }
    return TV_OK;
}

/* Open the chosen files as one trace, and answer its number. */
static enum tv_status api_open_files(struct tv_open_traces *traces, const struct tv_query *query,
                                     struct tv_out *out, struct tv_error *err)
{
    struct tv_open_files chosen = {.count = 0};
    uint32_t trace;
    const struct tv_bytes *inputs = api_need_parameter(query, "inputs", err);
    const struct tv_bytes *offsets = tv_query_find(query, "offsets");
    enum tv_status status = inputs ? api_read_inputs(*inputs, &chosen, err) : TV_ERR_USAGE;
    if (status == TV_OK && offsets)
        status = api_read_offsets(*offsets, &chosen, err);
    if (status == TV_OK)
        status = tv_open_traces_load(traces, &chosen, &trace, err);
    if (status == TV_OK)
        tv_out_format(out, "{\"trace\":%" PRIu32 "}", trace);
    return status;
}

static enum tv_status api_cancel_loading(struct tv_open_traces *traces,
                                         const struct tv_query *query, struct tv_out *out,
                                         struct tv_error *err)
{
    uint64_t number;
    enum tv_status status = api_read_trace(query, &number, err);
    if (status == TV_OK) {
        tv_open_traces_cancel(traces, number);
        tv_out_text(out, "{}");
    }
    return status;
}

/* Cancel a query by the number that the page gave it. A trace that is no longer open has no query
 * to cancel, so that is no error. */
static enum tv_status api_cancel_sql(struct tv_open_traces *traces, const struct tv_query *query,
                                     struct tv_out *out, struct tv_error *err)
{
    uint64_t trace, number;
    struct tv_open_trace *open;
    enum tv_status status = api_read_trace(query, &trace, err);
    if (status == TV_OK)
        status = api_need_number(query, "number", UINT64_MAX, &number, err);
    if (status != TV_OK)
        return status;
    if (tv_open_traces_acquire(traces, trace, &open) == TV_OPEN_TRACE_READY) {
        tv_trace_sql_cancel(tv_open_trace_sql(open), number);
        tv_open_traces_release(traces, open);
    }
    tv_out_text(out, "{}");
    return TV_OK;
}

static enum tv_status api_send(struct tv_open_traces *traces, const struct tv_query *query,
                               struct tv_out *out, struct tv_error *err)
{
    uint64_t trace;
    enum tv_status status = api_read_trace(query, &trace, err);
    if (status == TV_OK)
        status = tv_open_traces_send(traces, trace, err);
    if (status == TV_OK)
        tv_out_text(out, "{}");
    return status;
}

static const struct api_file_question {
    const char *name;
    enum tv_status (*answer)(struct tv_open_traces *traces, const struct tv_query *query,
                             struct tv_out *out, struct tv_error *err);
} api_file_questions[] = {
    {"upload", api_add_file},       {"drop", api_drop_file},        {"open", api_open_files},
    {"cancel", api_cancel_loading}, {"sql_cancel", api_cancel_sql}, {"send", api_send},
};

static const struct api_file_question *api_find_file_question(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(api_file_questions); i++)
        if (tv_bytes_equal(name, tv_bytes_of(api_file_questions[i].name)))
            return &api_file_questions[i];
    return NULL;
}

static bool api_is_file_question(struct tv_bytes name)
{
    return api_find_file_question(name) != NULL;
}

/* Answer a question about the files of the viewer. It changes something, so it must have a header
 * that no form of another site can send. */
static void api_answer_file_question(struct tv_open_traces *traces,
                                     const struct tv_request *request, struct tv_answer *answer)
{
    assert(request->path.length >= TV_BYTES("api/").length);
    struct tv_query query;
    struct tv_error err = {0};
    const struct tv_bytes api = TV_BYTES("api/");
    const struct api_file_question *question = api_find_file_question(
        (struct tv_bytes){request->path.data + api.length, request->path.length - api.length});
    answer->type = "application/json";
    if (request->body) {
        api_answer_chunk(request->body, answer);
        return;
    }
    if (request->method != TV_HTTP_POST) {
        api_refuse(answer, TV_HTTP_METHOD_NOT_ALLOWED, "this question has another method");
        answer->allow = question->answer == api_add_file ? "POST, PUT" : "POST";
        return;
    }
    if (tv_request_header(request, TV_HTTP_CSRF_HEADER) == NULL) {
        api_refuse(answer, TV_HTTP_FORBIDDEN, "the header " TV_HTTP_CSRF_HEADER " is missing");
        return;
    }
    enum tv_status status = tv_query_parse(&query, request->query, request->query_length, &err);
    if (status == TV_OK)
        status = question->answer(traces, &query, &answer->body, &err);
    if (status != TV_OK)
        api_refuse(answer, api_http_status(status), err.message);
}

/* ---- Questions about a trace ---- */

/* Refuse with an error of the view. The error of a filter has a column. */
static void api_refuse_error(struct tv_answer *answer, const struct tv_error *err)
{
    api_refuse(answer, err->status == TV_ERR_LIMIT ? TV_HTTP_TOO_LARGE : TV_HTTP_BAD_REQUEST,
               err->message);
    if (err->offset == TV_NO_OFFSET)
        return;
    answer->body.length--;
    tv_out_format(&answer->body, ",\"column\":%" PRIu64 "}", err->offset);
}

/* Remove the prefix "api/". */
static bool api_take_name(struct tv_bytes path, struct tv_bytes *name)
{
    const struct tv_bytes api = TV_BYTES("api/");
    if (!tv_bytes_starts_with(path, api))
        return false;
    *name = (struct tv_bytes){path.data + api.length, path.length - api.length};
    return true;
}

static bool api_check_method(struct tv_answer *answer, enum tv_http_method method,
                             enum tv_http_method wanted)
{
    if (method == wanted)
        return true;
    api_refuse(answer, TV_HTTP_METHOD_NOT_ALLOWED, "this question has another method");
    answer->allow = wanted == TV_HTTP_POST ? "POST" : "GET, HEAD";
    return false;
}

/* Convert the parameters to the form that the view takes. */
static size_t api_copy_parameters(const struct tv_query *query,
                                  struct tv_view_parameter parameters[TV_QUERY_PARAMETERS])
{
    for (size_t i = 0; i < query->count; i++)
        parameters[i] = (struct tv_view_parameter){query->items[i].name, query->items[i].value};
    return query->count;
}

/* Ask the view and hold the answer in memory. */
static void api_ask_view(const struct tv_session *session, struct tv_bytes name,
                         const struct tv_query *query, struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS];
    struct tv_view_question question = {name, parameters, api_copy_parameters(query, parameters)};
    if (tv_view_answer(tv_session_view(session), &question, &answer->body, &err) != TV_OK)
        api_refuse_error(answer, &err);
}

static enum tv_status api_write_to_spool(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    return tv_spool_add(context, bytes, err);
}

/* Ask the view for an answer that may be larger than memory. It is written to a file and sent when
 * it is complete, so that an error can still be reported. */
static void api_ask_view_spooled(const struct tv_session *session, struct tv_bytes name,
                                 const struct tv_query *query, struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct tv_out out;
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS];
    struct tv_view_question question = {name, parameters, api_copy_parameters(query, parameters)};
    struct tv_spool *spool = tv_spool_new("the answer");
    tv_out_init(&out, api_write_to_spool, spool);
    enum tv_status status = tv_view_answer(tv_session_view(session), &question, &out, &err);
    if (status == TV_OK)
        status = tv_out_finish(&out, &err);
    tv_out_release(&out);
    if (status == TV_OK) {
        answer->source = tv_spool_finish(spool);
        return;
    }
    tv_spool_free(spool);
    api_refuse_error(answer, &err);
}

/* Refuse a question about a trace that cannot answer. */
static void api_refuse_trace(struct tv_answer *answer, enum tv_open_trace_found found)
{
    assert(found != TV_OPEN_TRACE_READY);
    if (found == TV_OPEN_TRACE_CLOSED)
        api_refuse(answer, TV_HTTP_GONE, "that trace is not open any more");
    else
        api_refuse(answer, TV_HTTP_CONFLICT, "the trace is not there yet");
}

/* Answer a question about one of the open traces; a large answer goes through a file. */
static void api_ask_open_trace(struct tv_open_traces *traces, struct tv_bytes name,
                               const struct tv_query *query, struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct tv_open_trace *trace;
    uint64_t number;
    if (api_read_trace(query, &number, &err) != TV_OK) {
        api_refuse_error(answer, &err);
        return;
    }
    enum tv_open_trace_found found = tv_open_traces_acquire(traces, number, &trace);
    if (found != TV_OPEN_TRACE_READY)
        api_refuse_trace(answer, found);
    else if (tv_view_is_large(name))
        api_ask_view_spooled(tv_open_trace_session(trace), name, query, answer);
    else
        api_ask_view(tv_open_trace_session(trace), name, query, answer);
    if (trace)
        tv_open_traces_release(traces, trace);
}

/* ---- Comparing ---- */

/* The open traces that a comparison is about, held until it is answered. */
struct api_runs {
    struct tv_open_trace *traces[TV_OPEN_TRACES];
    struct tv_view_run runs[TV_OPEN_TRACES];
    size_t count;
};

/* Hold the traces of one side, which a parameter names by their numbers: "3,4". */
static enum tv_open_trace_found api_hold_side(struct tv_open_traces *traces, struct tv_bytes list,
                                              enum tv_run_side side, struct api_runs *held,
                                              struct tv_error *err)
{
    struct tv_bytes word;
    uint64_t number;
    while (list.length > 0) {
        tv_bytes_split(&list, ',', &word);
        if (held->count == TV_OPEN_TRACES || !tv_parse_u64(word, &number) || number > UINT32_MAX) {
            tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                    "base, new: expected numbers of at most %u open traces", TV_OPEN_TRACES);
            return TV_OPEN_TRACE_READY;
        }
        enum tv_open_trace_found found =
            tv_open_traces_acquire(traces, number, &held->traces[held->count]);
        if (found != TV_OPEN_TRACE_READY)
            return found;
        const struct tv_session *session = tv_open_trace_session(held->traces[held->count]);
        held->runs[held->count++] = (struct tv_view_run){tv_session_view(session), side};
    }
    return TV_OPEN_TRACE_READY;
}

/* Answer a comparison of open traces.  Each of them is held until the answer is written, so that
 * none is closed meanwhile. */
static void api_answer_comparison(struct tv_open_traces *traces, const struct tv_query *query,
                                  struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct api_runs held = {.count = 0};
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS];
    const struct tv_bytes *base = api_need_parameter(query, "base", &err);
    const struct tv_bytes *fresh = base ? api_need_parameter(query, "new", &err) : NULL;
    enum tv_open_trace_found found = TV_OPEN_TRACE_READY;
    if (fresh)
        found = api_hold_side(traces, *base, TV_RUN_BASE, &held, &err);
    if (found == TV_OPEN_TRACE_READY && err.status == TV_OK)
        found = api_hold_side(traces, *fresh, TV_RUN_NEW, &held, &err);
    if (found != TV_OPEN_TRACE_READY)
        api_refuse_trace(answer, found);
    else if (err.status != TV_OK ||
             tv_view_compare(held.runs, held.count, parameters,
                             api_copy_parameters(query, parameters), &answer->body, &err) != TV_OK)
        api_refuse_error(answer, &err);
    for (size_t i = 0; i < held.count; i++)
        tv_open_traces_release(traces, held.traces[i]);
}

/* ---- SQL ---- */

/* Read the number of a parameter that may be missing. */
static enum tv_status api_read_number(const struct tv_query *query, const char *name, uint64_t most,
                                      uint64_t *number, struct tv_error *err)
{
    return tv_query_find(query, name) ? api_need_number(query, name, most, number, err) : TV_OK;
}

/* Ask about a trace that is held.  The answer is written beside the body, because rows before an
 * error are no answer: then `out` has more members of the error, such as its place in the query. */
static void api_ask_sql(const struct tv_open_trace *trace, const struct tv_sql_question *question,
                        struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct tv_out out;
    tv_out_init_memory(&out);
    const struct tv_trace *about = tv_session_trace(tv_open_trace_session(trace));
    if (tv_trace_sql_answer(tv_open_trace_sql(trace), about, question, &out, &err) == TV_OK) {
        tv_out_release(&answer->body);
        answer->body = out;
        return;
    }
    api_refuse_error(answer, &err);
    answer->body.length--;
    tv_out_bytes(&answer->body, (struct tv_bytes){out.buffer, out.length});
    tv_out_char(&answer->body, '}');
    tv_out_release(&out);
}

/* Answer a question in SQL, whose text is the body. */
static void api_answer_sql(struct tv_open_traces *traces, const struct tv_request *request,
                           struct tv_answer *answer)
{
    const struct tv_viewer_sql *sql = tv_open_traces_sql(traces);
    struct tv_out *text = request->body;
    struct tv_query query;
    struct tv_error err = {0};
    struct tv_open_trace *trace;
    struct tv_sql_question question = {.limit = TV_SQL_ANSWER_ROWS};
    uint64_t number;
    if (!api_check_method(answer, request->method, TV_HTTP_POST))
        return;
    if (!sql->ready) {
        api_refuse(answer, TV_HTTP_BAD_REQUEST, sql->missing ? sql->missing : "SQL is off");
        return;
    }
    enum tv_status status = tv_query_parse(&query, request->query, request->query_length, &err);
    if (status == TV_OK)
        status = api_read_trace(&query, &number, &err);
    if (status == TV_OK)
        status = api_read_number(&query, "offset", INT64_MAX, &question.offset, &err);
    if (status == TV_OK)
        status = api_read_number(&query, "limit", TV_SQL_ANSWER_ROWS, &question.limit, &err);
    if (status == TV_OK)
        status = api_read_number(&query, "number", UINT64_MAX, &question.number, &err);
    if (status != TV_OK) {
        api_refuse_error(answer, &err);
        return;
    }
    if (!text || (text->length > 0 && memchr(text->buffer, '\0', text->length))) {
        api_refuse(answer, TV_HTTP_BAD_REQUEST, "SQL: the query is the body, without NUL");
        return;
    }
    /* the reader of SQL wants a C string; the check above leaves this NUL the only one */
    tv_out_char(text, '\0');
    question.text = (const char *)text->buffer;
    enum tv_open_trace_found found = tv_open_traces_acquire(traces, number, &trace);
    if (found != TV_OPEN_TRACE_READY) {
        api_refuse_trace(answer, found);
        return;
    }
    api_ask_sql(trace, &question, answer);
    tv_open_traces_release(traces, trace);
}

/* Tell what an id of the table `slice` names. */
static void api_answer_sql_place(struct tv_open_traces *traces, const struct tv_query *query,
                                 struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct tv_open_trace *trace;
    uint64_t number, id;
    enum tv_status status = api_read_trace(query, &number, &err);
    if (status == TV_OK)
        status = api_need_number(query, "id", UINT64_MAX, &id, &err);
    if (status != TV_OK) {
        api_refuse_error(answer, &err);
        return;
    }
    enum tv_open_trace_found found = tv_open_traces_acquire(traces, number, &trace);
    if (found != TV_OPEN_TRACE_READY) {
        api_refuse_trace(answer, found);
        return;
    }
    struct tv_sql_place place =
        tv_sql_find_place(tv_session_trace(tv_open_trace_session(trace)), id);
    tv_open_traces_release(traces, trace);
    if (place.row != TV_NONE)
        tv_out_format(&answer->body, "{\"row\":%" PRIu32 ",\"index\":%" PRIu32 "}", place.row,
                      place.index);
    else if (place.instant != TV_NONE)
        tv_out_format(&answer->body, "{\"instant\":%" PRIu32 "}", place.instant);
    else
        tv_out_text(&answer->body, "{}");
}

static void api_answer_status(struct tv_open_traces *traces, const struct tv_query *query,
                              struct tv_answer *answer)
{
    struct tv_error err = {0};
    uint64_t number;
    if (api_read_trace(query, &number, &err) != TV_OK)
        api_refuse_error(answer, &err);
    else
        tv_open_traces_write_status(traces, number, &answer->body);
}

static void api_answer_sent(struct tv_open_traces *traces, const struct tv_query *query,
                            struct tv_answer *answer)
{
    (void)query;
    tv_sending_write_status(tv_open_traces_sending(traces), &answer->body);
}

/* Questions that the server answers itself. */
static const struct api_own_question {
    const char *name;
    void (*answer)(struct tv_open_traces *traces, const struct tv_query *query,
                   struct tv_answer *answer);
} api_own_questions[] = {
    {"status", api_answer_status},
    {"diff", api_answer_comparison},
    {"sql_place", api_answer_sql_place},
    {"sent", api_answer_sent},
};

static const struct api_own_question *api_find_own_question(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(api_own_questions); i++)
        if (tv_bytes_equal(name, tv_bytes_of(api_own_questions[i].name)))
            return &api_own_questions[i];
    return NULL;
}

/* Answer a question that may come with a body; false: it is another one. */
static bool api_answer_body_question(struct tv_open_traces *traces, struct tv_bytes name,
                                     const struct tv_request *request, struct tv_answer *answer)
{
    bool sql = tv_bytes_equal(name, TV_BYTES("sql"));
    if (sql)
        api_answer_sql(traces, request, answer);
    else if (api_is_file_question(name))
        api_answer_file_question(traces, request, answer);
    else
        return false;
    return true;
}

bool tv_viewer_api_answer(struct tv_open_traces *traces, const struct tv_request *request,
                          struct tv_answer *answer)
{
    struct tv_bytes name;
    enum tv_answer_type type = TV_ANSWER_JSON;
    answer->type = tv_answer_type_name(type);
    bool api = api_take_name(request->path, &name);
    bool quit = api && tv_bytes_equal(name, TV_BYTES("quit"));
    const struct api_own_question *own = api ? api_find_own_question(name) : NULL;
    /* these check method and header by themselves, before the query is parsed */
    if (api && api_answer_body_question(traces, name, request, answer))
        return false;
    if (!quit && !own && !(api && tv_view_find_question(name, &type))) {
        api_refuse(answer, TV_HTTP_NOT_FOUND, "there is no such question");
        return false;
    }
    if (!api_check_method(answer, request->method, quit ? TV_HTTP_POST : TV_HTTP_GET))
        return false;
    if (quit) {
        tv_out_text(&answer->body, "{}");
        return true;
    }
    struct tv_query query;
    struct tv_error err = {0};
    if (tv_query_parse(&query, request->query, request->query_length, &err) != TV_OK) {
        api_refuse_error(answer, &err);
        return false;
    }
    if (own) {
        own->answer(traces, &query, answer);
        return false;
    }
    answer->type = tv_answer_type_name(type);
    answer->policy = type == TV_ANSWER_SVG ? TV_ANSWER_SVG_POLICY : NULL;
    api_ask_open_trace(traces, name, &query, answer);
    return false;
}
