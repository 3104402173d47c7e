/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - listens, and carries questions to a handler and its answers back.  Two servers stand on
 * it: the viewer of one user (src/server) and the upload server (src/hub).
 *
 * Who may ask is the handler's matter.  What reaches it is one well-formed request: a path that
 * begins with a slash, one Host, at most one of each header that must stand alone, a body whose
 * length is said once and in one way; anything else got 400 before.  The handler is called from
 * several threads at once, one a connection: it may wait for a disk or for another process, and
 * holds up nobody but its own client.
 *
 *     begin     the head is there: may the request go on, and who takes its body?
 *     take...   the pieces of the body as they come, in order, by one thread
 *     answer    all of it is there
 *     end       once for each body begun: it came whole, or the client has gone before
 *     note      the answer has been sent, or could not be
 */
#ifndef TV_HTTP_HTTP_H
#define TV_HTTP_HTTP_H

#include "base/memory.h"
#include "base/error.h"
#include "base/out.h"
#include "base/source.h"
#include "base/types.h"

/* The statuses that handlers use. */
enum tv_http_status {
    TV_HTTP_OK = 200,
    TV_HTTP_CREATED = 201,
    TV_HTTP_NO_CONTENT = 204,
    TV_HTTP_PARTIAL = 206, /* made here, see tv_answer.ranges */
    TV_HTTP_SEE_OTHER = 303,
    TV_HTTP_NOT_MODIFIED = 304,
    TV_HTTP_MOVED = 308,
    TV_HTTP_BAD_QUESTION = 400,
    TV_HTTP_NOT_LOGGED_IN = 401,
    TV_HTTP_FORBIDDEN = 403,
    TV_HTTP_NOT_FOUND = 404,
    TV_HTTP_WRONG_METHOD = 405,
    TV_HTTP_NOT_READY = 409,
    TV_HTTP_GONE = 410,
    TV_HTTP_LENGTH_MISSING = 411,
    TV_HTTP_WRONG_CONDITION = 412,
    TV_HTTP_TOO_LARGE = 413,
    TV_HTTP_WRONG_TYPE = 415,
    TV_HTTP_WRONG_RANGE = 416, /* made here */
    TV_HTTP_WRONG_CONTENT = 422,
    TV_HTTP_LOCKED = 423,
    TV_HTTP_TOO_OFTEN = 429,
    TV_HTTP_HEAD_TOO_LARGE = 431,
    TV_HTTP_FAULT = 500,
    TV_HTTP_BAD_GATEWAY = 502,
    TV_HTTP_BUSY = 503,
    TV_HTTP_NO_ROOM = 507,
};

enum tv_http_method {
    TV_HTTP_GET,
    TV_HTTP_HEAD, /* the answer's body is left out here: fill it as for GET, or not at all */
    TV_HTTP_POST,
    TV_HTTP_PUT,
    TV_HTTP_PATCH,
    TV_HTTP_DELETE,
    TV_HTTP_OPTIONS,
    TV_HTTP_OTHER, /* any other: to be refused */
};

/* As in the request line; "OTHER" for the last one. */
const char *tv_http_method_name(enum tv_http_method method);

/* The length of a body that comes in chunks. */
#define TV_HTTP_UNKNOWN_LENGTH UINT64_MAX

/* A header that no form and no link sends, and that scripts of other origins may not send unless
 * we allowed it, which we never do: what changes something asks for it, whatever its value. */
#define TV_HTTP_OWN_HEADER "X-Traceview"

struct tv_http_header {
    const char *name, *value;
};

/* Everything in it lives until the call that it was given to returns. */
struct tv_request {
    enum tv_http_method method;
    struct tv_bytes path; /* as it came, nothing decoded: "/", "/api/trace" */
    uint8_t *query;       /* as it came, behind the '?'; the handler may decode it in place */
    size_t query_length;
    const struct tv_http_header *headers; /* as they came, see tv_request_header */
    size_t header_count;
    const char *peer; /* the client's address without its port: "192.0.2.7", "2001:db8::1" */
    bool secure;      /* it came by TLS */
    uint64_t length;  /* of the body, as announced; 0: there is none */
    void *body;       /* in `answer`: the context of who took the body, or NULL */
};

/* The value of a header, whatever the case of its name; NULL when it did not come.  Of one that
 * came several times the first; but these come once, or the request was refused: Host, Origin,
 * Referer, Content-Length, Content-Type, Content-Encoding, Transfer-Encoding, Authorization,
 * Cookie, Expect, Range, If-Range, every Upload-..., every Tus-..., every X-Forwarded-..., every
 * Sec-Fetch-..., Forwarded and TV_HTTP_OWN_HEADER. */
const char *tv_request_header(const struct tv_request *request, const char *name);

/* A body that is made while it is sent. */
struct tv_stream {
    /* Puts at least one byte into the buffer, for which it may wait; *got 0: that was all.
     * Anything but TV_OK breaks the connection off, so that nobody takes a part for the whole. */
    enum tv_status (*read)(void *context, uint8_t *buffer, size_t size, size_t *got);
    void (*close)(void *context); /* called once, also when nothing was read; or NULL */
    void *context;
    uint64_t length; /* or TV_HTTP_UNKNOWN_LENGTH: it goes in chunks */
};

/* Headers of one answer besides those that have a member here. */
#define TV_ANSWER_HEADERS 16

/* Filled by the handler, which finds it empty: status 200, the body an empty memory.  The first of
 * stream, source, constant and body that is there is the body. */
struct tv_answer {
    enum tv_http_status status;
    const char *type;   /* Content-Type */
    const char *policy; /* Content-Security-Policy; NULL: nothing at all is allowed */
    const char *tag;    /* ETag, with its quotes; or NULL */
    const char *cache;  /* Cache-Control; NULL: "no-cache" with a tag, "no-store" without */
    const char *allow;  /* the Allow header of status 405, or NULL */
    struct tv_out body; /* handed on without copying */
    struct tv_bytes
        constant; /* instead of body when data is not NULL: lives as long as the server */
    struct tv_source *source;    /* instead of body; given back when it was sent.  NULL: none */
    bool ranges;                 /* of a source with status 200: a Range that is asked for is sent
                                    alone (206), or refused when it lies outside (416) */
    struct tv_stream stream;     /* instead of body when its `read` is not NULL */
    void (*sent)(void *context); /* called once the client has all of the answer; or NULL */
    /* The rest is filled by tv_answer_header. */
    struct tv_http_header headers[TV_ANSWER_HEADERS];
    size_t header_count;
    struct tv_arena arena;
};

void tv_answer_init(struct tv_answer *answer);

/* Gives everything back that the answer owns: for those that are not sent after all. */
void tv_answer_release(struct tv_answer *answer);

/* Adds a header with a copy of this value.  What would end the line early, or is no text (control
 * characters), becomes '?' in it; beyond TV_ANSWER_HEADERS it is dropped. */
void tv_answer_header(struct tv_answer *answer, const char *name, const char *format, ...)
    TV_PRINTF(3, 4);

/* Takes the body of one request, so that nobody needs to hold it whole. */
struct tv_body {
    /* Anything but TV_OK: *answer, which it finds empty, is sent at once, the rest of the body is
     * not read and the connection ends.  (A browser may not see such an answer while it still
     * sends; a client that asked by "Expect: 100-continue" has seen that of `begin`.) */
    enum tv_status (*take)(void *context, struct tv_bytes piece, struct tv_answer *answer);
    /* whole: `answer` was called with all of it.  Else the client has gone, was too slow, or
     * `take` failed: what was taken is what came up to there. */
    void (*end)(void *context, bool whole);
    void *context;
};

/* What there is to say of a request when it is over, also of one that was refused here. */
struct tv_http_note {
    enum tv_http_method method;
    struct tv_bytes path;
    const char *peer;
    unsigned status;   /* 0: the client had gone before there was an answer */
    bool whole;        /* the answer went out whole */
    uint64_t received; /* bytes of its body */
    tv_ns took;        /* from its first line to now */
};

struct tv_handler {
    void (*answer)(void *context, const struct tv_request *request, struct tv_answer *answer);
    /* Called for every request as soon as its head is there, before a client that asked for it is
     * told to send the body.  Fills *body, which it finds empty and may leave so: what a few
     * clients send all the same is dropped then.  False: *answer refuses the request at once, its
     * body is not read.  NULL: no request has a body. */
    bool (*begin)(void *context, const struct tv_request *request, struct tv_body *body,
                  struct tv_answer *answer);
    /* For the log, or NULL. */
    void (*note)(void *context, const struct tv_http_note *note);
    void *context;
};

/* A browser remembers what somebody chose (theme, arrangement of tracks) for one address and port:
 * so the ports are the same each time, below those that systems hand out themselves. */
#define TV_HTTP_HOME_PORT 27180
#define TV_HTTP_HOME_PORTS 8

/* 0 is the default of each. */
struct tv_http_limits {
    uint32_t connections;        /* at a time (64); what comes beyond is told 503 */
    uint32_t client_connections; /* of one address (as many as there may be) */
    uint32_t idle_ms;            /* a connection may lie between two requests (30 s) */
    uint32_t head_ms;            /* from a connection's beginning to a whole head (30 s) */
    /* A body that comes, and an answer that is taken, slower than so many bytes a second (64),
     * looked at over so long a time (30 s), is cut.  Time that the handler takes does not count. */
    uint32_t rate, rate_ms;
    uint32_t head_bytes;  /* request line and headers together (64 KiB); each connection takes so
                             much memory */
    uint32_t stack_bytes; /* of a connection's thread (the system's default) */
};

struct tv_http_options {
    /* "HOST:PORT", "[V6]:PORT", "*:PORT" for every address of this machine, or without ":PORT",
     * then `port` counts.  A name that has several addresses means all of them.  None at all:
     * 127.0.0.1. */
    const char *const *addresses;
    size_t address_count;
    uint16_t port; /* 0 (there too): the first home port that is free, or any where none is */
    struct tv_bytes certificate, key; /* PEM, the chain after the certificate; empty: no TLS */
    struct tv_http_limits limits;
};

struct tv_http;

/* Listen, without any thread yet: clients can connect and wait.  Copies what the options and the
 * handler point to, but for the handler's context. */
enum tv_status tv_http_new(const struct tv_http_options *options, const struct tv_handler *handler,
                           struct tv_http **http, struct tv_error *err) TV_MUST_CHECK;

/* Answer from now on, in threads.  Called once; after an error only tv_http_free is left. */
enum tv_status tv_http_start(struct tv_http *http, struct tv_error *err) TV_MUST_CHECK;

/* "http://127.0.0.1:PORT/", of the socket with this number; NULL behind the last one. */
const char *tv_http_address(const struct tv_http *http, size_t index);

/* The port of the first socket. */
uint16_t tv_http_port(const struct tv_http *http);

/* All since the beginning but `connections`. */
struct tv_http_counts {
    uint64_t accepted;       /* connections that got a place */
    uint64_t refused;        /* that got none, for a limit */
    uint64_t slow;           /* that were cut for slowness: heads, bodies and answers */
    uint64_t requests;       /* whose head came whole */
    uint64_t malformed;      /* of these: refused with 400 here */
    uint64_t received, sent; /* bytes of bodies */
    uint32_t connections;    /* open now */
};
struct tv_http_counts tv_http_count(const struct tv_http *http);

/* Nobody new gets in: the sockets are closed, connections between two requests as well, and each
 * of the others after its answer. */
void tv_http_stop_listening(struct tv_http *http);

/* Waits, after tv_http_stop_listening, until every request has its answer. False: some have not
 * within so long. */
bool tv_http_wait_idle(struct tv_http *http, unsigned timeout_ms) TV_MUST_CHECK;

/* Closes every connection; no handler runs any more when it returns. NULL is fine. */
void tv_http_free(struct tv_http *http);

#endif
