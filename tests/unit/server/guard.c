/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "server/guard.h"

static struct tv_guard made(uint16_t port)
{
    struct tv_guard guard;
    assert_int_equal(tv_guard_init(&guard, NULL), TV_OK);
    guard.port = port;
    return guard;
}

static void draws_another_token_each_time(void **state)
{
    (void)state;
    struct tv_guard one = made(1234), two = made(1234);
    assert_int_equal(strlen(one.token), 32); /* 128 bits */
    assert_int_equal(strspn(one.token, "0123456789abcdef"), 32);
    assert_string_not_equal(one.token, two.token);
}

static void knows_its_own_hosts(void **state)
{
    (void)state;
    struct tv_guard guard = made(8123);
    assert_true(tv_guard_host_is_ours(&guard, "127.0.0.1:8123"));
    assert_true(tv_guard_host_is_ours(&guard, "localhost:8123"));
    assert_true(tv_guard_host_is_ours(&guard, "LocalHost:8123"));
}

static void refuses_other_hosts(void **state)
{
    (void)state;
    struct tv_guard guard = made(8123);
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
        assert_false(tv_guard_host_is_ours(&guard, others[i]));
}

static void takes_the_usual_port_unsaid(void **state)
{
    (void)state;
    struct tv_guard guard = made(80);
    assert_true(tv_guard_host_is_ours(&guard, "127.0.0.1"));
    assert_true(tv_guard_host_is_ours(&guard, "localhost:80"));
    assert_false(tv_guard_host_is_ours(&guard, "evil.example"));
}

static void refuses_other_origins(void **state)
{
    (void)state;
    struct tv_guard guard = made(8123);
    assert_true(tv_guard_origin_is_ours(&guard, "http://127.0.0.1:8123"));
    assert_true(tv_guard_origin_is_ours(&guard, "http://localhost:8123"));
    assert_false(tv_guard_origin_is_ours(&guard, "https://127.0.0.1:8123"));
    assert_false(tv_guard_origin_is_ours(&guard, "http://127.0.0.1:8124"));
    assert_false(tv_guard_origin_is_ours(&guard, "http://127.0.0.1:8123/"));
    assert_false(tv_guard_origin_is_ours(&guard, "http://evil.example"));
    assert_false(tv_guard_origin_is_ours(&guard, "127.0.0.1:8123"));
    assert_false(tv_guard_origin_is_ours(&guard, "null"));
    assert_false(tv_guard_origin_is_ours(&guard, ""));
}

/* What stands behind the token, or NULL when the path is not taken. */
static const char *rest_of(const struct tv_guard *guard, const char *path)
{
    struct tv_bytes rest;
    if (!tv_guard_take_token(guard, tv_bytes_of(path), &rest))
        return NULL;
    return (const char *)rest.data;
}

static void takes_the_token_off(void **state)
{
    (void)state;
    struct tv_guard guard = made(8123);
    char path[128];
    snprintf(path, sizeof path, "/%s/", guard.token);
    assert_string_equal(rest_of(&guard, path), "");
    snprintf(path, sizeof path, "/%s/api/trace", guard.token);
    assert_string_equal(rest_of(&guard, path), "api/trace");
}

static void refuses_every_wrong_digit(void **state)
{
    (void)state;
    struct tv_guard guard = made(8123);
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
    struct tv_guard guard = made(8123);
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

/* A request as http.h makes it; the status that refuses it, or 200. */
static int admit(const struct tv_guard *guard, struct tv_request request, const char *host,
                 const char *origin)
{
    struct tv_http_header headers[] = {{"host", host}, {"ORIGIN", origin}};
    struct tv_answer answer;
    request.headers = headers;
    request.header_count = origin != NULL ? 2 : 1;
    tv_answer_init(&answer);
    bool admitted = tv_guard_admit(guard, &request, &answer);
    int status = (int)answer.status;
    char said[8] = "";
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
        assert_int_equal(strtol(said, NULL, 10), status); /* and no more */
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
    struct tv_guard guard = made(8123);
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
    struct tv_guard guard = made(8123);
    char path[64];
    snprintf(path, sizeof path, "/%s/api/x", guard.token);
    for (int method = TV_HTTP_GET; method <= TV_HTTP_OTHER; method++) {
        bool known = method <= TV_HTTP_PUT;
        struct tv_request request = request_of((enum tv_http_method)method, path);
        assert_int_equal(admit(&guard, request, "127.0.0.1:8123", NULL), known ? 200 : 405);
        request.path = TV_BYTES("/x/"); /* behind the token stand even the methods */
        assert_int_equal(admit(&guard, request, "127.0.0.1:8123", NULL), 404);
    }
}

UNIT_TESTS(guard, cmocka_unit_test(draws_another_token_each_time),
           cmocka_unit_test(knows_its_own_hosts), cmocka_unit_test(refuses_other_hosts),
           cmocka_unit_test(takes_the_usual_port_unsaid), cmocka_unit_test(refuses_other_origins),
           cmocka_unit_test(takes_the_token_off), cmocka_unit_test(refuses_every_wrong_digit),
           cmocka_unit_test(refuses_paths_without_it), cmocka_unit_test(admits_its_own_page_alone),
           cmocka_unit_test(knows_four_methods));
