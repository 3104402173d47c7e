/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/query.h"

/* Parses a copy; what was found as "name=value;name=value;", or "refused". */
static const char *shown(const char *text)
{
    static char shown[512];
    size_t length = strlen(text), used = 0;
    uint8_t *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    struct tv_query query;
    struct tv_error err = {0};
    shown[0] = '\0';
    if (tv_query_parse(&query, copy, length, &err) != TV_OK) {
        assert_int_equal(err.status, TV_ERR_USAGE);
        assert_true(err.message[0] != '\0');
        memcpy(shown, "refused", sizeof "refused");
    }
    for (size_t i = 0; err.status == TV_OK && i < query.count; i++) {
        struct tv_bytes name = query.items[i].name, value = query.items[i].value;
        memcpy(shown + used, name.data, name.length);
        used += name.length;
        shown[used++] = '=';
        memcpy(shown + used, value.data, value.length);
        used += value.length;
        shown[used++] = ';';
        shown[used] = '\0';
    }
    free(copy);
    return shown;
}

static void takes_parameters_apart(void **state)
{
    (void)state;
    assert_string_equal(shown(""), "");
    assert_string_equal(shown("a=1"), "a=1;");
    assert_string_equal(shown("from=5&to=10&tracks=0,3"), "from=5;to=10;tracks=0,3;");
    assert_string_equal(shown("a=1&"), "a=1;");
    assert_string_equal(shown("flag"), "flag=;");
    assert_string_equal(shown("a="), "a=;");
    assert_string_equal(shown("a=b=c"), "a=b=c;");
}

static void decodes_escapes(void **state)
{
    (void)state;
    assert_string_equal(shown("a=0%2C3"), "a=0,3;");
    assert_string_equal(shown("a=x%3dy%26z"), "a=x=y&z;");
    assert_string_equal(shown("a=one+two%20three%2Bfour"), "a=one two three+four;");
    assert_string_equal(shown("%61%62=c"), "ab=c;");
    assert_string_equal(shown("a=%C3%A9"), "a=\xc3\xa9;");
    assert_string_equal(shown("a=%2541"), "a=%41;"); /* decoded once */
}

static void refuses_broken_escapes(void **state)
{
    (void)state;
    assert_string_equal(shown("a=%"), "refused");
    assert_string_equal(shown("a=%4"), "refused");
    assert_string_equal(shown("a=%4&b=1"), "refused"); /* does not reach into the next one */
    assert_string_equal(shown("a=%g1"), "refused");
    assert_string_equal(shown("a=%1g"), "refused");
    assert_string_equal(shown("a=%-1"), "refused");
}

static void refuses_control_characters(void **state)
{
    (void)state;
    assert_string_equal(shown("a=%00"), "refused");
    assert_string_equal(shown("a%0a=1"), "refused");
    assert_string_equal(shown("a=%7F"), "refused");
    assert_string_equal(shown("a=\t"), "refused");
}

static void refuses_what_is_ambiguous(void **state)
{
    (void)state;
    assert_string_equal(shown("=1"), "refused");
    assert_string_equal(shown("&"), "refused");
    assert_string_equal(shown("a=1&&b=2"), "refused");
    assert_string_equal(shown("a=1&b=2&a=3"), "refused");
    assert_string_equal(shown("a=1&%61=3"), "refused");
}

static void bounds_the_number_of_parameters(void **state)
{
    (void)state;
    char text[4 * (TV_QUERY_PARAMETERS + 1) + 1] = "";
    for (size_t i = 0; i <= TV_QUERY_PARAMETERS; i++) {
        char one[] = {(char)('a' + i), '=', '1', '&'};
        memcpy(text + 4 * i, one, sizeof one);
    }
    assert_string_equal(shown(text), "refused");
    text[4 * TV_QUERY_PARAMETERS] = '\0';
    assert_string_not_equal(shown(text), "refused");
}

static void finds_by_whole_names(void **state)
{
    (void)state;
    uint8_t text[] = "from=1&to=2";
    struct tv_query query;
    assert_int_equal(tv_query_parse(&query, text, sizeof text - 1, NULL), TV_OK);
    assert_true(tv_bytes_equal(*tv_query_find(&query, "to"), TV_BYTES("2")));
    assert_null(tv_query_find(&query, "t"));
    assert_null(tv_query_find(&query, "from=1"));
    assert_null(tv_query_find(&query, "too"));
}

static void splits_the_target_once(void **state)
{
    (void)state;
    struct tv_bytes target = TV_BYTES("/x/api/trace?a=b?c");
    struct tv_bytes query = tv_target_split(&target);
    assert_true(tv_bytes_equal(target, TV_BYTES("/x/api/trace")));
    assert_true(tv_bytes_equal(query, TV_BYTES("a=b?c")));
    target = TV_BYTES("/x/%3Fa=1");
    query = tv_target_split(&target);
    assert_true(tv_bytes_equal(target, TV_BYTES("/x/%3Fa=1")));
    assert_int_equal(query.length, 0);
}

/* What a name in a path means, "refused" where it is none. */
static const char *name_of(const char *text)
{
    static char shown[64];
    uint8_t copy[64];
    struct tv_bytes name;
    struct tv_error err;
    memcpy(copy, text, strlen(text));
    if (tv_query_decode_name(copy, strlen(text), &name, &err) != TV_OK)
        return "refused";
    memcpy(shown, name.data, name.length);
    shown[name.length] = '\0';
    return shown;
}

static void decodes_names_in_paths(void **state)
{
    (void)state;
    assert_string_equal(name_of("app%20start.trace"), "app start.trace");
    assert_string_equal(name_of("a+b"), "a+b");
    assert_string_equal(name_of("..%2F..%2Fetc"), "../../etc"); /* text, never a path */
    assert_string_equal(name_of("a%0Ab"), "refused");
    assert_string_equal(name_of("a%0"), "refused");
}

UNIT_TESTS(query, cmocka_unit_test(decodes_names_in_paths),
           cmocka_unit_test(takes_parameters_apart), cmocka_unit_test(decodes_escapes),
           cmocka_unit_test(refuses_broken_escapes), cmocka_unit_test(refuses_control_characters),
           cmocka_unit_test(refuses_what_is_ambiguous),
           cmocka_unit_test(bounds_the_number_of_parameters),
           cmocka_unit_test(finds_by_whole_names), cmocka_unit_test(splits_the_target_once));
