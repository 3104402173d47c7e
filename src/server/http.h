/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - listens on loopback and carries questions to a handler and its answers back.  The only
 * file pair that knows libmicrohttpd.
 *
 * A request reaches the handler when its Host, its Origin and the token in its path are ours
 * (guard.h) and its method is GET, HEAD or POST.  The handler is called from several threads at
 * once.
 */
#ifndef TV_SERVER_HTTP_H
#define TV_SERVER_HTTP_H

#include "base/error.h"
#include "base/out.h"
#include "base/types.h"

/* The statuses that handlers use. */
enum tv_http_status {
    TV_HTTP_OK = 200,
    TV_HTTP_NOT_MODIFIED = 304,
    TV_HTTP_BAD_QUESTION = 400,
    TV_HTTP_NOT_FOUND = 404,
    TV_HTTP_WRONG_METHOD = 405,
    TV_HTTP_NOT_READY = 409,
};

struct tv_request {
    struct tv_bytes path; /* as it came, behind "/TOKEN/": "", "api/trace" */
    uint8_t *query;       /* as it came, behind the '?'; the handler may decode it in place */
    size_t query_length;
    const char *known_tag; /* the If-None-Match header, or NULL */
    bool post;
};

/* Filled by the handler, which finds it empty: status 200, the body an empty memory. */
struct tv_answer {
    enum tv_http_status status;
    const char *type;   /* Content-Type */
    const char *policy; /* Content-Security-Policy; NULL: nothing at all is allowed */
    const char *tag;    /* ETag: may be kept and asked for again; NULL: must not be kept */
    const char *allow;  /* the Allow header of status 405, or NULL */
    struct tv_out body; /* handed on without copying */
    struct tv_bytes
        constant; /* instead of body when data is not NULL: lives as long as the server */
    void (*sent)(void *context); /* called once the client has all of the answer; or NULL */
};

struct tv_handler {
    void (*answer)(void *context, const struct tv_request *request, struct tv_answer *answer);
    void *context;
};

struct tv_http;

/* A browser remembers what somebody chose (theme, arrangement of tracks) for one address and port:
 * so the ports are the same each time, below those that systems hand out themselves. */
#define TV_HTTP_HOME_PORT 27180
#define TV_HTTP_HOME_PORTS 8

/* Listens on 127.0.0.1 at this port, 0 being the first home port that is free, or any where none
 * is, and answers from now on. */
enum tv_status tv_http_new(uint16_t port, const struct tv_handler *handler, struct tv_http **http,
                           struct tv_error *err) TV_MUST_CHECK;

/* "http://127.0.0.1:PORT/TOKEN/" */
const char *tv_http_address(const struct tv_http *http);

/* Closes every connection; no handler runs any more when it returns. */
void tv_http_free(struct tv_http *http);

#endif
