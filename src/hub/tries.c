/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/tries.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

/* Places that an address may have. */
#define NEIGHBOURS 8u

void tv_tries_init(struct tv_tries *tries, double rate, double burst)
{
    memset(tries, 0, sizeof *tries);
    tries->rate = rate;
    tries->burst = burst;
    pthread_mutex_init(&tries->lock, NULL);
}

void tv_tries_release(struct tv_tries *tries)
{
    pthread_mutex_destroy(&tries->lock);
}

static double left_now(const struct tv_tries *tries, const struct tv_tries_place *place, double now)
{
    double left = place->left + (now - place->time) * tries->rate;
    return left < tries->burst ? left : tries->burst;
}

/* The address's bucket, filled up to now.  When all its places are taken, the fullest of them is
 * the least loss: whoever had that hardly asked. */
static struct tv_tries_place *find(struct tv_tries *tries, const char *peer, double now)
{
    uint64_t hash = tv_hash_bytes(tv_bytes_of(peer));
    struct tv_tries_place *fullest = NULL;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        struct tv_tries_place *place = &tries->places[(hash + i) % TV_TRIES_PLACES];
        if (place->peer[0] == '\0')
            place->left = tries->burst;
        place->left = left_now(tries, place, now);
        place->time = now;
        if (strncmp(place->peer, peer, sizeof place->peer - 1) == 0 && place->peer[0] != '\0')
            return place;
        if (fullest == NULL || place->left > fullest->left)
            fullest = place;
    }
    snprintf(fullest->peer, sizeof fullest->peer, "%s", peer);
    fullest->left = tries->burst;
    return fullest;
}

bool tv_tries_any(struct tv_tries *tries, const char *peer, double now)
{
    pthread_mutex_lock(&tries->lock);
    bool any = find(tries, peer, now)->left >= 1;
    pthread_mutex_unlock(&tries->lock);
    return any;
}

bool tv_tries_take(struct tv_tries *tries, const char *peer, double now)
{
    pthread_mutex_lock(&tries->lock);
    struct tv_tries_place *place = find(tries, peer, now);
    bool any = place->left >= 1;
    if (any)
        place->left -= 1;
    pthread_mutex_unlock(&tries->lock);
    return any;
}
