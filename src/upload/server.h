/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - the upload server: receives traces, has them read by engines, and shows them
 * (docs/serve.md; docs/openapi.json describes the API).
 *
 *     tv_upload_server_new        opens the store, tests the sandbox, listens
 *     tv_upload_server_address    where
 *     tv_upload_server_stop       accepts no more connections; running requests may end
 *     tv_upload_server_free
 */
#ifndef TV_UPLOAD_SERVER_H
#define TV_UPLOAD_SERVER_H

#include <stdatomic.h>

#include "engine/engine.h"
#include "http/http.h"
#include "store/store.h"
#include "upload/access.h"
#include "upload/log.h"

/* The address that gets the change points of the fleet. */
struct tv_webhook {
    const char *host; /* of the address, for the log; NULL: there is no webhook */
    void *context;
    /* Send a body of JSON.  It ends soon when *stop is true.  TV_OK: the webhook accepted it. */
    enum tv_status (*post)(void *context, struct tv_bytes body, const atomic_bool *stop,
                           struct tv_error *err);
};

/* The server sets `report` of the store, and `host` and `scratch` of the engines, itself. */
struct tv_upload_server_options {
    const char *folder; /* of the store */
    struct tv_store_options store;
    struct tv_engines_options engines;
    struct tv_http_options http;
    struct tv_access_options access;
    struct tv_log log;
    const char *const *proxies; /* addresses whose X-Forwarded-... headers are trusted */
    size_t proxy_count;
    const char *fleet; /* folder of the fleet, or NULL */
    struct tv_webhook webhook;
    uint32_t rate;      /* requests per second from one client; 0: no limit */
    bool reports;       /* engines can make reports (struct tv_view_reporter) */
    const char *sample; /* path of a sample trace for the start page, or NULL */
};

struct tv_upload_server;

/* Start the server.  Everything that the options point to must live until tv_upload_server_free. */
enum tv_status tv_upload_server_new(const struct tv_upload_server_options *options,
                                    struct tv_upload_server **server,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Return the URL of the socket with this index, as "http://127.0.0.1:8192/"; NULL after the last.
 */
const char *tv_upload_server_address(const struct tv_upload_server *server, size_t index);

/* Stop listening, and wait at most timeout_ms for running requests.  Uploads that are cut off then
 * can be resumed. */
void tv_upload_server_stop(struct tv_upload_server *server, unsigned timeout_ms);

/* NULL is allowed. */
void tv_upload_server_free(struct tv_upload_server *server);

#endif
