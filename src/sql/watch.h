/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - a thread that interrupts the statements of a connection: those that run too long, and
 * those that are cancelled.
 */
#ifndef TV_SQL_WATCH_H
#define TV_SQL_WATCH_H

#include <pthread.h>
#include <time.h>

#include "sql/duckdb.h"
#include "sql/sql.h"

struct tv_sql_watch {
    bool started;         /* there is such a thread */
    uint64_t max_seconds; /* 0: any; statements may be cancelled */
    const char *longer;   /* advice in the error about max_seconds */
    /* See struct tv_sql_options; NULL: statements that do not heed an interruption are waited for.
     */
    void (*stuck)(void *context, const struct tv_error *why);
    void *stuck_context;
    duck_connection connection;
    _Atomic bool *stop; /* set with each interruption: ends passes over files; NULL: none */
    pthread_t thread;
    pthread_mutex_t lock; /* lock of the rest */
    pthread_cond_t changed;
    struct timespec deadline;
    int64_t interrupted_ms; /* time of the first interruption of the statement; 0: none yet */
    bool running, expired, cancelled, ending;
};

/* Start the thread that watches a connection, if the options set a time or say that statements may
 * be cancelled. */
enum tv_status tv_sql_watch_start(struct tv_sql_watch *watch, duck_connection connection,
                                  const struct tv_sql_options *options,
                                  struct tv_error *err) TV_MUST_CHECK;

/* End the thread; also of a watch that is all zeros. */
void tv_sql_watch_end(struct tv_sql_watch *watch);

/* Let the time of statements begin or end. */
void tv_sql_watch_run(struct tv_sql_watch *watch, bool running);

/* Cancel the statements that run or begin next, or let the next ones run (false). */
void tv_sql_watch_cancel(struct tv_sql_watch *watch, bool cancelled);

/* Return why statements failed with *err, which is replaced if they were interrupted. */
enum tv_status tv_sql_watch_explain(struct tv_sql_watch *watch, struct tv_error *err);

#endif
