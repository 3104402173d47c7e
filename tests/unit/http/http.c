/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - requests over a real socket: what reaches the handler, and how bodies arrive.
 */
#include "wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void carries_question_and_answer(void **state)
{
    struct wire *w = *state;
    assert_int_equal(wire_ask(w, "GET", "/api/x?a=%2C&b=+", "X-TEST: some text\r\n"), 200);
    assert_string_equal(w->path, "/api/x");
    assert_string_equal(w->query, "a=%2C&b=+"); /* nothing was decoded on the way */
    assert_string_equal(w->peer, "127.0.0.1");
    assert_string_equal(w->header, "some text");
    assert_int_equal(w->method, TV_HTTP_GET);
    assert_int_equal(w->length, 0);
    assert_false(w->secure);
    assert_true(wire_replied(w, "\r\n\r\nmade"));
    assert_true(wire_replied(w, "Content-Type: text/plain\r\n"));
    assert_int_equal(w->sent, 1);
}

static void tells_every_method(void **state)
{
    struct wire *w = *state;
    static const struct {
        const char *name;
        enum tv_http_method method;
    } methods[] = {
        {"GET", TV_HTTP_GET},     {"HEAD", TV_HTTP_HEAD},       {"POST", TV_HTTP_POST},
        {"PUT", TV_HTTP_PUT},     {"PATCH", TV_HTTP_PATCH},     {"DELETE", TV_HTTP_DELETE},
        {"OTHER", TV_HTTP_OTHER}, {"OPTIONS", TV_HTTP_OPTIONS}, {"TRACE", TV_HTTP_OTHER},
        {"get", TV_HTTP_OTHER},   {"X", TV_HTTP_OTHER},
    };
    for (size_t i = 0; i < TV_COUNT(methods); i++) {
        assert_int_equal(wire_ask(w, methods[i].name, "/x", ""), 200);
        assert_int_equal(w->method, methods[i].method);
        assert_int_equal(w->answered, i + 1);
    }
    assert_string_equal(tv_http_method_name(TV_HTTP_PATCH), "PATCH");
    assert_string_equal(tv_http_method_name(TV_HTTP_OTHER), "OTHER");
}

/* Several requests share one connection, also when they arrive at once. */
static void keeps_a_connection(void **state)
{
    struct wire *w = *state;
    char text[2048];
    size_t length = 0;
    for (size_t i = 0; i < 3; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "GET /%zu HTTP/1.1\r\nHost: x\r\n\r\n", i);
    length += wire_head(w, text + length, sizeof text - length, "GET /last", "");
    assert_int_equal(wire_ask_raw(w, text, length), 200);
    assert_int_equal(w->answered, 4);
    assert_string_equal(w->path, "/last");
    assert_int_equal(tv_http_count(w->http).accepted, 1);
    assert_int_equal(tv_http_count(w->http).requests, 4);
}

static void drops_bodies(void **state)
{
    struct wire *w = *state;
    assert_int_equal(wire_ask(w, "POST", "/x", "Content-Length: 5\r\n\r\nhello"), 200);
    assert_int_equal(wire_ask(w, "POST", "/x", "Content-Length: 5000000\r\n"), 413);
    assert_int_equal(wire_ask(w, "POST", "/x", "Content-Length: -1\r\n"), 400);
    assert_int_equal(w->answered, 1);
}

/* A chunked body, whose length is not known beforehand. */
static void ends_a_chunked_body_that_grows(void **state)
{
    struct wire *w = *state;
    char text[9000];
    size_t length =
        wire_head(w, text, sizeof text, "POST /x", "Transfer-Encoding: chunked\r\n\r\n1f40\r\n");
    length -= 2;
    memset(text + length, 'x', 8000);
    length += 8000;
    length += (size_t)snprintf(text + length, sizeof text - length, "\r\n0\r\n\r\n");
    assert_int_equal(wire_ask_raw(w, text, length), 0);
    assert_int_equal(w->answered, 0);
}

static void hands_a_body_on_in_pieces(void **state)
{
    struct wire *w = *state;
    static const char *const firsts[] = {"PUT /taken?x=1", "PATCH /taken?x=1", "POST /taken?x=1"};
    char head[64], *body = wire_body(WIRE_LONG), *text = malloc(WIRE_LONG + 512);
    assert_non_null(text);
    snprintf(head, sizeof head, "Content-Length: %zu\r\n", WIRE_LONG);
    for (size_t i = 0; i < TV_COUNT(firsts); i++) {
        w->taken = 0;
        size_t length = wire_head(w, text, 512, firsts[i], head);
        memcpy(text + length, body, WIRE_LONG);
        assert_int_equal(wire_ask_raw(w, text, length + WIRE_LONG), 200);
        assert_int_equal(w->begun, i + 1);
        assert_int_equal(w->last, WIRE_LONG);
        assert_int_equal(w->length, WIRE_LONG);
        assert_string_equal(w->query, "x=1"); /* although `begin` modified its copy */
        wire_wait(&w->ended, i + 1);
        assert_int_equal(w->ended_whole, i + 1);
        assert_false(w->wrong);
    }
    assert_int_equal(tv_http_count(w->http).received, 3 * WIRE_LONG);
    free(body);
    free(text);
}

static void takes_a_body_in_chunks(void **state)
{
    struct wire *w = *state;
    char *body = wire_body(100000), *text = malloc(110000);
    assert_non_null(text);
    size_t length = wire_head(w, text, 512, "PUT /taken", "Transfer-Encoding: chunked\r\n");
    for (size_t at = 0; at < 100000; at += 10000) {
        length += (size_t)snprintf(text + length, 16, "2710\r\n");
        memcpy(text + length, body + at, 10000);
        length += 10000;
        length += (size_t)snprintf(text + length, 16, "\r\n");
    }
    length += (size_t)snprintf(text + length, 16, "0\r\n\r\n");
    assert_int_equal(wire_ask_raw(w, text, length), 200);
    assert_int_equal(w->last, 100000);
    assert_true(w->length == TV_HTTP_UNKNOWN_LENGTH);
    assert_false(w->wrong);
    free(body);
    free(text);
}

/* The taker of an empty body is called as for any other. */
static void takes_an_empty_body(void **state)
{
    struct wire *w = *state;
    assert_int_equal(wire_ask(w, "PUT", "/taken", "Content-Length: 0\r\n"), 200);
    wire_wait(&w->ended, 1);
    assert_int_equal(w->begun, 1);
    assert_int_equal(w->ended_whole, 1);
    assert_int_equal(w->taken, 0);
}

static void reports_disconnected_clients(void **state)
{
    struct wire *w = *state;
    char text[512], *body = wire_body(1000);
    size_t length = wire_head(w, text, sizeof text, "PUT /taken", "Content-Length: 5000\r\n");
    int fd = wire_connect(w);
    wire_send(fd, text, length);
    wire_send(fd, body, 1000);
    wire_wait(&w->taken, 1000);
    assert_int_equal(w->ended, 0);
    close(fd);
    wire_wait(&w->ended, 1);
    assert_int_equal(w->ended_whole, 0);
    assert_int_equal(w->answered, 0);
    free(body);
}

static void refuses_at_once(void **state)
{
    struct wire *w = *state;
    assert_int_equal(wire_ask(w, "GET", "/refused", ""), 403);
    assert_true(wire_replied(w, "\r\n\r\nno"));
    assert_int_equal(wire_ask(w, "PATCH", "/refused", "Content-Length: 5000000000\r\n"), 403);
    assert_true(wire_replied(w, "\r\n\r\nno"));
    assert_true(wire_replied(w, "Connection: close\r\n"));
    assert_int_equal(wire_ask(w, "PUT", "/x", "Content-Length: 5000000\r\n"), 413);
    assert_int_equal(w->begun, 0);
    assert_int_equal(w->answered, 0);
}

/* The refused body is not taken for a second request. */
static void takes_no_refused_body_for_a_request(void **state)
{
    struct wire *w = *state;
    char text[1024];
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "OTHER"};
    for (size_t i = 0; i < TV_COUNT(methods); i++) {
        int length = snprintf(text, sizeof text,
                              "%s /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
                              "GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                              methods[i]);
        assert_int_equal(wire_ask_raw(w, text, (size_t)length), 403);
    }
    assert_int_equal(w->answered, 0);
}

/* A client that waits for "100 Continue". */
static void asks_for_a_body_that_it_wants(void **state)
{
    struct wire *w = *state;
    static const char lines[] = "Content-Length: 1000\r\nExpect: 100-continue\r\n";
    static const char wanted[] = "HTTP/1.1 100 Continue\r\n\r\n";
    char text[512], told[sizeof wanted] = "", *body = wire_body(1000);
    int fd = wire_connect(w);
    wire_send(fd, text, wire_head(w, text, sizeof text, "PUT /taken", lines));
    assert_int_equal(recv(fd, told, sizeof wanted - 1, MSG_WAITALL), sizeof wanted - 1);
    assert_string_equal(told, wanted);
    wire_send(fd, body, 1000);
    assert_int_equal(wire_read(w, fd), 200);
    assert_int_equal(w->last, 1000);
    assert_int_equal(wire_ask(w, "PUT", "/refused", lines), 403); /* the answer of `begin` */
    free(body);
}

/* The client gets the whole answer although it has not sent the whole body. */
static void ends_a_body_that_nobody_can_take(void **state)
{
    struct wire *w = *state;
    char text[512], *body = wire_body(100000);
    int fd = wire_connect(w);
    wire_send(fd, text,
              wire_head(w, text, sizeof text, "PATCH /full", "Content-Length: 5000000000\r\n"));
    wire_send(fd, body, 100000);
    assert_int_equal(wire_read(w, fd), 507);
    assert_true(wire_replied(w, "HTTP/1.1 507 Insufficient Storage\r\n"));
    assert_true(wire_replied(w, "Content-Type: application/json\r\n"));
    assert_true(wire_replied(w, "Content-Length: 28\r\n"));
    assert_true(wire_replied(w, "X-Content-Type-Options: nosniff\r\n"));
    assert_true(wire_replied(w, "\r\n\r\n{\"error\":\"the disk is full\"}"));
    wire_wait(&w->ended, 1);
    assert_int_equal(w->ended_whole, 0);
    assert_int_equal(w->answered, 0);
    while (w->noted == 0)
        usleep(1000);
    assert_int_equal(w->note.status, 507);
    free(body);
}

static void logs_requests(void **state)
{
    struct wire *w = *state;
    assert_int_equal(wire_ask(w, "PUT", "/taken", "Content-Length: 3\r\n\r\nabc"), 200);
    while (w->noted == 0)
        usleep(1000);
    assert_int_equal(w->note.method, TV_HTTP_PUT);
    assert_int_equal(w->note.status, 200);
    assert_true(w->note.whole);
    assert_int_equal(w->note.received, 3);
    assert_true(w->note.took > 0);
    struct tv_http_counts counts = tv_http_count(w->http);
    assert_int_equal(counts.requests, 1);
    assert_int_equal(counts.received, 3);
    assert_int_equal(counts.sent, 4);
}

static void bounds_headers_and_targets(void **state)
{
    struct wire *w = *state;
    size_t size = 200000;
    char *text = malloc(size);
    assert_non_null(text);
    int length = snprintf(text, size, "GET /x HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX: ", w->port);
    memset(text + length, 'x', size - (size_t)length);
    assert_int_equal(wire_ask_raw(w, text, size), 431);
    length = snprintf(text, size, "GET /x?a=");
    memset(text + length, 'x', size - (size_t)length);
    assert_int_equal(wire_ask_raw(w, text, size), 414);
    length = snprintf(text, size, "GET /x HTTP/1.1\r\nHost: x\r\n");
    for (size_t i = 0; i < 100; i++)
        length += snprintf(text + length, size - (size_t)length, "X-%zu: y\r\n", i);
    length += snprintf(text + length, size - (size_t)length, "\r\n");
    assert_int_equal(wire_ask_raw(w, text, (size_t)length), 431);
    free(text);
    assert_int_equal(w->began, 0);
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 200);
}

static void survives_other_protocols(void **state)
{
    struct wire *w = *state;
    static const char *const texts[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET \r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", /* a TLS handshake */
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "PUT /taken HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcdexx",
        ("PUT /taken HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
         "ffffffffffffffffff\r\n"),
    };
    for (size_t i = 0; i < TV_COUNT(texts); i++) {
        int fd = wire_connect(w);
        wire_send(fd, texts[i], strlen(texts[i]));
        shutdown(fd, SHUT_WR);
        wire_read(w, fd);
    }
    assert_int_equal(w->answered, 0);
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 200);
}

static void listens_on_loopback_only(void **state)
{
    struct wire *w = *state;
    /* another address of the loopback network belongs to another interface */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->port)};
    inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_not_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_make_and_start, wire_free)

UNIT_TESTS(http, TEST(carries_question_and_answer), TEST(tells_every_method),
           TEST(keeps_a_connection), TEST(drops_bodies), TEST(ends_a_chunked_body_that_grows),
           TEST(hands_a_body_on_in_pieces), TEST(takes_a_body_in_chunks), TEST(takes_an_empty_body),
           TEST(reports_disconnected_clients), TEST(refuses_at_once),
           TEST(takes_no_refused_body_for_a_request), TEST(asks_for_a_body_that_it_wants),
           TEST(ends_a_body_that_nobody_can_take), TEST(logs_requests),
           TEST(bounds_headers_and_targets), TEST(survives_other_protocols),
           TEST(listens_on_loopback_only));
