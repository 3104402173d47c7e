/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "server/guard.h"
#include "server/query.h"

/* A browser opens six connections a page; some tabs and scripts besides. */
#define CONNECTIONS 64u
/* A question that computes keeps its thread busy, and with it the connections that share it. */
#define THREADS 4u
/* A connection that sleeps longer makes room for another. */
#define IDLE_SECONDS 30u
/* Request line and headers together must fit: a question may name thousands of threads. */
#define REQUEST_BYTES ((size_t)64 * 1024)
/* The body of a question that takes none is read and dropped up to here. */
#define BODY_BYTES 4096u

#define NOTHING_ALLOWED "default-src 'none'; frame-ancestors 'none'"

struct tv_http {
    struct MHD_Daemon *daemon;
    struct tv_handler handler;
    struct tv_guard guard;
    char address[80];
};

/* One request, from its first line to the end of its answer. */
struct exchange {
    struct tv_body body;
    size_t dropped; /* bytes of a body that nobody takes */
    bool checked;
    void (*sent)(void *context);
    size_t length;
    uint8_t target[]; /* as it came, and a NUL */
};

/* Headers that matter, and whether one that must stand alone came twice. */
struct headers {
    const char *host, *origin, *length, *known_tag, *own;
    bool twice;
};

static void keep_header(const char **place, const char *value, bool *twice)
{
    *twice = *twice || *place != NULL;
    *place = value != NULL ? value : "";
}

static enum MHD_Result read_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    struct headers *headers = context;
    bool ignored = false;
    (void)kind;
    if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0)
        keep_header(&headers->host, value, &headers->twice);
    else if (strcasecmp(name, MHD_HTTP_HEADER_ORIGIN) == 0)
        keep_header(&headers->origin, value, &headers->twice);
    else if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0)
        keep_header(&headers->length, value, &headers->twice);
    else if (strcasecmp(name, MHD_HTTP_HEADER_IF_NONE_MATCH) == 0)
        keep_header(&headers->known_tag, value, &ignored);
    else if (strcasecmp(name, TV_HTTP_OWN_HEADER) == 0)
        keep_header(&headers->own, value, &ignored);
    return MHD_YES;
}

/* Answers. */

static ssize_t read_source(void *context, uint64_t position, char *buffer, size_t most)
{
    size_t got = 0;
    struct tv_error err = {0};
    enum tv_status status = tv_source_read(context, position, buffer, most, &got, &err);
    if (status != TV_OK)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    return got == 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)got;
}

static void free_source(void *context)
{
    tv_source_free(context);
}

/* Pieces of a large answer. */
#define SOURCE_BLOCK ((size_t)256 * 1024)

static struct MHD_Response *make_response(struct tv_answer *answer)
{
    if (answer->source != NULL) {
        tv_out_release(&answer->body);
        return MHD_create_response_from_callback(tv_source_size(answer->source), SOURCE_BLOCK,
                                                 read_source, answer->source, free_source);
    }
    if (answer->constant.data == NULL)
        return MHD_create_response_from_buffer_with_free_callback(answer->body.length,
                                                                  answer->body.buffer, tv_free);
    /* The library's type is for all modes; in this one it only reads. */
    union {
        const uint8_t *in;
        void *out;
    } bytes = {.in = answer->constant.data};
    return MHD_create_response_from_buffer(answer->constant.length, bytes.out,
                                           MHD_RESPMEM_PERSISTENT);
}

static bool add_headers(struct MHD_Response *response, const struct tv_answer *answer)
{
    const struct {
        const char *name, *value;
    } headers[] = {
        {"Content-Type", answer->type},
        {"Content-Security-Policy", answer->policy != NULL ? answer->policy : NOTHING_ALLOWED},
        {"Cache-Control", answer->tag != NULL ? "no-cache" : "no-store"},
        {"ETag", answer->tag},
        {"Allow", answer->allow},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    for (size_t i = 0; i < TV_COUNT(headers); i++) {
        if (headers[i].value != NULL &&
            MHD_add_response_header(response, headers[i].name, headers[i].value) != MHD_YES)
            return false;
    }
    return true;
}

/* Takes the body over. MHD_NO closes the connection. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, unsigned status,
                                   struct tv_answer *answer)
{
    struct MHD_Response *response = make_response(answer);
    if (response == NULL) {
        tv_out_release(&answer->body);
        return MHD_NO;
    }
    enum MHD_Result result = MHD_NO;
    if (add_headers(response, answer))
        result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static struct tv_answer empty_answer(void)
{
    struct tv_answer answer = {.status = TV_HTTP_OK};
    tv_out_init_memory(&answer.body);
    return answer;
}

/* Says no more than the status does. */
static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status)
{
    struct tv_answer answer = empty_answer();
    answer.type = "text/plain; charset=utf-8";
    answer.allow = status == MHD_HTTP_METHOD_NOT_ALLOWED ? "GET, HEAD, POST, PUT" : NULL;
    tv_out_format(&answer.body, "%u\n", status);
    return send_answer(connection, status, &answer);
}

/* Questions. */

/* The library forgets the target's undecoded form: kept here from the start of the request. */
static void *begin_exchange(void *context, const char *target, struct MHD_Connection *connection)
{
    size_t length = strlen(target);
    struct exchange *exchange = tv_alloc(sizeof *exchange + length + 1, 1);
    (void)context;
    (void)connection;
    exchange->length = length;
    memcpy(exchange->target, target, length);
    return exchange;
}

static void end_exchange(void *context, struct MHD_Connection *connection, void **kept,
                         enum MHD_RequestTerminationCode how)
{
    struct tv_http *http = context;
    struct exchange *exchange = *kept;
    (void)connection;
    if (exchange != NULL && exchange->body.end != NULL)
        exchange->body.end(exchange->body.context);
    if (exchange != NULL && exchange->sent != NULL && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        exchange->sent(http->handler.context);
    tv_free(exchange);
    *kept = NULL;
}

/* Leaves names and values as they came: query.h decodes them. */
static size_t leave_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static bool find_method(const char *name, enum tv_http_method *method)
{
    static const struct {
        const char *name;
        enum tv_http_method method;
    } methods[] = {
        {MHD_HTTP_METHOD_GET, TV_HTTP_GET},
        {MHD_HTTP_METHOD_HEAD, TV_HTTP_GET},
        {MHD_HTTP_METHOD_POST, TV_HTTP_POST},
        {MHD_HTTP_METHOD_PUT, TV_HTTP_PUT},
    };
    for (size_t i = 0; i < TV_COUNT(methods); i++) {
        if (strcmp(name, methods[i].name) != 0)
            continue;
        *method = methods[i].method;
        return true;
    }
    return false;
}

/* The status that refuses the request, or 0. */
static unsigned check_request(const struct tv_http *http, const struct headers *headers,
                              const char *method, struct tv_bytes path)
{
    struct tv_bytes rest;
    enum tv_http_method known;
    uint64_t length;
    if (headers->twice || headers->host == NULL ||
        !tv_guard_host_is_ours(&http->guard, headers->host))
        return MHD_HTTP_FORBIDDEN;
    if (headers->origin != NULL && !tv_guard_origin_is_ours(&http->guard, headers->origin))
        return MHD_HTTP_FORBIDDEN;
    if (!tv_guard_take_token(&http->guard, path, &rest))
        return MHD_HTTP_NOT_FOUND;
    if (!find_method(method, &known))
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    if (headers->length != NULL && !tv_parse_u64(tv_bytes_of(headers->length), &length))
        return MHD_HTTP_CONTENT_TOO_LARGE;
    return 0;
}

/* Of a request that has passed the checks. */
static struct tv_request make_request(const struct tv_http *http, const struct headers *headers,
                                      const char *method, struct exchange *exchange)
{
    struct tv_bytes path = {exchange->target, exchange->length};
    struct tv_bytes query = tv_target_split(&path);
    struct tv_request request = {
        .query = exchange->target + (exchange->length - query.length),
        .query_length = query.length,
        .known_tag = headers->known_tag,
        .has_own_header = headers->own != NULL,
        .length = TV_HTTP_UNKNOWN_LENGTH,
        .body = exchange->body.context,
    };
    if (headers->length != NULL)
        (void)tv_parse_u64(tv_bytes_of(headers->length), &request.length);
    (void)find_method(method, &request.method);
    (void)tv_guard_take_token(&http->guard, path, &request.path);
    return request;
}

/* The request is complete. */
static enum MHD_Result answer_request(struct tv_http *http, struct MHD_Connection *connection,
                                      const char *method, struct exchange *exchange)
{
    struct headers headers = {0};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, read_header, &headers);
    struct tv_request request = make_request(http, &headers, method, exchange);
    struct tv_answer answer = empty_answer();
    http->handler.answer(http->handler.context, &request, &answer);
    exchange->sent = answer.sent;
    return send_answer(connection, answer.status, &answer);
}

/* Whether the handler wants the request, with its body.  It may decode the query, which is told
 * once more with the answer: it gets a copy. */
static bool begin_body(struct tv_http *http, struct tv_request request, struct tv_body *body,
                       struct tv_answer *answer)
{
    if (http->handler.begin == NULL || request.method == TV_HTTP_GET)
        return true;
    uint8_t *query = tv_alloc(request.query_length, 1);
    memcpy(query, request.query, request.query_length);
    request.query = query;
    bool wanted = http->handler.begin(http->handler.context, &request, body, answer);
    tv_free(query);
    return wanted;
}

/* Its first lines are there. */
static enum MHD_Result begin_request(struct tv_http *http, struct MHD_Connection *connection,
                                     const char *method, struct exchange *exchange)
{
    struct headers headers = {0};
    struct tv_bytes path = {exchange->target, exchange->length};
    tv_target_split(&path);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, read_header, &headers);
    exchange->checked = true;
    unsigned refused = check_request(http, &headers, method, path);
    if (refused != 0)
        return refuse(connection, refused);
    struct tv_request request = make_request(http, &headers, method, exchange);
    struct tv_answer answer = empty_answer();
    if (!begin_body(http, request, &exchange->body, &answer))
        return send_answer(connection, answer.status, &answer);
    tv_out_release(&answer.body);
    bool announced = headers.length != NULL && request.length > BODY_BYTES;
    return exchange->body.take == NULL && announced ? refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE)
                                                    : MHD_YES;
}

static bool take_piece(struct exchange *exchange, const char *body, size_t size)
{
    if (exchange->body.take != NULL) {
        exchange->body.take(exchange->body.context, (struct tv_bytes){(const uint8_t *)body, size});
        return true;
    }
    if (size > BODY_BYTES - exchange->dropped)
        return false;
    exchange->dropped += size;
    return true;
}

/* The library calls this with the headers alone, then with each piece of the body, then at the end.
 */
static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *body, size_t *body_size, void **kept)
{
    struct exchange *exchange = *kept;
    (void)url;
    (void)version;
    if (!exchange->checked)
        return begin_request(context, connection, method, exchange);
    if (*body_size == 0)
        return answer_request(context, connection, method, exchange);
    if (!take_piece(exchange, body, *body_size))
        return MHD_NO;
    *body_size = 0;
    return MHD_YES;
}

/* Listening. */

/* A socket of our own rather than the library's: its errors name their reason. */
static bool bind_and_listen(int fd, struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int yes = 1;
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
           bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
           listen(fd, SOMAXCONN) == 0 && getsockname(fd, (struct sockaddr *)address, &size) == 0;
}

/* The listening socket, or -1; *port becomes the one it got. */
static int listen_at(uint16_t *port, struct tv_error *err)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(*port),
        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
    };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || !bind_and_listen(fd, &address)) {
        tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot listen on 127.0.0.1, port %u: %s",
                (unsigned)*port, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

/* Without a wish the first home port that is free, where none is any other. */
static int listen_on_loopback(uint16_t *port, struct tv_error *err)
{
    for (uint16_t i = 0; *port == 0 && i < TV_HTTP_HOME_PORTS; i++) {
        struct tv_error taken;
        uint16_t home = (uint16_t)(TV_HTTP_HOME_PORT + i);
        int fd = listen_at(&home, &taken);
        if (fd < 0)
            continue;
        *port = home;
        return fd;
    }
    return listen_at(port, err);
}

/* poll, not epoll: with that the library (0.9.75) overlooks that a client has gone, until the time
 * limit, when its last bytes and its leaving come together. */
static struct MHD_Daemon *start_daemon(struct tv_http *http, int listening)
{
    return MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD, http->guard.port, NULL, NULL, take_request, http,
        MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_THREAD_POOL_SIZE, THREADS,
        MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT, CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        REQUEST_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes,
        NULL, MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, http, MHD_OPTION_NOTIFY_COMPLETED,
        end_exchange, http, MHD_OPTION_END);
}

enum tv_status tv_http_new(uint16_t port, const struct tv_handler *handler, struct tv_http **http,
                           struct tv_error *err)
{
    int listening = listen_on_loopback(&port, err);
    if (listening < 0)
        return TV_ERR_IO;
    struct tv_http *made = tv_alloc(1, sizeof *made);
    made->handler = *handler;
    enum tv_status status = tv_guard_init(&made->guard, port, err);
    if (status == TV_OK) {
        snprintf(made->address, sizeof made->address, "http://127.0.0.1:%u/%s/", (unsigned)port,
                 made->guard.token);
        made->daemon = start_daemon(made, listening);
        if (made->daemon == NULL)
            status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start the HTTP server: %s",
                             strerror(errno));
    }
    if (status != TV_OK) {
        close(listening);
        tv_free(made);
        return status;
    }
    *http = made;
    return TV_OK;
}

const char *tv_http_address(const struct tv_http *http)
{
    return http->address;
}

void tv_http_free(struct tv_http *http)
{
    if (http == NULL)
        return;
    MHD_stop_daemon(http->daemon);
    tv_free(http);
}
