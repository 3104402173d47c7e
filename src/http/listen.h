/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - the sockets that somebody listens on, by the addresses that a user writes.
 */
#ifndef TV_HTTP_LISTEN_H
#define TV_HTTP_LISTEN_H

#include "base/error.h"
#include "base/types.h"

/* Names have several addresses, "*" those of every kind of network. */
#define TV_LISTENERS 16u

struct tv_listener {
    int fd;
    uint16_t port;
    char host[64]; /* "127.0.0.1", "[::1]" */
};

/* Adds the sockets of one address (tv_http_options says what it may be); `port` counts where it
 * has none, and of port 0 the home ports do. */
enum tv_status tv_listen(const char *address, uint16_t port, struct tv_listener *listeners,
                         size_t *count, struct tv_error *err) TV_MUST_CHECK;

/* Closes them. */
void tv_listen_end(struct tv_listener *listeners, size_t count);

#endif
