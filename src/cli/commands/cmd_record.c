/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_record.c - `record` and `recover`: from the command line to a plan (record/record.h). */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out.h"
#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/record/native_names.h"
#include "cli/record/record.h"
#include "recorder/recording.h"
#include "recorder/samples/samples.h"

static const struct tv_option record_options[] = {
    TV_OPTION(
        "output", "FILE", TV_OPTION_TEXT, output,
        "file to write (default: dmtrace.trace; with --sample, --alloc or --lock: samples.json)"),
    TV_OPTION("o", "FILE", TV_OPTION_TEXT, output, "same as --output"),
    TV_OPTION("sample", "HZ", TV_OPTION_COUNT, record.sample,
              "sample the stacks HZ times a second instead of recording all calls"),
    TV_OPTION("alloc", "[=BYTES]", TV_OPTION_SIZE, record.alloc,
              "JVM: sample allocations, one every BYTES (default: 512K), instead of calls; may be "
              "combined with --sample and --lock"),
    TV_OPTION("lock", "[=TIME]", TV_OPTION_TEXT, record.lock,
              "JVM: record waits for monitors and parks of at least TIME (default: all) instead of "
              "calls; may be combined with --sample and --alloc"),
    TV_OPTION("pid", "N", TV_OPTION_COUNT, record.pid,
              "record a running JVM, or with --sample any process"),
    TV_OPTION("snapshot", "PID", TV_OPTION_COUNT, record.snapshot,
              "write the ring of a recording (--full ring), which continues"),
    TV_OPTION("android", "PACKAGE", TV_OPTION_TEXT, record.android,
              "record an app on an Android device, or its process PACKAGE:NAME"),
    TV_OPTION("device", "SERIAL", TV_OPTION_TEXT, record.device,
              "device to use if several are connected (default: ANDROID_SERIAL)"),
    TV_OPTION("mapping", "FILE", TV_OPTION_TEXT, mapping,
              "with --android: restore original names from an R8 or ProGuard mapping file"),
    TV_OPTION("delay", "TIME", TV_OPTION_TEXT, record.delay,
              "JVM or process: start recording after this time: 500ms, 10s"),
    TV_OPTION("duration", "TIME", TV_OPTION_TEXT, record.duration,
              "JVM or process: record for this time (default: until it ends, or Ctrl-C)"),
    TV_OPTION("host", "auto|java|native", TV_OPTION_CHOICE, record.host,
              "kind of program, if its file does not tell (default: auto)"),
    TV_OPTION("clock", "wall|cpu|dual", TV_OPTION_CHOICE, record.clock,
              "clock to record, or both (default: wall)"),
    TV_OPTION("buffer", "SIZE", TV_OPTION_SIZE, record.buffer,
              "size of the trace buffer (default: 8M, growing on disk up to 1G)"),
    TV_OPTION("full", "stop|ring|stream", TV_OPTION_CHOICE, record.full,
              "when the buffer is full: stop, overwrite the oldest events, or write continuously "
              "(default: stop)"),
    TV_OPTION("min-duration", "TIME", TV_OPTION_TEXT, record.min_duration,
              "omit shorter calls: 10us, 1ms (default: none)"),
    TV_OPTION(
        "trigger", "GLOB", TV_OPTION_LIST, record.trigger,
        "record only calls of these methods and everything below: '*.Server.handle' (repeatable)"),
    TV_OPTION("stop-after-slow", "GLOB:TIME", TV_OPTION_TEXT, record.stop_after_slow,
              "stop when a call of such a method takes this long, and keep the ring before it"),
    TV_OPTION("spool", "DIR", TV_OPTION_TEXT, record.spool,
              "keep the buffers in a file in DIR while the program runs"),
    TV_OPTION("follow", NULL, TV_OPTION_FLAG, record.follow,
              "native programs: record forked children, too, into FILE with their process id in "
              "its name"),
    TV_OPTION("engine", "auto|bci|events", TV_OPTION_CHOICE, record.engine,
              "JVM: record calls by rewritten classes or by JVM events (default: auto)"),
    TV_OPTION("include", "GLOB", TV_OPTION_LIST, record.include,
              "only calls of these classes: 'com.example.*' (repeatable)"),
    TV_OPTION("exclude", "GLOB", TV_OPTION_LIST, record.exclude,
              "no calls of these classes (repeatable)"),
    TV_OPTION("boot", NULL, TV_OPTION_FLAG, record.boot,
              "record calls of the JVM's own classes, too"),
    TV_OPTION("threads", "GLOB|group:NAME|all", TV_OPTION_TEXT, record.threads,
              "JVM: only these threads; for samples, or with --engine events (default: all)"),
    TV_OPTION("depth", "N", TV_OPTION_COUNT, record.depth,
              "maximum frames per sample (default: 512; native programs: all)"),
    TV_OPTION("stack", "auto|jvmti|agct|shadow|fp|perf|dwarf", TV_OPTION_CHOICE, record.stack,
              "how to take samples. JVMs: jvmti, agct. Native programs: shadow, fp. By the kernel: "
              "perf (frame pointers), dwarf (unwind tables)"),
    TV_OPTION("off-cpu", NULL, TV_OPTION_FLAG, record.off_cpu,
              "samples by the kernel: record off-CPU times as slices"),
    TV_OPTION("state", "running|runnable|all", TV_OPTION_CHOICE, record.state,
              "JVM: which threads to sample (default: running)"),
    TV_OPTION("format", "android|jdk|binary|json|folded", TV_OPTION_CHOICE, record.format,
              "format of samples: hprof text as Android or the JDK wrote it, binary hprof, Trace "
              "Event JSON, collapsed stacks (default: by the output's name, else json)"),
    TV_OPTION("open", NULL, TV_OPTION_FLAG, record.open, "open the result in the viewer"),
    TV_OPTION("q", NULL, TV_OPTION_FLAG, quiet, "print only errors: no notices"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "show this help"),
    TV_OPTIONS_END,
};

/* Make the path absolute: a program may change its directory before it writes. */
static enum tv_status cmd_record_absolute_path(const char *name, char *path, struct tv_error *err)
{
    char folder[TV_RECORD_PATH] = "";
    if (name[0] != '/' && !getcwd(folder, sizeof folder))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "current directory: %s", strerror(errno));
    int length = snprintf(path, TV_RECORD_PATH, "%s%s%s", folder, folder[0] ? "/" : "", name);
    if ((unsigned)length >= TV_RECORD_PATH)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%s: the path is too long", name);
    return TV_OK;
}

/* Check that a file can be created there, before the program runs. */
static enum tv_status cmd_record_check_folder(const char *path, struct tv_error *err)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s is not a directory", path);
    if (access(path, W_OK | X_OK) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: cannot create a file there: %s", path,
                       strerror(errno));
    return TV_OK;
}

/* Check the directory of the output; the path is absolute, so it has a slash. */
static enum tv_status cmd_record_check_output(const char *path, struct tv_error *err)
{
    char folder[TV_RECORD_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    *(strrchr(folder, '/') + 1) = '\0';
    return cmd_record_check_folder(folder, err);
}

/* Choose the format of samples: --format, else the ending of the output's name, else JSON, which
 * has times. */
static unsigned cmd_record_choose_form(const struct tv_settings *settings)
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
    if (tv_record_is_given(record_options, settings, "format"))
        return settings->record.format;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t size = strlen(endings[i].ending);
        if (length > size && strcmp(name + length - size, endings[i].ending) == 0)
            return endings[i].form;
    }
    return TV_SAMPLES_EVENTS;
}

/* Choose the output and the spool: the default name depends on the kind and format of the
 * recording. */
static enum tv_status cmd_record_find_paths(const struct tv_settings *settings,
                                            struct tv_record_plan *plan, struct tv_error *err)
{
    static const char *const samples[] = {"samples.hprof.txt", "samples.hprof.txt", "samples.hprof",
                                          "samples.json", "samples.folded"};
    const char *name = plan->way == TV_RECORD_SNAPSHOT ? "snapshot.trace" : "dmtrace.trace";
    const char *spool = settings->record.spool;
    if (settings->output)
        name = settings->output;
    else if (plan->has_samples)
        name = samples[plan->form];
    enum tv_status status = cmd_record_absolute_path(name, plan->output, err);
    if (status == TV_OK)
        status = cmd_record_check_output(plan->output, err);
    if (status != TV_OK || !spool)
        return status;
    status = cmd_record_absolute_path(spool, plan->spool, err);
    /* For a running JVM, the directory is one that the JVM sees. */
    return status == TV_OK && plan->way != TV_RECORD_ATTACHED
               ? cmd_record_check_folder(plan->spool, err)
               : status;
}

/* Make the plan of --snapshot or --android, which record no program of this machine. */
static enum tv_status cmd_record_plan_alone(const struct tv_settings *settings,
                                            enum tv_record_way way, struct tv_record_plan *plan,
                                            struct tv_error *err)
{
    plan->way = way;
    enum tv_status status = tv_record_check(record_options, plan, err);
    return status == TV_OK ? cmd_record_find_paths(settings, plan, err) : status;
}

/* Choose --full: with --stop-after-slow the default is a ring, because the newest events matter. */
static unsigned cmd_record_choose_full(const struct tv_settings *settings)
{
    bool is_given = tv_record_is_given(record_options, settings, "full");
    return is_given || !settings->record.stop_after_slow ? settings->record.full : TV_RECORD_RING;
}

/* Make the plan of a recording, in this order: what is recorded, how the recorder gets in, buffers,
 * the kernel, the format, the options' meaning, the paths. */
static enum tv_status cmd_record_plan(const struct tv_settings *settings,
                                      struct tv_record_plan *plan, struct tv_error *err)
{
    const struct tv_words *words = &settings->files;
    plan->settings = settings;
    if (tv_record_is_given(record_options, settings, "snapshot"))
        return cmd_record_plan_alone(settings, TV_RECORD_SNAPSHOT, plan, err);
    if (settings->record.android)
        return cmd_record_plan_alone(settings, TV_RECORD_ANDROID, plan, err);
    plan->with_alloc = tv_record_is_given(record_options, settings, "alloc");
    plan->with_lock = tv_record_is_given(record_options, settings, "lock");
    plan->has_samples = settings->record.sample > 0 || plan->with_alloc || plan->with_lock;
    if (tv_record_is_given(record_options, settings, "pid") == (words->count > 0))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       words->count == 0 ? "expected '-- PROGRAM' or --pid"
                                         : "--pid cannot be combined with a program");
    plan->way = words->count == 0 ? TV_RECORD_ATTACHED
                                  : tv_record_way_of(words->items[0], settings->record.host);
    plan->into_children = words->count > 0 && !plan->has_samples &&
                          tv_record_follows_children(plan->way, &settings->record, words->items[0]);
    plan->full = cmd_record_choose_full(settings);
    plan->grows = !tv_record_is_given(record_options, settings, "buffer") &&
                  !settings->record.spool && plan->full == TV_RECORD_STOP;
    if (tv_record_wants_kernel(plan))
        plan->way = TV_RECORD_KERNEL;
    plan->form = cmd_record_choose_form(settings);
    enum tv_status status = tv_record_check(record_options, plan, err);
    return status == TV_OK ? cmd_record_find_paths(settings, plan, err) : status;
}

/* May the recording fall back to samples by signals? Only if the program is not running yet, and if
 * no option needs the kernel. */
static bool cmd_record_can_fall_back(const struct tv_record_plan *plan)
{
    const struct tv_settings *settings = plan->settings;
    return settings->files.count > 0 && !settings->record.off_cpu &&
           settings->record.stack == TV_RECORD_STACK_AUTO;
}

/* Record by the way of the plan. The kernel may refuse; then samples by signals are an alternative.
 */
static enum tv_status cmd_record_start(struct tv_record_plan *plan, int *code,
                                       struct tv_words *files, struct tv_error *err)
{
    plan->has_older = stat(plan->output, &plan->older) == 0;
    if (plan->has_older && !S_ISREG(plan->older.st_mode))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s is not a regular file", plan->output);
    if (plan->way == TV_RECORD_SNAPSHOT)
        return tv_record_snapshot(plan, err);
    if (plan->way == TV_RECORD_ANDROID)
        return tv_record_android(plan, err);
    if (plan->way == TV_RECORD_ATTACHED)
        return tv_record_attached(plan, err);
    if (plan->way != TV_RECORD_KERNEL)
        return tv_record_program(plan, code, files, err);
    enum tv_status status = tv_record_by_kernel(plan, code, files, err);
    if (status != TV_ERR_UNSUPPORTED || !cmd_record_can_fall_back(plan))
        return status;
    if (!plan->settings->quiet)
        tv_message("traceview: %s; falling back to samples by signals (--stack fp)", err->message);
    *err = (struct tv_error){0};
    plan->way = TV_RECORD_PRELOADED;
    return tv_record_program(plan, code, files, err);
}

/* Replace this process by the viewer of the recording. */
static void cmd_record_open_viewer(const struct tv_record_plan *plan, const struct tv_words *files)
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

static int cmd_record_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_record_plan plan = {.settings = settings};
    struct tv_words files = {0};
    struct tv_error err = {0};
    int code = TV_EXIT_OK;
    enum tv_status status = cmd_record_plan(settings, &plan, &err);
    if (status == TV_OK)
        status = cmd_record_start(&plan, &code, &files, &err);
    int failed = status != TV_OK ? tv_command_failed(command, &err) : TV_EXIT_OK;
    if (code == TV_EXIT_OK)
        code = failed;
    if (status == TV_OK && settings->record.open)
        cmd_record_open_viewer(&plan, &files);
    tv_record_release(&files);
    return code;
}

const struct tv_command tv_command_record = {
    .name = "record",
    .summary = "record the calls or samples of a program, a process or an app",
    .arguments = "[OPTION]... -- PROGRAM [ARGUMENT]... | --pid N | --snapshot PID | --android "
                 "PACKAGE[:PROCESS]",
    .details = "Java programs are recorded as they are, also when a script starts them.  Calls of "
               "native\nprograms need -finstrument-functions; samples do not.  The exit code is "
               "the program's.",
    .options = record_options,
    .min_files = 0,
    .max_files = TV_ANY_FILES,
    .run = cmd_record_run,
};

/* ---- recover ---- */

#define PREFIX "traceview-"
#define SUFFIX ".spool"

static const struct tv_option recover_options[] = {
    TV_OPTION("output", "FILE", TV_OPTION_TEXT, output,
              "file to write (default: the one that the recording was for)"),
    TV_OPTION("o", "FILE", TV_OPTION_TEXT, output, "same as --output"),
    TV_OPTION("q", NULL, TV_OPTION_FLAG, quiet, "print only errors"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "show this help"),
    TV_OPTIONS_END,
};

/* Return the length of "traceview-PID" in "traceview-PID.spool"; 0 for another file name. */
static size_t cmd_recover_stem(const char *name)
{
    size_t length = strlen(name);
    if (length < sizeof PREFIX SUFFIX || strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
        return 0;
    size_t stem = length - (sizeof SUFFIX - 1);
    return strcmp(name + stem, SUFFIX) == 0 ? stem : 0;
}

/* Return an error that names the file with the problem: the spool, the names beside it, or the
 * trace. */
static enum tv_status cmd_recover_fail(int failed, const char *spool, const char *names,
                                       const char *path, struct tv_error *err)
{
    if (failed == -EBUSY)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: the recorded process is still running",
                       spool);
    if (failed == -EINVAL)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "%s: not a spool file, or a damaged one",
                       spool);
    const char *what = path[0] ? path : access(names, R_OK) != 0 ? names : spool;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", what, tv_recording_error(failed));
}

/* Recover one spool and name its native functions. The spool is removed only when nothing is
 * missing. */
static enum tv_status cmd_recover_one(const struct tv_settings *settings, const char *folder,
                                      const char *name, struct tv_error *err)
{
    char spool[TV_RECOVER_PATH], names[TV_RECOVER_PATH], path[TV_RECOVER_PATH];
    struct tv_recording_info info;
    snprintf(spool, sizeof spool, "%s/%s", folder, name);
    snprintf(names, sizeof names, "%s/%.*s.names", folder, (int)cmd_recover_stem(name), name);
    int failed = tv_recorder_recover(spool, names, settings->output, path, &info);
    if (failed != 0)
        return cmd_recover_fail(failed, spool, names, path, err);
    enum tv_status status = tv_native_names_resolve(path, err);
    if (status != TV_OK)
        return status;
    if (!settings->quiet)
        printf("%s: %" PRIu64 " %s of %u %s\n", path, info.records,
               tv_plural(info.records, "record", "records"), info.threads,
               tv_plural(info.threads, "thread", "threads"));
    if (info.lost > 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s: %" PRIu64
                       " %s missing because the streamed file is cut or gone; the spool was kept",
                       path, info.lost, tv_plural(info.lost, "record is", "records are"));
    unlink(spool);
    unlink(names);
    return TV_OK;
}

/* Recover every spool in the directory. */
static enum tv_status cmd_recover_all(const struct tv_settings *settings, const char *folder,
                                      struct tv_error *err)
{
    struct dirent *entry;
    enum tv_status status = TV_OK;
    struct tv_error later;
    size_t found = 0;
    DIR *files = opendir(folder);
    if (!files)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", folder, strerror(errno));
    /* The first error is reported, but all spools are processed. */
    while ((entry = readdir(files))) {
        if (cmd_recover_stem(entry->d_name) == 0)
            continue;
        if (found++ > 0 && settings->output) {
            status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                             "%s has several recordings: omit --output", folder);
            break;
        }
        enum tv_status one =
            cmd_recover_one(settings, folder, entry->d_name, status == TV_OK ? err : &later);
        status = status == TV_OK ? one : status;
    }
    closedir(files);
    if (status == TV_OK && found == 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: no " PREFIX "*" SUFFIX, folder);
    return status;
}

static int cmd_recover_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    if (cmd_recover_all(settings, settings->files.items[0], &err) != TV_OK)
        return tv_command_failed(command, &err);
    return TV_EXIT_OK;
}

const struct tv_command tv_command_recover = {
    .name = "recover",
    .summary = "recover the traces of killed programs from their spool directory",
    .arguments = "[OPTION]... DIR",
    .details = NULL,
    .options = recover_options,
    .min_files = 1,
    .max_files = 1,
    .run = cmd_recover_run,
};
