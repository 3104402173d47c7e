/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql_process.c - a copy of the viewer (fork) that answers questions in SQL about one trace.
 *
 *     viewer   --- requests: struct sql_request, text --->   listener thread   --> cancels
 *              <-- replies: struct sql_reply, bytes ------   main thread       --> runs statements
 *                                                            watch (sql.c)     --> interrupts
 *
 * A query can hold DuckDB for minutes in a function that it does not interrupt, or take more memory
 * than DuckDB counts. A process can be given up, a thread cannot. The copy shares the memory of the
 * trace with the viewer, reads nothing again, and has the viewer's sandbox, which lets it open
 * nothing. It ends when the viewer says so, or is gone, because its listener then reads the end of
 * the requests.
 *
 * Other threads of the viewer do not exist in the copy, and a lock that one of them held stays
 * held. The C library takes care of its own; the others belong to sources of files, and a question
 * that waits for one is stopped as any other.
 */
#define _GNU_SOURCE /* pipe2 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/program.h"
#include "base/swap.h"
#include "base/workers.h"
#include "sql/sql.h"
#include "viewer/internal.h"

/* An answer ends after the row that passes TV_SQL_ANSWER_BYTES, of at most 256 texts of 16 KiB,
 * each of whose bytes takes up to 6 as JSON. */
#define LARGEST_REPLY (TV_SQL_ANSWER_BYTES + ((size_t)32 << 20))

/* Descriptors are looked for until so many numbers in a row are unused. */
#define UNUSED_DESCRIPTORS 1024

/* Memory beyond twice that of queries: libraries, stacks, and what DuckDB does not count. */
#define SPARE_MEMORY ((uint64_t)1 << 30)

struct sql_request {
    bool cancels;    /* the question that runs; nothing else is set */
    uint64_t length; /* length of the text that follows */
    uint64_t offset, limit;
};

struct sql_reply {
    struct tv_error error; /* status TV_OK: the bytes are the answer */
    uint64_t length;       /* length of the bytes that follow */
    bool last;             /* the process ends */
};

struct tv_sql_process {
    pid_t process;
    int requests, replies; /* the viewer's ends */
};

/* Is held from the pipes of a process to its fork, so that no other copy inherits their ends. */
static pthread_mutex_t sql_fork_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- The copy ---- */

struct sql_child {
    int requests, replies;
    struct tv_sql *sql;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct sql_request request;
    char *text; /* text of the request; NULL: none waits */
};

static bool sql_child_reply(const struct sql_child *child, const struct tv_error *error,
                            struct tv_bytes bytes, bool last)
{
    struct sql_reply reply = {.length = bytes.length, .last = last};
    if (error)
        reply.error = *error;
    return tv_file_write_fully(child->replies, &reply, sizeof reply) &&
           tv_file_write_fully(child->replies, bytes.data, bytes.length);
}

/* Tell the viewer that the statement cannot be stopped, and stop the process. The main thread does
 * not reply meanwhile: the statement's end waits for the caller's lock. */
static void sql_child_end_stuck(void *context, const struct tv_error *why)
{
    (void)sql_child_reply(context, why, (struct tv_bytes){NULL, 0}, true);
    _exit(1);
}

/* Take the requests as they come, until the viewer ends them. */
static void *sql_child_listen(void *context)
{
    struct sql_child *child = context;
    struct sql_request request;
    while (tv_file_read_fully(child->requests, &request, sizeof request)) {
        if (request.cancels) {
            tv_sql_cancel(child->sql, true);
            continue;
        }
        assert(request.length <= TV_SQL_QUESTION);
        char *text = tv_alloc(request.length + 1, 1);
        if (!tv_file_read_fully(child->requests, text, request.length))
            break;
        pthread_mutex_lock(&child->lock);
        assert(!child->text);
        tv_sql_cancel(child->sql, false);
        child->request = request;
        child->text = text;
        pthread_cond_signal(&child->changed);
        pthread_mutex_unlock(&child->lock);
    }
    _exit(0);
}

static bool sql_child_answer(struct sql_child *child, const char *text,
                             const struct sql_request *request)
{
    const struct tv_sql_bounds bounds = {request->offset, request->limit, TV_SQL_ANSWER_BYTES};
    struct tv_error err = {.status = TV_OK};
    struct tv_out out;
    tv_out_init_memory(&out);
    if (tv_sql_answer(child->sql, text, &bounds, &out, &err) == TV_OK) {
        err.status = TV_OK;
    } else if (tv_sql_error_picture(child->sql)[0]) {
        tv_out_text(&out, ",\"picture\":");
        tv_out_json(&out, tv_bytes_of(tv_sql_error_picture(child->sql)));
    }
    bool done = sql_child_reply(child, &err, (struct tv_bytes){out.buffer, out.length}, false);
    tv_out_release(&out);
    return done;
}

/* Close what belongs to the viewer alone: its clients, its broker, and the pipes of other copies.
 * Files stay open, because arguments of slices are read from them. */
static void sql_child_close_others(const struct sql_child *child)
{
    int unused = 0;
    for (int number = STDERR_FILENO + 1; unused < UNUSED_DESCRIPTORS; number++) {
        struct stat info;
        unused = fcntl(number, F_GETFD) < 0 ? unused + 1 : 0;
        if (unused == 0 && number != child->requests && number != child->replies &&
            fstat(number, &info) == 0 && (S_ISSOCK(info.st_mode) || S_ISFIFO(info.st_mode)))
            close(number);
    }
}

/* Limit the memory to what the process has, and what queries need at most. */
static void sql_child_limit_memory(const struct tv_viewer_sql *viewer, uint64_t queries)
{
    struct rusage usage;
    if (viewer->limit_memory && getrusage(RUSAGE_SELF, &usage) == 0)
        viewer->limit_memory((uint64_t)usage.ru_maxrss * 1024 + 2 * queries + SPARE_MEMORY);
}

/* Answer queries in a forked child, which has the trace in memory already.  A thread listens for
 * the next request, so that one can be stopped; the child never returns. */
static _Noreturn void sql_child_main(struct sql_child *child, const struct tv_trace *trace,
                                     const struct tv_viewer_sql *viewer,
                                     const struct tv_sql_options *options)
{
    struct tv_sql_options own = *options;
    struct tv_error err = {.status = TV_OK};
    pthread_t listener;
    tv_swap_leave();
    sql_child_close_others(child);
    sql_child_limit_memory(viewer, options->max_memory);
    pthread_mutex_init(&child->lock, NULL);
    pthread_cond_init(&child->changed, NULL);
    own.stuck = sql_child_end_stuck;
    own.stuck_context = child;
    enum tv_status status = tv_sql_open(trace, &own, &child->sql, &err);
    if (status == TV_OK &&
        tv_thread_start(&listener, TV_THREAD_STACK, sql_child_listen, child) != 0)
        status = tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: no thread can be started");
    if (status != TV_OK) {
        (void)sql_child_reply(child, &err, (struct tv_bytes){NULL, 0}, true);
        _exit(1);
    }
    for (bool goes_on = true; goes_on;) {
        pthread_mutex_lock(&child->lock);
        while (!child->text)
            pthread_cond_wait(&child->changed, &child->lock);
        char *text = child->text;
        struct sql_request request = child->request;
        child->text = NULL;
        pthread_mutex_unlock(&child->lock);
        goes_on = sql_child_answer(child, text, &request);
        tv_free(text);
    }
    _exit(1); /* the viewer has gone */
}

/* ---- The viewer's side ---- */

struct tv_sql_process *tv_sql_process_start(const struct tv_trace *trace,
                                            const struct tv_viewer_sql *viewer,
                                            const struct tv_sql_options *options)
{
    int requests[2] = {-1, -1}, replies[2] = {-1, -1};
    struct tv_sql_process *made = NULL;
    /* The process may end while the viewer writes to it. */
    signal(SIGPIPE, SIG_IGN);
    pthread_mutex_lock(&sql_fork_lock);
    bool piped = pipe2(requests, O_CLOEXEC) == 0 && pipe2(replies, O_CLOEXEC) == 0;
    pid_t process = piped ? fork() : -1;
    if (process == 0) {
        struct sql_child child = {.requests = requests[0], .replies = replies[1]};
        sql_child_main(&child, trace, viewer, options);
    }
    if (process > 0) {
        made = tv_alloc(1, sizeof *made);
        *made = (struct tv_sql_process){process, requests[1], replies[0]};
    }
    const int unused[] = {requests[0], replies[1], made ? -1 : requests[1], made ? -1 : replies[0]};
    for (size_t i = 0; i < TV_COUNT(unused); i++)
        if (unused[i] >= 0)
            close(unused[i]);
    pthread_mutex_unlock(&sql_fork_lock);
    return made;
}

void tv_sql_process_end(struct tv_sql_process *process)
{
    if (!process)
        return;
    close(process->requests); /* its listener ends it, whatever else it does */
    close(process->replies);
    (void)tv_program_wait(process->process, NULL);
    tv_free(process);
}

void tv_sql_process_ask(struct tv_sql_process *process, const struct tv_sql_question *question)
{
    struct sql_request request = {
        .length = strlen(question->text), .offset = question->offset, .limit = question->limit};
    if (tv_file_write_fully(process->requests, &request, sizeof request))
        (void)tv_file_write_fully(process->requests, question->text, request.length);
}

void tv_sql_process_cancel(struct tv_sql_process *process)
{
    struct sql_request request = {.cancels = true};
    (void)tv_file_write_fully(process->requests, &request, sizeof request);
}

/* Append the bytes after a reply. */
static bool sql_process_read_bytes(const struct tv_sql_process *process, uint64_t length,
                                   struct tv_out *out)
{
    uint8_t piece[TV_OUT_ROOM];
    while (length > 0) {
        size_t wanted = length < sizeof piece ? (size_t)length : sizeof piece;
        if (!tv_file_read_fully(process->replies, piece, wanted))
            return false;
        tv_out_bytes(out, (struct tv_bytes){piece, wanted});
        length -= wanted;
    }
    return true;
}

enum tv_status tv_sql_process_receive(struct tv_sql_process *process, struct tv_out *out,
                                      bool *ended, struct tv_error *err)
{
    struct sql_reply reply;
    size_t before = out->length;
    *ended = !tv_file_read_fully(process->replies, &reply, sizeof reply) ||
             reply.length > LARGEST_REPLY || !sql_process_read_bytes(process, reply.length, out);
    if (*ended) {
        out->length = before;
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "SQL: the process of the query ended; it needed too much memory, or "
                       "DuckDB failed");
    }
    *ended = reply.last;
    if (reply.error.status != TV_OK)
        *err = reply.error;
    return reply.error.status;
}
