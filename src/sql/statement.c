/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statement.c - statements in SQL from texts with gaps (statement.h).
 */
#include "sql/statement.h"

#include <assert.h>
#include <string.h>

/* Append a text between two quotes.  DuckDB doubles a quote in it; ClickHouse takes a backslash as
 * an escape, also in names. */
static void statement_quote(struct tv_out *sql, enum tv_sql_dialect dialect, struct tv_bytes text,
                            char quote)
{
    tv_out_char(sql, quote);
    for (size_t i = 0; i < text.length; i++) {
        char c = (char)text.data[i];
        if (dialect == TV_SQL_DUCKDB && c == quote)
            tv_out_char(sql, quote);
        if (dialect == TV_SQL_CLICKHOUSE && (c == quote || c == '\\'))
            tv_out_char(sql, '\\');
        tv_out_char(sql, c);
    }
    tv_out_char(sql, quote);
}

/* Append a pattern; in DuckDB, LIKE has no escapes unless they are named. */
static void statement_put_like(struct tv_out *sql, enum tv_sql_dialect dialect,
                               struct tv_bytes pattern)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    for (size_t i = 0; i < pattern.length; i++) {
        char c = (char)pattern.data[i];
        if (c == '%' || c == '_' || c == '\\')
            tv_out_char(&text, '\\');
        tv_out_char(&text, c == '*' ? '%' : c);
    }
    statement_quote(sql, dialect, (struct tv_bytes){text.buffer, text.length}, '\'');
    if (dialect == TV_SQL_DUCKDB)
        tv_out_text(sql, " escape '\\'");
    tv_out_release(&text);
}

static void statement_put_word(struct tv_out *sql, enum tv_sql_dialect dialect,
                               const struct tv_sql_word *word)
{
    switch (word->kind) {
    case TV_SQL_WORD_PLAIN:
        tv_out_bytes(sql, word->text);
        break;
    case TV_SQL_WORD_TEXT:
        statement_quote(sql, dialect, word->text, '\'');
        break;
    case TV_SQL_WORD_NAME:
        statement_quote(sql, dialect, word->text, dialect == TV_SQL_DUCKDB ? '"' : '`');
        break;
    case TV_SQL_WORD_LIKE:
        statement_put_like(sql, dialect, word->text);
        break;
    case TV_SQL_WORD_NUMBERS:
        for (size_t i = 0; i < word->count; i++) {
            tv_out_text(sql, i > 0 ? ", " : "");
            tv_out_u64(sql, word->numbers[i]);
        }
        break;
    }
}

void tv_sql_put(struct tv_out *sql, enum tv_sql_dialect dialect, const char *text,
                const struct tv_sql_word *words, size_t count)
{
    size_t used = 0;
    for (const char *gap; (gap = strchr(text, '?')); text = gap + 1) {
        tv_out_bytes(sql, (struct tv_bytes){(const uint8_t *)text, (size_t)(gap - text)});
        assert(used < count);
        statement_put_word(sql, dialect, &words[used++]);
    }
    assert(used == count);
    (void)count;
    tv_out_text(sql, text);
}

const char *tv_sql_end(struct tv_out *sql)
{
    tv_out_char(sql, '\0');
    return (const char *)sql->buffer;
}
