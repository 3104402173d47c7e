/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - start and stop of a recording, and the profiler that the options ask for.
 *
 * A session traces calls (every call, or reconstructed from samples), samples stacks, or does both.
 * All starts and stops come here: VMInit and VMDeath, control requests, Java code, and the end of
 * an attached recording.
 *
 *     mode=trace     calls into the trace: of rewritten classes, of events of the JVM, or
 *                    (session.looks) as far as sampled stacks show them
 *     mode=sample    stacks into the profiler
 *     mode=both      both, each with a file of its own
 *
 * Each recording has a number, which is part of its file name from the second one on: a control
 * may start and stop as often as it likes, and never overwrites an earlier recording of this
 * process.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/options.h"
#include "recorder/agent/profiler.h"
#include "recorder/output_file.h"
#include "recorder/recording.h"

static struct {
    pthread_mutex_t lock;
    atomic_bool active;
    bool tracing;
    bool counting; /* allocations */
    bool looks;    /* the trace is reconstructed from sampled stacks */
    bool sampling;
    unsigned number; /* number of recordings so far; part of the file name from the second on */
    struct tv_agent_paths paths;
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Replace colons by newlines: the recorder separates patterns by lines, since names of native
 * functions contain colons. */
static const char *session_patterns_to_lines(char *patterns)
{
    for (char *at = patterns; at && (at = strchr(at, ':')) != NULL;)
        *at = '\n';
    return patterns;
}

static bool session_stop_after_slow(void *unused);

/* Start the trace in session.paths.trace: of every call, or from sampled stacks. */
static int session_start_trace(const struct tv_agent_trace *wanted)
{
    assert(!session.tracing);
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
        tv_agent_say("calls are not recorded: the JVM refuses events of method entry and exit");
    session.counting = wanted->count_allocs && tv_agent_allocations_begin();
    if (wanted->count_allocs && !session.counting)
        tv_agent_say("allocations are not counted: %s", tv_agent_heap_is_sampled()
                                                            ? "they are being sampled"
                                                            : "this JVM does not report them");
    return 0;
}

/* Print why the trace could not start. The spool directory may have been removed since its check.
 */
static void session_report_error(int error)
{
    const char *spool = tv_agent.options.spool;
    bool at_spool = spool != NULL && tv_agent_paths_check_folder(spool) != 0;
    tv_agent_say("%s: %s", at_spool ? spool : session.paths.trace, tv_recording_error(error));
}

/* Start the trace that the options ask for. */
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

/* Start what the mode of the options asks for.  Calls and samples are independent: when one cannot
 * start, the other still does. */
static void session_start_all(void)
{
    assert(!atomic_load(&session.active));
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

/* Stop the trace and write its file.  0 or an error number below 0. */
static int session_stop_trace(struct tv_recording_info *info)
{
    assert(session.tracing);
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

/* Stop the trace, and print what the user must know about it. */
static void session_stop_tracing(void)
{
    struct tv_recording_info info = {0};
    int error = session_stop_trace(&info);
    if (!session.looks && !tv_agent.uses_events)
        tv_agent_tracing_say_lacking();
    /* The recorder itself has printed the errors of other traces. */
    if (error != 0 && session.looks)
        tv_agent_say("%s: %s", session.paths.trace, tv_recording_error(error));
    else if (error == 0 && tv_agent.options.verbose && !session.looks)
        tv_agent_say("%s: %llu records of %u threads, %llu dropped%s", session.paths.trace,
                     (unsigned long long)info.records, info.threads,
                     (unsigned long long)info.dropped, info.overflow ? ", overflow" : "");
}

/* Callback for slow calls: stop the trace. Return false to be called again, when the session is
 * busy. VMDeath stops the trace anyway. */
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
    assert(session.sampling);
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

/* Start a trace for Java code, in the file that it names. */
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

/* ---- the profiler of the options ---- */

#define BILLION 1000000000
#define THOUSAND 1000

/* One profiler for all recordings, so samples accumulate. */
static struct tv_profiler *profiler;

/* Event callbacks hold this lock for reading; start and end of a recording take it for writing. */
static struct {
    pthread_rwlock_t lock;
    struct tv_profiler *profiler; /* NULL: no recording wants events */
} listening = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* The calling thread works for the agent: its allocations and waits are not the program's. */
static __thread bool is_busy __attribute__((tls_model("initial-exec")));

struct tv_profiler *tv_agent_sampling_hold(void)
{
    if (is_busy)
        return NULL;
    pthread_rwlock_rdlock(&listening.lock);
    if (listening.profiler == NULL)
        pthread_rwlock_unlock(&listening.lock);
    is_busy = listening.profiler != NULL;
    return listening.profiler;
}

void tv_agent_sampling_release(void)
{
    is_busy = false;
    pthread_rwlock_unlock(&listening.lock);
}

/* Let callbacks have the profiler, or with NULL wait for those that have it and let no more. */
static void sampling_enable_thread_events(struct tv_profiler *to)
{
    pthread_rwlock_wrlock(&listening.lock);
    listening.profiler = to;
    pthread_rwlock_unlock(&listening.lock);
}

/* The output file of the recording under way. */
static struct {
    FILE *file;
    char path[TV_AGENT_PATH];
    char part[TV_AGENT_PATH + sizeof ".part"];
} output;

bool tv_agent_wants_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    return tv_agent_thread_matches(jni, thread, tv_agent.options.threads);
}

/* Return the profiler, newly made at the first recording; NULL: no memory. */
static struct tv_profiler *sampling_new_profiler(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    JNIEnv *jni = NULL; /* needed only for a ThreadSet, which this profiler has not */
    if (profiler == NULL)
        profiler = tv_profiler_new(jni, &(struct tv_profiler_options){
                                            .pattern = options->threads,
                                            .depth = (int64_t)options->depth,
                                            .keeps_root = true,
                                            .keeps_times = options->format == TV_SAMPLES_EVENTS,
                                            .state = options->state,
                                        });
    return profiler;
}

void tv_agent_sampling_renew(void)
{
    if (profiler != NULL)
        tv_profiler_free(profiler);
    profiler = NULL;
}

/* Stop the events of allocations and locks.  When this returns, no callback uses the profiler;
 * waits that are still open end here. */
static void sampling_disable_thread_events(void)
{
    tv_agent_heap_end();
    tv_agent_locks_end();
    sampling_enable_thread_events(NULL);
    tv_profiler_end_locks(profiler);
}

/* Open the output file. If the path is a symbolic link, use its target. */
static int sampling_open_file(const char *path)
{
    int error = tv_output_file_check_path(path);
    if (error != 0)
        return error;
    if (realpath(path, output.path) == NULL)
        snprintf(output.path, sizeof output.path, "%s", path);
    snprintf(output.part, sizeof output.part, "%s.part", output.path);
    output.file = fopen(output.part, "we");
    return output.file == NULL ? -errno : 0;
}

/* Start the events and the ticker that the options ask for.  After an error nothing runs. */
static int sampling_start_profiler(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    bool allocations = tv_agent_options_sample_allocations(options);
    bool locks = tv_agent_options_record_locks(options);
    int error = 0;
    if (allocations || locks) {
        tv_profiler_set_events(profiler, allocations ? options->alloc.number : 0,
                               locks ? options->lock.number * THOUSAND : 0);
        sampling_enable_thread_events(profiler);
    }
    if (allocations)
        (void)tv_agent_heap_begin();
    if (locks)
        tv_agent_locks_begin();
    if (tv_agent_options_tick(options))
        error = tv_profiler_start(profiler, options->interval_us > 0
                                                ? (int64_t)options->interval_us * THOUSAND
                                                : BILLION / (int64_t)options->rate);
    if (error != 0)
        sampling_disable_thread_events();
    return error;
}

bool tv_agent_sampling_start(const char *path)
{
    int error = sampling_open_file(path);
    if (error != 0) {
        tv_agent_say("%s: %s", path, tv_recording_error(error));
        return false;
    }
    error = sampling_new_profiler() == NULL ? -ENOMEM : sampling_start_profiler();
    if (error == 0)
        return true;
    tv_agent_say("no thread for the sampler: %s", strerror(-error));
    (void)tv_output_stream_publish(output.file, error, output.part, output.path);
    return false;
}

/* Print how many samples are inexact, but only if they are at least 1 of TOLD_FROM. */
#define TOLD_FROM 100u

/* Print what a reader of the samples must know, and with verbose=y everything that was counted. */
static void sampling_report_counts(const char *path, const struct tv_profiler_counts *counts)
{
    const struct tv_agent_stack_counts *stacks = &counts->stacks;
    uint64_t failed = stacks->at_safepoints + stacks->lost;
    if (counts->short_locks > 0)
        tv_agent_say("%s: %" PRIu64 " waits for locks of less than %" PRIu64 " us are left out",
                     path, counts->short_locks, tv_agent.options.lock.number);
    if (counts->dropped > 0)
        tv_agent_say("%s: there was no room for %" PRIu64 " more allocations and waits for locks",
                     path, counts->dropped);
    if (tv_agent.options.verbose)
        tv_agent_say("%s: %" PRIu64 " allocations, %" PRIu64 " waits for locks (%" PRIu64
                     " without a question for the owner)",
                     path, counts->allocations, counts->locks, counts->unasked_owners);
    if (tv_agent.options.verbose)
        tv_agent_say("%s: %llu samples (%llu within machine code, counted for its caller), "
                     "%llu ticks left out, %llu times a thread got no processor",
                     path, (unsigned long long)counts->samples,
                     (unsigned long long)stacks->of_callers, (unsigned long long)counts->late,
                     (unsigned long long)stacks->missing);
    if (failed > 0 && (tv_agent.options.verbose || failed * TOLD_FROM >= counts->samples))
        tv_agent_say(
            "%s: the JVM knew no stack for %llu of %llu samples: %llu show the next safepoint "
            "instead, %llu have no stack",
            path, (unsigned long long)failed, (unsigned long long)counts->samples,
            (unsigned long long)stacks->at_safepoints, (unsigned long long)stacks->lost);
}

void tv_agent_sampling_stop(const char *path)
{
    struct tv_profiler_counts counts = {0};
    tv_profiler_stop(profiler);
    sampling_disable_thread_events();
    int error = tv_profiler_write(profiler, (enum tv_samples_form)tv_agent.options.format,
                                  output.file, &counts);
    error = tv_output_stream_publish(output.file, error, output.part, output.path);
    if (error != 0)
        tv_agent_say("%s: could not be written: %s", path, strerror(-error));
    else
        sampling_report_counts(path, &counts);
}
