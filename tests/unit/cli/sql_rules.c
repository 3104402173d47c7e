/* SPDX-License-Identifier: Apache-2.0 */
/* Files of rules in SQL: what they say, and what is wrong with them. */
#include "cli/input/sql_rules.h"

#include "base/bytes.h"
#include "unit.h"

static void rules_are_split(void **state)
{
    static const char text[] = "-- what we look at\n"
                               "\n"
                               "-- name: long-gc\n"
                               "-- severity: error\n"
                               "--text: longer than 10 ms: too long\n"
                               "SELECT ts\n"
                               "  FROM slice; -- a remark\n"
                               "  -- name: second\r\n"
                               "select 1";
    struct tv_sql_rules rules;
    struct tv_error err = {0};
    (void)state;
    assert_int_equal(tv_sql_rules_parse(tv_bytes_of(text), &rules, &err), TV_OK);
    assert_int_equal(rules.count, 2);
    const struct tv_sql_rule *first = &rules.list[0], *second = &rules.list[1];
    assert_true(tv_bytes_equal(first->name, TV_BYTES("long-gc")));
    assert_true(tv_bytes_equal(first->text, TV_BYTES("longer than 10 ms: too long")));
    assert_int_equal(first->severity, TV_ERROR);
    assert_true(tv_bytes_equal(first->query, TV_BYTES("SELECT ts\n  FROM slice; -- a remark")));
    assert_true(tv_bytes_equal(second->name, TV_BYTES("second")));
    assert_int_equal(second->text.length, 0);
    assert_int_equal(second->severity, TV_WARNING);
    assert_true(tv_bytes_equal(second->query, TV_BYTES("select 1")));
    assert_ptr_equal(tv_sql_rules_find(&rules, TV_BYTES("second")), second);
    assert_null(tv_sql_rules_find(&rules, TV_BYTES("third")));
    tv_sql_rules_release(&rules);
}

static void mistakes_have_their_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "expected a rule, which begins with '-- name: NAME', found none"},
        {"-- only remarks\n", "expected a rule, which begins with '-- name: NAME', found none"},
        {"\nselect 1", "line 2: expected '-- name: NAME' before a query, found 'select 1'"},
        {"-- name: A b\n",
         "line 1: expected a name of small letters, digits, - and _, found 'A b'"},
        {"-- name:\n", "line 1: expected a name of small letters, digits, - and _, found ''"},
        {"-- name: a\nselect 1\n-- name: a\n",
         "line 3: expected a name that nothing else has, found 'a'"},
        {"-- name: warning\n", "line 1: expected a name that nothing else has, found 'warning'"},
        {"-- name: slow-frame\n",
         "line 1: expected a name that nothing else has, found 'slow-frame'"},
        {"-- name: a\n-- severity: bad\n", "line 2: expected note, warning or error, found 'bad'"},
        {"-- name: a\n\n-- name: b\nselect 1\n", "the rule a has no query"},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_sql_rules rules;
        struct tv_error err = {0};
        assert_int_equal(tv_sql_rules_parse(tv_bytes_of(cases[i].text), &rules, &err),
                         TV_ERR_USAGE);
        assert_string_equal(err.message, cases[i].message);
        assert_null(rules.list);
    }
}

UNIT_TESTS(sql_rules, cmocka_unit_test(rules_are_split),
           cmocka_unit_test(mistakes_have_their_line));
