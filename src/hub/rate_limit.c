/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

/* Places that a client may have. */
#define NEIGHBOURS 8u

void tv_rate_limit_init(struct tv_rate_limit *tries, double rate, double burst)
{
    memset(tries, 0, sizeof *tries);
    tries->rate = rate;
    tries->burst = burst;
    pthread_mutex_init(&tries->lock, NULL);
    pthread_cond_init(&tries->checked, NULL);
}

void tv_rate_limit_release(struct tv_rate_limit *tries)
{
    pthread_cond_destroy(&tries->checked);
    pthread_mutex_destroy(&tries->lock);
}

/* The last byte tells the kinds apart and is never zero. */
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

/* Fill a bucket up to now.  A caller who read the clock before he had to wait changes nothing. */
static void rate_limit_refill(const struct tv_rate_limit *tries, struct tv_rate_bucket *place, double now)
{
    if (now <= place->time)
        return;
    place->left += (now - place->time) * tries->rate;
    if (place->left > tries->burst)
        place->left = tries->burst;
    place->time = now;
}

/* Return the client's bucket, filled up to now.  When all its places are taken, the fullest of them
 * is the least loss: its client hardly asked. */
static struct tv_rate_bucket *rate_limit_find_bucket(struct tv_rate_limit *tries, const char *peer, double now)
{
    uint8_t client[TV_CLIENT_KEY];
    tv_client_key_make(peer, client);
    uint64_t hash = tv_hash_bytes((struct tv_bytes){client, sizeof client});
    struct tv_rate_bucket *fullest = NULL;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        struct tv_rate_bucket *place = &tries->places[(hash + i) % TV_RATE_BUCKETS];
        rate_limit_refill(tries, place, now);
        if (place->client[15] == 0)
            place->left = tries->burst;
        if (memcmp(place->client, client, sizeof client) == 0)
            return place;
        if (fullest == NULL || place->left > fullest->left)
            fullest = place;
    }
    *fullest = (struct tv_rate_bucket){.left = tries->burst, .time = now};
    memcpy(fullest->client, client, sizeof client);
    return fullest;
}

bool tv_rate_limit_take(struct tv_rate_limit *tries, const char *peer, double now)
{
    pthread_mutex_lock(&tries->lock);
    struct tv_rate_bucket *place = rate_limit_find_bucket(tries, peer, now);
    bool any = place->left >= 1;
    if (any)
        place->left -= 1;
    pthread_mutex_unlock(&tries->lock);
    return any;
}

bool tv_rate_limit_begin_check(struct tv_rate_limit *tries, const char *peer, double now)
{
    pthread_mutex_lock(&tries->lock);
    struct tv_rate_bucket *place = rate_limit_find_bucket(tries, peer, now);
    while (place->left < 1 && place->checks > 0) {
        pthread_cond_wait(&tries->checked, &tries->lock);
        place = rate_limit_find_bucket(tries, peer, now);
    }
    bool any = place->left >= 1;
    if (any) {
        place->left -= 1;
        place->checks++;
    }
    pthread_mutex_unlock(&tries->lock);
    return any;
}

void tv_rate_limit_end_check(struct tv_rate_limit *tries, const char *peer, double now, bool success)
{
    pthread_mutex_lock(&tries->lock);
    struct tv_rate_bucket *place = rate_limit_find_bucket(tries, peer, now);
    /* Another client may have taken the place over meanwhile. */
    if (place->checks > 0) {
        place->checks--;
        if (success)
            place->left = place->left + 1 < tries->burst ? place->left + 1 : tries->burst;
    }
    pthread_cond_broadcast(&tries->checked);
    pthread_mutex_unlock(&tries->lock);
}
