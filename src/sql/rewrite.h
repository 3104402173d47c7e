/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - PerfettoSQL in the words of DuckDB.
 *
 *     text --> rewrite.c (statements) --> expand.c (words inside of them) --> DuckDB
 *
 * Both read tokens; strings, quoted names and comments are copied as they are.
 */
#ifndef TV_SQL_REWRITE_H
#define TV_SQL_REWRITE_H

#include "base/out.h"

/* Texts that are longer after rewriting are refused, and so are macros that call each other deeper.
 */
enum { TV_SQL_MAX_TEXT = 4 << 20, TV_SQL_MAX_DEPTH = 32 };

/* A macro of CREATE PERFETTO MACRO: `name!(a, b)` stands for the body, with the words of a and b
 * for $x and $y. */
struct tv_sql_macro {
    char *name, *body;
    char **parameters;
    size_t parameter_count;
};

/* The macros of a database, one of a name, and what else earlier statements decide about later
 * ones.  All zero: none. */
struct tv_sql_macros {
    struct tv_sql_macro *items;
    size_t count, capacity;
    unsigned own_tables; /* bit tv_sql_fuller_table: a query has created a table or view so named */
};

void tv_sql_macros_release(struct tv_sql_macros *macros);

/* Rewrite statements.  TV_ERR_USAGE for a macro or a module that is not there, and for a result
 * that is too long.  Free the result with tv_free. */
enum tv_status tv_sql_rewrite(struct tv_sql_macros *macros, const char *text, char **rewritten,
                              struct tv_error *err) TV_MUST_CHECK;

/* ---- Tokens ---- */

/* Return the first character that is neither blank nor in a comment. */
const char *tv_sql_skip_space(const char *at);

/* Return the end of the token at `at`: a string, a quoted name, a word or a character. */
const char *tv_sql_token_end(const char *at);

/* Return the end of the list in parentheses, brackets and braces that begins at `at`, or `end`. */
const char *tv_sql_list_end(const char *at, const char *end);

/* If the next token is this word, in any case, set `at` after it. */
bool tv_sql_take_word(const char **at, const char *word);

/* Return whether a character can be part of a word: a letter, a digit or '_'. */
bool tv_sql_is_word(char c);

/* Tables that have utid or upid, which Perfetto's do not have.  In a statement with a table that
 * has them in Perfetto, a view without them is read. */
struct tv_sql_fuller_table {
    const char *name, *view;
    const char *const *beside; /* the tables that have them in Perfetto; NULL ends them */
};
extern const struct tv_sql_fuller_table tv_sql_fuller_tables[]; /* name NULL ends them */

/* Return the number of the table in tv_sql_fuller_tables that a token names; -1: none. */
int tv_sql_fuller_table(const char *at, const char *end);

/* Return the end of the statement at `at`: its ';', or the end of the text. */
const char *tv_sql_statement_end(const char *at);

/* ---- Texts in double quotes, names without AS (quoted.c) ---- */

/* Return a copy of a text with a line of its own for each name in double quotes, or, if it is not
 * NULL, for each token that is `word`, in any case.  Free it with tv_free. */
char *tv_sql_line_names(const char *text, const char *word);

/* Return the number, from 0, of the name in double quotes that DuckDB's error `why` about `lines`
 * (tv_sql_line_names) calls an unknown column; -1: the error is about something else. */
int tv_sql_find_unknown_name(const char *lines, const char *why);

/* Return a copy of a text with the name of that number as a text in single quotes.  Free it with
 * tv_free. */
char *tv_sql_name_to_text(const char *text, int number);

/* If the parser's error `why` is about a word, copy that. */
bool tv_sql_find_refused_word(const char *why, char *word, size_t size);

/* Return a copy of `lines` (tv_sql_line_names with `word`) with AS before the word that the
 * parser's error `why` about them names.  Free it with tv_free. */
char *tv_sql_add_as(const char *lines, const char *word, const char *why);

/* ---- Columns that are not grouped (ungrouped.c) ---- */

/* If DuckDB's error `why` is about a column that is not grouped, copy its name. */
bool tv_sql_find_ungrouped(const char *why, char *name, size_t size);

/* Return the number, from 0, of the token `name` that DuckDB's error `why` about `lines`
 * (tv_sql_line_names with the name) is about; -1: it cannot be told. */
int tv_sql_find_ungrouped_place(const char *lines, const char *name, const char *why);

/* Return a copy of a text with any_value() around the column whose name is the token `name` of that
 * number, or arg_min() or arg_max() if its query has exactly one min() or max().  NULL: no query is
 * around it.  Free it with tv_free. */
char *tv_sql_aggregate_column(const char *text, const char *name, int number);

/* ---- Words inside of a statement (expand.c) ---- */

/* Append the text from `at` to `end` with
 *
 *     name!(a, b)               the body of the macro
 *     min(a, b), max(a, b)      least(a, b), greatest(a, b): DuckDB means the b smallest of all
 *     like "x", glob "x"        a text, as in SQLite: DuckDB takes double quotes for names only
 *     ""                        ''
 *     a is b, a is not b        a is not distinct from b, a is distinct from b
 *     0x1F                      31
 *     limit a, b                limit b offset a
 *     a regexp 'x'              a ~ '.*(?:x).*'
 *     from (a, b)               from (a cross join b)
 *     from (values (1, 2))      from (values (1, 2)) as tv_values(column1, column2), in a statement
 *                               that names column1
 *     from slice, join track    track_slice as slice, bare_track as track, in a statement with
 *                               thread_track or process_track: utid and upid are those of the
 *                               track, as Perfetto has them (tv_sql_fuller_tables).  Not a table
 *                               that a query has created
 */
enum tv_status tv_sql_expand(const struct tv_sql_macros *macros, const char *at, const char *end,
                             struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

#endif
