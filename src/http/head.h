/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - whether the head of a request means one thing only.
 *
 * A proxy in front and the library below may read a head that is not well formed differently: one
 * sees two requests where the other sees one, and what the second says was never checked (request
 * smuggling).  So whatever RFC 9112 lets a server refuse is refused here.
 */
#ifndef TV_HTTP_HEAD_H
#define TV_HTTP_HEAD_H

#include "http/http.h"

struct tv_head {
    const char *method, *version;
    struct tv_bytes target;
    /* Each value stands behind its name in the same memory, as they came. */
    const struct tv_http_header *headers;
    size_t count;
    size_t size; /* bytes from the method to the empty line and with it, as they came */
};

/* Whether it is well formed; then *length is that of the body, 0 when there is none. */
bool tv_head_is_good(const struct tv_head *head, uint64_t *length);

#endif
