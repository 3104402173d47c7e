/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - raw requests over a real socket against a handler that notes what reaches it.
 */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/number.h"
#include "server/http.h"

struct note {
    _Atomic unsigned answered, sent; /* by the server's thread */
    char path[64], query[64];
    enum tv_http_method method;
    bool has_own_header;
    _Atomic size_t begun, taken, ended; /* bodies, bytes of them, bodies */
    size_t last;                        /* what had been taken when the last answer was made */
};

static void note_sent(void *context)
{
    ((struct note *)context)->sent++;
}

static void answer(void *context, const struct tv_request *request, struct tv_answer *answer)
{
    static const uint8_t constant[] = "from the rodata";
    struct note *note = context;
    note->answered++;
    note->method = request->method;
    note->has_own_header = request->has_own_header;
    note->last = request->body ? note->taken : 0;
    snprintf(note->path, sizeof note->path, "%.*s", (int)request->path.length,
             (const char *)request->path.data);
    snprintf(note->query, sizeof note->query, "%.*s", (int)request->query_length,
             (const char *)request->query);
    answer->type = "text/plain";
    answer->sent = note_sent;
    if (tv_bytes_equal(request->path, TV_BYTES("constant"))) {
        answer->constant = (struct tv_bytes){constant, sizeof constant - 1};
        answer->tag = "\"7\"";
        if (request->known_tag != NULL && strcmp(request->known_tag, "\"7\"") == 0)
            answer->status = TV_HTTP_NOT_MODIFIED;
    } else if (tv_bytes_equal(request->path, TV_BYTES("large"))) {
        struct tv_spool *spool = tv_spool_new("large");
        struct tv_error err;
        assert_int_equal(tv_spool_add(spool, TV_BYTES("from a file"), &err), TV_OK);
        answer->source = tv_spool_finish(spool);
    } else {
        tv_out_text(&answer->body, "made");
    }
}

static void take(void *context, struct tv_bytes piece)
{
    struct note *note = context;
    for (size_t i = 0; i < piece.length; i++)
        assert_int_equal(piece.data[i], 'a' + (note->taken + i) % 23);
    note->taken += piece.length;
}

static void end(void *context)
{
    ((struct note *)context)->ended++;
}

/* Bodies are for "taken" alone, "refused" wants none of what a client sends. */
static bool begin(void *context, const struct tv_request *request, struct tv_body *body,
                  struct tv_answer *answer)
{
    struct note *note = context;
    if (request->query_length > 0)
        request->query[0] = '!'; /* as who decodes in place */
    if (tv_bytes_equal(request->path, TV_BYTES("refused"))) {
        answer->status = TV_HTTP_FORBIDDEN;
        answer->type = "text/plain";
        tv_out_text(&answer->body, "no");
        return false;
    }
    if (!tv_bytes_equal(request->path, TV_BYTES("taken")))
        return true;
    note->begun++;
    *body = (struct tv_body){take, end, note};
    return true;
}

struct fixture {
    struct tv_http *http;
    struct note note;
    unsigned port;
    char token[64];
    char reply[8192];
};

static void read_address(struct fixture *f, const char *address)
{
    static const char start[] = "http://127.0.0.1:";
    assert_memory_equal(address, start, sizeof start - 1);
    struct tv_bytes rest = tv_bytes_of(address + sizeof start - 1), word;
    uint64_t port;
    assert_true(tv_bytes_split(&rest, '/', &word));
    assert_true(tv_parse_u64(word, &port));
    f->port = (unsigned)port;
    assert_true(tv_bytes_split(&rest, '/', &word));
    assert_true(word.length < sizeof f->token);
    memcpy(f->token, word.data, word.length);
    assert_int_equal(rest.length, 0);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (f == NULL)
        return 1;
    struct tv_handler handler = {answer, begin, &f->note};
    struct tv_error err = {0};
    if (tv_http_new(0, &handler, &f->http, &err) != TV_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    read_address(f, tv_http_address(f->http));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tv_http_free(f->http);
    free(f);
    return 0;
}

/* -1: nobody listens there. */
static int try_to_connect(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    struct timeval patience = {.tv_sec = 60};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static int connect_to(unsigned port)
{
    int fd = try_to_connect(port);
    assert_true(fd >= 0);
    return fd;
}

/* What a browser remembers of a page is bound to its port. */
static void listens_at_home_where_there_is_room(void **state)
{
    const struct fixture *f = *state;
    if (f->port >= TV_HTTP_HOME_PORT && f->port < TV_HTTP_HOME_PORT + TV_HTTP_HOME_PORTS)
        return;
    for (unsigned i = 0; i < TV_HTTP_HOME_PORTS; i++) {
        int fd = try_to_connect(TV_HTTP_HOME_PORT + i);
        assert_true(fd >= 0);
        close(fd);
    }
}

/* Sends the bytes and reads until the server closes; the status, or 0 when there is no answer. */
static int ask_raw(struct fixture *f, const char *bytes, size_t length)
{
    int fd = connect_to(f->port);
    size_t used = 0;
    for (size_t sent = 0; sent < length;) {
        ssize_t n = send(fd, bytes + sent, length - sent, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    for (;;) {
        ssize_t n = recv(fd, f->reply + used, sizeof f->reply - 1 - used, 0);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    f->reply[used] = '\0';
    close(fd);
    static const char start[] = "HTTP/1.1 ";
    uint64_t status;
    if (strncmp(f->reply, start, sizeof start - 1) != 0 ||
        !tv_parse_u64((struct tv_bytes){(const uint8_t *)f->reply + sizeof start - 1, 3}, &status))
        return 0;
    return (int)status;
}

/* A request for "/TOKEN/" + path with the right Host and these further lines. */
static int ask(struct fixture *f, const char *method, const char *path, const char *lines)
{
    char text[4096];
    int length = snprintf(text, sizeof text,
                          "%s /%s/%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n%s\r\n",
                          method, f->token, path, f->port, lines);
    return ask_raw(f, text, (size_t)length);
}

static int ask_with_host(struct fixture *f, const char *lines)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "GET /%s/ HTTP/1.1\r\nConnection: close\r\n%s\r\n",
                          f->token, lines);
    return ask_raw(f, text, (size_t)length);
}

static bool replied(const struct fixture *f, const char *text)
{
    return strstr(f->reply, text) != NULL;
}

static void carries_question_and_answer(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "GET", "api/x?a=%2C&b=+", ""), 200);
    assert_string_equal(f->note.path, "api/x");
    assert_string_equal(f->note.query, "a=%2C&b=+"); /* nothing decoded on the way */
    assert_int_equal(f->note.method, TV_HTTP_GET);
    assert_true(replied(f, "\r\n\r\nmade"));
    assert_true(replied(f, "Content-Type: text/plain\r\n"));
    assert_int_equal(f->note.sent, 1);
}

static void protects_every_answer(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "GET", "x", ""), 200);
    assert_true(
        replied(f, "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"));
    assert_true(replied(f, "X-Content-Type-Options: nosniff\r\n"));
    assert_true(replied(f, "Referrer-Policy: no-referrer\r\n"));
    assert_true(replied(f, "Cross-Origin-Resource-Policy: same-origin\r\n"));
    assert_true(replied(f, "Cache-Control: no-store\r\n"));
    assert_false(replied(f, "Access-Control"));
}

static void answers_head_without_the_body(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "HEAD", "x", ""), 200);
    assert_true(replied(f, "Content-Length: 4\r\n"));
    assert_false(replied(f, "made"));
}

static void lets_the_client_keep_what_has_a_tag(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "GET", "constant", ""), 200);
    assert_true(replied(f, "ETag: \"7\"\r\n"));
    assert_true(replied(f, "Cache-Control: no-cache\r\n"));
    assert_true(replied(f, "\r\n\r\nfrom the rodata"));
    assert_int_equal(ask(f, "GET", "constant", "If-None-Match: \"7\"\r\n"), 304);
    assert_false(replied(f, "rodata"));
    assert_int_equal(ask(f, "GET", "constant", "If-None-Match: \"8\"\r\n"), 200);
}

static void sends_what_lies_in_a_source(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "GET", "large", ""), 200);
    assert_true(replied(f, "Content-Length: 11\r\n"));
    assert_true(replied(f, "\r\n\r\nfrom a file"));
}

static void refuses_foreign_hosts(void **state)
{
    struct fixture *f = *state;
    char lines[256];
    assert_int_equal(ask_with_host(f, "Host: evil.example\r\n"), 403);
    assert_int_equal(ask_with_host(f, "Host: 127.0.0.1\r\n"), 403);
    assert_int_equal(ask_with_host(f, ""), 400);
    /* One that is ours does not make up for one that is not. */
    snprintf(lines, sizeof lines, "Host: 127.0.0.1:%u\r\nHost: evil.example\r\n", f->port);
    assert_int_equal(ask_with_host(f, lines), 403);
    snprintf(lines, sizeof lines, "Host: evil.example\r\nhost: 127.0.0.1:%u\r\n", f->port);
    assert_int_equal(ask_with_host(f, lines), 403);
    assert_int_equal(f->note.answered, 0);
    snprintf(lines, sizeof lines, "Host: localhost:%u\r\n", f->port);
    assert_int_equal(ask_with_host(f, lines), 200);
}

static void refuses_an_old_request_without_host(void **state)
{
    struct fixture *f = *state;
    char text[256];
    int length = snprintf(text, sizeof text, "GET /%s/ HTTP/1.0\r\n\r\n", f->token);
    assert_int_equal(ask_raw(f, text, (size_t)length), 403);
    assert_int_equal(f->note.answered, 0);
}

static void refuses_foreign_origins(void **state)
{
    struct fixture *f = *state;
    char lines[256];
    assert_int_equal(ask(f, "POST", "x", "Origin: http://evil.example\r\nContent-Length: 0\r\n"),
                     403);
    assert_int_equal(ask(f, "POST", "x", "Origin: null\r\nContent-Length: 0\r\n"), 403);
    assert_int_equal(ask(f, "GET", "x", "Origin: http://127.0.0.1\r\n"), 403);
    assert_int_equal(f->note.answered, 0);
    snprintf(lines, sizeof lines, "Origin: http://127.0.0.1:%u\r\nContent-Length: 0\r\n", f->port);
    assert_int_equal(ask(f, "POST", "x", lines), 200);
    assert_int_equal(f->note.method, TV_HTTP_POST);
}

static void hides_everything_behind_the_token(void **state)
{
    struct fixture *f = *state;
    f->token[5] = f->token[5] == 'a' ? 'b' : 'a';
    assert_int_equal(ask(f, "GET", "", ""), 404);
    assert_int_equal(ask(f, "DELETE", "api/trace", ""), 404); /* not even the methods */
    assert_true(replied(f, "\r\n\r\n404\n"));
    f->token[0] = '\0';
    assert_int_equal(ask(f, "GET", "", ""), 404);
    assert_int_equal(ask(f, "GET", "../../../../etc/passwd", ""), 404);
    assert_int_equal(f->note.answered, 0);
}

static void knows_four_methods(void **state)
{
    struct fixture *f = *state;
    static const char *const others[] = {"DELETE", "OPTIONS", "TRACE", "PATCH", "get", "X"};
    for (size_t i = 0; i < TV_COUNT(others); i++) {
        assert_int_equal(ask(f, others[i], "x", ""), 405);
        assert_true(replied(f, "Allow: GET, HEAD, POST, PUT\r\n"));
    }
    assert_int_equal(f->note.answered, 0);
}

static void drops_bodies(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "POST", "x", "Content-Length: 5\r\n\r\nhello"), 200);
    assert_int_equal(ask(f, "POST", "x", "Content-Length: 5000000\r\n"), 413);
    assert_int_equal(ask(f, "POST", "x", "Content-Length: -1\r\n"), 400);
    assert_int_equal(f->note.answered, 1);
}

/* More than all buffers on the way hold. */
#define LONG_BODY ((size_t)3 * 1024 * 1024)

static char *make_body(size_t size)
{
    char *body = malloc(size);
    assert_non_null(body);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)('a' + i % 23);
    return body;
}

/* The first lines of a request for "/TOKEN/taken", with these further lines. */
static size_t write_head(const struct fixture *f, char *text, size_t size, const char *lines)
{
    int length = snprintf(text, size,
                          "PUT /%s/taken?x=1 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                          "Connection: close\r\nX-Traceview: 1\r\n%s\r\n",
                          f->token, f->port, lines);
    return (size_t)length;
}

static void hands_a_body_on_in_pieces(void **state)
{
    struct fixture *f = *state;
    char head[512], *body = make_body(LONG_BODY), *text = malloc(LONG_BODY + sizeof head);
    assert_non_null(text);
    snprintf(head, sizeof head, "Content-Length: %zu\r\n", LONG_BODY);
    size_t length = write_head(f, text, sizeof head, head);
    memcpy(text + length, body, LONG_BODY);
    assert_int_equal(ask_raw(f, text, length + LONG_BODY), 200);
    assert_int_equal(f->note.begun, 1);
    assert_int_equal(f->note.last, LONG_BODY);
    assert_int_equal(f->note.ended, 1);
    assert_int_equal(f->note.method, TV_HTTP_PUT);
    assert_true(f->note.has_own_header);
    assert_string_equal(f->note.query, "x=1"); /* whatever who was asked first made of it */
    /* In chunks, of which nobody says beforehand how many they are. */
    length = write_head(f, text, sizeof head, "Transfer-Encoding: chunked\r\n");
    f->note.taken = 0;
    static const char before[] = "2710\r\n", after[] = "\r\n", last[] = "0\r\n\r\n";
    for (size_t at = 0; at < 100000; at += 10000) {
        memcpy(text + length, before, sizeof before - 1);
        length += sizeof before - 1;
        memcpy(text + length, body + at, 10000);
        length += 10000;
        memcpy(text + length, after, sizeof after - 1);
        length += sizeof after - 1;
    }
    memcpy(text + length, last, sizeof last - 1);
    length += sizeof last - 1;
    assert_int_equal(ask_raw(f, text, length), 200);
    assert_int_equal(f->note.last, 100000);
    assert_int_equal(f->note.ended, 2);
    free(body);
    free(text);
}

static void tells_that_a_client_has_gone(void **state)
{
    struct fixture *f = *state;
    char text[512], *body = make_body(1000);
    size_t length = write_head(f, text, sizeof text, "Content-Length: 5000\r\n");
    int fd = connect_to(f->port);
    assert_int_equal(send(fd, text, length, MSG_NOSIGNAL), length);
    assert_int_equal(send(fd, body, 1000, MSG_NOSIGNAL), 1000);
    while (f->note.taken < 1000)
        usleep(1000);
    assert_int_equal(f->note.ended, 0);
    close(fd);
    while (f->note.ended < 1)
        usleep(1000);
    assert_int_equal(f->note.answered, 0);
    free(body);
}

static void refuses_a_body_at_once(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "PUT", "refused", "Content-Length: 50000000\r\n"), 403);
    assert_true(replied(f, "\r\n\r\nno"));
    assert_int_equal(ask(f, "PUT", "x", "Content-Length: 5000000\r\n"), 413);
    assert_int_equal(f->note.begun, 0);
    assert_int_equal(f->note.answered, 0);
}

/* Its length is not said beforehand. */
static void ends_a_chunked_body_that_grows(void **state)
{
    struct fixture *f = *state;
    char text[9000];
    int length = snprintf(text, sizeof text,
                          "POST /%s/x HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n1f40\r\n",
                          f->token, f->port);
    memset(text + length, 'x', 8000);
    length += 8000;
    length += snprintf(text + length, sizeof text - (size_t)length, "\r\n0\r\n\r\n");
    assert_int_equal(ask_raw(f, text, (size_t)length), 0);
    assert_int_equal(f->note.answered, 0);
}

static void bounds_headers_and_targets(void **state)
{
    struct fixture *f = *state;
    size_t size = 200000;
    char *text = malloc(size);
    assert_non_null(text);
    int length =
        snprintf(text, size, "GET /%s/x HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX: ", f->token, f->port);
    memset(text + length, 'x', size - (size_t)length);
    assert_int_equal(ask_raw(f, text, size), 431);
    length = snprintf(text, size, "GET /%s/x?a=", f->token);
    memset(text + length, 'x', size - (size_t)length);
    assert_int_equal(ask_raw(f, text, size), 414);
    free(text);
    assert_int_equal(f->note.answered, 0);
    assert_int_equal(ask(f, "GET", "x", ""), 200);
}

static void survives_what_is_no_http(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", /* TLS */
        "GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
         "Content-Length: 3\r\n\r\nzz\r\n"),
    };
    for (size_t i = 0; i < TV_COUNT(texts); i++) {
        int fd = connect_to(f->port);
        send(fd, texts[i], strlen(texts[i]), MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
        while (recv(fd, f->reply, sizeof f->reply, 0) > 0)
            ;
        close(fd);
    }
    assert_int_equal(f->note.answered, 0);
    assert_int_equal(ask(f, "GET", "x", ""), 200);
}

static void listens_on_loopback_only(void **state)
{
    struct fixture *f = *state;
    /* Another address of the loopback net is another interface to a socket that is bound to one. */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)f->port)};
    inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_not_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void says_why_it_cannot_listen(void **state)
{
    struct fixture *f = *state;
    struct tv_handler handler = {answer, begin, &f->note};
    struct tv_http *second;
    struct tv_error err = {0};
    assert_int_equal(tv_http_new((uint16_t)f->port, &handler, &second, &err), TV_ERR_IO);
    assert_non_null(strstr(err.message, "Address already in use"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_TESTS(http, TEST(listens_at_home_where_there_is_room), TEST(carries_question_and_answer),
           TEST(protects_every_answer), TEST(answers_head_without_the_body),
           TEST(lets_the_client_keep_what_has_a_tag), TEST(sends_what_lies_in_a_source),
           TEST(refuses_foreign_hosts), TEST(refuses_an_old_request_without_host),
           TEST(refuses_foreign_origins), TEST(hides_everything_behind_the_token),
           TEST(knows_four_methods), TEST(drops_bodies), TEST(hands_a_body_on_in_pieces),
           TEST(tells_that_a_client_has_gone), TEST(refuses_a_body_at_once),
           TEST(ends_a_chunked_body_that_grows), TEST(bounds_headers_and_targets),
           TEST(survives_what_is_no_http), TEST(listens_on_loopback_only),
           TEST(says_why_it_cannot_listen));
