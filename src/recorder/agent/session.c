/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - start and stop of what the options say.  See agent.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/paths.h"
#include "recorder/recording.h"

static struct {
    pthread_mutex_t lock;
    atomic_bool active;
    bool tracing;
    bool counting; /* allocations */
    bool looks;    /* traces by looking at stacks now and then */
    bool sampling;
    unsigned number; /* of recordings so far */
    struct tv_agent_paths paths;
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The recorder has lines, as names of native functions have colons. */
static const char *session_patterns_to_lines(char *patterns)
{
    for (char *at = patterns; at && (at = strchr(at, ':')) != NULL;)
        *at = '\n';
    return patterns;
}

static bool session_stop_after_slow(void *unused);

/* What is recorded into session.paths.trace: every call, or what is seen of them now and then. */
static int session_start_trace(const struct tv_agent_trace *wanted)
{
    const struct tv_agent_options *options = &tv_agent.options;
    struct tv_recording_options recording = {
        .path = session.paths.trace,
        .spool = options->spool,
        .vm = tv_agent.is_art ? "art" : "jvm",
        .buffer_bytes = wanted->buffer_bytes,
        .clock = (enum tv_recording_clock)options->clock,
        .full = (enum tv_recording_full)options->full,
        .grows = wanted->grows,
        .least_ns = wanted->least_us * 1000,
        .trigger = session_patterns_to_lines(options->trigger),
        .slow = session_patterns_to_lines(options->slow),
        .slow_ns = options->limit_us * 1000,
        .stop = session_stop_after_slow,
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
        tv_agent_say("allocations are not counted: %s", tv_agent_heap_is_sampled()
                                                            ? "they are being sampled"
                                                            : "this machine cannot tell");
    return 0;
}

/* The spool may be gone since the options were read. */
static void session_report_error(int error)
{
    const char *spool = tv_agent.options.spool;
    bool at_spool = spool != NULL && tv_agent_paths_check_folder(spool) != 0;
    tv_agent_say("%s: %s", at_spool ? spool : session.paths.trace, tv_recording_error(error));
}

static void session_start_tracing(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    int error = session_start_trace(&(struct tv_agent_trace){
        .path = session.paths.trace,
        .buffer_bytes = options->buffer,
        .grows = options->grow,
        .least_us = options->least_us,
        .count_allocs = options->alloc.on && !tv_agent_options_sample_allocations(options),
    });
    if (error != 0)
        session_report_error(error);
}

static void session_start_all(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    if (!tv_agent_paths_choose(options, ++session.number, &session.paths)) {
        tv_agent_say("%s: the name is too long", options->file);
        return;
    }
    if (options->mode != TV_AGENT_SAMPLE)
        session_start_tracing();
    if (options->mode != TV_AGENT_TRACE)
        session.sampling = tv_agent_sampling_start(session.paths.samples);
    atomic_store(&session.active, session.tracing || session.sampling);
}

void tv_agent_session_start(void)
{
    pthread_mutex_lock(&session.lock);
    if (!atomic_load(&session.active) && atomic_load(&tv_agent.live))
        session_start_all();
    pthread_mutex_unlock(&session.lock);
}

static int session_stop_trace(struct tv_recording_info *info)
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
    if (!tv_agent.uses_events)
        tv_recording_set_left_out(tv_agent_tracing_lacking());
    return tv_recording_stop(info);
}

static void session_stop_tracing(void)
{
    struct tv_recording_info info = {0};
    int error = session_stop_trace(&info);
    if (!session.looks && !tv_agent.uses_events)
        tv_agent_tracing_say_lacking();
    /* Of a recording of every call, it has been said. */
    if (error != 0 && session.looks)
        tv_agent_say("%s: %s", session.paths.trace, tv_recording_error(error));
    else if (error == 0 && tv_agent.options.verbose && !session.looks)
        tv_agent_say("%s: %llu records of %u threads, %llu dropped%s", session.paths.trace,
                     (unsigned long long)info.records, info.threads,
                     (unsigned long long)info.dropped, info.overflow ? ", overflow" : "");
}

/* The machine's death stops by itself. */
static bool session_stop_after_slow(void *unused)
{
    (void)unused;
    if (atomic_load(&tv_agent.dying))
        return true;
    if (pthread_mutex_trylock(&session.lock) != 0)
        return false;
    if (session.tracing && !session.looks) {
        session_stop_tracing();
        atomic_store(&session.active, session.sampling);
    }
    pthread_mutex_unlock(&session.lock);
    return true;
}

static void session_stop_sampling(void)
{
    session.sampling = false;
    tv_agent_sampling_stop(session.paths.samples);
}

void tv_agent_session_stop(void)
{
    pthread_mutex_lock(&session.lock);
    if (atomic_load(&session.active)) {
        if (session.sampling)
            session_stop_sampling();
        if (session.tracing)
            session_stop_tracing();
        atomic_store(&session.active, false);
    }
    pthread_mutex_unlock(&session.lock);
}

static int session_start_asked(const struct tv_agent_trace *wanted)
{
    if (session.tracing)
        return -EBUSY;
    if (!atomic_load(&tv_agent.live))
        return -ESHUTDOWN;
    int length = snprintf(session.paths.trace, sizeof session.paths.trace, "%s", wanted->path);
    if (length < 0 || (size_t)length >= sizeof session.paths.trace)
        return -ENAMETOOLONG;
    int error = session_start_trace(wanted);
    if (error == 0)
        atomic_store(&session.active, true);
    return error;
}

int tv_agent_session_start_trace(const struct tv_agent_trace *wanted)
{
    pthread_mutex_lock(&session.lock);
    int error = session_start_asked(wanted);
    pthread_mutex_unlock(&session.lock);
    return error;
}

int tv_agent_session_stop_trace(void)
{
    int error = -ENOENT;
    struct tv_recording_info info;
    pthread_mutex_lock(&session.lock);
    if (session.tracing) {
        error = session_stop_trace(&info);
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
