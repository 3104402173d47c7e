/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_sql.c - `sql`: questions in SQL over traces; `export`: their tables as
 * files.
 *
 *     before the sandbox   options, text of the query, DuckDB's library, editor of lines
 *     in the sandbox       trace --> database over it --> statements --> answers
 *
 * The library is opened, and the text of the query is read, before the sandbox;
 * the database is made and the trace is read inside of it.  The database reads
 * the trace in place, so the trace must outlive it.
 *
 * With --each, one database is used for one file after the other
 * (tv_sql_reopen).
 */
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/commands/cmd_sql.h"
#include "cli/input/expand.h"
#include "cli/input/line_editor.h"
#include "cli/input/load.h"
#include "cli/input/saved_queries.h"
#include "cli/input/selection.h"
#include "cli/output/output.h"
#include "sql/duckdb.h"
#include "sql/sql.h"

/* Longer text was hardly meant as a query. */
#define LARGEST_QUERY ((size_t)1 << 20)

static const struct tv_option sql_options[] = {
    TV_OPTION(
        "format", "table|csv|json|jsonl|markdown|parquet|chart", TV_OPTION_CHOICE, table.format,
        "output format (default: table, with tabs between the columns; on a terminal aligned)"),
    TV_OPTION("file", "FILE", TV_OPTION_TEXT, sql.file, "read the statements from FILE"),
    TV_OPTION("f", "FILE", TV_OPTION_TEXT, sql.file, "same as --file"),
    TV_OPTION("save", "NAME", TV_OPTION_TEXT, sql.save, "keep the statements for --saved NAME"),
    TV_OPTION("saved", "NAME", TV_OPTION_TEXT, sql.saved, "run the statements kept by --save"),
    TV_OPTION("allow-files", NULL, TV_OPTION_FLAG, sql.allow_files,
              "let statements read and write files and change tables; without the sandbox"),
    TV_OPTION("each", NULL, TV_OPTION_FLAG, sql.each,
              "ask each file by itself; rows have a column \"file\" in front; folders are allowed"),
    TV_OPTION("max-rows", "N", TV_OPTION_COUNT, sql.max_rows,
              "write at most N rows (default: all)"),
    TV_OPTION("max-time", "TIME", TV_OPTION_SECONDS, sql.max_time,
              "stop a query that runs longer, for example 10s (default: never)"),
    TV_OPTION_OFFSET,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* ---- Before the sandbox ---- */

/* Read the statements of --file or --saved. */
static enum tv_status cmd_sql_read_text(struct tv_settings *settings, struct tv_error *err)
{
    struct tv_sql_settings *sql = &settings->sql;
    char *text;
    size_t length;
    if (sql->file && sql->saved)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--saved does not go with --file");
    enum tv_status status = sql->file
                                ? tv_file_read_text(sql->file, LARGEST_QUERY, &text, &length, err)
                                : tv_saved_query_read(sql->saved, LARGEST_QUERY, &text, err);
    if (status != TV_OK)
        return sql->file ? tv_error_prefix(err, "%s", sql->file) : tv_error_prefix(err, "--saved");
    tv_words_add(&settings->owned, text);
    sql->query = text;
    return TV_OK;
}

/* Keep the statements of this run. */
static enum tv_status cmd_sql_save(const struct tv_settings *settings, struct tv_error *err)
{
    if (!settings->sql.query)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--save needs a QUERY or --file");
    enum tv_status status = tv_saved_query_write(settings->sql.save, settings->sql.query, err);
    return status == TV_OK ? TV_OK : tv_error_prefix(err, "--save");
}

/* Take the first argument as the query, unless it is the only one and a file. */
static void cmd_sql_take_query(struct tv_settings *settings)
{
    struct stat info;
    struct tv_words *files = &settings->files;
    if (files->count == 0 || (files->count == 1 && stat(files->items[0], &info) == 0))
        return;
    settings->sql.query = files->items[0];
    memmove(files->items, files->items + 1, (files->count - 1) * sizeof *files->items);
    files->count--;
}

/* Start the editor of lines, if statements are typed at a terminal. */
static void cmd_sql_start_editor(void)
{
    static struct tv_words words; /* the editor's process reads them until its end */
    tv_sql_prompt_list_words(&words);
    (void)tv_line_editor_start(&words, "sql_history");
}

/* The query is the first argument, unless a file or the terminal has it. */
static enum tv_status cmd_sql_prepare(struct tv_settings *settings, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (settings->table.format == TV_SQL_PARQUET && settings->sql.each)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--format parquet is one table: it does not go with --each");
    if (settings->sql.file || settings->sql.saved)
        status = cmd_sql_read_text(settings, err);
    else
        cmd_sql_take_query(settings);
    if (status == TV_OK && settings->sql.save && settings->files.count > 0)
        status = cmd_sql_save(settings, err);
    if (status == TV_OK && settings->sql.each)
        status = tv_expand_words(settings, &settings->files, err);
    if (status == TV_OK)
        status = tv_duck_open(err);
    settings->table.no_pager |= !settings->sql.query;
    if (status == TV_OK && !settings->sql.query && settings->files.count > 0)
        cmd_sql_start_editor();
    return status;
}

/* ---- Asking ---- */

/* A trace and the database over it. */
struct sql_opened {
    struct tv_trace *trace;
    struct tv_sql *sql;
};

/* Read files as one trace, and make a database of it, in place of the one that is opened. */
static enum tv_status cmd_sql_open(const struct tv_settings *settings, const char *const *files,
                                   size_t count, struct sql_opened *opened, struct tv_error *err)
{
    struct tv_sql_options options = {.threads = tv_settings_jobs(settings),
                                     .max_seconds = settings->sql.max_time,
                                     .is_cancellable = !settings->sql.query,
                                     .stuck = tv_command_end_stuck_query,
                                     .allow_files = settings->sql.allow_files};
    if (settings->input.max_memory != TV_ANY_MEMORY)
        options.max_memory = settings->input.max_memory / 2; /* the other half is for reading */
    /* Memory may suffice for one trace at a time. */
    tv_trace_free(opened->trace);
    opened->trace = NULL;
    enum tv_status status = tv_load_trace(settings, files, count, NULL, &opened->trace, err);
    return status == TV_OK ? tv_sql_reopen(opened->trace, &options, &opened->sql, err) : status;
}

/* The database reads the trace until it is closed. */
static void cmd_sql_close(struct sql_opened *opened)
{
    tv_sql_close(opened->sql);
    tv_trace_free(opened->trace);
}

void tv_sql_tell_names(const struct tv_sql_output *how, bool quiet)
{
    if (how->quoted[0] != '\0' && !quiet)
        tv_message("traceview: no columns, so taken as texts, as SQLite does: %s", how->quoted);
    if (how->ungrouped[0] != '\0' && !quiet)
        tv_message(
            "traceview: not grouped, so the value of one row of each group, as in SQLite: %s",
            how->ungrouped);
}

void tv_sql_tell_picture(const char *picture)
{
    for (size_t length; *picture; picture += length + (picture[length] == '\n')) {
        length = strcspn(picture, "\n");
        tv_message("%.*s", (int)length, picture);
    }
}

/* Ask all files as one trace; `picture` is that of an error. */
static enum tv_status cmd_sql_ask(const struct tv_settings *settings, struct tv_sql_output *how,
                                  struct tv_out *out, char picture[TV_SQL_MAX_PICTURE],
                                  struct tv_error *err)
{
    struct sql_opened opened = {0};
    enum tv_status status =
        cmd_sql_open(settings, settings->files.items, settings->files.count, &opened, err);
    if (status == TV_OK)
        status = tv_sql_run(opened.sql, settings->sql.query, how, out, err);
    if (status == TV_OK)
        tv_sql_tell_names(how, settings->quiet);
    else if (opened.sql)
        snprintf(picture, TV_SQL_MAX_PICTURE, "%s", tv_sql_error_picture(opened.sql));
    cmd_sql_close(&opened);
    return status;
}

/* Ask each file; one that cannot be read is told, and the others follow. */
static enum tv_status cmd_sql_ask_each(const struct tv_command *command,
                                       const struct tv_settings *settings,
                                       struct tv_sql_output *how, struct tv_out *out, bool *failed,
                                       struct tv_error *err)
{
    struct sql_opened opened = {0};
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < settings->files.count && status == TV_OK; i++) {
        struct tv_error reason = {.status = TV_OK};
        how->file = tv_bytes_of(settings->files.items[i]);
        status = cmd_sql_open(settings, &settings->files.items[i], 1, &opened, &reason);
        if (status == TV_OK)
            status = tv_sql_run(opened.sql, settings->sql.query, how, out, &reason);
        if (status == TV_ERR_USAGE) { /* the query is wrong for all of them */
            *err = reason;
        } else if (status != TV_OK) {
            tv_command_failed(command, &reason);
            *failed = true;
            status = TV_OK;
        }
    }
    if (status == TV_OK)
        tv_sql_tell_names(how, settings->quiet);
    if (how->format == TV_SQL_JSON) {
        tv_sql_end_array(how, out);
        tv_out_char(out, '\n');
    }
    cmd_sql_close(&opened);
    return status;
}

/* Answer statements from standard input. */
static enum tv_status cmd_sql_converse(const struct tv_command *command,
                                       const struct tv_settings *settings,
                                       struct tv_sql_output *how, struct tv_out *out, bool *failed,
                                       struct tv_error *err)
{
    struct sql_opened opened = {0};
    enum tv_status status =
        cmd_sql_open(settings, settings->files.items, settings->files.count, &opened, err);
    if (status == TV_OK)
        tv_sql_prompt_converse(command, opened.sql, how, out, failed);
    cmd_sql_close(&opened);
    return status;
}

/* Is the output laid out for a terminal?  The prompt's terminal shows it without a pager, and rows
 * of many traces are written as they come. */
static bool cmd_sql_is_for_screen(const struct tv_settings *settings)
{
    return settings->table.format == TV_SQL_TABLE && !settings->sql.each;
}

/* Exit code 1 tells that at least one file or statement failed; the answers of
 * the others are written. */
static int cmd_sql_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    struct tv_output output;
    bool failed = false;
    char picture[TV_SQL_MAX_PICTURE] = "";
    struct tv_sql_output how = {.format = (enum tv_sql_format)settings->table.format,
                                .max_rows = settings->sql.max_rows,
                                .one_array = settings->sql.each,
                                /* One table of many traces, and one file, have one answer. */
                                .all = !settings->sql.each &&
                                       settings->table.format != TV_SQL_PARQUET};
    if (how.format == TV_SQL_PARQUET && !settings->sql.query) {
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "--format parquet needs one QUERY or --file");
        return tv_command_usage(command, &err);
    }
    enum tv_status status =
        how.format == TV_SQL_PARQUET
            ? tv_output_open_binary(&output, settings->output, settings->quiet, &err)
            : tv_output_open_text(&output, settings, cmd_sql_is_for_screen(settings), &err);
    if (status != TV_OK)
        return tv_command_failed(command, &err);
    if (settings->sql.each && settings->sql.query)
        status = cmd_sql_ask_each(command, settings, &how, &output.out, &failed, &err);
    else if (settings->sql.query)
        status = cmd_sql_ask(settings, &how, &output.out, picture, &err);
    else
        status = cmd_sql_converse(command, settings, &how, &output.out, &failed, &err);
    tv_line_editor_end();
    if (tv_output_finish(&output, status, &err) != TV_OK) {
        int code = tv_command_failed(command, &err);
        tv_sql_tell_picture(picture);
        return code;
    }
    return failed ? TV_EXIT_INPUT : TV_EXIT_OK;
}

const struct tv_command tv_command_sql = {
    .name = "sql",
    .summary = "answer a question in SQL over traces",
    .arguments = "[OPTION]... [QUERY] FILE...",
    .details = "Tables and views: docs/sql.md.  Without QUERY and --file, statements are read from "
               "standard input.\nNeeds DuckDB's library: `make sql` fetches it.",
    .options = sql_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .prepare = cmd_sql_prepare,
    .run = cmd_sql_run,
};

/* ---- export ---- */

/* Indices of the words of --to. */
enum export_form {
    EXPORT_CSV,
    EXPORT_JSONL,
    EXPORT_SQLITE,
    EXPORT_PARQUET,
};

/* The endings of the files in a folder, and their formats. */
static const struct {
    const char *ending;
    enum tv_sql_format format;
} export_forms[] = {
    [EXPORT_CSV] = {"csv", TV_SQL_CSV},
    [EXPORT_JSONL] = {"jsonl", TV_SQL_JSONL},
    [EXPORT_SQLITE] = {NULL, TV_SQL_TABLE}, /* one file */
    [EXPORT_PARQUET] = {"parquet", TV_SQL_PARQUET},
};

static const struct tv_option export_options[] = {
    TV_OPTION("to", "csv|jsonl|sqlite|parquet", TV_OPTION_CHOICE, to,
              "files of each table in a folder, or one database (default: csv)"),
    TV_OPTION("tables", "NAMES", TV_OPTION_TEXT, sql.tables,
              "these tables alone, separated by commas (default: all 24 that need no DuckDB)"),
    TV_OPTION("output", "PATH", TV_OPTION_TEXT, output,
              "the folder of csv, jsonl and parquet, the file of sqlite"),
    TV_OPTION("o", "PATH", TV_OPTION_TEXT, output, "same as --output"),
    TV_OPTION_OFFSET,
    TV_OPTION_RANGE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Fail because of a word of --tables, and list the tables. */
static enum tv_status cmd_export_refuse_table(struct tv_bytes word, struct tv_error *err)
{
    struct tv_out list;
    tv_out_init_memory(&list);
    for (size_t i = 0; tv_sql_exported[i]; i++)
        tv_out_format(&list, "%s%s", i == 0 ? "" : ", ", tv_sql_exported[i]);
    enum tv_status status =
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                "--tables: there is no '%.*s'; export writes %.*s; for others use `sql --format`",
                (int)(word.length < 40 ? word.length : 40), (const char *)word.data,
                (int)list.length, (const char *)list.buffer);
    tv_out_release(&list);
    return status;
}

/* Refuse a word of --tables that is no table. */
static enum tv_status cmd_export_check_tables(const char *words, struct tv_error *err)
{
    while (words && *words) {
        size_t length = strcspn(words, ",");
        bool known = false;
        for (size_t i = 0; tv_sql_exported[i] && !known; i++)
            known = strlen(tv_sql_exported[i]) == length &&
                    memcmp(tv_sql_exported[i], words, length) == 0;
        if (!known)
            return cmd_export_refuse_table((struct tv_bytes){(const uint8_t *)words, length}, err);
        words += length + (words[length] == ',');
    }
    return TV_OK;
}

/* Make the folder of the tables, unless it is there. */
static enum tv_status cmd_export_make_folder(const char *path, struct tv_error *err)
{
    struct stat info;
    if (strlen(path) > PATH_MAX - 64)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the name of the folder is too long");
    if (mkdir(path, 0777) != 0 && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: the folder cannot be made", path);
    return TV_OK;
}

/* The folder is made before the sandbox, which could not make it. */
static enum tv_status cmd_export_prepare(struct tv_settings *settings, struct tv_error *err)
{
    if (!settings->output)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--output is missing");
    enum tv_status status = cmd_export_check_tables(settings->sql.tables, err);
    if (status != TV_OK || settings->to == EXPORT_SQLITE)
        return status;
    settings->sql.ending = export_forms[settings->to].ending;
    return cmd_export_make_folder(settings->output, err);
}

/* One file for one table. */
static enum tv_status cmd_export_table(const struct tv_settings *settings,
                                       struct tv_sql_exporter *exporter, const char *table,
                                       struct tv_error *err)
{
    char path[PATH_MAX];
    struct tv_output output;
    struct tv_sql_output how = {.format = export_forms[settings->to].format};
    snprintf(path, sizeof path, "%s/%s.%s", settings->output, table, settings->sql.ending);
    enum tv_status status = tv_output_open(&output, path, settings->quiet, err);
    if (status != TV_OK)
        return status;
    status = tv_sql_export_table(exporter, table, &how, &output.out, err);
    return tv_output_finish(&output, status, err);
}

/* A database is one file with all tables; the other forms have a file for each. */
static enum tv_status cmd_export_write(const struct tv_settings *settings,
                                       struct tv_sql_exporter *exporter, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    struct tv_output output;
    if (settings->to == EXPORT_SQLITE) {
        status = tv_output_open_binary(&output, settings->output, settings->quiet, err);
        if (status != TV_OK)
            return status;
        status = tv_sql_export_sqlite(exporter, settings->sql.tables, &output.out, err);
        return tv_output_finish(&output, status, err);
    }
    for (size_t i = 0; tv_sql_exported[i] && status == TV_OK; i++)
        if (tv_sql_is_exported(settings->sql.tables, tv_sql_exported[i]))
            status = cmd_export_table(settings, exporter, tv_sql_exported[i], err);
    return status;
}

/* The exporter reads the trace in place. */
static enum tv_status cmd_export_whole(const struct tv_settings *settings,
                                       const struct tv_trace *trace, struct tv_error *err)
{
    struct tv_sql_exporter *exporter = tv_sql_exporter_new(trace);
    enum tv_status status = cmd_export_write(settings, exporter, err);
    tv_sql_exporter_free(exporter);
    return status;
}

/* Export the part of a trace that the options select, as `cut` cuts it out. */
static enum tv_status cmd_export_selection(const struct tv_settings *settings,
                                           const struct tv_trace *trace,
                                           const struct tv_subset *subset, struct tv_error *err)
{
    struct tv_crop crop = {subset, INT64_MIN, INT64_MAX, settings->select.threads.count > 0};
    enum tv_status status = tv_range_choose(settings, trace, &crop.from, &crop.to, err);
    if (status != TV_OK)
        return status;
    if (tv_crop_is_everything(trace, &crop))
        return cmd_export_whole(settings, trace, err);
    struct tv_trace *part = tv_crop_trace(trace, &crop);
    status = cmd_export_whole(settings, part, err);
    tv_trace_free(part);
    return status;
}

static enum tv_status cmd_export_trace(const struct tv_settings *settings,
                                       const struct tv_trace *trace, struct tv_error *err)
{
    struct tv_subset subset;
    enum tv_status status = tv_subset_choose(settings, trace, &subset, err);
    if (status == TV_OK)
        status = cmd_export_selection(settings, trace, &subset, err);
    tv_subset_release(&subset);
    return status;
}

static int cmd_export_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_export_trace);
}

const struct tv_command tv_command_export = {
    .name = "export",
    .summary = "write the tables of a trace as CSV, JSON, SQLite or Parquet",
    .arguments = "[OPTION]... --output PATH FILE...",
    .details =
        "Tables: docs/sql.md.  Views such as method and edge, and tables that are read from the "
        "file again\n(heap_graph_object, ftrace_event, packet), are left out: they need DuckDB, "
        "as in\n`traceview sql --format parquet -o method.parquet 'select * from method' "
        "FILE`.\nSeveral files are one trace.",
    .options = export_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .prepare = cmd_export_prepare,
    .run = cmd_export_run,
};
