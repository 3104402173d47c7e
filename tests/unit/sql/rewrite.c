/* SPDX-License-Identifier: Apache-2.0 */
/* PerfettoSQL in the words of DuckDB.  The statements follow docs/sql.md and Perfetto's manual. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "sql/rewrite.h"

#define NOTHING "create or replace temp macro tv_nothing() as 0"

static void check_rewrite(const char *text, const char *wanted)
{
    struct tv_sql_macros macros = {0};
    struct tv_error err = {0};
    char *found = NULL;
    assert_int_equal(tv_sql_rewrite(&macros, text, &found, &err), TV_OK);
    assert_string_equal(found, wanted);
    tv_free(found);
    tv_sql_macros_release(&macros);
}

static void check_refused(const char *text, const char *why)
{
    struct tv_sql_macros macros = {0};
    struct tv_error err = {0};
    char *found = NULL;
    assert_int_equal(tv_sql_rewrite(&macros, text, &found, &err), TV_ERR_USAGE);
    assert_non_null(strstr(err.message, why));
    assert_null(found);
    tv_sql_macros_release(&macros);
}

static void copies_other_statements(void **state)
{
    (void)state;
    check_rewrite("", "");
    check_rewrite(" select 'a;b' -- c; d\n; /* e; */ select \"f;\"",
                  " select 'a;b' -- c; d\n; /* e; */ select \"f;\"");
    check_rewrite("select min(dur), max(ts) filter (dur > 0) from slice join thread using (utid)",
                  "select min(dur), max(ts) filter (dur > 0) from slice join thread using (utid)");
    check_rewrite("select a != b, '!(', name = \"x\" from t",
                  "select a != b, '!(', name = \"x\" from t");
    check_rewrite("select \"\", \"\"\"\", a = \"\"", "select '', \"\"\"\", a = ''");
    check_rewrite("select 'it''s", "select 'it''s");
    check_rewrite("/* never closed", "/* never closed");
}

/* DuckDB's error about the statements of `lines` tells which quoted name is unknown. */
static void finds_texts_in_double_quotes(void **state)
{
    static const char text[] = "select \"id\" from t -- \"b\"\nwhere \"b\" = \"it's\"\"\" or \"b\"";
    static const struct {
        const char *why;
        int number;
    } cases[] = {
        {"Binder Error: Referenced column \"b\" not found in FROM clause!\n\nLINE 5: \"b\"\n  ^",
         1},
        {"Binder Error: Referenced column \"b\" not found in FROM clause!\n\nLINE 9: \"b\"\n  ^",
         3},
        {"Binder Error: Referenced column \"it's\"\" was not found because\n\nLINE 7: x", 2},
        {"Binder Error: Referenced column \"id\" not found\n\nLINE 1: f(", 0}, /* once there */
        {"Binder Error: Referenced column \"b\" not found\n\nLINE 1: f(", -1},
        {"Binder Error: Referenced column \"c\" not found\n\nLINE 5: \"b\"", -1},
        {"Binder Error: Referenced column \"b\" not found", -1},
        {"Binder Error: Table \"t\" does not have a column named \"b\"\n\nLINE 5: \"b\"", -1},
    };
    char *lines = tv_sql_line_names(text, NULL);
    (void)state;
    assert_string_equal(lines,
                        "select \n\"id\"\n from t -- \"b\"\nwhere \n\"b\"\n = \n\"it's\"\"\"\n or "
                        "\n\"b\"\n");
    for (size_t i = 0; i < TV_COUNT(cases); i++)
        assert_int_equal(tv_sql_find_unknown_name(lines, cases[i].why), cases[i].number);
    tv_free(lines);
    char *changed = tv_sql_name_to_text(text, 2);
    assert_string_equal(changed, "select \"id\" from t -- \"b\"\nwhere \"b\" = 'it''s\"' or \"b\"");
    tv_free(changed);
}

/* The parser's error tells which word needs AS. */
/* DuckDB's error tells the line of the column, which begins at "s" in "s.cat". */
static void takes_values_of_columns_without_a_group(void **state)
{
#define UNGROUPED(name)                                                                            \
    "Binder Error: column \"" name "\" must appear in the GROUP BY clause or must be part of an "  \
    "aggregate function.\nEither ...\n\nLINE "
    static const struct {
        const char *text, *why, *made;
    } cases[] = {
        {"select cat, sum(x) from s group by name", UNGROUPED("cat") "2: cat",
         "select any_value(cat) as cat, sum(x) from s group by name"},
        {"select cat c, a.s . cat + 1 from s", UNGROUPED("cat") "3: a.s", /* the second one */
         "select cat c, any_value(a.s . cat) + 1 from s"},
        {"select s.cat, max(dur) / 2 from s", UNGROUPED("cat") "1: s.cat",
         "select arg_max(s.cat, dur) as cat, max(dur) / 2 from s"},
        {"select f(cat), min(g(a, (b))) from s union select max(c), max(d)",
         UNGROUPED("cat") "2: cat",
         "select f(arg_min(cat, g(a, (b)))), min(g(a, (b))) from s union select max(c), max(d)"},
        {"select cat, max(a), min(b), (select max(c) from t) from s", UNGROUPED("cat") "2: cat",
         "select any_value(cat) as cat, max(a), min(b), (select max(c) from t) from s"},
        {"select cat, max(a) over (), max(distinct b), max(c) filter (d) from s",
         UNGROUPED("cat") "2: cat",
         "select any_value(cat) as cat, max(a) over (), max(distinct b), max(c) filter (d) from s"},
        {"select 1; select distinct cat from (select max(b) from t)", UNGROUPED("cat") "2: cat",
         "select 1; select distinct any_value(cat) as cat from (select max(b) from t)"},
        {"select max(b) from (select a, cat from t group by a) order by cat",
         UNGROUPED("cat") "2: cat",
         "select max(b) from (select a, any_value(cat) as cat from t group by a) order by cat"},
        {"select 1 from s order by cat", UNGROUPED("cat") "2: cat",
         "select 1 from s order by any_value(cat)"},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        char name[8];
        assert_true(tv_sql_find_ungrouped(cases[i].why, name, sizeof name));
        char *lines = tv_sql_line_names(cases[i].text, name);
        int place = tv_sql_find_ungrouped_place(lines, name, cases[i].why);
        char *made = tv_sql_aggregate_column(cases[i].text, name, place);
        assert_non_null(made);
        assert_string_equal(made, cases[i].made);
        tv_free(made);
        tv_free(lines);
    }
    assert_int_equal(tv_sql_find_ungrouped_place("a\ncat\n", "cat", UNGROUPED("cat") "9: "), -1);
    assert_int_equal(tv_sql_find_ungrouped_place("a\ncat\n", "cat", "no line"), -1);
    assert_null(tv_sql_aggregate_column("from cat", "cat", 0)); /* no query is around it */
    char small[4];
    assert_false(tv_sql_find_ungrouped(UNGROUPED("cat") "2", small, 3));
    assert_false(tv_sql_find_ungrouped("Binder Error: column \"cat\" is odd", small, 4));
}

/* SQLite's names of the columns of VALUES, where a statement uses them. */
static void names_columns_of_values(void **state)
{
    (void)state;
    check_rewrite(
        "select column1 from (values (1, f(2, 3)), (4, 5)) where column2 > 1",
        "select column1 from (values (1, f(2, 3)), (4, 5)) as tv_values(column1, column2) "
        "where column2 > 1");
    check_rewrite("select v.column1 from a join (values (1)) as v, (values (2)) w on true",
                  "select v.column1 from a join (values (1)) as v(column1), (values (2)) "
                  "w(column1) on true");
    check_rewrite("select column1 from (values (1)) as v(x)",
                  "select column1 from (values (1)) as v(x)");
    check_rewrite("select col0 from (values (1))", "select col0 from (values (1))");
    check_rewrite("select column1 in (values (1)) from (values",
                  "select column1 in (values (1)) from (values");
}

static void adds_as_before_names(void **state)
{
    char word[8];
    (void)state;
    assert_true(tv_sql_find_refused_word(
        "Parser Error: syntax error at or near \"value\"\n\nLINE 1:", word, sizeof word));
    assert_string_equal(word, "value");
    assert_false(tv_sql_find_refused_word("Parser Error: syntax error at or near \"too_long\"",
                                          word, sizeof word));
    assert_false(
        tv_sql_find_refused_word("Parser Error: syntax error at or near \"(\"", word, sizeof word));
    assert_false(
        tv_sql_find_refused_word("Parser Error: syntax error at end of input", word, sizeof word));
    char *lines = tv_sql_line_names("select value, a Value", "value");
    assert_string_equal(lines, "select \nvalue\n, a \nValue\n");
    char *added = tv_sql_add_as(lines, "value", "Parser Error: ...\n\nLINE 4: Value");
    assert_string_equal(added, "select \nvalue\n, a \nas Value\n");
    tv_free(added);
    tv_free(lines);
}

static void joins_lists_of_tables(void **state)
{
    (void)state;
    check_rewrite("select * from ((select 1, 2), (select 3) b) where 1 in (1, 2)",
                  "select * from ((select 1, 2) cross join (select 3) b) where 1 in (1, 2)");
    check_rewrite(
        "select * from a, (b, c d) join (e, (f, g)) on true",
        "select * from a, (b cross join c d) join (e cross join (f cross join g)) on true");
    check_rewrite("select * from (\"b\" x, c), (\"d\")",
                  "select * from (\"b\" x cross join c), (\"d\")");
    check_rewrite("select * from (select a, b from c, d), (values (1), (2)) e, f(1, 2)",
                  "select * from (select a, b from c, d), (values (1), (2)) e, f(1, 2)");
    check_rewrite("select * from ((select 1) union (select 2) order by 1, 2)",
                  "select * from ((select 1) union (select 2) order by 1, 2)");
    check_rewrite(
        "with c as (select 1, 2) select (1, 2), a from (with d as (select 1, 2) select 3, 4)",
        "with c as (select 1, 2) select (1, 2), a from (with d as (select 1, 2) select 3, 4)");
}

static void makes_temporary_things(void **state)
{
    (void)state;
    check_rewrite("CREATE PERFETTO TABLE t(ts LONG) AS select 1;select 2",
                  "create or replace temp table t  AS select 1;select 2");
    check_rewrite("create or replace perfetto view v as select 1",
                  "create or replace temp view v  as select 1");
    check_rewrite("create perfetto function f(x LONG, y LONG) returns LONG as select $x + $y",
                  "create or replace temp macro f(x,y) as ( select x + y)");
    check_rewrite("create perfetto function f(u INT) returns TABLE(ts LONG) as select ts from t "
                  "where utid = $u",
                  "create or replace temp macro f(u) as table  select ts from t where utid = u");
    check_rewrite("create perfetto index i on t(ts)", NOTHING);
    check_rewrite("include perfetto module slices.with_context; include perfetto module slices.*",
                  NOTHING ";" NOTHING);
    check_refused("include perfetto module android.startup", "there is no module android.startup");
    check_refused("create perfetto thing x", "TABLE, VIEW, FUNCTION, MACRO and INDEX");
}

static void expands_macros(void **state)
{
    (void)state;
    check_rewrite("create perfetto macro one() returns Expr as (select 1);select One!() + one! ()",
                  NOTHING ";select  (select 1) +  (select 1)");
    check_rewrite("create perfetto macro sum(a Expr, b Expr) returns Expr as $a+$b;"
                  "select sum!(f(1, 2), sum!([3, 4], '5,)'))",
                  NOTHING ";select  f(1, 2)+  [3, 4]+ '5,)'");
    check_rewrite(
        "create perfetto macro a() returns Expr as 1;create perfetto macro b(x Expr) "
        "returns Expr as $x + a!();create perfetto macro a() returns Expr as 2;select b!(3)",
        NOTHING ";" NOTHING ";" NOTHING ";select  3 +  2");
    check_rewrite("create perfetto macro a(x Expr, y Expr) returns Expr as f($x$y);select a!(,1)",
                  NOTHING ";select  f(1)");
    check_refused("select none!()", "there is no macro none");
    check_refused("create perfetto macro a(x Expr) returns Expr as $x;select a!(1, 2)",
                  "a takes 1 arguments");
    check_refused("create perfetto macro a() returns Expr as a!();select a!()", "deep");
}

/* Calls within the arguments of calls, and lists within lists, use neither stack nor time. */
static void bounds_nesting(void **state)
{
    (void)state;
    enum { DEPTH = 20000 };
    static char text[DEPTH * 4 + 128];
    struct tv_sql_macros macros = {0};
    struct tv_error err = {0};
    char *found = NULL;
    size_t length = (size_t)snprintf(text, sizeof text,
                                     "create perfetto macro m(x Expr) returns Expr as 1;select ");
    for (size_t i = 0; i < DEPTH; i++)
        memcpy(text + length + 3 * i, "m!(", 4);
    check_refused(text, "deep");
    for (size_t i = 0; i < DEPTH; i++)
        memcpy(text + length + 4 * i, "min(", 5);
    assert_int_equal(tv_sql_rewrite(&macros, text, &found, &err), TV_OK);
    tv_free(found);
    tv_sql_macros_release(&macros);
}

/* Each calls the one before twice: 2 to the power of 30. */
static void bounds_what_macros_become(void **state)
{
    (void)state;
    char text[4096] = "create perfetto macro m0() returns Expr as 'xxxxxxxx';";
    for (int i = 1; i < 30; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length,
                 "create perfetto macro m%d() returns Expr as m%d!()+m%d!();", i, i - 1, i - 1);
    }
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "select m29!()");
    check_refused(text, "longer than 4 MiB");
}

static void says_the_same_as_sqlite(void **state)
{
    (void)state;
    check_rewrite("select MIN(a, b), max((a), f(b, c), 1), min(f(a, b)) from t",
                  "select least(a, b), greatest((a), f(b, c), 1), min(f(a, b)) from t");
    check_rewrite("select 1 where a.utid != 0 and utid>0 and not utid = 0",
                  "select 1 where a.utid <> coalesce(tv_idle_utid(), -1) and utid <> "
                  "coalesce(tv_idle_utid(), -1) and not utid = coalesce(tv_idle_utid(), -1)");
    check_rewrite(
        "select utid >= 0, utid != 01, utid = 0.5, utids != 0, 'utid != 0', utid -- != 0",
        "select utid >= 0, utid != 01, utid = 0.5, utids != 0, 'utid != 0', utid -- != 0");
    check_rewrite("select 1 where a like \"%it's%\" and b glob \"\"\"*\"",
                  "select 1 where a like '%it''s%' and b glob '\"*'");
    check_rewrite("select 1 where a regexp 'b.' and a not regexp \"c\" and regexp = 1",
                  "select 1 where a ~ '(?s).*(?:b.).*' and a !~ '(?s).*(?:c).*' and regexp = 1");
}

/* DuckDB reads 0x1F as the number 0 with the name x1F. */
static void reads_numbers_and_limits_as_sqlite(void **state)
{
    (void)state;
    check_rewrite("select 0x1F, -0XfF, a0x1, '0x2', \"0x3\", x0x4, 0, 0.5, 0x, 0xg from t0x5",
                  "select 31, -255, a0x1, '0x2', \"0x3\", x0x4, 0, 0.5, cast('0x' as bigint), "
                  "cast('0xg' as bigint) from t0x5");
    check_rewrite("select 0x7fffffffffffffff, 0xffffffffffffffff, 0x10000000000000000",
                  "select 9223372036854775807, -1, cast('0x10000000000000000' as bigint)");
    check_rewrite("select a from t limit 20, 10", "select a from t limit 10 offset 20");
    check_rewrite("select a from (select b limit /* x */ 2 ,3) limit 1 offset 2",
                  "select a from (select b limit 3 offset 2) limit 1 offset 2");
    check_rewrite("select limits, a from t limit 5, ", "select limits, a from t limit 5, ");
    check_rewrite("select a from t limit 0x10, 0x5", "select a from t limit 5 offset 16");
    check_rewrite("select (select 1 limit 1), 2", "select (select 1 limit 1), 2");
}

/* SQLite's IS compares all values; DuckDB's comes before NULL and a few other words. */
static void compares_with_is(void **state)
{
    (void)state;
    check_rewrite("select 1 where a IS b and c is not d.e or (f) is 'x'",
                  "select 1 where a is not distinct from b and c is distinct from d.e or (f) is "
                  "not distinct from 'x'");
    check_rewrite("select a is null, b IS NOT NULL, c is true, d is not distinct from e, f is "
                  "distinct from g, h is not false",
                  "select a is null, b IS NOT NULL, c is true, d is not distinct from e, f is "
                  "distinct from g, h is not false");
    check_rewrite("select 'a is b' as is_b, a_is is", "select 'a is b' as is_b, a_is is");
    check_rewrite("select (a is)", "select (a is)");
    check_rewrite("select a is /* x */ not /* y */ b", "select a is distinct from /* y */ b");
}

/* Perfetto's slices have no utid; with ours, USING (utid) after thread_track would be ambiguous.
 */
static void takes_threads_from_tracks(void **state)
{
    (void)state;
    check_rewrite("select slice.name from slice join thread_track t on slice.track_id = t.id join "
                  "thread using (utid);select utid from slices",
                  "select slice.name from track_slice as slice join thread_track t on "
                  "slice.track_id = t.id join thread using (utid);select utid from slices");
    check_rewrite("select s.name as slice from thread_track t join slices s on s.track_id = t.id",
                  "select s.name as slice from thread_track t join track_slice s on "
                  "s.track_id = t.id");
    check_rewrite("select instant.name from slices as instant, process_track",
                  "select instant.name from track_slice as instant, process_track");
    check_rewrite("select instant.name from instant left join process_track on true",
                  "select instant.name from track_instant as instant left join process_track on "
                  "true");
    check_rewrite("from counter_track c left join process_counter_track using (id) join process "
                  "using (upid);from track join process_track using (id), counter_track",
                  "from bare_counter_track c left join process_counter_track using (id) join "
                  "process using (upid);from bare_track as track join process_track using (id), "
                  "counter_track");
}

/* Tables and views that a query has created are read as they are. */
static void leaves_slices_of_the_user(void **state)
{
    static const char query[] = "select utid from slice, thread_track, instant";
    static const char *const makes[] = {
        "create view slice as select 1", "create table if not exists SLICE(utid int)",
        "create or replace temp view \"slice\" as select 1", "create temporary table slice as f"};
    char text[256], wanted[256];
    (void)state;
    for (size_t i = 0; i < TV_COUNT(makes); i++) {
        snprintf(text, sizeof text, "%s;%s", makes[i], query);
        snprintf(wanted, sizeof wanted,
                 "%s;select utid from slice, thread_track, track_instant as instant", makes[i]);
        check_rewrite(text, wanted);
    }
    check_rewrite("create perfetto view slice as select 1 from slice, thread_track;"
                  "drop view if exists slice;select 1 from slice, thread_track",
                  "create or replace temp view slice  as select 1 from track_slice as slice, "
                  "thread_track;drop view if exists slice;select 1 from track_slice as slice, "
                  "thread_track");
    check_rewrite("create view x as select 1 as slice;select 1 from slice, thread_track",
                  "create view x as select 1 as slice;select 1 from track_slice as slice, "
                  "thread_track");
}

static void joins_spans(void **state)
{
    (void)state;
    char *found = NULL;
    struct tv_sql_macros macros = {0};
    struct tv_error err = {0};
    assert_int_equal(
        tv_sql_rewrite(&macros, "create virtual table x using span_left_join(p partitioned u, q)",
                       &found, &err),
        TV_OK);
    assert_non_null(strstr(found, "create or replace temp view x as with a as materialized"));
    assert_non_null(strstr(found, "union all by name"));
    assert_null(strstr(found, "a.u")); /* one side has the partition: all meet all */
    tv_free(found);
    check_refused("create virtual table x using fts5(y)", "span joins");
    check_refused("create virtual table x using span_join(a", "span joins");
}

UNIT_TESTS(rewrite, cmocka_unit_test(copies_other_statements),
           cmocka_unit_test(makes_temporary_things), cmocka_unit_test(expands_macros),
           cmocka_unit_test(bounds_nesting), cmocka_unit_test(bounds_what_macros_become),
           cmocka_unit_test(says_the_same_as_sqlite),
           cmocka_unit_test(reads_numbers_and_limits_as_sqlite), cmocka_unit_test(compares_with_is),
           cmocka_unit_test(takes_threads_from_tracks), cmocka_unit_test(leaves_slices_of_the_user),
           cmocka_unit_test(takes_values_of_columns_without_a_group),
           cmocka_unit_test(names_columns_of_values),
           cmocka_unit_test(finds_texts_in_double_quotes), cmocka_unit_test(adds_as_before_names),
           cmocka_unit_test(joins_lists_of_tables), cmocka_unit_test(joins_spans));
