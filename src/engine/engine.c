/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - opens, closes and ends engines, and reports their status.
 *
 * Everything here only changes the list of engines under the lock and wakes the supervisor, which
 * does the work (supervisor.c). The states of an engine:
 *
 *     WAITING ---> LOADING ---> READY ---> DIED     killed, evicted, idle or crashed
 *        |            |
 *        |            +------------------> DIED     crashed while it loaded
 *        +------------+------------------> FAILED   the trace cannot be read
 *
 * Two counts decide how long an engine lives: `holders`, the callers between open and close, and
 * the time since it was `touched`.  An engine without holders may be evicted at any time.  `left`
 * takes an engine out of sight, so that the next open makes a new one while the old process still
 * ends.
 */
#include "engine/engine.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/workers.h"
#include "engine/internal.h"
#include "view/session.h"

#define NS INT64_C(1000000000)
/* A killed process is gone within this time, unless the kernel is very busy. */
#define LONGEST_END_MS 5000

/* ---- Helpers that run under the lock ---- */

void tv_engine_wake(struct tv_engines *engines)
{
    ssize_t written;
    do
        written = write(engines->wake[1], "", 1);
    while (written < 0 && errno == EINTR); /* a full pipe wakes the supervisor as well */
}

int64_t tv_engine_cpu_time(const struct tv_engine *engine)
{
    clockid_t clock;
    struct timespec used;
    if (engine->child.pid == 0 || clock_getcpuclockid(engine->child.pid, &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
        return 0;
    return (int64_t)used.tv_sec * NS + used.tv_nsec;
}

void tv_engine_grant_cpu_time(struct tv_engine *engine)
{
    assert(engine->engines->processors > 0);
    const struct tv_engines *engines = engine->engines;
    int64_t limit = tv_engine_cpu_time(engine) +
                    (int64_t)engines->options.question_seconds * engines->processors * NS;
    if (limit > engine->cpu_limit)
        engine->cpu_limit = limit;
}

bool tv_engine_is_alive(const struct tv_engine *engine)
{
    return engine->child.pid != 0 && !engine->ending;
}

void tv_engine_kill(struct tv_engine *engine, const char *format, ...)
{
    va_list arguments;
    if (engine->ending)
        return;
    va_start(arguments, format);
    engine->error = (struct tv_error){.status = TV_ERR_LIMIT, .offset = TV_NO_OFFSET};
    vsnprintf(engine->error.message, sizeof engine->error.message, format, arguments);
    va_end(arguments);
    engine->explained = true;
    engine->ending = true;
    if (engine->child.pid != 0)
        kill(engine->child.pid, SIGKILL);
    tv_engine_wake(engine->engines);
}

/* ---- All engines ---- */

/* Return a copy, which the caller frees. */
static char *engines_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(tv_alloc(size, 1), text, size);
}

/* Free everything; no supervisor runs. */
static void engines_release(struct tv_engines *engines)
{
    for (int i = 0; i < 2; i++)
        if (engines->wake[i] >= 0)
            close(engines->wake[i]);
    pthread_cond_destroy(&engines->changed);
    pthread_mutex_destroy(&engines->lock);
    tv_free(engines->program);
    tv_free(engines->scratch);
    tv_free(engines);
}

/* Make the structure without a supervisor; conditions wait by the steady clock. */
static struct tv_engines *engines_make(const struct tv_engines_options *options)
{
    struct tv_engines *engines = tv_alloc(1, sizeof *engines);
    pthread_condattr_t attributes;
    engines->options = *options;
    engines->program = options->program ? engines_copy_text(options->program) : NULL;
    engines->scratch = engines_copy_text(options->scratch);
    engines->processors = tv_workers_available();
    engines->wake[0] = engines->wake[1] = -1;
    pthread_mutex_init(&engines->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&engines->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return engines;
}

/* Start the supervisor with its wake-up pipe, which does not block: a full pipe wakes as well. */
static enum tv_status engines_start_supervisor(struct tv_engines *engines, struct tv_error *err)
{
    int error = pipe(engines->wake) == 0 ? 0 : errno;
    for (int i = 0; i < 2 && error == 0; i++) {
        fcntl(engines->wake[i], F_SETFD, FD_CLOEXEC);
        fcntl(engines->wake[i], F_SETFL, O_NONBLOCK);
    }
    if (error == 0)
        error =
            tv_thread_start(&engines->supervisor, TV_THREAD_STACK, tv_engine_supervise, engines);
    if (error == 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start the engines: %s", strerror(error));
}

enum tv_status tv_engines_new(const struct tv_engines_options *options, struct tv_engines **engines,
                              struct tv_error *err)
{
    struct tv_engines *made = engines_make(options);
    enum tv_status status = engines_start_supervisor(made, err);
    if (status != TV_OK) {
        engines_release(made);
        return status;
    }
    pthread_mutex_lock(&made->lock);
    while (!made->probed)
        pthread_cond_wait(&made->changed, &made->lock);
    struct tv_error error = made->error;
    pthread_mutex_unlock(&made->lock);
    if (error.status == TV_OK) {
        *engines = made;
        return TV_OK;
    }
    *err = error;
    tv_engines_free(made);
    return error.status;
}

void tv_engines_free(struct tv_engines *engines)
{
    if (!engines)
        return;
    pthread_mutex_lock(&engines->lock);
    engines->stop = true;
    tv_engine_wake(engines);
    pthread_mutex_unlock(&engines->lock);
    pthread_join(engines->supervisor, NULL);
    engines_release(engines);
}

unsigned tv_engines_sandbox(const struct tv_engines *engines)
{
    return engines->sandbox;
}

bool tv_engines_sandbox_missing(const struct tv_engines *engines, size_t i, const char **sentence)
{
    static const struct {
        enum tv_sandbox_part part;
        const char *lacks;
    } parts[] = {
        {TV_SANDBOX_SECCOMP, "seccomp is not there (the kernel or this build lacks it): a process "
                             "that reads a trace is not held to a list of system calls"},
        {TV_SANDBOX_LANDLOCK, "Landlock is not there (Linux 5.13 has it, where it is switched on): "
                              "nothing but seccomp keeps a process that reads a trace from files; "
                              "packed traces of more than 64 MB cannot be read with seccomp alone"},
    };
    for (size_t part = 0; part < TV_COUNT(parts); part++) {
        if (engines->sandbox & parts[part].part)
            continue;
        if (i-- == 0) {
            *sentence = parts[part].lacks;
            return true;
        }
    }
    return false;
}

void tv_engines_count(struct tv_engines *engines, struct tv_engines_counts *counts)
{
    pthread_mutex_lock(&engines->lock);
    *counts = engines->counts;
    for (const struct tv_engine *engine = engines->first; engine; engine = engine->next) {
        counts->waiting += engine->state == TV_ENGINE_WAITING && !engine->left;
        counts->loading += engine->state == TV_ENGINE_LOADING && tv_engine_is_alive(engine);
        counts->ready += engine->state == TV_ENGINE_READY && tv_engine_is_alive(engine);
    }
    pthread_mutex_unlock(&engines->lock);
}

/* ---- One engine ---- */

/* Return the engine that answers for a trace, or NULL. Runs under the lock. */
static struct tv_engine *engines_find(struct tv_engines *engines, const char *id)
{
    struct tv_engine *engine = engines->first;
    while (engine && (engine->left || strcmp(engine->id, id) != 0))
        engine = engine->next;
    return engine;
}

/* Return true when the engine cannot be asked any more, but a new one for the same trace could. */
static bool engine_is_spent(const struct tv_engine *engine)
{
    return engine->ending && (engine->was_ready || engine->unwanted);
}

/* Add an engine that waits to be started. Runs under the lock. */
static struct tv_engine *engines_add(struct tv_engines *engines, const char *id)
{
    assert(engines_find(engines, id) == NULL);
    struct tv_engine *engine = tv_alloc(1, sizeof *engine);
    engine->engines = engines;
    engine->number = ++engines->last_number;
    engine->child = (struct tv_spawned){.socket = -1, .errors = -1};
    snprintf(engine->id, sizeof engine->id, "%s", id);
    engine->next = engines->first;
    engines->first = engine;
    return engine;
}

struct tv_engine *tv_engine_open(struct tv_engines *engines, const char *id)
{
    pthread_mutex_lock(&engines->lock);
    struct tv_engine *engine = engines_find(engines, id);
    if (engine && engine_is_spent(engine)) {
        engine->left = true;
        engine = NULL;
    }
    if (!engine) {
        engine = engines_add(engines, id);
        tv_engine_wake(engines);
    }
    engine->holders++;
    engine->touched = tv_monotonic_ms();
    pthread_mutex_unlock(&engines->lock);
    return engine;
}

void tv_engine_close(struct tv_engine *engine)
{
    struct tv_engines *engines = engine->engines;
    pthread_mutex_lock(&engines->lock);
    assert(engine->holders > 0);
    engine->touched = tv_monotonic_ms();
    if (--engine->holders == 0)
        tv_engine_wake(engines);
    pthread_mutex_unlock(&engines->lock);
}

/* Return true while a process has the trace's file open, or is about to. */
static bool engines_has_child_for(const struct tv_engines *engines, const char *id)
{
    for (const struct tv_engine *engine = engines->first; engine; engine = engine->next)
        if (strcmp(engine->id, id) == 0 &&
            (engine->child.pid != 0 || engine->state == TV_ENGINE_LOADING))
            return true;
    return false;
}

void tv_engines_end(struct tv_engines *engines, const char *id)
{
    struct timespec until = tv_monotonic_deadline(LONGEST_END_MS);
    int error = 0;
    pthread_mutex_lock(&engines->lock);
    struct tv_engine *engine = engines_find(engines, id);
    if (engine) {
        engine->left = true;
        engine->unwanted = true;
        tv_engine_kill(engine, "the server has ended it");
        tv_engine_wake(engines);
    }
    while (engines_has_child_for(engines, id) && error == 0)
        error = pthread_cond_timedwait(&engines->changed, &engines->lock, &until);
    pthread_mutex_unlock(&engines->lock);
}

/* Return advice to the user about an error, or NULL. */
static const char *engine_error_remedy(const struct tv_engine *engine)
{
    if (engine->state == TV_ENGINE_DIED)
        return engine->line.out_of_memory
                   ? "send a part of the trace (traceview cut), or have the server's limit raised"
                   : NULL;
    switch (engine->error.status) {
    case TV_ERR_UNSUPPORTED:
        return "send it in a format that traceview reads; packed files may hold such";
    case TV_ERR_LIMIT:
        return "send a part of the trace (traceview cut), or have the server's limit raised";
    case TV_ERR_SYNTAX:
        return "check whether the file is complete; traceview check shows where it is damaged";
    default:
        return NULL;
    }
}

void tv_engine_get_status(struct tv_engine *engine, struct tv_engine_status *status)
{
    pthread_mutex_lock(&engine->engines->lock);
    *status = (struct tv_engine_status){
        .state = engine->state,
        .bytes = engine->progress.bytes,
        .total_bytes = engine->progress.total_bytes,
        .records = engine->progress.records,
        .unpacking = engine->progress.unpacking != 0,
        .from_index = engine->from_index,
    };
    if (engine->state == TV_ENGINE_FAILED || engine->state == TV_ENGINE_DIED) {
        status->error = engine->error;
        status->kind =
            engine->state == TV_ENGINE_DIED ? "died" : tv_session_error_kind(engine->error.status);
        status->remedy = engine_error_remedy(engine);
    }
    pthread_mutex_unlock(&engine->engines->lock);
}

/* Return true when waiting longer would change nothing. */
static bool engine_is_settled(const struct tv_engine *engine)
{
    return engine->state != TV_ENGINE_WAITING && engine->state != TV_ENGINE_LOADING;
}

enum tv_engine_state tv_engine_wait(struct tv_engine *engine, unsigned timeout_ms)
{
    struct tv_engines *engines = engine->engines;
    struct timespec until = tv_monotonic_deadline(timeout_ms);
    int error = 0;
    pthread_mutex_lock(&engines->lock);
    while (!engine_is_settled(engine) && error == 0)
        error = pthread_cond_timedwait(&engines->changed, &engines->lock, &until);
    enum tv_engine_state state = engine->state;
    pthread_mutex_unlock(&engines->lock);
    return state;
}

void tv_engine_write_status_end(struct tv_out *out, const char *name)
{
    tv_out_format(out, ",\"trace\":%d,\"files\":[{\"input\":0,\"name\":", TV_ENGINE_TRACE);
    tv_out_json(out, tv_bytes_of(name));
    tv_out_text(
        out, ",\"bytes\":null}],\"start\":[{\"input\":0,\"offset_ns\":\"0\"}],\"home\":\"../\"}");
}

/* Write the error as a member of the status. */
static void status_write_error(struct tv_out *out, const struct tv_engine_status *status)
{
    char line[sizeof status->error.message + 32];
    tv_out_text(out, ",\"error\":{\"message\":");
    tv_out_json(out, tv_bytes_of(tv_error_text(&status->error, line, sizeof line)));
    tv_out_format(out, ",\"kind\":\"%s\"", status->kind);
    if (status->error.offset != TV_NO_OFFSET)
        tv_out_format(out, ",\"offset\":%" PRIu64, status->error.offset);
    tv_out_char(out, '}');
}

void tv_engine_write_status(struct tv_out *out, const struct tv_engine_status *status,
                            const char *name)
{
    assert(status->state != TV_ENGINE_READY || status->kind == NULL);
    bool over = status->state == TV_ENGINE_FAILED || status->state == TV_ENGINE_DIED;
    tv_out_format(out, "{\"state\":\"%s\",\"name\":", over ? "error" : "loading");
    tv_out_json(out, tv_bytes_of(name));
    tv_out_format(out, ",\"bytes\":%" PRIu64 ",\"total_bytes\":%" PRIu64 ",\"records\":%" PRIu64,
                  status->bytes, status->total_bytes, status->records);
    tv_out_text(out, ",\"inputs\":[{\"input\":0,\"name\":");
    tv_out_json(out, tv_bytes_of(name));
    tv_out_text(out, ",\"offset_ns\":\"0\"}]");
    if (over)
        status_write_error(out, status);
    tv_engine_write_status_end(out, name);
}

void tv_engine_write_refusal(struct tv_out *out, const char *sentence)
{
    tv_out_text(out, "{\"error\":");
    tv_out_json(out, tv_bytes_of(sentence));
    tv_out_char(out, '}');
}
