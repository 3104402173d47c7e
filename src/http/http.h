/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - an HTTP server that passes requests to a handler.  Two servers use it: the viewer server
 * for one user (src/viewer) and the upload server (src/upload).
 *
 * Authentication is up to the handler.  The handler only sees well-formed requests: a path that
 * begins with a slash, one Host header, no repeated header among those that must be unique, and a
 * body whose length is given once and in one way.  All other requests are answered with 400.  Each
 * connection has a thread, so the handler may block on a disk or another process: it delays only
 * its own client.
 *
 *     begin     the head has arrived: accept the request, and say who takes its body
 *     take...   the pieces of the body, in order, from one thread
 *     answer    the whole body has arrived
 *     end       once per accepted body, whether it arrived whole or the client disconnected
 *     note      the answer was sent, or could not be sent
 */
#ifndef TV_HTTP_HTTP_H
#define TV_HTTP_HTTP_H

#include "base/error.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"
#include "base/types.h"

/* Status codes that handlers use. */
enum tv_http_status {
    TV_HTTP_OK = 200,
    TV_HTTP_CREATED = 201,
    TV_HTTP_NO_CONTENT = 204,
    TV_HTTP_PARTIAL = 206, /* set by this module, see tv_answer.ranges */
    TV_HTTP_SEE_OTHER = 303,
    TV_HTTP_NOT_MODIFIED = 304,
    TV_HTTP_PERMANENT_REDIRECT = 308,
    TV_HTTP_BAD_REQUEST = 400,
    TV_HTTP_UNAUTHORIZED = 401,
    TV_HTTP_FORBIDDEN = 403,
    TV_HTTP_NOT_FOUND = 404,
    TV_HTTP_METHOD_NOT_ALLOWED = 405,
    TV_HTTP_CONFLICT = 409,
    TV_HTTP_GONE = 410,
    TV_HTTP_LENGTH_REQUIRED = 411,
    TV_HTTP_PRECONDITION_FAILED = 412,
    TV_HTTP_TOO_LARGE = 413,
    TV_HTTP_UNSUPPORTED_TYPE = 415,
    TV_HTTP_RANGE_NOT_SATISFIABLE = 416, /* set by this module */
    TV_HTTP_UNPROCESSABLE = 422,
    TV_HTTP_LOCKED = 423,
    TV_HTTP_TOO_MANY_REQUESTS = 429,
    TV_HTTP_HEAD_TOO_LARGE = 431,
    TV_HTTP_INTERNAL_ERROR = 500,
    TV_HTTP_BAD_GATEWAY = 502,
    TV_HTTP_UNAVAILABLE = 503,
    TV_HTTP_INSUFFICIENT_STORAGE = 507,
};

enum tv_http_method {
    TV_HTTP_GET,
    TV_HTTP_HEAD, /* the body is dropped here: fill it as for GET, or not at all */
    TV_HTTP_POST,
    TV_HTTP_PUT,
    TV_HTTP_PATCH,
    TV_HTTP_DELETE,
    TV_HTTP_OPTIONS,
    TV_HTTP_OTHER, /* any other method: refuse it */
};

/* Return the method as in the request line; "OTHER" for TV_HTTP_OTHER. */
const char *tv_http_method_name(enum tv_http_method method);

/* Length of a chunked body. */
#define TV_HTTP_UNKNOWN_LENGTH UINT64_MAX

/* A header that protects against cross-site request forgery: no form or link can send it, and a
 * script of another origin may only send it with our permission (CORS), which we never give.
 * Requests that change something must have it, with any value. */
#define TV_HTTP_CSRF_HEADER "X-Traceview"

struct tv_http_header {
    const char *name, *value;
};

/* Everything in it is valid until the call that received it returns. */
struct tv_request {
    enum tv_http_method method;
    struct tv_bytes path; /* as received, not decoded: "/", "/api/trace" */
    uint8_t *query;       /* as received, after the '?'; the handler may decode it in place */
    size_t query_length;
    const struct tv_http_header *headers; /* as received, see tv_request_header */
    size_t header_count;
    const char *peer; /* address of the client without port: "192.0.2.7", "2001:db8::1" */
    bool secure;      /* received over TLS */
    uint64_t length;  /* announced length of the body; 0: no body */
    void *body;       /* in `answer`: the context of the tv_body, or NULL */
};

/* Return the value of a header, whose name is compared without case; NULL when it is missing.  A
 * repeated header yields its first value.  These are never repeated: Host, Origin, Referer,
 * Content-Length, Content-Type, Content-Encoding, Transfer-Encoding, Authorization, Cookie, Expect,
 * Range, If-Range, Forwarded, TV_HTTP_CSRF_HEADER, and all that begin with Upload-, Tus-,
 * X-Forwarded- or Sec-Fetch-. */
const char *tv_request_header(const struct tv_request *request, const char *name);

/* A body that is produced while it is sent. */
struct tv_stream {
    /* Write at least one byte into the buffer; it may block.  *got 0 ends the body.  Any status but
     * TV_OK breaks the connection, so that the client does not take a part for the whole. */
    enum tv_status (*read)(void *context, uint8_t *buffer, size_t size, size_t *got);
    void (*close)(void *context); /* called once, even if nothing was read; or NULL */
    void *context;
    uint64_t length; /* or TV_HTTP_UNKNOWN_LENGTH: the body is sent in chunks */
};

/* Maximum number of headers that tv_answer_header adds to one answer. */
#define TV_ANSWER_HEADERS 16

/* Filled by the handler.  It starts as status 200 with an empty body in memory.  The body is the
 * first of stream, source, constant and body that is set. */
struct tv_answer {
    enum tv_http_status status;
    const char *type;         /* Content-Type */
    const char *policy;       /* Content-Security-Policy; NULL: forbid everything */
    const char *tag;          /* ETag, with its quotes; or NULL */
    const char *cache;        /* Cache-Control; NULL: "no-cache" with a tag, else "no-store" */
    const char *allow;        /* Allow header of status 405, or NULL */
    struct tv_out body;       /* the memory is passed on without copying */
    struct tv_bytes constant; /* bytes that live as long as the server; data NULL: not set */
    struct tv_source *source; /* owned, freed after sending; NULL: not set */
    bool ranges;              /* with a source and status 200: honour a Range header by sending only
                                 that part (206), or refuse one that is outside (416) */
    struct tv_stream stream;  /* `read` NULL: not set */
    void (*sent)(void *context); /* called once the client has the whole answer; or NULL */
    /* Filled by tv_answer_header. */
    struct tv_http_header headers[TV_ANSWER_HEADERS];
    size_t header_count;
    struct tv_arena arena; /* freed with the answer; handlers may allocate from it */
};

void tv_answer_init(struct tv_answer *answer);

/* Free everything that the answer owns and make it empty again. */
void tv_answer_release(struct tv_answer *answer);

/* Add a header with a formatted value, which is copied.  Control characters in the value become
 * '?', so that client input cannot add header lines.  Headers beyond TV_ANSWER_HEADERS are
 * dropped. */
void tv_answer_header(struct tv_answer *answer, const char *name, const char *format, ...)
    TV_PRINTF(3, 4);

/* Receives the body of one request piece by piece, so that nobody needs to hold all of it. */
struct tv_body {
    /* Any status but TV_OK sends *answer, which starts empty, at once; the rest of the body is not
     * read and the connection closes.  (A browser may not see an answer while it is still sending.
     * A client that sent "Expect: 100-continue" has already seen the answer of `begin`.) */
    enum tv_status (*take)(void *context, struct tv_bytes piece, struct tv_answer *answer);
    /* `whole` true: `answer` was called with the complete body.  False: the client disconnected,
     * was too slow, or `take` failed; the pieces taken so far are a prefix of the body. */
    void (*end)(void *context, bool whole);
    void *context;
};

/* One line of an access log, also for requests that were refused in this module. */
struct tv_http_note {
    enum tv_http_method method;
    struct tv_bytes path;
    const char *peer;
    unsigned status;   /* 0: the client disconnected before there was an answer */
    bool whole;        /* the whole answer was sent */
    uint64_t received; /* bytes of the request body */
    tv_ns took;        /* from the request line to now */
};

struct tv_handler {
    void (*answer)(void *context, const struct tv_request *request, struct tv_answer *answer);
    /* Called for every request when its head has arrived, before a "100 Continue" is sent.  Fills
     * *body, which starts empty; if it stays empty, a small body is dropped and a large one
     * refused. False: *answer refuses the request at once and the body is not read. */
    bool (*begin)(void *context, const struct tv_request *request, struct tv_body *body,
                  struct tv_answer *answer);
    /* For an access log, or NULL. */
    void (*note)(void *context, const struct tv_http_note *note);
    void *context;
};

/* Browsers store a user's settings (theme, order of tracks) per address and port, so the server
 * prefers the same few ports each time.  They are below the range of ephemeral ports. */
#define TV_HTTP_HOME_PORT 27180
#define TV_HTTP_HOME_PORTS 8

/* Zero selects the default, given in parentheses. */
struct tv_http_limits {
    uint32_t connections;        /* at a time (64); further ones are answered with 503 */
    uint32_t client_connections; /* from one address (the same as `connections`) */
    uint32_t idle_ms;            /* time between two requests on one connection (30 s) */
    uint32_t head_ms;            /* time from the start of a connection to a whole head (30 s) */
    /* Minimum rate in bytes per second (64) at which a body must arrive and an answer must be read,
     * measured over windows of rate_ms (30 s).  The time of the handler does not count. */
    uint32_t rate, rate_ms;
    uint32_t head_bytes;  /* request line and headers (64 KiB); the memory of each connection */
    uint32_t stack_bytes; /* of a connection's thread (the system's default) */
};

struct tv_http_options {
    /* "HOST:PORT", "[V6]:PORT", "*:PORT" for all addresses of this machine, or any of these without
     * ":PORT", which means `port`.  A name with several addresses means all of them.  An empty list
     * means 127.0.0.1. */
    const char *const *addresses;
    size_t address_count;
    uint16_t port; /* 0, here and in addresses: the first free home port, else any free port */
    struct tv_bytes certificate, key; /* PEM, with the chain after the certificate; empty: no TLS */
    struct tv_http_limits limits;
};

struct tv_http;

/* Open libmicrohttpd and the listening sockets, which is not possible in a sandbox.  Clients can
 * connect, but nothing is answered before tv_http_start.  Copies the options and the handler,
 * except the handler's context. */
enum tv_status tv_http_new(const struct tv_http_options *options, const struct tv_handler *handler,
                           struct tv_http **http, struct tv_error *err) TV_MUST_CHECK;

/* Start the threads that answer.  To be called once; after an error only tv_http_free is allowed.
 */
enum tv_status tv_http_start(struct tv_http *http, struct tv_error *err) TV_MUST_CHECK;

/* Return the URL of the socket with this index, as "http://127.0.0.1:PORT/"; NULL after the last.
 */
const char *tv_http_address(const struct tv_http *http, size_t index);

/* Return the port of the first socket. */
uint16_t tv_http_port(const struct tv_http *http);

/* Totals since the start, except `connections`. */
struct tv_http_counts {
    uint64_t accepted;       /* connections */
    uint64_t refused;        /* connections, because of a limit */
    uint64_t slow;           /* connections cut for slowness in head, body or answer */
    uint64_t requests;       /* with a complete head */
    uint64_t malformed;      /* requests among these that were refused with 400 */
    uint64_t received, sent; /* bytes of bodies */
    uint32_t connections;    /* open now */
};
struct tv_http_counts tv_http_count(const struct tv_http *http);

/* Close the listening sockets and idle connections; all other connections close after their current
 * answer. */
void tv_http_stop_listening(struct tv_http *http);

/* Wait, after tv_http_stop_listening, until every request is answered.  False: the time is over. */
bool tv_http_wait_idle(struct tv_http *http, unsigned timeout_ms) TV_MUST_CHECK;

/* Close all connections and free the server; no handler runs after that.  NULL is allowed. */
void tv_http_free(struct tv_http *http);

#endif
