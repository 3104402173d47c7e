/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.c - which views and macros of the prelude some statements name (tables.h).
 *
 * The statement of a view or macro takes DuckDB 0.3 ms, and there are more than a hundred, so a
 * database makes one when a query names it.  Words are compared without looking at quotes and
 * comments: a view too many does no harm.
 *
 * CREATE and DROP need all of them, because they can hide or remove a view that others use: those
 * are about ours.  A table of the prelude holds rows, so that one and what uses it are made only
 * when they are named.
 */
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "sql/rewrite.h"
#include "sql/sql.h"
#include "sql/tables.h"

size_t tv_sql_view_count(void)
{
    size_t count = 0;
    while (tv_sql_prelude[count])
        count++;
    return tv_sql_table_count + count;
}

/* The prelude's statement after CREATE: "view slice as select ..." */
static const char *views_statement(size_t number)
{
    return tv_sql_prelude[number - tv_sql_table_count] + sizeof "create";
}

void tv_sql_view_statement(size_t number, struct tv_out *out)
{
    tv_out_text(out, "create or replace ");
    if (number >= tv_sql_table_count)
        tv_out_text(out, views_statement(number));
    else
        tv_out_format(out, "view %s as select * from tv_%s()", tv_sql_tables[number]->name,
                      tv_sql_tables[number]->name);
}

static struct tv_bytes views_name(size_t number)
{
    if (number < tv_sql_table_count)
        return tv_bytes_of(tv_sql_tables[number]->name);
    const char *name = strchr(views_statement(number), ' ') + 1;
    return (struct tv_bytes){(const uint8_t *)name, strcspn(name, " (")};
}

static bool views_is_word(struct tv_bytes word, struct tv_bytes wanted)
{
    return word.length == wanted.length &&
           strncasecmp((const char *)word.data, (const char *)wanted.data, word.length) == 0;
}

/* Does a word ask for the list of views, or create or drop things? */
static bool views_asks_for_all(struct tv_bytes word)
{
    static const char *const beginnings[] = {
        "create", "describe", "drop", "duckdb_", "information_schema",
        "pg_",    "pragma",   "show", "sqlite_"};
    for (size_t i = 0; i < TV_COUNT(beginnings); i++)
        if (strncasecmp((const char *)word.data, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Note the first `count` views as far as a text names them. */
static void views_note(const char *text, size_t count, bool *named)
{
    while (*text) {
        struct tv_bytes word = {(const uint8_t *)text, 0};
        while (tv_sql_is_word(text[word.length]))
            word.length++;
        for (size_t i = 0; i < count && word.length > 0; i++)
            named[i] = named[i] || views_is_word(word, views_name(i));
        text += word.length > 0 ? word.length : 1;
    }
}

static bool views_text_asks_for_all(const char *text)
{
    while (*text) {
        size_t length = 0;
        while (tv_sql_is_word(text[length]))
            length++;
        if (length > 0 && views_asks_for_all((struct tv_bytes){(const uint8_t *)text, length}))
            return true;
        text += length > 0 ? length : 1;
    }
    return false;
}

/* Leave out the tables of the prelude, and what is made of them. */
static void views_leave_out_tables(bool *named)
{
    size_t count = tv_sql_view_count();
    for (size_t i = tv_sql_table_count; i < count; i++) {
        bool *uses = tv_alloc(count, sizeof *uses);
        if (strncmp(views_statement(i), "table ", 6) == 0)
            named[i] = false;
        views_note(views_statement(i), i, uses);
        for (size_t used = tv_sql_table_count; used < i; used++)
            named[i] = named[i] && !(uses[used] && !named[used]);
        tv_free(uses);
    }
}

void tv_sql_views_named(const char *text, bool *named)
{
    size_t count = tv_sql_view_count();
    memset(named, views_text_asks_for_all(text), count);
    if (named[0])
        views_leave_out_tables(named);
    views_note(text, count, named);
    for (size_t i = count; i-- > tv_sql_table_count;) /* a view uses only those before it */
        if (named[i])
            views_note(views_statement(i), i, named);
}
