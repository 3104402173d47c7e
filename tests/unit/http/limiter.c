/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter.c - which connections are rejected, which are cut, and how they end.
 */
#include "wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct tv_http_counts counts_of(const struct wire *w)
{
    return tv_http_count(w->http);
}

static void wait_for_connections(const struct wire *w, uint32_t most)
{
    while (counts_of(w).connections > most)
        usleep(1000);
}

/* Send a request that is not answered before w->go. */
static int ask_to_wait(struct wire *w)
{
    char text[512];
    unsigned before = w->answered;
    int fd = wire_connect(w);
    wire_send(fd, text, wire_head(w, text, sizeof text, "GET /wait", ""));
    while (w->answered == before)
        usleep(1000);
    return fd;
}

static void rejects_too_many_connections(void **state)
{
    struct wire *w = *state;
    int fds[3];
    w->options.limits.connections = 3;
    wire_start(w);
    for (size_t i = 0; i < TV_COUNT(fds); i++)
        fds[i] = ask_to_wait(w);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(wire_ask(w, "GET", "/x", ""), 503);
        assert_true(wire_replied(w, "Retry-After: "));
    }
    assert_int_equal(counts_of(w).refused, 5);
    assert_int_equal(counts_of(w).accepted, 3);
    assert_int_equal(counts_of(w).connections, 3);
    w->go = true;
    for (size_t i = 0; i < TV_COUNT(fds); i++)
        assert_int_equal(wire_read(w, fds[i]), 200);
    wait_for_connections(w, 0);
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 200);
}

/* Without descriptors nobody is accepted, and as soon as there are some again those who waited
 * are. */
static void waits_for_descriptors(void **state)
{
    struct wire *w = *state;
    struct rlimit before, none;
    int gaps[64];
    size_t filled = 0;
    char text[512];
    wire_start(w);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int fd = wire_connect(w), next = dup(fd);
    close(next);
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 200); /* `fd` was accepted as well */
    uint64_t accepted = counts_of(w).accepted;
    int second = socket(AF_INET, SOCK_STREAM, 0);
    none = (struct rlimit){.rlim_cur = (rlim_t)second + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    while (filled < TV_COUNT(gaps) && (gaps[filled] = dup(second)) >= 0)
        filled++;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)w->port),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    assert_int_equal(connect(second, (const struct sockaddr *)&to, sizeof to), 0);
    usleep(100000);
    assert_int_equal(counts_of(w).accepted, accepted);
    while (filled > 0)
        close(gaps[--filled]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    wire_send(second, text, wire_head(w, text, sizeof text, "GET /x", ""));
    assert_int_equal(wire_read(w, second), 200);
    close(fd);
}

static int connect_from(const struct wire *w, const char *source)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)w->port),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in from = {.sin_family = AF_INET};
    inet_pton(AF_INET, source, &from.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* One client cannot keep the others out. */
static void leaves_room_for_other_clients(void **state)
{
    struct wire *w = *state;
    char text[512];
    w->options.limits.client_connections = 2;
    wire_start(w);
    int first = ask_to_wait(w), second = ask_to_wait(w);
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 503);
    int other = connect_from(w, "127.0.0.7");
    wire_send(other, text, wire_head(w, text, sizeof text, "GET /x", ""));
    assert_int_equal(wire_read(w, other), 200);
    assert_string_equal(w->peer, "127.0.0.7");
    w->go = true;
    assert_int_equal(wire_read(w, first), 200);
    assert_int_equal(wire_read(w, second), 200);
}

static int wait_from(struct wire *w, const char *source)
{
    char text[512];
    unsigned before = w->answered;
    int fd = connect_from(w, source);
    wire_send(fd, text, wire_head(w, text, sizeof text, "GET /wait", ""));
    while (w->answered == before)
        usleep(1000);
    return fd;
}

/* A client gets at most as many of eight connections as are then still free. */
static void few_clients_do_not_take_everything(void **state)
{
    struct wire *w = *state;
    char text[512];
    int fds[6];
    w->options.limits.connections = 8;
    w->options.limits.client_connections = 6;
    wire_start(w);
    for (size_t i = 0; i < 4; i++)
        fds[i] = wait_from(w, "127.0.0.1");
    assert_int_equal(wire_ask(w, "GET", "/x", ""), 503);
    fds[4] = wait_from(w, "127.0.0.7");
    fds[5] = wait_from(w, "127.0.0.7");
    int third = connect_from(w, "127.0.0.8");
    wire_send(third, text, wire_head(w, text, sizeof text, "GET /x", ""));
    assert_int_equal(wire_read(w, third), 200);
    w->go = true;
    for (size_t i = 0; i < TV_COUNT(fds); i++)
        assert_int_equal(wire_read(w, fds[i]), 200);
}

/* Send a byte now and then until the connection breaks. False: it never did. */
static bool trickle(int fd, const char *bytes, size_t length, unsigned pause_us)
{
    char answer;
    for (size_t i = 0; i < length; i++) {
        if (send(fd, bytes + i, 1, MSG_NOSIGNAL) != 1 || recv(fd, &answer, 1, MSG_DONTWAIT) == 0)
            return true;
        usleep(pause_us);
    }
    return false;
}

/* Each byte arrives in time, but the head never ends (Slowloris). */
static void cuts_endless_heads(void **state)
{
    struct wire *w = *state;
    static const char start[] = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
    char text[3000];
    w->options.limits.head_ms = 200;
    wire_start(w);
    memset(text, 'x', sizeof text);
    int fd = wire_connect(w);
    wire_send(fd, start, sizeof start - 1);
    assert_true(trickle(fd, text, sizeof text, 10000));
    close(fd);
    fd = wire_connect(w); /* a client that sends nothing at all */
    assert_int_equal(recv(fd, text, 1, 0), 0);
    close(fd);
    wait_for_connections(w, 0);
    assert_int_equal(counts_of(w).slow, 2);
    assert_int_equal(w->began, 0);
}

static void cuts_slow_bodies(void **state)
{
    struct wire *w = *state;
    char text[3000], *body = wire_body(sizeof text);
    w->options.limits.rate = 1000;
    w->options.limits.rate_ms = 200;
    wire_start(w);
    int fd = wire_connect(w);
    wire_send(fd, text,
              wire_head(w, text, sizeof text, "PUT /taken", "Content-Length: 1000000\r\n"));
    assert_true(trickle(fd, body, sizeof text, 10000));
    close(fd);
    wire_wait(&w->ended, 1);
    assert_int_equal(w->ended_whole, 0);
    assert_int_equal(counts_of(w).slow, 1);
    assert_int_equal(w->answered, 0);
    free(body);
}

/* The same with complete chunks. */
static void cuts_slow_chunks(void **state)
{
    struct wire *w = *state;
    char text[3000];
    w->options.limits.rate = 1000;
    w->options.limits.rate_ms = 200;
    wire_start(w);
    int fd = wire_connect(w);
    wire_send(fd, text,
              wire_head(w, text, sizeof text, "PUT /taken", "Transfer-Encoding: chunked\r\n"));
    for (size_t at = 0; at < sizeof text; at += 6)
        memcpy(text + at, "1\r\na\r\n", 6);
    assert_true(trickle(fd, text, sizeof text, 10000));
    close(fd);
    wire_wait(&w->ended, 1);
    assert_int_equal(w->ended_whole, 0);
    assert_int_equal(counts_of(w).slow, 1);
}

/* A client reads nothing, or byte by byte. */
static void cuts_slow_readers(void **state)
{
    struct wire *w = *state;
    char text[512];
    w->options.limits.rate = 1000000;
    w->options.limits.rate_ms = 300;
    wire_start(w);
    int fd = wire_connect(w);
    wire_send(fd, text, wire_head(w, text, sizeof text, "GET /many", ""));
    /* The connection may end at any of the calls; `closed` follows. */
    for (bool open = true; w->closed == 0; usleep(10000))
        open = open && recv(fd, text, 10, 0) == 10;
    close(fd);
    assert_int_equal(counts_of(w).slow, 1);
    assert_int_equal(w->sent, 0);
}

/* A slow handler is not a slow client, neither while it makes an answer nor while it stores a piece
 * of a body. */
static void waits_for_the_handler(void **state)
{
    struct wire *w = *state;
    char text[512];
    w->options.limits.rate = 1000000;
    w->options.limits.rate_ms = 1500;
    wire_start(w);
    int waiting = ask_to_wait(w);
    int sending = wire_connect(w);
    /* All that this client sends is there before the server waits for it: on a busy machine, it
     * may be late by more than rate_ms. */
    size_t length = wire_head(w, text, sizeof text - 1, "PUT /slow", "Content-Length: 2\r\n");
    text[length] = 'a';
    wire_send(sending, text, length + 1);
    wire_wait(&w->taking, 1);
    wire_send(sending, "b", 1);
    w->more = true;
    assert_int_equal(wire_read(w, sending), 200);
    w->go = true;
    assert_int_equal(wire_read(w, waiting), 200);
    assert_int_equal(counts_of(w).slow, 0);
}

static void cuts_idle_connections(void **state)
{
    struct wire *w = *state;
    static const char text[] = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
    w->options.limits.idle_ms = 200;
    wire_start(w);
    assert_int_equal(wire_ask_raw(w, text, sizeof text - 1),
                     200); /* until the server closes the connection */
    wait_for_connections(w, 0);
    assert_int_equal(counts_of(w).slow, 0);
}

/* A rejected client can read the 503, however much it was just sending. */
static void lets_rejected_clients_read_the_answer(void **state)
{
    struct wire *w = *state;
    size_t size = (size_t)8 * 1024 * 1024;
    char *text = calloc(size + 512, 1);
    assert_non_null(text);
    wire_start(w);
    size_t length = wire_head(w, text, 512, "PUT /refused", "Content-Length: 8388608\r\n");
    int fd = wire_connect(w);
    assert_true(wire_send(fd, text, length + size));
    assert_int_equal(wire_read(w, fd), 403);
    free(text);
    wait_for_connections(w, 0);
}

static void stops_without_cutting_requests(void **state)
{
    struct wire *w = *state;
    static const char text[] = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
    wire_start(w);
    int resting = wire_connect(w);
    wire_send(resting, text, sizeof text - 1);
    while (w->noted == 0)
        usleep(1000);
    int running = ask_to_wait(w);
    tv_http_stop_listening(w->http);
    assert_int_equal(wire_read(w, resting), 200); /* nobody else closes it */
    int late = wire_try(w->port);
    while (late >= 0) {
        assert_int_not_equal(wire_read(w, late), 200);
        late = wire_try(w->port);
    }
    assert_false(tv_http_wait_idle(w->http, 50));
    w->go = true;
    assert_int_equal(wire_read(w, running), 200);
    assert_true(wire_replied(w, "Connection: close\r\n"));
    assert_true(tv_http_wait_idle(w->http, 60000));
    assert_int_equal(counts_of(w).connections, 0);
}

/* In every state. */
static void closes_everything_at_the_end(void **state)
{
    struct wire *w = *state;
    char text[512];
    int fds[4];
    wire_start(w);
    for (size_t i = 0; i < TV_COUNT(fds); i++)
        fds[i] = wire_connect(w);
    wire_send(fds[0], text,
              wire_head(w, text, sizeof text, "PUT /taken", "Content-Length: 5000\r\n"));
    wire_send(fds[1], text, wire_head(w, text, sizeof text, "GET /many", ""));
    wire_send(fds[2], "GET", 3);
    while (w->begun == 0 || w->answered == 0)
        usleep(1000);
    tv_http_free(w->http);
    w->http = NULL;
    assert_int_equal(w->ended, 1);
    assert_int_equal(w->closed, 1);
    for (size_t i = 0; i < TV_COUNT(fds); i++)
        wire_read(w, fds[i]);
}

/* Some connections were accepted but not attached yet: this once leaked, and raced with the
 * limiter. */
static void stops_while_connections_arrive(void **state)
{
    struct wire *w = *state;
    for (size_t turn = 0; turn < 50; turn++) {
        int fds[8];
        wire_start(w);
        for (size_t i = 0; i < TV_COUNT(fds); i++)
            fds[i] = wire_connect(w);
        while (turn % 2 == 0 && counts_of(w).accepted == 0)
            continue;
        tv_http_free(w->http);
        w->http = NULL;
        for (size_t i = 0; i < TV_COUNT(fds); i++)
            close(fds[i]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_make, wire_free)

UNIT_TESTS(limiter, TEST(rejects_too_many_connections), TEST(leaves_room_for_other_clients),
           TEST(waits_for_descriptors), TEST(few_clients_do_not_take_everything),
           TEST(cuts_endless_heads), TEST(cuts_slow_bodies), TEST(cuts_slow_chunks),
           TEST(cuts_slow_readers), TEST(waits_for_the_handler), TEST(cuts_idle_connections),
           TEST(lets_rejected_clients_read_the_answer), TEST(stops_without_cutting_requests),
           TEST(closes_everything_at_the_end), TEST(stops_while_connections_arrive));
