/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - a server with a handler that notes what reaches it, and a client that sends bytes.
 *
 * What the handler answers stands in the path:
 *
 *     /constant /large /stream /chunks /broken /many /headers /nothing   answers of each kind
 *     /taken    takes a body; /full takes 1000 bytes of it and says 507 then
 *     /slow     takes a body, two seconds for each piece of it
 *     /refused  says 403 before any body
 *     /wait     answers when wire.go is set
 *     else      "made"
 */
#ifndef TV_TESTS_HTTP_WIRE_H
#define TV_TESTS_HTTP_WIRE_H

#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "http/http.h"

/* Longer than what all buffers on the way hold. */
#define WIRE_LONG ((size_t)24 * 1024 * 1024)

struct wire {
    struct tv_http_options options; /* as wire_start finds them */
    struct tv_http *http;
    unsigned port;
    /* By the server's threads. */
    _Atomic bool go;
    _Atomic unsigned began, answered, sent, noted, closed;
    _Atomic size_t begun, taken, ended, ended_whole; /* bodies, bytes of them, bodies */
    _Atomic bool wrong;                              /* a byte of a body was another one */
    /* The last ones, written with the lock held. */
    pthread_mutex_t lock;
    struct tv_http_note note;
    char path[64], query[64], peer[64], header[64];
    enum tv_http_method method;
    uint64_t length;
    bool secure;
    size_t last; /* what had been taken when the last answer was made */
    char reply[65536];
    size_t reply_length;
};

/* Set-up and tear-down of cmocka; wire_make leaves the start to the test. */
int wire_make(void **state);
int wire_make_and_start(void **state);
int wire_free(void **state);

void wire_start(struct wire *wire);

/* -1: nobody listens there. */
int wire_try(unsigned port);
int wire_connect(const struct wire *wire);

/* False: the server does not read on. */
bool wire_send(int fd, const char *bytes, size_t length);

/* Reads until the server closes, then closes; the status, or 0 when there is no answer. */
int wire_read(struct wire *wire, int fd);

/* All of this, on a connection of its own. */
int wire_ask_raw(struct wire *wire, const char *bytes, size_t length);

/* A request with the right Host and these further lines. */
int wire_ask(struct wire *wire, const char *method, const char *path, const char *lines);

/* The head of such a request. */
size_t wire_head(const struct wire *wire, char *text, size_t size, const char *first,
                 const char *lines);

bool wire_replied(const struct wire *wire, const char *text);

/* A body as /taken wants it. */
char *wire_body(size_t size);

/* Waits until the counter is at least this. */
void wire_wait(const _Atomic size_t *counter, size_t least);

#endif
