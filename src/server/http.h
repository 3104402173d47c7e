/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - listens on loopback and carries questions to a handler and its answers back.  The only
 * file pair that knows libmicrohttpd.
 *
 * A request reaches the handler when its Host, its Origin and the token in its path are ours
 * (guard.h) and its method is GET, HEAD, POST or PUT.  The handler is called from several threads
 * at once.
 *
 *     begin     the first lines are there: may the request have a body, and who takes it?
 *     take...   the pieces of the body as they come, in order, by one thread
 *     answer    all of it is there
 *     end       the answer is on its way, or the client has gone before: once for each body begun
 */
#ifndef TV_SERVER_HTTP_H
#define TV_SERVER_HTTP_H

#include "base/error.h"
#include "base/out.h"
#include "base/source.h"
#include "base/types.h"

/* The statuses that handlers use. */
enum tv_http_status {
    TV_HTTP_OK = 200,
    TV_HTTP_NOT_MODIFIED = 304,
    TV_HTTP_BAD_QUESTION = 400,
    TV_HTTP_FORBIDDEN = 403,
    TV_HTTP_NOT_FOUND = 404,
    TV_HTTP_WRONG_METHOD = 405,
    TV_HTTP_NOT_READY = 409,
    TV_HTTP_GONE = 410,
    TV_HTTP_TOO_LARGE = 413,
    TV_HTTP_NO_ROOM = 507,
};

enum tv_http_method {
    TV_HTTP_GET, /* HEAD is one whose answer's body is left out */
    TV_HTTP_POST,
    TV_HTTP_PUT,
};

/* The length of a body that comes in chunks. */
#define TV_HTTP_UNKNOWN_LENGTH UINT64_MAX

/* A header that no form and no link sends, and that scripts of other origins may not send unless
 * we allowed it, which we never do: what changes something asks for it, whatever its value. */
#define TV_HTTP_OWN_HEADER "X-Traceview"

struct tv_request {
    struct tv_bytes path; /* as it came, behind "/TOKEN/": "", "api/trace" */
    uint8_t *query;       /* as it came, behind the '?'; the handler may decode it in place */
    size_t query_length;
    const char *known_tag; /* the If-None-Match header, or NULL */
    enum tv_http_method method;
    bool has_own_header;
    uint64_t length; /* of the body, as announced */
    void *body;      /* in `answer`: the context of who took the body, or NULL */
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
    struct tv_source *source;    /* instead of body; given back when it was sent.  NULL: none */
    void (*sent)(void *context); /* called once the client has all of the answer; or NULL */
};

/* Takes the body of one request, so that nobody needs to hold it whole. */
struct tv_body {
    /* What goes wrong is kept for the answer: the rest comes all the same, and is dropped. */
    void (*take)(void *context, struct tv_bytes piece);
    void (*end)(void *context);
    void *context;
};

struct tv_handler {
    void (*answer)(void *context, const struct tv_request *request, struct tv_answer *answer);
    /* Fills *body, which it finds empty and may leave so: what a few clients send all the same is
     * dropped then.  False: *answer refuses the request at once, its body is not read.  NULL: no
     * request has a body. */
    bool (*begin)(void *context, const struct tv_request *request, struct tv_body *body,
                  struct tv_answer *answer);
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
