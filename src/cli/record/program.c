/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - starts a program and records it.
 *
 *     native program       LD_PRELOAD
 *     Java launcher        -agentpath as its first argument
 *     script, JDK tool     JAVA_TOOL_OPTIONS, inherited by every JVM it starts
 *     no hooks of its own  LD_PRELOAD, inherited by what it starts (sh, env, taskset)
 *
 * In the last two cases each process writes its own file, with its process id in the name; if only
 * one file results, it gets the name that was asked for.
 *
 *     we                                        child
 *     block the ending signals, fork            set the variables, exec
 *     pass signals on to the child    ------->  SIGINT ...: it ends, and its recorder writes
 *     wait                            <-------  exit code, which becomes ours
 *     finish the files: names, part files
 *
 * Signals are blocked over the fork, so that none ends us between the fork and the moment when its
 * handler knows the child.  Ctrl-C reaches both of us from the terminal (SI_KERNEL) and is not
 * passed on a second time. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"
#include "cli/output/message.h"
#include "cli/record/native_names.h"
#include "cli/record/record.h"

/* ---- Signals meanwhile ---- */

static const int ending_signals[TV_RECORD_SIGNALS] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/* The process that gets the signals; a handler can only know a global. */
static pid_t signal_receiver;
static volatile sig_atomic_t signal_last;
static sigset_t signals_noted;

/* Note a signal and send it to the child (a signal handler). */
static void record_pass_signal_on(int number, siginfo_t *info, void *unused)
{
    int error = errno;
    (void)unused;
    if (sigismember(&signals_noted, number) == 1)
        signal_last = number;
    if (signal_receiver > 0 && info->si_code != SI_KERNEL)
        kill(signal_receiver, number);
    errno = error;
}

void tv_record_signals_block(struct tv_record_signal_state *before)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < TV_RECORD_SIGNALS; i++)
        sigaddset(&ours, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &ours, &before->mask);
}

void tv_record_signals_unblock(const struct tv_record_signal_state *before)
{
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

void tv_record_signals_pass_on(struct tv_record_signal_state *before, pid_t child)
{
    assert(child != 0);
    signal_receiver = child;
    for (size_t i = 0; i < TV_RECORD_SIGNALS; i++) {
        struct sigaction action = {.sa_sigaction = record_pass_signal_on,
                                   .sa_flags = SA_RESTART | SA_SIGINFO};
        sigaction(ending_signals[i], &action, &before->actions[i]);
    }
    tv_record_signals_unblock(before);
}

void tv_record_signals_note(void)
{
    struct sigaction before;
    struct sigaction action = {.sa_sigaction = record_pass_signal_on,
                               .sa_flags = SA_RESTART | SA_SIGINFO};
    for (size_t i = 0; i < TV_RECORD_SIGNALS; i++) {
        if (sigaction(ending_signals[i], NULL, &before) != 0 || before.sa_handler == SIG_IGN)
            continue;
        sigaddset(&signals_noted, ending_signals[i]);
        sigaction(ending_signals[i], &action, NULL);
    }
}

int tv_record_signals_last(void)
{
    return signal_last;
}

void tv_record_signals_restore(const struct tv_record_signal_state *before)
{
    for (size_t i = 0; i < TV_RECORD_SIGNALS; i++)
        sigaction(ending_signals[i], &before->actions[i], NULL);
    signal_receiver = 0; /* its process has been reaped */
}

int tv_record_signals_watch(sigset_t *blocked)
{
    struct sigaction now;
    sigemptyset(blocked);
    sigaddset(blocked, SIGINT);
    sigaddset(blocked, SIGTERM);
    if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(blocked, SIGHUP);
    sigprocmask(SIG_BLOCK, blocked, NULL);
    return signalfd(-1, blocked, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- The environment of the program ---- */

#define NATIVE_LIBRARY "libtraceview-record.so"
#define AGENT_LIBRARY "libtraceview-agent.so"

/* Exit codes as in shells. */
#define NOT_FOUND 127
#define NOT_STARTED 126

/* The program to start. */
struct recorded_program {
    const struct tv_record_plan *plan;
    char library[TV_RECORD_PATH]; /* recorder of native programs; "": none */
    char *agent;                  /* "-agentpath:...", for JVMs */
    char **words;
    struct timespec began;
};

/* Set the variables for samples. They are written with addresses; native_samples.c adds names and
 * converts the format. */
static void program_export_samples(const struct tv_record_plan *plan)
{
    const struct tv_record_settings *record = &plan->settings->record;
    static const char *const stacks[] = {
        [TV_RECORD_STACK_SHADOW] = "shadow", [TV_RECORD_STACK_FP] = "fp"};
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)record->sample);
    setenv("TRACEVIEW_RECORD_SAMPLE", text, 1);
    setenv("TRACEVIEW_RECORD_ADDRESSES", "1", 1);
    if (plan->form == TV_SAMPLES_EVENTS)
        setenv("TRACEVIEW_RECORD_SAMPLE_TIMES", "1", 1);
    snprintf(text, sizeof text, "%llu", (unsigned long long)record->depth);
    if (record->depth > 0)
        setenv("TRACEVIEW_RECORD_SAMPLE_DEPTH", text, 1);
    if (record->stack == TV_RECORD_STACK_SHADOW || record->stack == TV_RECORD_STACK_FP)
        setenv("TRACEVIEW_RECORD_SAMPLE_STACK", stacks[record->stack], 1);
}

/* Append a word to an environment variable. */
static void program_append_variable(const char *name, const char *word, char between)
{
    const char *before = getenv(name);
    if (!before || before[0] == '\0') {
        setenv(name, word, 1);
        return;
    }
    size_t size = strlen(before) + strlen(word) + 2;
    char *text = tv_alloc(size, 1);
    snprintf(text, size, "%s%c%s", before, between, word);
    setenv(name, text, 1);
    tv_free(text);
}

/* Set a variable to a list of words, one per line. */
static void program_export_list(const char *name, const struct tv_words *words)
{
    unsetenv(name);
    for (size_t i = 0; i < words->count; i++)
        program_append_variable(name, words->items[i], '\n');
}

/* Put the options into the environment, from which the library in the program reads them. */
static void program_export_calls(const struct tv_record_plan *plan)
{
    const struct tv_record_settings *record = &plan->settings->record;
    static const char *const clocks[] = {"wall", "cpu", "dual"};
    static const char *const fulls[] = {"stop", "ring", "stream"};
    char text[24];
    setenv("TRACEVIEW_RECORD_CLOCK", clocks[record->clock], 1);
    setenv("TRACEVIEW_RECORD_FULL", fulls[plan->full], 1);
    snprintf(text, sizeof text, "%llu", (unsigned long long)record->buffer);
    if (record->buffer > 0)
        setenv("TRACEVIEW_RECORD_BUFFER", text, 1);
    snprintf(text, sizeof text, "%llu000", (unsigned long long)plan->least_us);
    if (plan->least_us > 0)
        setenv("TRACEVIEW_RECORD_MIN_DURATION", text, 1);
    program_export_list("TRACEVIEW_RECORD_TRIGGER", &record->trigger);
    unsetenv("TRACEVIEW_RECORD_SLOW");
    snprintf(text, sizeof text, "%llu000", (unsigned long long)plan->slow_us);
    if (plan->slow[0]) {
        setenv("TRACEVIEW_RECORD_SLOW", plan->slow, 1);
        setenv("TRACEVIEW_RECORD_SLOW_NS", text, 1);
    }
    if (plan->grows)
        setenv("TRACEVIEW_RECORD_GROW", "1", 1);
    if (plan->spool[0])
        setenv("TRACEVIEW_RECORD_SPOOL", plan->spool, 1);
    if (record->follow)
        setenv("TRACEVIEW_RECORD_FORK", "follow", 1);
    setenv("TRACEVIEW_RECORD_ADDRESSES", "1", 1);
}

/* Let gcc's address sanitizer accept our library. It ends a program in which its own library is not
 * the first one; ours does not interfere with it. */
static void program_allow_sanitizer(void)
{
    program_append_variable("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
}

/* Set the variables by which the recorder in a native program gets its options. */
static void program_export_native(const struct recorded_program *program)
{
    const struct tv_settings *settings = program->plan->settings;
    program_append_variable("LD_PRELOAD", program->library, ':');
    program_allow_sanitizer();
    setenv("TRACEVIEW_RECORD", program->plan->output, 1);
    if (settings->record.sample > 0)
        program_export_samples(program->plan);
    else
        program_export_calls(program->plan);
    if (program->plan->into_children)
        setenv("TRACEVIEW_RECORD_CHILDREN", "1", 1);
    if (settings->quiet)
        setenv("TRACEVIEW_RECORD_QUIET", "1", 1);
}

/* Let every JVM that inherits the environment load the agent. */
static void program_export_agent(const struct recorded_program *program)
{
    char *quoted = tv_record_quote(program->agent);
    program_append_variable("JAVA_TOOL_OPTIONS", quoted, ' ');
    tv_free(quoted);
}

/* Return "app.%p.trace" for "app.trace"; a percent sign in the path is doubled. */
static char *program_path_with_pid(const char *path)
{
    assert(path[0] == '/');
    const char *slash = strrchr(path, '/'), *dot = strchr(slash, '.');
    size_t stem = dot ? (size_t)(dot - path) : strlen(path);
    char *pattern = tv_alloc(2 * strlen(path) + 4, 1), *to = pattern;
    for (size_t i = 0; i <= strlen(path); i++) {
        if (i == stem) {
            memcpy(to, ".%p", 3);
            to += 3;
        }
        *to++ = path[i];
        if (path[i] == '%')
            *to++ = '%';
    }
    return pattern;
}

/* Make the -agentpath option; JVMs that inherit it each write their own file. */
static char *program_make_agent(const struct recorded_program *program, const char *library)
{
    bool own_file = program->plan->way == TV_RECORD_INHERITED;
    char *file = own_file ? program_path_with_pid(program->plan->output) : NULL;
    char *options =
        tv_record_agent_options(program->plan, file ? file : program->plan->output, own_file);
    size_t size = strlen(library) + strlen(options) + sizeof "-agentpath:=";
    char *agent = tv_alloc(size, 1);
    snprintf(agent, size, "-agentpath:%s=%s", library, options);
    tv_free(options);
    tv_free(file);
    return agent;
}

/* Find the agent and make its option. */
static enum tv_status program_find_agent(struct recorded_program *program, struct tv_error *err)
{
    char library[TV_RECORD_PATH];
    enum tv_status status = tv_record_find_library("recorder/agent", AGENT_LIBRARY, library, err);
    if (status != TV_OK)
        return status;
    if (strchr(library, '='))
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "%s: a JVM cannot load an agent from a path with '='", library);
    program->agent = program_make_agent(program, library);
    return TV_OK;
}

/* Find the recorder's libraries. A script may start programs of both kinds; if one library is
 * missing, the other kind is still recorded. */
static enum tv_status program_find_libraries(struct recorded_program *program, struct tv_error *err)
{
    const struct tv_record_plan *plan = program->plan;
    struct tv_error unimportant = {0};
    enum tv_status status = TV_OK;
    if (plan->way != TV_RECORD_PRELOADED)
        status = program_find_agent(program, err);
    if (plan->way != TV_RECORD_PRELOADED && !plan->into_children)
        return status;
    enum tv_status native =
        tv_record_find_library("recorder/native", NATIVE_LIBRARY, program->library, &unimportant);
    if (native != TV_OK)
        program->library[0] = '\0';
    if (plan->way == TV_RECORD_PRELOADED && native != TV_OK)
        return tv_fail(err, native, TV_NO_OFFSET, "%s", unimportant.message);
    if (native == TV_OK && status != TV_OK && !plan->settings->quiet)
        tv_message("traceview: JVMs are not recorded: %s", err->message);
    return native == TV_OK ? TV_OK : status;
}

/* Make the words of the program's command line, with the agent as its first argument where it is
 * loaded so, and note the time: older files of its name are not its traces. */
static enum tv_status program_prepare(struct recorded_program *program, struct tv_error *err)
{
    assert(program->plan->settings->files.count > 0);
    const struct tv_words *words = &program->plan->settings->files;
    enum tv_status status = program_find_libraries(program, err);
    if (status != TV_OK)
        return status;
    /* Two more words: the agent and NULL. */
    program->words = tv_alloc(words->count + 2, sizeof *program->words);
    bool argument = program->plan->way == TV_RECORD_ARGUMENT;
    memcpy(program->words, words->items, sizeof *program->words);
    if (argument)
        program->words[1] = program->agent;
    memcpy(program->words + 1 + argument, words->items + 1,
           (words->count - 1) * sizeof *program->words);
    clock_gettime(CLOCK_REALTIME_COARSE, &program->began);
    return TV_OK;
}

/* Exec the program; write the error of a failed exec to `report`. */
static _Noreturn void program_exec(const struct recorded_program *program, int report)
{
    if (program->library[0])
        program_export_native(program);
    if (program->plan->way == TV_RECORD_INHERITED && program->agent)
        program_export_agent(program);
    execvp(program->words[0], program->words);
    int error = errno;
    if (write(report, &error, sizeof error) < 0)
        _exit(NOT_STARTED);
    _exit(NOT_FOUND);
}

static pid_t recorded_child;

/* Wait for the program to end. */
static enum tv_status program_await(int *code, struct tv_error *err)
{
    if (tv_program_wait(recorded_child, code))
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "wait: %s", strerror(errno));
}

/* Wait for a program whose start failed with `error`, or 0.  The exit codes are those of shells:
 * 127 for one that is not found, 126 for one that cannot be started. */
static enum tv_status program_await_start(const struct recorded_program *program, int error,
                                          int *code, struct tv_error *err)
{
    enum tv_status status = program_await(code, err);
    if (status != TV_OK || error == 0)
        return status;
    *code = error == ENOENT ? NOT_FOUND : NOT_STARTED;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: cannot be started: %s", program->words[0],
                   strerror(error));
}

/* Fork, exec and wait. `ends` is a pipe that closes at a successful exec. */
static enum tv_status program_run_between(const struct recorded_program *program, const int *ends,
                                          int *code, struct tv_error *err)
{
    struct tv_record_signal_state signals;
    int error = 0;
    tv_record_signals_block(&signals);
    recorded_child = fork();
    if (recorded_child == 0) {
        tv_record_signals_unblock(&signals);
        program_exec(program, ends[1]);
    }
    close(ends[1]);
    if (recorded_child < 0)
        error = errno;
    else if (read(ends[0], &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    tv_record_signals_pass_on(&signals, recorded_child);
    enum tv_status status =
        recorded_child > 0 ? program_await_start(program, error, code, err)
                           : tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "fork: %s", strerror(error));
    tv_record_signals_restore(&signals);
    return status;
}

static enum tv_status program_run(const struct recorded_program *program, int *code,
                                  struct tv_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "pipe: %s", strerror(errno));
    enum tv_status status = program_run_between(program, ends, code, err);
    close(ends[0]);
    return status;
}

/* ---- The files afterwards ---- */

static bool program_is_empty_file(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && found.st_size == 0;
}

/* Is it the name that a JVM gives to its file: "app.PID.trace" for "app.trace"? */
static bool program_is_jvm_file(const char *name, const char *pattern)
{
    size_t stem = strcspn(pattern, ".");
    if (strncmp(name, pattern, stem) != 0 || name[stem] != '.')
        return false;
    size_t digits = strspn(name + stem + 1, "0123456789");
    return digits > 0 && strcmp(name + stem + 1 + digits, pattern + stem) == 0;
}

/* Is it the name that a forked child gives to its file: a number for each fork, before the last
 * dot? */
static bool program_is_child_file(const char *name, const char *pattern)
{
    const char *dot = strrchr(pattern, '.');
    size_t stem = dot ? (size_t)(dot - pattern) : strlen(pattern), forks = 0, digits;
    if (strncmp(name, pattern, stem) != 0)
        return false;
    for (name += stem; name[0] == '.' && (digits = strspn(name + 1, "0123456789")) > 0; forks++)
        name += 1 + digits;
    return forks > 0 && strcmp(name, pattern + stem) == 0;
}

/* True when a regular file was written at or after `since`: an old recording at the same path does
 * not count as this program's. */
static bool program_is_new_file(const char *path, struct timespec since)
{
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    return found.st_mtim.tv_sec > since.tv_sec ||
           (found.st_mtim.tv_sec == since.tv_sec && found.st_mtim.tv_nsec >= since.tv_nsec);
}

/* Add a copy of the path, which is freed with the list. */
static void program_add_file(struct tv_words *files, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = tv_alloc(size, 1);
    snprintf(path, size, "%s%s%s", folder, folder[0] ? "/" : "", name);
    files->items =
        tv_array_reserve(files->items, &files->capacity, files->count + 1, sizeof *files->items);
    files->items[files->count++] = path;
}

void tv_record_release(struct tv_words *files)
{
    for (size_t i = 0; i < files->count; i++) {
        void *path;
        memcpy(&path, &files->items[i], sizeof path);
        tv_free(path);
    }
    tv_free(files->items);
    *files = (struct tv_words){0};
}

typedef bool program_file_test(const char *name, const char *pattern);

/* Collect the files with matching names that were written since the start. */
static void program_collect_files(const struct recorded_program *program,
                                  program_file_test *is_wanted, struct tv_words *files)
{
    char folder[TV_RECORD_PATH], path[TV_RECORD_PATH + sizeof((struct dirent){0}).d_name];
    struct dirent *entry;
    snprintf(folder, sizeof folder, "%s", program->plan->output);
    char *name = strrchr(folder, '/');
    *name++ = '\0';
    /* Use "/" for a file in the root directory. */
    if (folder[0] == '\0')
        folder[0] = '/', folder[1] = '\0', name = strrchr(program->plan->output, '/') + 1;
    DIR *entries = opendir(folder);
    while (entries && (entry = readdir(entries))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (is_wanted(entry->d_name, name) && program_is_new_file(path, program->began))
            program_add_file(files, folder, entry->d_name);
    }
    if (entries)
        closedir(entries);
}

/* Has the writer of the part gone? Recorders lock the files they write. */
static bool program_is_abandoned_part(const char *part)
{
    int file = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool left = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
    if (file >= 0)
        close(file);
    return left;
}

void tv_record_finish_part(const struct tv_record_plan *plan, const char *part)
{
    bool native = plan->way == TV_RECORD_PRELOADED || plan->way == TV_RECORD_INHERITED;
    struct tv_error unread = {0};
    if (!program_is_abandoned_part(part))
        return;
    if (program_is_empty_file(part))
        unlink(part);
    else if (native && !plan->spool[0] && tv_native_names_resolve(part, &unread) != TV_OK)
        return; /* the missing file is reported anyway */
}

/* Is it the .part file of a process of the program, with its id in the name? */
static bool program_is_part(const char *name, const char *pattern)
{
    static const char end[] = ".part";
    char stem[TV_RECORD_PATH];
    size_t length = strlen(name);
    if (length < sizeof end || length >= sizeof stem ||
        strcmp(name + length - (sizeof end - 1), end) != 0)
        return false;
    snprintf(stem, sizeof stem, "%.*s", (int)(length - (sizeof end - 1)), name);
    return program_is_jvm_file(stem, pattern) || program_is_child_file(stem, pattern);
}

static void program_leave_parts(const struct recorded_program *program)
{
    struct tv_words parts = {0};
    char own[TV_RECORD_PATH + 8];
    snprintf(own, sizeof own, "%s.part", program->plan->output);
    tv_record_finish_part(program->plan, own);
    program_collect_files(program, program_is_part, &parts);
    for (size_t i = 0; i < parts.count; i++)
        tv_record_finish_part(program->plan, parts.items[i]);
    tv_record_release(&parts);
}

static bool program_is_any_file(const char *name, const char *pattern)
{
    return program_is_jvm_file(name, pattern) || program_is_child_file(name, pattern);
}

/* Finish a recording in which each process wrote its own file. */
static enum tv_status program_finish_children(const struct recorded_program *program, int code,
                                              struct tv_words *files, struct tv_error *err)
{
    assert(program->plan->output[0] == '/');
    const struct tv_record_plan *plan = program->plan;
    program_collect_files(program, program_is_any_file, files);
    if (files->count == 0)
        return tv_record_fail_unwritten(plan, code, err);
    if (files->count > 1) {
        for (size_t i = 0; !plan->settings->quiet && i < files->count; i++)
            tv_message("traceview: %s", files->items[i]);
        return TV_OK;
    }
    if (rename(files->items[0], plan->output) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", plan->output, strerror(errno));
    tv_record_release(files);
    program_add_file(files, "", plan->output);
    return TV_OK;
}

/* Finish a recording in which the program itself wrote the file. */
static enum tv_status program_finish_own(const struct recorded_program *program, int code,
                                         struct tv_words *files, struct tv_error *err)
{
    const struct tv_record_plan *plan = program->plan;
    bool written = tv_record_is_written(plan);
    if (written && program_is_empty_file(plan->output))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: nothing was written (exit code %d)",
                       plan->output, code);
    if (!written || access(plan->output, R_OK) != 0)
        return tv_record_fail_unwritten(plan, code, err);
    program_add_file(files, "", plan->output);
    if (plan->settings->record.follow)
        program_collect_files(program, program_is_child_file, files);
    return TV_OK;
}

/* Finish .part files, find the recorded files, name native functions, and check that there are
 * events. */
static enum tv_status program_finish(const struct recorded_program *program, int code,
                                     struct tv_words *files, struct tv_error *err)
{
    const struct tv_record_plan *plan = program->plan;
    const struct tv_record_settings *record = &plan->settings->record;
    program_leave_parts(program);
    enum tv_status status = plan->way == TV_RECORD_INHERITED || plan->into_children
                                ? program_finish_children(program, code, files, err)
                                : program_finish_own(program, code, files, err);
    if (status == TV_OK && plan->way == TV_RECORD_PRELOADED && record->sample > 0)
        return tv_native_samples_resolve(plan->output, (enum tv_samples_form)plan->form, err);
    for (size_t i = 0; i < files->count && status == TV_OK && program->library[0]; i++)
        status = tv_native_names_resolve(files->items[i], err);
    if (status == TV_OK && files->count == 1)
        status = tv_record_check_events(plan, err);
    return status;
}

enum tv_status tv_record_program(const struct tv_record_plan *plan, int *code,
                                 struct tv_words *files, struct tv_error *err)
{
    struct recorded_program program = {.plan = plan};
    enum tv_status status = program_prepare(&program, err);
    if (status == TV_OK)
        status = program_run(&program, code, err);
    if (status == TV_OK)
        status = program_finish(&program, *code, files, err);
    tv_free(program.agent);
    tv_free(program.words);
    return status;
}
