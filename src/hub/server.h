/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.h - the upload server: takes traces in, has them read by engines, and shows them
 * (docs/serve.md; the API is described in docs/openapi.json).
 *
 *     tv_upload_server_new        opens the store, tries the sandbox, listens
 *     tv_upload_server_address    where
 *     tv_upload_server_stop       no new connection; what runs may end
 *     tv_upload_server_free
 */
#ifndef TV_HUB_HUB_H
#define TV_HUB_HUB_H

#include "engine/engine.h"
#include "http/http.h"
#include "hub/access.h"
#include "hub/log.h"
#include "store/store.h"

/* `report` of the store, `host` and `scratch` of the engines are the hub's own. */
struct tv_upload_server_options {
    const char *folder; /* of the store */
    struct tv_store_options store;
    struct tv_engines_options engines;
    struct tv_http_options http;
    struct tv_access_options access;
    struct tv_log log;
    const char *const *proxies; /* addresses whose X-Forwarded-... headers are believed */
    size_t proxy_count;
    uint32_t rate;      /* requests a second from one client; 0: any number */
    bool reports;       /* engines make reports (struct tv_view_reporter) */
    const char *sample; /* path of a trace for the first page, or NULL */
};

struct tv_upload_server;

/* Copies nothing but what the rooms below copy: what the options point to must live until
 * tv_upload_server_free. */
enum tv_status tv_upload_server_new(const struct tv_upload_server_options *options, struct tv_upload_server **hub,
                          struct tv_error *err) TV_MUST_CHECK;

/* "http://127.0.0.1:8192/", of the socket with this number; NULL behind the last one. */
const char *tv_upload_server_address(const struct tv_upload_server *hub, size_t index);

/* Stops listening and gives running requests so long to end; what is cut then can be resumed. */
void tv_upload_server_stop(struct tv_upload_server *hub, unsigned timeout_ms);

/* NULL is fine. */
void tv_upload_server_free(struct tv_upload_server *hub);

#endif
