/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_cache.c - answers to questions about the fleet that were given before (fleet.h).
 *
 * An answer holds as long as no batch comes or goes.  Each of them changes the time of the folder
 * `trace`, in which a batch's last file is renamed and from which its first one is removed; this
 * time is the state of the fleet.  A time has a resolution, so an answer is kept only if the last
 * change was SETTLED_MS before the question: a later one has another time then.
 */
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "upload/fleet.h"

#define MAX_ANSWERS 64u
#define MAX_BYTES ((size_t)64 << 20)
#define SETTLED_MS 2000
/* Some answers depend on the time of day: `since`. */
#define MAX_AGE_MS INT64_C(3600000)

struct cached_answer {
    char *question; /* the arguments, each with a line end; NULL: the place is free */
    uint8_t *bytes;
    size_t length;
    int64_t state, made_ms;
    uint64_t used; /* the count of the cache when it was last used */
};

struct tv_fleet_cache {
    const char *folder;
    pthread_mutex_t lock;
    struct cached_answer answers[MAX_ANSWERS]; /* under the lock, like all below */
    size_t bytes;
    uint64_t count;
};

struct tv_fleet_cache *tv_fleet_cache_new(const char *folder)
{
    struct tv_fleet_cache *cache = tv_alloc(1, sizeof *cache);
    cache->folder = folder;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

static void cache_drop(struct tv_fleet_cache *cache, struct cached_answer *answer)
{
    cache->bytes -= answer->length;
    tv_free(answer->question);
    tv_free(answer->bytes);
    *answer = (struct cached_answer){.question = NULL};
}

void tv_fleet_cache_free(struct tv_fleet_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < MAX_ANSWERS; i++)
        cache_drop(cache, &cache->answers[i]);
    assert(cache->bytes == 0);
    pthread_mutex_destroy(&cache->lock);
    tv_free(cache);
}

int64_t tv_fleet_cache_state(const struct tv_fleet_cache *cache)
{
    char path[PATH_MAX];
    struct stat info;
    struct timespec now;
    if ((size_t)snprintf(path, sizeof path, "%s/trace", cache->folder) >= sizeof path ||
        stat(path, &info) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return TV_FLEET_UNSETTLED;
    int64_t changed_ms = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000,
            now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    /* A time in the future, from another machine, says nothing either. */
    if (now_ms - changed_ms < SETTLED_MS)
        return TV_FLEET_UNSETTLED;
    return (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
}

/* Find an answer that still holds; others are dropped.  Runs under the lock. */
static struct cached_answer *cache_search(struct tv_fleet_cache *cache, const char *question,
                                          int64_t state)
{
    struct cached_answer *found = NULL;
    for (size_t i = 0; i < MAX_ANSWERS; i++) {
        struct cached_answer *answer = &cache->answers[i];
        if (!answer->question)
            continue;
        if (answer->state != state || tv_monotonic_ms() - answer->made_ms > MAX_AGE_MS)
            cache_drop(cache, answer);
        else if (strcmp(answer->question, question) == 0)
            found = answer;
    }
    return found;
}

size_t tv_fleet_cache_count(struct tv_fleet_cache *cache)
{
    size_t count = 0;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < MAX_ANSWERS; i++)
        count += cache->answers[i].question != NULL;
    pthread_mutex_unlock(&cache->lock);
    return count;
}

bool tv_fleet_cache_find(struct tv_fleet_cache *cache, const char *question, int64_t state,
                         struct tv_out *out)
{
    if (state == TV_FLEET_UNSETTLED)
        return false;
    pthread_mutex_lock(&cache->lock);
    struct cached_answer *answer = cache_search(cache, question, state);
    if (answer) {
        answer->used = ++cache->count;
        tv_out_bytes(out, (struct tv_bytes){answer->bytes, answer->length});
    }
    pthread_mutex_unlock(&cache->lock);
    return answer != NULL;
}

/* Return a free place for so many bytes, for which the answers go that were not used for longest.
 */
static struct cached_answer *cache_make_room(struct tv_fleet_cache *cache, size_t bytes)
{
    for (;;) {
        struct cached_answer *oldest = NULL, *empty = NULL;
        for (size_t i = 0; i < MAX_ANSWERS; i++) {
            struct cached_answer *answer = &cache->answers[i];
            if (!answer->question)
                empty = answer;
            else if (!oldest || answer->used < oldest->used)
                oldest = answer;
        }
        if (empty && cache->bytes + bytes <= MAX_BYTES)
            return empty;
        if (!oldest)
            return NULL;
        cache_drop(cache, oldest);
    }
}

void tv_fleet_cache_keep(struct tv_fleet_cache *cache, const char *question, int64_t state,
                         struct tv_bytes bytes)
{
    /* Traces that came while the question was answered may be in the answer or not. */
    if (state == TV_FLEET_UNSETTLED || tv_fleet_cache_state(cache) != state ||
        bytes.length > MAX_BYTES || bytes.length == 0)
        return;
    pthread_mutex_lock(&cache->lock);
    struct cached_answer *answer = cache_search(cache, question, state);
    if (!answer)
        answer = cache_make_room(cache, bytes.length);
    else
        cache_drop(cache, answer);
    if (answer) {
        answer->question = memcpy(tv_alloc(strlen(question) + 1, 1), question, strlen(question));
        answer->bytes = memcpy(tv_alloc(bytes.length, 1), bytes.data, bytes.length);
        answer->length = bytes.length;
        answer->state = state;
        answer->made_ms = tv_monotonic_ms();
        answer->used = ++cache->count;
        cache->bytes += bytes.length;
    }
    pthread_mutex_unlock(&cache->lock);
}
