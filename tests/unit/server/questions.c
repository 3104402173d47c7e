/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.c - sessions and what can be asked of them, without HTTP.
 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/bytes.h"
#include "fixture.h"
#include "model/sketch.h"
#include "server/questions.h"

/* A loader whose end the test decides. */
struct source {
    struct fixture fixture;
    bool broken;
    _Atomic bool go;
};

static enum tv_status load(void *context, struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    struct source *source = context;
    /* Two passes over 500 bytes: one file of 500 bytes for whoever looks on. */
    atomic_store(&progress->input_bytes, 500);
    atomic_store(&progress->total_bytes, 1000);
    atomic_store(&progress->bytes, 400);
    atomic_store(&progress->records, 40);
    struct tv_sketch_mark mark = {5000, tv_sketch_track(progress->sketch, TV_BYTES("1/2"))};
    tv_sketch_add(progress->sketch, &mark, 1);
    while (!atomic_load(&source->go)) {
        if (atomic_load(&progress->cancel))
            return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped");
        sched_yield();
    }
    if (source->broken) {
        tv_fail(err, TV_ERR_SYNTAX, 123, "expected a tab, found 'x'");
        return tv_error_prefix(err, "a \"b\".trace");
    }
    *trace = source->fixture.trace;
    source->fixture.trace = NULL; /* the session's now */
    return TV_OK;
}

static const struct fixture_thread drawing[] = {{"main", NULL, {"AAAA", " BB "}}};

static struct source ready_source(bool broken)
{
    struct source source = {.broken = broken, .go = true};
    if (!broken)
        source.fixture = fixture_draw(drawing, 1);
    return source;
}

static struct tv_session *session_of(struct source *source)
{
    struct tv_loader loader = {load, source};
    return tv_session_new("a \"b\".trace", &loader);
}

static void end(struct tv_session *session, struct source *source)
{
    tv_session_free(session);
    fixture_free(&source->fixture);
}

struct asked {
    struct tv_answer answer;
    enum tv_question_effect effect;
    char body[4096];
};

/* The path is what stands behind the token, with its query. */
static struct asked ask(const struct tv_session *session, const char *path, const char *query,
                        bool post)
{
    uint8_t copy[256];
    struct asked asked = {.answer = {.status = TV_HTTP_OK}};
    assert_true(strlen(query) < sizeof copy);
    memcpy(copy, query, strlen(query) + 1);
    struct tv_request request = {
        .path = tv_bytes_of(path), .query = copy, .query_length = strlen(query), .post = post};
    tv_out_init_memory(&asked.answer.body);
    asked.effect = tv_questions_answer(session, &request, &asked.answer);
    assert_true(asked.answer.body.length < sizeof asked.body);
    if (asked.answer.body.length > 0)
        memcpy(asked.body, asked.answer.body.buffer, asked.answer.body.length);
    tv_out_release(&asked.answer.body);
    return asked;
}

static void assert_json(struct asked asked, enum tv_http_status status, const char *body)
{
    assert_int_equal(asked.answer.status, status);
    assert_string_equal(asked.answer.type, "application/json");
    assert_string_equal(asked.body, body);
}

static void *load_session(void *session)
{
    tv_session_load(session);
    return NULL;
}

static void shows_nothing_before_it_is_ready(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_session *session = session_of(&source);
    assert_json(ask(session, "api/status", "", false), TV_HTTP_OK,
                "{\"state\":\"loading\",\"name\":\"a \\\"b\\\".trace\",\"bytes\":0,"
                "\"total_bytes\":0,\"records\":0}");
    assert_json(ask(session, "api/trace", "", false), TV_HTTP_NOT_READY,
                "{\"error\":\"the trace is not there yet\"}");
    assert_json(ask(session, "api/tiles", "res=0", false), TV_HTTP_NOT_READY,
                "{\"error\":\"the trace is not there yet\"}");
    assert_null(tv_session_view(session));
    assert_null(tv_session_error(session));
    end(session, &source);
}

static void counts_while_it_loads(void **state)
{
    (void)state;
    struct source source = {.go = false};
    struct tv_session *session = session_of(&source);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, load_session, session), 0);
    while (strstr(ask(session, "api/status", "", false).body, "\"bytes\":200,") == NULL)
        sched_yield();
    assert_int_equal(tv_session_state(session), TV_SESSION_LOADING);
    /* One mark: it alone is as high as can be, in the first place. */
    const char *sketch = "\"sketch\":{\"length_ns\":204800,\"tracks\":[{\"name\":\"1/2\","
                         "\"heights\":[255,0,0,";
    while (strstr(ask(session, "api/status", "", false).body, sketch) == NULL)
        sched_yield();
    tv_session_cancel(session);
    pthread_join(thread, NULL);
    assert_int_equal(tv_session_state(session), TV_SESSION_FAILED);
    assert_int_equal(tv_session_error(session)->status, TV_ERR_CANCELLED);
    end(session, &source);
}

static void answers_once_it_is_ready(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_session *session = session_of(&source);
    assert_int_equal(tv_session_load(session), TV_SESSION_READY);
    assert_json(ask(session, "api/status", "", false), TV_HTTP_OK,
                "{\"state\":\"ready\",\"name\":\"a \\\"b\\\".trace\",\"bytes\":200,"
                "\"total_bytes\":500,\"records\":20}");
    assert_int_equal(ask(session, "api/trace", "", false).answer.status, TV_HTTP_OK);
    /* The second call of the first row, which has only one. */
    assert_int_equal(ask(session, "api/slice", "row=0&index=1", false).answer.status,
                     TV_HTTP_BAD_QUESTION);
    struct asked slice = ask(session, "api/slice", "row=0&ind%65x=0", false);
    assert_int_equal(slice.answer.status, TV_HTTP_OK);
    assert_non_null(strstr(slice.body, "\"length_ns\":4000000"));
    assert_string_equal(slice.answer.type, "application/json");
    assert_int_equal(slice.effect, TV_EFFECT_NONE);
    struct asked tiles = ask(session, "api/tiles", "res=13&from=0&to=0&rows=r0", false);
    assert_string_equal(tiles.answer.type, "application/octet-stream");
    assert_memory_equal(tiles.body, "TVT1", 4);
    end(session, &source);
}

static void tells_what_is_wrong_with_a_question(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_session *session = session_of(&source);
    assert_int_equal(tv_session_load(session), TV_SESSION_READY);
    assert_json(ask(session, "api/tiles", "res=%zz", false), TV_HTTP_BAD_QUESTION,
                "{\"error\":\"expected two hexadecimal digits behind '%'\"}");
    struct asked tiles = ask(session, "api/tiles", "res=53&from=0&to=0&rows=r0", false);
    assert_int_equal(tiles.answer.status, TV_HTTP_BAD_QUESTION);
    assert_string_equal(tiles.answer.type, "application/json");
    assert_memory_equal(tiles.body, "{\"error\":\"", 10);
    end(session, &source);
}

static void tells_why_there_is_no_trace(void **state)
{
    (void)state;
    struct source source = ready_source(true);
    struct tv_session *session = session_of(&source);
    assert_int_equal(tv_session_load(session), TV_SESSION_FAILED);
    struct asked status = ask(session, "api/status", "", false);
    assert_json(status, TV_HTTP_OK,
                "{\"state\":\"error\",\"name\":\"a \\\"b\\\".trace\",\"bytes\":200,"
                "\"total_bytes\":500,\"records\":20,\"error\":{\"message\":"
                "\"a \\\"b\\\".trace: byte 123: expected a tab, found 'x'\",\"offset\":123}}");
    assert_int_equal(status.effect, TV_EFFECT_TOLD);
    assert_int_equal(ask(session, "api/trace", "", false).answer.status, TV_HTTP_NOT_READY);
    assert_null(tv_session_view(session));
    end(session, &source);
}

static void knows_its_paths(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_session *session = session_of(&source);
    assert_int_equal(tv_session_load(session), TV_SESSION_READY);
    static const char *const others[] = {
        "x",          "api",        "api/",        "api/Trace",     "api/trace/",
        "api//trace", "API/trace",  "api/%74race", "api/../status", "../x",
        "/api/trace", "index.html", "api/status2",
    };
    for (size_t i = 0; i < TV_COUNT(others); i++)
        assert_json(ask(session, others[i], "", false), TV_HTTP_NOT_FOUND,
                    "{\"error\":\"there is no such question\"}");
    end(session, &source);
}

static void quits_only_by_post(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_session *session = session_of(&source);
    struct asked by_get = ask(session, "api/quit", "", false);
    assert_int_equal(by_get.answer.status, TV_HTTP_WRONG_METHOD);
    assert_string_equal(by_get.answer.allow, "POST");
    assert_int_equal(by_get.effect, TV_EFFECT_NONE);
    struct asked by_post = ask(session, "api/quit", "", true);
    assert_json(by_post, TV_HTTP_OK, "{}");
    assert_int_equal(by_post.effect, TV_EFFECT_QUIT);
    struct asked trace = ask(session, "api/trace", "", true);
    assert_int_equal(trace.answer.status, TV_HTTP_WRONG_METHOD);
    assert_string_equal(trace.answer.allow, "GET, HEAD");
    end(session, &source);
}

UNIT_TESTS(questions, cmocka_unit_test(shows_nothing_before_it_is_ready),
           cmocka_unit_test(counts_while_it_loads), cmocka_unit_test(answers_once_it_is_ready),
           cmocka_unit_test(tells_what_is_wrong_with_a_question),
           cmocka_unit_test(tells_why_there_is_no_trace), cmocka_unit_test(knows_its_paths),
           cmocka_unit_test(quits_only_by_post));
