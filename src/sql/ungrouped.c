/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ungrouped.c - columns that are not grouped, as SQLite takes them (rewrite.h).
 *
 * "select name, dur from slice group by name" has a dur for each name: in SQLite that of any row of
 * the group, or, if the query has one min() or max(), that of the row with the extreme.  DuckDB
 * refuses the column.  Its error names one such column and the line of it; with a line for each
 * token of that name (tv_sql_line_names), the line tells which of them is meant:
 *
 *     select t.name, sum(dur) from t       column "name" must appear in the GROUP BY clause ...
 *                                          LINE 1
 *       1  select t.
 *       2  name
 *       3  , sum(dur) from t          --> select any_value(t.name) as name, sum(dur) from t
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "sql/rewrite.h"

/* Parentheses that are deeper are not looked into: the query is then refused. */
#define MAX_PARENTHESES 64

/* A column of a query, "name" or "t.name", and the SELECT that it belongs to. */
struct ungrouped_column {
    const char *at, *name, *end;
    const char *select; /* after the word SELECT */
    bool is_listed; /* it is an expression of its own in the list after SELECT, without a name */
};

static bool ungrouped_is(const char *at, const char *end, const char *word)
{
    return strlen(word) == (size_t)(end - at) && strncasecmp(at, word, (size_t)(end - at)) == 0;
}

bool tv_sql_find_ungrouped(const char *why, char *name, size_t size)
{
    static const char begin[] = "Binder Error: column \"";
    size_t length = 0;
    if (strncmp(why, begin, sizeof begin - 1) != 0)
        return false;
    why += sizeof begin - 1;
    while (tv_sql_is_word(why[length]))
        length++;
    if (length == 0 || length >= size ||
        strncmp(why + length, "\" must appear in the GROUP BY clause", 35) != 0)
        return false;
    memcpy(name, why, length);
    name[length] = '\0';
    return true;
}

int tv_sql_find_ungrouped_place(const char *lines, const char *name, const char *why)
{
    static const char mark[] = "\n\nLINE ";
    const char *picture = strstr(why, mark), *before = "";
    unsigned long wanted = picture ? strtoul(picture + sizeof mark - 1, NULL, 10) : 0;
    unsigned long line = 1, first = 1; /* line of the token, and of the column that it ends */
    int number = 0;
    for (const char *at = lines, *end; *at; before = at, at = end) {
        const char *token = tv_sql_skip_space(at);
        end = tv_sql_token_end(token);
        for (; at < token; at++)
            line += *at == '\n' || *at == '\r';
        if (*token != '.' && *before != '.')
            first = line;
        if (ungrouped_is(token, end, name)) {
            if (first == wanted)
                return number;
            number++;
        }
        for (; at < end; at++)
            line += *at == '\n' || *at == '\r';
        at = token;
    }
    return -1;
}

/* A place in a text: the SELECT at each depth of parentheses, and whether its list goes on. */
struct ungrouped_depths {
    const char *select[MAX_PARENTHESES];
    bool is_list[MAX_PARENTHESES];
    size_t depth;
};

/* Note a token; false: too many parentheses. */
static bool ungrouped_note(struct ungrouped_depths *depths, const char *token, const char *end)
{
    depths->depth += *token == '(';
    if (depths->depth >= MAX_PARENTHESES)
        return false;
    if (*token == '(')
        depths->select[depths->depth] = NULL;
    if (*token == ')' && depths->depth > 0)
        depths->depth--;
    if (*token == ';')
        *depths = (struct ungrouped_depths){0};
    if (ungrouped_is(token, end, "select")) {
        depths->select[depths->depth] = end;
        depths->is_list[depths->depth] = true;
    } else if (ungrouped_is(token, end, "from")) {
        depths->is_list[depths->depth] = false;
    }
    return true;
}

/* Can the token be between two expressions of the list after SELECT, or at its end? */
static bool ungrouped_ends_item(const char *token, const char *end)
{
    return *token == '\0' || strchr(",);", *token) || ungrouped_is(token, end, "from");
}

/* Find a column by the number of the token that is its name; false: no query is around it. */
static bool ungrouped_find(const char *text, const char *name, int number,
                           struct ungrouped_column *column)
{
    struct ungrouped_depths depths = {0};
    const char *before = text, *before_end = text, *ahead = text; /* tokens before the column */
    bool is_first = false;
    *column = (struct ungrouped_column){.at = text};
    for (const char *token = tv_sql_skip_space(text), *end; *token;
         before = token, before_end = end, token = tv_sql_skip_space(end)) {
        end = tv_sql_token_end(token);
        if (!ungrouped_note(&depths, token, end))
            return false;
        if (*token != '.' && *before != '.') {
            column->at = token;
            ahead = before;
            is_first = *ahead == ',' || ungrouped_is(ahead, before_end, "select") ||
                       ungrouped_is(ahead, before_end, "distinct");
        }
        if (!ungrouped_is(token, end, name) || number-- > 0)
            continue;
        size_t level = depths.depth;
        while (level > 0 && !depths.select[level])
            level--;
        const char *next = tv_sql_skip_space(end);
        column->name = token;
        column->end = end;
        column->select = depths.select[level];
        column->is_listed = is_first && level == depths.depth && depths.is_list[level] &&
                            ungrouped_ends_item(next, tv_sql_token_end(next));
        return column->select != NULL;
    }
    return false;
}

/* Return the list of an aggregate min(x) or max(x) whose name is the token; NULL: it is none. */
static const char *ungrouped_extreme(const char *token, const char *end)
{
    const char *list = tv_sql_skip_space(end);
    bool is_extreme = ungrouped_is(token, end, "min") || ungrouped_is(token, end, "max");
    if (!is_extreme || *list != '(')
        return NULL;
    const char *after = tv_sql_list_end(list, list + strlen(list));
    const char *next = tv_sql_skip_space(after), *first = tv_sql_skip_space(list + 1);
    bool is_plain = !ungrouped_is(next, tv_sql_token_end(next), "over") &&
                    !ungrouped_is(next, tv_sql_token_end(next), "filter") &&
                    !ungrouped_is(first, tv_sql_token_end(first), "distinct");
    return is_plain ? list : NULL;
}

/* Return the list of the only min(x) or max(x) of the query after `select`; NULL: there is none, or
 * more than one.  `is_max` tells which. */
static const char *ungrouped_find_extreme(const char *select, bool *is_max)
{
    const char *found = NULL;
    size_t depth = 0, inner = 0; /* depth of the query within this one that is read; 0: none */
    for (const char *at = tv_sql_skip_space(select), *end; *at && *at != ';';
         at = tv_sql_skip_space(end)) {
        end = tv_sql_token_end(at);
        if (*at == ')' && depth == 0)
            break;
        inner = *at == ')' && inner == depth ? 0 : inner;
        depth = depth + (*at == '(') - (*at == ')');
        bool is_select = ungrouped_is(at, end, "select");
        if (is_select && depth == 0)
            break; /* of a union */
        if (is_select && inner == 0)
            inner = depth;
        const char *list = inner == 0 ? ungrouped_extreme(at, end) : NULL;
        if (list && found)
            return NULL;
        if (list) {
            found = list;
            *is_max = ungrouped_is(at, end, "max");
        }
    }
    return found;
}

static void ungrouped_put(struct tv_out *out, const char *from, const char *to)
{
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)from, (size_t)(to - from)});
}

char *tv_sql_aggregate_column(const char *text, const char *name, int number)
{
    struct ungrouped_column column;
    struct tv_out out;
    bool is_max = false;
    if (!ungrouped_find(text, name, number, &column))
        return NULL;
    const char *list = ungrouped_find_extreme(column.select, &is_max);
    tv_out_init_memory(&out);
    ungrouped_put(&out, text, column.at);
    tv_out_text(&out, !list ? "any_value(" : is_max ? "arg_max(" : "arg_min(");
    ungrouped_put(&out, column.at, column.end);
    if (list) {
        const char *after = tv_sql_list_end(list, list + strlen(list));
        tv_out_text(&out, ", ");
        ungrouped_put(&out, list + 1, after); /* with its parenthesis */
    } else {
        tv_out_char(&out, ')');
    }
    if (column.is_listed) {
        tv_out_text(&out, " as ");
        ungrouped_put(&out, column.name, column.end);
    }
    tv_out_text(&out, column.end);
    tv_out_char(&out, '\0');
    char *made = tv_alloc(out.length, 1);
    memcpy(made, out.buffer, out.length);
    tv_out_release(&out);
    return made;
}
