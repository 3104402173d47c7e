/* SPDX-License-Identifier: Apache-2.0 */
#include "server/questions.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/number.h"
#include "base/query.h"
#include "server/opening.h"
#include "view/view.h"

void tv_questions_refuse(struct tv_answer *answer, enum tv_http_status status, const char *sentence)
{
    answer->status = status;
    answer->type = "application/json";
    tv_out_text(&answer->body, "{\"error\":");
    tv_out_json(&answer->body, tv_bytes_of(sentence));
    tv_out_char(&answer->body, '}');
}

/* A wrong filter has a place. */
static void answer_wrong(struct tv_answer *answer, const struct tv_error *err)
{
    tv_questions_refuse(answer,
                        err->status == TV_ERR_LIMIT ? TV_HTTP_TOO_LARGE : TV_HTTP_BAD_QUESTION,
                        err->message);
    if (err->offset == TV_NO_OFFSET)
        return;
    answer->body.length--;
    tv_out_format(&answer->body, ",\"column\":%" PRIu64 "}", err->offset);
}

/* Takes "api/" off. */
static bool take_name(struct tv_bytes path, struct tv_bytes *name)
{
    const struct tv_bytes api = TV_BYTES("api/");
    if (!tv_bytes_starts_with(path, api))
        return false;
    *name = (struct tv_bytes){path.data + api.length, path.length - api.length};
    return true;
}

static bool is_method_right(struct tv_answer *answer, enum tv_http_method method,
                            enum tv_http_method wanted)
{
    if (method == wanted)
        return true;
    tv_questions_refuse(answer, TV_HTTP_WRONG_METHOD, "this question has another method");
    answer->allow = wanted == TV_HTTP_POST ? "POST" : "GET, HEAD";
    return false;
}

/* Whether the question is about the trace that lies open: its numbers mean nothing in another. */
static bool is_about(const struct tv_query *query, uint32_t trace)
{
    uint64_t asked;
    const struct tv_bytes *text = tv_query_find(query, "trace");
    return text == NULL || (tv_parse_u64(*text, &asked) && asked == trace);
}

/* Parameters as the view takes them. */
static size_t copy_parameters(const struct tv_query *query,
                              struct tv_view_parameter parameters[TV_QUERY_PARAMETERS])
{
    for (size_t i = 0; i < query->count; i++)
        parameters[i] = (struct tv_view_parameter){query->items[i].name, query->items[i].value};
    return query->count;
}

/* What only the trace can answer. */
static void ask_view(const struct tv_session *session, struct tv_bytes name,
                     const struct tv_query *query, struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS];
    struct tv_view_question question = {name, parameters, copy_parameters(query, parameters)};
    if (tv_view_answer(tv_session_view(session), &question, &answer->body, &err) != TV_OK)
        answer_wrong(answer, &err);
}

static enum tv_status add_to_spool(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    return tv_spool_add(context, bytes, err);
}

/* An answer that may be larger than memory: nothing is sent before all of it is there, so that what
 * goes wrong can be said. */
static void ask_view_for_much(const struct tv_session *session, struct tv_bytes name,
                              const struct tv_query *query, struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct tv_out out;
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS];
    struct tv_view_question question = {name, parameters, copy_parameters(query, parameters)};
    struct tv_spool *spool = tv_spool_new("the answer");
    tv_out_init(&out, add_to_spool, spool);
    enum tv_status status = tv_view_answer(tv_session_view(session), &question, &out, &err);
    if (status == TV_OK)
        status = tv_out_finish(&out, &err);
    tv_out_release(&out);
    if (status == TV_OK) {
        answer->source = tv_spool_finish(spool);
        return;
    }
    tv_spool_free(spool);
    answer_wrong(answer, &err);
}

static void ask_open_trace(struct tv_desk *desk, struct tv_bytes name,
                           const struct tv_request *request, struct tv_answer *answer)
{
    struct tv_query query;
    struct tv_error err = {0};
    uint32_t trace;
    struct tv_session *session = tv_desk_hold(desk, &trace);
    if (tv_query_parse(&query, request->query, request->query_length, &err) != TV_OK)
        answer_wrong(answer, &err);
    else if (session == NULL)
        tv_questions_refuse(answer, TV_HTTP_NOT_READY, "the trace is not there yet");
    else if (!is_about(&query, trace))
        tv_questions_refuse(answer, TV_HTTP_GONE, "another trace lies open now");
    else if (tv_view_is_large(name))
        ask_view_for_much(session, name, &query, answer);
    else
        ask_view(session, name, &query, answer);
    if (session != NULL)
        tv_desk_let_go(desk, session);
}

bool tv_questions_answer(struct tv_desk *desk, const struct tv_request *request,
                         struct tv_answer *answer)
{
    struct tv_bytes name;
    enum tv_answer_type type = TV_ANSWER_JSON;
    answer->type = tv_answer_type_name(type);
    bool api = take_name(request->path, &name);
    bool quit = api && tv_bytes_equal(name, TV_BYTES("quit"));
    bool status = api && tv_bytes_equal(name, TV_BYTES("status"));
    if (api && tv_opening_knows(name)) {
        tv_opening_answer(desk, request, answer);
        return false;
    }
    if (!quit && !status && !(api && tv_view_find_question(name, &type))) {
        tv_questions_refuse(answer, TV_HTTP_NOT_FOUND, "there is no such question");
        return false;
    }
    if (!is_method_right(answer, request->method, quit ? TV_HTTP_POST : TV_HTTP_GET))
        return false;
    if (quit) {
        tv_out_text(&answer->body, "{}");
        return true;
    }
    if (status) {
        tv_desk_write_status(desk, &answer->body);
        return false;
    }
    answer->type = tv_answer_type_name(type);
    answer->policy = type == TV_ANSWER_SVG ? TV_ANSWER_SVG_POLICY : NULL;
    ask_open_trace(desk, name, request, answer);
    return false;
}
