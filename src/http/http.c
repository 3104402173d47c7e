/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - connects the handler, the connection limiter and libmicrohttpd.
 *
 * The limiter accepts sockets and hands them to the library (MHD_add_connection), which runs one
 * thread per connection. In that thread the library calls back in this order:
 *
 *     http_track_connection   the connection exists: attach it to the limiter
 *     http_exchange_begin     the request line was read
 *     http_take_request       once for the head, once per piece of the body, once at the end
 *     http_exchange_end       the answer was sent, or the connection broke
 *     http_track_connection   the connection closes: detach it
 *
 * An http_exchange is one request with its answer. Every step that blocks reports a state to the
 * limiter, so that the time limits apply to the client and never to the handler.
 */
#include "http/http.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/encoding.h"
#include "base/library.h"
#include "base/memory.h"
#include "http/internal.h"

/* request_head.c checks all that the library's strict mode checks in a head (no Host, blanks in the
 * target). Strict mode of 0.9.75 sends the headers of its error answers twice, so it is off there.
 * Later versions also check how chunks end. */
#define STRICTNESS (MHD_VERSION > 0x00097500 ? 1 : 0)

/* More headers than any client sends. */
#define HEADERS 100u
/* A body that nobody takes is read and dropped up to this size. */
#define BODY_BYTES 4096u
/* Block size of large answers; each answer on its way holds one block. */
#define SOURCE_BLOCK ((size_t)64 * 1024)

/*
 * ---- The functions of libmicrohttpd and GnuTLS that are used ----
 *
 * Both are opened, with the nine libraries that they bring, when a server is made and before its
 * process locks itself in.  All other commands start without them.
 */

/* libmicrohttpd is linked with GnuTLS, so its handle finds the functions of both. */
#define TV_MHD_FUNCTIONS(X)                                                                        \
    X(MHD_add_connection)                                                                          \
    X(MHD_add_response_header)                                                                     \
    X(MHD_create_response_from_buffer)                                                             \
    X(MHD_create_response_from_buffer_with_free_callback)                                          \
    X(MHD_create_response_from_callback)                                                           \
    X(MHD_destroy_response)                                                                        \
    X(MHD_get_connection_info)                                                                     \
    X(MHD_get_connection_values)                                                                   \
    X(MHD_get_reason_phrase_for)                                                                   \
    X(MHD_lookup_connection_value)                                                                 \
    X(MHD_queue_response)                                                                          \
    X(MHD_set_response_options)                                                                    \
    X(MHD_start_daemon)                                                                            \
    X(MHD_stop_daemon)                                                                             \
    X(gnutls_record_send)

struct tv_mhd {
#define X(function) __typeof__(function) *function;
    TV_MHD_FUNCTIONS(X)
#undef X
};

/* The soname of versions 0.9.38 to 1.0. */
#define LIBRARY "libmicrohttpd.so.12"

/* The functions, after http_open_library. */
static struct tv_mhd tv_mhd;

/* Open the library; later calls do nothing.  TV_ERR_UNSUPPORTED: it is not there, or too old; the
 * message names the package to install.  Call it before the sandbox closes and before other threads
 * run. */
static enum tv_status http_open_library(struct tv_error *err)
{
    static const struct tv_library_function functions[] = {
#define X(function) {#function, &tv_mhd.function},
        TV_MHD_FUNCTIONS(X)
#undef X
    };
    if (tv_mhd.MHD_start_daemon)
        return TV_OK;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "%s: install libmicrohttpd12 (Debian, Ubuntu) or libmicrohttpd (Fedora)",
                       dlerror());
    const char *missing = tv_library_find(library, functions, TV_COUNT(functions));
    if (!missing)
        return TV_OK;
    tv_mhd.MHD_start_daemon = NULL;
    dlclose(library);
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, LIBRARY " has no function %s", missing);
}

/* ---- The server ---- */

struct tv_http {
    struct MHD_Daemon *daemon;
    struct tv_limiter *limiter;
    struct tv_handler handler;
    char *certificate, *key;
    struct tv_http_limits limits; /* defaults are filled in */
    struct {
        char text[80];
        uint16_t port;
    } addresses[TV_LISTENERS];
    size_t address_count;
    _Atomic uint64_t requests, malformed, received, sent;
};

/* One request, from its first line to the end of its answer. */
struct http_exchange {
    struct tv_http *http;
    struct tv_connection *client;
    uint64_t began; /* tv_monotonic_ns */
    struct tv_body body;
    size_t dropped; /* bytes of a body that nobody takes */
    uint64_t length, received, sent;
    enum tv_http_method method;
    unsigned status;
    bool checked, whole, told; /* checked: the head was read; whole: the body is complete; told: an
                                  early answer was sent */
    void (*when_sent)(void *context);
    size_t target_length;
    uint8_t target[]; /* the request target as received, with a NUL */
};

/* The headers of a request. They point into the library's buffer. */
struct http_header_list {
    struct tv_http_header headers[HEADERS];
    size_t count;
    bool too_many;
};

/* ---- Methods ---- */

static const char *const method_names[] = {"GET",   "HEAD",   "POST",    "PUT",
                                           "PATCH", "DELETE", "OPTIONS", "OTHER"};

const char *tv_http_method_name(enum tv_http_method method)
{
    return method_names[method];
}

static enum tv_http_method http_find_method(const char *name)
{
    for (int i = TV_HTTP_GET; i < TV_HTTP_OTHER; i++)
        if (strcmp(name, method_names[i]) == 0)
            return (enum tv_http_method)i;
    return TV_HTTP_OTHER;
}

/* ---- Headers of a request ---- */

const char *tv_request_header(const struct tv_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, name) == 0)
            return request->headers[i].value;
    return NULL;
}

static enum MHD_Result http_gather_header(void *context, enum MHD_ValueKind kind, const char *name,
                                          const char *value)
{
    struct http_header_list *gathered = context;
    (void)kind;
    if (gathered->count == HEADERS) {
        gathered->too_many = true;
        return MHD_NO;
    }
    /* An empty value arrives as NULL. It must be after its name (see tv_request_head), so use the
     * name's terminating NUL. */
    gathered->headers[gathered->count++] =
        (struct tv_http_header){name, value != NULL ? value : name + strlen(name)};
    return MHD_YES;
}

/* ---- Answers ---- */

/* A body that is read while it is sent: from a stream, or from a source. */
struct http_body_stream {
    struct http_exchange *exchange;
    struct tv_stream stream;  /* used if `read` is set */
    struct tv_source *source; /* else: its bytes from offset `from` */
    uint64_t from;
};

static enum tv_status http_stream_read(struct http_body_stream *fetched, uint64_t position,
                                       uint8_t *buffer, size_t most, size_t *got)
{
    struct tv_error err = {0};
    if (fetched->stream.read != NULL)
        return fetched->stream.read(fetched->stream.context, buffer, most, got);
    return tv_source_read(fetched->source, fetched->from + position, buffer, most, got, &err);
}

/* Produce the next block of a body. The library never asks for more than the length it was
 * given. */
static ssize_t http_stream_read_block(void *context, uint64_t position, char *buffer, size_t most)
{
    struct http_body_stream *fetched = context;
    struct http_exchange *exchange = fetched->exchange;
    size_t got = 0;
    tv_limiter_set_state(exchange->http->limiter, exchange->client, TV_CONNECTION_HANDLER, 0);
    enum tv_status status = http_stream_read(fetched, position, (uint8_t *)buffer, most, &got);
    tv_limiter_set_state(exchange->http->limiter, exchange->client, TV_CONNECTION_RESPONSE, 0);
    exchange->sent += got;
    if (status != TV_OK)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    return got == 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)got;
}

static void http_stream_free(void *context)
{
    assert(context != NULL);
    struct http_body_stream *fetched = context;
    if (fetched->source != NULL)
        tv_source_free(fetched->source);
    if (fetched->stream.close != NULL)
        fetched->stream.close(fetched->stream.context);
    tv_free(fetched);
}

/* Make a response whose body is fetched block by block. It takes the stream or the source over, but
 * only if it succeeds. */
static struct MHD_Response *http_respond_with_stream(struct http_exchange *exchange,
                                                     struct tv_answer *answer, uint64_t from,
                                                     uint64_t length)
{
    struct http_body_stream *fetched = tv_alloc(1, sizeof *fetched);
    *fetched = (struct http_body_stream){.exchange = exchange, .from = from};
    if (answer->stream.read != NULL)
        fetched->stream = answer->stream;
    else
        fetched->source = answer->source;
    struct MHD_Response *response = tv_mhd.MHD_create_response_from_callback(
        length == TV_HTTP_UNKNOWN_LENGTH ? MHD_SIZE_UNKNOWN : length, SOURCE_BLOCK,
        http_stream_read_block, fetched, http_stream_free);
    if (response == NULL) {
        tv_free(fetched); /* the answer still owns the stream or source */
        return NULL;
    }
    /* For an answer to HEAD the library would still send the final chunk of a chunked body. */
    if (exchange->method == TV_HTTP_HEAD && length == TV_HTTP_UNKNOWN_LENGTH)
        tv_mhd.MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    if (answer->stream.read != NULL)
        answer->stream = (struct tv_stream){0};
    else
        answer->source = NULL;
    return response;
}

/* Make a response from a constant or from the body that was written, which it takes over. */
static struct MHD_Response *http_respond_from_memory(struct http_exchange *exchange,
                                                     struct tv_answer *answer)
{
    struct MHD_Response *response;
    bool empty = exchange->method == TV_HTTP_HEAD;
    if (answer->constant.data == NULL) {
        response = tv_mhd.MHD_create_response_from_buffer_with_free_callback(
            answer->body.length, answer->body.buffer, tv_free);
        exchange->sent = empty ? 0 : answer->body.length;
        if (response != NULL)
            tv_out_init_memory(&answer->body);
        return response;
    }
    /* The library wants a pointer to non-const bytes for all modes. In this mode it only reads. */
    union {
        const uint8_t *in;
        void *out;
    } bytes = {.in = answer->constant.data};
    exchange->sent = empty ? 0 : answer->constant.length;
    return tv_mhd.MHD_create_response_from_buffer(answer->constant.length, bytes.out,
                                                  MHD_RESPMEM_PERSISTENT);
}

/* Choose how the body is sent. Only a source can answer a question for a range of bytes. */
static struct MHD_Response *http_make_response(struct MHD_Connection *connection,
                                               struct http_exchange *exchange,
                                               struct tv_answer *answer)
{
    uint64_t from, to;
    const char *range = NULL, *condition = NULL;
    if (answer->stream.read != NULL)
        return http_respond_with_stream(exchange, answer, 0, answer->stream.length);
    if (answer->source == NULL)
        return http_respond_from_memory(exchange, answer);
    if (exchange->method == TV_HTTP_GET) {
        range =
            tv_mhd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_RANGE);
        condition = tv_mhd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                       MHD_HTTP_HEADER_IF_RANGE);
    }
    tv_answer_apply_range(answer, range, condition, &from, &to);
    if (answer->source == NULL)
        return http_respond_from_memory(exchange, answer);
    return http_respond_with_stream(exchange, answer, from, to - from);
}

static bool http_add_headers(struct MHD_Response *response, const struct tv_http_header *lines,
                             size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tv_mhd.MHD_add_response_header(response, lines[i].name, lines[i].value) != MHD_YES)
            return false;
    return true;
}

/* Send the answer and release it. `closes`: no further request may follow on this connection.
 * MHD_NO closes the connection at once. */
static enum MHD_Result http_send_answer(struct MHD_Connection *connection,
                                        struct http_exchange *exchange, struct tv_answer *answer,
                                        bool closes)
{
    assert(exchange->client != NULL);
    struct tv_http_header lines[TV_ANSWER_LINES];
    bool last = closes || tv_limiter_is_closed(exchange->http->limiter);
    struct MHD_Response *response = http_make_response(connection, exchange, answer);
    enum MHD_Result result = MHD_NO;
    size_t count = tv_answer_list_headers(answer, last, lines);
    if (response != NULL && http_add_headers(response, lines, count))
        result = tv_mhd.MHD_queue_response(connection, answer->status, response);
    if (response != NULL)
        tv_mhd.MHD_destroy_response(response);
    exchange->status = answer->status;
    exchange->when_sent = answer->sent;
    tv_answer_release(answer);
    tv_limiter_set_state(exchange->http->limiter, exchange->client, TV_CONNECTION_RESPONSE, 0);
    return result;
}

static enum MHD_Result http_refuse(struct MHD_Connection *connection,
                                   struct http_exchange *exchange, enum tv_http_status status)
{
    struct tv_answer answer;
    tv_answer_init(&answer);
    tv_answer_refuse(&answer, status);
    return http_send_answer(connection, exchange, &answer, true);
}

/* Send an answer in the middle of a request body, where the library accepts none: write it to the
 * socket directly. */
static void http_send_early_answer(struct MHD_Connection *connection,
                                   struct http_exchange *exchange, struct tv_answer *answer)
{
    struct tv_out out;
    /* Since version 1.0 the library reuses the returned struct, so read the first result before the
     * next query. */
    const union MHD_ConnectionInfo *info =
        tv_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    gnutls_session_t session = info != NULL ? info->tls_session : NULL;
    info = tv_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    tv_out_init_memory(&out);
    tv_answer_write(answer, tv_mhd.MHD_get_reason_phrase_for(answer->status), &out);
    ssize_t sent = session != NULL ? tv_mhd.gnutls_record_send(session, out.buffer, out.length)
                                   : send(info->connect_fd, out.buffer, out.length, MSG_NOSIGNAL);
    exchange->told = sent > 0 && (size_t)sent == out.length;
    exchange->status = answer->status;
    tv_out_release(&out);
    tv_answer_release(answer);
}

/* ---- Requests ---- */

/* Start an exchange. The library only shows the undecoded target here, so keep a copy. */
static void *http_exchange_begin(void *context, const char *target,
                                 struct MHD_Connection *connection)
{
    size_t length = strlen(target);
    struct http_exchange *exchange = tv_alloc(sizeof *exchange + length + 1, 1);
    exchange->http = context;
    exchange->client =
        tv_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
            ->socket_context;
    exchange->target_length = length;
    memcpy(exchange->target, target, length);
    exchange->began = tv_monotonic_ns();
    tv_connection_set_linger(exchange->client, true);
    tv_limiter_begin_head(exchange->http->limiter, exchange->client);
    return exchange;
}

/* Tell the handler of an exchange that is over. The path without its query, which may hold what no
 * log should; nothing about a request whose head could not be read. */
static void http_exchange_log(const struct http_exchange *exchange, bool sent)
{
    const struct tv_handler *handler = &exchange->http->handler;
    struct tv_bytes path = {exchange->target, exchange->target_length};
    tv_query_split(&path);
    struct tv_http_note note = {
        .method = exchange->method,
        .path = path,
        .peer = tv_connection_peer(exchange->client),
        .status = exchange->status,
        .whole = sent || exchange->told,
        .received = exchange->received,
        .took = (tv_ns)(tv_monotonic_ns() - exchange->began),
    };
    if (handler->note != NULL && exchange->checked)
        handler->note(handler->context, &note);
}

/* End an exchange (a callback of the library), whether it was sent or the client went away. */
static void http_exchange_end(void *context, struct MHD_Connection *connection, void **kept,
                              enum MHD_RequestTerminationCode how)
{
    struct tv_http *http = context;
    struct http_exchange *exchange = *kept;
    bool sent = how == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    (void)connection;
    *kept = NULL;
    if (exchange == NULL)
        return;
    if (exchange->body.end != NULL)
        exchange->body.end(exchange->body.context, exchange->whole);
    if (exchange->when_sent != NULL && sent)
        exchange->when_sent(http->handler.context);
    atomic_fetch_add(&http->sent, exchange->sent);
    http_exchange_log(exchange, sent);
    tv_limiter_set_state(http->limiter, exchange->client, TV_CONNECTION_IDLE, 0);
    tv_free(exchange);
}

/* Leave percent escapes in names and values: base/encoding.h decodes them. */
static size_t http_keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* Build the request for the handler from a head that was checked. `target` is a copy that the
 * request points into. */
static struct tv_request http_make_request(const struct http_exchange *exchange,
                                           const struct http_header_list *gathered, uint8_t *target)
{
    struct tv_bytes path = {target, exchange->target_length};
    struct tv_bytes query = tv_query_split(&path);
    return (struct tv_request){
        .method = exchange->method,
        .path = path,
        .query = target + (exchange->target_length - query.length),
        .query_length = query.length,
        .headers = gathered->headers,
        .header_count = gathered->count,
        .peer = tv_connection_peer(exchange->client),
        .secure = exchange->http->certificate != NULL,
        .length = exchange->length,
        .body = exchange->body.context,
    };
}

/* Call the handler: the request is complete. */
static enum MHD_Result http_answer_request(struct MHD_Connection *connection,
                                           struct http_exchange *exchange)
{
    assert(exchange->checked && !exchange->whole);
    struct tv_handler *handler = &exchange->http->handler;
    struct http_header_list gathered = {.count = 0};
    struct tv_answer answer;
    tv_mhd.MHD_get_connection_values(connection, MHD_HEADER_KIND, http_gather_header, &gathered);
    struct tv_request request = http_make_request(exchange, &gathered, exchange->target);
    exchange->whole = true;
    tv_connection_set_linger(exchange->client, false);
    tv_limiter_set_state(exchange->http->limiter, exchange->client, TV_CONNECTION_HANDLER, 0);
    tv_answer_init(&answer);
    handler->answer(handler->context, &request, &answer);
    /* Versions up to 0.9.75 accept a bare LF after a chunk's size line. A proxy in front may read
     * another length, so nothing that follows a chunked body may count as a request. */
    bool in_chunks = exchange->length == TV_HTTP_UNKNOWN_LENGTH;
    return http_send_answer(connection, exchange, &answer, in_chunks);
}

/* Ask the handler whether it accepts the request. The handler may decode the query in place, and
 * needs it again for the answer, so it gets a copy here. */
static bool http_ask_handler_to_begin(struct http_exchange *exchange,
                                      const struct http_header_list *gathered,
                                      struct tv_answer *answer)
{
    struct tv_handler *handler = &exchange->http->handler;
    assert(handler->begin != NULL);
    uint8_t *target = tv_alloc(exchange->target_length + 1, 1);
    memcpy(target, exchange->target, exchange->target_length);
    struct tv_request request = http_make_request(exchange, gathered, target);
    bool wanted = handler->begin(handler->context, &request, &exchange->body, answer);
    tv_free(target);
    return wanted;
}

static bool http_head_is_valid(struct MHD_Connection *connection, const char *method,
                               const char *version, struct http_exchange *exchange,
                               const struct http_header_list *gathered)
{
    struct tv_request_head head = {
        .method = method,
        .version = version,
        .target = {exchange->target, exchange->target_length},
        .headers = gathered->headers,
        .count = gathered->count,
        .size = tv_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
                    ->header_size,
    };
    return tv_request_head_is_valid(&head, &exchange->length);
}

/* Check the head, then let the handler accept or refuse the request. */
static enum MHD_Result http_begin_request(struct MHD_Connection *connection, const char *method,
                                          const char *version, struct http_exchange *exchange)
{
    struct tv_http *http = exchange->http;
    struct http_header_list gathered = {.count = 0};
    struct tv_answer answer;
    exchange->checked = true;
    exchange->method = http_find_method(method);
    atomic_fetch_add(&http->requests, 1);
    tv_limiter_set_state(http->limiter, exchange->client, TV_CONNECTION_HANDLER, 0);
    tv_mhd.MHD_get_connection_values(connection, MHD_HEADER_KIND, http_gather_header, &gathered);
    if (gathered.too_many)
        return http_refuse(connection, exchange, TV_HTTP_HEAD_TOO_LARGE);
    if (!http_head_is_valid(connection, method, version, exchange, &gathered)) {
        atomic_fetch_add(&http->malformed, 1);
        return http_refuse(connection, exchange, TV_HTTP_BAD_REQUEST);
    }
    tv_answer_init(&answer);
    if (!http_ask_handler_to_begin(exchange, &gathered, &answer))
        return http_send_answer(connection, exchange, &answer, exchange->length > 0);
    tv_answer_release(&answer);
    if (exchange->body.take == NULL && exchange->length > BODY_BYTES &&
        exchange->length != TV_HTTP_UNKNOWN_LENGTH)
        return http_refuse(connection, exchange, TV_HTTP_TOO_LARGE);
    tv_limiter_set_state(http->limiter, exchange->client, TV_CONNECTION_BODY, 0);
    return MHD_YES;
}

/* Pass a piece of the body to its taker. False: the connection must close. */
static bool http_pass_body_on(struct MHD_Connection *connection, struct http_exchange *exchange,
                              struct tv_bytes piece)
{
    struct tv_answer answer;
    if (exchange->body.take == NULL) {
        bool fits = piece.length <= BODY_BYTES - exchange->dropped;
        exchange->dropped += fits ? piece.length : 0;
        return fits;
    }
    tv_answer_init(&answer);
    if (exchange->body.take(exchange->body.context, piece, &answer) == TV_OK) {
        tv_answer_release(&answer);
        return true;
    }
    http_send_early_answer(connection, exchange, &answer);
    return false;
}

static bool http_take_body(struct MHD_Connection *connection, struct http_exchange *exchange,
                           struct tv_bytes piece)
{
    struct tv_http *http = exchange->http;
    exchange->received += piece.length;
    atomic_fetch_add(&http->received, piece.length);
    tv_limiter_set_state(http->limiter, exchange->client, TV_CONNECTION_HANDLER, piece.length);
    bool taken = http_pass_body_on(connection, exchange, piece);
    tv_limiter_set_state(http->limiter, exchange->client, TV_CONNECTION_BODY, 0);
    return taken;
}

/* Called by the library once with the head alone, then for each piece of the body, then at the
 * end. */
static enum MHD_Result http_take_request(void *context, struct MHD_Connection *connection,
                                         const char *url, const char *method, const char *version,
                                         const char *body, size_t *body_size, void **kept)
{
    struct http_exchange *exchange = *kept;
    (void)context;
    (void)url;
    if (!exchange->checked)
        return http_begin_request(connection, method, version, exchange);
    if (*body_size == 0)
        return http_answer_request(connection, exchange);
    struct tv_bytes piece = {(const uint8_t *)body, *body_size};
    if (!http_take_body(connection, exchange, piece))
        return MHD_NO;
    *body_size = 0;
    return MHD_YES;
}

/* ---- Connections ---- */

static bool http_add_connection(void *context, int fd, const struct sockaddr *address, size_t size)
{
    struct tv_http *http = context;
    return tv_mhd.MHD_add_connection(http->daemon, fd, address, (socklen_t)size) == MHD_YES;
}

static void http_track_connection(void *context, struct MHD_Connection *connection, void **kept,
                                  enum MHD_ConnectionNotificationCode what)
{
    struct tv_http *http = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *kept = tv_limiter_attach(
            http->limiter,
            tv_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                ->connect_fd);
    else
        tv_limiter_detach(http->limiter, *kept);
}

/* Start the library without threads for listening, and with poll instead of epoll: with epoll,
 * version 0.9.75 misses that a client disconnected when its last bytes and the disconnect arrive
 * together. The limiter enforces all limits on time and on the number of connections, so those of
 * the library are off. */
static struct MHD_Daemon *http_start_daemon(struct tv_http *http)
{
    const struct tv_http_limits *limits = &http->limits;
    bool tls = http->certificate != NULL;
    unsigned flags = MHD_USE_POLL | MHD_USE_INTERNAL_POLLING_THREAD |
                     MHD_USE_THREAD_PER_CONNECTION | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
    char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, http->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, http->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return tv_mhd.MHD_start_daemon(
        tls ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, http_take_request, http,
        MHD_OPTION_CONNECTION_LIMIT, 2 * limits->connections, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)limits->head_bytes,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)limits->stack_bytes, MHD_OPTION_STRICT_FOR_CLIENT,
        STRICTNESS, MHD_OPTION_UNESCAPE_CALLBACK, http_keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, http_exchange_begin, http, MHD_OPTION_NOTIFY_COMPLETED,
        http_exchange_end, http, MHD_OPTION_NOTIFY_CONNECTION, http_track_connection, http,
        MHD_OPTION_ARRAY, tls ? secure : none, MHD_OPTION_END);
}

/* ---- Life cycle ---- */

static void http_default_limit(uint32_t *limit, uint32_t usual)
{
    if (*limit == 0)
        *limit = usual;
}

/* Fill in the defaults. A browser opens six connections for each page, so 64 serve some tabs and
 * scripts. A query of the page may name thousands of threads, so heads may be large. */
static struct tv_http_limits http_fill_limits(struct tv_http_limits limits)
{
    http_default_limit(&limits.connections, 64);
    http_default_limit(&limits.client_connections, limits.connections);
    http_default_limit(&limits.idle_ms, 30000);
    http_default_limit(&limits.head_ms, 30000);
    http_default_limit(&limits.rate, 64);
    http_default_limit(&limits.rate_ms, 30000);
    http_default_limit(&limits.head_bytes, 64 * 1024);
    return limits;
}

/* Listen at all addresses, or at none. */
static enum tv_status http_listen(const struct tv_http_options *options,
                                  struct tv_listener *listeners, size_t *count,
                                  struct tv_error *err)
{
    static const char *const loopback = "127.0.0.1";
    const char *const *addresses = options->address_count > 0 ? options->addresses : &loopback;
    size_t asked = options->address_count > 0 ? options->address_count : 1;
    for (size_t i = 0; i < asked; i++) {
        enum tv_status status = tv_listen(addresses[i], options->port, listeners, count, err);
        if (status != TV_OK) {
            tv_listen_end(listeners, *count);
            return status;
        }
    }
    return TV_OK;
}

static char *http_copy_pem(struct tv_bytes text)
{
    char *copy = tv_alloc(text.length + 1, 1);
    if (text.length > 0)
        memcpy(copy, text.data, text.length);
    return copy;
}

/* Make everything that needs no thread. */
static struct tv_http *http_make(const struct tv_http_options *options,
                                 const struct tv_handler *handler,
                                 const struct tv_limiter_options *limiter)
{
    struct tv_http *http = tv_alloc(1, sizeof *http);
    bool tls = options->certificate.length > 0;
    http->handler = *handler;
    http->limits = http_fill_limits(options->limits);
    if (tls) {
        http->certificate = http_copy_pem(options->certificate);
        http->key = http_copy_pem(options->key);
    }
    for (size_t i = 0; i < limiter->count; i++) {
        http->addresses[i].port = limiter->listeners[i].port;
        snprintf(http->addresses[i].text, sizeof http->addresses[i].text, "%s://%s:%u/",
                 tls ? "https" : "http", limiter->listeners[i].host,
                 (unsigned)limiter->listeners[i].port);
    }
    http->address_count = limiter->count;
    struct tv_limiter_options own = *limiter;
    own.limits = http->limits;
    own.speaks_first = !tls;
    own.enter = http_add_connection;
    own.context = http;
    http->limiter = tv_limiter_new(&own);
    return http;
}

enum tv_status tv_http_new(const struct tv_http_options *options, const struct tv_handler *handler,
                           struct tv_http **http, struct tv_error *err)
{
    struct tv_listener listeners[TV_LISTENERS];
    struct tv_limiter_options limiter = {.listeners = listeners};
    enum tv_status status = http_open_library(err);
    if (status == TV_OK)
        status = http_listen(options, listeners, &limiter.count, err);
    if (status == TV_OK)
        *http = http_make(options, handler, &limiter);
    return status;
}

enum tv_status tv_http_start(struct tv_http *http, struct tv_error *err)
{
    assert(http->daemon == NULL);
    http->daemon = http_start_daemon(http);
    if (http->daemon != NULL)
        return tv_limiter_start(http->limiter, err);
    return tv_fail(
        err, TV_ERR_IO, TV_NO_OFFSET, "cannot start the HTTP server%s",
        http->certificate != NULL ? ": the certificate and its key do not fit, or are no PEM" : "");
}

const char *tv_http_address(const struct tv_http *http, size_t index)
{
    return index < http->address_count ? http->addresses[index].text : NULL;
}

uint16_t tv_http_port(const struct tv_http *http)
{
    return http->addresses[0].port;
}

struct tv_http_counts tv_http_count(const struct tv_http *http)
{
    struct tv_http_counts counts = {
        .requests = atomic_load(&http->requests),
        .malformed = atomic_load(&http->malformed),
        .received = atomic_load(&http->received),
        .sent = atomic_load(&http->sent),
    };
    tv_limiter_count(http->limiter, &counts);
    return counts;
}

void tv_http_stop_listening(struct tv_http *http)
{
    tv_limiter_close(http->limiter);
}

bool tv_http_wait_idle(struct tv_http *http, unsigned timeout_ms)
{
    return tv_limiter_wait_empty(http->limiter, timeout_ms);
}

/* Stop accepting first; then the library closes each connection, which detaches it from the
 * limiter. */
void tv_http_free(struct tv_http *http)
{
    if (http == NULL)
        return;
    tv_limiter_stop(http->limiter);
    if (http->daemon != NULL)
        tv_mhd.MHD_stop_daemon(http->daemon);
    tv_limiter_free(http->limiter);
    tv_free(http->certificate);
    tv_free(http->key);
    tv_free(http);
}
