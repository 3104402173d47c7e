/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - start and stop of what the options say.  See agent.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recorder/agent/agent.h"
#include "recorder/recording.h"

#define LONGEST_PATH 4096

static struct {
    pthread_mutex_t lock;
    atomic_bool active;
    bool tracing;
    bool counting; /* allocations */
    bool looks;    /* traces by looking at stacks now and then */
    bool sampling;
    unsigned number; /* of recordings so far */
    char trace[LONGEST_PATH];
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Puts `text` at *at, which it moves. */
static void append(char *path, size_t room, size_t *at, const char *text)
{
    size_t length = strlen(text);
    if (*at + length < room)
        memcpy(path + *at, text, length + 1);
    *at += length;
}

static size_t expand(char *path, size_t room, const char *pattern)
{
    size_t at = 0;
    path[0] = '\0';
    for (; *pattern != '\0'; pattern++) {
        char text[24] = {*pattern};
        bool special = pattern[0] == '%' && pattern[1] != '\0' && strchr("pt%", pattern[1]);
        if (special && pattern[1] == 'p')
            snprintf(text, sizeof text, "%ld", (long)getpid());
        else if (special && pattern[1] == 't')
            snprintf(text, sizeof text, "%lld", (long long)time(NULL));
        pattern += special;
        append(path, room, &at, text);
    }
    return at;
}

/* "-2" before the ending of the name. */
static bool number_path(char *path, size_t room, unsigned number)
{
    char text[16], ending[LONGEST_PATH];
    const char *name = strrchr(path, '/');
    char *dot = strrchr(name == NULL ? path : name, '.');
    size_t length = strlen(path), at = dot == NULL ? length : (size_t)(dot - path);
    snprintf(text, sizeof text, "-%u", number);
    if (length + strlen(text) >= room || length - at >= sizeof ending)
        return false;
    memcpy(ending, path + at, length - at + 1);
    append(path, room, &at, text);
    append(path, room, &at, ending);
    return true;
}

bool tv_agent_path(char *path, size_t room, const char *pattern, unsigned number)
{
    for (unsigned try = number;; try++) {
        if (expand(path, room, pattern) >= room || (try > 1 && !number_path(path, room, try)))
            return false;
        if (tv_agent.options.force || access(path, F_OK) != 0)
            return true;
    }
}

/* What is recorded into session.trace: every call, or what is seen of them now and then. */
static int start_trace(const struct tv_agent_trace *wanted)
{
    const struct tv_agent_options *options = &tv_agent.options;
    struct tv_recording_options recording = {
        .path = session.trace,
        .spool = options->spool,
        .vm = tv_agent.is_art ? "art" : "jvm",
        .buffer_bytes = wanted->buffer_bytes,
        .clock = (enum tv_recording_clock)options->clock,
        .full = (enum tv_recording_full)options->full,
        .quiet = options->quiet,
        .drop_orphans = !options->orphans,
    };
    session.looks = wanted->interval_us > 0;
    if (!session.looks)
        tv_agent_hooks_name_threads();
    int error = session.looks ? tv_agent_sampled_start(wanted) : tv_recording_start(&recording);
    session.tracing = error == 0;
    if (error != 0 || session.looks)
        return error;
    if (tv_agent.uses_events && !tv_agent_events_start())
        tv_agent_say("the machine refuses events of calls");
    session.counting = wanted->count_allocs && tv_agent_allocations_begin();
    if (wanted->count_allocs && !session.counting)
        tv_agent_say("allocations are not counted: this machine cannot tell");
    return 0;
}

static void start_tracing(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    const char *pattern = options->file == NULL ? "dmtrace.trace" : options->file;
    if (!tv_agent_path(session.trace, sizeof session.trace, pattern, session.number)) {
        tv_agent_say("%s: the name is too long", pattern);
        return;
    }
    int error = start_trace(&(struct tv_agent_trace){
        .path = session.trace,
        .buffer_bytes = options->buffer,
        .count_allocs = options->alloc,
    });
    if (error != 0)
        tv_agent_say("%s: %s", session.trace, tv_recording_error(error));
}

void tv_agent_session_start(void)
{
    unsigned mode = tv_agent.options.mode;
    pthread_mutex_lock(&session.lock);
    if (!atomic_load(&session.active) && atomic_load(&tv_agent.live)) {
        session.number++;
        if (mode != TV_AGENT_SAMPLE)
            start_tracing();
        if (mode != TV_AGENT_TRACE)
            session.sampling = tv_agent_sampling_start();
        atomic_store(&session.active, session.tracing || session.sampling);
    }
    pthread_mutex_unlock(&session.lock);
}

static int stop_trace(struct tv_recording_info *info)
{
    session.tracing = false;
    if (session.looks)
        return tv_agent_sampled_stop();
    tv_agent_events_stop();
    if (session.counting) {
        struct tv_recording_allocations counted = tv_agent_allocations_end();
        tv_recording_set_allocations(&counted);
    }
    session.counting = false;
    return tv_recording_stop(info);
}

static void stop_tracing(void)
{
    struct tv_recording_info info = {0};
    int error = stop_trace(&info);
    /* Of a recording of every call, it has been said. */
    if (error != 0 && session.looks)
        tv_agent_say("%s: %s", session.trace, tv_recording_error(error));
    else if (error == 0 && tv_agent.options.verbose && !session.looks)
        tv_agent_say("%s: %llu records of %u threads, %llu dropped%s", session.trace,
                     (unsigned long long)info.records, info.threads,
                     (unsigned long long)info.dropped, info.overflow ? ", overflow" : "");
}

/* Beside a trace, the samples have its name with another ending. */
static void stop_sampling(void)
{
    char path[LONGEST_PATH];
    const struct tv_agent_options *options = &tv_agent.options;
    const char *pattern = options->file;
    char beside[LONGEST_PATH];
    session.sampling = false;
    if (pattern == NULL || options->mode == TV_AGENT_BOTH) {
        const char *name = pattern == NULL ? "java" : pattern;
        snprintf(beside, sizeof beside, "%s.hprof%s", name,
                 options->format == TV_AGENT_FORMAT_BINARY ? "" : ".txt");
        pattern = beside;
    }
    /* Samples add up over starts, so the last file holds all. */
    if (tv_agent_path(path, sizeof path, pattern, 1))
        tv_agent_sampling_stop(path);
}

void tv_agent_session_stop(void)
{
    pthread_mutex_lock(&session.lock);
    if (atomic_load(&session.active)) {
        if (session.sampling)
            stop_sampling();
        if (session.tracing)
            stop_tracing();
        atomic_store(&session.active, false);
    }
    pthread_mutex_unlock(&session.lock);
}

static int start_asked(const struct tv_agent_trace *wanted)
{
    if (session.tracing)
        return -EBUSY;
    if (!atomic_load(&tv_agent.live))
        return -ESHUTDOWN;
    int length = snprintf(session.trace, sizeof session.trace, "%s", wanted->path);
    if (length < 0 || (size_t)length >= sizeof session.trace)
        return -ENAMETOOLONG;
    int error = start_trace(wanted);
    if (error == 0)
        atomic_store(&session.active, true);
    return error;
}

int tv_agent_session_start_trace(const struct tv_agent_trace *wanted)
{
    pthread_mutex_lock(&session.lock);
    int error = start_asked(wanted);
    pthread_mutex_unlock(&session.lock);
    return error;
}

int tv_agent_session_stop_trace(void)
{
    int error = -ENOENT;
    struct tv_recording_info info;
    pthread_mutex_lock(&session.lock);
    if (session.tracing) {
        error = stop_trace(&info);
        atomic_store(&session.active, session.sampling);
    }
    pthread_mutex_unlock(&session.lock);
    return error;
}

void tv_agent_session_renew(void)
{
    pthread_mutex_lock(&session.lock);
    session.number = 0;
    tv_agent_sampling_renew();
    pthread_mutex_unlock(&session.lock);
}

bool tv_agent_session_active(void)
{
    return atomic_load(&session.active);
}
