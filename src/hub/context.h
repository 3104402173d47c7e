/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - what the files of this room share: the parts of the running server, and the request
 * as its handlers see it.
 */
#ifndef TV_HUB_CONTEXT_H
#define TV_HUB_CONTEXT_H

#include <stdatomic.h>

#include "hub/hub.h"
#include "hub/tries.h"
#include "store/files.h"
#include "store/traces.h"
#include "store/uploads.h"

/* Since the start, for /metrics. */
struct tv_hub_counts {
    _Atomic uint64_t answers[6]; /* by hundreds of the status; [0]: the client had gone */
    _Atomic uint64_t uploads, upload_bytes, broken_uploads, full_disks;
    _Atomic uint64_t read, unreadable;
    _Atomic uint64_t refused_clients; /* 401, 403, 429 */
};

struct tv_reading; /* reading.h */

struct tv_hub {
    struct tv_hub_options options;
    struct tv_store *store;
    struct tv_engines *engines;
    struct tv_http *http;
    struct tv_access *access;
    struct tv_reading *reading;
    struct tv_tries requests;
    struct tv_hub_counts counts;
    struct tv_store_id sample; /* "": none */
    int64_t started;           /* seconds since 1970 */
};

/* A request whose route is known (route.h). */
struct tv_asked {
    struct tv_hub *hub;
    const struct tv_request *request;
    char id[TV_STORE_ID_DIGITS + 1]; /* in the path, where the route has one */
    struct tv_bytes rest;            /* of the path, where the route takes any */
    const char *peer;                /* the client, also behind a proxy */
    bool secure;                     /* the client speaks TLS, with us or with the proxy */
};

/* Fills the answer with {"error": sentence}. */
void tv_hub_refuse(struct tv_answer *answer, enum tv_http_status status, const char *sentence);

/* The same for what the store says. */
void tv_hub_refuse_store(struct tv_answer *answer, enum tv_store_status status,
                         const struct tv_error *err);

/* "https://host:port", as the client knows the server, without a slash at its end. */
void tv_hub_write_base(const struct tv_asked *asked, struct tv_out *out);

#endif
