/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "server/guard.h"

static struct tv_guard made(uint16_t port)
{
    struct tv_guard guard;
    assert_int_equal(tv_guard_init(&guard, port, NULL), TV_OK);
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

UNIT_TESTS(guard, cmocka_unit_test(draws_another_token_each_time),
           cmocka_unit_test(knows_its_own_hosts), cmocka_unit_test(refuses_other_hosts),
           cmocka_unit_test(takes_the_usual_port_unsaid), cmocka_unit_test(refuses_other_origins),
           cmocka_unit_test(takes_the_token_off), cmocka_unit_test(refuses_every_wrong_digit),
           cmocka_unit_test(refuses_paths_without_it));
