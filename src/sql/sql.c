/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.c - the database, and running statements (sql.h).
 *
 *     scan.c     table functions, which read the trace
 *     views.c    views and macros over them, made when a statement names them
 *     rewrite.c  statements of PerfettoSQL in the words of DuckDB
 *     watch.c    the time that statements may take
 */
#include "sql/sql.h"
#include "sql/rewrite.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "readers/reader.h"
#include "sql/statement.h"
#include "sql/tables.h"
#include "sql/values.h"
#include "sql/watch.h"
#include "writers/text/names.h"

struct tv_sql {
    duck_database database;
    duck_connection connection;
    struct tv_sql_watch watch;
    struct tv_sql_data data;
    struct tv_read_limit limit; /* of the data */
    bool has_trace;
    struct tv_sql_scanned *scanned;
    bool *made, *named; /* for each view and macro of the prelude (views.c) */
    bool allows_files;
    bool has_creations;               /* a query has created or dropped something */
    char picture[TV_SQL_MAX_PICTURE]; /* picture of the last error */
    char quoted[120], ungrouped[120]; /* as in tv_sql_output */
    struct tv_sql_macros macros;
};

/* ---- Errors ---- */

/* Fail with DuckDB's message on one line, without the picture of the query after it. */
static enum tv_status sql_fail(struct tv_error *err, const char *why)
{
    char text[sizeof err->message];
    size_t length = 0;
    if (!why)
        why = "unknown error";
    const char *picture = strstr(why, "\n\n");
    for (; *why && why != picture && length + 1 < sizeof text; why++) {
        char shown = strchr("\n\r\t", *why) ? ' ' : *why;
        if (shown != ' ' || (length > 0 && text[length - 1] != ' ')) /* several blanks are one */
            text[length++] = shown;
    }
    text[length] = '\0';
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: %s", text);
}

static const char sql_unknown_column[] = "Binder Error: Referenced column \"";

/* Fail like sql_fail, and keep the picture: the line of the query, and a mark under the place. */
static enum tv_status sql_fail_query(struct tv_sql *sql, struct tv_error *err, const char *why)
{
    const char *picture = why ? strstr(why, "\n\nLINE ") : NULL;
    char name[80]; /* in double quotes, which the query has if it means a text */
    snprintf(sql->picture, sizeof sql->picture, "%s", picture ? picture + 2 : "");
    if (why &&
        (tv_sql_fail_absent(err, why) || (!sql->allows_files && tv_sql_fail_files(err, why))))
        return TV_ERR_USAGE;
    if (!why || strncmp(why, sql_unknown_column, sizeof sql_unknown_column - 1) != 0)
        return sql_fail(err, why);
    const char *column = why + sizeof sql_unknown_column - 1;
    snprintf(name, sizeof name, "\"%.*s\"", (int)strcspn(column, "\""), column);
    if (!strstr(sql->picture, name))
        return sql_fail(err, why);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "SQL: there is no column %s; texts stand in single quotes", name);
}

/* ---- The database ---- */

/* Run our own statements. */
static enum tv_status sql_execute(struct tv_sql *sql, const char *text, struct tv_error *err)
{
    duck_result result;
    enum tv_status status = TV_OK;
    if (tv_duck.query(sql->connection, text, &result) != 0)
        status = sql_fail(err, tv_duck.result_error(&result));
    tv_duck.destroy_result(&result);
    return status;
}

static enum tv_status sql_configure(struct tv_sql *sql, const struct tv_sql_options *options,
                                    struct tv_error *err)
{
    duck_config config;
    char threads[16], memory[32], *why = NULL;
    snprintf(threads, sizeof threads, "%u",
             options->threads > 0 ? options->threads : tv_workers_available());
    snprintf(memory, sizeof memory, "%lluMB", (unsigned long long)(options->max_memory >> 20));
    if (tv_duck.create_config(&config) != 0)
        return sql_fail(err, "the database cannot be configured");
    tv_duck.set_config(config, "threads", threads);
    if (options->max_memory > 0)
        tv_duck.set_config(config, "memory_limit", memory);
    tv_duck.set_config(config, "autoinstall_known_extensions", "false");
    tv_duck.set_config(config, "autoload_known_extensions", "false");
    tv_duck.set_config(config, "temp_directory", "");
    tv_duck.set_config(config, "secret_directory", "/"); /* its default names the user's home */
    enum tv_status status = TV_OK;
    if (tv_duck.open_ext(":memory:", &sql->database, config, &why) != 0) {
        status = sql_fail(err, why);
        tv_duck.free(why);
    } else if (tv_duck.connect(sql->database, &sql->connection) != 0) {
        status = sql_fail(err, "no connection to the database");
    }
    tv_duck.destroy_config(&config);
    return status;
}

static enum tv_status sql_add_tables(struct tv_sql *sql, struct tv_error *err)
{
    size_t count = tv_sql_table_count, views = tv_sql_view_count();
    sql->scanned = tv_alloc(count + 2, sizeof *sql->scanned);
    for (size_t i = 0; i < count; i++)
        sql->scanned[i] = (struct tv_sql_scanned){&sql->data, tv_sql_tables[i], TV_SQL_ALL_ROWS};
    sql->scanned[count] = (struct tv_sql_scanned){&sql->data, &tv_sql_slice_table, TV_SQL_SLICES};
    sql->scanned[count + 1] =
        (struct tv_sql_scanned){&sql->data, &tv_sql_slice_table, TV_SQL_RANGE};
    for (size_t i = 0; i < count + 2; i++)
        if (!tv_sql_register_table(sql->connection, &sql->scanned[i]))
            return sql_fail(err, "a table cannot be registered");
    if (!tv_sql_register_arguments(sql->connection, &sql->data) ||
        !tv_sql_register_parents(sql->connection, &sql->data) ||
        !tv_sql_register_stacks(sql->connection, &sql->data))
        return sql_fail(err, "a function cannot be registered");
    sql->made = tv_alloc(views, sizeof *sql->made);
    sql->named = tv_alloc(views, sizeof *sql->named);
    char *nothing;
    enum tv_status status = /* keeps the macros */
        tv_sql_rewrite(&sql->macros, tv_sql_macro_prelude, &nothing, err);
    if (status == TV_OK)
        tv_free(nothing);
    return status;
}

/* Make the views and macros that statements name, as far as they are not there. */
static enum tv_status sql_make_views(struct tv_sql *sql, const char *text, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (!sql->has_trace)
        return TV_OK;
    tv_sql_views_named(text, sql->named);
    for (size_t i = 0; i < tv_sql_view_count() && status == TV_OK; i++) {
        struct tv_out statement;
        if (sql->made[i] || !sql->named[i])
            continue;
        tv_out_init_memory(&statement);
        tv_sql_view_statement(i, &statement);
        status = sql_execute(sql, tv_sql_end(&statement), err);
        tv_out_release(&statement);
        sql->made[i] = status == TV_OK; /* not if it was interrupted */
    }
    return status;
}

/* Run a statement of ours, with the folder as a text in its gap. */
static enum tv_status sql_set_folder(struct tv_sql *sql, const char *statement, const char *folder,
                                     struct tv_error *err)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    TV_DUCK_PUT(&text, statement, TV_SQL_TEXT(tv_bytes_of(folder)));
    enum tv_status status = sql_execute(sql, tv_sql_end(&text), err);
    tv_out_release(&text);
    return status;
}

/* Let queries read the files of a folder, and no others, and run the statements of the options. */
static enum tv_status sql_add_folder(struct tv_sql *sql, const struct tv_sql_options *options,
                                     struct tv_error *err)
{
    enum tv_status status = sql_set_folder(sql, "set variable folder = ?", options->folder, err);
    if (status == TV_OK)
        status = sql_set_folder(sql, "set allowed_directories = [?]", options->folder, err);
    if (status == TV_OK) /* views are made of the same files as questions */
        status = sql_execute(sql, "set parquet_metadata_cache = true", err);
    for (size_t i = 0; options->statements && options->statements[i] && status == TV_OK; i++)
        status = sql_execute(sql, options->statements[i], err);
    return status;
}

/* Begin with the data of a trace.  Rows that the tables keep are limited. */
static void sql_init_data(struct tv_sql *sql, const struct tv_trace *trace)
{
    tv_sql_data_init(&sql->data, trace);
    sql->data.limit = &sql->limit;
    sql->limit.bytes = 0;
}

enum tv_status tv_sql_open(const struct tv_trace *trace, const struct tv_sql_options *options,
                           struct tv_sql **sql, struct tv_error *err)
{
    assert(tv_duck.query);
    struct tv_sql *made = tv_alloc(1, sizeof *made);
    made->allows_files = options->allow_files;
    made->watch.stop = &made->limit.stop;
    enum tv_status status = sql_configure(made, options, err);
    if (status == TV_OK)
        status = tv_sql_watch_start(&made->watch, made->connection, options, err);
    if (status == TV_OK && trace) {
        sql_init_data(made, trace);
        made->limit.max_bytes = options->max_memory;
        made->has_trace = true;
        status = sql_add_tables(made, err);
    }
    if (status == TV_OK)
        status = sql_execute(made, "set integer_division = true", err);
    if (status == TV_OK) /* a text in double quotes may be one (quoted.c) */
        status = sql_execute(made, "set order_by_non_integer_literal = true", err);
    if (status == TV_OK && options->folder)
        status = sql_add_folder(made, options, err);
    /* Locks come last, so that queries cannot change them. */
    if (status == TV_OK && !options->allow_files)
        status = sql_execute(made, "set enable_external_access = false", err);
    if (status == TV_OK)
        status = sql_execute(made, "set lock_configuration = true", err);
    if (status != TV_OK) {
        tv_sql_close(made);
        made = NULL;
    }
    *sql = made;
    return status;
}

enum tv_status tv_sql_reopen(const struct tv_trace *trace, const struct tv_sql_options *options,
                             struct tv_sql **sql, struct tv_error *err)
{
    struct tv_sql *old = *sql;
    if (!old || old->has_creations || !old->has_trace) {
        tv_sql_close(old);
        return tv_sql_open(trace, options, sql, err);
    }
    tv_sql_data_release(&old->data);
    sql_init_data(old, trace);
    memset(old->made, 0, tv_sql_view_count()); /* they are about the names of the old trace */
    return TV_OK;
}

void tv_sql_close(struct tv_sql *sql)
{
    if (!sql)
        return;
    tv_sql_watch_end(&sql->watch);
    if (sql->connection)
        tv_duck.disconnect(&sql->connection);
    if (sql->database)
        tv_duck.close(&sql->database);
    if (sql->has_trace)
        tv_sql_data_release(&sql->data);
    tv_sql_macros_release(&sql->macros);
    tv_free(sql->scanned);
    tv_free(sql->made);
    tv_free(sql->named);
    tv_free(sql);
}

/* ---- Statements ---- */

/* Settings and extensions stay out of reach also where files are allowed. */
static bool sql_is_allowed(const struct tv_sql *sql, int statement)
{
    static const int with_files[] = {DUCK_INSERT, DUCK_UPDATE, DUCK_DELETE, DUCK_ALTER,
                                     DUCK_COPY,   DUCK_ATTACH, DUCK_DETACH};
    for (size_t i = 0; sql->allows_files && i < TV_COUNT(with_files); i++)
        if (statement == with_files[i])
            return true;
    return statement == DUCK_SELECT || statement == DUCK_EXPLAIN || statement == DUCK_CREATE ||
           statement == DUCK_CREATE_FUNCTION || statement == DUCK_DROP;
}

/* Fail as the result of a statement does. */
static enum tv_status sql_fail_result(struct tv_sql *sql, duck_result *result, struct tv_error *err)
{
    if (tv_duck.result_error_type(result) == DUCK_OUT_OF_MEMORY || sql->limit.is_exceeded)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, TV_SQL_NO_MEMORY);
    return sql_fail_query(sql, err, tv_duck.result_error(result));
}

/* Receiver of the rows of the last statement, or also of each SELECT and EXPLAIN. */
struct sql_taker {
    tv_sql_take *take;
    void *context;
    bool all;
};

/* More texts in double quotes, and columns without a group, are hardly meant. */
#define MAX_SQLITE_NAMES 256

/* Statements of one text that run one after the other. */
struct sql_script {
    char *text; /* rewritten; of those before `number`, perhaps the line ends alone */
    duck_statements statements;
    uint64_t number, count; /* the next one of `statements`, and how many they are */
};

static void sql_script_release(struct sql_script *script)
{
    tv_duck.destroy_extracted(&script->statements);
    tv_free(script->text);
}

/* Prepare the next statement, as it stands in a text.  A statement can be prepared once. */
static int sql_prepare_in(struct tv_sql *sql, struct sql_script *script, const char *text,
                          duck_prepared *prepared)
{
    tv_duck.destroy_prepare(prepared);
    tv_duck.destroy_extracted(&script->statements);
    (void)tv_duck.extract_statements(sql->connection, text, &script->statements);
    return tv_duck.prepare_extracted_statement(sql->connection, script->statements, script->number,
                                               prepared);
}

/* Return where the next statement begins; NULL: DuckDB divides the text elsewhere than we do
 * ($$;$$). */
static const char *sql_script_find(struct tv_sql *sql, const struct sql_script *script)
{
    const char *rest = script->text;
    duck_statements statements;
    for (uint64_t i = 0; i < script->number; rest += *rest == ';') {
        const char *begin = tv_sql_skip_space(rest);
        rest = tv_sql_statement_end(begin);
        i += rest > begin;
        if (*rest == '\0')
            break;
    }
    uint64_t count = tv_duck.extract_statements(sql->connection, rest, &statements);
    tv_duck.destroy_extracted(&statements);
    return count == script->count - script->number ? rest : NULL;
}

/* Remove the statements that have run, so that places in DuckDB's errors are right: of a later
 * statement, they are wrong.  Lines keep their numbers.  False: they cannot be told apart. */
static bool sql_script_shorten(struct tv_sql *sql, struct sql_script *script)
{
    const char *rest = sql_script_find(sql, script);
    if (!rest)
        return false;
    char *end = script->text;
    for (const char *at = script->text; at < rest; at++)
        if (*at == '\n' || *at == '\r')
            *end++ = *at;
    rest += strspn(rest, " \t");
    memmove(end, rest, strlen(rest) + 1);
    script->count -= script->number;
    script->number = 0;
    return true;
}

/* Return why DuckDB did not prepare a statement; empty for what it cannot parse: a comment after
 * E'\'' looks like a text to our scanner, and becomes lines that DuckDB divides differently. */
static const char *sql_prepare_error(duck_prepared prepared)
{
    const char *why = tv_duck.prepare_error(prepared);
    return why ? why : "";
}

/* Add a name in double quotes to a list. */
static void sql_note_name(char *list, size_t size, const char *name, size_t length)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s\"%.*s\"", used > 0 ? ", " : "", (int)length, name);
}

/* If DuckDB's error is that a name in double quotes is no column, return the text with that name as
 * a text; NULL: it is not. */
static char *sql_take_text(struct tv_sql *sql, struct sql_script *script, duck_prepared *prepared)
{
    char *lines = tv_sql_line_names(script->text, NULL), *text = NULL;
    const char *why = "";
    if (sql_prepare_in(sql, script, lines, prepared) != 0)
        why = sql_prepare_error(*prepared);
    int number = tv_sql_find_unknown_name(lines, why);
    const char *name = strchr(why, '"');
    if (number >= 0 && name) {
        name++;
        sql_note_name(sql->quoted, sizeof sql->quoted, name, strcspn(name, "\""));
        text = tv_sql_name_to_text(script->text, number);
    }
    tv_free(lines);
    return text;
}

/* If DuckDB's error is that a column is not grouped, return the text with an aggregate of it; NULL:
 * it is not. */
static char *sql_take_any_value(struct tv_sql *sql, struct sql_script *script,
                                duck_prepared *prepared)
{
    char name[80], *text = NULL;
    if (!tv_sql_find_ungrouped(sql_prepare_error(*prepared), name, sizeof name))
        return NULL;
    char *lines = tv_sql_line_names(script->text, name);
    int number = -1;
    if (sql_prepare_in(sql, script, lines, prepared) != 0)
        number = tv_sql_find_ungrouped_place(lines, name, sql_prepare_error(*prepared));
    if (number >= 0)
        text = tv_sql_aggregate_column(script->text, name, number);
    if (text)
        sql_note_name(sql->ungrouped, sizeof sql->ungrouped, name, strlen(name));
    tv_free(lines);
    return text;
}

/* Prepare a statement again, with its quoted names that are no columns as texts, and a value for
 * each column that is not grouped, as SQLite takes them.  If that does not help, the error is about
 * the text without these values, which nobody has typed. */
static int sql_prepare_as_sqlite(struct tv_sql *sql, struct sql_script *script,
                                 duck_prepared *prepared)
{
    char *typed = NULL; /* the text before the first column got a value */
    int status = sql_prepare_in(sql, script, script->text, prepared);
    for (int count = 0; status != 0 && count < MAX_SQLITE_NAMES; count++) {
        bool is_grouped = false;
        char *text = sql_take_any_value(sql, script, prepared);
        if (!text && (is_grouped = true))
            text = sql_take_text(sql, script, prepared);
        if (!text)
            break;
        if (!is_grouped && !typed)
            typed = script->text;
        else
            tv_free(script->text);
        script->text = text;
        status = sql_prepare_in(sql, script, script->text, prepared);
    }
    if (status != 0 && typed) {
        tv_free(script->text);
        script->text = typed;
        typed = NULL;
        sql->ungrouped[0] = '\0';
    }
    tv_free(typed);
    return status == 0 ? 0 : sql_prepare_in(sql, script, script->text, prepared);
}

/* Prepare the next statement; if it is wrong, do so again as SQLite would take it, and with all
 * views, so that the error can name one of them. */
static int sql_prepare(struct tv_sql *sql, struct sql_script *script, duck_prepared *prepared)
{
    struct tv_error unused;
    if (tv_duck.prepare_extracted_statement(sql->connection, script->statements, script->number,
                                            prepared) == 0)
        return 0;
    bool is_first = script->number == 0 || sql_script_shorten(sql, script);
    if (is_first && sql_prepare_as_sqlite(sql, script, prepared) == 0)
        return 0;
    if (!sql->has_trace || sql_make_views(sql, TV_SQL_ALL_VIEWS, &unused) != TV_OK)
        return 1;
    return sql_prepare_in(sql, script, script->text, prepared);
}

/* ---- Rows ---- */

/* Has an answer a column of a type that is not written: lists, dates, bytes ...? */
static bool sql_needs_texts(duck_prepared prepared)
{
    bool needs = false;
    uint64_t count = tv_duck.prepared_statement_column_count(prepared);
    for (uint64_t i = 0; i < count && i < TV_SQL_MAX_COLUMNS; i++)
        needs = needs || !tv_sql_is_written(tv_duck.prepared_statement_column_type(prepared, i));
    return needs;
}

/* Append a query for the rows of the query from `at` to `end`, in which the columns of such types
 * are texts. */
static void sql_put_texts(struct tv_out *text, duck_prepared query, const char *at, const char *end)
{
    uint64_t count = tv_duck.prepared_statement_column_count(query);
    for (uint64_t i = 0; i < count; i++) {
        bool is_written = tv_sql_is_written(tv_duck.prepared_statement_column_type(query, i));
        char *name = tv_duck.prepared_statement_column_name(query, i);
        tv_out_format(text, is_written ? "%s c%d" : "%s cast(c%d as varchar)",
                      i == 0 ? "select" : ",", (int)i);
        TV_DUCK_PUT(text, " as ?", TV_SQL_NAME(name ? name : ""));
        if (name)
            tv_duck.free(name);
    }
    tv_out_text(text, " from (\n");
    tv_out_bytes(text, (struct tv_bytes){(const uint8_t *)at, (size_t)(end - at)});
    tv_out_text(text, "\n) as tv_rows(");
    for (uint64_t i = 0; i < count; i++)
        tv_out_format(text, "%sc%d", i == 0 ? "" : ", ", (int)i);
    tv_out_char(text, ')');
}

/* Prepare a statement again, with texts in place of values that are not written.  NULL: it cannot
 * be. */
static duck_prepared sql_prepare_rows_as_texts(struct tv_sql *sql, const struct sql_script *script,
                                               duck_prepared query)
{
    const char *at = sql_script_find(sql, script);
    duck_prepared prepared = NULL;
    duck_statements statements;
    struct tv_out text;
    if (!at)
        return NULL;
    tv_out_init_memory(&text);
    sql_put_texts(&text, query, at, tv_sql_statement_end(tv_sql_skip_space(at)));
    (void)tv_duck.extract_statements(sql->connection, tv_sql_end(&text), &statements);
    if (tv_duck.prepare_extracted_statement(sql->connection, statements, 0, &prepared) != 0)
        tv_duck.destroy_prepare(&prepared);
    tv_duck.destroy_extracted(&statements);
    tv_out_release(&text);
    return prepared;
}

/* Run a statement whose rows are taken while they are found.  The types of its columns are known
 * before, so it runs once: it may take long, and advance a sequence. */
static enum tv_status sql_take_rows(struct tv_sql *sql, const struct sql_script *script,
                                    duck_prepared prepared, const struct sql_taker *taker,
                                    struct tv_error *err)
{
    duck_result result;
    enum tv_status status = TV_OK;
    duck_prepared texts =
        sql_needs_texts(prepared) ? sql_prepare_rows_as_texts(sql, script, prepared) : NULL;
    if (tv_duck.execute_prepared_streaming(texts ? texts : prepared, &result) != 0)
        status = sql_fail_result(sql, &result, err);
    else
        status = taker->take(taker->context, &result, err);
    const char *why = status == TV_OK ? tv_duck.result_error(&result) : NULL;
    if (why && why[0])
        status = sql_fail_result(sql, &result, err);
    tv_duck.destroy_result(&result);
    if (texts)
        tv_duck.destroy_prepare(&texts);
    return status;
}

static enum tv_status sql_run_statement(struct tv_sql *sql, const struct sql_script *script,
                                        duck_prepared prepared, const struct sql_taker *taker,
                                        struct tv_error *err)
{
    duck_result result;
    enum tv_status status = TV_OK;
    bool is_last = script->number + 1 == script->count;
    int type = tv_duck.prepared_statement_type(prepared);
    if (!sql_is_allowed(sql, type))
        return sql_fail(err,
                        sql->allows_files
                            ? "settings, extensions and transactions are not allowed here"
                            : "only SELECT, EXPLAIN, CREATE and DROP are allowed here; the "
                              "command `sql --allow-files` lets others change tables and files");
    if (type != DUCK_SELECT) /* EXPLAIN ANALYZE creates, too */
        sql->has_creations = true;
    bool asks = type == DUCK_SELECT || type == DUCK_EXPLAIN;
    bool creates = type == DUCK_CREATE || type == DUCK_CREATE_FUNCTION || type == DUCK_DROP;
    if (taker->all ? asks || (is_last && !creates) : is_last)
        return sql_take_rows(sql, script, prepared, taker, err);
    if (tv_duck.execute_prepared(prepared, &result) != 0)
        status = sql_fail_result(sql, &result, err);
    tv_duck.destroy_result(&result);
    return status;
}

/* More names without AS than this are hardly meant. */
#define MAX_NAMES_WITHOUT_AS 64

/* Add AS before one name that the parser refuses; NULL: that is not what is wrong. */
static char *sql_add_as(struct tv_sql *sql, const char *text)
{
    duck_statements statements;
    char word[64], *added = NULL;
    if (tv_duck.extract_statements(sql->connection, text, &statements) == 0) {
        const char *why = tv_duck.extract_statements_error(statements);
        if (why && tv_sql_find_refused_word(why, word, sizeof word)) {
            duck_statements again;
            char *lines = tv_sql_line_names(text, word);
            (void)tv_duck.extract_statements(sql->connection, lines, &again);
            const char *line = tv_duck.extract_statements_error(again);
            added = line ? tv_sql_add_as(lines, word, line) : NULL;
            tv_duck.destroy_extracted(&again);
            tv_free(lines);
        }
    }
    tv_duck.destroy_extracted(&statements);
    return added;
}

/* Divide the text into statements.  If the parser refuses it, do so again with AS before names, as
 * SQLite takes them. */
static void sql_script_divide(struct tv_sql *sql, struct sql_script *script)
{
    script->count = tv_duck.extract_statements(sql->connection, script->text, &script->statements);
    char *text = script->text;
    for (int i = 0; script->count == 0 && i < MAX_NAMES_WITHOUT_AS; i++) {
        char *added = sql_add_as(sql, text);
        if (text != script->text)
            tv_free(text);
        text = added;
        if (!added)
            return; /* with the first error, about the text as it was typed */
        duck_statements statements;
        script->count = tv_duck.extract_statements(sql->connection, text, &statements);
        if (script->count > 0) {
            tv_duck.destroy_extracted(&script->statements);
            tv_free(script->text);
            script->statements = statements;
            script->text = text;
        } else {
            tv_duck.destroy_extracted(&statements);
        }
    }
    if (text != script->text)
        tv_free(text);
}

/* Run the statements of a rewritten text. */
static enum tv_status sql_run_statements(struct tv_sql *sql, struct sql_script *script,
                                         const struct sql_taker *taker, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    sql_script_divide(sql, script);
    if (script->count == 0) {
        const char *why = tv_duck.extract_statements_error(script->statements);
        status = sql_fail_query(sql, err, why ? why : "there is no statement");
    }
    for (; script->number < script->count && status == TV_OK; script->number++) {
        duck_prepared prepared;
        if (sql_prepare(sql, script, &prepared) != 0)
            status = sql_fail_query(sql, err, tv_duck.prepare_error(prepared));
        else
            status = sql_run_statement(sql, script, prepared, taker, err);
        tv_duck.destroy_prepare(&prepared);
    }
    return status;
}

/* The output of tv_sql_run. */
struct sql_writing {
    struct tv_sql_output *output;
    struct tv_out *out;
    uint32_t answers; /* written so far */
    bool is_list;     /* JSON: the arrays of several statements are in one */
};

/* Does the statement at `at` begin with one of these words?  NULL ends them. */
static bool sql_begins_with(const char *at, const char *const *words)
{
    bool found = false;
    for (; *words && !found; words++) {
        const char *word = at;
        found = tv_sql_take_word(&word, *words);
    }
    return found;
}

/* Has a text more than one statement whose rows are written?  As in sql_run_statement, a statement
 * that changes rows, whose answer is their number, counts as the last one alone. */
static bool sql_has_answers(const char *text)
{
    static const char *const never[] = {"create", "drop", "include", NULL};
    static const char *const last[] = {"alter",  "attach", "copy",     "delete", "detach",
                                       "insert", "merge",  "truncate", "update", NULL};
    size_t count = 0;
    for (const char *at = tv_sql_skip_space(text); *at;) {
        const char *end = tv_sql_statement_end(at);
        const char *next = tv_sql_skip_space(end + (*end == ';'));
        count += end > at && !sql_begins_with(at, never) &&
                 (*next == '\0' || !sql_begins_with(at, last));
        at = next;
    }
    return count > 1;
}

/* Write an answer, with an empty line before it if it is not the first one of a text, or as an
 * element of the list. */
static enum tv_status sql_write(void *context, duck_result *result, struct tv_error *err)
{
    struct sql_writing *writing = context;
    const struct tv_sql_rows rows = {.result = result};
    enum tv_sql_format format = writing->output->format;
    bool is_text = format != TV_SQL_JSON && format != TV_SQL_JSONL;
    bool is_first = writing->answers++ == 0;
    if (!is_first)
        writing->output->headed = false;
    if (writing->is_list)
        tv_out_text(writing->out, is_first ? "[\n" : ",\n");
    else if (!is_first && is_text && tv_duck.column_count(result) > 0)
        tv_out_char(writing->out, '\n');
    enum tv_status status = tv_sql_write_result(writing->out, &rows, writing->output, err);
    if (format == TV_SQL_JSON && !writing->is_list && !writing->output->one_array)
        tv_out_char(writing->out, '\n');
    return status;
}

/* Add to an error that quoted names were taken as texts: they may be its reason. */
static void sql_explain_quoted(const struct tv_sql *sql, struct tv_error *err)
{
    size_t length = strlen(err->message);
    if (sql->quoted[0] != '\0')
        snprintf(err->message + length, sizeof err->message - length,
                 "; no columns, so taken as texts: %s", sql->quoted);
}

/* Rewrite and run the statements of a text. */
static enum tv_status sql_run_text(struct tv_sql *sql, const char *text,
                                   const struct sql_taker *taker, struct tv_error *err)
{
    struct sql_script script = {0};
    sql->picture[0] = sql->quoted[0] = sql->ungrouped[0] = '\0';
    enum tv_status status = tv_sql_rewrite(&sql->macros, text, &script.text, err);
    if (status != TV_OK)
        return status;
    sql->limit.stop = sql->limit.is_exceeded = false;
    tv_sql_watch_run(&sql->watch, true);
    status = sql_make_views(sql, script.text, err);
    if (status == TV_OK)
        status = sql_run_statements(sql, &script, taker, err);
    tv_sql_watch_run(&sql->watch, false);
    sql_script_release(&script);
    if (status != TV_OK) {
        sql_explain_quoted(sql, err);
        return tv_sql_watch_explain(&sql->watch, err);
    }
    if (sql->limit.is_exceeded)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, TV_SQL_NO_MEMORY);
    /* Tables of events and arguments read the files again, and end early where that fails. */
    return sql->has_trace ? tv_trace_check_sources(sql->data.trace, err) : TV_OK;
}

enum tv_status tv_sql_run(struct tv_sql *sql, const char *text, struct tv_sql_output *output,
                          struct tv_out *out, struct tv_error *err)
{
    struct sql_writing writing = {.output = output, .out = out};
    struct sql_taker taker = {sql_write, &writing, output->all};
    writing.is_list = output->format == TV_SQL_JSON && output->all && sql_has_answers(text);
    enum tv_status status = sql_run_text(sql, text, &taker, err);
    if (writing.is_list)
        tv_out_text(out, writing.answers > 0 ? "\n]\n" : "[]\n");
    memcpy(output->quoted, sql->quoted, sizeof output->quoted);
    memcpy(output->ungrouped, sql->ungrouped, sizeof output->ungrouped);
    return status;
}

void tv_sql_cancel(struct tv_sql *sql, bool cancelled)
{
    tv_sql_watch_cancel(&sql->watch, cancelled);
}

/* The receiver of tv_sql_for_each_row. */
struct sql_row_taker {
    uint64_t columns;
    tv_sql_take_row *take;
    void *context;
};

static enum tv_status sql_take_chunk(const struct sql_row_taker *taker,
                                     const struct tv_sql_columns *columns,
                                     const struct tv_sql_chunk *chunk, struct tv_error *err)
{
    struct tv_sql_value values[TV_SQL_MAX_COLUMNS];
    enum tv_status status = TV_OK;
    for (uint64_t row = 0; row < chunk->count && status == TV_OK; row++) {
        tv_sql_row_read(columns, chunk, row, values);
        status = taker->take(taker->context, values, err);
    }
    return status;
}

static enum tv_status sql_take_each(void *context, duck_result *result, struct tv_error *err)
{
    const struct sql_row_taker *taker = context;
    struct tv_sql_columns columns;
    struct tv_sql_chunk chunk;
    const struct tv_sql_rows rows = {.result = result};
    enum tv_status status = tv_sql_columns_list(&columns, &rows, err);
    assert(status != TV_OK || columns.count == taker->columns);
    while (status == TV_OK && tv_sql_chunk_fetch(&chunk, &rows, columns.count)) {
        status = sql_take_chunk(taker, &columns, &chunk, err);
        tv_sql_chunk_release(&chunk);
    }
    tv_sql_columns_release(&columns);
    return status;
}

enum tv_status tv_sql_for_each_row(struct tv_sql *sql, const char *text, uint64_t columns,
                                   tv_sql_take_row *take, void *context, struct tv_error *err)
{
    struct sql_row_taker rows = {columns, take, context};
    struct sql_taker taker = {sql_take_each, &rows, false};
    return sql_run_text(sql, text, &taker, err);
}

/* The output of tv_sql_answer. */
struct sql_answering {
    const struct tv_sql *sql;
    const struct tv_sql_bounds *bounds;
    struct tv_out *out;
};

/* Append a member with names to the object at the end of an answer, if there are some. */
static void sql_answer_names(struct tv_out *out, const char *key, const char *names)
{
    assert(out->length > 0 && out->buffer[out->length - 1] == '}');
    if (names[0] == '\0')
        return;
    out->length--;
    tv_json_put_text(out, ",", key, tv_bytes_of(names));
    tv_out_char(out, '}');
}

static enum tv_status sql_answer(void *context, duck_result *result, struct tv_error *err)
{
    const struct sql_answering *answering = context;
    enum tv_status status = tv_sql_write_answer(answering->out, result, answering->bounds, err);
    if (status == TV_OK) {
        sql_answer_names(answering->out, "quoted", answering->sql->quoted);
        sql_answer_names(answering->out, "ungrouped", answering->sql->ungrouped);
    }
    return status;
}

enum tv_status tv_sql_answer(struct tv_sql *sql, const char *text,
                             const struct tv_sql_bounds *bounds, struct tv_out *out,
                             struct tv_error *err)
{
    struct sql_answering answering = {sql, bounds, out};
    struct sql_taker taker = {sql_answer, &answering, false};
    size_t before = out->length;
    enum tv_status status = sql_run_text(sql, text, &taker, err);
    if (status != TV_OK)
        out->length = before;
    return status;
}

const char *tv_sql_error_picture(const struct tv_sql *sql)
{
    return sql->picture;
}
