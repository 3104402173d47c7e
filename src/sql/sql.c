/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.c - the database, its table functions, and running statements (sql.h).
 *
 * A table function has three parts.  Bind lists the columns.  Init, once for a scan, notes which
 * columns are wanted; threads then take rows in turn by adding to `next`.  The function fills a
 * chunk of up to TV_SQL_ROWS rows.
 *
 * DuckDB hands no conditions down.  So that a small range of a large trace does not cost a scan of
 * it, tv_slice_in(from, to) has the range as parameters and scans pieces of rows, found by
 * bisection.  tv_slice() leaves out thread states and what processors ran.
 */
#include "sql/sql.h"
#include "sql/rewrite.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/workers.h"
#include "sql/statement.h"
#include "sql/tables.h"
#include "sql/values.h"

/* Time between two interruptions of a statement. */
#define INTERRUPT_MS 20

/* The rows of a table that a function has. */
enum sql_rows {
    SQL_ALL_ROWS,
    SQL_SLICES, /* of any_slice: slices and instants */
    SQL_RANGE,  /* those of them that overlap the range of the two parameters */
};

struct sql_table_info {
    const struct tv_sql_data *data;
    const struct tv_sql_table *table;
    enum sql_rows rows;
};

/* A thread that interrupts statements that run too long, or that are cancelled. */
struct sql_watch {
    uint64_t max_seconds; /* 0: there is no such thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct timespec deadline;
    int64_t interrupted_ms; /* time of the first interruption of the statement; 0: none yet */
    bool running, expired, cancelled, ending;
};

struct tv_sql {
    duck_database database;
    duck_connection connection;
    struct sql_watch watch;
    struct tv_sql_data data;
    bool has_trace;
    struct sql_table_info *infos;
    bool *made, *named; /* of the views and macros of the prelude (views.c) */
    bool allows_files;
    bool has_creations; /* a query has created or dropped something */
    const char *longer; /* advice about max_seconds */
    void (*stuck)(void *context, const struct tv_error *why);
    void *stuck_context;
    char picture[1024]; /* of the last error */
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
    for (; why[length] && why + length != picture && length + 1 < sizeof text; length++)
        text[length] = why[length] == '\n' ? ' ' : why[length];
    text[length] = '\0';
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: %s", text);
}

/* Fail like sql_fail, and keep the picture: the line of the query, and a mark under the place. */
static enum tv_status sql_fail_query(struct tv_sql *sql, struct tv_error *err, const char *why)
{
    static const char unknown[] = "Binder Error: Referenced column \"";
    const char *picture = why ? strstr(why, "\n\nLINE ") : NULL;
    char name[80]; /* in double quotes, which the query has if it means a text */
    snprintf(sql->picture, sizeof sql->picture, "%s", picture ? picture + 2 : "");
    if (why &&
        (tv_sql_fail_absent(err, why) || (!sql->allows_files && tv_sql_fail_files(err, why))))
        return TV_ERR_USAGE;
    if (!why || strncmp(why, unknown, sizeof unknown - 1) != 0)
        return sql_fail(err, why);
    const char *column = why + sizeof unknown - 1;
    snprintf(name, sizeof name, "\"%.*s\"", (int)strcspn(column, "\""), column);
    if (!strstr(sql->picture, name))
        return sql_fail(err, why);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "SQL: there is no column %s; texts stand in single quotes", name);
}

/* ---- Table functions ---- */

/* Slices of one row, or instants. */
struct sql_piece {
    uint64_t first; /* id */
    uint32_t count; /* at most TV_SQL_ROWS */
};

/* The time that tv_slice_in scans. */
struct sql_range {
    int64_t from, to;
};

/* A scan of a table. */
struct sql_scan {
    const struct sql_table_info *info;
    bool in_pieces; /* else all rows */
    struct sql_piece *pieces;
    uint64_t count; /* of pieces, or of rows */
    _Atomic uint64_t next;
    uint32_t column_count;
    uint32_t columns[64]; /* wanted ones; TV_NONE: only the number of rows */
};

static void sql_free(void *memory)
{
    tv_free(memory);
}

static void sql_free_scan(void *memory)
{
    struct sql_scan *scan = memory;
    tv_free(scan->pieces);
    tv_free(scan);
}

static const int sql_types[] = {
    [TV_SQL_INTEGER] = DUCK_BIGINT, [TV_SQL_REAL] = DUCK_DOUBLE,     [TV_SQL_TEXT] = DUCK_VARCHAR,
    [TV_SQL_NAME] = DUCK_ENUM,      [TV_SQL_BOOLEAN] = DUCK_BOOLEAN,
};

/* Return a time that a query gives; the query fails if it is NULL. */
static int64_t sql_parameter(duck_bind bind, uint64_t number)
{
    duck_value value = tv_duck.bind_get_parameter(bind, number);
    bool is_null = tv_duck.is_null_value(value);
    int64_t integer = is_null ? 0 : tv_duck.get_int64(value);
    if (is_null)
        tv_duck.bind_set_error(bind, "slice_in(t0, t1) needs two times");
    tv_duck.destroy_value(&value);
    return integer;
}

static bool sql_is_slice_track(const struct tv_track *track)
{
    return track->kind != TV_TRACK_CPU && track->kind != TV_TRACK_STATES;
}

static uint64_t sql_count_rows(const struct sql_table_info *info)
{
    const struct tv_trace *trace = info->data->trace;
    uint64_t count = info->table->count(info->data);
    for (uint32_t i = 0; info->rows == SQL_SLICES && i < trace->track_count; i++)
        if (!sql_is_slice_track(&trace->tracks[i]))
            count -= trace->tracks[i].slice_count;
    return count;
}

static void sql_bind_table(duck_bind bind)
{
    const struct sql_table_info *info = tv_duck.bind_get_extra_info(bind);
    if (info->rows == SQL_RANGE) {
        struct sql_range *range = tv_alloc(1, sizeof *range);
        *range = (struct sql_range){sql_parameter(bind, 0), sql_parameter(bind, 1)};
        tv_duck.bind_set_bind_data(bind, range, sql_free);
    }
    for (uint32_t i = 0; i < info->table->column_count; i++) {
        const struct tv_sql_column *column = &info->table->columns[i];
        if (column->type == TV_SQL_NAME) {
            tv_duck.bind_add_result_column(bind, column->name, info->data->name_type);
            continue;
        }
        duck_type type = tv_duck.create_logical_type(sql_types[column->type]);
        tv_duck.bind_add_result_column(bind, column->name, type);
        tv_duck.destroy_logical_type(&type);
    }
    if (info->rows != SQL_RANGE && !info->table->slow_count)
        tv_duck.bind_set_cardinality(bind, sql_count_rows(info), true);
}

/* A growing list of pieces. */
struct sql_pieces {
    struct sql_piece *items;
    size_t count, capacity;
};

static void sql_add_pieces(struct sql_pieces *pieces, uint64_t first, uint64_t end)
{
    while (first < end) {
        uint32_t count = end - first < TV_SQL_ROWS ? (uint32_t)(end - first) : TV_SQL_ROWS;
        pieces->items = tv_array_reserve(pieces->items, &pieces->capacity, pieces->count + 1,
                                         sizeof *pieces->items);
        pieces->items[pieces->count++] = (struct sql_piece){first, count};
        first += count;
    }
}

/* List all slices and instants; nothing if the trace has no other rows. */
static struct sql_pieces sql_list_slices(const struct tv_sql_data *data)
{
    const struct tv_trace *trace = data->trace;
    struct sql_pieces pieces = {.items = NULL};
    uint64_t first = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        if (sql_is_slice_track(&trace->tracks[trace->rows[row].track]))
            continue;
        sql_add_pieces(&pieces, first, data->first_id[row]);
        first = data->first_id[row + 1];
    }
    sql_add_pieces(&pieces, first, data->first_id[trace->row_count] + trace->tables.instants.count);
    return pieces;
}

/* Return the first slice of a row that overlaps a range, as far as its end tells. */
static uint32_t sql_find_first(const struct tv_trace *trace, uint32_t row,
                               const struct sql_range *range)
{
    /* One without length at `from` is in the range; one that ends there is not. */
    uint32_t first = tv_row_find(trace, row, range->from > INT64_MIN ? range->from - 1 : INT64_MIN);
    for (; first < trace->rows[row].count; first++) {
        struct tv_slice slice = tv_slice_get(trace, row, first);
        if (slice.start >= range->from || slice.start + slice.length > range->from ||
            slice.flags & TV_SLICE_OPEN)
            break;
    }
    return first;
}

/* List the slices and instants that overlap a range. */
static struct sql_pieces sql_find_pieces(const struct tv_sql_data *data,
                                         const struct sql_range *range)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_instant *instants = trace->tables.instants.rows;
    struct sql_pieces pieces = {.items = NULL};
    uint64_t slices = data->first_id[trace->row_count], first = 0;
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (sql_is_slice_track(&trace->tracks[trace->rows[row].track]))
            sql_add_pieces(&pieces, data->first_id[row] + sql_find_first(trace, row, range),
                           data->first_id[row] + tv_row_find_start(trace, row, range->to));
    for (uint64_t i = 0; i <= trace->tables.instants.count; i++) {
        bool is_in = false;
        if (i < trace->tables.instants.count) {
            tv_ns time = tv_trace_time(trace, instants[i].input, instants[i].time);
            is_in = time >= range->from && time < range->to;
        }
        if (is_in)
            continue;
        sql_add_pieces(&pieces, slices + first, slices + i);
        first = i + 1;
    }
    return pieces;
}

/* Does a trace have rows of any_slice that are no slices? */
static bool sql_has_others(const struct tv_trace *trace)
{
    uint32_t i = 0;
    while (i < trace->track_count && sql_is_slice_track(&trace->tracks[i]))
        i++;
    return i < trace->track_count;
}

static void sql_init_scan(duck_init init)
{
    struct sql_scan *scan = tv_alloc(1, sizeof *scan);
    scan->info = tv_duck.init_get_extra_info(init);
    const struct tv_sql_data *data = scan->info->data;
    bool is_range = scan->info->rows == SQL_RANGE;
    scan->in_pieces = is_range || (scan->info->rows == SQL_SLICES && sql_has_others(data->trace));
    if (scan->in_pieces) {
        struct sql_pieces pieces = is_range
                                       ? sql_find_pieces(data, tv_duck.init_get_bind_data(init))
                                       : sql_list_slices(data);
        scan->pieces = pieces.items;
        scan->count = pieces.count;
    } else {
        scan->count = scan->info->table->count(data);
    }
    scan->column_count = (uint32_t)tv_duck.init_get_column_count(init);
    assert(scan->column_count <= TV_COUNT(scan->columns));
    for (uint32_t i = 0; i < scan->column_count; i++) {
        uint64_t column = tv_duck.init_get_column_index(init, i);
        scan->columns[i] = column < scan->info->table->column_count ? (uint32_t)column : TV_NONE;
    }
    tv_duck.init_set_init_data(init, scan, sql_free_scan);
    tv_duck.init_set_max_threads(init,
                                 scan->in_pieces ? scan->count + 1 : scan->count / TV_SQL_ROWS + 1);
}

static void sql_init_thread(duck_init init)
{
    struct tv_sql_scratch *scratch = tv_alloc(1, sizeof *scratch);
    tv_duck.init_set_init_data(init, scratch, sql_free);
}

/* Take the next rows of a scan; none at its end. */
static struct sql_piece sql_take_piece(struct sql_scan *scan)
{
    if (scan->in_pieces) {
        uint64_t next = atomic_fetch_add(&scan->next, 1);
        return next < scan->count ? scan->pieces[next] : (struct sql_piece){0};
    }
    uint64_t first = atomic_fetch_add(&scan->next, TV_SQL_ROWS);
    uint64_t left = first < scan->count ? scan->count - first : 0;
    return (struct sql_piece){first, left < TV_SQL_ROWS ? (uint32_t)left : TV_SQL_ROWS};
}

static void sql_fill_chunk(duck_call call, duck_chunk chunk)
{
    struct sql_scan *scan = tv_duck.function_get_init_data(call);
    struct tv_sql_scratch *scratch = tv_duck.function_get_local_init_data(call);
    struct sql_piece piece = sql_take_piece(scan);
    uint64_t first = piece.first;
    uint32_t count = piece.count;
    scratch->count = 0;
    for (uint32_t i = 0; i < scan->column_count && count > 0; i++) {
        if (scan->columns[i] == TV_NONE)
            continue;
        struct tv_sql_vector vector = {.vector = tv_duck.data_chunk_get_vector(chunk, i)};
        vector.data = tv_duck.vector_get_data(vector.vector);
        vector.name_bytes = scan->info->data->name_bytes;
        scan->info->table->fill(scan->info->data, scratch, scan->columns[i], first, count, &vector);
    }
    tv_duck.data_chunk_set_size(chunk, count);
}

static bool sql_register_table(struct tv_sql *sql, struct sql_table_info *info)
{
    char name[64];
    duck_function function = tv_duck.create_table_function();
    snprintf(name, sizeof name, "tv_%s",
             info->rows == SQL_SLICES  ? "slice"
             : info->rows == SQL_RANGE ? "slice_in"
                                       : info->table->name);
    tv_duck.table_function_set_name(function, name);
    if (info->rows == SQL_RANGE) {
        duck_type integer = tv_duck.create_logical_type(DUCK_BIGINT);
        tv_duck.table_function_add_parameter(function, integer);
        tv_duck.table_function_add_parameter(function, integer);
        tv_duck.destroy_logical_type(&integer);
    }
    tv_duck.table_function_set_extra_info(function, info, NULL);
    tv_duck.table_function_set_bind(function, sql_bind_table);
    tv_duck.table_function_set_init(function, sql_init_scan);
    tv_duck.table_function_set_local_init(function, sql_init_thread);
    tv_duck.table_function_set_function(function, sql_fill_chunk);
    tv_duck.table_function_supports_projection_pushdown(function, true);
    bool done = tv_duck.register_table_function(sql->connection, function) == 0;
    tv_duck.destroy_table_function(&function);
    return done;
}

/* ---- Limits of time ---- */

/* Fail a statement that was interrupted. */
static enum tv_status sql_fail_interrupted(const struct tv_sql *sql, bool cancelled,
                                           struct tv_error *err)
{
    if (cancelled)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: cancelled");
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, TV_SQL_NO_TIME " %llu s%s",
                   (unsigned long long)sql->watch.max_seconds, sql->longer);
}

/* Interrupt the statement, and end the process if it did not heed earlier interruptions. */
static void sql_interrupt(struct tv_sql *sql)
{
    struct sql_watch *watch = &sql->watch;
    int64_t now = tv_monotonic_ms();
    if (watch->interrupted_ms == 0)
        watch->interrupted_ms = now;
    tv_duck.interrupt(sql->connection);
    if (sql->stuck && now - watch->interrupted_ms > TV_SQL_GRACE_MS) {
        struct tv_error why;
        (void)sql_fail_interrupted(sql, watch->cancelled, &why);
        sql->stuck(sql->stuck_context, &why);
    }
}

static void *sql_watch(void *argument)
{
    struct tv_sql *sql = argument;
    struct sql_watch *watch = &sql->watch;
    pthread_mutex_lock(&watch->lock);
    while (!watch->ending) {
        if (!watch->running) {
            pthread_cond_wait(&watch->changed, &watch->lock);
        } else if (watch->expired || watch->cancelled) {
            /* A statement forgets an interruption that came before it began: repeat it. */
            sql_interrupt(sql);
            watch->deadline = tv_monotonic_deadline(INTERRUPT_MS);
            pthread_cond_timedwait(&watch->changed, &watch->lock, &watch->deadline);
        } else if (pthread_cond_timedwait(&watch->changed, &watch->lock, &watch->deadline) ==
                   ETIMEDOUT) {
            watch->expired = watch->running;
        }
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

static enum tv_status sql_start_watch(struct tv_sql *sql, uint64_t max_seconds,
                                      struct tv_error *err)
{
    struct sql_watch *watch = &sql->watch;
    pthread_condattr_t monotonic;
    if (max_seconds == 0)
        return TV_OK;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&watch->lock, NULL);
    if (tv_thread_start(&watch->thread, TV_THREAD_STACK, sql_watch, sql) != 0)
        return sql_fail(err, "no thread can be started");
    watch->max_seconds = max_seconds;
    return TV_OK;
}

static void sql_end_watch(struct sql_watch *watch)
{
    if (watch->max_seconds == 0)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->ending = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->changed);
}

/* Let the time of statements begin or end. */
static void sql_set_running(struct sql_watch *watch, bool running)
{
    if (watch->max_seconds == 0)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->deadline = tv_monotonic_deadline(watch->max_seconds * 1000);
    watch->running = running;
    watch->interrupted_ms = 0;
    if (running)
        watch->expired = false;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

void tv_sql_cancel(struct tv_sql *sql, bool cancelled)
{
    struct sql_watch *watch = &sql->watch;
    assert(watch->max_seconds > 0);
    pthread_mutex_lock(&watch->lock);
    watch->cancelled = cancelled;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

/* Replace the error of a statement that failed because it was interrupted. */
static enum tv_status sql_explain_interruption(struct tv_sql *sql, struct tv_error *err)
{
    struct sql_watch *watch = &sql->watch;
    if (watch->max_seconds == 0)
        return err->status;
    pthread_mutex_lock(&watch->lock); /* another thread may cancel at any time */
    bool cancelled = watch->cancelled, expired = watch->expired;
    pthread_mutex_unlock(&watch->lock);
    return cancelled || expired ? sql_fail_interrupted(sql, cancelled, err) : err->status;
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
    sql->infos = tv_alloc(count + 2, sizeof *sql->infos);
    for (size_t i = 0; i < count; i++)
        sql->infos[i] = (struct sql_table_info){&sql->data, tv_sql_tables[i], SQL_ALL_ROWS};
    sql->infos[count] = (struct sql_table_info){&sql->data, &tv_sql_slice_table, SQL_SLICES};
    sql->infos[count + 1] = (struct sql_table_info){&sql->data, &tv_sql_slice_table, SQL_RANGE};
    for (size_t i = 0; i < count + 2; i++)
        if (!sql_register_table(sql, &sql->infos[i]))
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

enum tv_status tv_sql_open(const struct tv_trace *trace, const struct tv_sql_options *options,
                           struct tv_sql **sql, struct tv_error *err)
{
    assert(tv_duck.query);
    struct tv_sql *made = tv_alloc(1, sizeof *made);
    made->longer = options->longer ? options->longer : " (--max-time)";
    made->stuck = options->stuck;
    made->allows_files = options->allow_files;
    made->stuck_context = options->stuck_context;
    enum tv_status status = sql_configure(made, options, err);
    if (status == TV_OK)
        status = sql_start_watch(made, options->max_seconds, err);
    if (status == TV_OK && trace) {
        tv_sql_data_init(&made->data, trace);
        made->has_trace = true;
        status = sql_add_tables(made, err);
    }
    if (status == TV_OK)
        status = sql_execute(made, "set integer_division = true", err);
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
    tv_sql_data_init(&old->data, trace);
    memset(old->made, 0, tv_sql_view_count()); /* they are about the names of the old trace */
    return TV_OK;
}

void tv_sql_close(struct tv_sql *sql)
{
    if (!sql)
        return;
    sql_end_watch(&sql->watch);
    if (sql->connection)
        tv_duck.disconnect(&sql->connection);
    if (sql->database)
        tv_duck.close(&sql->database);
    if (sql->has_trace)
        tv_sql_data_release(&sql->data);
    tv_sql_macros_release(&sql->macros);
    tv_free(sql->infos);
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
    if (tv_duck.result_error_type(result) == DUCK_OUT_OF_MEMORY)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, TV_SQL_NO_MEMORY);
    return sql_fail_query(sql, err, tv_duck.result_error(result));
}

/* Receiver of the rows of the last statement, or also of each SELECT and EXPLAIN. */
struct sql_taker {
    tv_sql_take *take;
    void *context;
    bool all;
};

/* Run a statement whose rows are taken while they are found. */
static enum tv_status sql_take_rows(struct tv_sql *sql, duck_prepared prepared,
                                    const struct sql_taker *taker, struct tv_error *err)
{
    duck_result result;
    enum tv_status status = TV_OK;
    if (tv_duck.execute_prepared_streaming(prepared, &result) != 0)
        status = sql_fail_result(sql, &result, err);
    else
        status = taker->take(taker->context, &result, err);
    const char *why = status == TV_OK ? tv_duck.result_error(&result) : NULL;
    if (why && why[0])
        status = sql_fail_result(sql, &result, err);
    tv_duck.destroy_result(&result);
    return status;
}

static enum tv_status sql_run_statement(struct tv_sql *sql, duck_prepared prepared, bool is_last,
                                        const struct sql_taker *taker, struct tv_error *err)
{
    duck_result result;
    enum tv_status status = TV_OK;
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
        return sql_take_rows(sql, prepared, taker, err);
    if (tv_duck.execute_prepared(prepared, &result) != 0)
        status = sql_fail_result(sql, &result, err);
    tv_duck.destroy_result(&result);
    return status;
}

/* Prepare a statement of a text; if it is wrong, do so again with all views, so that the error can
 * name one of them.  A statement can be prepared once. */
static int sql_prepare(struct tv_sql *sql, const char *text, duck_statements *statements,
                       uint64_t number, duck_prepared *prepared)
{
    struct tv_error unused;
    if (tv_duck.prepare_extracted_statement(sql->connection, *statements, number, prepared) == 0)
        return 0;
    if (!sql->has_trace || sql_make_views(sql, TV_SQL_ALL_VIEWS, &unused) != TV_OK)
        return 1;
    tv_duck.destroy_prepare(prepared);
    tv_duck.destroy_extracted(statements);
    (void)tv_duck.extract_statements(sql->connection, text, statements);
    return tv_duck.prepare_extracted_statement(sql->connection, *statements, number, prepared);
}

static enum tv_status sql_run_statements(struct tv_sql *sql, const char *text,
                                         const struct sql_taker *taker, struct tv_error *err)
{
    duck_statements statements;
    uint64_t count = tv_duck.extract_statements(sql->connection, text, &statements);
    enum tv_status status = TV_OK;
    if (count == 0) {
        const char *why = tv_duck.extract_statements_error(statements);
        status = sql_fail_query(sql, err, why ? why : "there is no statement");
    }
    for (uint64_t i = 0; i < count && status == TV_OK; i++) {
        duck_prepared prepared;
        if (sql_prepare(sql, text, &statements, i, &prepared) != 0)
            status = sql_fail_query(sql, err, tv_duck.prepare_error(prepared));
        else
            status = sql_run_statement(sql, prepared, i + 1 == count, taker, err);
        tv_duck.destroy_prepare(&prepared);
    }
    tv_duck.destroy_extracted(&statements);
    return status;
}

/* The output of tv_sql_run. */
struct sql_writing {
    struct tv_sql_output *output;
    struct tv_out *out;
    uint32_t answers; /* written so far */
};

/* Write an answer, with an empty line before it if it is not the first one of a text.  JSON needs
 * none. */
static enum tv_status sql_write(void *context, duck_result *result, struct tv_error *err)
{
    struct sql_writing *writing = context;
    const struct tv_sql_rows rows = {.result = result};
    enum tv_sql_format format = writing->output->format;
    bool is_text = format != TV_SQL_JSON && format != TV_SQL_JSONL;
    if (writing->answers++ > 0) {
        writing->output->headed = false;
        tv_out_text(writing->out, is_text && tv_duck.column_count(result) > 0 ? "\n" : "");
    }
    return tv_sql_write_result(writing->out, &rows, writing->output, err);
}

/* Rewrite and run the statements of a text. */
static enum tv_status sql_run_text(struct tv_sql *sql, const char *text,
                                   const struct sql_taker *taker, struct tv_error *err)
{
    char *rewritten;
    sql->picture[0] = '\0';
    enum tv_status status = tv_sql_rewrite(&sql->macros, text, &rewritten, err);
    if (status != TV_OK)
        return status;
    sql_set_running(&sql->watch, true);
    status = sql_make_views(sql, rewritten, err);
    if (status == TV_OK)
        status = sql_run_statements(sql, rewritten, taker, err);
    sql_set_running(&sql->watch, false);
    tv_free(rewritten);
    return status == TV_OK ? TV_OK : sql_explain_interruption(sql, err);
}

enum tv_status tv_sql_run(struct tv_sql *sql, const char *text, struct tv_sql_output *output,
                          struct tv_out *out, struct tv_error *err)
{
    struct sql_writing writing = {output, out, 0};
    struct sql_taker taker = {sql_write, &writing, output->all};
    return sql_run_text(sql, text, &taker, err);
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
    const struct tv_sql_bounds *bounds;
    struct tv_out *out;
};

static enum tv_status sql_answer(void *context, duck_result *result, struct tv_error *err)
{
    const struct sql_answering *answering = context;
    return tv_sql_write_answer(answering->out, result, answering->bounds, err);
}

enum tv_status tv_sql_answer(struct tv_sql *sql, const char *text,
                             const struct tv_sql_bounds *bounds, struct tv_out *out,
                             struct tv_error *err)
{
    struct sql_answering answering = {bounds, out};
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
