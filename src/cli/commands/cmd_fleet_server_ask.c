/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_server_ask.c - questions to a fleet on a server, and its care.
 *
 * The rows that a question needs become a fleet in a temporary folder, which is then asked as any
 * other (fetch.c).  A program that is killed leaves this folder behind.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cli/commands/cmd_fleet_server.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "fleet/clickhouse.h"

#define FETCHED "0000000000000001.parquet" /* the batch of the fetched rows */
#define ANSWER "answer.parquet"
#define LONGEST_PLACE (PATH_MAX - 128) /* of the folder; names of files follow */

/* ---- The temporary folder ---- */

static enum tv_status server_make_folder(char folder[LONGEST_PLACE], struct tv_error *err)
{
    const char *place = getenv("TMPDIR");
    int length = snprintf(folder, LONGEST_PLACE, "%s/traceview-fleet-XXXXXX",
                          place && *place ? place : "/tmp");
    if (length < 0 || length >= LONGEST_PLACE) {
        folder[0] = '\0';
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "TMPDIR: the name is too long");
    }
    if (!mkdtemp(folder)) {
        enum tv_status status =
            tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", folder, strerror(errno));
        folder[0] = '\0';
        return status;
    }
    return tv_fleet_init(folder, err);
}

static void server_remove(const char *folder, const char *table, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s", folder, table, name);
    unlink(path);
}

/* Remove the folder and the files that were made in it; a folder with others stays. */
static void server_remove_folder(const char *folder)
{
    char path[PATH_MAX];
    if (folder[0] == '\0')
        return;
    for (int i = 0; i < TV_FLEET_FOLDERS; i++) {
        const char *table = tv_fleet_table_name((enum tv_fleet_table)i);
        server_remove(folder, table, FETCHED);
        server_remove(folder, table, "0000000000000000.parquet");
        snprintf(path, sizeof path, "%s/%s", folder, table);
        rmdir(path);
    }
    server_remove(folder, ".", "fleet.json");
    server_remove(folder, ".", ANSWER);
    rmdir(folder);
}

/* ---- Fetching ---- */

static enum tv_status server_take_rows(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    return tv_fleet_tsv_take(context, bytes, err);
}

/* Write the answer of a query as a Parquet file with these columns (tv_fleet_tsv_new). */
static enum tv_status server_fetch(struct tv_fleet_server *server, const char *query,
                                   const char *path, const struct tv_parquet_column *columns,
                                   size_t count, struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status = tv_output_open(&output, path, true, err);
    if (status != TV_OK)
        return status;
    struct tv_fleet_tsv *tsv = tv_fleet_tsv_new(columns, count, &output.out);
    struct tv_fleet_request request = {.query = query, .take = server_take_rows, .context = tsv};
    status = tv_fleet_server_ask(server, &request, err);
    if (status == TV_OK) {
        status = tv_fleet_tsv_finish(tsv, err);
        if (status != TV_OK)
            tv_error_prefix(err, "%s", server->settings->fleet.to);
    }
    tv_fleet_tsv_free(tsv);
    return tv_output_finish(&output, status, err);
}

/* Fetch the rows of a table for a question. */
static enum tv_status server_fetch_table(struct tv_fleet_server *server, const char *folder,
                                         const struct tv_fleet_fetch *fetch,
                                         enum tv_fleet_table table, struct tv_error *err)
{
    struct tv_parquet_column columns[TV_FLEET_FETCH_COLUMNS];
    char path[PATH_MAX];
    struct tv_out sql;
    tv_out_init_memory(&sql);
    size_t count = tv_fleet_put_fetch(&sql, fetch, table, columns, err);
    snprintf(path, sizeof path, "%s/%s/" FETCHED, folder, tv_fleet_table_name(table));
    enum tv_status status = err->status;
    if (count > 0) {
        status = server_fetch(server, (const char *)sql.buffer, path, columns, count, err);
        if (server->error == TV_FLEET_NO_COLUMN || server->error == TV_FLEET_NO_IDENTIFIER)
            status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                             "%s: the tables are of an older version: `traceview fleet migrate` "
                             "adds what they lack",
                             server->settings->fleet.to);
    }
    tv_out_release(&sql);
    return status;
}

/* ---- Questions ---- */

/* Ask a question of a folder with the rows that it needs.  Traces come first: when they are there,
 * their other rows are, too. */
static enum tv_status server_question(struct tv_fleet_server *server, const char *folder,
                                      const struct tv_fleet_fetch *fetch, struct tv_error *err)
{
    static const enum tv_fleet_table tables[] = {TV_FLEET_TRACE, TV_FLEET_METHOD_NAME,
                                                 TV_FLEET_METHOD};
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < TV_COUNT(tables) && status == TV_OK; i++)
        status = server_fetch_table(server, folder, fetch, tables[i], err);
    if (status == TV_OK && fetch->by_path)
        status = server_fetch_table(server, folder, fetch, TV_FLEET_PATH, err);
    return status;
}

/* Write the answer of a query to the server. */
static enum tv_status server_sql(struct tv_fleet_server *server, const char *folder,
                                 const char *query, struct tv_error *err)
{
    char path[PATH_MAX];
    struct tv_out sql;
    size_t length = strlen(query);
    while (length > 0 && strchr("; \t\r\n", query[length - 1]))
        length--;
    tv_out_init_memory(&sql);
    tv_out_bytes(&sql, (struct tv_bytes){(const uint8_t *)query, length});
    tv_out_text(&sql, "\nFORMAT TabSeparatedWithNamesAndTypes");
    snprintf(path, sizeof path, "%s/" ANSWER, folder);
    enum tv_status status = server_fetch(server, tv_sql_end(&sql), path, NULL, 0, err);
    tv_out_release(&sql);
    return status;
}

static enum tv_status server_write_answer(const struct tv_settings *settings, int *code,
                                          struct tv_error *err)
{
    struct tv_fleet_store store;
    enum tv_status status = tv_fleet_open_bare(&store, settings, err);
    if (status == TV_OK)
        status = tv_fleet_write_answer(
            &store, "select * from read_parquet(getvariable('folder') || '/" ANSWER "')", err);
    tv_fleet_close(&store, code);
    return status;
}

/* ---- Care ---- */

/* Remove copies of rows, which repeated commands leave. */
static enum tv_status server_compact(struct tv_fleet_server *server, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (int i = 0; i < TV_FLEET_TABLES && status == TV_OK; i++) {
        char query[128];
        snprintf(query, sizeof query, "OPTIMIZE TABLE " TV_FLEET_SERVER_PREFIX "%s FINAL",
                 tv_fleet_table_name((enum tv_fleet_table)i));
        struct tv_fleet_request request = {.query = query, .changes = true};
        status = tv_fleet_server_ask(server, &request, err);
    }
    return status;
}

/* Write "WHAT TAB number", and add up the number. */
static enum tv_status server_count(struct tv_fleet_server *server, const char *what,
                                   const char *query, struct tv_out *out, uint64_t *sum,
                                   struct tv_error *err)
{
    struct tv_out answer;
    struct tv_bytes digits;
    uint64_t number = 0;
    tv_out_init_memory(&answer);
    enum tv_status status = tv_fleet_server_ask_text(server, query, &answer, err);
    struct tv_bytes rest = {answer.buffer, answer.length};
    (void)tv_bytes_split(&rest, '\n', &digits);
    if (status == TV_OK && !tv_parse_u64(digits, &number))
        status = tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the server does not answer a number");
    tv_out_release(&answer);
    *sum += number;
    if (status == TV_OK)
        tv_out_format(out, "%s\t%" PRIu64 "\n", what, number);
    return status;
}

/* Count the traces, and the rows of each table that belong to none: of an `add` that was stopped,
 * or that is still at work.  They do not count, and go into the fleet when it is repeated. */
static enum tv_status server_check(struct tv_fleet_server *server, int *code, struct tv_error *err)
{
    static const char traces[] = "SELECT uniqExact(trace) FROM " TV_FLEET_SERVER_PREFIX "trace",
                      batches[] = "SELECT uniqExact(batch) FROM " TV_FLEET_SERVER_PREFIX "trace",
                      nameless[] =
                          "SELECT uniqExact(method) FROM " TV_FLEET_SERVER_PREFIX
                          "method WHERE batch IN (SELECT batch FROM " TV_FLEET_SERVER_PREFIX
                          "trace) AND method NOT IN (SELECT method FROM " TV_FLEET_SERVER_PREFIX
                          "method_name)";
    struct tv_output output;
    uint64_t ignored = 0, faults = 0;
    enum tv_status status = tv_output_open(&output, server->settings->output, true, err);
    if (status != TV_OK)
        return status;
    status = server_count(server, "traces", traces, &output.out, &ignored, err);
    if (status == TV_OK)
        status = server_count(server, "batches", batches, &output.out, &ignored, err);
    for (int i = 0; i < TV_FLEET_TRACE && status == TV_OK; i++) {
        char query[256], what[64];
        const char *table = tv_fleet_table_name((enum tv_fleet_table)i);
        const char *key = i == TV_FLEET_METHOD_NAME ? "batch" : "trace, batch";
        snprintf(what, sizeof what, "unused rows of %s", table);
        snprintf(query, sizeof query,
                 "SELECT count() FROM " TV_FLEET_SERVER_PREFIX
                 "%s WHERE (%s) NOT IN (SELECT %s FROM " TV_FLEET_SERVER_PREFIX "trace)",
                 table, key, key);
        status = server_count(server, what, query, &output.out, &ignored, err);
    }
    if (status == TV_OK)
        status =
            server_count(server, "methods without a name", nameless, &output.out, &faults, err);
    if (faults > 0)
        *code = TV_EXIT_INPUT;
    return tv_output_finish(&output, status, err);
}

/* ---- Actions ---- */

static enum tv_status server_fetch_question(struct tv_fleet_server *server, const char *folder,
                                            struct tv_error *err)
{
    const struct tv_settings *settings = server->settings;
    const char *action = settings->fleet.action;
    struct tv_fleet_fetch fetch = {.where = settings->fleet.where};
    if (strcmp(action, "which") == 0) {
        fetch.conditions = settings->files.items;
        fetch.condition_count = settings->files.count;
    } else if (strcmp(action, "regressions") == 0 || strcmp(action, "flamegraph") == 0) {
        fetch.by_path = action[0] == 'f';
        fetch.base = settings->fleet.base;
        fetch.fresh = settings->fleet.fresh;
    } else if (strcmp(action, "changes") == 0 || strcmp(action, "trends") == 0) {
        fetch.figure = tv_fleet_figure(settings);
    } else {
        fetch.method = settings->files.items[0];
    }
    return server_question(server, folder, &fetch, err);
}

/* Fetch the answer, or the rows for it, into a folder, and write it. */
static enum tv_status server_answer(struct tv_fleet_server *server,
                                    const struct tv_command *command, tv_fleet_action *run,
                                    int *code, struct tv_error *err)
{
    static const char columns[] = "SELECT table, name AS column, type FROM system.columns WHERE "
                                  "database = currentDatabase() AND match(table, '^tv1_')";
    struct tv_settings own = *server->settings;
    char folder[LONGEST_PLACE];
    bool is_schema = strcmp(own.fleet.action, "schema") == 0,
         is_sql = is_schema || strcmp(own.fleet.action, "sql") == 0;
    enum tv_status status = server_make_folder(folder, err);
    own.fleet.to = folder;
    if (status == TV_OK)
        status = is_sql ? server_sql(server, folder, is_schema ? columns : own.files.items[0], err)
                        : server_fetch_question(server, folder, err);
    if (status == TV_OK)
        status = is_sql ? server_write_answer(&own, code, err) : run(command, &own, code, err);
    server_remove_folder(folder);
    return status;
}

enum tv_status tv_fleet_server_run(const struct tv_command *command,
                                   const struct tv_settings *settings, tv_fleet_action *run,
                                   int *code, struct tv_error *err)
{
    struct tv_fleet_server server;
    const char *action = settings->fleet.action;
    enum tv_status status = tv_fleet_server_open(&server, settings, err);
    if (status != TV_OK)
        return status;
    if (strcmp(action, "prepare") == 0)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "prepare is for folders: a server keeps no medians");
    else if (strcmp(action, "compact") == 0)
        status = server_compact(&server, err);
    else if (strcmp(action, "migrate") == 0)
        status = tv_fleet_server_init(&server, err);
    else if (strcmp(action, "check") == 0)
        status = server_check(&server, code, err);
    else if (strcmp(action, "expire") == 0)
        status = tv_fleet_server_expire(&server, err);
    else
        status = server_answer(&server, command, run, code, err);
    tv_fleet_server_close(&server);
    return status;
}
