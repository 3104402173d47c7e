/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - authentication and authorization of clients, the password file, and rate limits.
 *
 * Without a token and a password file, everybody who reaches the server may do everything.  With
 * one of them, a client must present it first; as an exception, the owner may allow everybody who
 * knows the address of a trace to look at it.
 *
 * Two checks apply regardless of credentials.  The Host header must be ours, so that a foreign name
 * that resolves to this server (DNS rebinding) does not help.  A request that changes something
 * must not come from another site's page (cross-site request forgery).
 *
 * Everything here may be called from several threads at once.
 */
#ifndef TV_UPLOAD_ACCESS_H
#define TV_UPLOAD_ACCESS_H

#include <pthread.h>

#include "base/error.h"
#include "base/types.h"

/* The right that a route requires of the client. */
enum tv_right {
    TV_RIGHT_NONE,   /* everybody: the page, logging in */
    TV_RIGHT_READ,   /* one trace, whose address the client knows */
    TV_RIGHT_LIST,   /* the list of all traces */
    TV_RIGHT_CHANGE, /* upload, rename, delete */
};

/* Minimum length of a token.  Guesses at tokens are not limited, so that wrong tokens from one
 * address do not lock out others behind the same address. */
#define TV_ACCESS_MIN_TOKEN 16u

struct tv_access_options {
    const char *token;        /* NULL: none */
    const char *htpasswd;     /* path of a file with lines "user:hash", see crypt(5); NULL: none */
    bool public_read;         /* TV_RIGHT_READ needs no credentials */
    const char *const *hosts; /* names by which clients may call the server, without port */
    size_t host_count;
};

/* The parts of a request that matter here; NULL: the header is missing. */
struct tv_credentials {
    const char *peer; /* address of the client */
    const char *host, *origin, *fetch_site;
    const char *authorization, *cookie;
    bool changes; /* the method may change something */
};

enum tv_verdict {
    TV_ADMITTED,
    TV_FOREIGN_HOST,   /* the Host header is not ours */
    TV_FOREIGN_ORIGIN, /* sent by another site's page */
    TV_UNKNOWN_CLIENT, /* credentials are missing or wrong */
    TV_TOO_MANY_TRIES, /* too many wrong passwords from this address */
};

struct tv_access;

/* Copies what it needs.  TV_ERR_USAGE: the token is too short; TV_ERR_SYNTAX: a malformed line in
 * the password file, or a hash that the system's crypt does not know. */
enum tv_status tv_access_new(const struct tv_access_options *options, struct tv_access **access,
                             struct tv_error *err) TV_MUST_CHECK;
void tv_access_free(struct tv_access *access);

/* Decide about a request.  To be called once for each: a wrong password counts each time. */
enum tv_verdict tv_access_check(struct tv_access *access, const struct tv_credentials *client,
                                enum tv_right right);

/* Return how clients log in: "token", "basic" (user and password), or NULL if they need not. */
const char *tv_access_login_kind(const struct tv_access *access);

/* Begin a session for a client that knows the token; `session` is the value for the cookie. */
#define TV_ACCESS_COOKIE "traceview"
#define TV_ACCESS_SESSION 32u /* hexadecimal digits */
enum tv_verdict tv_access_login(struct tv_access *access, struct tv_bytes token,
                                char session[TV_ACCESS_SESSION + 1]);
void tv_access_logout(struct tv_access *access, const char *cookie);

/* Return seconds of a monotonic clock, for the limits below. */
double tv_access_now(void);

/* ---- Passwords ---- */

/* A file of users and hashed passwords, as htpasswd -B and mkpasswd write it: lines "user:hash"
 * with hashes that crypt(5) knows ($2y$, $6$, $5$, $y$). */
struct tv_passwords;

/* TV_ERR_SYNTAX: err->offset is the first byte of a malformed line, or of one whose hash the system
 * does not know (Apache's own $apr1$ and {SHA}). */
enum tv_status tv_passwords_read(const char *path, struct tv_passwords **passwords,
                                 struct tv_error *err) TV_MUST_CHECK;
void tv_passwords_free(struct tv_passwords *passwords);

/* Check "user:password".  Slow, as such hashes are meant to be; but a password that was right once
 * is remembered while the server runs. */
bool tv_passwords_match(struct tv_passwords *passwords, struct tv_bytes user_and_password);

/* ---- Rate limits (rate_limit.c) ---- */

/* Number of clients that a rate limit can tell apart at a time. */
#define TV_RATE_BUCKETS 1024u

/* Bytes that identify a client. */
#define TV_CLIENT_KEY 16u

/* A token bucket for each client; rate_limit.c explains it. */
struct tv_rate_limit {
    pthread_mutex_t lock;
    pthread_cond_t checked; /* a check has ended */
    double rate;            /* tokens per second that flow into a bucket */
    double burst;           /* capacity of a bucket */
    size_t six;             /* bytes of an IPv6 address that identify a client: 8 for a /64 */
    struct tv_rate_bucket {
        uint8_t client[TV_CLIENT_KEY]; /* last byte 0: the bucket is unused */
        double left;                   /* tokens */
        double time;                   /* seconds, when `left` was computed */
        unsigned checks;               /* in progress, each of which has taken a token */
    } places[TV_RATE_BUCKETS];
};

void tv_rate_limit_init(struct tv_rate_limit *limit, double rate, double burst);
void tv_rate_limit_release(struct tv_rate_limit *limit);

/* Compute the key of a client: its IPv4 address, its IPv6 /64 network, or a hash of any other text
 * that a proxy gives for its client. */
void tv_client_key_make(const char *peer, uint8_t client[TV_CLIENT_KEY]);

/* Take a token for this address (text from inet_ntop).  False: none is left.  `now` is in seconds
 * of a monotonic clock. */
bool tv_rate_limit_take(struct tv_rate_limit *limit, const char *peer, double now);

/* Take a token before a slow check, so that simultaneous checks cannot exceed the limit.  If none
 * is left while checks of this client are in progress, wait for these, which may return theirs.
 * When the result is true, tv_rate_limit_end_check must follow. */
bool tv_rate_limit_begin_check(struct tv_rate_limit *limit, const char *peer, double now);

/* End a check, and return its token if it succeeded. */
void tv_rate_limit_end_check(struct tv_rate_limit *limit, const char *peer, double now,
                             bool success);

#endif
