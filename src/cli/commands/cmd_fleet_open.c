/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_open.c - the folder of a fleet as a database, and answers from it.
 *
 * One damaged file would make every question fail, because the views read all files.  Looking at
 * each file before each question would take longer than the question.  So a question is asked; if
 * it fails, every file is read once, the damaged ones are named, and the question is asked again
 * without their batches.
 *
 * Other programs may replace batches between the listing of the files and the reading of one.  Then
 * the question is asked again of the files of that moment.
 */
#include "cli/commands/cmd_fleet.h"
#include "cli/commands/cmd_sql.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/output/message.h"
#include "cli/output/output.h"

#define SUFFIX ".parquet"
#define MAX_CHANGES 1000u

/* ---- Times and values of rows ---- */

int64_t tv_fleet_time_before(uint64_t seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec < 0 || seconds > (uint64_t)now.tv_sec)
        return 0;
    return (now.tv_sec - (int64_t)seconds) * 1000000 + now.tv_nsec / 1000;
}

int64_t tv_fleet_read_disk_clock(const char *to, const char *folder)
{
    char path[PATH_MAX];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/%s/.traceview-XXXXXX", to, folder);
    int fd = length > 0 && (size_t)length < sizeof path ? mkstemp(path) : -1;
    if (fd < 0)
        return 0;
    bool known = fstat(fd, &info) == 0;
    close(fd);
    (void)unlink(path);
    return known ? info.st_mtime : 0;
}

int64_t tv_fleet_value_integer(const struct tv_sql_value *value)
{
    switch (value->kind) {
    case TV_SQL_IS_INTEGER:
    case TV_SQL_IS_BOOLEAN:
        return value->integer;
    case TV_SQL_IS_HUGE:
        return value->integer == 0 && value->low <= INT64_MAX ? (int64_t)value->low : INT64_MAX;
    default:
        return 0;
    }
}

uint64_t tv_fleet_value_key(const struct tv_sql_value *value)
{
    return value->kind == TV_SQL_IS_HUGE ? value->low : (uint64_t)tv_fleet_value_integer(value);
}

struct tv_bytes tv_fleet_value_text(const struct tv_sql_value *value)
{
    return value->kind == TV_SQL_IS_TEXT ? value->text : (struct tv_bytes){NULL, 0};
}

static enum tv_status fleet_take_number(void *context, const struct tv_sql_value *values,
                                        struct tv_error *err)
{
    (void)err;
    *(uint64_t *)context = tv_fleet_value_key(&values[0]);
    return TV_OK;
}

enum tv_status tv_fleet_read_number(struct tv_sql *sql, const char *query, uint64_t *number,
                                    struct tv_error *err)
{
    *number = 0;
    return tv_sql_for_each_row(sql, query, 1, fleet_take_number, number, err);
}

/* ---- The folder ---- */

/* Find the folder as an absolute path. */
static enum tv_status fleet_find_folder(const char *to, char path[PATH_MAX], struct tv_error *err)
{
    if (!realpath(to, path))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s: `traceview fleet add` makes it", to,
                       strerror(errno));
    enum tv_status status = tv_fleet_check_path(path, err);
    return status == TV_OK ? tv_fleet_init(path, err) : status;
}

/* ---- Files ---- */

bool tv_fleet_is_damaged(const struct tv_fleet_store *store, const char *name)
{
    for (size_t i = 0; i < store->damaged.count; i++)
        if (strcmp(store->damaged.items[i], name) == 0)
            return true;
    return false;
}

/* Call a function with the name of each Parquet file of a table. */
static void fleet_visit_names(const struct tv_fleet_store *store, enum tv_fleet_table table,
                              void (*visit)(void *context, enum tv_fleet_table table,
                                            const char *name),
                              void *context)
{
    char file[PATH_MAX];
    const struct tv_words *names = &store->listing.names[table];
    for (size_t i = 0; i < names->count; i++) {
        snprintf(file, sizeof file, "%s" SUFFIX, names->items[i]);
        visit(context, table, file);
    }
}

/* A list of names that is written with a slash after each. */
struct fleet_name_list {
    const struct tv_fleet_store *store;
    struct tv_out *names;
    size_t count;
};

/* Add a file, unless its batch is damaged or has no file of traces: its rows do not count then. */
static void fleet_list_name(void *context, enum tv_fleet_table table, const char *name)
{
    struct fleet_name_list *list = context;
    char batch[PATH_MAX];
    snprintf(batch, sizeof batch, "%.*s", (int)(strlen(name) - strlen(SUFFIX)), name);
    if (tv_fleet_is_damaged(list->store, name) ||
        (table != TV_FLEET_ROLLUP &&
         !tv_fleet_listing_has(&list->store->listing, TV_FLEET_TRACE, batch)))
        return;
    tv_out_format(list->names, "%s%s", list->count++ > 0 ? "/" : "", batch);
}

/* Append the statements that set the files of a table, and make the view of their rows. */
static void fleet_put_files(struct tv_out *sql, const struct tv_fleet_store *store,
                            enum tv_fleet_table table)
{
    struct tv_out names;
    tv_out_init_memory(&names);
    struct fleet_name_list list = {store, &names, 0};
    const char *name = tv_fleet_table_name(table);
    fleet_visit_names(store, table, fleet_list_name, &list);
    TV_DUCK_PUT(sql,
                "set variable ?_files = list_transform(string_split(?, '/'), lambda name: "
                "getvariable('folder') || '/?/' || name || '" SUFFIX "'); ",
                TV_SQL_PLAIN(name), TV_SQL_TEXT(((struct tv_bytes){names.buffer, names.length})),
                TV_SQL_PLAIN(name));
    tv_fleet_put_file_view(sql, table, list.count > 0);
    tv_out_release(&names);
}

/* ---- Opening ---- */

static enum tv_status fleet_open_database(struct tv_fleet_store *store,
                                          const char *const *statements, struct tv_error *err)
{
    char folder[PATH_MAX];
    const struct tv_settings *settings = store->settings;
    struct tv_sql_options options = {.threads = tv_settings_jobs(settings),
                                     .max_seconds = settings->sql.max_time,
                                     .stuck = tv_command_end_stuck_query,
                                     .folder = folder,
                                     .statements = statements};
    if (settings->input.max_memory != TV_ANY_MEMORY)
        options.max_memory = settings->input.max_memory;
    enum tv_status status = fleet_find_folder(settings->fleet.to, folder, err);
    return status == TV_OK ? tv_sql_open(NULL, &options, &store->sql, err) : status;
}

enum tv_status tv_fleet_open_bare(struct tv_fleet_store *store, const struct tv_settings *settings,
                                  struct tv_error *err)
{
    *store = (struct tv_fleet_store){.settings = settings};
    return fleet_open_database(store, NULL, err);
}

/* Open the database with its views, without the damaged files. */
static enum tv_status fleet_open_views(struct tv_fleet_store *store, struct tv_error *err)
{
    struct tv_out files;
    size_t count = 0;
    while (tv_fleet_views[count])
        count++;
    const char **statements = tv_alloc(count + 2, sizeof *statements);
    tv_out_init_memory(&files);
    for (int i = 0; i < TV_FLEET_FOLDERS; i++)
        fleet_put_files(&files, store, (enum tv_fleet_table)i);
    tv_out_char(&files, '\0');
    statements[0] = (const char *)files.buffer;
    for (size_t i = 0; i < count; i++)
        statements[i + 1] = tv_fleet_views[i];
    enum tv_status status = fleet_open_database(store, statements, err);
    tv_out_release(&files);
    tv_free(statements);
    return status;
}

enum tv_status tv_fleet_open(struct tv_fleet_store *store, const struct tv_settings *settings,
                             struct tv_error *err)
{
    char folder[PATH_MAX];
    *store = (struct tv_fleet_store){.settings = settings};
    enum tv_status status = fleet_find_folder(settings->fleet.to, folder, err);
    if (status == TV_OK)
        status = tv_fleet_listing_read(&store->listing, settings->fleet.to, err);
    if (status == TV_OK)
        status = tv_fleet_note_missing(store, err);
    if (status != TV_OK)
        return status;
    store->meter = tv_meter_start(&store->progress, settings->quiet);
    status = fleet_open_views(store, err);
    if (status != TV_OK && tv_fleet_recover(store, err))
        return TV_OK;
    return status;
}

void tv_fleet_stop_meter(struct tv_fleet_store *store)
{
    tv_meter_stop(store->meter);
    store->meter = NULL;
}

void tv_fleet_close(struct tv_fleet_store *store, int *code)
{
    tv_fleet_stop_meter(store);
    tv_sql_close(store->sql);
    if (store->damaged.count > 0 && *code == TV_EXIT_OK)
        *code = TV_EXIT_INPUT;
    for (size_t i = 0; i < store->damaged.count; i++)
        tv_free((void *)(uintptr_t)store->damaged.items[i]);
    tv_free(store->damaged.items);
    tv_fleet_listing_release(&store->listing);
}

/* ---- Damaged files ---- */

static enum tv_status fleet_take_nothing(void *context, const struct tv_sql_value *values,
                                         struct tv_error *err)
{
    (void)context;
    (void)values;
    (void)err;
    return TV_OK;
}

enum tv_status tv_fleet_read_file(struct tv_sql *sql, enum tv_fleet_table table, const char *name,
                                  struct tv_error *err)
{
    struct tv_out query;
    tv_out_init_memory(&query);
    /* The hash of whole rows needs every column. */
    TV_DUCK_PUT(&query,
                "select bit_xor(hash(r)) from read_parquet(getvariable('folder') || '/?/' || ?) r",
                TV_SQL_PLAIN(tv_fleet_table_name(table)), TV_SQL_TEXT(tv_bytes_of(name)));
    enum tv_status status =
        tv_sql_for_each_row(sql, tv_sql_end(&query), 1, fleet_take_nothing, NULL, err);
    tv_out_release(&query);
    return status;
}

/* A search for damaged files. */
struct fleet_search {
    struct tv_fleet_store *store;
    struct tv_sql *sql;
};

/* Is a file still there?  Other programs may have replaced its batch. */
static bool fleet_is_there(const struct tv_fleet_store *store, enum tv_fleet_table table,
                           const char *name)
{
    char path[PATH_MAX];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/%s/%s", store->settings->fleet.to,
                          tv_fleet_table_name(table), name);
    return length > 0 && (size_t)length < sizeof path && stat(path, &info) == 0;
}

static void fleet_try_file(void *context, enum tv_fleet_table table, const char *name)
{
    struct fleet_search *search = context;
    struct tv_error reason = {0};
    if (tv_fleet_is_damaged(search->store, name) ||
        tv_fleet_read_file(search->sql, table, name, &reason) == TV_OK ||
        !fleet_is_there(search->store, table, name))
        return;
    size_t length = strlen(name) + 1;
    char *copy = tv_alloc(length, 1);
    memcpy(copy, name, length);
    tv_words_add(&search->store->damaged, copy);
    tv_message("traceview: %s/%s/%s is damaged; the answer leaves out its traces (%s)",
               search->store->settings->fleet.to, tv_fleet_table_name(table), name, reason.message);
}

/* The query itself is the reason of these errors. */
bool tv_fleet_may_be_damage(const struct tv_error *err)
{
    static const char *const others[] = {"Parser",     "Binder", "Catalog", "Conversion",
                                         "Permission", "Syntax", "Not imp"};
    static const char start[] = "SQL: ";
    const char *why = strstr(err->message, start);
    if (!why || !strstr(why, "Error"))
        return false;
    for (size_t i = 0; i < TV_COUNT(others); i++)
        if (strncmp(why + sizeof start - 1, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

enum tv_status tv_fleet_reopen(struct tv_fleet_store *store, struct tv_error *err)
{
    enum tv_status status = tv_fleet_listing_read(&store->listing, store->settings->fleet.to, err);
    tv_sql_close(store->sql);
    store->sql = NULL;
    return status == TV_OK ? fleet_open_views(store, err) : status;
}

/* Have other programs changed the files since they were listed?  Files that cannot be listed now
 * are no such change: the error of before stays. */
static bool fleet_has_changed(const struct tv_fleet_store *store)
{
    struct tv_fleet_listing now = {0};
    struct tv_error ignored = {0};
    bool changed = tv_fleet_listing_read(&now, store->settings->fleet.to, &ignored) == TV_OK &&
                   !tv_fleet_listing_is_equal(&now, &store->listing);
    tv_fleet_listing_release(&now);
    return changed;
}

/* Open the files of now, if they are others than those of an error.  They may change meanwhile. */
static bool fleet_take_changes(struct tv_fleet_store *store, struct tv_error *err)
{
    while (store->changes < MAX_CHANGES && tv_fleet_may_be_damage(err) &&
           fleet_has_changed(store)) {
        store->changes++;
        *err = (struct tv_error){0};
        if (tv_fleet_reopen(store, err) == TV_OK)
            return true;
    }
    return false;
}

bool tv_fleet_recover(struct tv_fleet_store *store, struct tv_error *err)
{
    struct tv_fleet_store bare;
    struct tv_error reason = {0};
    size_t before = store->damaged.count;
    if (fleet_take_changes(store, err))
        return true;
    if (!tv_fleet_may_be_damage(err))
        return false;
    tv_fleet_stop_meter(store);
    if (tv_fleet_open_bare(&bare, store->settings, &reason) == TV_OK) {
        struct fleet_search search = {store, bare.sql};
        for (int i = 0; i < TV_FLEET_FOLDERS; i++)
            fleet_visit_names(store, (enum tv_fleet_table)i, fleet_try_file, &search);
    }
    tv_sql_close(bare.sql);
    if (store->damaged.count == before)
        return fleet_take_changes(store, err);
    if (tv_fleet_reopen(store, &reason) != TV_OK) {
        *err = reason;
        return false;
    }
    *err = (struct tv_error){0};
    return true;
}

/* ---- Answers ---- */

/* Write the answer once; `begun`: part of it has left the program. */
static enum tv_status fleet_try_answer(struct tv_fleet_store *store, const char *query, bool *begun,
                                       struct tv_error *err)
{
    struct tv_meter *meter = store->meter;
    const struct tv_settings *settings = store->settings;
    struct tv_output output;
    struct tv_sql_output how = {.format = (enum tv_sql_format)settings->table.format,
                                .max_rows = settings->sql.max_rows,
                                .all = settings->table.format != TV_SQL_PARQUET};
    *begun = true;
    enum tv_status status =
        how.format == TV_SQL_PARQUET
            ? tv_output_open_binary(&output, settings->output, settings->quiet, err)
            : tv_output_open_text(&output, settings, how.format == TV_SQL_TABLE, err);
    if (status != TV_OK)
        return status;
    store->meter = NULL;
    tv_output_wait(&output, meter);
    status = tv_sql_run(store->sql, query, &how, &output.out, err);
    store->rows = how.rows;
    if (status == TV_OK)
        tv_sql_tell_names(&how, settings->quiet);
    *begun = status == TV_OK || (!output.path && output.out.total > 0);
    if (status != TV_OK && !*begun)
        output.out.length = 0;
    return tv_output_finish(&output, status, err);
}

/* Write the answer; try again without the files that turn out to be damaged. */
static enum tv_status fleet_write_query(struct tv_fleet_store *store, const char *query,
                                        struct tv_error *err)
{
    bool begun;
    enum tv_status status = fleet_try_answer(store, query, &begun, err);
    while (status != TV_OK && tv_fleet_recover(store, err)) {
        if (begun)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                           "the answer was partly written when damaged files were met, or files "
                           "that another program replaced: move damaged ones away, or write to a "
                           "file with --output");
        status = fleet_try_answer(store, query, &begun, err);
    }
    return status;
}

enum tv_status tv_fleet_write_answer(struct tv_fleet_store *store, const char *query,
                                     struct tv_error *err)
{
    const char *chart = tv_fleet_chart(store->settings);
    if (!chart)
        return fleet_write_query(store, query, err);
    struct tv_out drawn;
    tv_out_init_memory(&drawn);
    tv_out_format(&drawn, "with answer as (%s) %s", query, chart);
    enum tv_status status = fleet_write_query(store, tv_sql_end(&drawn), err);
    tv_out_release(&drawn);
    return status;
}
