/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expand.c - words of PerfettoSQL inside of a statement (rewrite.h).
 *
 * A statement is read token by token.  A token is copied, unless it begins one
 * of these:
 *
 *     name!(a, b)         the body of the macro, with its arguments in place of $x and $y
 *     min(a, b)           least(a, b): DuckDB's min and max are aggregates alone
 *     x like "text"       x like 'text': SQLite takes a text in double quotes, DuckDB a column
 *     ""                  '', which SQLite takes for a text, too (quoted.c: other texts)
 *     x is y              x is not distinct from y
 *     x regexp 'r'        x ~ '...': a regular expression that is found anywhere in x
 *     utid != 0           a comparison with our idle task
 *     from slice          from track_slice, in statements that join tables of tracks
 *     from (values (1))   the same with the names column1, column2 ..., in statements that use them
 *
 * Macros nest, so expanding is recursive.  Two limits keep a hostile statement
 * small: the depth (TV_SQL_MAX_DEPTH) and the length of the answer
 * (TV_SQL_MAX_TEXT), because macros that call others twice double the text at
 * every level.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "sql/rewrite.h"

struct sql_expander {
    const struct tv_sql_macros *macros;
    const struct tv_sql_macro *macro; /* whose body is expanded; NULL: none */
    const struct tv_bytes *arguments; /* arguments of that macro */
    struct tv_out *out;
    struct tv_error *err;
    int depth;
    unsigned fuller;   /* bit tv_sql_fuller_table: its view is read in place of the table */
    bool names_values; /* columns of VALUES have SQLite's names */
};

static enum tv_status sql_expand_text(const struct sql_expander *expander, const char *at,
                                      const char *end);

/* Are the characters from `at` to `end` a word, regardless of case? */
static bool sql_is(const char *at, const char *end, const char *word)
{
    return strlen(word) == (size_t)(end - at) && strncasecmp(at, word, (size_t)(end - at)) == 0;
}

static void sql_put(struct tv_out *out, const char *from, const char *to)
{
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)from, (size_t)(to - from)});
}

/* Return the macro with a name; NULL if there is none. */
static const struct tv_sql_macro *sql_find_macro(const struct tv_sql_macros *macros,
                                                 const char *name, const char *end)
{
    for (size_t i = macros->count; i-- > 0;)
        if (sql_is(name, end, macros->items[i].name))
            return &macros->items[i];
    return NULL;
}

/* Return the end of the list's element that begins at `at`: its comma, or the list's end. */
static const char *sql_element_end(const char *at, const char *list_end)
{
    while ((at = tv_sql_skip_space(at)) < list_end && *at != ',')
        at = strchr("([{", *at) ? tv_sql_list_end(at, list_end) : tv_sql_token_end(at);
    return at < list_end ? at : list_end;
}

/* Has the list in parentheses at `at` more than one element?  Only so far ahead is looked for its
 * comma that lists in lists take linear time. */
static bool sql_has_elements(const char *at, const char *end)
{
    enum { LOOKAHEAD = 1024 };
    const char *limit = end - at > LOOKAHEAD ? at + LOOKAHEAD : end;
    const char *last = tv_sql_list_end(at, limit) - 1;
    return sql_element_end(at + 1, last) < last;
}

/* Append what a macro's call stands for.  `list`: its arguments in parentheses. */
static enum tv_status sql_expand_call(const struct sql_expander *expander,
                                      const struct tv_sql_macro *macro, const char *list,
                                      const char *end)
{
    const char *last = tv_sql_list_end(list, end) - 1;
    size_t count = 0;
    bool is_wrong = false;
    struct tv_bytes *arguments = tv_alloc(macro->parameter_count + 1, sizeof *arguments);
    struct tv_out texts;
    size_t *lengths = tv_alloc(macro->parameter_count + 1, sizeof *lengths);
    struct sql_expander inside = *expander;
    enum tv_status status = TV_OK;
    tv_out_init_memory(&texts);
    inside.out = &texts;
    if (++inside.depth > TV_SQL_MAX_DEPTH)
        status = tv_fail(expander->err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "SQL: macros call each other more than %d deep", TV_SQL_MAX_DEPTH);
    /* Arguments are expanded where the macro is called, before the body: they
     * may name parameters of the macro around this one.  All texts lie in one
     * buffer, which can move while it grows, so their ends are kept as lengths. */
    for (const char *at = tv_sql_skip_space(list + 1); status == TV_OK && at < last; at++) {
        const char *next = sql_element_end(at, last);
        if (count == macro->parameter_count)
            is_wrong = true;
        else if ((status = sql_expand_text(&inside, at, next)) == TV_OK)
            lengths[count++] = texts.length;
        at = next;
    }
    tv_out_char(&texts, '\0'); /* a buffer also for arguments without a word */
    for (size_t i = 0; i < count; i++) {
        size_t from = i ? lengths[i - 1] : 0;
        arguments[i] = (struct tv_bytes){texts.buffer + from, lengths[i] - from};
    }
    if (status == TV_OK && (is_wrong || count < macro->parameter_count))
        status =
            tv_fail(expander->err, TV_ERR_USAGE, TV_NO_OFFSET,
                    "SQL: the macro %s takes %zu arguments", macro->name, macro->parameter_count);
    if (status == TV_OK) {
        inside.out = expander->out;
        inside.macro = macro;
        inside.arguments = arguments;
        status = sql_expand_text(&inside, macro->body, macro->body + strlen(macro->body));
    }
    tv_out_release(&texts);
    tv_free(lengths);
    tv_free(arguments);
    return status;
}

/* If `at` is a parameter of the macro, append its argument and return its end. */
static const char *sql_take_parameter(const struct sql_expander *expander, const char *at)
{
    if (*at != '$' || !expander->macro)
        return NULL;
    const char *end = tv_sql_token_end(at + 1);
    for (size_t i = 0; i < expander->macro->parameter_count; i++)
        if (sql_is(at + 1, end, expander->macro->parameters[i])) {
            tv_out_bytes(expander->out, expander->arguments[i]);
            return end;
        }
    return NULL;
}

/* Append the string in quotes at `at` in single quotes, its text between two others; return its
 * end. */
static const char *sql_put_quoted(struct tv_out *out, const char *before, const char *at,
                                  const char *behind)
{
    const char *end = tv_sql_token_end(at);
    bool is_closed = end - at >= 2 && end[-1] == *at;
    tv_out_char(out, '\'');
    tv_out_text(out, before);
    for (const char *c = at + 1; c < end - is_closed; c++) {
        if (*c == *at)
            c++; /* doubled */
        if (*c == '\'')
            tv_out_char(out, '\'');
        tv_out_char(out, *c);
    }
    tv_out_text(out, behind);
    tv_out_char(out, '\'');
    return end;
}

/* If the words at `at` are "regexp 'x'", perhaps after "not", append the same for DuckDB and return
 * their end. */
static const char *sql_take_regexp(struct tv_out *out, const char *at, const char *end)
{
    bool is_not = tv_sql_take_word(&at, "not");
    if (!tv_sql_take_word(&at, "regexp"))
        return NULL;
    at = tv_sql_skip_space(at);
    if (at >= end || (*at != '\'' && *at != '"'))
        return NULL;
    tv_out_text(out, is_not ? "!~ " : "~ ");
    return sql_put_quoted(out, "(?s).*(?:", at, ").*");
}

/* If the words at `at` are "is x" or "is not x", append the comparison of DuckDB in which NULL
 * equals NULL, and return the end of those words.  DuckDB knows IS before a few words alone. */
static const char *sql_take_is(struct tv_out *out, const char *at, const char *end)
{
    static const char *const known[] = {"null", "true", "false", "unknown", "distinct", "json"};
    if (!tv_sql_take_word(&at, "is"))
        return NULL;
    bool is_not = tv_sql_take_word(&at, "not"), is_known = false;
    const char *next = tv_sql_skip_space(at);
    for (size_t i = 0; i < TV_COUNT(known); i++)
        is_known = is_known || sql_is(next, tv_sql_token_end(next), known[i]);
    if (is_known || next >= end || strchr(",;)", *next))
        return NULL;
    tv_out_text(out, is_not ? "is distinct from" : "is not distinct from");
    return at;
}

/* If the words at `at` are "utid != 0" or another comparison with that number, append the one with
 * our idle task, and return their end.  In Perfetto the idle task is 0; here it is any thread, or
 * none. */
static const char *sql_take_idle(struct tv_out *out, const char *at, const char *end)
{
    static const char *const operators[] = {"!=", "<>", ">", "==", "="};
    const char *name_end = tv_sql_token_end(at), *behind = tv_sql_skip_space(name_end);
    size_t i = 0;
    if (!sql_is(at, name_end, "utid"))
        return NULL;
    while (i < TV_COUNT(operators) && strncmp(behind, operators[i], strlen(operators[i])) != 0)
        i++;
    if (i == TV_COUNT(operators))
        return NULL;
    behind = tv_sql_skip_space(behind + strlen(operators[i]));
    if (behind >= end || *behind != '0' || tv_sql_is_word(behind[1]) || behind[1] == '.')
        return NULL;
    tv_out_format(out, "utid %s coalesce(tv_idle_utid(), -1)", i < 3 ? "<>" : "=");
    return behind + 1;
}

/* If the word at `at` is a number in hexadecimal, append it in decimal, of 64 bits with a sign as
 * in SQLite, and return its end.  DuckDB reads 0x1F as the number 0 with the name x1F. */
static const char *sql_take_hex(struct tv_out *out, const char *at)
{
    const char *next = tv_sql_token_end(at);
    struct tv_bytes text = {(const uint8_t *)at, (size_t)(next - at)};
    uint64_t value;
    if (*at != '0' || (at[1] | 0x20) != 'x')
        return NULL;
    if (tv_parse_hex(text, &value))
        tv_out_format(out, "%" PRId64, (int64_t)value);
    else /* fails in words that name it */
        tv_out_format(out, "cast('%.*s' as bigint)", (int)text.length, at);
    return next;
}

/* If the words at `at` are "limit a, b" with numbers, append "limit b offset a" and return their
 * end. */
static const char *sql_take_limit(struct tv_out *out, const char *at, const char *end)
{
    if (!tv_sql_take_word(&at, "limit"))
        return NULL;
    const char *first = tv_sql_skip_space(at), *first_end = tv_sql_token_end(first);
    const char *comma = tv_sql_skip_space(first_end);
    if (first >= end || !tv_sql_is_word(*first) || comma >= end || *comma != ',')
        return NULL;
    const char *second = tv_sql_skip_space(comma + 1);
    if (second >= end || !tv_sql_is_word(*second))
        return NULL;
    tv_out_text(out, "limit ");
    if (!sql_take_hex(out, second))
        sql_put(out, second, tv_sql_token_end(second));
    tv_out_text(out, " offset ");
    if (!sql_take_hex(out, first))
        sql_put(out, first, first_end);
    return tv_sql_token_end(second);
}

/* If a macro is called at `at`, append what it stands for and return the end of the call. */
static const char *sql_take_call(const struct sql_expander *expander, const char *at,
                                 const char *end, enum tv_status *status)
{
    const char *name_end = tv_sql_token_end(at);
    const char *list = *name_end == '!' ? tv_sql_skip_space(name_end + 1) : name_end;
    if (*name_end != '!' || *list != '(')
        return NULL;
    const struct tv_sql_macro *macro = sql_find_macro(expander->macros, at, name_end);
    int length = (int)(name_end - at < 64 ? name_end - at : 64);
    *status = macro ? sql_expand_call(expander, macro, list, end)
                    : tv_fail(expander->err, TV_ERR_USAGE, TV_NO_OFFSET,
                              "SQL: there is no macro %.*s", length, at);
    return tv_sql_list_end(list, end);
}

/* If the word at `at` means something else to DuckDB, append what is meant and return the end of
 * what it stands for. */
static const char *sql_take_sqlite(struct tv_out *out, const char *at, const char *end)
{
    const char *next = tv_sql_token_end(at), *behind = tv_sql_skip_space(next);
    bool is_min = sql_is(at, next, "min");
    if ((is_min || sql_is(at, next, "max")) && *behind == '(' && sql_has_elements(behind, end)) {
        tv_out_text(out, is_min ? "least" : "greatest");
        return next;
    }
    if ((sql_is(at, next, "like") || sql_is(at, next, "glob")) && *behind == '"' && behind < end) {
        sql_put(out, at, behind);
        return sql_put_quoted(out, "", behind, "");
    }
    next = sql_take_idle(out, at, end);
    if (!next)
        next = sql_take_hex(out, at);
    if (!next)
        next = sql_take_limit(out, at, end);
    if (!next)
        next = sql_take_is(out, at, end);
    return next ? next : sql_take_regexp(out, at, end);
}

/* Is the word at `at` another name of the table before it? */
static bool sql_is_alias(const char *at)
{
    static const char *const others[] = {
        "anti",        "asof",       "cross",  "except",    "full",   "group", "having", "inner",
        "join",        "left",       "limit",  "natural",   "offset", "on",    "order",  "outer",
        "qualify",     "right",      "semi",   "intersect", "union",  "using", "where",  "window",
        "tablesample", "positional", "select", "pivot",     "unpivot"};
    const char *next = tv_sql_token_end(at);
    bool is_other = !tv_sql_is_word(*at) && *at != '"';
    for (size_t i = 0; i < TV_COUNT(others); i++)
        is_other = is_other || sql_is(at, next, others[i]);
    return !is_other;
}

/* Append the name of a table after FROM or JOIN.  With tables of tracks, that of slices has
 * neither utid nor upid. */
static void sql_put_table(const struct sql_expander *expander, const char *at, const char *next)
{
    int number = tv_sql_fuller_table(at, next);
    if (number >= 0 && expander->fuller >> number & 1) {
        tv_out_text(expander->out, tv_sql_fuller_tables[number].view);
        if (sql_is_alias(tv_sql_skip_space(next)))
            return;
        tv_out_text(expander->out, " as ");
    }
    sql_put(expander->out, at, next);
}

/* Append a word, or what stands for it together with what follows; return the end of that. */
static const char *sql_take_word_of(const struct sql_expander *expander, const char *at,
                                    const char *end, bool is_table, enum tv_status *status)
{
    const char *next = sql_take_call(expander, at, end, status);
    if (!next)
        next = sql_take_sqlite(expander->out, at, end);
    if (next)
        return next;
    next = tv_sql_token_end(at);
    if (is_table)
        sql_put_table(expander, at, next);
    else
        sql_put(expander->out, at, next);
    return next;
}

/* The clauses that a text is in, by the depth of parentheses. */
struct sql_clauses {
    uint64_t lists; /* bit d: the clause at depth d lists tables */
    uint64_t joins; /* bit d: it is such a list in parentheses, of which DuckDB wants joins */
    unsigned depth;
    bool is_table;          /* the next word is the name of a table */
    const char *values[64]; /* the first row of VALUES that is a table at a depth; NULL: none */
};

static uint64_t sql_depth_bit(const struct sql_clauses *clauses)
{
    return clauses->depth < 64 ? UINT64_C(1) << clauses->depth : 0;
}

/* Is the parenthesis at `at`, in place of a table, around a list of tables, not around a query? */
static bool sql_is_table_list(const char *at)
{
    static const char *const queries[] = {"select", "with", "values", "from", "table", "pivot"};
    const char *first = tv_sql_skip_space(at + 1), *end = tv_sql_token_end(first);
    bool is_list = *first == '(' || *first == '"' || tv_sql_is_word(*first);
    for (size_t i = 0; i < TV_COUNT(queries); i++)
        is_list = is_list && !sql_is(first, end, queries[i]);
    return is_list;
}

/* Note what follows a parenthesis: VALUES in place of a table, or something else. */
static void sql_note_values(struct sql_clauses *clauses, const char *at)
{
    if (clauses->depth >= TV_COUNT(clauses->values))
        return;
    bool is_values = clauses->is_table && tv_sql_take_word(&at, "values");
    clauses->values[clauses->depth] = is_values ? tv_sql_skip_space(at) : NULL;
}

/* Note a token: names of tables follow FROM, JOIN, and a comma in their list. */
static void sql_note_token(struct sql_clauses *clauses, const char *at, const char *next)
{
    static const char *const ends[] = {"select", "where",   "group", "having",
                                       "window", "qualify", "order", "limit"};
    bool is_list = *at == '(' && clauses->is_table && sql_is_table_list(at);
    bool begins = sql_is(at, next, "from") || sql_is(at, next, "join") || is_list;
    bool is_end = *at == '(';
    clauses->depth += *at == '(';
    if (*at == '(')
        sql_note_values(clauses, at + 1);
    clauses->depth -= *at == ')' && clauses->depth > 0;
    uint64_t bit = sql_depth_bit(clauses);
    for (size_t i = 0; i < TV_COUNT(ends); i++)
        is_end = is_end || sql_is(at, next, ends[i]);
    if (begins)
        clauses->lists |= bit;
    else if (is_end)
        clauses->lists &= ~bit;
    if (is_end)
        clauses->joins = is_list ? clauses->joins | bit : clauses->joins & ~bit;
    clauses->is_table = begins || (*at == ',' && clauses->lists & bit);
}

/* If the token at `at` is an empty text in double quotes, or a comma between tables in parentheses,
 * append what is meant and return its end. */
static const char *sql_take_mark(struct tv_out *out, const char *at,
                                 const struct sql_clauses *clauses)
{
    const char *next = tv_sql_token_end(at);
    if (next - at == 2 && strncmp(at, "\"\"", 2) == 0) {
        tv_out_text(out, "''");
        return next;
    }
    if (*at != ',' || (clauses->joins & sql_depth_bit(clauses)) == 0)
        return NULL;
    tv_out_text(out, " cross join");
    return next;
}

/* If VALUES in place of a table end with the parenthesis at `at`, append that, the table's other
 * name, and SQLite's names of the columns; return the end of what was read. */
static const char *sql_take_values(struct tv_out *out, const char *at, const char *end,
                                   const struct sql_clauses *clauses)
{
    const char *row = NULL, *next = at + 1;
    if (*at == ')' && clauses->depth < TV_COUNT(clauses->values))
        row = clauses->values[clauses->depth];
    if (!row || *row != '(')
        return NULL;
    const char *alias = next;
    bool is_named = tv_sql_take_word(&alias, "as");
    alias = tv_sql_skip_space(alias);
    if (alias < end && (is_named || sql_is_alias(alias)) && *alias != ',')
        next = tv_sql_token_end(alias);
    sql_put(out, at, next);
    if (*tv_sql_skip_space(next) == '(')
        return next; /* with names of their own */
    tv_out_text(out, next == at + 1 ? " as tv_values(" : "(");
    const char *row_end = tv_sql_list_end(row, end);
    int column = 1;
    for (const char *item = row + 1; item < row_end; item = sql_element_end(item, row_end) + 1)
        tv_out_format(out, "%scolumn%d", item == row + 1 ? "" : ", ", column++);
    tv_out_char(out, ')');
    return next;
}

static enum tv_status sql_expand_text(const struct sql_expander *expander, const char *at,
                                      const char *end)
{
    enum tv_status status = TV_OK;
    struct sql_clauses clauses = {0};
    while (at < end && status == TV_OK) {
        const char *token = tv_sql_skip_space(at), *next;
        token = token < end ? token : end;
        sql_put(expander->out, at, token);
        if (token == end)
            break;
        next = sql_take_parameter(expander, token);
        if (!next && tv_sql_is_word(*token))
            next = sql_take_word_of(expander, token, end, clauses.is_table, &status);
        if (!next)
            next = sql_take_mark(expander->out, token, &clauses);
        if (!next && expander->names_values)
            next = sql_take_values(expander->out, token, end, &clauses);
        if (!next)
            sql_put(expander->out, token, next = tv_sql_token_end(token));
        sql_note_token(&clauses, token, next);
        at = next;
        if (status == TV_OK && expander->out->length > TV_SQL_MAX_TEXT)
            status = tv_fail(expander->err, TV_ERR_USAGE, TV_NO_OFFSET,
                             "SQL: the statements are longer than %d MiB with their macros",
                             TV_SQL_MAX_TEXT >> 20);
    }
    return status;
}

/* Does the text name one of these tables? */
static bool sql_names_table(const char *at, const char *end, const char *const *tables)
{
    while ((at = tv_sql_skip_space(at)) < end) {
        const char *next = tv_sql_token_end(at);
        for (size_t i = 0; tables[i]; i++)
            if (sql_is(at, next, tables[i]))
                return true;
        at = next;
    }
    return false;
}

/* Does WITH define a table of the name at `at`: "slice as (", "slice(a, b) as materialized ("? */
static bool sql_is_defined(const char *at, const char *end)
{
    at = tv_sql_skip_space(tv_sql_token_end(at));
    if (*at == '(')
        at = tv_sql_list_end(at, end);
    if (!tv_sql_take_word(&at, "as"))
        return false;
    (void)tv_sql_take_word(&at, "not");
    (void)tv_sql_take_word(&at, "materialized");
    at = tv_sql_skip_space(at);
    return at < end && *at == '(';
}

/* Does the text define a table of that number? */
static bool sql_defines_table(const char *at, const char *end, int number)
{
    while ((at = tv_sql_skip_space(at)) < end) {
        const char *next = tv_sql_token_end(at);
        if (tv_sql_fuller_table(at, next) == number && sql_is_defined(at, end))
            return true;
        at = next;
    }
    return false;
}

/* Return the tables of which a statement reads the views. */
static unsigned sql_find_fuller(const struct tv_sql_macros *macros, const char *at, const char *end)
{
    unsigned found = 0;
    for (int i = 0; tv_sql_fuller_tables[i].name; i++)
        if (!(macros->own_tables >> i & 1) &&
            sql_names_table(at, end, tv_sql_fuller_tables[i].beside) &&
            !sql_defines_table(at, end, i))
            found |= 1u << i;
    return found;
}

enum tv_status tv_sql_expand(const struct tv_sql_macros *macros, const char *at, const char *end,
                             struct tv_out *out, struct tv_error *err)
{
    static const char *const value_names[] = {"column1", NULL};
    const struct sql_expander expander = {.macros = macros,
                                          .out = out,
                                          .err = err,
                                          .fuller = sql_find_fuller(macros, at, end),
                                          .names_values = sql_names_table(at, end, value_names)};
    assert(at <= end);
    return sql_expand_text(&expander, at, end);
}
