/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_limit.c - limits how often each client may do something: a token bucket per client.
 *
 *         rate (tokens/s)
 *            |
 *            v
 *        |       |   <- burst: the capacity; a new client starts with a full bucket
 *        |~~~~~~~|
 *        |_______|   each request takes one token; an empty bucket refuses
 *
 * Two limits use this: requests per second, and wrong passwords. The table has a fixed size, so an
 * attacker with many addresses cannot use up memory. A client's hash gives eight candidate buckets.
 * If all are taken by others, the newcomer replaces the fullest one: its client has hardly sent
 * anything lately, so forgetting it costs least.
 *
 * Checking a password takes long, so simultaneous checks could pass the limit before the first
 * fails. Therefore a check takes its token first, and gets it back if the password was right. A
 * client whose bucket is empty only because of checks in progress waits for these.
 *
 * All addresses in an IPv6 /64 network are one client, as for connections (http/limiter.c).  Who
 * has a larger network has many of these, so passwords have a second limit, by /48 (access.c).
 */
#include "upload/access.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

/* Number of candidate buckets of a client. */
#define NEIGHBOURS 8u

void tv_rate_limit_init(struct tv_rate_limit *limit, double rate, double burst)
{
    assert(rate >= 0 && burst >= 0);
    memset(limit, 0, sizeof *limit);
    limit->rate = rate;
    limit->burst = burst;
    limit->six = 8;
    pthread_mutex_init(&limit->lock, NULL);
    pthread_cond_init(&limit->checked, NULL);
}

void tv_rate_limit_release(struct tv_rate_limit *limit)
{
    pthread_cond_destroy(&limit->checked);
    pthread_mutex_destroy(&limit->lock);
}

/* The last byte of a key distinguishes the kinds and is never zero. */
void tv_client_key_make(const char *peer, uint8_t client[TV_CLIENT_KEY])
{
    struct in6_addr six;
    memset(client, 0, TV_CLIENT_KEY);
    if (inet_pton(AF_INET, peer, client) == 1) {
        client[15] = 4;
    } else if (inet_pton(AF_INET6, peer, &six) == 1) {
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(&six);
        memcpy(client, six.s6_addr + (is_mapped ? 12 : 0), is_mapped ? 4 : 8);
        client[15] = is_mapped ? 4 : 6;
    } else {
        uint64_t hash = tv_hash_bytes(tv_bytes_of(peer));
        memcpy(client, &hash, sizeof hash);
        client[15] = 1;
    }
}

/* Refill a bucket up to `now`. A caller that read the clock before it had to wait changes
 * nothing. */
static void rate_limit_refill(const struct tv_rate_limit *limit, struct tv_rate_bucket *place,
                              double now)
{
    assert(place->left <= limit->burst);
    if (now <= place->time)
        return;
    place->left += (now - place->time) * limit->rate;
    if (place->left > limit->burst)
        place->left = limit->burst;
    place->time = now;
}

/* Return the client's bucket, refilled. If all its candidates are taken, it replaces the
 * fullest. */
static struct tv_rate_bucket *rate_limit_find_bucket(struct tv_rate_limit *limit, const char *peer,
                                                     double now)
{
    uint8_t client[TV_CLIENT_KEY];
    tv_client_key_make(peer, client);
    if (client[15] == 6)
        memset(client + limit->six, 0, 15 - limit->six);
    uint64_t hash = tv_hash_bytes((struct tv_bytes){client, sizeof client});
    struct tv_rate_bucket *fullest = NULL;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        struct tv_rate_bucket *place = &limit->places[(hash + i) % TV_RATE_BUCKETS];
        rate_limit_refill(limit, place, now);
        if (place->client[15] == 0)
            place->left = limit->burst;
        if (memcmp(place->client, client, sizeof client) == 0)
            return place;
        if (fullest == NULL || place->left > fullest->left)
            fullest = place;
    }
    *fullest = (struct tv_rate_bucket){.left = limit->burst, .time = now};
    memcpy(fullest->client, client, sizeof client);
    return fullest;
}

bool tv_rate_limit_take(struct tv_rate_limit *limit, const char *peer, double now)
{
    pthread_mutex_lock(&limit->lock);
    struct tv_rate_bucket *place = rate_limit_find_bucket(limit, peer, now);
    bool any = place->left >= 1;
    if (any)
        place->left -= 1;
    pthread_mutex_unlock(&limit->lock);
    return any;
}

bool tv_rate_limit_begin_check(struct tv_rate_limit *limit, const char *peer, double now)
{
    pthread_mutex_lock(&limit->lock);
    struct tv_rate_bucket *place = rate_limit_find_bucket(limit, peer, now);
    while (place->left < 1 && place->checks > 0) {
        pthread_cond_wait(&limit->checked, &limit->lock);
        place = rate_limit_find_bucket(limit, peer, now);
    }
    bool any = place->left >= 1;
    if (any) {
        place->left -= 1;
        place->checks++;
    }
    pthread_mutex_unlock(&limit->lock);
    return any;
}

void tv_rate_limit_end_check(struct tv_rate_limit *limit, const char *peer, double now,
                             bool success)
{
    pthread_mutex_lock(&limit->lock);
    struct tv_rate_bucket *place = rate_limit_find_bucket(limit, peer, now);
    /* another client may have replaced the bucket meanwhile */
    if (place->checks > 0) {
        place->checks--;
        if (success)
            place->left = place->left + 1 < limit->burst ? place->left + 1 : limit->burst;
    }
    pthread_cond_broadcast(&limit->checked);
    pthread_mutex_unlock(&limit->lock);
}
