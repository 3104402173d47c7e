/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_sql_prompt.c - `sql` without a query: statements from standard input or a terminal, and
 * commands that begin with a dot, as in the shells of SQLite and DuckDB.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cli/commands/cmd_sql.h"
#include "cli/input/line_editor.h"
#include "cli/output/message.h"
#include "sql/sql.h"

/* Longest line of standard input that is read at once. */
#define LINE 4096

#define PROMPT "sql> "
#define PROMPT_MORE "  ...> "

static const char *const prompt_commands[] = {"exit", "help", "mode", "quit", "schema", "tables"};

void tv_sql_prompt_list_words(struct tv_words *words)
{
    for (size_t i = 0; i < TV_COUNT(prompt_commands); i++)
        tv_words_add(words, prompt_commands[i]);
    for (size_t i = 0; tv_sql_completions[i]; i++)
        tv_words_add(words, tv_sql_completions[i]);
}

/* ---- Commands ---- */

static void prompt_fail(const struct tv_sql_prompt *prompt, const struct tv_error *why)
{
    tv_command_failed(prompt->command, why);
    *prompt->failed = true;
}

static void prompt_run(const struct tv_sql_prompt *prompt, const char *text)
{
    struct tv_error reason = {.status = TV_OK};
    prompt->how->headed = false;
    if (tv_sql_run(prompt->sql, text, prompt->how, prompt->out, &reason) != TV_OK)
        prompt_fail(prompt, &reason);
    tv_out_flush(prompt->out);
}

/* Write the end of a query about a table: its name, regardless of case, as a text. */
static void prompt_put_table(struct tv_out *text, struct tv_bytes table)
{
    tv_out_text(text, " from information_schema.columns where lower(table_name) = lower('");
    for (size_t i = 0; i < table.length; i++) {
        tv_out_text(text, table.data[i] == '\'' ? "'" : "");
        tv_out_char(text, (char)table.data[i]);
    }
    tv_out_text(text, "') order by ordinal_position");
    tv_out_char(text, '\0');
}

/* Does a table have columns?  If the question fails, so does that for the columns. */
static bool prompt_has_table(const struct tv_sql_prompt *prompt, struct tv_bytes table)
{
    struct tv_sql_output how = {.format = TV_SQL_CSV, .all = true};
    struct tv_out text, rows;
    struct tv_error why;
    tv_out_init_memory(&text);
    tv_out_init_memory(&rows);
    tv_out_text(&text, "select column_name");
    prompt_put_table(&text, table);
    enum tv_status status = tv_sql_run(prompt->sql, (const char *)text.buffer, &how, &rows, &why);
    tv_out_release(&text);
    tv_out_release(&rows);
    return status != TV_OK || how.rows > 0;
}

/* List the columns of a table. */
static void prompt_show_schema(const struct tv_sql_prompt *prompt, struct tv_bytes table)
{
    struct tv_out text;
    struct tv_error why;
    if (!prompt_has_table(prompt, table)) {
        tv_fail(&why, TV_ERR_IO, TV_NO_OFFSET,
                ".schema: there is no table '%.*s'; .tables lists them",
                (int)(table.length < 64 ? table.length : 64), table.data);
        prompt_fail(prompt, &why);
        return;
    }
    tv_out_init_memory(&text);
    tv_out_text(&text, "select column_name, case when data_type like 'ENUM%' then 'VARCHAR' else "
                       "data_type end as data_type");
    prompt_put_table(&text, table);
    prompt_run(prompt, (const char *)text.buffer);
    tv_out_release(&text);
}

static void prompt_set_mode(const struct tv_sql_prompt *prompt, struct tv_bytes word)
{
    static const char *const modes[] = {
        [TV_SQL_TABLE] = "table", [TV_SQL_CSV] = "csv",           [TV_SQL_JSON] = "json",
        [TV_SQL_JSONL] = "jsonl", [TV_SQL_MARKDOWN] = "markdown", [TV_SQL_CHART] = "chart",
    };
    struct tv_error why;
    for (size_t i = 0; i < TV_COUNT(modes); i++)
        if (modes[i] && tv_bytes_equal(word, tv_bytes_of(modes[i]))) {
            prompt->how->format = (enum tv_sql_format)i;
            return;
        }
    tv_fail(&why, TV_ERR_IO, TV_NO_OFFSET, ".mode: table, csv, json, jsonl, markdown or chart");
    prompt_fail(prompt, &why);
}

/* Return our name of a command of PostgreSQL's shell: \d lists the tables, \d TABLE its columns. */
static struct tv_bytes prompt_translate(struct tv_bytes name, bool with_table)
{
    if (tv_bytes_equal(name, TV_BYTES("d")))
        return with_table ? TV_BYTES("schema") : TV_BYTES("tables");
    return tv_bytes_equal(name, TV_BYTES("q")) ? TV_BYTES("quit") : name;
}

/* Run a command; false: the conversation ends. */
static bool prompt_run_command(const struct tv_sql_prompt *prompt, struct tv_bytes line)
{
    struct tv_bytes name = {line.data + 1, 0}, rest;
    struct tv_error why;
    while (name.length + 1 < line.length && name.data[name.length] != ' ')
        name.length++;
    rest = (struct tv_bytes){name.data + name.length, line.length - 1 - name.length};
    rest = tv_bytes_trim(rest);
    if (line.data[0] == '\\')
        name = prompt_translate(name, rest.length > 0);
    if (tv_bytes_equal(name, TV_BYTES("quit")) || tv_bytes_equal(name, TV_BYTES("exit")))
        return false;
    if (tv_bytes_equal(name, TV_BYTES("tables"))) {
        prompt_run(
            prompt,
            "select table_name from information_schema.tables where table_name not "
            "in ('any_slice', 'any_sample', 'display_frame', 'track_slice', 'track_instant', "
            "'bare_track', 'bare_counter_track') and "
            "table_name not like 'tv\\_%' escape '\\' order by table_name");
    } else if (tv_bytes_equal(name, TV_BYTES("schema"))) {
        prompt_show_schema(prompt, rest.length > 0 ? rest : TV_BYTES("slice"));
    } else if (tv_bytes_equal(name, TV_BYTES("mode"))) {
        prompt_set_mode(prompt, rest);
    } else if (tv_bytes_equal(name, TV_BYTES("help"))) {
        tv_out_text(prompt->out, ".tables          list the tables, as \\d does\n"
                                 ".schema TABLE    list the columns of a table, as \\d TABLE does\n"
                                 ".mode FORMAT     write answers as table, csv, json, jsonl, "
                                 "markdown or chart\n"
                                 ".quit            end\n"
                                 "A statement ends with ';' at the end of a line.\n");
        tv_out_flush(prompt->out);
    } else {
        tv_fail(&why, TV_ERR_IO, TV_NO_OFFSET, "%c%.*s: there is no such command; .help lists them",
                line.data[0], (int)(name.length < 64 ? name.length : 64), name.data);
        prompt_fail(prompt, &why);
    }
    return true;
}

/* ---- Lines ---- */

/* Append the next line, or a part of a long one; false at the end. */
static bool prompt_read_line(struct tv_out *text)
{
    char line[LINE];
    const char *prompt = text->length > 0 ? PROMPT_MORE : PROMPT;
    if (tv_line_editor_is_there())
        return tv_line_editor_ask(prompt, text);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && fputs(prompt, stdout) >= 0)
        fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return false;
    tv_out_text(text, line);
    return true;
}

/* Return the text without blanks and line ends around it. */
static struct tv_bytes prompt_trim(const struct tv_out *text)
{
    struct tv_bytes typed = tv_bytes_trim((struct tv_bytes){text->buffer, text->length});
    while (typed.length > 0 && typed.data[typed.length - 1] == '\n')
        typed = tv_bytes_trim((struct tv_bytes){typed.data, typed.length - 1});
    return typed;
}

void tv_sql_prompt_converse(const struct tv_sql_prompt *prompt)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    for (bool more = true; more;) {
        more = prompt_read_line(&text);
        struct tv_bytes typed = prompt_trim(&text);
        if (typed.length == 0) {
            text.length = 0;
        } else if (typed.data[0] == '.' || typed.data[0] == '\\') {
            typed.length -= typed.data[typed.length - 1] == ';';
            more &= prompt_run_command(prompt, typed);
            text.length = 0;
        } else if (!more || typed.data[typed.length - 1] == ';') {
            tv_out_char(&text, '\0');
            prompt_run(prompt, (const char *)text.buffer);
            text.length = 0;
        }
    }
    tv_out_release(&text);
}
