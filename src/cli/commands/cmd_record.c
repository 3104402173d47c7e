/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_record.c - `record` and `recover`: their options, and what follows a
 * recording.  The recording itself is in record/.
 *
 *     record     options --> plan (record/plan.c) --> recording (record/record.h)
 *                --> the viewer, with --open
 *     recover    traceview-PID.spool + traceview-PID.names --> trace
 *
 * The exit code of `record` is that of the program; only if it is 0 can it be
 * that of the recording.  So scripts see the program as if it ran by itself.
 */
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
        "file to write (default: dmtrace.trace; with --sample, --alloc or --lock: samples.json); "
        "with --side: directory (default: runs)"),
    TV_OPTION("o", "FILE", TV_OPTION_TEXT, output, "same as --output"),
    TV_OPTION("side", "LABEL=COMMAND", TV_OPTION_LIST, record.sides,
              "record two programs in turn, to compare them with diff: --side base='./old -n 9' "
              "--side new='./new -n 9'"),
    TV_OPTION("runs", "N", TV_OPTION_COUNT, record.runs,
              "with --side: complete runs of each side (default: 10)"),
    TV_OPTION("seed", "N", TV_OPTION_COUNT, record.seed,
              "with --side: repeat the order of the runs of the recording that printed this seed"),
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
              "write the ring of a running recording (--full ring); the recording continues"),
    TV_OPTION("android", "PACKAGE", TV_OPTION_TEXT, record.android,
              "record an app on an Android device, or its process PACKAGE:NAME"),
    TV_OPTION("device", "SERIAL", TV_OPTION_TEXT, record.device,
              "device to use if several are connected (default: ANDROID_SERIAL)"),
    TV_OPTION("mapping", "FILE", TV_OPTION_TEXT, input.mapping,
              "with --android: restore original names from an R8 or ProGuard mapping file"),
    TV_OPTION("delay", "TIME", TV_OPTION_TEXT, record.delay,
              "JVM or process: start recording after this time: 500ms, 10s"),
    TV_OPTION("duration", "TIME", TV_OPTION_TEXT, record.duration,
              "JVM or process: record for this time (default: until it ends, or Ctrl-C)"),
    TV_OPTION("host", "auto|java|native", TV_OPTION_CHOICE, record.host,
              "kind of program, if its file does not say (default: auto)"),
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

/* Refuse options that only --side gives a meaning. */
static enum tv_status cmd_record_check_single(const struct tv_settings *settings,
                                              struct tv_error *err)
{
    static const char *const of_sides[] = {"runs", "seed"};
    for (size_t i = 0; i < TV_COUNT(of_sides); i++)
        if (tv_record_is_given(record_options, settings, of_sides[i]))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s needs --side", of_sides[i]);
    return TV_OK;
}

/* The exit code of the program comes before that of the recording. */
static int cmd_record_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_record_plan plan = {.settings = settings};
    struct tv_words files = {0};
    struct tv_error err = {0};
    int code = TV_EXIT_OK;
    if (settings->record.sides.count > 0)
        return tv_record_sides(command, settings);
    enum tv_status status = cmd_record_check_single(settings, &err);
    if (status == TV_OK)
        status = tv_record_make_plan(record_options, settings, &plan, &err);
    if (status == TV_OK)
        status = tv_record_start(&plan, &code, &files, &err);
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
                 "PACKAGE[:PROCESS] | --side LABEL=COMMAND --side LABEL=COMMAND",
    .details = "Java programs are recorded as they are, also when a script starts them.  Calls of "
               "native\nprograms need -finstrument-functions; samples do not.  The exit code is "
               "the program's.",
    .options = record_options,
    .min_files = 0,
    .max_files = TV_ANY_FILES,
    .run = cmd_record_run,
};

/* ---- recover ---- */

/* Names of the files that a recorder with --spool leaves behind when it is
 * killed. */
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

/* One folder, with one spool or many. */
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
