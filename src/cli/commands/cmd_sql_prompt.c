/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_sql_prompt.c - `sql` without a query: statements from standard input or a terminal, and
 * commands that begin with a dot, as in the shells of SQLite and DuckDB.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/workers.h"
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

/* A conversation about an open database. */
struct sql_prompt {
    const struct tv_command *command;
    struct tv_sql *sql;
    struct tv_sql_output *how;
    struct tv_out *out;
    bool *failed;
    struct prompt_canceller *canceller;
};

/* ---- Ctrl-C ---- */

/*
 * At a terminal, Ctrl-C cancels the statement that runs; the prompt stays.  A handler of signals
 * may do little: this one wakes a thread.
 *
 *     SIGINT --> prompt_wake --(semaphore)--> prompt_cancel_thread --> tv_sql_cancel
 *
 * The semaphore is the only thing that the handler can reach, so it is static.
 */
static sem_t prompt_interrupted;

struct prompt_canceller {
    struct tv_sql *sql;
    pthread_t thread;
    struct sigaction older;
    bool started;
    pthread_mutex_t lock; /* lock of the two below */
    bool runs;            /* a statement does */
    bool ends;            /* the thread must end */
};

static void prompt_wake(int number)
{
    (void)number;
    int before = errno;
    sem_post(&prompt_interrupted);
    errno = before;
}

static void *prompt_cancel_thread(void *argument)
{
    struct prompt_canceller *canceller = argument;
    for (bool ends = false; !ends;) {
        if (sem_wait(&prompt_interrupted) != 0)
            continue;
        pthread_mutex_lock(&canceller->lock);
        if (canceller->runs)
            tv_sql_cancel(canceller->sql, true);
        ends = canceller->ends;
        pthread_mutex_unlock(&canceller->lock);
    }
    return NULL;
}

/* Let Ctrl-C cancel statements, if they are typed at a terminal.  In a pipe it ends the program. */
static void prompt_start_canceller(struct prompt_canceller *canceller, struct tv_sql *sql)
{
    *canceller = (struct prompt_canceller){.sql = sql};
    if (!isatty(STDIN_FILENO) || sem_init(&prompt_interrupted, 0, 0) != 0)
        return;
    pthread_mutex_init(&canceller->lock, NULL);
    canceller->started =
        tv_thread_start(&canceller->thread, TV_THREAD_STACK, prompt_cancel_thread, canceller) == 0;
    if (!canceller->started) {
        pthread_mutex_destroy(&canceller->lock);
        sem_destroy(&prompt_interrupted);
        return;
    }
    /* Without SA_RESTART, a line that is typed without an editor is dropped. */
    sigaction(SIGINT, &(struct sigaction){.sa_handler = prompt_wake}, &canceller->older);
}

/* Note that a statement begins or has ended. */
static void prompt_note_run(struct prompt_canceller *canceller, bool runs)
{
    if (!canceller->started)
        return;
    pthread_mutex_lock(&canceller->lock);
    canceller->runs = runs;
    tv_sql_cancel(canceller->sql, false);
    pthread_mutex_unlock(&canceller->lock);
}

static void prompt_end_canceller(struct prompt_canceller *canceller)
{
    if (!canceller->started)
        return;
    sigaction(SIGINT, &canceller->older, NULL);
    pthread_mutex_lock(&canceller->lock);
    canceller->ends = true;
    pthread_mutex_unlock(&canceller->lock);
    sem_post(&prompt_interrupted);
    pthread_join(canceller->thread, NULL);
    pthread_mutex_destroy(&canceller->lock);
    sem_destroy(&prompt_interrupted);
}

/* ---- Commands ---- */

static void prompt_fail(const struct sql_prompt *prompt, const struct tv_error *why)
{
    tv_command_failed(prompt->command, why);
    *prompt->failed = true;
}

/* Tell why a statement failed, with its line and a mark under the place. */
static void prompt_fail_statement(const struct sql_prompt *prompt, const struct tv_error *why)
{
    char text[sizeof why->message + 64];
    tv_out_flush(prompt->out); /* rows of the statements before */
    tv_message("traceview: %s", tv_error_text(why, text, sizeof text));
    tv_sql_tell_picture(tv_sql_error_picture(prompt->sql));
    *prompt->failed = true;
}

static void prompt_run(const struct sql_prompt *prompt, const char *text)
{
    struct tv_error reason = {.status = TV_OK};
    prompt->how->headed = false;
    prompt_note_run(prompt->canceller, true);
    if (tv_sql_run(prompt->sql, text, prompt->how, prompt->out, &reason) != TV_OK)
        prompt_fail_statement(prompt, &reason);
    prompt_note_run(prompt->canceller, false);
    tv_out_flush(prompt->out);
    if (reason.status == TV_OK)
        tv_sql_tell_names(prompt->how, false);
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
static bool prompt_has_table(const struct sql_prompt *prompt, struct tv_bytes table)
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
static void prompt_show_schema(const struct sql_prompt *prompt, struct tv_bytes table)
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

static void prompt_set_mode(const struct sql_prompt *prompt, struct tv_bytes word)
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
static bool prompt_run_command(const struct sql_prompt *prompt, struct tv_bytes line)
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

/* Append the next line, or a part of a long one. */
static enum tv_line_end prompt_read_line(struct tv_out *text)
{
    char line[LINE];
    const char *prompt = text->length > 0 ? PROMPT_MORE : PROMPT;
    if (tv_line_editor_is_there())
        return tv_line_editor_ask(prompt, text);
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && fputs(prompt, stdout) >= 0)
        fflush(stdout);
    errno = 0;
    if (!fgets(line, sizeof line, stdin)) {
        if (errno != EINTR)
            return TV_LINE_NONE;
        clearerr(stdin);
        (void)fputs("\n", stdout);
        return TV_LINE_DROPPED;
    }
    tv_out_text(text, line);
    return TV_LINE_TYPED;
}

/* Return the text without blanks and line ends around it. */
static struct tv_bytes prompt_trim(const struct tv_out *text)
{
    struct tv_bytes typed = tv_bytes_trim((struct tv_bytes){text->buffer, text->length});
    while (typed.length > 0 && typed.data[typed.length - 1] == '\n')
        typed = tv_bytes_trim((struct tv_bytes){typed.data, typed.length - 1});
    return typed;
}

/* Answer lines until there are no more. */
static void prompt_answer_lines(const struct sql_prompt *prompt)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    for (bool more = true; more;) {
        enum tv_line_end line_end = prompt_read_line(&text);
        more = line_end != TV_LINE_NONE;
        struct tv_bytes typed = prompt_trim(&text);
        if (typed.length == 0 || line_end == TV_LINE_DROPPED) {
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

void tv_sql_prompt_converse(const struct tv_command *command, struct tv_sql *sql,
                            struct tv_sql_output *how, struct tv_out *out, bool *failed)
{
    struct prompt_canceller canceller;
    const struct sql_prompt prompt = {command, sql, how, out, failed, &canceller};
    prompt_start_canceller(&canceller, sql);
    prompt_answer_lines(&prompt);
    prompt_end_canceller(&canceller);
}
