/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.c - open traces and the questions about them, without HTTP.
 */
#include "unit.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "fixture.h"
#include "model/sketch.h"
#include "viewer/internal.h"

/* A loader that loads until the test lets it end. */
struct source {
    struct fixture fixture;
    bool broken;
    _Atomic bool go;
    _Atomic int ended; /* state in which the last loading ended; -1: none has */
};

static enum tv_status load(void *context, const struct tv_session_input *inputs, size_t count,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    struct source *source = context;
    assert_int_equal(count, 1);
    assert_null(inputs[0].source);
    /* two passes over 500 bytes, which progress shows as one file of 500 bytes */
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
    source->fixture.trace = NULL; /* owned by the session now */
    return TV_OK;
}

static void note_end(void *context, enum tv_session_state state, const struct tv_error *error)
{
    struct source *source = context;
    (void)error;
    atomic_store(&source->ended, (int)state);
}

static const struct fixture_thread drawing[] = {{"main", NULL, {"AAAA", " BB "}}};

static struct source ready_source(bool broken)
{
    struct source source = {.broken = broken, .go = true, .ended = -1};
    if (!broken)
        source.fixture = fixture_draw(drawing, 1);
    return source;
}

static struct tv_open_traces *traces_of(struct source *source)
{
    struct tv_viewer_file file = {"a \"b\".trace", 1500000};
    struct tv_open_traces_options options = {
        .loader = {.load = load, .context = source},
        .files = &file,
        .file_count = 1,
        .begin_count = 1,
        .ended = note_end,
        .context = source,
    };
    return tv_open_traces_new(&options);
}

static void await_end(struct source *source)
{
    while (atomic_load(&source->ended) < 0)
        sched_yield();
}

/* Load the trace, or the error, and wait. */
static struct tv_open_traces *loaded_traces(struct source *source)
{
    struct tv_open_traces *traces = traces_of(source);
    assert_int_equal(tv_open_traces_start(traces, NULL), TV_OK);
    await_end(source);
    return traces;
}

static void end(struct tv_open_traces *traces, struct source *source)
{
    assert_true(tv_open_traces_free(traces, 60000));
    fixture_free(&source->fixture);
}

struct asked {
    struct tv_answer answer;
    bool quit;
    char body[4096];
};

/* Ask. The path is what follows the token. */
static struct asked ask(struct tv_open_traces *traces, const char *path, const char *query,
                        enum tv_http_method method)
{
    uint8_t copy[256];
    struct tv_http_header own = {TV_HTTP_CSRF_HEADER, "1"};
    struct asked asked = {.quit = false};
    assert_true(strlen(query) < sizeof copy);
    memcpy(copy, query, strlen(query) + 1);
    struct tv_request request = {.path = tv_bytes_of(path),
                                 .query = copy,
                                 .query_length = strlen(query),
                                 .method = method,
                                 .headers = &own,
                                 .header_count = 1};
    tv_answer_init(&asked.answer);
    asked.quit = tv_viewer_api_answer(traces, &request, &asked.answer);
    assert_true(asked.answer.body.length < sizeof asked.body);
    if (asked.answer.body.length > 0)
        memcpy(asked.body, asked.answer.body.buffer, asked.answer.body.length);
    tv_out_release(&asked.answer.body);
    return asked;
}

static struct asked get(struct tv_open_traces *traces, const char *path, const char *query)
{
    return ask(traces, path, query, TV_HTTP_GET);
}

static struct asked post(struct tv_open_traces *traces, const char *path, const char *query)
{
    return ask(traces, path, query, TV_HTTP_POST);
}

static void assert_json(struct asked asked, enum tv_http_status status, const char *body)
{
    assert_int_equal(asked.answer.status, status);
    assert_string_equal(asked.answer.type, "application/json");
    assert_string_equal(asked.body, body);
}

static void assert_refused(struct asked asked, enum tv_http_status status, const char *sentence)
{
    char body[512];
    snprintf(body, sizeof body, "{\"error\":\"%s\"}", sentence);
    assert_json(asked, status, body);
}

static void wait_until(struct tv_open_traces *traces, const char *text)
{
    while (strstr(get(traces, "api/status", "").body, text) == NULL)
        sched_yield();
}

#define FILES                                                                                      \
    ",\"files\":[{\"input\":0,\"name\":\"a \\\"b\\\".trace\",\"bytes\":null}],"                    \
    "\"start\":[{\"input\":0,\"offset_ns\":\"1500000\"}]}"
#define INPUTS                                                                                     \
    ",\"inputs\":[{\"input\":0,\"name\":\"a \\\"b\\\".trace\",\"offset_ns\":\"1500000\"}]"

static void shows_nothing_before_it_is_ready(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = traces_of(&source);
    assert_json(get(traces, "api/status", ""), TV_HTTP_OK,
                "{\"state\":\"empty\",\"name\":\"\",\"bytes\":0,\"total_bytes\":0,\"records\":0,"
                "\"inputs\":[],\"trace\":0" FILES);
    assert_refused(get(traces, "api/trace", ""), TV_HTTP_CONFLICT, "the trace is not there yet");
    assert_refused(get(traces, "api/tiles", "res=0"), TV_HTTP_CONFLICT,
                   "the trace is not there yet");
    end(traces, &source);
}

static void counts_while_it_loads(void **state)
{
    (void)state;
    struct source source = {.go = false, .ended = -1};
    struct tv_open_traces *traces = traces_of(&source);
    assert_int_equal(tv_open_traces_start(traces, NULL), TV_OK);
    wait_until(traces, "\"state\":\"loading\"");
    wait_until(traces, "\"bytes\":200,");
    /* a single mark is as high as possible, in the first column */
    wait_until(traces, "\"sketch\":{\"length_ns\":204800,\"tracks\":[{\"name\":\"1/2\","
                       "\"heights\":[255,0,0,");
    assert_json(post(traces, "api/cancel", ""), TV_HTTP_OK, "{}");
    assert_non_null(strstr(get(traces, "api/status", "").body, "\"state\":\"empty\""));
    await_end(&source);
    assert_int_equal(atomic_load(&source.ended), TV_SESSION_EMPTY);
    end(traces, &source);
}

static void answers_once_it_is_ready(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = loaded_traces(&source);
    assert_json(get(traces, "api/status", ""), TV_HTTP_OK,
                "{\"state\":\"ready\",\"name\":\"a \\\"b\\\".trace\",\"bytes\":200,"
                "\"total_bytes\":500,\"records\":20" INPUTS ",\"trace\":1" FILES);
    assert_int_equal(get(traces, "api/trace", "").answer.status, TV_HTTP_OK);
    assert_int_equal(get(traces, "api/trace", "trace=1").answer.status, TV_HTTP_OK);
    assert_refused(get(traces, "api/trace", "trace=2"), TV_HTTP_GONE,
                   "that trace is not open any more");
    assert_refused(get(traces, "api/trace", "trace=x"), TV_HTTP_BAD_REQUEST,
                   "trace: expected a number up to 4294967295");
    /* the second call of the first row, which has only one */
    assert_int_equal(get(traces, "api/slice", "row=0&index=1").answer.status, TV_HTTP_BAD_REQUEST);
    struct asked slice = get(traces, "api/slice", "row=0&ind%65x=0");
    assert_int_equal(slice.answer.status, TV_HTTP_OK);
    assert_non_null(strstr(slice.body, "\"length_ns\":4000000"));
    assert_string_equal(slice.answer.type, "application/json");
    assert_false(slice.quit);
    struct asked tiles = get(traces, "api/tiles", "res=13&from=0&to=0&rows=r0");
    assert_string_equal(tiles.answer.type, "application/octet-stream");
    assert_memory_equal(tiles.body, "TVT1", 4);
    end(traces, &source);
}

static void explains_wrong_questions(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = loaded_traces(&source);
    assert_refused(get(traces, "api/tiles", "res=%zz"), TV_HTTP_BAD_REQUEST,
                   "expected two hexadecimal digits after '%'");
    struct asked tiles = get(traces, "api/tiles", "res=53&from=0&to=0&rows=r0");
    assert_int_equal(tiles.answer.status, TV_HTTP_BAD_REQUEST);
    assert_string_equal(tiles.answer.type, "application/json");
    assert_memory_equal(tiles.body, "{\"error\":\"", 10);
    end(traces, &source);
}

static void explains_why_there_is_no_trace(void **state)
{
    (void)state;
    struct source source = ready_source(true);
    struct tv_open_traces *traces = loaded_traces(&source);
    assert_int_equal(atomic_load(&source.ended), TV_SESSION_FAILED);
    assert_json(get(traces, "api/status", ""), TV_HTTP_OK,
                "{\"state\":\"error\",\"name\":\"a \\\"b\\\".trace\",\"bytes\":200,"
                "\"total_bytes\":500,\"records\":20" INPUTS ",\"error\":{\"message\":"
                "\"a \\\"b\\\".trace: byte 123: expected a tab, found 'x'\","
                "\"kind\":\"syntax\",\"offset\":123},\"trace\":1" FILES);
    assert_int_equal(get(traces, "api/trace", "").answer.status, TV_HTTP_CONFLICT);
    /* dismissed */
    assert_json(post(traces, "api/cancel", ""), TV_HTTP_OK, "{}");
    assert_non_null(strstr(get(traces, "api/status", "").body, "\"state\":\"empty\""));
    end(traces, &source);
}

static void keeps_each_trace_for_its_pages(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = loaded_traces(&source);
    atomic_store(&source.go, false);
    source.broken = true;
    assert_json(post(traces, "api/open", "inputs=0&offsets=-7"), TV_HTTP_OK, "{\"trace\":2}");
    /* another page that opens the same files waits for the same trace */
    assert_json(post(traces, "api/open", "inputs=0&offsets=-7"), TV_HTTP_OK, "{\"trace\":2}");
    struct asked status = get(traces, "api/status", "trace=2");
    assert_non_null(strstr(status.body, "\"state\":\"loading\""));
    assert_non_null(strstr(status.body, "\"offset_ns\":\"-7\"}],"));
    assert_non_null(strstr(status.body, "\"trace\":2,"));
    assert_refused(get(traces, "api/trace", "trace=2"), TV_HTTP_CONFLICT,
                   "the trace is not there yet");
    assert_int_equal(get(traces, "api/trace", "trace=1").answer.status, TV_HTTP_OK);
    atomic_store(&source.go, true);
    wait_until(traces, "\"state\":\"error\"");
    assert_non_null(strstr(get(traces, "api/status", "trace=1").body, "\"state\":\"ready\""));
    assert_int_equal(get(traces, "api/trace", "trace=1").answer.status, TV_HTTP_OK);
    /* what is ready cannot be cancelled */
    assert_json(post(traces, "api/cancel", "trace=1"), TV_HTTP_OK, "{}");
    assert_json(post(traces, "api/cancel", "trace=2"), TV_HTTP_OK, "{}");
    assert_non_null(strstr(get(traces, "api/status", "trace=2").body, "\"state\":\"empty\""));
    assert_non_null(strstr(get(traces, "api/status", "").body, "\"trace\":1,"));
    fixture_free(&source.fixture);
    source.fixture = fixture_draw(drawing, 1);
    source.broken = false;
    assert_json(post(traces, "api/open", "inputs=0"), TV_HTTP_OK, "{\"trace\":3}");
    wait_until(traces, "\"state\":\"ready\"");
    assert_json(post(traces, "api/open", "inputs=0&offsets=1500000"), TV_HTTP_OK, "{\"trace\":1}");
    assert_int_equal(get(traces, "api/trace", "trace=1").answer.status, TV_HTTP_OK);
    assert_int_equal(get(traces, "api/trace", "trace=3").answer.status, TV_HTTP_OK);
    end(traces, &source);
}

/* Open files that cannot be read, and wait until that counts as a use of the trace: this happens
 * after its state can be seen. */
static void open_broken(struct tv_open_traces *traces, struct source *source, unsigned offset)
{
    char query[64];
    snprintf(query, sizeof query, "inputs=0&offsets=%u", offset);
    atomic_store(&source->ended, -1);
    post(traces, "api/open", query);
    await_end(source);
}

/* One trace more than may lie open takes the place of the one that was asked about least recently.
 * A trace that failed takes a place as well, until its page dismisses it. */
static void closes_what_was_asked_about_longest_ago(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = loaded_traces(&source);
    source.broken = true;
    for (unsigned i = 2; i <= TV_OPEN_TRACES; i++)
        open_broken(traces, &source, i);
    assert_int_equal(get(traces, "api/trace", "trace=1").answer.status, TV_HTTP_OK);
    open_broken(traces, &source, 1000);
    assert_int_equal(get(traces, "api/trace", "trace=1").answer.status, TV_HTTP_OK);
    assert_int_equal(get(traces, "api/trace", "trace=2").answer.status, TV_HTTP_GONE);
    assert_int_equal(get(traces, "api/trace", "trace=3").answer.status, TV_HTTP_CONFLICT);
    assert_int_equal(get(traces, "api/trace", "trace=9").answer.status, TV_HTTP_CONFLICT);
    end(traces, &source);
}

static void opens_only_what_is_there(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = loaded_traces(&source);
    static const struct {
        const char *query, *sentence;
    } wrong[] = {
        {"", "inputs: it is missing"},
        {"inputs=", "inputs: there are none"},
        {"inputs=1", "file 1 is not here (any more)"},
        {"inputs=0,x", "inputs: expected numbers of files"},
        {"inputs=0,4294967296", "inputs: expected numbers of files"},
        {"inputs=0,0", "inputs: one stands there twice"},
        {"inputs=0&offsets=1,2", "offsets: expected nanoseconds for each file, at most 73 years"},
        {"inputs=0&offsets=1.5", "offsets: expected nanoseconds for each file, at most 73 years"},
        {"inputs=0&offsets=9223372036854775807",
         "offsets: expected nanoseconds for each file, at most 73 years"},
    };
    for (size_t i = 0; i < TV_COUNT(wrong); i++)
        assert_refused(post(traces, "api/open", wrong[i].query), TV_HTTP_BAD_REQUEST,
                       wrong[i].sentence);
    char many[256] = "inputs=0";
    for (size_t length = strlen(many); length < 220; length = strlen(many))
        snprintf(many + length, sizeof many - length, ",%zu", length);
    assert_int_equal(post(traces, "api/open", many).answer.status, TV_HTTP_BAD_REQUEST);
    assert_non_null(strstr(get(traces, "api/status", "").body, "\"state\":\"ready\""));
    end(traces, &source);
}

static void changes_nothing_for_other_pages(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = traces_of(&source);
    static const char *const paths[] = {"api/open", "api/cancel", "api/upload", "api/drop"};
    for (size_t i = 0; i < TV_COUNT(paths); i++) {
        struct tv_answer answer = {.status = TV_HTTP_OK};
        uint8_t query[] = "name=x&bytes=1&inputs=0";
        struct tv_request request = {.path = tv_bytes_of(paths[i]),
                                     .query = query,
                                     .query_length = sizeof query - 1,
                                     .method = TV_HTTP_POST};
        tv_out_init_memory(&answer.body);
        assert_false(tv_viewer_api_answer(traces, &request, &answer));
        assert_int_equal(answer.status, TV_HTTP_FORBIDDEN);
        tv_out_release(&answer.body);
        assert_int_equal(get(traces, paths[i], "").answer.status, TV_HTTP_METHOD_NOT_ALLOWED);
    }
    assert_non_null(strstr(get(traces, "api/status", "").body, "\"state\":\"empty\""));
    end(traces, &source);
}

static void knows_its_paths(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = loaded_traces(&source);
    static const char *const others[] = {
        "x",          "api",        "api/",        "api/Trace",     "api/trace/",
        "api//trace", "API/trace",  "api/%74race", "api/../status", "../x",
        "/api/trace", "index.html", "api/status2",
    };
    for (size_t i = 0; i < TV_COUNT(others); i++)
        assert_refused(get(traces, others[i], ""), TV_HTTP_NOT_FOUND, "there is no such question");
    end(traces, &source);
}

static void quits_only_by_post(void **state)
{
    (void)state;
    struct source source = ready_source(false);
    struct tv_open_traces *traces = traces_of(&source);
    struct asked by_get = get(traces, "api/quit", "");
    assert_int_equal(by_get.answer.status, TV_HTTP_METHOD_NOT_ALLOWED);
    assert_string_equal(by_get.answer.allow, "POST");
    assert_false(by_get.quit);
    struct asked by_post = post(traces, "api/quit", "");
    assert_json(by_post, TV_HTTP_OK, "{}");
    assert_true(by_post.quit);
    struct asked trace = post(traces, "api/trace", "");
    assert_int_equal(trace.answer.status, TV_HTTP_METHOD_NOT_ALLOWED);
    assert_string_equal(trace.answer.allow, "GET, HEAD");
    end(traces, &source);
}

UNIT_TESTS(api, cmocka_unit_test(shows_nothing_before_it_is_ready),
           cmocka_unit_test(counts_while_it_loads), cmocka_unit_test(answers_once_it_is_ready),
           cmocka_unit_test(explains_wrong_questions),
           cmocka_unit_test(explains_why_there_is_no_trace),
           cmocka_unit_test(keeps_each_trace_for_its_pages),
           cmocka_unit_test(closes_what_was_asked_about_longest_ago),
           cmocka_unit_test(opens_only_what_is_there),
           cmocka_unit_test(changes_nothing_for_other_pages), cmocka_unit_test(knows_its_paths),
           cmocka_unit_test(quits_only_by_post));
