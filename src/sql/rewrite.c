/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - PerfettoSQL's own statements in the words of DuckDB (sql.h).
 *
 * The text is copied token by token; strings, quoted names and comments are copied as they are.
 * Only words at the beginning of a statement are looked at:
 *
 *     INCLUDE PERFETTO MODULE a.b.c;                nothing: the prelude has what is there
 *     CREATE [OR REPLACE] PERFETTO TABLE t(..) AS   CREATE OR REPLACE TEMP TABLE t AS
 *     CREATE [OR REPLACE] PERFETTO VIEW v(..) AS    CREATE OR REPLACE TEMP VIEW v AS
 *     CREATE PERFETTO FUNCTION f(x T) RETURNS T AS  CREATE OR REPLACE TEMP MACRO f(x) AS (...)
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "sql/sql.h"

struct sql_rewriter {
    const char *at;
    struct tv_out out;
};

/* Skip blanks and comments. */
static const char *rewrite_skip_space(const char *at)
{
    for (;;) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (at[0] == '-' && at[1] == '-') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

static bool rewrite_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Take a word if it is next. */
static bool rewrite_take_word(const char **at, const char *word)
{
    const char *next = rewrite_skip_space(*at);
    size_t length = strlen(word);
    if (strncasecmp(next, word, length) != 0 || rewrite_is_word(next[length]))
        return false;
    *at = next + length;
    return true;
}

/* Return the end of the token at `at`: a string, a quoted name, a word or a character. */
static const char *rewrite_token_end(const char *at)
{
    if (*at == '\'' || *at == '"') {
        char quote = *at++;
        while (*at && (*at != quote || at[1] == quote))
            at += *at == quote ? 2 : 1;
        return *at ? at + 1 : at;
    }
    if (rewrite_is_word(*at)) {
        while (rewrite_is_word(*at))
            at++;
        return at;
    }
    return *at ? at + 1 : at;
}

/* Return the end of the statement: its ';', or the end of the text. */
static const char *rewrite_statement_end(const char *at)
{
    for (;;) {
        at = rewrite_skip_space(at);
        if (*at == '\0' || *at == ';')
            return at;
        at = rewrite_token_end(at);
    }
}

static void rewrite_put(struct sql_rewriter *rewriter, const char *from, const char *to)
{
    tv_out_bytes(&rewriter->out, (struct tv_bytes){(const uint8_t *)from, (size_t)(to - from)});
}

/* Return the end of a list in parentheses that begins at `at`. */
static const char *rewrite_list_end(const char *at)
{
    size_t depth = 0;
    while (*(at = rewrite_skip_space(at)) != '\0') {
        depth += *at == '(';
        depth -= *at == ')';
        at = rewrite_token_end(at);
        if (depth == 0)
            break;
    }
    return at;
}

/* Write the parameter names of "(x LONG, y STRING)" alone. */
static void rewrite_put_parameters(struct sql_rewriter *rewriter, const char *at, const char *end)
{
    bool is_name = true;
    tv_out_char(&rewriter->out, '(');
    for (at = rewrite_skip_space(at + 1); at < end - 1; at = rewrite_skip_space(at)) {
        const char *next = rewrite_token_end(at);
        if (*at == ',' || is_name)
            rewrite_put(rewriter, at, next);
        is_name = *at == ',';
        at = next;
    }
    tv_out_char(&rewriter->out, ')');
}

/* Rewrite "TABLE name(columns) AS query" behind CREATE PERFETTO. */
static void rewrite_create_relation(struct sql_rewriter *rewriter, const char *kind, const char *at,
                                    const char *end)
{
    const char *name = rewrite_skip_space(at), *behind = rewrite_token_end(name);
    const char *list = rewrite_skip_space(behind);
    tv_out_format(&rewriter->out, "create or replace temp %s ", kind);
    rewrite_put(rewriter, name, behind);
    tv_out_char(&rewriter->out, ' ');
    rewrite_put(rewriter, *list == '(' ? rewrite_list_end(list) : behind, end);
}

/* Rewrite "FUNCTION name(x T) RETURNS T AS query" behind CREATE PERFETTO. */
static void rewrite_create_function(struct sql_rewriter *rewriter, const char *at, const char *end)
{
    const char *name = rewrite_skip_space(at), *behind = rewrite_token_end(name);
    const char *list = rewrite_skip_space(behind);
    const char *list_end = *list == '(' ? rewrite_list_end(list) : list;
    const char *body = list_end;
    bool is_table = false, returns = rewrite_take_word(&body, "returns");
    if (returns && rewrite_take_word(&body, "table")) {
        is_table = true;
        body = rewrite_list_end(body);
    }
    while (body < end && !rewrite_take_word(&body, "as"))
        body = rewrite_token_end(rewrite_skip_space(body));
    tv_out_text(&rewriter->out, "create or replace temp macro ");
    rewrite_put(rewriter, name, behind);
    if (*list == '(')
        rewrite_put_parameters(rewriter, list, list_end);
    tv_out_text(&rewriter->out, is_table ? " as table " : " as (");
    for (const char *next; body < end; body = next) { /* "$x" is the parameter x */
        next = rewrite_token_end(body);
        if (*body != '$' || !rewrite_is_word(*next))
            rewrite_put(rewriter, body, next);
    }
    tv_out_text(&rewriter->out, is_table ? "" : ")");
}

/* Rewrite the statement that ends at `end`; what is not Perfetto's own is copied. */
static void rewrite_statement(struct sql_rewriter *rewriter, const char *end)
{
    const char *at = rewriter->at;
    if (rewrite_take_word(&at, "include") && rewrite_take_word(&at, "perfetto"))
        return;
    at = rewriter->at;
    if (rewrite_take_word(&at, "create")) {
        if (rewrite_take_word(&at, "or"))
            (void)rewrite_take_word(&at, "replace");
        if (rewrite_take_word(&at, "perfetto")) {
            if (rewrite_take_word(&at, "table"))
                rewrite_create_relation(rewriter, "table", at, end);
            else if (rewrite_take_word(&at, "view"))
                rewrite_create_relation(rewriter, "view", at, end);
            else if (rewrite_take_word(&at, "function"))
                rewrite_create_function(rewriter, at, end);
            return;
        }
    }
    rewrite_put(rewriter, rewriter->at, end);
}

enum tv_status tv_sql_rewrite(const char *text, char **rewritten, struct tv_error *err)
{
    struct sql_rewriter rewriter = {.at = text};
    (void)err;
    tv_out_init_memory(&rewriter.out);
    while (*rewriter.at) {
        const char *end = rewrite_statement_end(rewriter.at);
        rewrite_statement(&rewriter, end);
        if (*end == ';')
            tv_out_char(&rewriter.out, ';');
        rewriter.at = *end == ';' ? end + 1 : end;
    }
    tv_out_char(&rewriter.out, '\0');
    *rewritten = memcpy(tv_alloc(rewriter.out.length, 1), rewriter.out.buffer, rewriter.out.length);
    tv_out_release(&rewriter.out);
    return TV_OK;
}
