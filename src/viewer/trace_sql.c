/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_sql.c - questions in SQL about an open trace.
 *
 * Queries run in the viewer's process, in the sandbox that `traceview sql` has, too: DuckDB's
 * library was opened before it closed. The database reads the trace in place, so it takes no memory
 * but that of queries, which has a limit, as the time of a query has.
 *
 * A page cancels a question by the number that it gave to it. The request to cancel may arrive
 * before the question has its turn, so the latest numbers are remembered.
 */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "sql/sql.h"
#include "viewer/internal.h"

/* Number of cancelled questions that are remembered. */
#define CANCELLED 16

/* Queries get this part of the machine's memory, and never more than a limit. */
#define MEMORY_SHARE 4
#define MOST_MEMORY ((uint64_t)4 << 30)

struct tv_trace_sql {
    const struct tv_viewer_sql *options;
    pthread_mutex_t turn; /* held by the question that runs */
    struct tv_sql *database;
    pthread_mutex_t lock; /* of what follows */
    uint64_t running;     /* number of the question that runs; 0: none */
    uint64_t cancelled[CANCELLED];
    unsigned next; /* place of the next number in `cancelled` */
};

struct tv_trace_sql *tv_trace_sql_new(const struct tv_viewer_sql *options)
{
    struct tv_trace_sql *sql = tv_alloc(1, sizeof *sql);
    sql->options = options;
    pthread_mutex_init(&sql->turn, NULL);
    pthread_mutex_init(&sql->lock, NULL);
    return sql;
}

void tv_trace_sql_free(struct tv_trace_sql *sql)
{
    assert(sql->running == 0);
    tv_sql_close(sql->database);
    pthread_mutex_destroy(&sql->turn);
    pthread_mutex_destroy(&sql->lock);
    tv_free(sql);
}

static uint64_t trace_sql_memory(const struct tv_viewer_sql *options)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    uint64_t part =
        pages > 0 && size > 0 ? (uint64_t)pages / MEMORY_SHARE * (uint64_t)size : (uint64_t)1 << 30;
    if (options->max_memory > 0)
        return options->max_memory;
    return part < MOST_MEMORY ? part : MOST_MEMORY;
}

/* Open the database unless it is. */
static enum tv_status trace_sql_open(struct tv_trace_sql *sql, const struct tv_trace *trace,
                                     struct tv_error *err)
{
    struct tv_sql_options options = {
        .threads = sql->options->threads,
        .max_memory = trace_sql_memory(sql->options),
        .max_seconds = TV_SQL_SECONDS,
        .longer = "; `traceview sql` in a terminal has no limit",
    };
    return sql->database ? TV_OK : tv_sql_open(trace, &options, &sql->database, err);
}

/* Let a question begin; false: it is cancelled. */
static bool trace_sql_begin(struct tv_trace_sql *sql, uint64_t number)
{
    bool cancelled = false;
    pthread_mutex_lock(&sql->lock);
    for (unsigned i = 0; i < CANCELLED && number > 0; i++)
        cancelled |= sql->cancelled[i] == number;
    if (!cancelled) {
        sql->running = number;
        tv_sql_cancel(sql->database, false);
    }
    pthread_mutex_unlock(&sql->lock);
    return !cancelled;
}

static void trace_sql_end(struct tv_trace_sql *sql)
{
    pthread_mutex_lock(&sql->lock);
    sql->running = 0;
    pthread_mutex_unlock(&sql->lock);
}

void tv_trace_sql_cancel(struct tv_trace_sql *sql, uint64_t number)
{
    if (number == 0)
        return;
    pthread_mutex_lock(&sql->lock);
    sql->cancelled[sql->next++ % CANCELLED] = number;
    if (sql->running == number)
        tv_sql_cancel(sql->database, true);
    pthread_mutex_unlock(&sql->lock);
}

static enum tv_status trace_sql_run(struct tv_trace_sql *sql,
                                    const struct tv_sql_question *question, struct tv_out *out,
                                    struct tv_error *err)
{
    const struct tv_sql_bounds bounds = {question->offset, question->limit, TV_SQL_ANSWER_BYTES};
    if (!trace_sql_begin(sql, question->number))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: cancelled");
    enum tv_status status = tv_sql_answer(sql->database, question->text, &bounds, out, err);
    const char *picture = tv_sql_error_picture(sql->database);
    if (status != TV_OK && picture[0]) {
        tv_out_text(out, ",\"picture\":");
        tv_out_json(out, tv_bytes_of(picture));
    }
    trace_sql_end(sql);
    return status;
}

enum tv_status tv_trace_sql_answer(struct tv_trace_sql *sql, const struct tv_trace *trace,
                                   const struct tv_sql_question *question, struct tv_out *out,
                                   struct tv_error *err)
{
    assert(sql->options->ready && question->limit <= TV_SQL_ANSWER_ROWS);
    pthread_mutex_lock(&sql->turn);
    enum tv_status status = trace_sql_open(sql, trace, err);
    if (status == TV_OK)
        status = trace_sql_run(sql, question, out, err);
    pthread_mutex_unlock(&sql->turn);
    return status;
}
