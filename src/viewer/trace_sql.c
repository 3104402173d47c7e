/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_sql.c - questions in SQL about an open trace.
 *
 * Queries run in a copy of the viewer's process (sql_process.c), in its sandbox: DuckDB's library
 * was opened before it closed. The database reads the trace in place, so it takes no memory but
 * that of queries, which has a limit, as the time of a query has. When a query ends its process,
 * the next question starts another one, without what CREATE made.
 *
 * A page cancels a question by the number that it gave to it. The request to cancel may arrive
 * before the question has its turn, so the latest numbers are remembered.
 */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "sql/sql.h"
#include "viewer/internal.h"

/* Number of cancelled questions that are remembered. */
#define CANCELLED 16

/* Queries get this part of the machine's memory, and never more than a limit. */
#define MEMORY_SHARE 4
#define MAX_MEMORY ((uint64_t)4 << 30)

struct tv_trace_sql {
    const struct tv_viewer_sql *options;
    pthread_mutex_t turn;           /* held by the question that runs */
    struct tv_sql_process *process; /* NULL: none; changed with both locks held */
    pthread_mutex_t lock;           /* of what follows, and of sending to the process */
    bool runs;                      /* a question was sent, and is not answered yet */
    uint64_t running;               /* number of that question */
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
    assert(!sql->runs);
    tv_sql_process_end(sql->process);
    pthread_mutex_destroy(&sql->turn);
    pthread_mutex_destroy(&sql->lock);
    tv_free(sql);
}

/* Return the memory that DuckDB may take: what the user allows, else a share of the machine's, up
 * to MAX_MEMORY. */
static uint64_t trace_sql_memory(const struct tv_viewer_sql *options)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    uint64_t part =
        pages > 0 && size > 0 ? (uint64_t)pages / MEMORY_SHARE * (uint64_t)size : (uint64_t)1 << 30;
    if (options->max_memory > 0)
        return options->max_memory;
    return part < MAX_MEMORY ? part : MAX_MEMORY;
}

/* Start the process unless it runs. The caller holds both locks. */
static enum tv_status trace_sql_start(struct tv_trace_sql *sql, const struct tv_trace *trace,
                                      struct tv_error *err)
{
    struct tv_sql_options options = {
        .threads = sql->options->threads,
        .max_memory = trace_sql_memory(sql->options),
        .max_seconds = TV_SQL_SECONDS,
        .longer = "; `traceview sql` in a terminal has no limit",
    };
    if (!sql->process)
        sql->process = tv_sql_process_start(trace, sql->options, &options);
    return sql->process ? TV_OK
                        : tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                                  "SQL: no process can be started for queries");
}

/* Send a question, unless it is cancelled. */
static enum tv_status trace_sql_begin(struct tv_trace_sql *sql, const struct tv_trace *trace,
                                      const struct tv_sql_question *question, struct tv_error *err)
{
    bool cancelled = false;
    pthread_mutex_lock(&sql->lock);
    for (unsigned i = 0; i < CANCELLED && question->number > 0; i++)
        cancelled |= sql->cancelled[i] == question->number;
    enum tv_status status = cancelled ? tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: cancelled")
                                      : trace_sql_start(sql, trace, err);
    if (status == TV_OK) {
        sql->runs = true;
        sql->running = question->number;
        tv_sql_process_ask(sql->process, question);
    }
    pthread_mutex_unlock(&sql->lock);
    return status;
}

/* Note the end of a question, and of the process if that has ended. */
static void trace_sql_end(struct tv_trace_sql *sql, bool ended)
{
    pthread_mutex_lock(&sql->lock);
    sql->runs = false;
    if (ended) {
        tv_sql_process_end(sql->process);
        sql->process = NULL;
    }
    pthread_mutex_unlock(&sql->lock);
}

void tv_trace_sql_cancel(struct tv_trace_sql *sql, uint64_t number)
{
    if (number == 0)
        return;
    pthread_mutex_lock(&sql->lock);
    sql->cancelled[sql->next++ % CANCELLED] = number;
    if (sql->runs && sql->running == number)
        tv_sql_process_cancel(sql->process);
    pthread_mutex_unlock(&sql->lock);
}

enum tv_status tv_trace_sql_answer(struct tv_trace_sql *sql, const struct tv_trace *trace,
                                   const struct tv_sql_question *question, struct tv_out *out,
                                   struct tv_error *err)
{
    assert(sql->options->ready && question->limit <= TV_SQL_ANSWER_ROWS);
    pthread_mutex_lock(&sql->turn);
    enum tv_status status = trace_sql_begin(sql, trace, question, err);
    if (status == TV_OK) {
        bool ended;
        status = tv_sql_process_receive(sql->process, out, &ended, err);
        trace_sql_end(sql, ended);
    }
    pthread_mutex_unlock(&sql->turn);
    return status;
}
