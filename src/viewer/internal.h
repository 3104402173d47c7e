/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the parts of the viewer server, as the files of this module see each other.
 *
 *     viewer.c            life cycle, authentication of requests, the page
 *     api.c               everything below "/TOKEN/api/"
 *     open_traces.c       the traces that lie open or are loading
 *     sending.c           their files, sent to the user's server
 *     trace_sql.c         questions in SQL about one of them
 *     sql_process.c       a copy of the process that answers them
 *     uploaded_files.c    the files that traces are made of
 *
 * All functions on open traces and uploaded files may be called from several threads at once.
 */
#ifndef TV_VIEWER_INTERNAL_H
#define TV_VIEWER_INTERNAL_H

#include "base/error.h"
#include "base/types.h"
#include "http/http.h"
#include "view/session.h"
#include "viewer/viewer.h"

/* ---- viewer.c: authentication ---- */

/* The server listens on loopback only, but any page in the user's browser can reach loopback. Three
 * checks stop such pages: the path must contain a token of 128 random bits; the Host header must be
 * ours, so that a foreign name that resolves to 127.0.0.1 (DNS rebinding) does not help; and an
 * Origin header, which browsers add to requests of other pages, must be ours as well. */
#define TV_TOKEN_LENGTH 32 /* hexadecimal digits */

struct tv_request_auth {
    _Atomic uint16_t port; /* 0 until it is known: refuse everything */
    char token[TV_TOKEN_LENGTH + 1];
};

/* Draw a random token. */
enum tv_status tv_request_auth_init(struct tv_request_auth *auth,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Check a request.  True: the token is removed from its path, and HEAD becomes GET (http.h drops
 * the body).  False: *answer refuses it. */
bool tv_request_auth_check(const struct tv_request_auth *auth, struct tv_request *request,
                           struct tv_answer *answer);

/* Return true for "127.0.0.1:PORT" and "localhost:PORT"; port 80 may be missing. */
bool tv_request_auth_is_our_host(const struct tv_request_auth *auth, const char *host);

/* As above, with "http://" in front. */
bool tv_request_auth_is_our_origin(const struct tv_request_auth *auth, const char *origin);

/* Return true when the path begins with "/TOKEN/"; *rest is what follows.  The time it takes does
 * not reveal how much of a wrong token was right. */
bool tv_request_auth_take_token(const struct tv_request_auth *auth, struct tv_bytes path,
                                struct tv_bytes *rest);

/* ---- uploaded_files.c ---- */

/* All files that can be opened: those from the command line, which only the loader can read, and
 * those that the page sent, each in an unnamed temporary file.
 *
 * A file is known by a number, which is never used again.  Nothing that a client says about a file
 * (name, size, position of a chunk) is trusted; the name is only ever shown, never used as a path.
 */
struct tv_out;
struct tv_source;
struct tv_uploaded_files;

/* Maximum number of uploads; for a further one the oldest complete upload is dropped. */
#define TV_UPLOADED_FILES 64u

/* Longer names are cut, in bytes. */
#define TV_UPLOADED_NAME 255u

/* An upload without a new chunk for this long may be dropped to make room. */
#define TV_UPLOADED_IDLE_SECONDS 600

struct tv_uploaded_files *tv_uploaded_files_new(void);

/* No chunk may be in progress. */
void tv_uploaded_files_free(struct tv_uploaded_files *files);

/* Add a file from the command line.  These come first and have the numbers from 0. */
void tv_uploaded_files_add_own(struct tv_uploaded_files *files, const char *name);

/* Add an upload of `bytes` bytes.  TV_ERR_LIMIT: too many uploads are in progress. */
enum tv_status tv_uploaded_files_add(struct tv_uploaded_files *files, struct tv_bytes name,
                                     uint64_t bytes, uint32_t *number,
                                     struct tv_error *err) TV_MUST_CHECK;

/* A chunk of an upload, which must begin where the previous one ended.  tv_uploaded_chunk_begin
 * sets *held to the number of bytes received, also on errors.  TV_ERR_USAGE: wrong offset, or
 * another chunk is in progress; TV_ERR_IO: no such file.  Bytes beyond the announced size and
 * failed writes make tv_uploaded_chunk_end fail, and the file is dropped then. */
struct tv_uploaded_chunk;
enum tv_status tv_uploaded_chunk_begin(struct tv_uploaded_files *files, uint32_t number,
                                       uint64_t offset, struct tv_uploaded_chunk **chunk,
                                       uint64_t *held, struct tv_error *err) TV_MUST_CHECK;
void tv_uploaded_chunk_write(struct tv_uploaded_chunk *chunk, struct tv_bytes bytes);
enum tv_status tv_uploaded_chunk_end(struct tv_uploaded_chunk *chunk, uint64_t *held,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Drop an upload.  Sources that were handed out stay valid.  An unknown number is ignored. */
void tv_uploaded_files_drop(struct tv_uploaded_files *files, uint32_t number);

/* A complete file. */
struct tv_uploaded_file {
    char name[TV_UPLOADED_NAME + 1];
    struct tv_source *source; /* to be freed by the caller; NULL: from the command line */
};

/* Fill *file.  False: no such file, or it is not complete. */
bool tv_uploaded_files_get(struct tv_uploaded_files *files, uint32_t number,
                           struct tv_uploaded_file *file);

/* Write all complete files as "[{"input":0,"name":"app.trace","bytes":12},...]".  The size is null
 * where only the loader knows it. */
void tv_uploaded_files_write(struct tv_uploaded_files *files, struct tv_out *out);

/* ---- open_traces.c ---- */

struct tv_open_traces_options {
    struct tv_loader loader; /* the context must live until tv_open_traces_free returned true */
    const struct tv_viewer_file *files;
    size_t file_count, begin_count;
    struct tv_viewer_sql sql;
    struct tv_viewer_sender sender;
    /* A loading ended in this state; EMPTY: it was cancelled.  Called by the loading thread. */
    void (*ended)(void *context, enum tv_session_state state, const struct tv_error *error);
    void *context;
};

struct tv_open_traces;

struct tv_open_traces *tv_open_traces_new(const struct tv_open_traces_options *options);

/* Begin to load the files from the command line, if there are any. */
enum tv_status tv_open_traces_start(struct tv_open_traces *traces,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Cancel loadings and free everything.  False: a loading thread did not stop in time because it is
 * blocked on a silent pipe; then nothing is freed. */
bool tv_open_traces_free(struct tv_open_traces *traces, unsigned timeout_ms) TV_MUST_CHECK;

/* Return the files, which `traces` owns. */
struct tv_uploaded_files *tv_open_traces_files(struct tv_open_traces *traces);

/* The files of a trace to open. */
struct tv_open_files {
    uint32_t numbers[TV_OPEN_INPUTS];
    tv_ns offsets[TV_OPEN_INPUTS]; /* added to the times of each file */
    size_t count;
};

/* Open a trace of these files: begin to load it, unless it lies open already.  *number is the
 * number of the trace.  TV_ERR_USAGE: one of the files does not exist. */
enum tv_status tv_open_traces_load(struct tv_open_traces *traces, const struct tv_open_files *files,
                                   uint32_t *number, struct tv_error *err) TV_MUST_CHECK;

/* As the number of a trace: the one that was opened last. */
#define TV_LATEST_TRACE UINT64_MAX

/* Cancel the loading of a trace, or dismiss its error; a trace that is ready stays open.  Uploads
 * that no other trace uses are dropped with it. */
void tv_open_traces_cancel(struct tv_open_traces *traces, uint64_t number);

enum tv_open_trace_found {
    TV_OPEN_TRACE_READY,
    TV_OPEN_TRACE_NOT_READY, /* it loads or has failed, or no trace lies open */
    TV_OPEN_TRACE_CLOSED,    /* no such trace (any more) */
};

/* An open trace, held for a question. */
struct tv_open_trace;

/* Hold the trace with this number until tv_open_traces_release; TV_LATEST_TRACE: the one that was
 * opened last of those that are ready.  *trace is NULL unless the result is READY. */
enum tv_open_trace_found tv_open_traces_acquire(struct tv_open_traces *traces, uint64_t number,
                                                struct tv_open_trace **trace);
const struct tv_session *tv_open_trace_session(const struct tv_open_trace *trace);
struct tv_trace_sql *tv_open_trace_sql(const struct tv_open_trace *trace);
void tv_open_traces_release(struct tv_open_traces *traces, struct tv_open_trace *trace);

/* Return true when there is a sketch of a trace that is loading. */
bool tv_open_traces_is_sketched(struct tv_open_traces *traces);

/* Write the answer to api/status about a trace.  The state of one that was closed is "empty". */
void tv_open_traces_write_status(struct tv_open_traces *traces, uint64_t number,
                                 struct tv_out *out);

/* Start to send the files of a trace to the user's server.  TV_ERR_USAGE: there is no such trace, a
 * file came from the page, or something else is being sent. */
enum tv_status tv_open_traces_send(struct tv_open_traces *traces, uint64_t number,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Return what is being sent. */
struct tv_sending *tv_open_traces_sending(const struct tv_open_traces *traces);

/* Return what the viewer can do with SQL. */
const struct tv_viewer_sql *tv_open_traces_sql(const struct tv_open_traces *traces);

/* ---- sending.c ---- */

/* The file that is being sent to the user's server, or was sent last. */
struct tv_sending;

struct tv_sending *tv_sending_new(const struct tv_viewer_sender *sender);
void tv_sending_free(struct tv_sending *sending);

/* Start to send files from the command line.  TV_ERR_USAGE: others are being sent. */
enum tv_status tv_sending_start(struct tv_sending *sending, const uint32_t *numbers, size_t count,
                                struct tv_error *err) TV_MUST_CHECK;

/* Write "{"state":"none"|"sending"|"sent"|"failed","text":...}": the text has the address of each
 * trace on a line of its own, or says why it failed. */
void tv_sending_write_status(struct tv_sending *sending, struct tv_out *out);

/* ---- trace_sql.c ---- */

/* The process with the database of an open trace, which the first question starts.  One question
 * runs at a time; the others wait. */
struct tv_trace_sql;

/* `options` must outlive it. */
struct tv_trace_sql *tv_trace_sql_new(const struct tv_viewer_sql *options);

/* No question may run.  To be freed before the trace. */
void tv_trace_sql_free(struct tv_trace_sql *sql);

/* A question may have this many bytes. */
#define TV_SQL_QUESTION ((size_t)64 << 10)

/* An answer has at most this many rows, and about so many bytes. */
#define TV_SQL_ANSWER_ROWS 10000u
#define TV_SQL_ANSWER_BYTES ((size_t)8 << 20)

/* A question runs for so many seconds at most. */
#define TV_SQL_SECONDS 30

struct tv_sql_question {
    const char *text;
    uint64_t offset, limit; /* of the rows; limit at most TV_SQL_ANSWER_ROWS */
    uint64_t number;        /* by which it can be cancelled; 0: it cannot */
};

/* Answer a question about the trace, which is the same each time.  After an error `out` has a
 * member ",\"picture\":...", or nothing. */
enum tv_status tv_trace_sql_answer(struct tv_trace_sql *sql, const struct tv_trace *trace,
                                   const struct tv_sql_question *question, struct tv_out *out,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Cancel the question with this number: it runs, waits, or will come. */
void tv_trace_sql_cancel(struct tv_trace_sql *sql, uint64_t number);

/* ---- sql_process.c ---- */

struct tv_sql_options;
struct tv_sql_process;

/* Start a copy of this process that answers questions about a trace; NULL: the system refuses. */
struct tv_sql_process *tv_sql_process_start(const struct tv_trace *trace,
                                            const struct tv_viewer_sql *viewer,
                                            const struct tv_sql_options *options);

/* End the process at once.  NULL is allowed. */
void tv_sql_process_end(struct tv_sql_process *process);

/* Send a question, whose answer tv_sql_process_receive waits for.  Only one thread at a time may
 * send something. */
void tv_sql_process_ask(struct tv_sql_process *process, const struct tv_sql_question *question);

/* Cancel the question that was sent last. */
void tv_sql_process_cancel(struct tv_sql_process *process);

/* Receive the answer to tv_sql_process_ask, as tv_trace_sql_answer returns it.  *ended: it is the
 * last one, since the process has ended or is about to. */
enum tv_status tv_sql_process_receive(struct tv_sql_process *process, struct tv_out *out,
                                      bool *ended, struct tv_error *err) TV_MUST_CHECK;

/* ---- api.c ---- */

/* Choose who takes the body of a request, like `begin` of tv_handler. */
bool tv_viewer_api_begin_body(struct tv_open_traces *traces, const struct tv_request *request,
                              struct tv_body *body, struct tv_answer *answer);

/* Answer a request whose path, without the token, is not empty.  True: the page asked the server to
 * stop. */
bool tv_viewer_api_answer(struct tv_open_traces *traces, const struct tv_request *request,
                          struct tv_answer *answer);

#endif
