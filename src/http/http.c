/* SPDX-License-Identifier: Apache-2.0 */
#include "http/http.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <gnutls/gnutls.h>
#include <microhttpd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/encoding.h"
#include "http/answer.h"
#include "http/door.h"
#include "http/head.h"
#include "http/listen.h"

/* What the library refuses itself of heads (no Host, blanks in the target) head.h refuses as well;
 * 0.9.75 would send its own answer's headers twice.  Later ones look at the ends of chunks too. */
#define STRICTNESS (MHD_VERSION > 0x00097500 ? 1 : 0)

/* More headers than any client sends. */
#define HEADERS 100u
/* The body of a question that takes none is read and dropped up to here. */
#define BODY_BYTES 4096u
/* Pieces of a large answer; each that is on its way has memory for one. */
#define SOURCE_BLOCK ((size_t)64 * 1024)

struct tv_http {
    struct MHD_Daemon *daemon;
    struct tv_door *door;
    struct tv_handler handler;
    char *certificate, *key;
    struct tv_http_limits limits; /* all of them are set */
    struct {
        char text[80];
        uint16_t port;
    } addresses[TV_LISTENERS];
    size_t address_count;
    _Atomic uint64_t requests, malformed, received, sent;
};

/* One request, from its first line to the end of its answer. */
struct exchange {
    struct tv_http *http;
    struct tv_guest *guest;
    struct timespec began;
    struct tv_body body;
    size_t dropped; /* bytes of a body that nobody takes */
    uint64_t length, received, sent;
    enum tv_http_method method;
    unsigned status;
    bool checked, whole, told; /* the head was looked at; all has come; a last word was sent */
    void (*when_sent)(void *context);
    size_t target_length;
    uint8_t target[]; /* as it came, and a NUL */
};

/* Its headers, gathered while the library keeps them. */
struct gathered {
    struct tv_http_header headers[HEADERS];
    size_t count;
    bool too_many;
};

/* Methods. */

static const char *const method_names[] = {"GET",   "HEAD",   "POST",    "PUT",
                                           "PATCH", "DELETE", "OPTIONS", "OTHER"};

const char *tv_http_method_name(enum tv_http_method method)
{
    return method_names[method];
}

static enum tv_http_method find_method(const char *name)
{
    for (int i = TV_HTTP_GET; i < TV_HTTP_OTHER; i++)
        if (strcmp(name, method_names[i]) == 0)
            return (enum tv_http_method)i;
    return TV_HTTP_OTHER;
}

/* Headers of a request. */

const char *tv_request_header(const struct tv_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, name) == 0)
            return request->headers[i].value;
    return NULL;
}

static enum MHD_Result gather_header(void *context, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    struct gathered *gathered = context;
    (void)kind;
    if (gathered->count == HEADERS) {
        gathered->too_many = true;
        return MHD_NO;
    }
    /* A header without a value has one of no bytes, behind its name. */
    gathered->headers[gathered->count++] =
        (struct tv_http_header){name, value != NULL ? value : name + strlen(name)};
    return MHD_YES;
}

/* Answers. */

/* A body that is fetched while it is sent. */
struct fetched {
    struct exchange *exchange;
    struct tv_stream stream;  /* or */
    struct tv_source *source; /* its bytes from `from` */
    uint64_t from;
};

static enum tv_status fetch(struct fetched *fetched, uint64_t position, uint8_t *buffer,
                            size_t most, size_t *got)
{
    struct tv_error err = {0};
    if (fetched->stream.read != NULL)
        return fetched->stream.read(fetched->stream.context, buffer, most, got);
    return tv_source_read(fetched->source, fetched->from + position, buffer, most, got, &err);
}

/* The library asks for no more than there is by the length that it was told. */
static ssize_t fetch_piece(void *context, uint64_t position, char *buffer, size_t most)
{
    struct fetched *fetched = context;
    struct exchange *exchange = fetched->exchange;
    size_t got = 0;
    tv_door_set(exchange->http->door, exchange->guest, TV_GUEST_WAITS, 0);
    enum tv_status status = fetch(fetched, position, (uint8_t *)buffer, most, &got);
    tv_door_set(exchange->http->door, exchange->guest, TV_GUEST_TAKES, 0);
    exchange->sent += got;
    if (status != TV_OK)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    return got == 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)got;
}

static void free_fetched(void *context)
{
    struct fetched *fetched = context;
    if (fetched->source != NULL)
        tv_source_free(fetched->source);
    if (fetched->stream.close != NULL)
        fetched->stream.close(fetched->stream.context);
    tv_free(fetched);
}

static struct MHD_Response *respond_by_fetching(struct exchange *exchange, struct tv_answer *answer,
                                                uint64_t from, uint64_t length)
{
    struct fetched *fetched = tv_alloc(1, sizeof *fetched);
    *fetched = (struct fetched){.exchange = exchange, .from = from};
    if (answer->stream.read != NULL)
        fetched->stream = answer->stream;
    else
        fetched->source = answer->source;
    struct MHD_Response *response = MHD_create_response_from_callback(
        length == TV_HTTP_UNKNOWN_LENGTH ? MHD_SIZE_UNKNOWN : length, SOURCE_BLOCK, fetch_piece,
        fetched, free_fetched);
    if (response == NULL) {
        tv_free(fetched); /* what it points to is the answer's still */
        return NULL;
    }
    /* The library would end an answer to HEAD in a last chunk. */
    if (exchange->method == TV_HTTP_HEAD && length == TV_HTTP_UNKNOWN_LENGTH)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    if (answer->stream.read != NULL)
        answer->stream = (struct tv_stream){0};
    else
        answer->source = NULL;
    return response;
}

static struct MHD_Response *respond_from_memory(struct exchange *exchange, struct tv_answer *answer)
{
    struct MHD_Response *response;
    bool empty = exchange->method == TV_HTTP_HEAD;
    if (answer->constant.data == NULL) {
        response = MHD_create_response_from_buffer_with_free_callback(answer->body.length,
                                                                      answer->body.buffer, tv_free);
        exchange->sent = empty ? 0 : answer->body.length;
        if (response != NULL)
            tv_out_init_memory(&answer->body);
        return response;
    }
    /* The library's type is for all modes; in this one it only reads. */
    union {
        const uint8_t *in;
        void *out;
    } bytes = {.in = answer->constant.data};
    exchange->sent = empty ? 0 : answer->constant.length;
    return MHD_create_response_from_buffer(answer->constant.length, bytes.out,
                                           MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Response *make_response(struct MHD_Connection *connection,
                                          struct exchange *exchange, struct tv_answer *answer)
{
    uint64_t from, to;
    const char *range = NULL, *condition = NULL;
    if (answer->stream.read != NULL)
        return respond_by_fetching(exchange, answer, 0, answer->stream.length);
    if (answer->source == NULL)
        return respond_from_memory(exchange, answer);
    if (exchange->method == TV_HTTP_GET) {
        range = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_RANGE);
        condition =
            MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_RANGE);
    }
    tv_answer_take_range(answer, range, condition, &from, &to);
    if (answer->source == NULL)
        return respond_from_memory(exchange, answer);
    return respond_by_fetching(exchange, answer, from, to - from);
}

static bool add_headers(struct MHD_Response *response, const struct tv_http_header *lines,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (MHD_add_response_header(response, lines[i].name, lines[i].value) != MHD_YES)
            return false;
    return true;
}

/* Takes all of the answer over.  `closes`: no other request may follow on this connection.  MHD_NO
 * closes it at once. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct exchange *exchange,
                                   struct tv_answer *answer, bool closes)
{
    struct tv_http_header lines[TV_ANSWER_LINES];
    bool last = closes || tv_door_is_closed(exchange->http->door);
    struct MHD_Response *response = make_response(connection, exchange, answer);
    enum MHD_Result result = MHD_NO;
    size_t count = tv_answer_list(answer, last, lines);
    if (response != NULL && add_headers(response, lines, count))
        result = MHD_queue_response(connection, answer->status, response);
    if (response != NULL)
        MHD_destroy_response(response);
    exchange->status = answer->status;
    exchange->when_sent = answer->sent;
    tv_answer_release(answer);
    tv_door_set(exchange->http->door, exchange->guest, TV_GUEST_TAKES, 0);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, struct exchange *exchange,
                              enum tv_http_status status)
{
    struct tv_answer answer;
    tv_answer_init(&answer);
    tv_answer_refuse(&answer, status);
    return send_answer(connection, exchange, &answer, true);
}

/* In the middle of a body the library takes no answer: it is written past it. */
static void tell_at_once(struct MHD_Connection *connection, struct exchange *exchange,
                         struct tv_answer *answer)
{
    struct tv_out out;
    /* Since version 1.0 of the library the next question overwrites the answer to this one. */
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    gnutls_session_t session = info != NULL ? info->tls_session : NULL;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    tv_out_init_memory(&out);
    tv_answer_write(answer, MHD_get_reason_phrase_for(answer->status), &out);
    ssize_t sent = session != NULL ? gnutls_record_send(session, out.buffer, out.length)
                                   : send(info->connect_fd, out.buffer, out.length, MSG_NOSIGNAL);
    exchange->told = sent > 0 && (size_t)sent == out.length;
    exchange->status = answer->status;
    tv_out_release(&out);
    tv_answer_release(answer);
}

/* Questions. */

/* The library forgets the target's undecoded form: kept here from the start of the request. */
static void *begin_exchange(void *context, const char *target, struct MHD_Connection *connection)
{
    size_t length = strlen(target);
    struct exchange *exchange = tv_alloc(sizeof *exchange + length + 1, 1);
    exchange->http = context;
    exchange->guest =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    exchange->target_length = length;
    memcpy(exchange->target, target, length);
    clock_gettime(CLOCK_MONOTONIC, &exchange->began);
    tv_guest_lingers(exchange->guest, true);
    tv_door_asks(exchange->http->door, exchange->guest);
    return exchange;
}

static tv_ns time_since(const struct timespec *began)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (tv_ns)(now.tv_sec - began->tv_sec) * 1000000000 + (now.tv_nsec - began->tv_nsec);
}

static void note_exchange(const struct exchange *exchange, bool sent)
{
    const struct tv_handler *handler = &exchange->http->handler;
    struct tv_bytes path = {exchange->target, exchange->target_length};
    tv_query_split(&path);
    struct tv_http_note note = {
        .method = exchange->method,
        .path = path,
        .peer = tv_guest_peer(exchange->guest),
        .status = exchange->status,
        .whole = sent || exchange->told,
        .received = exchange->received,
        .took = time_since(&exchange->began),
    };
    if (handler->note != NULL && exchange->checked)
        handler->note(handler->context, &note);
}

static void end_exchange(void *context, struct MHD_Connection *connection, void **kept,
                         enum MHD_RequestTerminationCode how)
{
    struct tv_http *http = context;
    struct exchange *exchange = *kept;
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
    note_exchange(exchange, sent);
    tv_door_set(http->door, exchange->guest, TV_GUEST_RESTS, 0);
    tv_free(exchange);
}

/* Leaves names and values as they came: query.h decodes them. */
static size_t leave_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* A request whose head is good. */
static struct tv_request make_request(const struct exchange *exchange,
                                      const struct gathered *gathered, uint8_t *target)
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
        .peer = tv_guest_peer(exchange->guest),
        .secure = exchange->http->certificate != NULL,
        .length = exchange->length,
        .body = exchange->body.context,
    };
}

/* The request is complete. */
static enum MHD_Result answer_request(struct MHD_Connection *connection, struct exchange *exchange)
{
    struct tv_handler *handler = &exchange->http->handler;
    struct gathered gathered = {.count = 0};
    struct tv_answer answer;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, gather_header, &gathered);
    struct tv_request request = make_request(exchange, &gathered, exchange->target);
    exchange->whole = true;
    tv_guest_lingers(exchange->guest, false);
    tv_door_set(exchange->http->door, exchange->guest, TV_GUEST_WAITS, 0);
    tv_answer_init(&answer);
    handler->answer(handler->context, &request, &answer);
    /* Versions up to 0.9.75 take a bare LF for the end of a chunk's line, where a proxy in front
     * may read another length: nothing that follows such a body is taken for a request. */
    bool in_chunks = exchange->length == TV_HTTP_UNKNOWN_LENGTH;
    return send_answer(connection, exchange, &answer, in_chunks);
}

/* Whether the handler wants the request, with its body.  It may decode the query, which is told
 * once more with the answer: it gets a copy. */
static bool ask_to_begin(struct exchange *exchange, const struct gathered *gathered,
                         struct tv_answer *answer)
{
    struct tv_handler *handler = &exchange->http->handler;
    if (handler->begin == NULL)
        return true;
    uint8_t *target = tv_alloc(exchange->target_length + 1, 1);
    memcpy(target, exchange->target, exchange->target_length);
    struct tv_request request = make_request(exchange, gathered, target);
    bool wanted = handler->begin(handler->context, &request, &exchange->body, answer);
    tv_free(target);
    return wanted;
}

static bool is_good(struct MHD_Connection *connection, const char *method, const char *version,
                    struct exchange *exchange, const struct gathered *gathered)
{
    struct tv_head head = {
        .method = method,
        .version = version,
        .target = {exchange->target, exchange->target_length},
        .headers = gathered->headers,
        .count = gathered->count,
        .size = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
                    ->header_size,
    };
    return tv_head_is_good(&head, &exchange->length);
}

/* Its first lines are there. */
static enum MHD_Result begin_request(struct MHD_Connection *connection, const char *method,
                                     const char *version, struct exchange *exchange)
{
    struct tv_http *http = exchange->http;
    struct gathered gathered = {.count = 0};
    struct tv_answer answer;
    exchange->checked = true;
    exchange->method = find_method(method);
    atomic_fetch_add(&http->requests, 1);
    tv_door_set(http->door, exchange->guest, TV_GUEST_WAITS, 0);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, gather_header, &gathered);
    if (gathered.too_many)
        return refuse(connection, exchange, TV_HTTP_HEAD_TOO_LARGE);
    if (!is_good(connection, method, version, exchange, &gathered)) {
        atomic_fetch_add(&http->malformed, 1);
        return refuse(connection, exchange, TV_HTTP_BAD_QUESTION);
    }
    tv_answer_init(&answer);
    if (!ask_to_begin(exchange, &gathered, &answer))
        return send_answer(connection, exchange, &answer, exchange->length > 0);
    tv_answer_release(&answer);
    if (exchange->body.take == NULL && exchange->length > BODY_BYTES &&
        exchange->length != TV_HTTP_UNKNOWN_LENGTH)
        return refuse(connection, exchange, TV_HTTP_TOO_LARGE);
    tv_door_set(http->door, exchange->guest, TV_GUEST_SENDS, 0);
    return MHD_YES;
}

/* False: the connection ends. */
static bool hand_piece_on(struct MHD_Connection *connection, struct exchange *exchange,
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
    tell_at_once(connection, exchange, &answer);
    return false;
}

static bool take_piece(struct MHD_Connection *connection, struct exchange *exchange,
                       struct tv_bytes piece)
{
    struct tv_http *http = exchange->http;
    exchange->received += piece.length;
    atomic_fetch_add(&http->received, piece.length);
    tv_door_set(http->door, exchange->guest, TV_GUEST_WAITS, piece.length);
    bool taken = hand_piece_on(connection, exchange, piece);
    tv_door_set(http->door, exchange->guest, TV_GUEST_SENDS, 0);
    return taken;
}

/* The library calls this with the headers alone, then with each piece of the body, then at the end.
 */
static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *body, size_t *body_size, void **kept)
{
    struct exchange *exchange = *kept;
    (void)context;
    (void)url;
    if (!exchange->checked)
        return begin_request(connection, method, version, exchange);
    if (*body_size == 0)
        return answer_request(connection, exchange);
    struct tv_bytes piece = {(const uint8_t *)body, *body_size};
    if (!take_piece(connection, exchange, piece))
        return MHD_NO;
    *body_size = 0;
    return MHD_YES;
}

/* Connections. */

static bool enter(void *context, int fd, const struct sockaddr *address, size_t size)
{
    struct tv_http *http = context;
    return MHD_add_connection(http->daemon, fd, address, (socklen_t)size) == MHD_YES;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **kept,
                            enum MHD_ConnectionNotificationCode what)
{
    struct tv_http *http = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *kept = tv_door_receive(
            http->door,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    else
        tv_door_leave(http->door, *kept);
}

/* poll, not epoll: with that the library (0.9.75) overlooks that a client has gone, until the time
 * limit, when its last bytes and its leaving come together.  It has no time limit of its own, nor
 * one for connections that counts: those are the door's. */
static struct MHD_Daemon *start_daemon(struct tv_http *http)
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
    return MHD_start_daemon(
        tls ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, take_request, http,
        MHD_OPTION_CONNECTION_LIMIT, 2 * limits->connections, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)limits->head_bytes,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)limits->stack_bytes, MHD_OPTION_STRICT_FOR_CLIENT,
        STRICTNESS, MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL, MHD_OPTION_URI_LOG_CALLBACK,
        begin_exchange, http, MHD_OPTION_NOTIFY_COMPLETED, end_exchange, http,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, http, MHD_OPTION_ARRAY, tls ? secure : none,
        MHD_OPTION_END);
}

/* Life. */

static void or_else(uint32_t *limit, uint32_t usual)
{
    if (*limit == 0)
        *limit = usual;
}

/* A browser opens six connections a page; some tabs and scripts besides.  A question of the page
 * may name thousands of threads. */
static struct tv_http_limits fill_limits(struct tv_http_limits limits)
{
    or_else(&limits.connections, 64);
    or_else(&limits.client_connections, limits.connections);
    or_else(&limits.idle_ms, 30000);
    or_else(&limits.head_ms, 30000);
    or_else(&limits.rate, 64);
    or_else(&limits.rate_ms, 30000);
    or_else(&limits.head_bytes, 64 * 1024);
    return limits;
}

static enum tv_status listen_everywhere(const struct tv_http_options *options,
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

static char *copy_text(struct tv_bytes text)
{
    char *copy = tv_alloc(text.length + 1, 1);
    if (text.length > 0)
        memcpy(copy, text.data, text.length);
    return copy;
}

/* Make what needs no thread. */
static struct tv_http *make_http(const struct tv_http_options *options,
                                 const struct tv_handler *handler,
                                 const struct tv_door_options *door)
{
    struct tv_http *http = tv_alloc(1, sizeof *http);
    bool tls = options->certificate.length > 0;
    http->handler = *handler;
    http->limits = fill_limits(options->limits);
    if (tls) {
        http->certificate = copy_text(options->certificate);
        http->key = copy_text(options->key);
    }
    for (size_t i = 0; i < door->count; i++) {
        http->addresses[i].port = door->listeners[i].port;
        snprintf(http->addresses[i].text, sizeof http->addresses[i].text, "%s://%s:%u/",
                 tls ? "https" : "http", door->listeners[i].host,
                 (unsigned)door->listeners[i].port);
    }
    http->address_count = door->count;
    struct tv_door_options own = *door;
    own.limits = http->limits;
    own.speaks_first = !tls;
    own.enter = enter;
    own.context = http;
    http->door = tv_door_new(&own);
    return http;
}

enum tv_status tv_http_new(const struct tv_http_options *options, const struct tv_handler *handler,
                           struct tv_http **http, struct tv_error *err)
{
    struct tv_listener listeners[TV_LISTENERS];
    struct tv_door_options door = {.listeners = listeners};
    enum tv_status status = listen_everywhere(options, listeners, &door.count, err);
    if (status == TV_OK)
        *http = make_http(options, handler, &door);
    return status;
}

enum tv_status tv_http_start(struct tv_http *http, struct tv_error *err)
{
    http->daemon = start_daemon(http);
    if (http->daemon != NULL)
        return tv_door_open(http->door, err);
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
    tv_door_count(http->door, &counts);
    return counts;
}

void tv_http_stop_listening(struct tv_http *http)
{
    tv_door_close(http->door);
}

bool tv_http_wait_idle(struct tv_http *http, unsigned timeout_ms)
{
    return tv_door_wait_empty(http->door, timeout_ms);
}

/* First nobody gets in any more, then everybody leaves by the door. */
void tv_http_free(struct tv_http *http)
{
    if (http == NULL)
        return;
    tv_door_end(http->door);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon);
    tv_door_free(http->door);
    tv_free(http->certificate);
    tv_free(http->key);
    tv_free(http);
}
