/* SPDX-License-Identifier: Apache-2.0 */
#include "server/questions.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "server/query.h"
#include "view/view.h"

static void answer_error(struct tv_answer *answer, enum tv_http_status status, const char *sentence)
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
    answer_error(answer, TV_HTTP_BAD_QUESTION, err->message);
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

static bool is_method_right(struct tv_answer *answer, bool post, bool wants_post)
{
    if (post == wants_post)
        return true;
    answer_error(answer, TV_HTTP_WRONG_METHOD, "this question has another method");
    answer->allow = wants_post ? "POST" : "GET, HEAD";
    return false;
}

static enum tv_question_effect answer_quit(struct tv_answer *answer)
{
    tv_out_text(&answer->body, "{}");
    return TV_EFFECT_QUIT;
}

static enum tv_question_effect answer_status(const struct tv_session *session,
                                             struct tv_answer *answer)
{
    /* Looked at before, so that the answer says "error" when the effect does. */
    bool failed = tv_session_state(session) == TV_SESSION_FAILED;
    tv_session_write_status(session, &answer->body);
    return failed ? TV_EFFECT_TOLD : TV_EFFECT_NONE;
}

/* What only the trace can answer. */
static void ask_view(const struct tv_session *session, struct tv_bytes name,
                     const struct tv_request *request, struct tv_answer *answer)
{
    struct tv_query query;
    struct tv_error err = {0};
    const struct tv_view *view = tv_session_view(session);
    if (view == NULL) {
        answer_error(answer, TV_HTTP_NOT_READY, "the trace is not there yet");
        return;
    }
    enum tv_status status = tv_query_parse(&query, request->query, request->query_length, &err);
    if (status == TV_OK) {
        struct tv_view_question question = {name, query.items, query.count};
        status = tv_view_answer(view, &question, &answer->body, &err);
    }
    if (status != TV_OK)
        answer_wrong(answer, &err);
}

enum tv_question_effect tv_questions_answer(const struct tv_session *session,
                                            const struct tv_request *request,
                                            struct tv_answer *answer)
{
    struct tv_bytes name;
    bool binary = false;
    answer->type = "application/json";
    bool api = take_name(request->path, &name);
    bool quit = api && tv_bytes_equal(name, TV_BYTES("quit"));
    bool status = api && tv_bytes_equal(name, TV_BYTES("status"));
    if (!quit && !status && !(api && tv_view_knows(name, &binary))) {
        answer_error(answer, TV_HTTP_NOT_FOUND, "there is no such question");
        return TV_EFFECT_NONE;
    }
    if (!is_method_right(answer, request->post, quit))
        return TV_EFFECT_NONE;
    if (quit)
        return answer_quit(answer);
    if (status)
        return answer_status(session, answer);
    if (binary)
        answer->type = "application/octet-stream";
    ask_view(session, name, request, answer);
    return TV_EFFECT_NONE;
}
