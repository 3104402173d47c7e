/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - what the files of this room share: the parts of the running server, and the request
 * as its handlers see it.
 */
#ifndef TV_HUB_INTERNAL_H
#define TV_HUB_INTERNAL_H

#include <stdatomic.h>

#include "hub/access.h"
#include "hub/server.h"
#include "store/store.h"
#include "store/traces.h"
#include "store/uploads.h"

/* Since the start, for /metrics. */
struct tv_upload_server_counts {
    _Atomic uint64_t answers[6]; /* by hundreds of the status; [0]: the client had gone */
    _Atomic uint64_t uploads, upload_bytes, broken_uploads, full_disks;
    _Atomic uint64_t read, unreadable;
    _Atomic uint64_t refused_clients; /* 401, 403, 429 */
};

struct tv_reading_queue; /* reading.h */

struct tv_upload_server {
    struct tv_upload_server_options options;
    struct tv_store *store;
    struct tv_engines *engines;
    struct tv_http *http;
    struct tv_access *access;
    struct tv_reading_queue *reading;
    struct tv_rate_limit requests;
    struct tv_upload_server_counts counts;
    struct tv_store_id sample; /* "": none */
    int64_t started;           /* seconds since 1970 */
};

/* A request whose route is known (route.h). */
struct tv_upload_request {
    struct tv_upload_server *hub;
    const struct tv_request *request;
    char id[TV_STORE_ID_DIGITS + 1]; /* in the path, where the route has one */
    struct tv_bytes rest;            /* of the path, where the route takes any */
    const char *peer;                /* the client, also behind a proxy */
    bool secure;                     /* the client speaks TLS, with us or with the proxy */
};

/* Fills the answer with {"error": sentence}. */
void tv_upload_refuse(struct tv_answer *answer, enum tv_http_status status, const char *sentence);

/* The same for what the store says. */
void tv_upload_refuse_store(struct tv_answer *answer, enum tv_store_status status,
                         const struct tv_error *err);

/* "https://host:port", as the client knows the server, without a slash at its end. */
void tv_upload_write_base_url(const struct tv_upload_request *asked, struct tv_out *out);

/*
 * small_body.h - a body that is held in memory: a change, a password.
 */

/* Takes a body of at most so many bytes; a longer one is refused. */
bool tv_small_body_begin(struct tv_upload_request *asked, size_t most, struct tv_body *body,
                         struct tv_answer *answer);

/* What came, from the context of the body. */
struct tv_bytes tv_small_body_text(const void *context);

/*
 * route.h - which handler a request is for, by its method and path.
 *
 * Paths are compared as they came, never decoded: no percent sign or dot in them means anything.
 */

struct tv_route {
    enum tv_http_method method;
    /* "/t/ID/file": ID stands for 32 hexadecimal digits, REST at the end for anything, which may be
     * empty, NAME for anything without a slash. */
    const char *path;
    enum tv_right right;
    void (*answer)(struct tv_upload_request *asked, struct tv_answer *answer);
    /* Who takes the body (http.h); NULL: there is none. */
    bool (*begin)(struct tv_upload_request *asked, struct tv_body *body, struct tv_answer *answer);
};

/* Ends with a route without a path. */
extern const struct tv_route tv_routes[];

/* Finds the route and fills asked->id and asked->rest.  NULL: none; *allow is a list of the methods
 * that the path has then, empty when there is no such path. */
const struct tv_route *tv_route_find(enum tv_http_method method, struct tv_bytes path,
                                     struct tv_upload_request *asked, char allow[64]);

/*
 * incoming.h - the bytes of an upload, from the connection into the store.
 */

/* The body of one request. */
struct upload_body {
    struct tv_upload_server *hub;
    struct tv_store_id upload;
    struct tv_store_chunk *piece; /* NULL: not begun, or ended */
    bool single;                  /* nobody can go on with it: cancelled when it breaks off */
    bool finished;                /* it has become a trace */
};

struct upload_body *upload_body_new(struct tv_upload_server *hub, bool single);

/* Ends the piece; what broke off and cannot be resumed is cancelled. */
void upload_body_free(struct upload_body *incoming);

/* Makes it the taker of a request's body, which frees it at its end. */
void upload_body_install(struct upload_body *incoming, struct tv_body *body);

/* All of the body is there: ends the piece.  False: the answer says what went wrong. */
bool upload_body_end_chunk(struct upload_body *incoming, uint64_t *held, struct tv_answer *answer);

/* Makes a trace of the upload, which is to be read soon.  False: the answer says why not. */
bool upload_body_finish(struct upload_body *incoming, struct tv_upload_request *asked,
                        struct tv_store_id *trace, struct tv_answer *answer);

/*
 * trace_json.h - a trace as the API shows it (docs/openapi.json, "Trace" and "TraceInList").
 */

/* In a list the facts are left out. */
void tv_trace_write_json(const struct tv_upload_server *hub, const struct tv_store_trace *trace, bool in_list,
                         struct tv_out *out);

/*
 * reading.h - what goes on by itself: traces that wait are read by engines, what these find goes
 * into the catalogue, caches that they wrote into the store; and every minute what is due there.
 */

struct tv_reading_queue;

/* What the engines ask and tell (engine.h); its context is the hub. */
struct tv_engine_host tv_reading_queue_host(struct tv_upload_server *hub);

/* Begins nothing yet. */
struct tv_reading_queue *tv_reading_queue_new(struct tv_upload_server *hub);

/* Starts its threads: the hub's store and engines are there. */
enum tv_status tv_reading_queue_start(struct tv_reading_queue *reading, struct tv_error *err) TV_MUST_CHECK;

/* Ends the threads and lets go of every engine; what is being read waits again at the next start.
 * The engines' callbacks may go on until they are freed. */
void tv_reading_queue_stop(struct tv_reading_queue *reading);

/* When no engine is left.  NULL is fine. */
void tv_reading_queue_free(struct tv_reading_queue *reading);

/* A trace may be waiting. */
void tv_reading_queue_wake(struct tv_reading_queue *reading);

/* How far the reading of a trace is, from 0 to 1; less than 0: it is not being read. */
double tv_reading_queue_progress(struct tv_reading_queue *reading, const char *id);

/*
 * found.h - what an engine found out about a trace (its answer to "facts", docs/view-protocol.md),
 * checked and put into the catalogue.
 */

/* The bytes come from an engine, which is not trusted: what is no answer to "facts" is an error. */
enum tv_status facts_store(struct tv_upload_server *hub, const char *id, struct tv_bytes facts,
                             struct tv_error *err) TV_MUST_CHECK;

/* The trace cannot be read. */
enum tv_status facts_store_failure(struct tv_upload_server *hub, const char *id,
                                     const struct tv_engine_status *status,
                                     struct tv_error *err) TV_MUST_CHECK;

/*
 * sample.h - the trace that the first page offers to who has none: one of the store as all others,
 * pinned, with the label "sample".
 */

/* Finds it, or puts the file that the options name into the store.  What goes wrong is logged: the
 * server is none the worse for it. */
void tv_sample_install(struct tv_upload_server *hub);

/*
 * handlers.h - what answers each route (route.h; the table stands in routes.c).
 */

/* uploads.c: a whole file in one request. */
bool tv_upload_put_begin(struct tv_upload_request *asked, struct tv_body *body, struct tv_answer *answer);
void tv_upload_put(struct tv_upload_request *asked, struct tv_answer *answer);

/* resumable.c: a file in pieces, by the tus protocol 1.0 (https://tus.io/protocols). */
void tv_upload_tus_options(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_tus_create(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_tus_head(struct tv_upload_request *asked, struct tv_answer *answer);
bool tv_upload_tus_patch_begin(struct tv_upload_request *asked, struct tv_body *body,
                               struct tv_answer *answer);
void tv_upload_tus_patch(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_tus_delete(struct tv_upload_request *asked, struct tv_answer *answer);

/* traces.c: what is known of traces. */
void tv_upload_list_traces(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_get_trace(struct tv_upload_request *asked, struct tv_answer *answer);
bool tv_upload_change_trace_begin(struct tv_upload_request *asked, struct tv_body *body, struct tv_answer *answer);
void tv_upload_change_trace(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_delete_trace(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_reread_trace(struct tv_upload_request *asked, struct tv_answer *answer);

/* looks.c: what an engine says of a trace. */
void tv_upload_proxy_question(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_proxy_flamegraph(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_proxy_collapsed(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_proxy_report(struct tv_upload_request *asked, struct tv_answer *answer);

/* pages.c: pages, the original files, and what the server says of itself. */
void tv_upload_front_page(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_view_page(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_redirect_to_folder(struct tv_upload_request *asked, struct tv_answer *answer);
/* Every browser saves what it gets under this name. */
void tv_upload_add_file_name(struct tv_answer *answer, const char *name);
void tv_upload_get_original(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_server_info(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_server_health(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_server_metrics(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_server_openapi(struct tv_upload_request *asked, struct tv_answer *answer);

/* login.c */
bool tv_upload_login_begin(struct tv_upload_request *asked, struct tv_body *body, struct tv_answer *answer);
void tv_upload_login(struct tv_upload_request *asked, struct tv_answer *answer);
void tv_upload_logout(struct tv_upload_request *asked, struct tv_answer *answer);

/*
 * page.h - the upload server's page inside the binary.
 *
 * The build bundles web/src/hub into one HTML file and tools/embed-assets turns that file into
 * these two symbols.  The page is the bytes [tv_upload_page, tv_upload_page_end); a NUL stands behind
 * them.  It serves / and every /t/ID/: which of the two it shows, it reads from its own address.
 */

extern const char tv_upload_page[];
extern const char tv_upload_page_end[];

/*
 * openapi.h - docs/openapi.json inside the binary: the bytes [tv_openapi, tv_openapi_end).
 */

extern const char tv_openapi[];
extern const char tv_openapi_end[];

#endif
