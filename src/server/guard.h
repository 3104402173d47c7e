/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - who may ask: the checks that keep other pages and other machines out.
 *
 * The server listens on loopback only, which any page in the user's browser can reach.  Three
 * things stop such a page: the address holds a token of 128 random bits; the Host header must be
 * ours, so that a name that was made to point to 127.0.0.1 (DNS rebinding) does not help; and an
 * Origin header, which browsers add to what other pages send, must be ours as well.
 */
#ifndef TV_SERVER_GUARD_H
#define TV_SERVER_GUARD_H

#include "http/http.h"

#define TV_TOKEN_LENGTH 32 /* hexadecimal digits */

struct tv_guard {
    _Atomic uint16_t port; /* 0, and nobody may ask, until it is known */
    char token[TV_TOKEN_LENGTH + 1];
};

/* Draws the token from the system's random numbers. */
enum tv_status tv_guard_init(struct tv_guard *guard, struct tv_error *err) TV_MUST_CHECK;

/* Whether this request may be asked; then the token is taken off its path, and HEAD is a GET
 * (http.h leaves the body out).  Else *answer says no. */
bool tv_guard_admit(const struct tv_guard *guard, struct tv_request *request,
                    struct tv_answer *answer);

/* "127.0.0.1:PORT" or "localhost:PORT", the port left out where browsers leave it out. */
bool tv_guard_host_is_ours(const struct tv_guard *guard, const char *host);

/* The same behind "http://". */
bool tv_guard_origin_is_ours(const struct tv_guard *guard, const char *origin);

/* Does the path begin with "/TOKEN/"?  Then *rest is what stands behind.  The time taken does not
 * tell how much of the token was right. */
bool tv_guard_take_token(const struct tv_guard *guard, struct tv_bytes path, struct tv_bytes *rest);

#endif
