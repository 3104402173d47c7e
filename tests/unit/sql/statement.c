/* SPDX-License-Identifier: Apache-2.0 */
/* Statements with gaps.  The quotes follow the manuals of DuckDB (doubled quotes, ESCAPE) and
 * ClickHouse (backslashes). */
#include "unit.h"

#include <string.h>

#include "sql/statement.h"

/* A text of a user that would end any kind of quotes. */
#define WILD TV_BYTES("'\"`\\ ?%_*")

static void check_put(enum tv_sql_dialect dialect, const char *wanted)
{
    static const uint64_t numbers[] = {7, UINT64_MAX};
    struct tv_out sql;
    tv_out_init_memory(&sql);
    TV_SQL_PUT(&sql, dialect, "? = ? and ? like ? in (?)", TV_SQL_NAME("a\"`\\b"),
               TV_SQL_TEXT(WILD), TV_SQL_PLAIN("x"), TV_SQL_LIKE(WILD), TV_SQL_NUMBERS(numbers, 2));
    assert_string_equal(tv_sql_end(&sql), wanted);
    tv_out_release(&sql);
}

static void quotes_for_duckdb(void **state)
{
    (void)state;
    check_put(TV_SQL_DUCKDB, "\"a\"\"`\\b\" = '''\"`\\ ?%_*' and x like '''\"`\\\\ ?\\%\\_%' "
                             "escape '\\' in (7, 18446744073709551615)");
}

static void quotes_for_clickhouse(void **state)
{
    (void)state;
    check_put(TV_SQL_CLICKHOUSE,
              "`a\"\\`\\\\b` = '\\'\"`\\\\ ?%_*' and x like '\\'\"`\\\\\\\\ ?\\\\%\\\\_%' "
              "in (7, 18446744073709551615)");
}

UNIT_TESTS(statement, cmocka_unit_test(quotes_for_duckdb), cmocka_unit_test(quotes_for_clickhouse));
