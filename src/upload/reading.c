/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.c - the queue of uploaded traces that engines must read, and upkeep of the store.
 *
 * The queue itself lives in the catalogue: a trace is WAITING, READING, READY or UNREADABLE, so a
 * restart loses nothing. As many reader threads as engines may load at once take traces from it:
 *
 *     upload finished --wake--> reader: take next -> open engine -> wait --> facts ----> catalogue
 *                                                                       \--> error ----> catalogue
 *
 * The order is decided in tv_store_trace_take_next: first the client of whom the fewest traces are
 * being read, then the oldest upload, with a bonus for small files. So one client with a hundred
 * uploads does not block the others.
 *
 * A reader that cannot write to the catalogue (usually a full disk) retries until it can, the trace
 * is deleted or the server stops. The upkeep thread moves finished index caches into the store,
 * because callbacks of the engines must not wait for the disk, and once a minute expires old
 * traces.
 *
 * Facts come from an engine and are not trusted: they are parsed, checked and written anew.
 */
#include <assert.h>
#include <cjson/cJSON.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/workers.h"
#include "upload/internal.h"
#include "upload/log.h"

/* ---- Trace facts ---- */

/* Integers up to here are exact in JSON. */
#define LARGEST_NUMBER 9007199254740992.0

static struct tv_bytes facts_text(const cJSON *facts, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(facts, name));
    return tv_bytes_of(text != NULL ? text : "");
}

/* Return a member that is a non-negative integer, else `none`. */
static int64_t facts_number(const cJSON *facts, const char *name, int64_t none)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(facts, name);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= LARGEST_NUMBER))
        return none;
    return (int64_t)item->valuedouble;
}

/* Return a time in milliseconds, or TV_STORE_NEVER. */
static int64_t facts_time(const cJSON *facts, const char *name)
{
    int64_t seconds;
    return tv_iso_parse(facts_text(facts, name), &seconds) ? seconds * 1000 : TV_STORE_NEVER;
}

static uint32_t facts_count_warnings(const cJSON *facts)
{
    uint32_t count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(facts, "health"))
    {
        const char *severity =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "severity"));
        count += severity != NULL && strcmp(severity, "note") != 0;
    }
    return count;
}

static size_t facts_list_processes(const cJSON *facts, struct tv_bytes *processes)
{
    size_t count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(facts, "processes"))
    {
        if (count < TV_STORE_PROCESSES && cJSON_IsString(item) && item->valuestring[0] != '\0')
            processes[count++] = tv_bytes_of(item->valuestring);
    }
    return count;
}

static enum tv_status facts_write(struct tv_upload_server *server, const char *id,
                                  const struct tv_store_trace_facts *found, struct tv_error *err)
{
    enum tv_store_status status = tv_store_trace_set_facts(server->store, id, found, err);
    return status == TV_STORE_OK ? TV_OK : TV_ERR_IO;
}

/* Replace the index of each thread's process by the process's name. */
static void facts_name_processes(cJSON *facts)
{
    const cJSON *processes = cJSON_GetObjectItemCaseSensitive(facts, "processes");
    cJSON *thread;
    cJSON_ArrayForEach(thread, cJSON_GetObjectItemCaseSensitive(facts, "threads"))
    {
        int64_t place = facts_number(thread, "process", -1);
        const cJSON *process =
            place >= 0 && place <= INT_MAX ? cJSON_GetArrayItem(processes, (int)place) : NULL;
        const char *name = cJSON_GetStringValue(process);
        cJSON_DeleteItemFromObjectCaseSensitive(thread, "process");
        cJSON_AddItemToObject(thread, "process",
                              name != NULL && name[0] != '\0' ? cJSON_CreateString(name)
                                                              : cJSON_CreateNull());
    }
}

/* Print {"threads":[...],"health":[...],"findings":[...]}, which have no columns in the catalogue.
 * Printing the parsed value guarantees that the API's answers are valid JSON. */
static char *facts_print_lists(const cJSON *facts)
{
    static const char *const names[] = {"threads", "health", "findings"};
    /* references: the lists stay members of `facts`, which frees them */
    cJSON *lists = cJSON_CreateObject();
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        cJSON *list = cJSON_GetObjectItemCaseSensitive(facts, names[i]);
        if (cJSON_IsArray(list))
            cJSON_AddItemReferenceToObject(lists, names[i], list);
        else
            cJSON_AddArrayToObject(lists, names[i]);
    }
    char *text = cJSON_PrintUnformatted(lists);
    cJSON_Delete(lists);
    if (text == NULL)
        tv_memory_exhausted();
    return text;
}

static enum tv_status facts_store_parsed(struct tv_upload_server *server, const char *id,
                                         cJSON *facts, struct tv_error *err)
{
    struct tv_bytes processes[TV_STORE_PROCESSES];
    struct tv_store_trace_facts found = {
        .state = TV_STORE_READY,
        .error_offset = TV_NO_OFFSET,
        .format = facts_text(facts, "format"),
        .version = facts_text(facts, "version"),
        .length_ns = facts_number(facts, "length_ns", -1),
        .events = (uint64_t)facts_number(facts, "events", 0),
        .calls = (uint64_t)facts_number(facts, "calls", 0),
        .warnings = facts_count_warnings(facts),
        .findings =
            (uint32_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(facts, "findings")),
        .recorded_ms = facts_time(facts, "recorded"),
        .processes = processes,
        .process_count = facts_list_processes(facts, processes),
    };
    facts_name_processes(facts);
    char *text = facts_print_lists(facts);
    found.facts = tv_bytes_of(text);
    enum tv_status status = facts_write(server, id, &found, err);
    cJSON_free(text);
    return status;
}

/* Parse and check an engine's answer to "facts" (docs/view-protocol.md), and write it to the
 * catalogue. TV_ERR_IO: the catalogue cannot be written. */
static enum tv_status facts_store(struct tv_upload_server *server, const char *id,
                                  struct tv_bytes facts, struct tv_error *err)
{
    cJSON *parsed = cJSON_ParseWithLength((const char *)facts.data, facts.length);
    enum tv_status status;
    if (cJSON_IsObject(parsed))
        status = facts_store_parsed(server, id, parsed, err);
    else
        status = tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the engine's answer is not JSON");
    cJSON_Delete(parsed);
    return status;
}

/* Note in the catalogue that the trace cannot be read. */
static enum tv_status facts_store_failure(struct tv_upload_server *server, const char *id,
                                          const struct tv_engine_status *status,
                                          struct tv_error *err)
{
    const struct tv_store_trace_facts found = {
        .state = TV_STORE_UNREADABLE,
        .error = tv_bytes_of(status->error.message),
        .error_offset = status->error.offset,
        .remedy = tv_bytes_of(status->remedy != NULL ? status->remedy : ""),
        .length_ns = -1,
        .recorded_ms = TV_STORE_NEVER,
    };
    return facts_write(server, id, &found, err);
}

/* ---- The queue ---- */

/* Maximum number of readers. More than engines may load at once would only wait. */
#define MAX_READERS 8u
/* Interval of upkeep. */
#define UPKEEP_SECONDS 60
/* Maximum size of an answer to "facts". */
#define LARGEST_FACTS ((size_t)4 << 20)
/* Interval at which a waiting reader checks whether the server stops. */
#define GLANCE_MS 500u

/* An index cache that an engine is writing or has finished. */
struct queue_cache {
    struct tv_store_new_cache is;
    bool done, whole;
    struct queue_cache *next;
};

struct queue_reader {
    struct tv_reading_queue *queue;
    pthread_t thread;
    struct tv_store_id id;    /* the trace that it is reading; "": none */
    struct tv_engine *engine; /* of that trace */
};

struct tv_reading_queue {
    struct tv_upload_server *server;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct queue_reader readers[MAX_READERS];
    size_t reader_count; /* started ones */
    pthread_t upkeep;
    bool has_upkeep;
    unsigned woken; /* counts the times that a trace may have begun to wait */
    bool ends;
    struct queue_cache *caches;
};

/* ---- Callbacks of the engines ---- */

/* Return the place of a link to a trace's cache that is not done, or of the last link. A place
 * instead of the entry, so that the caller can take it out without a second walk. */
static struct queue_cache **queue_find_cache(struct tv_reading_queue *queue, const char *id)
{
    struct queue_cache **place = &queue->caches;
    while (*place != NULL && ((*place)->done || strcmp((*place)->is.trace.text, id) != 0))
        place = &(*place)->next;
    return place;
}

/* Begin an index cache for the engine to write. Return a descriptor; -1: there is no room, and the
 * trace will be read again the next time. */
static int queue_begin_cache(struct tv_reading_queue *queue, const char *id)
{
    struct tv_error err;
    struct queue_cache *cache = tv_alloc(1, sizeof *cache);
    if (tv_store_cache_begin(queue->server->store, id, &cache->is, &err) != TV_STORE_OK) {
        tv_free(cache);
        return -1;
    }
    /* the engine gets this copy and closes it; the store keeps its own until the cache ends */
    int fd = dup(cache->is.fd);
    pthread_mutex_lock(&queue->lock);
    cache->next = queue->caches;
    queue->caches = cache;
    pthread_mutex_unlock(&queue->lock);
    return fd;
}

/* Open the files that an engine gets: the trace, its cache if there is one, and a new cache. */
static enum tv_status queue_open_files(void *context, const char *id, struct tv_engine_files *files,
                                       struct tv_error *err)
{
    struct tv_upload_server *server = context;
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_error none;
    uint64_t bytes;
    tv_arena_init(&arena);
    enum tv_store_status status = tv_store_trace_get(server->store, id, &arena, &trace, err);
    if (status == TV_STORE_OK)
        status = tv_store_file_open(server->store, id, &files->trace, &bytes, err);
    if (status == TV_STORE_OK) {
        snprintf(files->name, sizeof files->name, "%s", trace.name);
        if (tv_store_cache_open(server->store, id, &files->index, &bytes, &none) != TV_STORE_OK)
            files->index = -1;
        files->new_index = queue_begin_cache(server->reading, id);
    }
    tv_arena_release(&arena);
    return status == TV_STORE_OK ? TV_OK : TV_ERR_IO;
}

/* Only mark the cache as finished: the engines' thread must not wait for the disk. */
static void queue_note_indexed(void *context, const char *id, bool whole)
{
    struct tv_reading_queue *queue = ((struct tv_upload_server *)context)->reading;
    pthread_mutex_lock(&queue->lock);
    struct queue_cache *cache = *queue_find_cache(queue, id);
    if (cache != NULL) {
        cache->done = true;
        cache->whole = whole;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
}

static void queue_log_engine_line(void *context, const char *id, const char *text)
{
    struct tv_upload_server *server = context;
    struct tv_log_line line;
    tv_log_begin(&line, &server->options.log, TV_LOG_WARNING, "engine.said");
    tv_log_text(&line, "trace", id);
    tv_log_text(&line, "text", text);
    tv_log_end(&line);
}

struct tv_engine_host tv_reading_queue_host(struct tv_upload_server *server)
{
    return (struct tv_engine_host){.open = queue_open_files,
                                   .indexed = queue_note_indexed,
                                   .said = queue_log_engine_line,
                                   .context = server};
}

/* ---- Readers ---- */

/* Ask the engine for its facts. The caller frees *facts, also on errors. */
static enum tv_status queue_ask_facts(struct tv_engine *engine, uint8_t **facts, size_t *length,
                                      struct tv_error *err)
{
    const struct tv_view_question question = {.name = tv_bytes_of("facts")};
    struct tv_engine_answer *answer = tv_engine_ask(engine, &question);
    enum tv_status status = TV_OK;
    size_t got = 1;
    *facts = tv_alloc(LARGEST_FACTS, 1);
    *length = 0;
    if (tv_engine_answer_status(answer) != TV_ANSWER_OK)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                         "the answer of the engine has no facts about the trace");
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

static void queue_log_outcome(struct tv_upload_server *server, const char *id,
                              const struct tv_error *err)
{
    struct tv_log_line line;
    if (err != NULL) {
        server->counts.unreadable++;
        tv_log_failure(&server->options.log, "trace.unreadable", id, err);
        return;
    }
    server->counts.read++;
    tv_log_begin(&line, &server->options.log, TV_LOG_INFO, "trace.read");
    tv_log_text(&line, "trace", id);
    tv_log_end(&line);
}

/* Return true when the trace was deleted while it waited or was read. That is no failure. */
static bool queue_is_deleted(struct tv_upload_server *server, const char *id)
{
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_error err;
    tv_arena_init(&arena);
    bool deleted =
        tv_store_trace_get(server->store, id, &arena, &trace, &err) == TV_STORE_NOT_FOUND;
    tv_arena_release(&arena);
    return deleted;
}

static bool queue_is_stopping(struct tv_reading_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool ends = queue->ends;
    pthread_mutex_unlock(&queue->lock);
    return ends;
}

/* Wait a while after the catalogue refused a write, usually for lack of space. False: the result is
 * not needed any more. */
static bool queue_wait_to_retry(struct tv_upload_server *server, const char *id, unsigned times,
                                const struct tv_error *err)
{
    const struct timespec pause = {.tv_nsec = (long)GLANCE_MS * 1000000};
    if (times == 0)
        tv_log_failure(&server->options.log, "store.failed", id, err);
    nanosleep(&pause, NULL);
    return !queue_is_stopping(server->reading) && !queue_is_deleted(server, id);
}

/* Write facts to the catalogue, and retry. TV_ERR_IO: they are not needed any more, or the server
 * stops and the trace waits for its next start. */
static enum tv_status queue_store_facts(struct tv_upload_server *server, const char *id,
                                        struct tv_bytes facts, struct tv_error *err)
{
    unsigned times = 0;
    enum tv_status status;
    do
        status = facts_store(server, id, facts, err);
    while (status == TV_ERR_IO && queue_wait_to_retry(server, id, times++, err));
    return status;
}

/* Store why a trace could not be read, trying again while the store cannot be written: otherwise
 * the trace would be read again and again. */
static void queue_store_failure(struct tv_upload_server *server, const char *id,
                                const struct tv_engine_status *state)
{
    struct tv_error err = {0};
    unsigned times = 0;
    if (queue_is_deleted(server, id))
        return;
    queue_log_outcome(server, id, &state->error);
    while (facts_store_failure(server, id, state, &err) != TV_OK &&
           queue_wait_to_retry(server, id, times++, &err))
        continue;
}

/* Store the facts of a trace that was read. */
static void queue_store_success(struct tv_upload_server *server, const char *id,
                                struct tv_engine *engine)
{
    struct tv_engine_status state = {.state = TV_ENGINE_DIED};
    uint8_t *facts = NULL;
    size_t length;
    enum tv_status status = queue_ask_facts(engine, &facts, &length, &state.error);
    bool asked = status == TV_OK;
    if (asked)
        status = queue_store_facts(server, id, (struct tv_bytes){facts, length}, &state.error);
    tv_free(facts);
    if (status == TV_OK) {
        queue_log_outcome(server, id, NULL);
        tv_fleet_queue_push(server->fleet, id);
    } else if (!asked || status != TV_ERR_IO) {
        queue_store_failure(server, id, &state);
    }
}

/* Store the outcome of reading, good or bad. */
static void queue_store_outcome(struct tv_upload_server *server, const char *id,
                                struct tv_engine *engine)
{
    assert(engine != NULL);
    struct tv_engine_status state;
    tv_engine_get_status(engine, &state);
    if (state.state == TV_ENGINE_READY)
        queue_store_success(server, id, engine);
    else
        queue_store_failure(server, id, &state);
}

static void queue_set_engine(struct queue_reader *reader, const struct tv_store_id *id,
                             struct tv_engine *engine)
{
    assert((id == NULL) == (engine == NULL));
    struct tv_reading_queue *queue = reader->queue;
    pthread_mutex_lock(&queue->lock);
    struct tv_engine *before = reader->engine;
    reader->engine = engine;
    reader->id = id != NULL ? *id : (struct tv_store_id){""};
    pthread_mutex_unlock(&queue->lock);
    /* without the lock, which a question about progress may be waiting for */
    if (before != NULL)
        tv_engine_close(before);
}

/* Have an engine read a trace, and store what it says. A server that ends does not wait for it. */
static void queue_read_trace(struct queue_reader *reader, const struct tv_store_id *id)
{
    struct tv_reading_queue *queue = reader->queue;
    struct tv_engine *engine = tv_engine_open(queue->server->engines, id->text);
    queue_set_engine(reader, id, engine);
    enum tv_engine_state state = TV_ENGINE_WAITING;
    while ((state == TV_ENGINE_WAITING || state == TV_ENGINE_LOADING) && !queue_is_stopping(queue))
        state = tv_engine_wait(engine, GLANCE_MS);
    if (state != TV_ENGINE_WAITING && state != TV_ENGINE_LOADING)
        queue_store_outcome(queue->server, id->text, engine);
    queue_set_engine(reader, NULL, NULL);
}

/* Wait until a trace may be waiting. False: the server stops.
 *
 * A wake-up counts instead of setting a flag: each reader compares the count with the one that it
 * has seen, so none can clear it for the others, and none is lost while all are busy. */
static bool queue_await_work(struct tv_reading_queue *queue, unsigned *woken)
{
    pthread_mutex_lock(&queue->lock);
    while (!queue->ends && *woken == queue->woken)
        pthread_cond_wait(&queue->changed, &queue->lock);
    *woken = queue->woken;
    bool goes_on = !queue->ends;
    pthread_mutex_unlock(&queue->lock);
    return goes_on;
}

/* Read waiting traces until the server stops (a thread).  The queue is in the catalogue, so it
 * survives a restart. */
static void *queue_run_reader(void *context)
{
    struct queue_reader *reader = context;
    struct tv_upload_server *server = reader->queue->server;
    struct tv_store_id id;
    struct tv_error err = {0};
    unsigned woken = 0;
    while (queue_await_work(reader->queue, &woken)) {
        enum tv_store_status status = TV_STORE_OK;
        while (status == TV_STORE_OK && !queue_is_stopping(reader->queue)) {
            status = tv_store_trace_take_next(server->store, &id, &err);
            if (status == TV_STORE_OK)
                queue_read_trace(reader, &id);
        }
        if (status == TV_STORE_FAILED)
            tv_log_failure(&server->options.log, "store.failed", NULL, &err);
    }
    return NULL;
}

/* ---- Upkeep ---- */

/* Remove a finished cache (or any, with `any`) from the list. NULL: none. Runs under the lock. */
static struct queue_cache *queue_take_cache(struct tv_reading_queue *queue, bool any)
{
    struct queue_cache **place = &queue->caches;
    while (*place != NULL && !(*place)->done && !any)
        place = &(*place)->next;
    struct queue_cache *cache = *place;
    if (cache != NULL)
        *place = cache->next;
    return cache;
}

static void queue_end_cache(struct tv_reading_queue *queue, struct queue_cache *cache)
{
    struct tv_error err = {0};
    enum tv_store_status status =
        tv_store_cache_end(queue->server->store, &cache->is, cache->whole, &err);
    if (status == TV_STORE_FAILED)
        tv_log_failure(&queue->server->options.log, "store.failed", cache->is.trace.text, &err);
    tv_free(cache);
}

static void queue_expire(struct tv_upload_server *server)
{
    struct tv_error err = {0};
    if (tv_store_expire(server->store, tv_store_now(), tv_store_steady_now(), &err) != TV_STORE_OK)
        tv_log_failure(&server->options.log, "store.failed", NULL, &err);
}

/* Finish caches as they come, and expire old things at intervals (a thread). */
static void *queue_run_upkeep(void *context)
{
    struct tv_reading_queue *queue = context;
    struct timespec due = tv_monotonic_deadline(0);
    pthread_mutex_lock(&queue->lock);
    while (!queue->ends) {
        struct queue_cache *cache = queue_take_cache(queue, false);
        bool late =
            cache == NULL && pthread_cond_timedwait(&queue->changed, &queue->lock, &due) != 0;
        pthread_mutex_unlock(&queue->lock);
        /* both use the disk, so not under the lock: callbacks of engines wait for it */
        if (cache != NULL)
            queue_end_cache(queue, cache);
        if (late) {
            queue_expire(queue->server);
            due = tv_monotonic_deadline(UPKEEP_SECONDS * 1000);
        }
        pthread_mutex_lock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- Life cycle ---- */

struct tv_reading_queue *tv_reading_queue_new(struct tv_upload_server *server)
{
    struct tv_reading_queue *queue = tv_alloc(1, sizeof *queue);
    queue->server = server;
    queue->woken = 1; /* for traces that waited before the start */
    pthread_mutex_init(&queue->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return queue;
}

enum tv_status tv_reading_queue_start(struct tv_reading_queue *queue, struct tv_error *err)
{
    assert(queue->reader_count == 0);
    const unsigned wanted = queue->server->options.engines.loading;
    queue->has_upkeep =
        tv_thread_start(&queue->upkeep, TV_THREAD_STACK, queue_run_upkeep, queue) == 0;
    for (size_t i = 0; i < MAX_READERS && i < wanted && queue->has_upkeep; i++) {
        struct queue_reader *reader = &queue->readers[i];
        reader->queue = queue;
        if (tv_thread_start(&reader->thread, TV_THREAD_STACK, queue_run_reader, reader) != 0)
            break;
        queue->reader_count++;
    }
    if (queue->reader_count > 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread");
}

void tv_reading_queue_stop(struct tv_reading_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->ends = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    /* A reader notices within GLANCE_MS.  Its trace stays READING in the catalogue, and the next
     * start queues it again. */
    for (size_t i = 0; i < queue->reader_count; i++)
        pthread_join(queue->readers[i].thread, NULL);
    if (queue->has_upkeep)
        pthread_join(queue->upkeep, NULL);
}

void tv_reading_queue_free(struct tv_reading_queue *queue)
{
    struct queue_cache *cache;
    if (queue == NULL)
        return;
    while ((cache = queue_take_cache(queue, true)) != NULL)
        queue_end_cache(queue, cache);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    tv_free(queue);
}

void tv_reading_queue_wake(struct tv_reading_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->woken++;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

double tv_reading_queue_progress(struct tv_reading_queue *queue, const char *id)
{
    struct tv_engine_status status;
    double progress = -1;
    pthread_mutex_lock(&queue->lock);
    for (size_t i = 0; i < queue->reader_count && progress < 0; i++) {
        struct queue_reader *reader = &queue->readers[i];
        if (reader->engine == NULL || strcmp(reader->id.text, id) != 0)
            continue;
        tv_engine_get_status(reader->engine, &status);
        progress = status.total_bytes > 0 && status.bytes <= status.total_bytes
                       ? (double)status.bytes / (double)status.total_bytes
                       : 0;
    }
    pthread_mutex_unlock(&queue->lock);
    return progress;
}
