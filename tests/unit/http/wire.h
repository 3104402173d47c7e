/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - a server whose handler records what reaches it, and a client that sends raw bytes. The
 * path selects the answer:
 *
 *     /constant /large /stream /chunks /broken /many /headers /nothing    one answer of each kind
 *     /taken    takes a body; /full takes 1000 bytes of it and then answers 507
 *     /slow     takes a body, two seconds for each piece of it, and the first when wire.more is set
 *     /refused  answers 403 before any body
 *     /wait     answers when wire.go is set
 *     else      "made"
 */
#ifndef TV_TESTS_HTTP_WIRE_H
#define TV_TESTS_HTTP_WIRE_H

#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "http/http.h"

/* Longer than all buffers on the way together. */
#define WIRE_LONG ((size_t)24 * 1024 * 1024)

struct wire {
    struct tv_http_options options; /* used by wire_start */
    struct tv_http *http;
    unsigned port;
    /* Written by the server's threads. */
    _Atomic bool go, more;
    _Atomic unsigned began, answered, sent, noted, closed;
    _Atomic size_t begun, taking, taken, ended,
        ended_whole;    /* bodies begun, pieces that /slow was given, bytes taken, bodies ended,
                           bodies ended whole */
    _Atomic bool wrong; /* a byte of a body was wrong */
    /* About the last request; written under the lock. */
    pthread_mutex_t lock;
    struct tv_http_note note;
    char path[64], query[64], peer[64], header[64];
    enum tv_http_method method;
    uint64_t length;
    bool secure;
    size_t last; /* bytes taken when the last answer was made */
    char reply[65536];
    size_t reply_length;
};

/* Set-up and tear-down for cmocka. wire_make does not start the server. */
int wire_make(void **state);
int wire_make_and_start(void **state);
int wire_free(void **state);

void wire_start(struct wire *wire);

/* -1: nobody listens there. */
int wire_try(unsigned port);
int wire_connect(const struct wire *wire);

/* False: the server has stopped reading. */
bool wire_send(int fd, const char *bytes, size_t length);

/* Read until the server closes, then close. Return the status; 0: no answer. */
int wire_read(struct wire *wire, int fd);

/* Send these bytes on a new connection, and read the answer. */
int wire_ask_raw(struct wire *wire, const char *bytes, size_t length);

/* Send a request with the right Host and these additional lines. */
int wire_ask(struct wire *wire, const char *method, const char *path, const char *lines);

/* Write the head of such a request. */
size_t wire_head(const struct wire *wire, char *text, size_t size, const char *first,
                 const char *lines);

bool wire_replied(const struct wire *wire, const char *text);

/* Make a body as /taken expects it. */
char *wire_body(size_t size);

/* Wait until the counter is at least this. */
void wire_wait(const _Atomic size_t *counter, size_t least);

#endif
