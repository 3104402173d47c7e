/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - who may ask for what (docs/serve.md, "Who may what").
 *
 * Without a token and a password file everybody who reaches the server may do everything; with one
 * of them nobody may do anything before he has shown it, but that, where the owner wants it, who
 * knows the address of a trace may look at it.
 *
 * Whatever the credentials: the Host must be one of ours, so that a name which was made to point
 * here (DNS rebinding) does not help; what changes something must not come from another page
 * (cross-site request forgery).  Everything here may be called from several threads at once.
 */
#ifndef TV_HUB_ACCESS_H
#define TV_HUB_ACCESS_H

#include <pthread.h>

#include "base/error.h"
#include "base/types.h"

enum tv_right {
    TV_RIGHT_NONE,   /* what everybody may see: the page, the way to log in */
    TV_RIGHT_READ,   /* one trace, whose address the client knows */
    TV_RIGHT_LIST,   /* which traces there are */
    TV_RIGHT_CHANGE, /* upload, rename, delete */
};

/* Characters of the shortest token.  The limit on guesses is for passwords alone, so that wrong
 * tokens of one address do not lock out others behind it. */
#define TV_ACCESS_MIN_TOKEN 16u

struct tv_access_options {
    const char *token;    /* NULL: none */
    const char *htpasswd; /* path of a file of "user:hash" lines as crypt(5) has them; NULL: none */
    bool public_read;     /* TV_RIGHT_READ needs no credentials */
    const char *const *hosts; /* names by which clients may call the server, without port */
    size_t host_count;
};

/* What a request says of who sends it; NULL where it does not. */
struct tv_credentials {
    const char *peer; /* address of the client */
    const char *host, *origin, *fetch_site;
    const char *authorization, *cookie;
    bool changes; /* the method is one that may change something */
};

enum tv_verdict {
    TV_ADMITTED,
    TV_FOREIGN_HOST,   /* the Host is none of ours */
    TV_FOREIGN_ORIGIN, /* another page sends it */
    TV_UNKNOWN_CLIENT, /* credentials are wanted, or these are wrong */
    TV_TOO_MANY_TRIES, /* wrong passwords came from there too often */
};

struct tv_access;

/* Copies what it needs.  TV_ERR_USAGE: the token is too short; TV_ERR_SYNTAX: a line of the
 * password file is none, or of a kind that the system's crypt does not know. */
enum tv_status tv_access_new(const struct tv_access_options *options, struct tv_access **access,
                             struct tv_error *err) TV_MUST_CHECK;
void tv_access_free(struct tv_access *access);

/* Whether the client may; every request is to be asked about once. */
enum tv_verdict tv_access_check(struct tv_access *access, const struct tv_credentials *client,
                                enum tv_right right);

/* How one logs in: "token", "basic" for names and passwords, NULL when nobody needs to. */
const char *tv_access_login_kind(const struct tv_access *access);

/* A session begins for who knows the token: the value of the cookie TV_ACCESS_COOKIE. */
#define TV_ACCESS_COOKIE "traceview"
#define TV_ACCESS_SESSION 32u /* digits */
enum tv_verdict tv_access_login(struct tv_access *access, struct tv_bytes token,
                                char session[TV_ACCESS_SESSION + 1]);
void tv_access_logout(struct tv_access *access, const char *cookie);

/*
 * passwords.h - users and hashed passwords, as htpasswd -B and mkpasswd write them: "user:hash" a
 * line, the hash in a form that crypt(5) knows ($2y$, $6$, $5$, $y$).
 */

struct tv_passwords;

/* TV_ERR_SYNTAX: err->offset is the first byte of a line that is none, or whose hash the system
 * does not know (Apache's own $apr1$ and {SHA}). */
enum tv_status tv_passwords_read(const char *path, struct tv_passwords **passwords,
                                 struct tv_error *err) TV_MUST_CHECK;
void tv_passwords_free(struct tv_passwords *passwords);

/* Whether there is such a user with that password, both in "user:password".  Slow, as the hashes
 * mean it to be; what was right once is known for as long as the server runs. */
bool tv_passwords_match(struct tv_passwords *passwords, struct tv_bytes user_and_password);

/*
 * tries.h - how often something came from each address of late: a bucket for each that fills with
 * time and empties with use.
 *
 * Both the limit on requests and the one on wrong passwords are such buckets.  All addresses of an
 * IPv6 network of 64 bits are one client, as they are for connections (http/door.c).  Clients share
 * the table's few places by their hash; a newcomer takes over the place of one that is full again.
 */

#define TV_RATE_BUCKETS 1024u

/* Bytes that tell clients apart. */
#define TV_CLIENT_KEY 16u

struct tv_rate_limit {
    pthread_mutex_t lock;
    pthread_cond_t checked; /* a check has ended */
    double rate;            /* a second */
    double burst;           /* what a full bucket holds */
    struct tv_rate_bucket {
        uint8_t client[TV_CLIENT_KEY]; /* all zero: the place is free */
        double left;
        double time;     /* seconds, when `left` was right */
        unsigned checks; /* that run just now, each of which has taken one */
    } places[TV_RATE_BUCKETS];
};

void tv_rate_limit_init(struct tv_rate_limit *tries, double rate, double burst);
void tv_rate_limit_release(struct tv_rate_limit *tries);

/* Write what counts as one client: an IPv4 address, the network of an IPv6 address, or the hash of
 * what a proxy calls its client otherwise. */
void tv_client_key_make(const char *peer, uint8_t client[TV_CLIENT_KEY]);

/* Take one for this address (text, as inet_ntop writes it); false when none is left now (seconds of
 * any clock that only goes forward). */
bool tv_rate_limit_take(struct tv_rate_limit *tries, const char *peer, double now);

/* Take one before something slow is checked, so that checks at the same time cannot pass the limit.
 * While none is left but some of the address are still being checked, wait for these: they may be
 * given back.  tv_rate_limit_end_check must follow when the answer is true. */
bool tv_rate_limit_begin_check(struct tv_rate_limit *tries, const char *peer, double now);

/* End a check; give back what it took when it succeeded. */
void tv_rate_limit_end_check(struct tv_rate_limit *tries, const char *peer, double now, bool success);

#endif
