/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tries.h - how often something came from each address of late: a bucket for each that fills with
 * time and empties with use.
 *
 * Both the limit on requests and the one on wrong passwords are such buckets.  All addresses of an
 * IPv6 network of 64 bits are one client, as they are for connections (http/door.c).  Clients share
 * the table's few places by their hash; a newcomer takes over the place of one that is full again.
 */
#ifndef TV_HUB_TRIES_H
#define TV_HUB_TRIES_H

#include <pthread.h>

#include "base/types.h"

#define TV_TRIES_PLACES 1024u

/* Bytes that tell clients apart. */
#define TV_TRIES_CLIENT 16u

struct tv_tries {
    pthread_mutex_t lock;
    pthread_cond_t checked; /* a check has ended */
    double rate;            /* a second */
    double burst;           /* what a full bucket holds */
    struct tv_tries_place {
        uint8_t client[TV_TRIES_CLIENT]; /* all zero: the place is free */
        double left;
        double time;     /* seconds, when `left` was right */
        unsigned checks; /* that run just now, each of which has taken one */
    } places[TV_TRIES_PLACES];
};

void tv_tries_init(struct tv_tries *tries, double rate, double burst);
void tv_tries_release(struct tv_tries *tries);

/* Write what counts as one client: an IPv4 address, the network of an IPv6 address, or the hash of
 * what a proxy calls its client otherwise. */
void tv_tries_identify(const char *peer, uint8_t client[TV_TRIES_CLIENT]);

/* Take one for this address (text, as inet_ntop writes it); false when none is left now (seconds of
 * any clock that only goes forward). */
bool tv_tries_take(struct tv_tries *tries, const char *peer, double now);

/* Take one before something slow is checked, so that checks at the same time cannot pass the limit.
 * While none is left but some of the address are still being checked, wait for these: they may be
 * given back.  tv_tries_end_check must follow when the answer is true. */
bool tv_tries_begin_check(struct tv_tries *tries, const char *peer, double now);

/* End a check; give back what it took when it succeeded. */
void tv_tries_end_check(struct tv_tries *tries, const char *peer, double now, bool success);

#endif
