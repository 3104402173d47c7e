/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the upload server, as the files of this module see each other.
 *
 *     server.c          life cycle, admission of requests, the table of routes
 *     access.c          authentication, sessions, passwords, logging in and out
 *     rate_limit.c      token buckets
 *     uploads.c         receives traces: PUT, tus, and the sample trace
 *     reading.c         the queue of traces that engines must read, and upkeep
 *     traces.c          lists, shows, changes and deletes traces
 *     engine_proxy.c    passes questions and downloads to engines
 *     fleet*.c          adds traces to the fleet, and asks it (fleet.h)
 *     info.c            pages, original files, server info and metrics
 *     log.c             the log, and times as text
 */
#ifndef TV_UPLOAD_INTERNAL_H
#define TV_UPLOAD_INTERNAL_H

#include <stdatomic.h>

#include "store/store.h"
#include "store/traces.h"
#include "store/uploads.h"
#include "upload/access.h"
#include "upload/fleet.h"
#include "upload/server.h"

struct tv_reading_queue;

/* Totals since the start, for /metrics. */
struct tv_upload_server_counts {
    _Atomic uint64_t answers[6]; /* by status / 100; [0]: the client disconnected */
    _Atomic uint64_t uploads, upload_bytes, broken_uploads, full_disks;
    _Atomic uint64_t read, unreadable; /* traces */
    _Atomic uint64_t refused_clients;  /* 401, 403, 429 */
};

struct tv_upload_server {
    struct tv_upload_server_options options;
    struct tv_store *store;
    struct tv_engines *engines;
    struct tv_http *http;
    struct tv_access *access;
    struct tv_reading_queue *reading;
    struct tv_fleet_queue *fleet; /* NULL: the server has none */
    struct tv_rate_limit requests;
    struct tv_upload_server_counts counts;
    struct tv_store_id sample; /* "": there is no sample trace */
    int64_t started;           /* seconds since 1970 */
};

/* ---- Requests and routes (server.c) ---- */

/* A request whose route is known. */
struct tv_upload_request {
    struct tv_upload_server *server;
    const struct tv_request *http;
    char id[TV_STORE_ID_DIGITS + 1]; /* from the path, if the route has an ID */
    struct tv_bytes rest;            /* from the path, if the route has REST or NAME */
    const char *peer;                /* the client's address, also behind a trusted proxy */
    uint8_t client[TV_CLIENT_KEY];   /* who counts as one client in the store's limits: its peer */
    bool secure;                     /* the client uses TLS, with us or with the proxy */
};

struct tv_route {
    enum tv_http_method method;
    /* Like "/t/ID/file": ID matches 32 hexadecimal digits, NAME a non-empty segment, REST at the
     * end any number of segments.  Paths are compared without decoding, so percent escapes and dots
     * have no meaning. */
    const char *path;
    enum tv_right right;
    void (*answer)(struct tv_upload_request *req, struct tv_answer *answer);
    /* Accepts the body, like `begin` of tv_handler; NULL: no body. */
    bool (*begin)(struct tv_upload_request *req, struct tv_body *body, struct tv_answer *answer);
};

/* Find the route, and fill req->id and req->rest.  NULL: none matches; then *allow lists the
 * methods that the path has, and is empty when the path does not exist. */
const struct tv_route *tv_route_find(enum tv_http_method method, struct tv_bytes path,
                                     struct tv_upload_request *req, char allow[64]);

/* Refuse with {"error": sentence}. */
void tv_upload_refuse(struct tv_answer *answer, enum tv_http_status status, const char *sentence);

/* Refuse with the error of a store function. */
void tv_upload_refuse_store(struct tv_answer *answer, enum tv_store_status status,
                            const struct tv_error *err);

/* Write "https://host:port", as the client sees the server, without a trailing slash. */
void tv_upload_write_base_url(const struct tv_upload_request *req, struct tv_out *out);

/* Accept a body of at most `most` bytes into memory; a longer one is refused. */
bool tv_small_body_begin(struct tv_upload_request *req, size_t most, struct tv_body *body,
                         struct tv_answer *answer);

/* Return the bytes of such a body, from its context. */
struct tv_bytes tv_small_body_text(const void *context);

/* ---- The reading queue (reading.c) ---- */

/* Return the callbacks for the engines; their context is the server. */
struct tv_engine_host tv_reading_queue_host(struct tv_upload_server *server);

/* Make the queue, without starting anything. */
struct tv_reading_queue *tv_reading_queue_new(struct tv_upload_server *server);

/* Start the threads.  The server's store and engines must exist. */
enum tv_status tv_reading_queue_start(struct tv_reading_queue *queue,
                                      struct tv_error *err) TV_MUST_CHECK;

/* Stop the threads and close every engine.  Traces that are being read wait again after the next
 * start.  The callbacks may still be called until the engines are freed. */
void tv_reading_queue_stop(struct tv_reading_queue *queue);

/* Free the queue, when no engine is left.  NULL is allowed. */
void tv_reading_queue_free(struct tv_reading_queue *queue);

/* Report that a trace may be waiting. */
void tv_reading_queue_wake(struct tv_reading_queue *queue);

/* Return the progress of reading a trace, from 0 to 1; below 0: it is not being read. */
double tv_reading_queue_progress(struct tv_reading_queue *queue, const char *id);

/* ---- Handlers of routes ---- */

/* uploads.c: a whole file in one request. */
bool tv_upload_put_begin(struct tv_upload_request *req, struct tv_body *body,
                         struct tv_answer *answer);
void tv_upload_put(struct tv_upload_request *req, struct tv_answer *answer);

/* uploads.c: a file in chunks, by the tus protocol 1.0 (https://tus.io/protocols). */
void tv_upload_tus_options(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_tus_create(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_tus_head(struct tv_upload_request *req, struct tv_answer *answer);
bool tv_upload_tus_patch_begin(struct tv_upload_request *req, struct tv_body *body,
                               struct tv_answer *answer);
void tv_upload_tus_patch(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_tus_delete(struct tv_upload_request *req, struct tv_answer *answer);

/* uploads.c: find or install the sample trace of the start page.  It is a pinned trace with the
 * label "sample".  Errors are only logged. */
void tv_sample_install(struct tv_upload_server *server);

/* traces.c */
void tv_upload_list_traces(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_get_trace(struct tv_upload_request *req, struct tv_answer *answer);
bool tv_upload_change_trace_begin(struct tv_upload_request *req, struct tv_body *body,
                                  struct tv_answer *answer);
void tv_upload_change_trace(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_delete_trace(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_reread_trace(struct tv_upload_request *req, struct tv_answer *answer);

/* engine_proxy.c: what an engine says about a trace. */
void tv_upload_proxy_question(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_proxy_flamegraph(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_proxy_collapsed(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_proxy_report(struct tv_upload_request *req, struct tv_answer *answer);

/* fleet_questions.c */
void tv_upload_ask_fleet(struct tv_upload_request *req, struct tv_answer *answer);

/* info.c: pages, original files, and the server about itself. */
void tv_upload_front_page(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_fleet_page(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_view_page(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_redirect_to_folder(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_get_original(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_server_info(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_server_health(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_server_metrics(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_server_openapi(struct tv_upload_request *req, struct tv_answer *answer);

/* info.c: make browsers save the answer under this name. */
void tv_upload_add_file_name(struct tv_answer *answer, const char *name);

/* access.c */
bool tv_upload_login_begin(struct tv_upload_request *req, struct tv_body *body,
                           struct tv_answer *answer);
void tv_upload_login(struct tv_upload_request *req, struct tv_answer *answer);
void tv_upload_logout(struct tv_upload_request *req, struct tv_answer *answer);

/* ---- Files inside the program ---- */

/* The upload server's page: the bytes [tv_upload_page, tv_upload_page_end), followed by a NUL.  The
 * build bundles web/src/hub into one HTML file, and tools/embed-assets makes the two symbols.  It
 * serves / and every /t/ID/; the page reads from its own address which of the two it shows. */
extern const char tv_upload_page[];
extern const char tv_upload_page_end[];

/* The page of the fleet, web/src/fleet, in the same way; it serves /fleet. */
extern const char tv_fleet_page[];
extern const char tv_fleet_page_end[];

/* docs/openapi.json: the bytes [tv_openapi, tv_openapi_end). */
extern const char tv_openapi[];
extern const char tv_openapi_end[];

#endif
