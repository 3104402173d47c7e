/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quoted.c - texts in double quotes, and names without AS, as SQLite takes them (rewrite.h).
 *
 * To SQLite "x" is a column, or, if there is none of that name, the text x.  Only DuckDB knows the
 * columns at a place in a query, so the query is first prepared as it is.  DuckDB's error names
 * one unknown column and its line; it counts columns of the line in a way that depends on the
 * statements before.  For that reason each quoted name gets a line of its own:
 *
 *     select 1 where name = "a" or dur = "b"      Referenced column "b" not found ... LINE 4
 *
 *       1  select 1 where name =
 *       2  "a"
 *       3  or dur =
 *       4  "b"            --> select 1 where name = "a" or dur = 'b'
 *
 * For an argument of a table macro, the line is that of the call: then the name must be there once.
 *
 * In the same way a parser's error tells which word of "select sum(dur) value" needs AS before it:
 * to DuckDB, "value" and many other words cannot be a name there.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "sql/rewrite.h"

/* Is the token at `at` a quoted name that is whole and not empty? */
static bool quoted_is_name(const char *at, const char *end)
{
    return *at == '"' && end - at > 2 && end[-1] == '"';
}

/* Return the text, which is released, as a string of its own. */
static char *quoted_finish(struct tv_out *out)
{
    tv_out_char(out, '\0');
    char *text = tv_alloc(out->length, 1);
    memcpy(text, out->buffer, out->length);
    tv_out_release(out);
    return text;
}

/* Is the token the word, or, if that is NULL, a quoted name? */
static bool quoted_is_wanted(const char *at, const char *end, const char *word)
{
    if (!word)
        return quoted_is_name(at, end);
    return strlen(word) == (size_t)(end - at) && strncasecmp(at, word, (size_t)(end - at)) == 0;
}

char *tv_sql_line_names(const char *text, const char *word)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    for (const char *at = text; *at;) {
        const char *token = tv_sql_skip_space(at), *end = tv_sql_token_end(token);
        bool is_name = quoted_is_wanted(token, end, word);
        tv_out_bytes(&out, (struct tv_bytes){(const uint8_t *)at, (size_t)(token - at)});
        tv_out_text(&out, is_name ? "\n" : "");
        tv_out_bytes(&out, (struct tv_bytes){(const uint8_t *)token, (size_t)(end - token)});
        tv_out_text(&out, is_name ? "\n" : "");
        at = end;
    }
    return quoted_finish(&out);
}

/* Is the quoted name from `at` to `end` the one that DuckDB's error calls an unknown column? */
static bool quoted_is_unknown(const char *at, const char *end, const char *why)
{
    static const char unknown[] = "Binder Error: Referenced column \"";
    if (strncmp(why, unknown, sizeof unknown - 1) != 0)
        return false;
    why += sizeof unknown - 1;
    for (at++; at < end - 1; at++, why++) {
        if (*why != *at)
            return false;
        at += *at == '"'; /* doubled in the query, not in the error */
    }
    return strncmp(why, "\" not found", 11) == 0 || strncmp(why, "\" was not found", 15) == 0;
}

/* Return the number of line ends before `end`, as DuckDB counts them. */
static unsigned long quoted_count_lines(const char *at, const char *end)
{
    unsigned long count = 0;
    for (; at < end; at++)
        count += *at == '\n' || *at == '\r';
    return count;
}

/* Return the line that DuckDB's error is about; 0: it names none. */
static unsigned long quoted_line_of(const char *why)
{
    static const char mark[] = "\n\nLINE ";
    const char *picture = strstr(why, mark);
    return picture ? strtoul(picture + sizeof mark - 1, NULL, 10) : 0;
}

int tv_sql_find_unknown_name(const char *lines, const char *why)
{
    unsigned long wanted = quoted_line_of(why), line = 1;
    int number = 0, only = -1, count = 0;
    for (const char *at = lines, *end; *at && wanted > 0; at = end) {
        const char *token = tv_sql_skip_space(at);
        end = tv_sql_token_end(token);
        line += quoted_count_lines(at, token);
        if (quoted_is_name(token, end)) {
            bool is_unknown = quoted_is_unknown(token, end, why);
            if (line == wanted)
                return is_unknown ? number : -1;
            only = is_unknown ? number : only;
            count += is_unknown;
            number++;
        }
        line += quoted_count_lines(token, end);
    }
    return count == 1 ? only : -1;
}

/* Append the name from `at` to `end` as a text. */
static void quoted_put_text(struct tv_out *out, const char *at, const char *end)
{
    tv_out_char(out, '\'');
    for (at++; at < end - 1; at++) {
        tv_out_text(out, *at == '\'' ? "'" : "");
        tv_out_char(out, *at);
        at += *at == '"';
    }
    tv_out_char(out, '\'');
}

char *tv_sql_name_to_text(const char *text, int number)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    for (const char *at = text; *at;) {
        const char *token = tv_sql_skip_space(at), *end = tv_sql_token_end(token);
        bool is_wanted = quoted_is_name(token, end) && number-- == 0;
        tv_out_bytes(&out, (struct tv_bytes){(const uint8_t *)at, (size_t)(token - at)});
        if (is_wanted)
            quoted_put_text(&out, token, end);
        else
            tv_out_bytes(&out, (struct tv_bytes){(const uint8_t *)token, (size_t)(end - token)});
        at = end;
    }
    return quoted_finish(&out);
}

bool tv_sql_find_refused_word(const char *why, char *word, size_t size)
{
    static const char refused[] = "Parser Error: syntax error at or near \"";
    size_t length = 0;
    if (strncmp(why, refused, sizeof refused - 1) != 0)
        return false;
    why += sizeof refused - 1;
    while (tv_sql_is_word(why[length]))
        length++;
    if (length == 0 || length >= size || why[length] != '"')
        return false;
    memcpy(word, why, length);
    word[length] = '\0';
    return true;
}

char *tv_sql_add_as(const char *lines, const char *word, const char *why)
{
    unsigned long wanted = quoted_line_of(why), line = 1;
    struct tv_out out;
    tv_out_init_memory(&out);
    for (const char *at = lines, *end; *at; at = end) {
        const char *token = tv_sql_skip_space(at);
        end = tv_sql_token_end(token);
        line += quoted_count_lines(at, token);
        tv_out_bytes(&out, (struct tv_bytes){(const uint8_t *)at, (size_t)(token - at)});
        tv_out_text(&out, line == wanted && quoted_is_wanted(token, end, word) ? "as " : "");
        tv_out_bytes(&out, (struct tv_bytes){(const uint8_t *)token, (size_t)(end - token)});
        line += quoted_count_lines(token, end);
    }
    return quoted_finish(&out);
}
