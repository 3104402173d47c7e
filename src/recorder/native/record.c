/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - the entry points of libtraceview-record.
 *
 *     __cyg_profile_func_enter, _exit   the compiler's hooks         -> fast path
 *     tvrec_*                           calls by hand, the sampler   (traceview_record.h)
 *     dlclose, signal, sigaction        wrappers of the C library
 *     constructor                       starts what the environment asks for
 *
 * The library is preloaded into a program that knows nothing of it.  It must not change what the
 * program sees: functions of the C library that it replaces keep their results and errno, and what
 * it calls itself is not recorded (tv_recorder_inside).
 *
 * Names are looked up late, when the trace is written.  Only what would be lost before (a module
 * that is unloaded, a process that dies) is written down at once, in the spool's file of names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/fast_path.h"
#include "recorder/native/modules.h"
#include "recorder/native/sampler.h"
#include "recorder/native/traceview_record.h"
#include "recorder/recording.h"
#include "recorder/state.h"
#include "recorder/triggers.h"

/*
 * signal and sigaction in a recorded program.
 *
 * A program may restore a deadly signal's default to end itself with it, in its own handler (as the
 * C library's manual advises) or before it starts a child.  The file must be written then too.  So
 * the recorder's handler takes the place of the default, and the program never sees that.
 */

/* Sanitizers have their own wrappers. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#endif

#ifdef HAS_SANITIZER

/* Find the real sigaction. */
static void signal_wrappers_init(void)
{
}

#else

static void signal_wrappers_init(void)
{
    void *symbol = dlsym(RTLD_NEXT, "sigaction");
    memcpy(&tv_recorder.host.sigaction, &symbol, sizeof symbol);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction changed;
    if (!tv_recorder.host.sigaction)
        signal_wrappers_init();
    if (!tv_recorder.host.sigaction) {
        errno = ENOSYS;
        return -1;
    }
    if (action) {
        changed = *action;
        tv_watcher_replace_default(number, &changed);
    }
    int failed = tv_recorder.host.sigaction(number, action ? &changed : NULL, before);
    if (failed == 0 && before)
        tv_watcher_hide_handler(before);
    return failed;
}

/* The semantics of BSD and of the C library. */
void (*signal(int number, void (*handler)(int)))(int)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

#endif

/* The compiler's hooks at the beginning and end of every function, and dlclose. */
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
int dlclose(void *handle);

void __cyg_profile_func_enter(void *function, void *site)
{
    tv_fast_enter(tv_fast_word(function),
                  tv_fast_key((uintptr_t)__builtin_frame_address(0), (uintptr_t)site));
}

void __cyg_profile_func_exit(void *function, void *site)
{
    tv_fast_leave(tv_fast_word(function) | TV_MT_EXIT, (uintptr_t)__builtin_frame_address(0),
                  __builtin_return_address(0) == site);
}

/* The options of both interfaces have the same values. */
_Static_assert((int)TVREC_CLOCK_DUAL == (int)TV_RECORDING_DUAL &&
                   (int)TVREC_FULL_STREAM == (int)TV_RECORDING_STREAM &&
                   (int)TVREC_FAILED == (int)TV_RECORDING_FAILED,
               "one list of values");

static struct {
    void (*notify)(enum tvrec_notice what, void *arg);
    void *arg;
} listener;

/* Pass a notice on to the program (a callback); both interfaces have the same values. */
static void record_forward_notice(enum tv_recording_notice notice, void *unused)
{
    (void)unused;
    listener.notify((enum tvrec_notice)notice, listener.arg);
}

/* Write the list of modules to the spool's file of names, so that addresses in a recovered trace
 * have names. */
static void record_write_modules(void)
{
    sigset_t before;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    if (tv_recorder.methods.names)
        tv_modules_write_names(tv_recorder.methods.names);
    tv_recorder_check_names_file();
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
}

/* Register fork handlers so that the modules' locks are taken after the core's, as everywhere,
 * and that the modules are written in a child after the core has started there. */
static pthread_once_t fork_before = PTHREAD_ONCE_INIT, fork_after = PTHREAD_ONCE_INIT;

/* Hold the locks of the modules during a fork. */
static void record_lock_modules_at_forks(void)
{
    pthread_atfork(tv_modules_before_fork, tv_modules_after_fork, tv_modules_after_fork);
}

/* Write the modules into the names file of a child. */
static void record_write_modules_in_children(void)
{
    pthread_atfork(NULL, NULL, record_write_modules);
}

/* Start a recording.  The modules are listed first: the first record may already need one. */
static int record_start(const struct tv_recording_options *options)
{
    signal_wrappers_init();
    tv_recorder_inside++;
    tv_modules_refresh();
    tv_recorder_inside--;
    tv_recorder.host.key = tv_modules_key;
    tv_recorder.host.namer = tv_modules_name;
    tv_recorder.host.find_functions = tv_modules_find_functions;
    pthread_once(&fork_before, record_lock_modules_at_forks);
    int failed = tv_recording_start(options);
    record_write_modules();
    pthread_once(&fork_after, record_write_modules_in_children);
    return failed;
}

/* List the modules again, around dlclose: the functions of a module are named before it goes, and
 * another one may be loaded in its place. */
static void record_refresh_modules(void)
{
    if (!tv_recording_active())
        return;
    tv_recorder_inside++;
    tv_modules_refresh();
    tv_recorder_inside--;
    record_write_modules();
}

/* Forget which functions the filters chose: other code may come to their addresses. */
static void record_reset_filter(void)
{
    sigset_t before;
    if (!tv_recording_active())
        return;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    tv_method_filter_reset();
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
}

int dlclose(void *handle)
{
    int (*original)(void *);
    void *symbol = dlsym(RTLD_NEXT, "dlclose");
    memcpy(&original, &symbol, sizeof original);
    record_refresh_modules();
    int failed = original ? original(handle) : -1;
    record_refresh_modules();
    record_reset_filter();
    return failed;
}

int tvrec_start(const struct tvrec_options *options)
{
    if (!options || options->size < sizeof *options)
        return -EINVAL;
    struct tv_recording_options core = {
        .path = options->path,
        .spool = options->spool_dir,
        .vm = "native",
        .buffer_bytes = options->buffer_bytes,
        .clock = (enum tv_recording_clock)options->clock,
        .full = (enum tv_recording_full)options->full,
        .quiet = options->quiet != 0,
        .finish_at_end = true,
        .follow_forks = options->follow_forks != 0,
        .notify = options->notify ? record_forward_notice : NULL,
    };
    if ((unsigned)options->clock > TVREC_CLOCK_DUAL || (unsigned)options->full > TVREC_FULL_STREAM)
        return -EINVAL;
    if (tv_recording_active())
        return -EBUSY;
    listener.notify = options->notify;
    listener.arg = options->arg;
    return record_start(&core);
}

int tvrec_stop(struct tvrec_info *info)
{
    struct tv_recording_info core = {0};
    tv_recorder_inside++;
    tv_modules_refresh();
    tv_recorder_inside--;
    int failed = tv_recording_stop(&core);
    if (info && info->size >= sizeof *info && failed != -ENOENT)
        *info = (struct tvrec_info){sizeof *info, core.records,     core.dropped,
                                    core.threads, core.overhead_ns, core.overflow};
    return failed;
}

int tvrec_active(void)
{
    return tv_recording_active();
}

void tvrec_thread_name(const char *name)
{
    tv_recording_name_thread(name);
}

void tvrec_thread_group(const char *group)
{
    tv_recording_group_thread(group);
}

uint32_t tvrec_method(const char *class_name, const char *name, const char *signature,
                      const char *file, int line)
{
    return tv_recording_add_method(
        &(struct tv_recording_method){class_name, name, signature, file, line});
}

void tvrec_enter(uint32_t method)
{
    tv_recording_enter(method);
}

void tvrec_exit(uint32_t method)
{
    tv_recording_leave(method, TV_MT_EXIT);
}

void tvrec_unroll(uint32_t method)
{
    tv_recording_leave(method, TV_MT_UNROLL);
}

/* Return the word's index in a list that ends with NULL; -1: it is not there.  A NULL word is
 * the first. */
static int environment_choose(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (!word || strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

/* Parse "8m"; 0: malformed. */
static uint64_t environment_parse_size(const char *text)
{
    char *end;
    uint64_t size = strtoull(text, &end, 10);
    unsigned char letter = (unsigned char)*end | 0x20; /* to lower case */
    unsigned shift = letter == 'k' ? 10 : letter == 'm' ? 20 : letter == 'g' ? 30 : 0;
    if (end == text || (*end && (shift == 0 || end[1])) || size > TV_RECORDING_BUFFER_LIMIT)
        return 0;
    return size << shift;
}

/* Parse nanoseconds; false: malformed. */
static bool environment_parse_ns(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

/* Print which variable is malformed.  Return the error for it. */
static int environment_refuse(const char *name, const char *expected)
{
    char line[256];
    snprintf(line, sizeof line, "traceview: %s: expected %s, found '%.60s'\n", name, expected,
             getenv(name));
    tv_recorder_print_line(line);
    return -EINVAL;
}

/* Read the options; what is wrong with them is printed. */
static int environment_read_options(struct tv_recording_options *options)
{
    static const char *const clocks[] = {"wall", "cpu", "dual", NULL};
    static const char *const fulls[] = {"stop", "ring", "stream", NULL};
    const char *buffer = getenv("TRACEVIEW_RECORD_BUFFER");
    const char *least = getenv("TRACEVIEW_RECORD_MIN_DURATION");
    const char *limit = getenv("TRACEVIEW_RECORD_SLOW_NS");
    const char *fork_word = getenv("TRACEVIEW_RECORD_FORK");
    const char *quiet = getenv("TRACEVIEW_RECORD_QUIET");
    int clock = environment_choose(getenv("TRACEVIEW_RECORD_CLOCK"), clocks);
    int full = environment_choose(getenv("TRACEVIEW_RECORD_FULL"), fulls);
    options->spool = getenv("TRACEVIEW_RECORD_SPOOL");
    options->buffer_bytes = buffer ? environment_parse_size(buffer) : TV_RECORDING_BUFFER_DEFAULT;
    if (least && !environment_parse_ns(least, &options->least_ns))
        return environment_refuse("TRACEVIEW_RECORD_MIN_DURATION", "nanoseconds");
    if (limit && (!environment_parse_ns(limit, &options->slow_ns) || options->slow_ns == 0))
        return environment_refuse("TRACEVIEW_RECORD_SLOW_NS", "nanoseconds, 1 or more");
    options->trigger = getenv("TRACEVIEW_RECORD_TRIGGER");
    options->slow = getenv("TRACEVIEW_RECORD_SLOW");
    options->grows = getenv("TRACEVIEW_RECORD_GROW") != NULL;
    options->quiet = quiet && strcmp(quiet, "1") == 0;
    options->follow_forks = fork_word && strcmp(fork_word, "follow") == 0;
    options->vm = "native";
    options->finish_at_end = true;
    tv_recorder.options.quiet = options->quiet;
    if (clock < 0)
        return environment_refuse("TRACEVIEW_RECORD_CLOCK", "wall, cpu or dual");
    if (full < 0)
        return environment_refuse("TRACEVIEW_RECORD_FULL", "stop, ring or stream");
    if (options->buffer_bytes == 0)
        return environment_refuse("TRACEVIEW_RECORD_BUFFER", "bytes, as 8m");
    options->clock = (enum tv_recording_clock)clock;
    options->full = (enum tv_recording_full)full;
    return 0;
}

/* ---- The sampler that the environment asks for: all threads, from load to the end of the
 * process ---- */

#define DEPTH_DEFAULT 64
#define NUMBER_MAX 1000000L

static struct {
    struct tvrec_sampler *sampler;
    enum tvrec_hprof form;
} environment_sampler;

/* Write the period and the time, stack and state of each sample after the text, for the program
 * that resolves the addresses (cli/record/native_samples.c). */
static void sampler_write_times(const struct tv_samples *samples, FILE *to)
{
    const struct tv_sample_moment *moments = samples->moments.at;
    if (samples->period_ns == 0)
        return;
    fprintf(to, "PERIOD %llu\n", (unsigned long long)samples->period_ns);
    for (uint32_t i = 0; i < samples->moments.count; i++)
        fprintf(to, "AT %llu %u %u\n", (unsigned long long)moments[i].time_ns,
                TV_SAMPLES_FIRST_TRACE + moments[i].trace, moments[i].state);
}

/* Write the samples to PATH.part and rename it. */
static int environment_sampler_write(void)
{
    struct tv_file_limit_guard limit;
    FILE *to = fopen(tv_recorder.texts.part, "we");
    if (!to)
        return -errno;
    tv_file_limit_begin(&limit);
    int failed = tvrec_sampler_write(environment_sampler.sampler, to, environment_sampler.form);
    sampler_write_times(&environment_sampler.sampler->samples, to);
    failed = tv_output_stream_publish(to, failed, tv_recorder.texts.part, tv_recorder.texts.path);
    tv_file_limit_end(&limit);
    return failed;
}

/* Print only a share that would mislead readers of the result. */
static void sampler_print_blocked(const struct tvrec_sampler *sampler)
{
    char line[TV_BUFFER_PATH + 200];
    uint64_t all = sampler->samples.total + sampler->missed;
    if (sampler->blocked == 0 || sampler->blocked < all / 100)
        return;
    snprintf(line, sizeof line,
             "traceview: %s: %llu of %llu samples are missing, of threads that run with signal %d "
             "blocked\n",
             tv_recorder.texts.path, (unsigned long long)sampler->blocked, (unsigned long long)all,
             sampler->signal_number);
    tv_recorder_print_line(line);
}

/* Print from a tenth on: some threads are always entering or leaving a function. */
static void sampler_print_lost(const struct tvrec_sampler *sampler)
{
    char line[TV_BUFFER_PATH + 256];
    if (sampler->lost <= sampler->walked / 10)
        return;
    snprintf(line, sizeof line,
             "traceview: %s: %llu of %llu stacks have lost their callers, in code without frame "
             "pointers: compile it with -fno-omit-frame-pointer or with -finstrument-functions\n",
             tv_recorder.texts.path, (unsigned long long)sampler->lost,
             (unsigned long long)sampler->walked);
    tv_recorder_print_line(line);
}

/* Stop the sampler at the end of the process, write its file and print what is missing in it. */
static void environment_sampler_finish(void)
{
    tv_recorder_inside++;
    tvrec_sampler_shutdown(environment_sampler.sampler);
    int failed = environment_sampler_write();
    if (failed != 0)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
    if (failed == 0) {
        sampler_print_blocked(environment_sampler.sampler);
        sampler_print_lost(environment_sampler.sampler);
    }
    tvrec_sampler_free(environment_sampler.sampler);
    environment_sampler.sampler = NULL;
    tv_recorder_inside--;
}

/* Parse a number from 1 on; -1: malformed. */
static int environment_parse_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    return end == text || *end || number < 1 || number > NUMBER_MAX ? -1 : (int)number;
}

/* Start the sampler that the environment asks for.  0 or an error number below 0; -EINVAL also for
 * a malformed variable. */
static int environment_sampler_start(int rate)
{
    static const char *const forms[] = {"android", "jdk", "binary", NULL};
    static const char *const stacks[] = {"auto", "shadow", "fp", NULL};
    const char *depth_text = getenv("TRACEVIEW_RECORD_SAMPLE_DEPTH");
    int form = environment_choose(getenv("TRACEVIEW_RECORD_SAMPLE_FORMAT"), forms);
    int stack = environment_choose(getenv("TRACEVIEW_RECORD_SAMPLE_STACK"), stacks);
    int depth = depth_text ? environment_parse_number(depth_text) : DEPTH_DEFAULT;
    if (rate < 0 || form < 0 || stack < 0 || depth < 0)
        return -EINVAL;
    environment_sampler.form = (enum tvrec_hprof)form;
    environment_sampler.sampler = tvrec_sampler_new(depth, tvrec_set_group(NULL));
    if (!environment_sampler.sampler)
        return -errno;
    int failed = tvrec_sampler_use(environment_sampler.sampler, (enum tvrec_stack)stack, 0);
    if (getenv("TRACEVIEW_RECORD_SAMPLE_TIMES"))
        tv_sampler_keep_times(environment_sampler.sampler);
    if (failed == 0)
        failed = tvrec_sampler_start(environment_sampler.sampler, rate);
    if (failed != 0)
        tvrec_sampler_free(environment_sampler.sampler);
    return failed;
}

/* Start the sampler that the environment asks for, and write its samples when the program ends. */
static void environment_sampler_run(const char *path, const char *rate, bool quiet)
{
    int length = snprintf(tv_recorder.texts.part, sizeof tv_recorder.texts.part, "%s.part", path);
    bool fits = length > 0 && (size_t)length < sizeof tv_recorder.texts.part;
    snprintf(tv_recorder.texts.path, sizeof tv_recorder.texts.path, "%s", path);
    tv_recorder.options.quiet = quiet;
    tv_watcher_run_at_exit(environment_sampler_finish);
    int failed = fits ? tv_output_file_check_path(path) : -ENAMETOOLONG;
    if (failed == 0)
        failed = environment_sampler_start(environment_parse_number(rate));
    if (failed == 0)
        return;
    tv_watcher_run_at_exit(NULL);
    tv_recorder_notice(TV_RECORDING_FAILED, failed);
}

/* The recording that the first call begins.  The texts are copies, as the program may change its
 * environment before that. */
static struct {
    struct tv_recording_options options;
    char path[TV_BUFFER_PATH], spool[TV_BUFFER_PATH], trigger[TV_BUFFER_PATH], slow[TV_BUFFER_PATH];
} waiting;

static const char *environment_keep_text(char to[TV_BUFFER_PATH], const char *text)
{
    snprintf(to, TV_BUFFER_PATH, "%s", text ? text : "");
    return text ? to : NULL;
}

static void record_start_at_first_call(void)
{
    char path[TV_BUFFER_PATH];
    struct tv_recording_options options = waiting.options;
    int failed = tv_recorder_child_path(waiting.path, path, sizeof path);
    options.path = path;
    if (failed == 0)
        failed = record_start(&options);
    if (failed != 0 && !options.quiet)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
}

/* Have the first call start the recording.  Each process with calls records into a file with its
 * pid in the name; others, such as the shell that starts it, leave nothing.  The variables stay
 * for children. */
static void record_wait_for_call(const struct tv_recording_options *options)
{
    waiting.options = *options;
    snprintf(waiting.path, sizeof waiting.path, "%s", options->path);
    waiting.options.spool = environment_keep_text(waiting.spool, options->spool);
    waiting.options.trigger = environment_keep_text(waiting.trigger, options->trigger);
    waiting.options.slow = environment_keep_text(waiting.slow, options->slow);
    tv_recording_wait_for_call(record_start_at_first_call);
}

__attribute__((constructor)) static void record_start_from_environment(void)
{
    static const char *const names[] = {"TRACEVIEW_RECORD",
                                        "TRACEVIEW_RECORD_CLOCK",
                                        "TRACEVIEW_RECORD_BUFFER",
                                        "TRACEVIEW_RECORD_FULL",
                                        "TRACEVIEW_RECORD_GROW",
                                        "TRACEVIEW_RECORD_MIN_DURATION",
                                        "TRACEVIEW_RECORD_TRIGGER",
                                        "TRACEVIEW_RECORD_SLOW",
                                        "TRACEVIEW_RECORD_SLOW_NS",
                                        "TRACEVIEW_RECORD_SPOOL",
                                        "TRACEVIEW_RECORD_FORK",
                                        "TRACEVIEW_RECORD_QUIET",
                                        "TRACEVIEW_RECORD_ADDRESSES",
                                        "TRACEVIEW_RECORD_SAMPLE",
                                        "TRACEVIEW_RECORD_SAMPLE_DEPTH",
                                        "TRACEVIEW_RECORD_SAMPLE_FORMAT",
                                        "TRACEVIEW_RECORD_SAMPLE_STACK",
                                        "TRACEVIEW_RECORD_SAMPLE_TIMES"};
    const char *rate = getenv("TRACEVIEW_RECORD_SAMPLE");
    struct tv_recording_options options = {.path = getenv("TRACEVIEW_RECORD")};
    if (!options.path || options.path[0] == '\0')
        return;
    if (getenv("TRACEVIEW_RECORD_ADDRESSES"))
        tv_modules_set_address_names();
    bool read = environment_read_options(&options) == 0;
    if (read && !rate && getenv("TRACEVIEW_RECORD_CHILDREN")) {
        record_wait_for_call(&options);
        return;
    }
    int failed = 0;
    if (read && rate)
        environment_sampler_run(options.path, rate, options.quiet);
    else if (read)
        failed = record_start(&options);
    if (failed != 0 && !options.quiet)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}
