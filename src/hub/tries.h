/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tries.h - how often something came from each address of late: a bucket for each that fills with
 * time and empties with use.
 *
 * Both the limit on requests and the one on wrong passwords are such buckets.  Addresses share the
 * table's few places by their hash; a newcomer takes over the place of one that is full again.
 */
#ifndef TV_HUB_TRIES_H
#define TV_HUB_TRIES_H

#include <pthread.h>

#include "base/types.h"

#define TV_TRIES_PLACES 1024u

struct tv_tries {
    pthread_mutex_t lock;
    double rate;  /* a second */
    double burst; /* what a full bucket holds */
    struct tv_tries_place {
        char peer[48];
        double left;
        double time; /* seconds, when `left` was right */
    } places[TV_TRIES_PLACES];
};

void tv_tries_init(struct tv_tries *tries, double rate, double burst);
void tv_tries_release(struct tv_tries *tries);

/* Whether one is left at this address now (seconds of any clock that only goes forward). */
bool tv_tries_any(struct tv_tries *tries, const char *peer, double now);

/* The same, and takes it. */
bool tv_tries_take(struct tv_tries *tries, const char *peer, double now);

#endif
