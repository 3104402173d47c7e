/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "server/page.h"

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

/* Cut in two, a policy could allow more than it says. */
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

/* The real page: nothing from elsewhere, and no script or style but by its hash. */
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

UNIT_TESTS(page, cmocka_unit_test(repeats_the_pages_policy),
           cmocka_unit_test(allows_nothing_without_a_policy),
           cmocka_unit_test(allows_nothing_when_the_policy_is_too_long),
           cmocka_unit_test(tags_differ_with_the_page),
           cmocka_unit_test(the_embedded_page_is_strict));
