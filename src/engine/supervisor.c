/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervisor.c - the one thread that starts, watches, ends and reaps child processes.
 *
 * Each turn of its loop:
 *
 *     free obsolete engines -> start waiting ones -> poll -> read stderr, messages; check CPU; reap
 *
 * The thread holds the lock all the time, except while it polls, starts a process or calls the
 * host. It is the only thread that removes an engine from the list, so an engine is still there
 * after such a pause.
 *
 * Invariants: at most options.loading children load and at most options.alive exist; a child that
 * was killed counts until it is reaped. One trace never has two children, because both would write
 * one index. A child is killed at most once, and the first explanation of its end stays.
 */
#define _GNU_SOURCE /* prlimit */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/program.h"
#include "engine/internal.h"

#define NS INT64_C(1000000000)

/* Poll interval while children run, and while a killed one has not ended. */
#define TICK_MS 250
#define ENDING_MS 10

/* Messages to handle of one child before the next child has its turn. */
#define TURN 16

/* An engine that still loads, or writes its index, may be evicted after nobody has held it for this
 * long. */
#define FORGOTTEN_MS 10000

/* Lines of a child's standard error that are logged; it is closed after that. */
#define LINES 100

/* The first child answers at once, unless the machine is very busy. */
#define PROBE_MS 30000

/* ---- Reports to the host ---- */

/* Tell everybody who waits, and the host, that the state changed. Releases the lock meanwhile. */
static void supervisor_report_state(struct tv_engine *engine)
{
    const struct tv_engine_host *host = &engine->engines->options.host;
    enum tv_engine_state state = engine->state;
    pthread_cond_broadcast(&engine->engines->changed);
    if (!host->changed)
        return;
    pthread_mutex_unlock(&engine->engines->lock);
    host->changed(host->context, engine->id, state);
    pthread_mutex_lock(&engine->engines->lock);
}

/* Tell the host once whether the index was written as a whole. Releases the lock meanwhile. */
static void supervisor_report_index(struct tv_engine *engine, bool whole)
{
    const struct tv_engine_host *host = &engine->engines->options.host;
    if (!engine->owes_index)
        return;
    engine->owes_index = false;
    if (!host->indexed)
        return;
    pthread_mutex_unlock(&engine->engines->lock);
    host->indexed(host->context, engine->id, whole);
    pthread_mutex_lock(&engine->engines->lock);
}

/* Hand a line of a child to the host. Releases the lock meanwhile. */
static void supervisor_report_line(struct tv_engine *engine, const char *line)
{
    const struct tv_engine_host *host = &engine->engines->options.host;
    if (!host->said || line[0] == '\0')
        return;
    pthread_mutex_unlock(&engine->engines->lock);
    host->said(host->context, engine->id, line);
    pthread_mutex_lock(&engine->engines->lock);
}

/* Change the state and count how engines end. Releases the lock meanwhile. */
static void supervisor_set_state(struct tv_engine *engine, enum tv_engine_state state)
{
    struct tv_engines_counts *counts = &engine->engines->counts;
    engine->state = state;
    engine->touched = tv_monotonic_ms();
    counts->failed += state == TV_ENGINE_FAILED;
    counts->died += state == TV_ENGINE_DIED && !engine->unwanted;
    supervisor_report_state(engine);
}

/* ---- Starting ---- */

/* Return the first message to a child, which holds its limits. */
static struct tv_engine_begin supervisor_make_begin(const struct tv_engines *engines)
{
    const struct tv_engines_options *options = &engines->options;
    return (struct tv_engine_begin){
        .memory_bytes = options->memory_bytes,
        .file_bytes = options->file_bytes,
        .unpacked_bytes = options->unpacked_bytes,
        .load_seconds = options->load_seconds,
        .jobs = options->jobs,
    };
}

/* Close our copies; the child has its own. */
static void supervisor_close_files(const struct tv_engine_files *files)
{
    const int all[] = {files->trace, files->index, files->new_index};
    for (size_t i = 0; i < TV_COUNT(all); i++)
        if (all[i] >= 0)
            close(all[i]);
}

/* Open the files and start the process. Runs without the lock. */
static enum tv_status supervisor_spawn_child(const struct tv_engine *engine,
                                             struct tv_engine_files *files,
                                             struct tv_spawned *child, struct tv_error *err)
{
    const struct tv_engines *engines = engine->engines;
    const struct tv_engine_host *host = &engines->options.host;
    char folder[TV_ENGINE_ID + 24];
    snprintf(folder, sizeof folder, "%s.%" PRIu64, engine->id, engine->number);
    *files = (struct tv_engine_files){-1, -1, -1, ""};
    enum tv_status status = host->open(host->context, engine->id, files, err);
    files->name[sizeof files->name - 1] = '\0';
    struct tv_spawn spawn = {
        .program = engines->program,
        .scratch = engines->scratch,
        .name = folder,
        .begin = supervisor_make_begin(engines),
        .trace = files->trace,
        .index = files->index,
        .new_index = files->new_index,
    };
    memcpy(spawn.begin.name, files->name, sizeof files->name);
    if (status == TV_OK)
        status = tv_spawn(&spawn, child, err);
    supervisor_close_files(files);
    return status;
}

/* Start the process of an engine. Somebody may end the engine while the lock is free, so that is
 * checked afterwards. */
static void supervisor_start_engine(struct tv_engine *engine)
{
    assert(engine->state == TV_ENGINE_WAITING && engine->child.pid == 0);
    struct tv_engines *engines = engine->engines;
    struct tv_engine_files files;
    struct tv_spawned child = {.socket = -1, .errors = -1};
    struct tv_error error = {0};
    engine->state = TV_ENGINE_LOADING;
    pthread_mutex_unlock(&engines->lock);
    enum tv_status status = supervisor_spawn_child(engine, &files, &child, &error);
    pthread_mutex_lock(&engines->lock);
    memcpy(engine->name, files.name, sizeof engine->name);
    engine->child = child;
    engine->owes_index = files.new_index >= 0;
    engine->cpu_limit = (int64_t)engines->options.load_seconds * NS;
    if (status == TV_OK) {
        engines->counts.started++;
        if (engine->ending) /* killed while the lock was free */
            kill(child.pid, SIGKILL);
        supervisor_report_state(engine);
        return;
    }
    engine->error = error;
    engine->ending = true;
    supervisor_set_state(engine, TV_ENGINE_FAILED);
    supervisor_report_index(engine, false);
}

/* Count children that run or are on their way out: both need memory. */
static unsigned supervisor_count_children(const struct tv_engines *engines, bool loading)
{
    unsigned count = 0;
    for (const struct tv_engine *engine = engines->first; engine; engine = engine->next)
        count += engine->child.pid != 0 && (!loading || engine->state == TV_ENGINE_LOADING);
    return count;
}

/* Return true while a killed process still has to be reaped, and its memory to be freed. */
static bool supervisor_has_dying_child(const struct tv_engines *engines)
{
    for (const struct tv_engine *engine = engines->first; engine; engine = engine->next)
        if (engine->child.pid != 0 && engine->ending)
            return true;
    return false;
}

/* Return true while an older child of the same trace exists: two would write one index. */
static bool supervisor_has_predecessor(const struct tv_engine *engine)
{
    for (const struct tv_engine *other = engine->engines->first; other; other = other->next)
        if (other != engine && other->child.pid != 0 && strcmp(other->id, engine->id) == 0)
            return true;
    return false;
}

/* Return the engine that waits longest and may start, or NULL. */
static struct tv_engine *supervisor_find_next(const struct tv_engines *engines)
{
    struct tv_engine *oldest = NULL;
    for (struct tv_engine *engine = engines->first; engine; engine = engine->next)
        if (engine->state == TV_ENGINE_WAITING && !engine->ending &&
            !supervisor_has_predecessor(engine) && (!oldest || engine->number < oldest->number))
            oldest = engine;
    return oldest;
}

/* Return true when nobody needs the engine now. One that loads, or writes its index, gets time
 * first. */
static bool supervisor_may_evict(const struct tv_engine *engine, int64_t now)
{
    if (!tv_engine_is_alive(engine) || engine->holders > 0)
        return false;
    /* an engine that writes its index will be faster the next time */
    bool is_done = engine->state == TV_ENGINE_READY && !engine->owes_index;
    return is_done || now - engine->touched > FORGOTTEN_MS;
}

/* End the engine that nobody has held for longest. */
static void supervisor_evict_idle(struct tv_engines *engines)
{
    int64_t now = tv_monotonic_ms();
    struct tv_engine *oldest = NULL;
    for (struct tv_engine *engine = engines->first; engine; engine = engine->next)
        if (supervisor_may_evict(engine, now) && (!oldest || engine->touched < oldest->touched))
            oldest = engine;
    if (!oldest)
        return;
    oldest->unwanted = true;
    tv_engine_kill(oldest, "it was ended to make room for another");
}

/* Start as many engines as the limits allow, and make room for one more when they do not. */
static void supervisor_start_waiting(struct tv_engines *engines)
{
    for (;;) {
        struct tv_engine *next = supervisor_find_next(engines);
        if (!next || engines->stop ||
            supervisor_count_children(engines, true) >= engines->options.loading)
            return;
        if (supervisor_count_children(engines, false) < engines->options.alive) {
            supervisor_start_engine(next);
            continue;
        }
        if (!supervisor_has_dying_child(engines))
            supervisor_evict_idle(engines);
        return;
    }
}

/* ---- Messages from children ---- */

/* Kill a child that used more processor time than its limit. Return true when it was killed. */
static bool supervisor_kill_if_over_time(struct tv_engine *engine)
{
    const struct tv_engines_options *options = &engine->engines->options;
    if (tv_engine_cpu_time(engine) <= engine->cpu_limit)
        return false;
    if (engine->state == TV_ENGINE_LOADING)
        tv_engine_kill(engine, "it took more than %u %s of processor time", options->load_seconds,
                       tv_plural(options->load_seconds, "second", "seconds"));
    else
        tv_engine_kill(engine, "a question took more than %u %s of processor time",
                       options->question_seconds,
                       tv_plural(options->question_seconds, "second", "seconds"));
    return true;
}

/* The CPU time for loading is over. From now on the limit is computed per question, so raise the
 * child's own limit, and note what it has used. */
static void supervisor_handle_loaded(struct tv_engine *engine,
                                     const struct tv_engine_message *message)
{
    struct rlimit limit;
    if (supervisor_kill_if_over_time(engine))
        return;
    if (prlimit(engine->child.pid, RLIMIT_CPU, NULL, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        prlimit(engine->child.pid, RLIMIT_CPU, &limit, NULL);
    }
    engine->cpu_limit =
        tv_engine_cpu_time(engine) + (int64_t)engine->engines->options.load_seconds * NS;
    engine->from_index = message->flag != 0;
    engine->was_ready = true;
    if (engine->from_index)
        supervisor_report_index(engine, false);
    supervisor_set_state(engine, TV_ENGINE_READY);
}

/* Take the error of a trace that cannot be read. The numbers in the message are checked: the child
 * may be taken over by what it reads. */
static void supervisor_handle_refused(struct tv_engine *engine,
                                      const struct tv_engine_message *message)
{
    assert(engine->state == TV_ENGINE_LOADING);
    const struct tv_engine_refused *refused = &message->refused;
    struct tv_error error = {.offset = refused->offset};
    bool known = refused->status > TV_OK && refused->status <= TV_ERR_CANCELLED;
    error.status = known ? (enum tv_status)refused->status : TV_ERR_IO;
    memcpy(error.message, refused->message, sizeof error.message);
    error.message[sizeof error.message - 1] = '\0';
    size_t length = strlen(error.message);
    error.context = message->parts < length ? message->parts : length;
    tv_engine_kill(engine, "it has ended");
    engine->error = error;
    supervisor_set_state(engine, TV_ENGINE_FAILED);
}

/* Handle a message; one that does not belong to the state ends the child. */
static void supervisor_handle_message(struct tv_engine *engine,
                                      const struct tv_engine_message *message)
{
    bool loading = engine->state == TV_ENGINE_LOADING;
    if (message->kind == TV_ENGINE_PROGRESS && loading)
        engine->progress = message->progress;
    else if (message->kind == TV_ENGINE_LOADED && loading)
        supervisor_handle_loaded(engine, message);
    else if (message->kind == TV_ENGINE_REFUSED && loading)
        supervisor_handle_refused(engine, message);
    else if (message->kind == TV_ENGINE_INDEXED && engine->owes_index)
        supervisor_report_index(engine, message->flag != 0);
    else if (message->kind != TV_ENGINE_HELLO && message->kind != TV_ENGINE_PROGRESS)
        tv_engine_kill(engine, "it broke the rules of the conversation");
}

/* Handle the messages that are there, so many at most that other children get their turn. */
static void supervisor_receive(struct tv_engine *engine)
{
    struct tv_engine_message message;
    for (int i = 0; i < TURN && !engine->ending; i++) {
        switch (tv_engine_receive(engine->child.socket, &message, NULL, NULL, NULL)) {
        case TV_GOT_MESSAGE:
            supervisor_handle_message(engine, &message);
            break;
        case TV_GOT_NOTHING:
            return;
        case TV_GOT_END:
            /* the reason was recorded before; a child that only closed its socket is killed now */
            engine->ending = true;
            kill(engine->child.pid, SIGKILL);
            return;
        }
    }
}

/* Handle a complete line of standard error. */
static void supervisor_end_line(struct tv_engine *engine)
{
    struct tv_engine_line *line = &engine->line;
    line->text[line->length] = '\0';
    line->length = 0;
    line->count++;
    line->out_of_memory |= strstr(line->text, "out of memory") != NULL;
    if (line->count <= LINES)
        supervisor_report_line(engine, line->text);
}

/* Read standard error without waiting; control characters become '?', because an administrator
 * reads the log in a terminal. */
static void supervisor_read_stderr(struct tv_engine *engine)
{
    char bytes[1024];
    struct tv_engine_line *line = &engine->line;
    ssize_t n = read(engine->child.errors, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    for (ssize_t i = 0; i < n; i++) {
        bool is_control = (unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7f;
        if (bytes[i] == '\n' || line->length == sizeof line->text - 1)
            supervisor_end_line(engine);
        if (bytes[i] != '\n')
            line->text[line->length++] = is_control ? '?' : bytes[i];
    }
    if (n > 0 && line->count < LINES)
        return;
    close(engine->child.errors);
    engine->child.errors = -1;
}

/* ---- The end of a child ---- */

/* End a child that computes for too long, or that nobody asked for long. */
static void supervisor_check_time(struct tv_engine *engine, int64_t now)
{
    const struct tv_engines_options *options = &engine->engines->options;
    if (!tv_engine_is_alive(engine) || supervisor_kill_if_over_time(engine))
        return;
    if (engine->holders == 0 && now - engine->touched > (int64_t)options->idle_seconds * 1000) {
        engine->unwanted = true;
        tv_engine_kill(engine, "it was ended, for nobody asked");
    }
}

/* Explain the end of a child that nobody killed. */
static void supervisor_explain_exit(struct tv_engine *engine, int status)
{
    struct tv_child_exit ending = {
        .status = status,
        .out_of_memory = engine->line.out_of_memory,
        .memory_bytes = engine->engines->options.memory_bytes,
        .load_seconds = engine->engines->options.load_seconds,
    };
    if (!engine->explained)
        tv_child_exit_explain(&ending, &engine->error);
}

/* Read the last words of a child that is gone, release it and set the final state. */
static void supervisor_note_exit(struct tv_engine *engine, int status)
{
    assert(engine->ending && engine->child.pid != 0);
    char line[sizeof engine->error.message + 64];
    while (engine->child.errors >= 0) {
        struct pollfd more = {.fd = engine->child.errors, .events = POLLIN};
        if (poll(&more, 1, 0) != 1)
            break;
        supervisor_read_stderr(engine);
    }
    if (engine->line.length > 0)
        supervisor_end_line(engine);
    tv_spawned_release(&engine->child);
    pthread_cond_broadcast(&engine->engines->changed);
    if (engine->state != TV_ENGINE_FAILED) {
        supervisor_explain_exit(engine, status);
        snprintf(line, sizeof line, "the process that read the trace has ended: %s",
                 engine->error.message);
        supervisor_set_state(engine, TV_ENGINE_DIED);
        if (!engine->unwanted)
            supervisor_report_line(engine, line);
    }
    supervisor_report_index(engine, false);
}

/* Reap a child that has ended; one that has not is looked at again in the next turn. */
static void supervisor_reap(struct tv_engine *engine)
{
    int status = 0;
    pid_t pid = engine->child.pid;
    if (pid == 0 || !engine->ending)
        return;
    pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return;
    supervisor_note_exit(engine, got == pid ? status : 0);
}

/* Return true when nobody will look at the engine again. */
static bool supervisor_is_obsolete(const struct tv_engine *engine, int64_t now)
{
    if (engine->child.pid != 0 || engine->holders > 0)
        return false;
    int64_t idle = (int64_t)engine->engines->options.idle_seconds * 1000;
    bool failed = engine->state == TV_ENGINE_FAILED || engine->state == TV_ENGINE_DIED;
    return engine->left || (failed && (engine->was_ready || engine->unwanted)) ||
           now - engine->touched > idle;
}

/* Free the engines that nobody will look at again. */
static void supervisor_sweep(struct tv_engines *engines)
{
    int64_t now = tv_monotonic_ms();
    struct tv_engine **link = &engines->first;
    while (*link) {
        struct tv_engine *engine = *link;
        if (!supervisor_is_obsolete(engine, now)) {
            link = &engine->next;
            continue;
        }
        *link = engine->next;
        tv_free(engine);
    }
}

/* Start the first child, which only reports the layers of its sandbox. */
static void supervisor_probe_sandbox(struct tv_engines *engines)
{
    struct tv_spawn spawn = {.program = engines->program,
                             .scratch = engines->scratch,
                             .name = "first",
                             .begin = supervisor_make_begin(engines),
                             .trace = -1,
                             .index = -1,
                             .new_index = -1};
    struct tv_spawned child;
    struct tv_engine_message message;
    spawn.begin.only_hello = true;
    if (tv_spawn(&spawn, &child, &engines->error) != TV_OK)
        return;
    enum tv_engine_got got = TV_GOT_NOTHING;
    while (got == TV_GOT_NOTHING) {
        struct pollfd wait = {.fd = child.socket, .events = POLLIN};
        if (poll(&wait, 1, PROBE_MS) == 0)
            break;
        got = tv_engine_receive(child.socket, &message, NULL, NULL, NULL);
    }
    if (got == TV_GOT_MESSAGE && message.kind == TV_ENGINE_HELLO)
        engines->sandbox =
            message.parts & (TV_SANDBOX_LIMITS | TV_SANDBOX_SECCOMP | TV_SANDBOX_LANDLOCK);
    else
        tv_fail(&engines->error, TV_ERR_IO, TV_NO_OFFSET,
                "the process that is to read traces does not start");
    kill(child.pid, SIGKILL);
    (void)tv_program_wait(child.pid, NULL);
    tv_spawned_release(&child);
}

/* ---- The loop ---- */

/* Collect what to wait for: the wake-up pipe, and two descriptors of each child. */
static size_t supervisor_gather_polls(const struct tv_engines *engines, struct pollfd **waits,
                                      size_t *capacity)
{
    size_t count = 0;
    *waits = tv_array_reserve(*waits, capacity, 1, sizeof **waits);
    (*waits)[count++] = (struct pollfd){.fd = engines->wake[0], .events = POLLIN};
    for (const struct tv_engine *engine = engines->first; engine; engine = engine->next) {
        if (engine->child.pid == 0)
            continue;
        *waits = tv_array_reserve(*waits, capacity, count + 2, sizeof **waits);
        /* a socket at its end would be readable until the process is gone */
        (*waits)[count++] =
            (struct pollfd){.fd = engine->ending ? -1 : engine->child.socket, .events = POLLIN};
        (*waits)[count++] = (struct pollfd){.fd = engine->child.errors, .events = POLLIN};
    }
    return count;
}

/* Return how long to poll: for ever while there is no child. */
static int supervisor_poll_timeout(const struct tv_engines *engines)
{
    if (supervisor_has_dying_child(engines))
        return ENDING_MS;
    return engines->first ? TICK_MS : -1;
}

/* Look at every child once. */
static void supervisor_serve_children(struct tv_engines *engines)
{
    int64_t now = tv_monotonic_ms();
    for (struct tv_engine *engine = engines->first; engine; engine = engine->next) {
        if (engine->child.pid == 0)
            continue;
        if (engine->child.errors >= 0)
            supervisor_read_stderr(engine);
        if (!engine->ending)
            supervisor_receive(engine);
        supervisor_check_time(engine, now);
        supervisor_reap(engine);
    }
}

/* End all children, because the server ends. */
static void supervisor_kill_all(struct tv_engines *engines)
{
    for (struct tv_engine *engine = engines->first; engine; engine = engine->next) {
        engine->left = true;
        engine->unwanted = true;
        tv_engine_kill(engine, "the server ends");
    }
}

/* Poll without the lock, and empty the wake-up pipe. */
static void supervisor_wait(struct tv_engines *engines, struct pollfd **waits, size_t *capacity)
{
    char drop[64];
    size_t count = supervisor_gather_polls(engines, waits, capacity);
    int timeout = supervisor_poll_timeout(engines);
    pthread_mutex_unlock(&engines->lock);
    poll(*waits, (nfds_t)count, timeout);
    while (read(engines->wake[0], drop, sizeof drop) > 0)
        ;
    pthread_mutex_lock(&engines->lock);
}

void *tv_engine_supervise(void *context)
{
    struct tv_engines *engines = context;
    struct pollfd *waits = NULL;
    size_t capacity = 0;
    pthread_mutex_lock(&engines->lock);
    supervisor_probe_sandbox(engines);
    engines->probed = true;
    pthread_cond_broadcast(&engines->changed);
    while (!engines->stop || engines->first) {
        if (engines->stop)
            supervisor_kill_all(engines);
        supervisor_sweep(engines);
        supervisor_start_waiting(engines);
        if (engines->stop && !engines->first)
            break;
        supervisor_wait(engines, &waits, &capacity);
        supervisor_serve_children(engines);
    }
    pthread_mutex_unlock(&engines->lock);
    tv_free(waits);
    return NULL;
}

/* Explain the end by the memory limit, in GiB or MiB. */
static void child_exit_explain_memory(const struct tv_child_exit *ending, struct tv_error *error)
{
    double mega = (double)ending->memory_bytes / (1 << 20);
    if (mega >= 1024)
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "it needed more memory than its limit of %.1f GiB", mega / 1024);
    else
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "it needed more memory than its limit of %.0f MiB", mega);
}

/* Explain the end by a signal. */
static void child_exit_explain_signal(const struct tv_child_exit *ending, int number,
                                      struct tv_error *error)
{
    switch (number) {
    case SIGKILL:
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "ended by signal 9 (killed): the machine may have run out of memory");
        break;
    case SIGXCPU:
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET, "it took more than %u seconds of processor time",
                ending->load_seconds);
        break;
    case SIGSYS:
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "ended by signal %d: it tried what the sandbox forbids", number);
        break;
    default:
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "ended by signal %d (%s), which is a fault of this program", number,
                strsignal(number));
        break;
    }
}

void tv_child_exit_explain(const struct tv_child_exit *ending, struct tv_error *error)
{
    if (ending->out_of_memory)
        child_exit_explain_memory(ending, error);
    else if (WIFSIGNALED(ending->status))
        child_exit_explain_signal(ending, WTERMSIG(ending->status), error);
    else
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET, "ended with code %d before its time",
                WEXITSTATUS(ending->status));
}
