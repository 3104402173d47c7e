/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_record.c - record a program: a native one, one of Java, or a JVM that runs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/record.h"
#include "recorder/samples/samples.h"

static const struct tv_option options[] = {
    TV_OPTION("output", "FILE", TV_OPTION_TEXT, output,
              "what is written (default: dmtrace.trace, with --sample, --alloc or --lock "
              "samples.json)"),
    TV_OPTION("o", "FILE", TV_OPTION_TEXT, output, "the same"),
    TV_OPTION("sample", "HZ", TV_OPTION_COUNT, record.sample,
              "stacks of the threads, so many times a second, instead of all calls"),
    TV_OPTION("alloc", "[=BYTES]", TV_OPTION_SIZE, record.alloc,
              "samples of what a JVM allocates, one in so many bytes (default: 512K), instead of "
              "calls; also with --sample, --lock"),
    TV_OPTION("lock", "[=TIME]", TV_OPTION_TEXT, record.lock,
              "a JVM's waits for monitors and its parks, of TIME at least (default: all), instead "
              "of calls; also with --sample, --alloc"),
    TV_OPTION("pid", "N", TV_OPTION_COUNT, record.pid,
              "a JVM that runs, or with --sample any process, instead of a program"),
    TV_OPTION("snapshot", "PID", TV_OPTION_COUNT, record.snapshot,
              "write what is in the ring of a recording (--full ring), which goes on"),
    TV_OPTION("android", "PACKAGE", TV_OPTION_TEXT, record.android,
              "an app of an Android device, or its process PACKAGE:NAME, by adb"),
    TV_OPTION("device", "SERIAL", TV_OPTION_TEXT, record.device,
              "of several devices (default: that of ANDROID_SERIAL)"),
    TV_OPTION("mapping", "FILE", TV_OPTION_TEXT, mapping,
              "of --android: give back original names from an R8 or ProGuard mapping file"),
    TV_OPTION("delay", "TIME", TV_OPTION_TEXT, record.delay,
              "of a JVM or a process: begin after 500ms, 10s ..."),
    TV_OPTION("duration", "TIME", TV_OPTION_TEXT, record.duration,
              "of a JVM or a process: end so long after the begin (default: with it, or Ctrl-C)"),
    TV_OPTION("host", "auto|java|native", TV_OPTION_CHOICE, record.host,
              "what the program is, when it cannot be told by its file (default: auto)"),
    TV_OPTION("clock", "wall|cpu|dual", TV_OPTION_CHOICE, record.clock,
              "which clock, or both (default: wall)"),
    TV_OPTION("buffer", "SIZE", TV_OPTION_SIZE, record.buffer,
              "bytes of the trace that are kept (default: 8M, growing on the disk up to 1G)"),
    TV_OPTION("full", "stop|ring|stream", TV_OPTION_CHOICE, record.full,
              "then: end the recording, forget the oldest, write as it goes (default: stop)"),
    TV_OPTION("min-duration", "TIME", TV_OPTION_TEXT, record.min_duration,
              "leave out calls that last less: 10us, 1ms ... (default: none)"),
    TV_OPTION(
        "trigger", "GLOB", TV_OPTION_LIST, record.trigger,
        "calls of these methods and all below them only: '*.Server.handle' (may be given again)"),
    TV_OPTION("stop-after-slow", "GLOB:TIME", TV_OPTION_TEXT, record.stop_after_slow,
              "end when a call of such a method has lasted as long, and keep the ring before it"),
    TV_OPTION("spool", "DIR", TV_OPTION_TEXT, record.spool,
              "keep the buffers in a file there while it runs"),
    TV_OPTION("follow", NULL, TV_OPTION_FLAG, record.follow,
              "forked children of a native program record into FILE with their number in its name"),
    TV_OPTION("engine", "auto|bci|events", TV_OPTION_CHOICE, record.engine,
              "see calls of a JVM by rewritten classes or by its events (default: auto)"),
    TV_OPTION("include", "GLOB", TV_OPTION_LIST, record.include,
              "calls of these classes only: 'com.example.*' (may be given again)"),
    TV_OPTION("exclude", "GLOB", TV_OPTION_LIST, record.exclude,
              "no calls of these classes (may be given again)"),
    TV_OPTION("boot", NULL, TV_OPTION_FLAG, record.boot, "calls of the JVM's own classes too"),
    TV_OPTION("threads", "GLOB|group:NAME|all", TV_OPTION_TEXT, record.threads,
              "samples, or calls by events, of these threads of a JVM (default: all)"),
    TV_OPTION("depth", "N", TV_OPTION_COUNT, record.depth,
              "frames of a sample's stack (default: 512, of a native program all)"),
    TV_OPTION("stack", "auto|jvmti|agct|shadow|fp|perf|dwarf", TV_OPTION_CHOICE, record.stack,
              "how samples are taken: of JVMs jvmti or agct, of native programs shadow, fp or, by "
              "the kernel, perf (frame pointers) or dwarf (unwind tables)"),
    TV_OPTION("off-cpu", NULL, TV_OPTION_FLAG, record.off_cpu,
              "with samples by the kernel: times off the processors as slices"),
    TV_OPTION("state", "running|runnable|all", TV_OPTION_CHOICE, record.state,
              "threads of a JVM that are sampled (default: running)"),
    TV_OPTION("format", "android|jdk|binary|json|folded", TV_OPTION_CHOICE, record.format,
              "of samples: hprof text as Android or the JDK wrote it, or binary; Trace Event JSON; "
              "collapsed stacks (default: by the name of the output, else json)"),
    TV_OPTION("open", NULL, TV_OPTION_FLAG, record.open, "then view the result"),
    TV_OPTION("q", NULL, TV_OPTION_FLAG, quiet, "no notices"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "this text"),
    TV_OPTIONS_END,
};

/* Since a program may go to another folder before it writes. */
static enum tv_status make_absolute(const char *name, char *path, struct tv_error *err)
{
    char folder[TV_RECORD_PATH] = "";
    if (name[0] != '/' && !getcwd(folder, sizeof folder))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "this folder: %s", strerror(errno));
    int length = snprintf(path, TV_RECORD_PATH, "%s%s%s", folder, folder[0] ? "/" : "", name);
    if ((unsigned)length >= TV_RECORD_PATH)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%s: the path is too long", name);
    return TV_OK;
}

/* Can a file be made there?  Better now than after the run. */
static enum tv_status check_folder(const char *path, struct tv_error *err)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: is no folder", path);
    if (access(path, W_OK | X_OK) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: no file can be made there: %s", path,
                       strerror(errno));
    return TV_OK;
}

static enum tv_status check_output(const char *path, struct tv_error *err)
{
    char folder[TV_RECORD_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    *(strrchr(folder, '/') + 1) = '\0';
    return check_folder(folder, err);
}

/* The form of samples: what --format says, else what the name's ending says, else the one that has
 * times. */
static unsigned find_form(const struct tv_settings *settings)
{
    static const struct {
        const char *ending;
        enum tv_samples_form form;
    } endings[] = {
        {".hprof.txt", TV_SAMPLES_ANDROID},
        {".hprof", TV_SAMPLES_BINARY},
        {".folded", TV_SAMPLES_COLLAPSED},
    };
    const char *name = settings->output ? settings->output : "";
    size_t length = strlen(name);
    if (tv_record_is_given(options, settings, "format"))
        return settings->record.format;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t size = strlen(endings[i].ending);
        if (length > size && strcmp(name + length - size, endings[i].ending) == 0)
            return endings[i].form;
    }
    return TV_SAMPLES_EVENTS;
}

static enum tv_status find_paths(const struct tv_settings *settings, struct tv_record_plan *plan,
                                 struct tv_error *err)
{
    static const char *const samples[] = {"samples.hprof.txt", "samples.hprof.txt", "samples.hprof",
                                          "samples.json", "samples.folded"};
    const char *name = plan->way == TV_RECORD_SNAPSHOT ? "snapshot.trace" : "dmtrace.trace";
    const char *spool = settings->record.spool;
    if (settings->output)
        name = settings->output;
    else if (plan->has_samples)
        name = samples[plan->form];
    enum tv_status status = make_absolute(name, plan->output, err);
    if (status == TV_OK)
        status = check_output(plan->output, err);
    if (status != TV_OK || !spool)
        return status;
    status = make_absolute(spool, plan->spool, err);
    /* Of a JVM that runs it is a folder that the JVM sees. */
    return status == TV_OK && plan->way != TV_RECORD_ATTACHED ? check_folder(plan->spool, err)
                                                              : status;
}

/* Of a recording that is none of a program or a process here. */
static enum tv_status make_plan_alone(const struct tv_settings *settings, enum tv_record_way way,
                                      struct tv_record_plan *plan, struct tv_error *err)
{
    plan->way = way;
    enum tv_status status = tv_record_check(options, plan, err);
    return status == TV_OK ? find_paths(settings, plan, err) : status;
}

/* What came before a slow call is the newest. */
static unsigned find_full(const struct tv_settings *settings)
{
    bool is_given = tv_record_is_given(options, settings, "full");
    return is_given || !settings->record.stop_after_slow ? settings->record.full : TV_RECORD_RING;
}

static enum tv_status make_plan(const struct tv_settings *settings, struct tv_record_plan *plan,
                                struct tv_error *err)
{
    const struct tv_words *words = &settings->files;
    plan->settings = settings;
    if (tv_record_is_given(options, settings, "snapshot"))
        return make_plan_alone(settings, TV_RECORD_SNAPSHOT, plan, err);
    if (settings->record.android)
        return make_plan_alone(settings, TV_RECORD_ANDROID, plan, err);
    plan->with_alloc = tv_record_is_given(options, settings, "alloc");
    plan->with_lock = tv_record_is_given(options, settings, "lock");
    plan->has_samples = settings->record.sample > 0 || plan->with_alloc || plan->with_lock;
    if (tv_record_is_given(options, settings, "pid") == (words->count > 0))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       words->count == 0 ? "expected -- and a program, or --pid"
                                         : "--pid and a program do not go together");
    plan->way = words->count == 0 ? TV_RECORD_ATTACHED
                                  : tv_record_way_of(words->items[0], settings->record.host);
    plan->into_children =
        words->count > 0 && !plan->has_samples &&
        tv_record_goes_into_children(plan->way, &settings->record, words->items[0]);
    plan->full = find_full(settings);
    plan->grows = !tv_record_is_given(options, settings, "buffer") && !settings->record.spool &&
                  plan->full == TV_RECORD_STOP;
    if (tv_record_wants_kernel(plan))
        plan->way = TV_RECORD_KERNEL;
    plan->form = find_form(settings);
    enum tv_status status = tv_record_check(options, plan, err);
    return status == TV_OK ? find_paths(settings, plan, err) : status;
}

/* A program that was not started yet can be sampled from within, unless more was asked for. */
static bool can_fall_back(const struct tv_record_plan *plan)
{
    const struct tv_settings *settings = plan->settings;
    return settings->files.count > 0 && !settings->record.off_cpu &&
           settings->record.stack == TV_RECORD_STACK_AUTO;
}

static enum tv_status record(struct tv_record_plan *plan, int *code, struct tv_words *files,
                             struct tv_error *err)
{
    plan->has_older = stat(plan->output, &plan->older) == 0;
    if (plan->has_older && !S_ISREG(plan->older.st_mode))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s: not a regular file, which alone can be written", plan->output);
    if (plan->way == TV_RECORD_SNAPSHOT)
        return tv_record_snapshot(plan, err);
    if (plan->way == TV_RECORD_ANDROID)
        return tv_record_android(plan, err);
    if (plan->way == TV_RECORD_ATTACHED)
        return tv_record_attached(plan, err);
    if (plan->way != TV_RECORD_KERNEL)
        return tv_record_program(plan, code, files, err);
    enum tv_status status = tv_record_by_kernel(plan, code, files, err);
    if (status != TV_ERR_UNSUPPORTED || !can_fall_back(plan))
        return status;
    if (!plan->settings->quiet)
        tv_message("traceview: %s; samples by signals instead (--stack fp)", err->message);
    *err = (struct tv_error){0};
    plan->way = TV_RECORD_PRELOADED;
    return tv_record_program(plan, code, files, err);
}

/* Becomes the viewer of what was recorded. */
static void view(const struct tv_record_plan *plan, const struct tv_words *files)
{
    char **words = tv_alloc(files->count + 3, sizeof *words);
    static char name[] = "traceview", *const first = name;
    words[0] = first;
    for (size_t i = 0; i < files->count; i++)
        memcpy(&words[1 + i], &files->items[i], sizeof *words);
    const char *output = plan->output;
    if (files->count == 0)
        memcpy(&words[1], &output, sizeof *words);
    execv("/proc/self/exe", words);
    tv_free(words);
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_record_plan plan = {.settings = settings};
    struct tv_words files = {0};
    struct tv_error err = {0};
    int code = TV_EXIT_OK;
    enum tv_status status = make_plan(settings, &plan, &err);
    if (status == TV_OK)
        status = record(&plan, &code, &files, &err);
    int failed = status != TV_OK ? tv_command_failed(command, &err) : TV_EXIT_OK;
    if (code == TV_EXIT_OK)
        code = failed;
    if (status == TV_OK && settings->record.open)
        view(&plan, &files);
    tv_record_release(&files);
    return code;
}

const struct tv_command tv_command_record = {
    .name = "record",
    .summary = "run a program and record its calls or samples, or those of a running one",
    .arguments = "[OPTION]... -- PROGRAM [ARGUMENT]... | --pid N | --snapshot PID | --android "
                 "PACKAGE[:PROCESS]",
    .details = "Java programs need nothing, also behind scripts.  Calls of native programs need\n"
               "-finstrument-functions, samples nothing.  The exit code is the program's own.",
    .options = options,
    .min_files = 0,
    .max_files = TV_ANY_FILES,
    .run = run,
};
