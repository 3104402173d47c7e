/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - PerfettoSQL's own statements in the words of DuckDB (rewrite.h).
 *
 *     INCLUDE PERFETTO MODULE a.b;                  nothing: the prelude has what is there
 *     CREATE [OR REPLACE] PERFETTO TABLE t(..) AS   CREATE OR REPLACE TEMP TABLE t AS
 *     CREATE [OR REPLACE] PERFETTO VIEW v(..) AS    CREATE OR REPLACE TEMP VIEW v AS
 *     CREATE PERFETTO FUNCTION f(x T) RETURNS T AS  CREATE OR REPLACE TEMP MACRO f(x) AS (...)
 *     CREATE PERFETTO MACRO m(x T) RETURNS T AS     nothing: kept, and expanded where it is called
 *     CREATE PERFETTO INDEX i ON t(x);              nothing
 *     CREATE VIRTUAL TABLE x USING SPAN_JOIN(..)    CREATE OR REPLACE TEMP VIEW x AS (see below)
 *
 * All other statements are copied; tv_sql_expand rewrites the words in them.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "sql/rewrite.h"

struct sql_rewriter {
    struct tv_sql_macros *macros;
    const char *at;
    struct tv_out out;
    struct tv_error *err;
};

const char *tv_sql_skip_space(const char *at)
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

bool tv_sql_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool tv_sql_take_word(const char **at, const char *word)
{
    const char *next = tv_sql_skip_space(*at);
    size_t length = strlen(word);
    if (strncasecmp(next, word, length) != 0 || tv_sql_is_word(next[length]))
        return false;
    *at = next + length;
    return true;
}

const char *tv_sql_token_end(const char *at)
{
    if (*at == '\'' || *at == '"') {
        char quote = *at++;
        while (*at && (*at != quote || at[1] == quote))
            at += *at == quote ? 2 : 1;
        return *at ? at + 1 : at;
    }
    if (tv_sql_is_word(*at)) {
        while (tv_sql_is_word(*at))
            at++;
        return at;
    }
    return *at ? at + 1 : at;
}

const char *tv_sql_statement_end(const char *at)
{
    for (;;) {
        at = tv_sql_skip_space(at);
        if (*at == '\0' || *at == ';')
            return at;
        at = tv_sql_token_end(at);
    }
}

static void rewrite_put(struct sql_rewriter *rewriter, const char *from, const char *to)
{
    tv_out_bytes(&rewriter->out, (struct tv_bytes){(const uint8_t *)from, (size_t)(to - from)});
}

const char *tv_sql_list_end(const char *at, const char *end)
{
    size_t depth = 0;
    while ((at = tv_sql_skip_space(at)) < end) {
        char c = *at;
        depth += c == '(' || c == '[' || c == '{';
        at = tv_sql_token_end(at);
        if ((c == ')' || c == ']' || c == '}') && --depth == 0)
            break;
    }
    return at < end ? at : end;
}

/* Write the parameter names of "(x LONG, y STRING)" alone. */
static void rewrite_put_parameters(struct sql_rewriter *rewriter, const char *at, const char *end)
{
    bool is_name = true;
    tv_out_char(&rewriter->out, '(');
    for (at = tv_sql_skip_space(at + 1); at < end - 1; at = tv_sql_skip_space(at)) {
        const char *next = tv_sql_token_end(at);
        if (*at == ',' || is_name)
            rewrite_put(rewriter, at, next);
        is_name = *at == ',';
        at = next;
    }
    tv_out_char(&rewriter->out, ')');
}

/* Append a text with the words of PerfettoSQL rewritten. */
static enum tv_status rewrite_expand(struct sql_rewriter *rewriter, const char *from,
                                     const char *to)
{
    return tv_sql_expand(rewriter->macros, from, to, &rewriter->out, rewriter->err);
}

/* Rewrite "TABLE name(columns) AS query" after CREATE PERFETTO. */
static enum tv_status rewrite_create_relation(struct sql_rewriter *rewriter, const char *kind,
                                              const char *at, const char *end)
{
    const char *name = tv_sql_skip_space(at), *behind = tv_sql_token_end(name);
    const char *list = tv_sql_skip_space(behind);
    tv_out_format(&rewriter->out, "create or replace temp %s ", kind);
    rewrite_put(rewriter, name, behind);
    tv_out_char(&rewriter->out, ' ');
    return rewrite_expand(rewriter, *list == '(' ? tv_sql_list_end(list, end) : behind, end);
}

/* Skip "RETURNS T AS" after a list of parameters; tell if T is a table. */
static const char *rewrite_skip_returns(const char *at, const char *end, bool *is_table)
{
    *is_table = false;
    if (tv_sql_take_word(&at, "returns") && tv_sql_take_word(&at, "table")) {
        *is_table = true;
        at = tv_sql_list_end(at, end);
    }
    while (at < end && !tv_sql_take_word(&at, "as"))
        at = tv_sql_token_end(tv_sql_skip_space(at));
    return at < end ? at : end;
}

/* Rewrite "FUNCTION name(x T) RETURNS T AS query" after CREATE PERFETTO. */
static enum tv_status rewrite_create_function(struct sql_rewriter *rewriter, const char *at,
                                              const char *end)
{
    const char *name = tv_sql_skip_space(at), *behind = tv_sql_token_end(name);
    const char *list = tv_sql_skip_space(behind);
    const char *list_end = *list == '(' ? tv_sql_list_end(list, end) : list;
    bool is_table;
    const char *body = rewrite_skip_returns(list_end, end, &is_table);
    tv_out_text(&rewriter->out, "create or replace temp macro ");
    rewrite_put(rewriter, name, behind);
    if (*list == '(')
        rewrite_put_parameters(rewriter, list, list_end);
    tv_out_text(&rewriter->out, is_table ? " as table " : " as (");
    struct sql_rewriter inside = *rewriter;
    tv_out_init_memory(&inside.out);
    enum tv_status status = rewrite_expand(&inside, body, end);
    tv_out_char(&inside.out, '\0');
    body = (const char *)inside.out.buffer;
    for (const char *next; *body; body = next) { /* "$x" is the parameter x */
        next = tv_sql_token_end(body);
        if (*body != '$' || !tv_sql_is_word(*next))
            rewrite_put(rewriter, body, next);
    }
    tv_out_release(&inside.out);
    tv_out_text(&rewriter->out, is_table ? "" : ")");
    return status;
}

/* ---- Macros and modules ---- */

/* Append a statement without rows in place of one that is done here. */
static void rewrite_put_nothing(struct sql_rewriter *rewriter)
{
    tv_out_text(&rewriter->out, "create or replace temp macro tv_nothing() as 0");
}

static char *rewrite_copy(const char *from, const char *to)
{
    char *copy = tv_alloc((size_t)(to - from) + 1, 1);
    memcpy(copy, from, (size_t)(to - from));
    return copy;
}

static void macro_release(struct tv_sql_macro *macro)
{
    for (size_t i = 0; i < macro->parameter_count; i++)
        tv_free(macro->parameters[i]);
    tv_free(macro->parameters);
    tv_free(macro->name);
    tv_free(macro->body);
}

void tv_sql_macros_release(struct tv_sql_macros *macros)
{
    for (size_t i = 0; i < macros->count; i++)
        macro_release(&macros->items[i]);
    tv_free(macros->items);
    *macros = (struct tv_sql_macros){0};
}

/* Keep "MACRO name(x T, ...) RETURNS T AS body" after CREATE PERFETTO, in place of an older one.
 */
static void rewrite_create_macro(struct sql_rewriter *rewriter, const char *at, const char *end)
{
    struct tv_sql_macros *macros = rewriter->macros;
    struct tv_sql_macro made = {0};
    const char *name = tv_sql_skip_space(at), *behind = tv_sql_token_end(name);
    const char *list = tv_sql_skip_space(behind);
    const char *list_end = *list == '(' ? tv_sql_list_end(list, end) : list;
    bool is_table, is_name = true;
    size_t capacity = 0;
    at = list < list_end ? tv_sql_skip_space(list + 1) : list_end;
    for (; at < list_end - 1; at = tv_sql_skip_space(at)) {
        const char *next = tv_sql_token_end(at);
        if (is_name && tv_sql_is_word(*at)) {
            made.parameters = tv_array_reserve(made.parameters, &capacity, made.parameter_count + 1,
                                               sizeof *made.parameters);
            made.parameters[made.parameter_count++] = rewrite_copy(at, next);
        }
        is_name = *at == ',';
        at = next;
    }
    made.name = rewrite_copy(name, behind);
    made.body = rewrite_copy(rewrite_skip_returns(list_end, end, &is_table), end);
    for (size_t i = 0; i < macros->count; i++)
        if (strcasecmp(macros->items[i].name, made.name) == 0) {
            macro_release(&macros->items[i]);
            macros->items[i] = made;
            return;
        }
    macros->items =
        tv_array_reserve(macros->items, &macros->capacity, macros->count + 1, sizeof made);
    macros->items[macros->count++] = made;
}

/* Perfetto's modules whose tables and macros are in the prelude. */
static const char *const rewrite_modules[] = {
    "android.memory.heap_graph.class_summary_tree",
    "android.memory.heap_graph.heap_graph_class_aggregation",
    "android.memory.heap_profile.summary_tree",
    "counters.intervals",
    "linux.cpu.frequency",
    "linux.cpu.utilization.system",
    "linux.perf.samples",
    "sched.runnable",
    "sched.states",
    "slices.cpu_time",
    "slices.flow",
    "slices.hierarchy",
    "slices.self_dur",
    "slices.stack",
    "slices.time_in_state",
    "slices.with_context",
    "time.conversion",
    "prelude", /* the last one, which everybody has */
};

/* A message has room for so many of them, and for a name of this length. */
#define MAX_LISTED_MODULES 8u
#define MAX_NAMED_MODULE 80u

/* Fail because of an unknown module, and list the first of those that are there. */
static enum tv_status rewrite_fail_module(struct sql_rewriter *rewriter, struct tv_bytes name)
{
    struct tv_out list;
    tv_out_init_memory(&list);
    for (size_t i = 0; i < MAX_LISTED_MODULES; i++)
        tv_out_format(&list, "%s%s", i == 0 ? "" : ", ", rewrite_modules[i]);
    tv_out_format(&list, ", and %zu more (docs/sql.md)",
                  TV_COUNT(rewrite_modules) - 1 - MAX_LISTED_MODULES);
    enum tv_status status =
        tv_fail(rewriter->err, TV_ERR_USAGE, TV_NO_OFFSET,
                "SQL: there is no module %.*s; of Perfetto's, there are %.*s",
                (int)(name.length < MAX_NAMED_MODULE ? name.length : MAX_NAMED_MODULE),
                (const char *)name.data, (int)list.length, (const char *)list.buffer);
    tv_out_release(&list);
    return status;
}

/* Check the name of "INCLUDE PERFETTO MODULE name". */
static enum tv_status rewrite_include(struct sql_rewriter *rewriter, const char *at,
                                      const char *end)
{
    const char *name = tv_sql_skip_space(at);
    size_t length = 0;
    while (name + length < end && (tv_sql_is_word(name[length]) || strchr(".*", name[length])))
        length++;
    bool is_there = memchr(name, '*', length) != NULL;
    for (size_t i = 0; i < TV_COUNT(rewrite_modules) && !is_there; i++)
        is_there = strlen(rewrite_modules[i]) == length &&
                   strncasecmp(rewrite_modules[i], name, length) == 0;
    rewrite_put_nothing(rewriter);
    return is_there
               ? TV_OK
               : rewrite_fail_module(rewriter, (struct tv_bytes){(const uint8_t *)name, length});
}

/* ---- Span joins ---- */

struct sql_span {
    const char *table, *table_end;
    const char *column, *column_end; /* column of PARTITIONED; NULL: none */
};

static const char *rewrite_take_span(struct sql_span *span, const char *at)
{
    span->table = tv_sql_skip_space(at);
    span->table_end = at = tv_sql_token_end(span->table);
    if (tv_sql_take_word(&at, "partitioned")) {
        span->column = tv_sql_skip_space(at);
        span->column_end = at = tv_sql_token_end(span->column);
    }
    return tv_sql_skip_space(at);
}

/* Append the columns of a side but its times, and but the partition if `both` have it. */
static void rewrite_put_columns(struct sql_rewriter *rewriter, char side,
                                const struct sql_span *both)
{
    tv_out_format(&rewriter->out, "%c.* exclude (ts, dur, span_row, span_end", side);
    if (both) {
        tv_out_text(&rewriter->out, ", ");
        rewrite_put(rewriter, both->column, both->column_end);
    }
    tv_out_char(&rewriter->out, ')');
}

/* Append the spans of a side that the other one does not cover, with NULL for its columns. */
static void rewrite_put_gaps(struct sql_rewriter *rewriter, char side)
{
    tv_out_format(
        &rewriter->out,
        " union all by name select g.gap_ts as ts, coalesce(g.next_ts, %c.span_end) - g.gap_ts as "
        "dur, ",
        side);
    rewrite_put_columns(rewriter, side, NULL);
    tv_out_format(
        &rewriter->out,
        " from (select row_%c as row, to_ts as gap_ts, lead(from_ts) over (partition by row_%c "
        "order by from_ts) as next_ts from met union all select s.span_row, s.ts, (select "
        "min(from_ts) from met where row_%c = s.span_row) from %c s) g join %c on g.row = "
        "%c.span_row where coalesce(g.next_ts, %c.span_end) > g.gap_ts",
        side, side, side, side, side, side, side);
}

/* The sides of a span join, and whose spans it keeps where the other side has none. */
struct sql_span_join {
    struct sql_span a, b;
    bool keeps_a, keeps_b;
};

/* Read "USING SPAN_JOIN(a [PARTITIONED c], b [PARTITIONED c])"; false: it is something else. */
static bool rewrite_take_span_join(struct sql_span_join *join, const char *at, const char *end)
{
    if (!tv_sql_take_word(&at, "using"))
        return false;
    join->keeps_b = tv_sql_take_word(&at, "span_outer_join");
    join->keeps_a = join->keeps_b || tv_sql_take_word(&at, "span_left_join");
    if (!join->keeps_a && !tv_sql_take_word(&at, "span_join"))
        return false;
    at = tv_sql_skip_space(at);
    if (*at != '(' || *(at = rewrite_take_span(&join->a, at + 1)) != ',')
        return false;
    at = rewrite_take_span(&join->b, at + 1);
    return *at == ')' && at < end;
}

/* Append a side with a number and an end for each span. */
static void rewrite_put_side(struct sql_rewriter *rewriter, char name, const struct sql_span *side)
{
    tv_out_format(
        &rewriter->out,
        "%c as materialized (select *, row_number() over () as span_row, case when dur < 0 "
        "then trace_end() else ts + dur end as span_end from ",
        name);
    rewrite_put(rewriter, side->table, side->table_end);
    tv_out_text(&rewriter->out, "), ");
}

/* Append the pairs that begin with a span of one side, while one of the other runs or begins. */
static void rewrite_put_met(struct sql_rewriter *rewriter, const struct sql_span_join *join,
                            bool begins_with_a)
{
    tv_out_format(
        &rewriter->out,
        "select a.span_row as row_a, b.span_row as row_b, greatest(a.ts, b.ts) as from_ts, "
        "least(a.span_end, b.span_end) as to_ts from %s on ",
        begins_with_a ? "a asof join b" : "b asof join a");
    if (join->a.column && join->b.column) {
        tv_out_text(&rewriter->out, "a.");
        rewrite_put(rewriter, join->a.column, join->a.column_end);
        tv_out_text(&rewriter->out, " = b.");
        rewrite_put(rewriter, join->b.column, join->b.column_end);
        tv_out_text(&rewriter->out, " and ");
    }
    tv_out_text(&rewriter->out, begins_with_a ? "a.ts >= b.ts where b.span_end > a.ts"
                                              : "b.ts > a.ts where a.span_end > b.ts");
}

/*
 * Rewrite what is after CREATE VIRTUAL TABLE.  Spans of a side do not overlap within a
 * partition, so two that meet do so at the start of one of them: an ordered (ASOF) join finds the
 * other one.
 *
 *     a  |----1----|    |--2--|          met: (1,4) (1,5) (2,5), each from the later start
 *     b      |-4-| |-----5-----|              to the earlier end
 */
static enum tv_status rewrite_span_join(struct sql_rewriter *rewriter, const char *at,
                                        const char *end)
{
    const char *name = tv_sql_skip_space(at), *name_end = tv_sql_token_end(name);
    struct sql_span_join join = {0};
    if (!rewrite_take_span_join(&join, name_end, end))
        return tv_fail(rewriter->err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "SQL: virtual tables are span joins here: CREATE VIRTUAL TABLE x USING "
                       "SPAN_JOIN(a PARTITIONED utid, b PARTITIONED utid)");
    tv_out_text(&rewriter->out, "create or replace temp view ");
    rewrite_put(rewriter, name, name_end);
    tv_out_text(&rewriter->out, " as with ");
    rewrite_put_side(rewriter, 'a', &join.a);
    rewrite_put_side(rewriter, 'b', &join.b);
    tv_out_text(&rewriter->out, "met as materialized (");
    rewrite_put_met(rewriter, &join, true);
    tv_out_text(&rewriter->out, " union all ");
    rewrite_put_met(rewriter, &join, false);
    tv_out_text(&rewriter->out, ") select met.from_ts as ts, met.to_ts - met.from_ts as dur, ");
    rewrite_put_columns(rewriter, 'a', NULL);
    tv_out_text(&rewriter->out, ", ");
    rewrite_put_columns(rewriter, 'b', join.a.column && join.b.column ? &join.b : NULL);
    tv_out_text(&rewriter->out,
                " from met join a on met.row_a = a.span_row join b on met.row_b = b.span_row");
    if (join.keeps_a)
        rewrite_put_gaps(rewriter, 'a');
    if (join.keeps_b)
        rewrite_put_gaps(rewriter, 'b');
    return TV_OK;
}

/* ---- Statements ---- */

/* Rewrite what is after CREATE PERFETTO. */
static enum tv_status rewrite_create(struct sql_rewriter *rewriter, const char *at, const char *end)
{
    if (tv_sql_take_word(&at, "table"))
        return rewrite_create_relation(rewriter, "table", at, end);
    if (tv_sql_take_word(&at, "view"))
        return rewrite_create_relation(rewriter, "view", at, end);
    if (tv_sql_take_word(&at, "function"))
        return rewrite_create_function(rewriter, at, end);
    if (tv_sql_take_word(&at, "macro"))
        rewrite_create_macro(rewriter, at, end);
    else if (!tv_sql_take_word(&at, "index"))
        return tv_fail(rewriter->err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "SQL: CREATE PERFETTO is known with TABLE, VIEW, FUNCTION, MACRO and INDEX");
    rewrite_put_nothing(rewriter);
    return TV_OK;
}

static const char *const rewrite_tracks[] = {"thread_track", "process_track", NULL};
static const char *const rewrite_counter_tracks[] = {"process_counter_track", NULL};
static const char *const rewrite_all_tracks[] = {"thread_track", "process_track",
                                                 "process_counter_track", NULL};

const struct tv_sql_fuller_table tv_sql_fuller_tables[] = {
    {"slice", "track_slice", rewrite_tracks},
    {"slices", "track_slice", rewrite_tracks},
    {"instant", "track_instant", rewrite_tracks},
    {"track", "bare_track", rewrite_all_tracks},
    {"counter_track", "bare_counter_track", rewrite_counter_tracks},
    {NULL, NULL, NULL},
};

int tv_sql_fuller_table(const char *at, const char *end)
{
    int i = (int)TV_COUNT(tv_sql_fuller_tables) - 1;
    while (--i >= 0) {
        const char *name = tv_sql_fuller_tables[i].name;
        if (strlen(name) == (size_t)(end - at) && strncasecmp(name, at, strlen(name)) == 0)
            break;
    }
    return i;
}

/* Note the table or view that a statement creates or drops: in later statements its name is no
 * longer that of ours, or is again. */
static void rewrite_note_names(struct tv_sql_macros *macros, const char *at)
{
    static const char *const before[] = {"or", "replace", "temp", "temporary", "local", "perfetto"};
    bool is_made = tv_sql_take_word(&at, "create");
    if (!is_made && !tv_sql_take_word(&at, "drop"))
        return;
    for (size_t i = 0; i < TV_COUNT(before); i++)
        (void)tv_sql_take_word(&at, before[i]);
    if (!tv_sql_take_word(&at, "view") && !tv_sql_take_word(&at, "table"))
        return;
    if (tv_sql_take_word(&at, "if")) {
        (void)tv_sql_take_word(&at, "not");
        (void)tv_sql_take_word(&at, "exists");
    }
    at = tv_sql_skip_space(at);
    const char *end = tv_sql_token_end(at);
    bool is_quoted = *at == '"' && end - at > 1;
    int name = tv_sql_fuller_table(at + is_quoted, end - is_quoted);
    unsigned bit = name < 0 ? 0 : 1u << name;
    macros->own_tables &= ~bit;
    macros->own_tables |= is_made ? bit : 0;
}

/* Rewrite the statement that ends at `end`; what is not Perfetto's own is copied. */
static enum tv_status rewrite_statement(struct sql_rewriter *rewriter, const char *end)
{
    const char *at = rewriter->at;
    if (tv_sql_take_word(&at, "include") && tv_sql_take_word(&at, "perfetto") &&
        tv_sql_take_word(&at, "module"))
        return rewrite_include(rewriter, at, end);
    at = rewriter->at;
    if (tv_sql_take_word(&at, "create")) {
        const char *behind = at;
        if (tv_sql_take_word(&behind, "virtual") && tv_sql_take_word(&behind, "table"))
            return rewrite_span_join(rewriter, behind, end);
        if (tv_sql_take_word(&at, "or"))
            (void)tv_sql_take_word(&at, "replace");
        if (tv_sql_take_word(&at, "perfetto"))
            return rewrite_create(rewriter, at, end);
    }
    return rewrite_expand(rewriter, rewriter->at, end);
}

enum tv_status tv_sql_rewrite(struct tv_sql_macros *macros, const char *text, char **rewritten,
                              struct tv_error *err)
{
    struct sql_rewriter rewriter = {.macros = macros, .at = text, .err = err};
    enum tv_status status = TV_OK;
    tv_out_init_memory(&rewriter.out);
    while (*rewriter.at && status == TV_OK) {
        const char *end = tv_sql_statement_end(rewriter.at);
        status = rewrite_statement(&rewriter, end);
        rewrite_note_names(macros, rewriter.at);
        if (*end == ';')
            tv_out_char(&rewriter.out, ';');
        rewriter.at = *end == ';' ? end + 1 : end;
    }
    tv_out_char(&rewriter.out, '\0');
    const char *made = (const char *)rewriter.out.buffer;
    if (status == TV_OK)
        *rewritten = rewrite_copy(made, made + rewriter.out.length - 1);
    tv_out_release(&rewriter.out);
    return status;
}
