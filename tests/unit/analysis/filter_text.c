/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "analysis/subset/filter.h"

#include "base/bytes.h"

/* The one term of a line. */
static struct tv_filter one(const char *line)
{
    struct tv_filter filter;
    struct tv_error err = {0};
    size_t column = 0;
    if (tv_filter_parse(tv_bytes_of(line), &filter, &column, &err) != TV_OK)
        fail_msg("%s: %s", line, err.message);
    if (filter.count != 1)
        fail_msg("%s: %zu terms", line, filter.count);
    return filter;
}

static void text_terms_match(void **state)
{
    (void)state;
    static const struct {
        const char *line, *text;
        bool fits;
    } rows[] = {
        {"onCreate", "Activity.onCreate", true},
        {"oncreate", "Activity.onCreate", true},
        {"OnCreate", "Activity.onCreate", false},
        {"name:run", "run", true},
        {"name:run", "prune", true},
        {"name:run", "ru", false},
        {"class:com.app.*", "com.app.Main", true},
        {"class:com.app.*", "my.com.app.Main", false},
        {"name:*.get*e", "Box.getSize", true},
        {"name:*.get*e", "Box.getSizes", false},
        {"name:a*b*c", "abbbc", true},
        {"name:*", "", true},
        {"name=run", "run", true},
        {"name=run", "Run", false},
        {"name=run", "prune", false},
        {"name=a*", "a*", true},
        {"name=a*", "ab", false},
        {"cat:\"\"", "", true},
        {"cat:\"\"", "x", false},
        {"cat=\"\"", "", true},
        {"name:a|b", "xbx", true},
        {"name:a|b", "c", false},
        {"name=a|b", "b", true},
        {"name:\"a|b\"", "a|b", true},
        {"name:\"a|b\"", "b", false},
        {"name:\"a *\"", "x a * x", true},
        {"name:\"a b\"*", "a bc", true},
        {"name:\"a b\"*", "xa bc", false},
        {"\"do it\"", "why do it", true},
        {"name:\"say \\\"x\\\"\"", "say \"x\"", true},
        {"name:\"\\d\\\\\"", "\\d\\", true},
        {"std::sort", "std::sort<int>", true},
        {"\"vector<int>\"", "vector<int>", true},
        {"name~^(get|set)", "getSize", true},
        {"name~^(get|set)", "forget", false},
        {"name~^Get", "getSize", false},
        {"name~\"a b\"", "xa bx", true},
        {"name~\\Sx$", "ax", true},
        {"name:\xc3\xa9t\xc3\xa9", "\xc3\x89T\xc3\x89", true},
        {"tid:12", "12", true},
        {"tid:12", "123", false},
        {"tid:12*", "123", true},
        {"pid=7|8", "8", true},
        {"arg.url:*img*", "x/img/y", true},
        {"-name:x", "axb", true},
    };
    for (size_t i = 0; i < TV_COUNT(rows); i++) {
        struct tv_filter filter = one(rows[i].line);
        if (tv_filter_matches_text(&filter.terms[0], tv_bytes_of(rows[i].text)) != rows[i].fits)
            fail_msg("'%s' of '%s'", rows[i].line, rows[i].text);
        tv_filter_release(&filter);
    }
}

static void number_terms_match(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        double number;
        bool fits;
    } rows[] = {
        {"dur>2ms", 2000000, false},
        {"dur>2ms", 2000001, true},
        {"dur>=2ms", 2000000, true},
        {"dur<10us", 10000, false},
        {"dur<10us", 9999, true},
        {"dur<=10us", 10000, true},
        {"dur>2", 2000000, false},
        {"dur>2", 2000001, true},
        {"dur:1ms..5ms", 1000000, true},
        {"dur:1ms..5ms", 5000000, true},
        {"dur:1ms..5ms", 5000001, false},
        {"dur:1ms..", 1e15, true},
        {"dur:..5ms", 0, true},
        {"dur:..5ms", 5000001, false},
        {"dur=1.5us", 1500, true},
        {"cpu>0", 1, true},
        {"cpu>0", 0, false},
        {"self<1s", 999999999, true},
        {"depth:0", 0, true},
        {"depth:0", 1, false},
        {"depth:2..3", 3, true},
        {"depth<2", 1, true},
        {"tid>99", 100, true},
        {"arg.size>1e3", 1001, true},
        {"arg.size<=-1.5", -1.5, true},
        {"-dur>1s", 2e9, true},
    };
    for (size_t i = 0; i < TV_COUNT(rows); i++) {
        struct tv_filter filter = one(rows[i].line);
        assert_true(tv_filter_has_numbers(&filter.terms[0]));
        if (tv_filter_matches_number(&filter.terms[0], rows[i].number) != rows[i].fits)
            fail_msg("'%s' of %f", rows[i].line, rows[i].number);
        tv_filter_release(&filter);
    }
}

static void terms_keep_their_order(void **state)
{
    (void)state;
    const char *line = "  thread:main  -name:access$ dur>2ms\targ.\"my key\".x:y -\"a b\" ";
    static const enum tv_filter_field fields[] = {
        TV_FILTER_THREAD, TV_FILTER_NAME, TV_FILTER_DURATION, TV_FILTER_ARGUMENT, TV_FILTER_NAME};
    static const bool negated[] = {false, true, false, false, true};
    static const size_t columns[] = {3, 16, 30, 38, 55};
    struct tv_filter filter;
    size_t column;
    assert_int_equal(tv_filter_parse(tv_bytes_of(line), &filter, &column, NULL), TV_OK);
    assert_int_equal(filter.count, TV_COUNT(fields));
    for (size_t i = 0; i < filter.count; i++) {
        assert_int_equal(filter.terms[i].field, fields[i]);
        assert_int_equal(filter.terms[i].negated, negated[i]);
        assert_int_equal(filter.terms[i].column, columns[i]);
    }
    assert_true(tv_bytes_equal(filter.terms[3].key, TV_BYTES("my key.x")));
    tv_filter_release(&filter);
    assert_int_equal(tv_filter_parse(TV_BYTES(" \t"), &filter, &column, NULL), TV_OK);
    assert_int_equal(filter.count, 0);
    tv_filter_release(&filter);
}

static void wrong_lines_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        size_t column;
        const char *words;
    } rows[] = {
        {"dur>x", 5, "expected a time such as 2ms"},
        {"dur>", 5, "expected a time such as 2ms"},
        {"a dur:1..x", 7, "expected a time or two"},
        {"dur:..", 5, "expected a time or two"},
        {"dur:5ms..1ms", 5, "ends where it begins"},
        {"depth<1.5", 7, "a number such as 3"},
        {"arg.x>ten", 7, "a number such as 3"},
        {"nam:x", 1, "there is no field 'nam'"},
        {"-b x=y", 4, "there is no field 'x'"},
        {"vector<int>", 1, "stands in quotes"},
        {"name:", 6, "expected a text"},
        {"name:a|", 8, "expected a text"},
        {"name>a", 5, "one of : = ~"},
        {"dur~1", 4, "one of : = < <= > >="},
        {"name~", 6, "a regular expression"},
        {"name~(", 6, "the pattern cannot be used"},
        {"a \"b", 3, "a closing quote"},
        {"\xc3\xa9 \"b", 3, "a closing quote"},
        {"x -", 4, "a term after '-'"},
        {"arg.:x", 5, "the key of an argument"},
        {"arg.url", 8, "after the key"},
        {"a\nb", 2, "no control characters"},
        {"a\x01", 2, "no control characters"},
    };
    for (size_t i = 0; i < TV_COUNT(rows); i++) {
        struct tv_filter filter;
        struct tv_error err = {0};
        size_t column = 0;
        char start[24];
        snprintf(start, sizeof start, "column %zu: ", rows[i].column);
        assert_int_equal(tv_filter_parse(tv_bytes_of(rows[i].line), &filter, &column, &err),
                         TV_ERR_USAGE);
        if (column != rows[i].column || strncmp(err.message, start, strlen(start)) != 0 ||
            !strstr(err.message, rows[i].words))
            fail_msg("%s: column %zu, %s", rows[i].line, column, err.message);
    }
}

static void a_line_has_an_end(void **state)
{
    (void)state;
    char line[TV_FILTER_BYTES + 2];
    struct tv_filter filter;
    struct tv_error err;
    size_t column;
    memset(line, 'a', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    assert_int_equal(tv_filter_parse(tv_bytes_of(line), &filter, &column, &err), TV_ERR_USAGE);
    for (size_t i = 1; i < sizeof line - 1; i += 2)
        line[i] = ' ';
    line[TV_FILTER_TERMS * 2] = '\0';
    assert_int_equal(tv_filter_parse(tv_bytes_of(line), &filter, &column, &err), TV_OK);
    tv_filter_release(&filter);
    line[TV_FILTER_TERMS * 2] = 'a';
    line[TV_FILTER_TERMS * 2 + 1] = '\0';
    assert_int_equal(tv_filter_parse(tv_bytes_of(line), &filter, &column, &err), TV_ERR_USAGE);
    assert_int_equal(column, TV_FILTER_TERMS * 2 + 1);
}

UNIT_TESTS(filter_text, cmocka_unit_test(text_terms_match), cmocka_unit_test(number_terms_match),
           cmocka_unit_test(terms_keep_their_order), cmocka_unit_test(wrong_lines_say_where),
           cmocka_unit_test(a_line_has_an_end));
