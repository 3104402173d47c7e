/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statement.h - statements in SQL from texts with gaps.
 *
 *     TV_DUCK_PUT(sql, "select * from ? where name = ? and batch in (?)", TV_SQL_NAME(table),
 *                 TV_SQL_TEXT(name), TV_SQL_NUMBERS(batches, count));
 *
 * Quotes are set here only, in the way of the database that reads the statement.
 */
#ifndef TV_SQL_STATEMENT_H
#define TV_SQL_STATEMENT_H

#include "base/bytes.h"
#include "base/out.h"

enum tv_sql_dialect {
    TV_SQL_DUCKDB,     /* 'it''s', "name" */
    TV_SQL_CLICKHOUSE, /* 'it\'s', `name` */
};

enum tv_sql_word_kind {
    TV_SQL_WORD_PLAIN,   /* SQL as it is */
    TV_SQL_WORD_TEXT,    /* in single quotes */
    TV_SQL_WORD_NAME,    /* name of a table or a column, in its quotes */
    TV_SQL_WORD_LIKE,    /* a pattern in which only * is special, as one of LIKE */
    TV_SQL_WORD_NUMBERS, /* with commas */
};

/* A word that fills a gap. */
struct tv_sql_word {
    enum tv_sql_word_kind kind;
    struct tv_bytes text;
    const uint64_t *numbers;
    size_t count;
};

#define TV_SQL_PLAIN(chars) ((struct tv_sql_word){TV_SQL_WORD_PLAIN, tv_bytes_of(chars), NULL, 0})
#define TV_SQL_TEXT(bytes) ((struct tv_sql_word){TV_SQL_WORD_TEXT, bytes, NULL, 0})
#define TV_SQL_NAME(chars) ((struct tv_sql_word){TV_SQL_WORD_NAME, tv_bytes_of(chars), NULL, 0})
#define TV_SQL_LIKE(bytes) ((struct tv_sql_word){TV_SQL_WORD_LIKE, bytes, NULL, 0})
#define TV_SQL_NUMBERS(array, length)                                                              \
    ((struct tv_sql_word){TV_SQL_WORD_NUMBERS, {NULL, 0}, array, length})

/* Append a text, with a word for each '?' in it. */
void tv_sql_put(struct tv_out *sql, enum tv_sql_dialect dialect, const char *text,
                const struct tv_sql_word *words, size_t count);

/* Return a finished statement, which lives as long as `sql` is not written. */
const char *tv_sql_end(struct tv_out *sql);

#define TV_SQL_PUT(sql, dialect, text, ...)                                                        \
    tv_sql_put(sql, dialect, text, (const struct tv_sql_word[]){__VA_ARGS__},                      \
               sizeof((const struct tv_sql_word[]){__VA_ARGS__}) / sizeof(struct tv_sql_word))
#define TV_DUCK_PUT(sql, ...) TV_SQL_PUT(sql, TV_SQL_DUCKDB, __VA_ARGS__)
#define TV_CLICKHOUSE_PUT(sql, ...) TV_SQL_PUT(sql, TV_SQL_CLICKHOUSE, __VA_ARGS__)

#endif
