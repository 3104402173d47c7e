/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - who may come in, and for how long: takes connections from the listening sockets, turns
 * away who is too many, and shows out who is too slow.
 *
 * One thread does this.  What a connection is at, its own thread tells by tv_door_set; in each
 * state the client has another limit:
 *
 *     ASKS     its head must be whole within head_ms
 *     SENDS    its body must come at the least rate
 *     WAITS    for the handler, as long as that takes
 *     TAKES    the answer must be taken at the least rate (where the system tells: Linux)
 *     RESTS    between two requests, for idle_ms
 */
#ifndef TV_HTTP_DOOR_H
#define TV_HTTP_DOOR_H

#include "http/http.h"
#include "http/listen.h"

enum tv_guest_state {
    TV_GUEST_ASKS,
    TV_GUEST_SENDS,
    TV_GUEST_WAITS,
    TV_GUEST_TAKES,
    TV_GUEST_RESTS,
};

struct sockaddr;
struct tv_door;
struct tv_guest; /* one connection, from when it is accepted until tv_door_leave */

struct tv_door_options {
    struct tv_listener *listeners; /* the door's from now on; its array is copied */
    size_t count;
    struct tv_http_limits limits; /* none of them 0, but for stack_bytes */
    bool speaks_first; /* who is turned away may be told so in plain text: there is no TLS */
    /* Takes the connected socket over, or closes it and returns false.  Called by the door's
     * thread. */
    bool (*enter)(void *context, int fd, const struct sockaddr *address, size_t size);
    void *context;
};

struct tv_door *tv_door_new(const struct tv_door_options *options);

/* Lets in from now on. */
enum tv_status tv_door_open(struct tv_door *door, struct tv_error *err) TV_MUST_CHECK;

/* The server begins with the connection of this socket. */
struct tv_guest *tv_door_receive(struct tv_door *door, int fd);

/* Without its port, as text. */
const char *tv_guest_peer(const struct tv_guest *guest);

/* What the client does now, and how many bytes of a body it has sent since the last call. */
void tv_door_set(struct tv_door *door, struct tv_guest *guest, enum tv_guest_state state,
                 size_t bytes);

/* The same for a request that begins: it does not begin anew what has begun already. */
void tv_door_asks(struct tv_door *door, struct tv_guest *guest);

/* Whether what the client still sends, when it has been told all there is to say, is read for a
 * while, so that it can read that (a socket that is closed before all was read takes the answer
 * back).  True from the beginning; called by the connection's own thread. */
void tv_guest_lingers(struct tv_guest *guest, bool lingers);

/* The guest's socket is about to be closed; the guest is gone then. */
void tv_door_leave(struct tv_door *door, struct tv_guest *guest);

/* Lets nobody in any more; who rests goes, now or then. */
void tv_door_close(struct tv_door *door);
bool tv_door_is_closed(struct tv_door *door);

/* Waits until nobody is inside. */
bool tv_door_wait_empty(struct tv_door *door, unsigned timeout_ms) TV_MUST_CHECK;

/* Fills accepted, refused, slow and connections. */
void tv_door_count(struct tv_door *door, struct tv_http_counts *counts);

/* Ends the thread: nobody is let in and nobody shown out.  Waits until the server has begun with
 * everybody who was let in. */
void tv_door_end(struct tv_door *door);

/* Everybody has left, or was forgotten by the server. */
void tv_door_free(struct tv_door *door);

#endif
