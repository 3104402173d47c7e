/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/reading.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "hub/found.h"

/* Threads that wait for engines: more than load at once would wait in vain. */
#define MOST_READERS 8u
/* What is due in the store is looked for so often. */
#define UPKEEP_SECONDS 60
/* The longest answer to "facts". */
#define LARGEST_FACTS ((size_t)4 << 20)
/* A waiting reader looks whether it should end so often. */
#define GLANCE_MS 500u

/* A cache that an engine is writing, or has written. */
struct cache {
    struct tv_store_new_cache is;
    bool done, whole;
    struct cache *next;
};

struct reader {
    struct tv_reading *reading;
    pthread_t thread;
    struct tv_store_id id;    /* of the trace it waits for; "": of none */
    struct tv_engine *engine; /* of that trace */
};

struct tv_reading {
    struct tv_hub *hub;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct reader readers[MOST_READERS];
    size_t reader_count; /* that were started */
    pthread_t upkeep;
    bool has_upkeep;
    unsigned woken; /* how often something may have come to wait */
    bool ends;
    struct cache *caches;
};

/* Engines' side. */

static struct cache **find_cache(struct tv_reading *reading, const char *id)
{
    struct cache **place = &reading->caches;
    while (*place != NULL && ((*place)->done || strcmp((*place)->is.trace.text, id) != 0))
        place = &(*place)->next;
    return place;
}

/* A cache that the engine may write, unless there is no room for one: then it is read anew the next
 * time. */
static int begin_cache(struct tv_reading *reading, const char *id)
{
    struct tv_error err;
    struct cache *cache = tv_alloc(1, sizeof *cache);
    if (tv_store_cache_begin(reading->hub->store, id, &cache->is, &err) != TV_STORE_OK) {
        tv_free(cache);
        return -1;
    }
    int fd = dup(cache->is.fd);
    pthread_mutex_lock(&reading->lock);
    cache->next = reading->caches;
    reading->caches = cache;
    pthread_mutex_unlock(&reading->lock);
    return fd;
}

static enum tv_status open_files(void *context, const char *id, struct tv_engine_files *files,
                                 struct tv_error *err)
{
    struct tv_hub *hub = context;
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_error none;
    uint64_t bytes;
    tv_arena_init(&arena);
    enum tv_store_status status = tv_store_trace_get(hub->store, id, &arena, &trace, err);
    if (status == TV_STORE_OK)
        status = tv_store_file_open(hub->store, id, &files->trace, &bytes, err);
    if (status == TV_STORE_OK) {
        snprintf(files->name, sizeof files->name, "%s", trace.name);
        if (tv_store_cache_open(hub->store, id, &files->index, &bytes, &none) != TV_STORE_OK)
            files->index = -1;
        files->new_index = begin_cache(hub->reading, id);
    }
    tv_arena_release(&arena);
    return status == TV_STORE_OK ? TV_OK : TV_ERR_IO;
}

/* The engine's thread must not wait for the disk: the upkeep's does. */
static void indexed(void *context, const char *id, bool whole)
{
    struct tv_reading *reading = ((struct tv_hub *)context)->reading;
    pthread_mutex_lock(&reading->lock);
    struct cache *cache = *find_cache(reading, id);
    if (cache != NULL) {
        cache->done = true;
        cache->whole = whole;
        pthread_cond_broadcast(&reading->changed);
    }
    pthread_mutex_unlock(&reading->lock);
}

static void said(void *context, const char *id, const char *text)
{
    struct tv_hub *hub = context;
    struct tv_log_line line;
    tv_log_begin(&line, &hub->options.log, TV_LOG_WARNING, "engine.said");
    tv_log_text(&line, "trace", id);
    tv_log_text(&line, "text", text);
    tv_log_end(&line);
}

struct tv_engine_host tv_reading_host(struct tv_hub *hub)
{
    return (struct tv_engine_host){
        .open = open_files, .indexed = indexed, .said = said, .context = hub};
}

/* Readers. */

/* The answer to "facts", in memory that is to be freed. */
static enum tv_status ask_facts(struct tv_engine *engine, uint8_t **facts, size_t *length,
                                struct tv_error *err)
{
    const struct tv_view_question question = {.name = tv_bytes_of("facts")};
    struct tv_engine_answer *answer = tv_engine_ask(engine, &question);
    enum tv_status status = TV_OK;
    size_t got = 1;
    *facts = tv_alloc(LARGEST_FACTS, 1);
    *length = 0;
    if (tv_engine_answer_status(answer) != TV_ANSWER_OK)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the engine does not say what it found");
    while (status == TV_OK && got > 0) {
        status =
            tv_engine_answer_read(answer, *facts + *length, LARGEST_FACTS - *length, &got, err);
        *length += status == TV_OK ? got : 0;
        if (status == TV_OK && *length == LARGEST_FACTS)
            status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "too much to say of it");
    }
    tv_engine_answer_free(answer);
    return status;
}

static void log_read(struct tv_hub *hub, const char *id, const struct tv_error *err)
{
    struct tv_log_line line;
    if (err != NULL) {
        hub->counts.unreadable++;
        tv_log_failure(&hub->options.log, "trace.unreadable", id, err);
        return;
    }
    hub->counts.read++;
    tv_log_begin(&line, &hub->options.log, TV_LOG_INFO, "trace.read");
    tv_log_text(&line, "trace", id);
    tv_log_end(&line);
}

/* It was deleted while it waited or was read: no fault of its own, and nobody will ask for it. */
static bool is_deleted(struct tv_hub *hub, const char *id)
{
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_error err;
    tv_arena_init(&arena);
    bool deleted = tv_store_trace_get(hub->store, id, &arena, &trace, &err) == TV_STORE_NONE;
    tv_arena_release(&arena);
    return deleted;
}

static bool ends(struct tv_reading *reading)
{
    pthread_mutex_lock(&reading->lock);
    bool ends = reading->ends;
    pthread_mutex_unlock(&reading->lock);
    return ends;
}

/* The catalogue took nothing, most likely for want of room: waits a while for some.  False when
 * nobody needs the answer any more. */
static bool try_again(struct tv_hub *hub, const char *id, unsigned times,
                      const struct tv_error *err)
{
    const struct timespec pause = {.tv_nsec = (long)GLANCE_MS * 1000000};
    if (times == 0)
        tv_log_failure(&hub->options.log, "store.failed", id, err);
    nanosleep(&pause, NULL);
    return !ends(hub->reading) && !is_deleted(hub, id);
}

/* TV_ERR_IO: nobody needs them any more, or the server ends and the trace waits for its next start.
 */
static enum tv_status keep_facts(struct tv_hub *hub, const char *id, struct tv_bytes facts,
                                 struct tv_error *err)
{
    unsigned times = 0;
    enum tv_status status;
    do
        status = tv_found_keep(hub, id, facts, err);
    while (status == TV_ERR_IO && try_again(hub, id, times++, err));
    return status;
}

static void keep_failure(struct tv_hub *hub, const char *id, const struct tv_engine_status *state)
{
    struct tv_error err = {0};
    unsigned times = 0;
    if (is_deleted(hub, id))
        return;
    log_read(hub, id, &state->error);
    while (tv_found_keep_failure(hub, id, state, &err) != TV_OK &&
           try_again(hub, id, times++, &err))
        continue;
}

/* The trace was read, which is all the engine says of itself. */
static void keep_success(struct tv_hub *hub, const char *id, struct tv_engine *engine)
{
    struct tv_engine_status state = {.state = TV_ENGINE_DIED};
    uint8_t *facts = NULL;
    size_t length;
    enum tv_status status = ask_facts(engine, &facts, &length, &state.error);
    bool asked = status == TV_OK;
    if (asked)
        status = keep_facts(hub, id, (struct tv_bytes){facts, length}, &state.error);
    tv_free(facts);
    if (status == TV_OK)
        log_read(hub, id, NULL);
    else if (!asked || status != TV_ERR_IO)
        keep_failure(hub, id, &state);
}

/* The engine has come to an end of its reading, good or bad. */
static void keep_outcome(struct tv_hub *hub, const char *id, struct tv_engine *engine)
{
    struct tv_engine_status state;
    tv_engine_get_status(engine, &state);
    if (state.state == TV_ENGINE_READY)
        keep_success(hub, id, engine);
    else
        keep_failure(hub, id, &state);
}

static void set_engine(struct reader *reader, const struct tv_store_id *id,
                       struct tv_engine *engine)
{
    struct tv_reading *reading = reader->reading;
    pthread_mutex_lock(&reading->lock);
    struct tv_engine *before = reader->engine;
    reader->engine = engine;
    reader->id = id != NULL ? *id : (struct tv_store_id){""};
    pthread_mutex_unlock(&reading->lock);
    if (before != NULL)
        tv_engine_close(before);
}

static void read_trace(struct reader *reader, const struct tv_store_id *id)
{
    struct tv_reading *reading = reader->reading;
    struct tv_engine *engine = tv_engine_open(reading->hub->engines, id->text);
    set_engine(reader, id, engine);
    enum tv_engine_state state = TV_ENGINE_WAITING;
    while ((state == TV_ENGINE_WAITING || state == TV_ENGINE_LOADING) && !ends(reading))
        state = tv_engine_wait(engine, GLANCE_MS);
    if (state != TV_ENGINE_WAITING && state != TV_ENGINE_LOADING)
        keep_outcome(reading->hub, id->text, engine);
    set_engine(reader, NULL, NULL);
}

/* Waits until something may wait to be read; false at the end. */
static bool await_work(struct tv_reading *reading, unsigned *woken)
{
    pthread_mutex_lock(&reading->lock);
    while (!reading->ends && *woken == reading->woken)
        pthread_cond_wait(&reading->changed, &reading->lock);
    *woken = reading->woken;
    bool goes_on = !reading->ends;
    pthread_mutex_unlock(&reading->lock);
    return goes_on;
}

static void *read_traces(void *context)
{
    struct reader *reader = context;
    struct tv_hub *hub = reader->reading->hub;
    struct tv_store_id id;
    struct tv_error err = {0};
    unsigned woken = 0;
    while (await_work(reader->reading, &woken)) {
        enum tv_store_status status = TV_STORE_OK;
        while (status == TV_STORE_OK && !ends(reader->reading)) {
            status = tv_store_trace_take(hub->store, &id, &err);
            if (status == TV_STORE_OK)
                read_trace(reader, &id);
        }
        if (status == TV_STORE_FAILED)
            tv_log_failure(&hub->options.log, "store.failed", NULL, &err);
    }
    return NULL;
}

/* Upkeep. */

/* Takes one cache that is done, or any, out of the list; NULL when there is none.  With the lock
 * held. */
static struct cache *take_cache(struct tv_reading *reading, bool any)
{
    struct cache **place = &reading->caches;
    while (*place != NULL && !(*place)->done && !any)
        place = &(*place)->next;
    struct cache *cache = *place;
    if (cache != NULL)
        *place = cache->next;
    return cache;
}

static void end_cache(struct tv_reading *reading, struct cache *cache)
{
    struct tv_error err = {0};
    enum tv_store_status status =
        tv_store_cache_end(reading->hub->store, &cache->is, cache->whole, &err);
    if (status == TV_STORE_FAILED)
        tv_log_failure(&reading->hub->options.log, "store.failed", cache->is.trace.text, &err);
    tv_free(cache);
}

static void expire(struct tv_hub *hub)
{
    struct tv_error err = {0};
    if (tv_store_expire(hub->store, tv_store_now(), tv_store_steady_now(), &err) != TV_STORE_OK)
        tv_log_failure(&hub->options.log, "store.failed", NULL, &err);
}

static void *keep_up(void *context)
{
    struct tv_reading *reading = context;
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    pthread_mutex_lock(&reading->lock);
    while (!reading->ends) {
        struct cache *cache = take_cache(reading, false);
        bool late =
            cache == NULL && pthread_cond_timedwait(&reading->changed, &reading->lock, &due) != 0;
        pthread_mutex_unlock(&reading->lock);
        if (cache != NULL)
            end_cache(reading, cache);
        if (late) {
            expire(reading->hub);
            clock_gettime(CLOCK_MONOTONIC, &due);
            due.tv_sec += UPKEEP_SECONDS;
        }
        pthread_mutex_lock(&reading->lock);
    }
    pthread_mutex_unlock(&reading->lock);
    return NULL;
}

/* All together. */

struct tv_reading *tv_reading_new(struct tv_hub *hub)
{
    struct tv_reading *reading = tv_alloc(1, sizeof *reading);
    reading->hub = hub;
    reading->woken = 1; /* what waited before the start */
    pthread_mutex_init(&reading->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&reading->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return reading;
}

enum tv_status tv_reading_start(struct tv_reading *reading, struct tv_error *err)
{
    const unsigned wanted = reading->hub->options.engines.loading;
    reading->has_upkeep = tv_thread_start(&reading->upkeep, TV_THREAD_STACK, keep_up, reading) == 0;
    for (size_t i = 0; i < MOST_READERS && i < wanted && reading->has_upkeep; i++) {
        struct reader *reader = &reading->readers[i];
        reader->reading = reading;
        if (tv_thread_start(&reader->thread, TV_THREAD_STACK, read_traces, reader) != 0)
            break;
        reading->reader_count++;
    }
    if (reading->reader_count > 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread");
}

void tv_reading_stop(struct tv_reading *reading)
{
    pthread_mutex_lock(&reading->lock);
    reading->ends = true;
    pthread_cond_broadcast(&reading->changed);
    pthread_mutex_unlock(&reading->lock);
    for (size_t i = 0; i < reading->reader_count; i++)
        pthread_join(reading->readers[i].thread, NULL);
    if (reading->has_upkeep)
        pthread_join(reading->upkeep, NULL);
}

void tv_reading_free(struct tv_reading *reading)
{
    struct cache *cache;
    if (reading == NULL)
        return;
    while ((cache = take_cache(reading, true)) != NULL)
        end_cache(reading, cache);
    pthread_cond_destroy(&reading->changed);
    pthread_mutex_destroy(&reading->lock);
    tv_free(reading);
}

void tv_reading_wake(struct tv_reading *reading)
{
    pthread_mutex_lock(&reading->lock);
    reading->woken++;
    pthread_cond_broadcast(&reading->changed);
    pthread_mutex_unlock(&reading->lock);
}

double tv_reading_progress(struct tv_reading *reading, const char *id)
{
    struct tv_engine_status status;
    double progress = -1;
    pthread_mutex_lock(&reading->lock);
    for (size_t i = 0; i < reading->reader_count && progress < 0; i++) {
        struct reader *reader = &reading->readers[i];
        if (reader->engine == NULL || strcmp(reader->id.text, id) != 0)
            continue;
        tv_engine_get_status(reader->engine, &status);
        progress = status.total_bytes > 0 && status.bytes <= status.total_bytes
                       ? (double)status.bytes / (double)status.total_bytes
                       : 0;
    }
    pthread_mutex_unlock(&reading->lock);
    return progress;
}
