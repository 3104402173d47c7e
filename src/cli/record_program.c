/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_program.c - a program that is started to be recorded.
 *
 * A native one finds the recorder by LD_PRELOAD, a launcher of Java as its first argument. Whatever
 * starts JVMs further on hands JAVA_TOOL_OPTIONS to them: each writes a file of its own, with its
 * number in the name, and a file that stays the only one gets the name that was asked for.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/message.h"
#include "cli/native_names.h"
#include "cli/native_samples.h"
#include "cli/record.h"

#define NATIVE_LIBRARY "libtraceview-record.so"
#define AGENT_LIBRARY "libtraceview-agent.so"

/* --full, its place among the choices. */
#define STREAM 2u

/* Exit codes of shells. */
#define NOT_FOUND 127
#define NOT_STARTED 126

/* The program as it is started. */
struct program {
    const struct tv_record_plan *plan;
    char library[TV_RECORD_PATH];
    char *agent; /* -agentpath:..., for JVMs */
    char **words;
    struct timespec began;
};

/* Written with addresses, in the form that is read back: names and form come afterwards. */
static void put_samples(const struct tv_record_plan *plan)
{
    const struct tv_record_settings *record = &plan->settings->record;
    static const char *const stacks[] = {"", "", "shadow", "fp"};
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)record->sample);
    setenv("TRACEVIEW_RECORD_SAMPLE", text, 1);
    setenv("TRACEVIEW_RECORD_ADDRESSES", "1", 1);
    if (plan->form == TV_SAMPLES_EVENTS)
        setenv("TRACEVIEW_RECORD_SAMPLE_TIMES", "1", 1);
    snprintf(text, sizeof text, "%llu", (unsigned long long)record->depth);
    if (record->depth > 0)
        setenv("TRACEVIEW_RECORD_SAMPLE_DEPTH", text, 1);
    if (record->stack > 1)
        setenv("TRACEVIEW_RECORD_SAMPLE_STACK", stacks[record->stack], 1);
}

static void put_calls(const struct tv_record_plan *plan)
{
    const struct tv_record_settings *record = &plan->settings->record;
    static const char *const clocks[] = {"wall", "cpu", "dual"};
    static const char *const fulls[] = {"stop", "ring", "stream"};
    char text[24];
    setenv("TRACEVIEW_RECORD_CLOCK", clocks[record->clock], 1);
    setenv("TRACEVIEW_RECORD_FULL", fulls[record->full], 1);
    snprintf(text, sizeof text, "%llu", (unsigned long long)record->buffer);
    if (record->buffer > 0)
        setenv("TRACEVIEW_RECORD_BUFFER", text, 1);
    if (plan->spool[0])
        setenv("TRACEVIEW_RECORD_SPOOL", plan->spool, 1);
    if (record->follow)
        setenv("TRACEVIEW_RECORD_FORK", "follow", 1);
    setenv("TRACEVIEW_RECORD_ADDRESSES", "1", 1);
}

/* Puts `word` behind what the variable has, if anything. */
static void add_to_variable(const char *name, const char *word, char between)
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

static void put_native(const struct program *program)
{
    const struct tv_settings *settings = program->plan->settings;
    add_to_variable("LD_PRELOAD", program->library, ':');
    setenv("TRACEVIEW_RECORD", program->plan->output, 1);
    if (settings->record.sample > 0)
        put_samples(program->plan);
    else
        put_calls(program->plan);
    if (settings->quiet)
        setenv("TRACEVIEW_RECORD_QUIET", "1", 1);
}

static void put_inherited(const struct program *program)
{
    char *quoted = tv_record_quote(program->agent);
    add_to_variable("JAVA_TOOL_OPTIONS", quoted, ' ');
    tv_free(quoted);
}

/* "app.%p.trace" for "app.trace"; a percent sign of the path is written twice. */
static char *with_pid(const char *path)
{
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

static char *make_agent(const struct program *program)
{
    bool own_file = program->plan->way == TV_RECORD_INHERITED;
    char *file = own_file ? with_pid(program->plan->output) : NULL;
    char *options =
        tv_record_agent_options(program->plan, file ? file : program->plan->output, own_file);
    size_t size = strlen(program->library) + strlen(options) + sizeof "-agentpath:=";
    char *agent = tv_alloc(size, 1);
    snprintf(agent, size, "-agentpath:%s=%s", program->library, options);
    tv_free(options);
    tv_free(file);
    return agent;
}

static enum tv_status prepare(struct program *program, struct tv_error *err)
{
    const struct tv_words *words = &program->plan->settings->files;
    bool native = program->plan->way == TV_RECORD_PRELOADED;
    enum tv_status status =
        tv_record_find_library(native ? "recorder/native" : "recorder/agent",
                               native ? NATIVE_LIBRARY : AGENT_LIBRARY, program->library, err);
    if (status != TV_OK)
        return status;
    if (!native && strchr(program->library, '='))
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "%s: a JVM takes no agent from a path with '='", program->library);
    if (!native)
        program->agent = make_agent(program);
    /* Room for the agent and the end. */
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

/* Tells `report` why it could not. */
static _Noreturn void become(const struct program *program, int report)
{
    if (program->plan->way == TV_RECORD_PRELOADED)
        put_native(program);
    else if (program->plan->way == TV_RECORD_INHERITED)
        put_inherited(program);
    execvp(program->words[0], program->words);
    int error = errno;
    if (write(report, &error, sizeof error) < 0)
        _exit(NOT_STARTED);
    _exit(NOT_FOUND);
}

static pid_t child;

static void pass_on(int number)
{
    int error = errno;
    kill(child, number);
    errno = error;
}

/* Ctrl-C comes to the program by itself; what is for us alone is passed on.  Its file is still to
 * be finished here. */
static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof signals / sizeof signals[0])

static void take_signals(struct sigaction *before)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction action = {.sa_handler = i < 2 ? SIG_IGN : pass_on, .sa_flags = SA_RESTART};
        sigaction(signals[i], &action, &before[i]);
    }
}

/* The viewer is ended by them. */
static void give_signals_back(const struct sigaction *before)
{
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

static enum tv_status await(int *code, struct tv_error *err)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "wait: %s", strerror(errno));
    *code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return TV_OK;
}

static enum tv_status await_and_say(const struct program *program, int error, int *code,
                                    struct tv_error *err)
{
    enum tv_status status = await(code, err);
    if (status != TV_OK || error == 0)
        return status;
    *code = error == ENOENT ? NOT_FOUND : NOT_STARTED;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: cannot be started: %s", program->words[0],
                   strerror(error));
}

/* `ends` is a pipe that closes when the program has taken the child's place. */
static enum tv_status run_between(const struct program *program, const int *ends, int *code,
                                  struct tv_error *err)
{
    struct sigaction actions[SIGNALS];
    sigset_t ours, before;
    int error = 0;
    sigemptyset(&ours);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaddset(&ours, signals[i]);
    sigprocmask(SIG_BLOCK, &ours, &before);
    child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        become(program, ends[1]);
    }
    close(ends[1]);
    if (child < 0)
        error = errno;
    else if (read(ends[0], &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    take_signals(actions);
    sigprocmask(SIG_SETMASK, &before, NULL);
    enum tv_status status =
        child > 0 ? await_and_say(program, error, code, err)
                  : tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "fork: %s", strerror(error));
    give_signals_back(actions);
    return status;
}

static enum tv_status run(const struct program *program, int *code, struct tv_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "pipe: %s", strerror(errno));
    enum tv_status status = run_between(program, ends, code, err);
    close(ends[0]);
    return status;
}

static bool is_empty(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && found.st_size == 0;
}

/* What nobody will finish goes if it is empty; a streamed file can be read as it is, and one that
 * is written has only its name to come: both get names.  That of a spool is left to `recover`. */
static void leave_part(const struct tv_record_plan *plan)
{
    char part[TV_RECORD_PATH + 8];
    struct tv_error unread = {0};
    snprintf(part, sizeof part, "%s.part", plan->output);
    if (is_empty(part))
        unlink(part);
    else if (plan->way == TV_RECORD_PRELOADED && !plan->spool[0] &&
             tv_native_names_resolve(part, &unread) != TV_OK)
        return; /* that there is no file is told anyway */
}

/* Is there a whole trace that could not get its name: its process had another root by then, or
 * other rights? */
static bool has_no_name(const struct tv_record_plan *plan, char *part, size_t size)
{
    static const char magic[] = "*version";
    char found[sizeof magic - 1] = "";
    snprintf(part, size, "%s.part", plan->output);
    int file = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_trace = file >= 0 && read(file, found, sizeof found) == (ssize_t)sizeof found &&
                    memcmp(found, magic, sizeof found) == 0;
    if (file >= 0)
        close(file);
    return is_trace;
}

static enum tv_status not_written(const struct tv_record_plan *plan, int code, struct tv_error *err)
{
    const char *spool = plan->spool;
    char part[TV_RECORD_PATH + 8];
    if (has_no_name(plan, part, sizeof part))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s: the program could not give the trace its name (exit code %d): it is %s",
                       plan->output, code, part);
    const char *why = plan->way == TV_RECORD_INHERITED
                          ? "it started no JVM, or none that ended by itself"
                      : plan->way == TV_RECORD_ARGUMENT
                          ? "the JVM did not start, or was ended by SIGKILL or a "
                            "fault of its own"
                          : "the program ended by _exit, exec or SIGKILL, is linked "
                            "statically, or is started by another (then name it "
                            "itself; --host java when it starts a JVM)";
    tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
            "%s was not written (exit code %d): unless a line above says why, %s", plan->output,
            code, why);
    if (spool[0] && strlen(err->message) + strlen(spool) + 40 < sizeof err->message)
        snprintf(err->message + strlen(err->message), sizeof err->message - strlen(err->message),
                 "; try 'traceview recover %s'", spool);
    return err->status;
}

/* Is it what a JVM makes "app.trace" to: "app.PID.trace"? */
static bool is_of_jvm(const char *name, const char *pattern)
{
    size_t stem = strcspn(pattern, ".");
    if (strncmp(name, pattern, stem) != 0 || name[stem] != '.')
        return false;
    size_t digits = strspn(name + stem + 1, "0123456789");
    return digits > 0 && strcmp(name + stem + 1 + digits, pattern + stem) == 0;
}

/* Is it what a forked child makes it to: before the last dot, with a number for each fork? */
static bool is_of_child(const char *name, const char *pattern)
{
    const char *dot = strrchr(pattern, '.');
    size_t stem = dot ? (size_t)(dot - pattern) : strlen(pattern), forks = 0, digits;
    if (strncmp(name, pattern, stem) != 0)
        return false;
    for (name += stem; name[0] == '.' && (digits = strspn(name + 1, "0123456789")) > 0; forks++)
        name += 1 + digits;
    return forks > 0 && strcmp(name, pattern + stem) == 0;
}

static bool is_new(const char *path, struct timespec since)
{
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    return found.st_mtim.tv_sec > since.tv_sec ||
           (found.st_mtim.tv_sec == since.tv_sec && found.st_mtim.tv_nsec >= since.tv_nsec);
}

/* A copy of the path, which is freed with the files. */
static void add_file(struct tv_words *files, const char *folder, const char *name)
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

typedef bool is_of(const char *name, const char *pattern);

/* The files of such names that have been written since the start. */
static void collect(const struct program *program, is_of *is_wanted, struct tv_words *files)
{
    char folder[TV_RECORD_PATH], path[TV_RECORD_PATH + sizeof((struct dirent){0}).d_name];
    struct dirent *entry;
    snprintf(folder, sizeof folder, "%s", program->plan->output);
    char *name = strrchr(folder, '/');
    *name++ = '\0';
    /* "//" is the root too. */
    if (folder[0] == '\0')
        folder[0] = '/', folder[1] = '\0', name = strrchr(program->plan->output, '/') + 1;
    DIR *entries = opendir(folder);
    while (entries && (entry = readdir(entries))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (is_wanted(entry->d_name, name) && is_new(path, program->began))
            add_file(files, folder, entry->d_name);
    }
    if (entries)
        closedir(entries);
}

static enum tv_status finish_inherited(const struct program *program, int code,
                                       struct tv_words *files, struct tv_error *err)
{
    const struct tv_record_plan *plan = program->plan;
    collect(program, is_of_jvm, files);
    if (files->count == 0)
        return not_written(plan, code, err);
    if (files->count > 1) {
        for (size_t i = 0; !plan->settings->quiet && i < files->count; i++)
            tv_message("traceview: %s", files->items[i]);
        return TV_OK;
    }
    if (rename(files->items[0], plan->output) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", plan->output, strerror(errno));
    tv_record_release(files);
    add_file(files, "", plan->output);
    return TV_OK;
}

/* The program's own file and, of forked children, those that have ended before it. */
static enum tv_status name_calls(const struct program *program, struct tv_words *files,
                                 struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (program->plan->settings->record.follow)
        collect(program, is_of_child, files);
    for (size_t i = 0; i < files->count && status == TV_OK; i++)
        status = tv_native_names_resolve(files->items[i], err);
    return status;
}

static enum tv_status finish(const struct program *program, int code, struct tv_words *files,
                             struct tv_error *err)
{
    const struct tv_record_plan *plan = program->plan;
    if (plan->way == TV_RECORD_INHERITED)
        return finish_inherited(program, code, files, err);
    bool written = tv_record_is_written(plan);
    if (written && is_empty(plan->output))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: nothing was written (exit code %d)",
                       plan->output, code);
    if (!written || access(plan->output, R_OK) != 0) {
        leave_part(plan);
        return not_written(plan, code, err);
    }
    add_file(files, "", plan->output);
    if (plan->way != TV_RECORD_PRELOADED)
        return TV_OK;
    const struct tv_record_settings *record = &plan->settings->record;
    if (record->sample == 0)
        return name_calls(program, files, err);
    return tv_native_samples_resolve(plan->output, (enum tv_samples_form)plan->form, err);
}

enum tv_status tv_record_program(const struct tv_record_plan *plan, int *code,
                                 struct tv_words *files, struct tv_error *err)
{
    struct program program = {.plan = plan};
    enum tv_status status = prepare(&program, err);
    if (status == TV_OK)
        status = run(&program, code, err);
    if (status == TV_OK && finish(&program, *code, files, err) != TV_OK) {
        status = err->status;
        *code = 0;
    }
    tv_free(program.agent);
    tv_free(program.words);
    return status;
}
