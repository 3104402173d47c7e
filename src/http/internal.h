/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the parts of the HTTP server, as the files of this module see each other.
 *
 *     listen.c          sockets for the addresses that a user writes
 *     limiter.c         accepts connections and cuts those that are too many or too slow
 *     request_head.c    refuses request heads that can be read in two ways
 *     answer.c          the headers of an answer, and byte ranges
 *     http.c            joins them with libmicrohttpd
 */
#ifndef TV_HTTP_INTERNAL_H
#define TV_HTTP_INTERNAL_H

#include "base/error.h"
#include "base/types.h"
#include "http/http.h"

/* ---- listen.c ---- */

/* Upper bound of listening sockets: a name has several addresses, "*" has one for each network
 * family. */
#define TV_LISTENERS 16u

struct tv_listener {
    int fd; /* -1 once it is closed */
    uint16_t port;
    char host[64]; /* "127.0.0.1", "[::1]" */
};

/* Append the sockets of one address to listeners[*count] and advance *count.  The forms of an
 * address are those of tv_http_options; `port` is the default, and port 0 means the home ports. */
enum tv_status tv_listen(const char *address, uint16_t port, struct tv_listener *listeners,
                         size_t *count, struct tv_error *err) TV_MUST_CHECK;

/* Close the sockets; a second call does nothing. */
void tv_listen_end(struct tv_listener *listeners, size_t count);

/* ---- request_head.c ---- */

/* The request line and the headers, as the library parsed them. */
struct tv_request_head {
    const char *method, *version;
    struct tv_bytes target;
    /* Each value is after its name in the receive buffer, which request_head.c relies on. */
    const struct tv_http_header *headers;
    size_t count;
    size_t size; /* bytes received, from the method to the empty line, inclusive */
};

/* Return true when the head is well formed and can be read in one way only.  Then *length is the
 * length of the body: 0 without one, TV_HTTP_UNKNOWN_LENGTH for a chunked body. */
bool tv_request_head_is_valid(const struct tv_request_head *head, uint64_t *length);

/* ---- answer.c ---- */

/* Headers that the server adds itself, plus those that the handler added. */
#define TV_ANSWER_LINES (TV_ANSWER_HEADERS + 12)

/* Fill `lines` with all headers except Content-Length and return their number.  The strings point
 * into the answer. */
size_t tv_answer_list_headers(const struct tv_answer *answer, bool closes,
                              struct tv_http_header lines[TV_ANSWER_LINES]);

/* Apply a Range header to an answer with a source: set [*from, *to), and turn the answer into
 * status 206 or 416 where the header asks for it.  `condition` is the If-Range header.  Both
 * headers may be NULL. */
void tv_answer_apply_range(struct tv_answer *answer, const char *range, const char *condition,
                           uint64_t *from, uint64_t *to);

/* Turn an empty answer into a refusal whose body is the status number. */
void tv_answer_refuse(struct tv_answer *answer, enum tv_http_status status);

/* Write a complete HTTP/1.1 message for an answer whose body is in memory.  It announces that the
 * connection closes. */
void tv_answer_write(const struct tv_answer *answer, const char *reason, struct tv_out *out);

enum tv_range_kind {
    TV_RANGE_NONE,    /* send everything: no header, or one that the RFC lets a server ignore */
    TV_RANGE_PART,    /* the bytes [from, to) */
    TV_RANGE_OUTSIDE, /* none of the requested bytes exists */
};

/* Parse a Range header (RFC 9110, section 14) for a body of `size` bytes.  Several ranges and units
 * other than bytes count as TV_RANGE_NONE. */
enum tv_range_kind tv_range_read(const char *text, uint64_t size, uint64_t *from, uint64_t *to);

/* ---- limiter.c ---- */

/* The connection limiter accepts connections in a thread of its own, rejects those above a limit
 * and shuts down those that are too slow.  The thread of each connection reports its state, and
 * each state has its own time limit: */
enum tv_connection_state {
    TV_CONNECTION_HEAD,     /* the whole head must arrive within head_ms */
    TV_CONNECTION_BODY,     /* the body must arrive at the minimum rate */
    TV_CONNECTION_HANDLER,  /* the handler works: no limit, and the window of the body pauses */
    TV_CONNECTION_RESPONSE, /* the client must read at the minimum rate (Linux only) */
    TV_CONNECTION_IDLE,     /* between two requests, for at most idle_ms */
};

struct sockaddr;
struct tv_limiter;
struct tv_connection; /* from accept until tv_limiter_detach */

struct tv_limiter_options {
    struct tv_listener *listeners; /* copied; the limiter owns the sockets from now on */
    size_t count;
    struct tv_http_limits limits; /* none of them is 0, except stack_bytes */
    bool speaks_first; /* without TLS: a rejected client may be sent a 503 in plain text */
    /* Take over the connected socket, or close it and return false.  Called by the limiter's
     * thread. */
    bool (*enter)(void *context, int fd, const struct sockaddr *address, size_t size);
    void *context;
};

struct tv_limiter *tv_limiter_new(const struct tv_limiter_options *options);

/* Start the thread, which accepts connections from now on. */
enum tv_status tv_limiter_start(struct tv_limiter *limiter, struct tv_error *err) TV_MUST_CHECK;

/* Return the connection of a socket that the server now serves. */
struct tv_connection *tv_limiter_attach(struct tv_limiter *limiter, int fd);

/* Return the client's address as text, without the port. */
const char *tv_connection_peer(const struct tv_connection *connection);

/* Report the state of a connection, and how many bytes of a body arrived since the last report. */
void tv_limiter_set_state(struct tv_limiter *limiter, struct tv_connection *connection,
                          enum tv_connection_state state, size_t bytes);

/* Report that a request begins.  The time limit of a head that already began keeps running. */
void tv_limiter_begin_head(struct tv_limiter *limiter, struct tv_connection *connection);

/* Say whether to linger after the answer: read and drop input for a while before closing.  Without
 * that, closing a socket with unread input resets the connection, and the client may lose the
 * answer.  True at first.  Called by the connection's own thread. */
void tv_connection_set_linger(struct tv_connection *connection, bool lingers);

/* Forget and free the connection, whose socket is about to be closed. */
void tv_limiter_detach(struct tv_limiter *limiter, struct tv_connection *connection);

/* Accept no more connections, and cut idle ones, now and whenever one becomes idle. */
void tv_limiter_close(struct tv_limiter *limiter);
bool tv_limiter_is_closed(struct tv_limiter *limiter);

/* Wait until no connection is left.  False: the time is over. */
bool tv_limiter_wait_empty(struct tv_limiter *limiter, unsigned timeout_ms) TV_MUST_CHECK;

/* Fill the members accepted, refused, slow and connections. */
void tv_limiter_count(struct tv_limiter *limiter, struct tv_http_counts *counts);

/* Stop the thread, then wait until the server has attached every accepted connection. */
void tv_limiter_stop(struct tv_limiter *limiter);

/* Free the limiter, and connections that were never attached. */
void tv_limiter_free(struct tv_limiter *limiter);

#endif
