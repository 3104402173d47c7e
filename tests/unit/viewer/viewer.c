/* SPDX-License-Identifier: Apache-2.0 */
/*
 * viewer.c - how the viewer stops and what it waits for; authentication; the page.
 */
#include "unit.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "fixture.h"
#include "model/sketch.h"
#include "viewer/internal.h"
#include "viewer/viewer.h"

enum how { LOADS, FAILS, HANGS_UNTIL_CANCELLED, HANGS_WITH_A_SKETCH, HANGS_WELL_READ };

struct source {
    enum how how;
    struct fixture fixture;
};

static enum tv_status load(void *context, const struct tv_session_input *inputs, size_t count,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    struct source *source = context;
    (void)inputs;
    assert_int_equal(count, 1);
    if (source->how == HANGS_WITH_A_SKETCH) {
        struct tv_sketch_mark mark = {5, tv_sketch_track(progress->sketch, TV_BYTES("a"))};
        tv_sketch_add(progress->sketch, &mark, 1);
    }
    if (source->how == HANGS_WELL_READ)
        atomic_store(&progress->bytes, (uint64_t)1 << 30);
    while (source->how >= HANGS_UNTIL_CANCELLED) {
        if (atomic_load(&progress->cancel))
            return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped");
        sched_yield();
    }
    if (source->how == FAILS)
        return tv_fail(err, TV_ERR_SYNTAX, 7, "no trace");
    *trace = source->fixture.trace;
    source->fixture.trace = NULL;
    return TV_OK;
}

static struct tv_viewer *serve(struct source *source)
{
    static const struct fixture_thread drawing[] = {{"main", NULL, {"AAAA", " BB "}}};
    struct tv_viewer_file file = {"x", 0};
    struct tv_viewer_options options = {.files = &file,
                                        .file_count = 1,
                                        .begin_count = 1,
                                        .loader = {.load = load, .context = source}};
    struct tv_viewer *server;
    if (source->how == LOADS)
        source->fixture = fixture_draw(drawing, 1);
    assert_int_equal(tv_viewer_new(&options, &server, NULL), TV_OK);
    assert_int_equal(tv_viewer_start(server, NULL), TV_OK);
    return server;
}

static void waits_for_the_trace(void **state)
{
    (void)state;
    struct source source = {.how = LOADS};
    struct tv_viewer *server = serve(&source);
    assert_int_equal(tv_viewer_wait_loaded(server, TV_FOREVER), TV_SESSION_READY);
    assert_null(tv_viewer_error(server));
    tv_viewer_stop(server);
    tv_viewer_wait_stop(server, false);
    assert_true(tv_viewer_free(server));
    fixture_free(&source.fixture);
}

/* With a sketch the wait may last an hour; without one it ends after the given time. */
static void waits_for_a_sketch_alone(void **state)
{
    (void)state;
    const struct {
        enum how how;
        unsigned wait_ms;
        enum tv_session_state comes;
    } cases[] = {
        {HANGS_WITH_A_SKETCH, 3600 * 1000, TV_SESSION_LOADING},
        {HANGS_WELL_READ, 3600 * 1000, TV_SESSION_LOADING},
        {HANGS_UNTIL_CANCELLED, 20, TV_SESSION_LOADING},
        {LOADS, 3600 * 1000, TV_SESSION_READY},
        {FAILS, 3600 * 1000, TV_SESSION_FAILED},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct source source = {.how = cases[i].how};
        struct tv_viewer *server = serve(&source);
        assert_int_equal(tv_viewer_wait_sketched(server, cases[i].wait_ms), cases[i].comes);
        tv_viewer_stop(server);
        assert_true(tv_viewer_free(server));
        fixture_free(&source.fixture);
    }
}

static void cancels_an_unwanted_loading(void **state)
{
    (void)state;
    struct source source = {.how = HANGS_UNTIL_CANCELLED};
    struct tv_viewer *server = serve(&source);
    assert_int_equal(tv_viewer_wait_loaded(server, 1), TV_SESSION_LOADING);
    tv_viewer_stop(server);
    assert_int_equal(tv_viewer_wait_loaded(server, TV_FOREVER), TV_SESSION_LOADING);
    tv_viewer_wait_stop(server, true);
    assert_true(tv_viewer_free(server));
}

/* Without a page there is nobody to show the error to. */
static void ends_by_itself_when_there_is_no_trace(void **state)
{
    (void)state;
    struct source source = {.how = FAILS};
    struct tv_viewer *server = serve(&source);
    assert_int_equal(tv_viewer_wait_loaded(server, TV_FOREVER), TV_SESSION_FAILED);
    assert_string_equal(tv_viewer_error(server)->message, "no trace");
    tv_viewer_wait_stop(server, false);
    assert_true(tv_viewer_free(server));
}

/* Without files the page asks for one, as long as it is open. */
static void needs_no_file(void **state)
{
    (void)state;
    struct source source = {.how = FAILS};
    struct tv_viewer_options options = {.loader = {.load = load, .context = &source}};
    struct tv_viewer *server;
    assert_int_equal(tv_viewer_new(&options, &server, NULL), TV_OK);
    assert_int_equal(tv_viewer_start(server, NULL), TV_OK);
    assert_int_equal(tv_viewer_wait_loaded(server, TV_FOREVER), TV_SESSION_EMPTY);
    assert_null(tv_viewer_error(server));
    tv_viewer_stop(server);
    tv_viewer_wait_stop(server, false);
    assert_true(tv_viewer_free(server));
}

static struct tv_request_auth made(uint16_t port)
{
    struct tv_request_auth guard;
    assert_int_equal(tv_request_auth_init(&guard, NULL), TV_OK);
    guard.port = port;
    return guard;
}

static void draws_another_token_each_time(void **state)
{
    (void)state;
    struct tv_request_auth one = made(1234), two = made(1234);
    assert_int_equal(strlen(one.token), 32); /* 128 bits */
    assert_int_equal(strspn(one.token, "0123456789abcdef"), 32);
    assert_string_not_equal(one.token, two.token);
}

static void knows_its_own_hosts(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(8123);
    assert_true(tv_request_auth_is_our_host(&guard, "127.0.0.1:8123"));
    assert_true(tv_request_auth_is_our_host(&guard, "localhost:8123"));
    assert_true(tv_request_auth_is_our_host(&guard, "LocalHost:8123"));
}

static void refuses_other_hosts(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(8123);
    static const char *const others[] = {
        "",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:8124",
        "127.0.0.1:81234",
        "127.0.0.1:8123 ",
        " 127.0.0.1:8123",
        "127.0.0.1:08123",
        "127.0.0.1.evil.example:8123",
        "evil.example:8123",
        "localhost.:8123",
        "localhost:8123@evil.example",
        "[::1]:8123",
        "127.0.0.2:8123",
        "0.0.0.0:8123",
    };
    for (size_t i = 0; i < TV_COUNT(others); i++)
        assert_false(tv_request_auth_is_our_host(&guard, others[i]));
}

static void accepts_hosts_without_the_default_port(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(80);
    assert_true(tv_request_auth_is_our_host(&guard, "127.0.0.1"));
    assert_true(tv_request_auth_is_our_host(&guard, "localhost:80"));
    assert_false(tv_request_auth_is_our_host(&guard, "evil.example"));
}

static void refuses_other_origins(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(8123);
    assert_true(tv_request_auth_is_our_origin(&guard, "http://127.0.0.1:8123"));
    assert_true(tv_request_auth_is_our_origin(&guard, "http://localhost:8123"));
    assert_false(tv_request_auth_is_our_origin(&guard, "https://127.0.0.1:8123"));
    assert_false(tv_request_auth_is_our_origin(&guard, "http://127.0.0.1:8124"));
    assert_false(tv_request_auth_is_our_origin(&guard, "http://127.0.0.1:8123/"));
    assert_false(tv_request_auth_is_our_origin(&guard, "http://evil.example"));
    assert_false(tv_request_auth_is_our_origin(&guard, "127.0.0.1:8123"));
    assert_false(tv_request_auth_is_our_origin(&guard, "null"));
    assert_false(tv_request_auth_is_our_origin(&guard, ""));
}

/* Return what follows the token; NULL: the path is refused. */
static const char *rest_of(const struct tv_request_auth *guard, const char *path)
{
    struct tv_bytes rest;
    if (!tv_request_auth_take_token(guard, tv_bytes_of(path), &rest))
        return NULL;
    return (const char *)rest.data;
}

static void takes_the_token_off(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(8123);
    char path[128];
    snprintf(path, sizeof path, "/%s/", guard.token);
    assert_string_equal(rest_of(&guard, path), "");
    snprintf(path, sizeof path, "/%s/api/trace", guard.token);
    assert_string_equal(rest_of(&guard, path), "api/trace");
}

static void refuses_every_wrong_digit(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(8123);
    char path[128];
    int length = snprintf(path, sizeof path, "/%s/", guard.token);
    for (int i = 0; i < length; i++) {
        char kept = path[i];
        path[i] = (char)(kept ^ 1);
        assert_null(rest_of(&guard, path));
        path[i] = kept;
    }
    assert_non_null(rest_of(&guard, path));
}

static void refuses_paths_without_it(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(8123);
    char path[128];
    assert_null(rest_of(&guard, ""));
    assert_null(rest_of(&guard, "/"));
    snprintf(path, sizeof path, "/%s", guard.token);
    assert_null(rest_of(&guard, path));
    snprintf(path, sizeof path, "//%s/", guard.token);
    assert_null(rest_of(&guard, path));
    snprintf(path, sizeof path, "/../%s/", guard.token);
    assert_null(rest_of(&guard, path));
    snprintf(path, sizeof path, "/%.31s/api/trace", guard.token);
    assert_null(rest_of(&guard, path));
}

/* Check a request as http.h makes it. Return the status that refuses it, or 200. */
static int admit(const struct tv_request_auth *guard, struct tv_request request, const char *host,
                 const char *origin)
{
    struct tv_http_header headers[] = {{"host", host}, {"ORIGIN", origin}};
    struct tv_answer answer;
    request.headers = headers;
    request.header_count = origin != NULL ? 2 : 1;
    tv_answer_init(&answer);
    bool admitted = tv_request_auth_check(guard, &request, &answer);
    int status = (int)answer.status;
    char said[128] = "";
    if (!admitted) {
        assert_true(answer.body.length < sizeof said);
        memcpy(said, answer.body.buffer, answer.body.length);
    }
    tv_answer_release(&answer);
    if (admitted) {
        assert_int_equal(status, 200);
        assert_true(tv_bytes_equal(request.path, TV_BYTES("api/x")));
        assert_int_not_equal(request.method, TV_HTTP_HEAD);
    } else {
        /* Nothing else is said, but where the page of a program that was started again is. */
        assert_int_equal(strtol(said, NULL, 10), status);
        assert_true(status == 404 ? strstr(said, "open the address") != NULL : strlen(said) == 4);
    }
    return status;
}

static struct tv_request request_of(enum tv_http_method method, const char *path)
{
    return (struct tv_request){.method = method, .path = tv_bytes_of(path)};
}

static void admits_its_own_page_alone(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(8123);
    char path[64], wrong[64];
    snprintf(path, sizeof path, "/%s/api/x", guard.token);
    snprintf(wrong, sizeof wrong, "/%s/api/x", guard.token);
    wrong[5] = wrong[5] == 'a' ? 'b' : 'a';
    struct tv_request get = request_of(TV_HTTP_GET, path);
    assert_int_equal(admit(&guard, get, "127.0.0.1:8123", NULL), 200);
    assert_int_equal(admit(&guard, get, "localhost:8123", "http://localhost:8123"), 200);
    assert_int_equal(admit(&guard, get, "evil.example:8123", NULL), 403);
    assert_int_equal(admit(&guard, get, "127.0.0.1", NULL), 403);
    assert_int_equal(admit(&guard, get, "127.0.0.1:8123", "http://evil.example"), 403);
    assert_int_equal(admit(&guard, get, "127.0.0.1:8123", "null"), 403);
    assert_int_equal(admit(&guard, request_of(TV_HTTP_GET, wrong), "127.0.0.1:8123", NULL), 404);
    assert_int_equal(admit(&guard, request_of(TV_HTTP_GET, "/"), "127.0.0.1:8123", NULL), 404);
    guard.port = 0; /* not known yet */
    assert_int_equal(admit(&guard, get, "127.0.0.1:0", NULL), 403);
}

static void knows_four_methods(void **state)
{
    (void)state;
    struct tv_request_auth guard = made(8123);
    char path[64];
    snprintf(path, sizeof path, "/%s/api/x", guard.token);
    for (int method = TV_HTTP_GET; method <= TV_HTTP_OTHER; method++) {
        bool known = method <= TV_HTTP_PUT;
        struct tv_request request = request_of((enum tv_http_method)method, path);
        assert_int_equal(admit(&guard, request, "127.0.0.1:8123", NULL), known ? 200 : 405);
        request.path = TV_BYTES("/x/"); /* the path is checked before the method */
        assert_int_equal(admit(&guard, request, "127.0.0.1:8123", NULL), 404);
    }
}

static const char *policy_of(const char *page)
{
    static struct tv_page_headers headers;
    tv_page_describe(tv_bytes_of(page), &headers);
    return headers.policy;
}

static void repeats_the_pages_policy(void **state)
{
    (void)state;
    assert_string_equal(
        policy_of("<!doctype html><head>\n<meta http-equiv=\"Content-Security-Policy\" "
                  "content=\"default-src 'none'; img-src data:\">\n</head>"),
        "default-src 'none'; img-src data:; frame-ancestors 'none'");
}

static void allows_nothing_without_a_policy(void **state)
{
    (void)state;
    static const char nothing[] = "default-src 'none'; frame-ancestors 'none'";
    assert_string_equal(policy_of(""), nothing);
    assert_string_equal(policy_of("<!doctype html><title>x</title>"), nothing);
    assert_string_equal(
        policy_of("<meta http-equiv=\"Content-Security-Policy\" content=\"script-src *"), nothing);
    assert_string_equal(policy_of("<meta http-equiv=\"Content-Security-Policy\" content=\""),
                        nothing);
}

/* A truncated policy could allow more than the whole one. */
static void allows_nothing_when_the_policy_is_too_long(void **state)
{
    (void)state;
    char page[2048] = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
    size_t used = strlen(page);
    memset(page + used, 'x', 1500);
    memcpy(page + used + 1500, "\">", 3);
    assert_string_equal(policy_of(page), "default-src 'none'; frame-ancestors 'none'");
}

static void tags_differ_with_the_page(void **state)
{
    (void)state;
    struct tv_page_headers one, two;
    tv_page_describe(TV_BYTES("a"), &one);
    tv_page_describe(TV_BYTES("b"), &two);
    assert_string_not_equal(one.tag, two.tag);
    assert_int_equal(strlen(one.tag), 18);
    assert_true(one.tag[0] == '"' && one.tag[17] == '"');
}

/* The embedded page loads nothing from elsewhere, and allows scripts and styles only by hash. */
static void the_embedded_page_is_strict(void **state)
{
    (void)state;
    struct tv_page_headers headers;
    tv_page_describe((struct tv_bytes){(const uint8_t *)tv_page, (size_t)(tv_page_end - tv_page)},
                     &headers);
    assert_non_null(strstr(headers.policy, "default-src 'none'; "));
    assert_non_null(strstr(headers.policy, "script-src 'sha256-"));
    assert_non_null(strstr(headers.policy, "frame-ancestors 'none'"));
    assert_null(strstr(headers.policy, "unsafe"));
    assert_null(strstr(headers.policy, "http:"));
    assert_null(strstr(headers.policy, "https:"));
    assert_null(strchr(headers.policy, '*'));
}

UNIT_TESTS(
    viewer, cmocka_unit_test(needs_no_file), cmocka_unit_test(waits_for_the_trace),
    cmocka_unit_test(waits_for_a_sketch_alone), cmocka_unit_test(cancels_an_unwanted_loading),
    cmocka_unit_test(ends_by_itself_when_there_is_no_trace),
    cmocka_unit_test(draws_another_token_each_time), cmocka_unit_test(knows_its_own_hosts),
    cmocka_unit_test(refuses_other_hosts), cmocka_unit_test(accepts_hosts_without_the_default_port),
    cmocka_unit_test(refuses_other_origins), cmocka_unit_test(takes_the_token_off),
    cmocka_unit_test(refuses_every_wrong_digit), cmocka_unit_test(refuses_paths_without_it),
    cmocka_unit_test(admits_its_own_page_alone), cmocka_unit_test(knows_four_methods),
    cmocka_unit_test(repeats_the_pages_policy), cmocka_unit_test(allows_nothing_without_a_policy),
    cmocka_unit_test(allows_nothing_when_the_policy_is_too_long),
    cmocka_unit_test(tags_differ_with_the_page), cmocka_unit_test(the_embedded_page_is_strict));
