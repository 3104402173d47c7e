/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - the entry points of libtraceview-record.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/chosen.h"
#include "recorder/native/actions.h"
#include "recorder/native/modules.h"
#include "recorder/native/sampler_run.h"
#include "recorder/native/traceview_record.h"
#include "recorder/quick.h"
#include "recorder/recording.h"
#include "recorder/state.h"

/* The compiler's calls at the begin and the end of every function, and dlclose. */
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

/* Options of the two interfaces have the same numbers. */
_Static_assert((int)TVREC_CLOCK_DUAL == (int)TV_RECORDING_DUAL &&
                   (int)TVREC_FULL_STREAM == (int)TV_RECORDING_STREAM &&
                   (int)TVREC_FAILED == (int)TV_RECORDING_FAILED,
               "one list of values");

static struct {
    void (*notify)(enum tvrec_notice what, void *arg);
    void *arg;
} listener;

static void tell(enum tv_recording_notice notice, void *unused)
{
    (void)unused;
    listener.notify((enum tvrec_notice)notice, listener.arg);
}

static void write_modules(void)
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

/* The modules' lock is taken behind the core's, as everywhere; what is written in a child comes
 * behind what the core does there. */
static pthread_once_t fork_before = PTHREAD_ONCE_INIT, fork_behind = PTHREAD_ONCE_INIT;

static void lock_modules_at_forks(void)
{
    pthread_atfork(tv_modules_before_fork, tv_modules_after_fork, tv_modules_after_fork);
}

static void write_modules_in_children(void)
{
    pthread_atfork(NULL, NULL, write_modules);
}

static int start(const struct tv_recording_options *options)
{
    tv_signal_wrappers_init();
    tv_recorder_inside++;
    tv_modules_refresh();
    tv_recorder_inside--;
    tv_recorder.key = tv_modules_key;
    tv_recorder.namer = tv_modules_name;
    tv_recorder.find_functions = tv_modules_find_functions;
    pthread_once(&fork_before, lock_modules_at_forks);
    int failed = tv_recording_start(options);
    write_modules();
    pthread_once(&fork_behind, write_modules_in_children);
    return failed;
}

static void look_at_modules(void)
{
    if (!tv_recording_active())
        return;
    tv_recorder_inside++;
    tv_modules_refresh();
    tv_recorder_inside--;
    write_modules();
}

static void forget_chosen(void)
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
    look_at_modules();
    int failed = original ? original(handle) : -1;
    look_at_modules();
    forget_chosen();
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
        .notify = options->notify ? tell : NULL,
    };
    if ((unsigned)options->clock > TVREC_CLOCK_DUAL || (unsigned)options->full > TVREC_FULL_STREAM)
        return -EINVAL;
    if (tv_recording_active())
        return -EBUSY;
    listener.notify = options->notify;
    listener.arg = options->arg;
    return start(&core);
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

/* The word's place in a list that ends with NULL; -1: it is not there.  NULL: the first. */
static int choose(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (!word || strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

/* "8m"; 0: no such size. */
static uint64_t parse_size(const char *text)
{
    char *end;
    uint64_t size = strtoull(text, &end, 10);
    unsigned char letter = (unsigned char)*end | 0x20; /* of either case */
    unsigned shift = letter == 'k' ? 10 : letter == 'm' ? 20 : letter == 'g' ? 30 : 0;
    if (end == text || (*end && (shift == 0 || end[1])) || size > TV_RECORDING_BUFFER_LIMIT)
        return 0;
    return size << shift;
}

static bool parse_nanoseconds(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static int refuse(const char *name, const char *expected)
{
    char line[256];
    snprintf(line, sizeof line, "traceview: %s: expected %s, found '%.60s'\n", name, expected,
             getenv(name));
    tv_recorder_print_line(line);
    return -EINVAL;
}

/* What is wrong with it is told. */
static int read_options(struct tv_recording_options *options)
{
    static const char *const clocks[] = {"wall", "cpu", "dual", NULL};
    static const char *const fulls[] = {"stop", "ring", "stream", NULL};
    const char *buffer = getenv("TRACEVIEW_RECORD_BUFFER");
    const char *least = getenv("TRACEVIEW_RECORD_MIN_DURATION");
    const char *limit = getenv("TRACEVIEW_RECORD_SLOW_NS");
    const char *fork_word = getenv("TRACEVIEW_RECORD_FORK");
    const char *quiet = getenv("TRACEVIEW_RECORD_QUIET");
    int clock = choose(getenv("TRACEVIEW_RECORD_CLOCK"), clocks);
    int full = choose(getenv("TRACEVIEW_RECORD_FULL"), fulls);
    options->spool = getenv("TRACEVIEW_RECORD_SPOOL");
    options->buffer_bytes = buffer ? parse_size(buffer) : TV_RECORDING_BUFFER_DEFAULT;
    if (least && !parse_nanoseconds(least, &options->least_ns))
        return refuse("TRACEVIEW_RECORD_MIN_DURATION", "nanoseconds");
    if (limit && (!parse_nanoseconds(limit, &options->slow_ns) || options->slow_ns == 0))
        return refuse("TRACEVIEW_RECORD_SLOW_NS", "nanoseconds, 1 or more");
    options->trigger = getenv("TRACEVIEW_RECORD_TRIGGER");
    options->slow = getenv("TRACEVIEW_RECORD_SLOW");
    options->grows = getenv("TRACEVIEW_RECORD_GROW") != NULL;
    options->quiet = quiet && strcmp(quiet, "1") == 0;
    options->follow_forks = fork_word && strcmp(fork_word, "follow") == 0;
    options->vm = "native";
    options->finish_at_end = true;
    tv_recorder.options.quiet = options->quiet;
    if (clock < 0)
        return refuse("TRACEVIEW_RECORD_CLOCK", "wall, cpu or dual");
    if (full < 0)
        return refuse("TRACEVIEW_RECORD_FULL", "stop, ring or stream");
    if (options->buffer_bytes == 0)
        return refuse("TRACEVIEW_RECORD_BUFFER", "bytes, as 8m");
    options->clock = (enum tv_recording_clock)clock;
    options->full = (enum tv_recording_full)full;
    return 0;
}

/* The recording that the first call begins.  Programs may change their environment
 * until there, so these are copies. */
static struct {
    struct tv_recording_options options;
    char path[TV_BUFFER_PATH], spool[TV_BUFFER_PATH], trigger[TV_BUFFER_PATH], slow[TV_BUFFER_PATH];
} waiting;

static const char *keep_text(char to[TV_BUFFER_PATH], const char *text)
{
    snprintf(to, TV_BUFFER_PATH, "%s", text ? text : "");
    return text ? to : NULL;
}

static void start_at_first_call(void)
{
    char path[TV_BUFFER_PATH];
    int failed = tv_recorder_child_path(waiting.path, path, sizeof path);
    waiting.options.path = path;
    if (failed == 0)
        failed = start(&waiting.options);
    if (failed != 0 && !waiting.options.quiet)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
}

/* Each process that has calls records into a file with its number in the name; the others, such as
 * the shell that starts it, leave nothing.  The variables stay for those that come. */
static void wait_for_call(const struct tv_recording_options *options)
{
    waiting.options = *options;
    snprintf(waiting.path, sizeof waiting.path, "%s", options->path);
    waiting.options.spool = keep_text(waiting.spool, options->spool);
    waiting.options.trigger = keep_text(waiting.trigger, options->trigger);
    waiting.options.slow = keep_text(waiting.slow, options->slow);
    tv_recording_wait_for_call(start_at_first_call);
}

__attribute__((constructor)) static void begin_by_environment(void)
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
    bool read = read_options(&options) == 0;
    if (read && !rate && getenv("TRACEVIEW_RECORD_CHILDREN")) {
        wait_for_call(&options);
        return;
    }
    int failed = 0;
    if (read && rate)
        tv_sampler_run(options.path, rate, options.quiet);
    else if (read)
        failed = start(&options);
    if (failed != 0 && !options.quiet)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}
