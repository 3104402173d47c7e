/* SPDX-License-Identifier: Apache-2.0 */
/* jvm.c - the options of the agent, and the recording of a running JVM.
 *
 * The agent is loaded into the JVM with the options of the recording. Loading it again with "stop"
 * ends the recording: the agent writes the file before it answers.
 *
 *     our side                          the JVM's side
 *     ---- load agent, options --->     records
 *     holds a lock on a file            waits for that lock: if we are killed, it stops by itself
 *     ---- load agent, "stop" ---->     writes the file, then answers
 *
 * A JVM in a container, or of another user (if we are root), may reach neither our library nor our
 * directory. Both are staged in a directory in its /tmp then. A JVM that has loaded the agent
 * before gets commands through that copy, even if its file is gone, because rewritten classes call
 * into it. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/out.h"
#include "cli/output/atomic_file.h"
#include "cli/output/message.h"
#include "cli/record/record.h"
#include "wire/method_trace.h"

static bool agent_has_library(char *path, const char *folder, const char *name)
{
    int length = snprintf(path, TV_RECORD_PATH, "%s/%s", folder, name);
    return (unsigned)length < TV_RECORD_PATH && access(path, R_OK) == 0;
}

/* Search the subdirectories, too: installed libraries can be in one named after their architecture.
 */
static bool agent_has_library_below(char *path, const char *folder, const char *name)
{
    char below[TV_RECORD_PATH];
    struct dirent *entry;
    bool found = false;
    DIR *entries = opendir(folder);
    while (entries && !found && (entry = readdir(entries))) {
        int length = snprintf(below, sizeof below, "%s/%s", folder, entry->d_name);
        found = entry->d_name[0] != '.' && (size_t)length < sizeof below &&
                agent_has_library(path, below, name);
    }
    if (entries)
        closedir(entries);
    return found;
}

enum tv_status tv_record_find_library(const char *folder, const char *name, char *path,
                                      struct tv_error *err)
{
    const char *const places[] = {folder, ".", "../lib", "../lib64"};
    char own[TV_RECORD_PATH / 2], place[TV_RECORD_PATH];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        snprintf(place, sizeof place, "%s/%s", own, places[i]);
        if (agent_has_library(path, place, name) ||
            (i > 1 && agent_has_library_below(path, place, name)))
            return TV_OK;
    }
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "recorder library %s not found in %s or in lib beside it: build it with "
                   "'make'%s, or copy it there",
                   name, slash ? own : "the program's folder",
                   strstr(name, "agent") ? " on a machine with a JDK" : "");
}

/* Write a value: a comma is doubled, and with `exact` a percent sign, too. */
static void agent_put_value(struct tv_out *out, const char *value, bool exact)
{
    for (; *value; value++) {
        tv_out_char(out, *value);
        if (*value == ',' || (*value == '%' && exact))
            tv_out_char(out, *value);
    }
}

static void agent_put_text(struct tv_out *out, const char *name, const char *value, bool exact)
{
    tv_out_format(out, ",%s=", name);
    agent_put_value(out, value, exact);
}

static void agent_put_number(struct tv_out *out, const char *name, uint64_t value, const char *unit)
{
    if (value > 0)
        tv_out_format(out, ",%s=%" PRIu64 "%s", name, value, unit);
}

static void agent_put_patterns(struct tv_out *out, const char *name,
                               const struct tv_words *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        if (i == 0)
            tv_out_format(out, ",%s=", name);
        else
            tv_out_char(out, ':');
        agent_put_value(out, patterns->items[i], false);
    }
}

/* Write the agent's options for calls. */
static void agent_put_calls(struct tv_out *out, const struct tv_record_plan *plan)
{
    const struct tv_record_settings *record = &plan->settings->record;
    static const char *const clocks[] = {"wall", "cpu", "dual"};
    static const char *const fulls[] = {"stop", "ring", "stream"};
    static const char *const engines[] = {"auto", "bci", "events"};
    tv_out_format(out, "mode=trace,clock=%s,full=%s,engine=%s", clocks[record->clock],
                  fulls[plan->full], engines[record->engine]);
    agent_put_number(out, "buffer", record->buffer, "");
    agent_put_number(out, "least", plan->least_us, "us");
    if (plan->grows)
        tv_out_text(out, ",grow=y");
    if (plan->spool[0])
        agent_put_text(out, "spool", plan->spool, false);
    agent_put_patterns(out, "include", &record->include);
    agent_put_patterns(out, "exclude", &record->exclude);
    agent_put_patterns(out, "trigger", &record->trigger);
    if (plan->slow[0]) {
        agent_put_text(out, "slow", plan->slow, false);
        agent_put_number(out, "limit", plan->slow_us, "us");
    }
    if (record->threads)
        agent_put_text(out, "threads", record->threads, false);
    if (record->boot)
        tv_out_text(out, ",boot=y");
}

/* Write the agent's options for samples, allocations and locks. */
static void agent_put_samples(struct tv_out *out, const struct tv_record_plan *plan)
{
    static const char *const formats[] = {"android", "jdk", "binary", "json", "folded"};
    static const char *const stacks[] = {"auto", "jvmti", "agct"};
    static const char *const states[] = {"running", "runnable", "all"};
    const struct tv_record_settings *record = &plan->settings->record;
    tv_out_format(out, "mode=sample,rate=%" PRIu64 ",format=%s,stack=%s,state=%s", record->sample,
                  formats[plan->form], stacks[record->stack], states[record->state]);
    agent_put_number(out, "depth", record->depth, "");
    if (plan->with_alloc)
        agent_put_number(out, "alloc", record->alloc, "");
    if (plan->with_lock)
        tv_out_format(out, ",lock=%" PRIu64 "us", plan->lock_us);
    if (record->threads)
        agent_put_text(out, "threads", record->threads, false);
}

/* Return the text; the caller frees it with tv_free. */
static char *agent_text(struct tv_out *out)
{
    tv_out_char(out, '\0');
    return (char *)out->buffer;
}

char *tv_record_agent_options(const struct tv_record_plan *plan, const char *file, bool with_pid)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    if (plan->has_samples)
        agent_put_samples(&out, plan);
    else
        agent_put_calls(&out, plan);
    agent_put_text(&out, "file", file, !with_pid);
    agent_put_number(&out, "delay", plan->delay_ms, "ms");
    agent_put_number(&out, "duration", plan->duration_ms, "ms");
    if (plan->settings->quiet)
        tv_out_text(&out, ",quiet=y");
    return agent_text(&out);
}

char *tv_record_quote(const char *word)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_char(&out, '"');
    for (; *word; word++) {
        /* Only the quote itself is special between quotes: put it between other quotes. */
        if (*word == '"')
            tv_out_text(&out, "\"'\"'\"");
        else
            tv_out_char(&out, *word);
    }
    tv_out_char(&out, '"');
    return agent_text(&out);
}

#define AGENT_LIBRARY "libtraceview-agent.so"
#define STAGED_FILE "recording"
#define STAGED_LOCK "lock"
#define ANSWER_SIZE 1024

/* From this JDK on, a JVM prints a warning when an agent is loaded while it runs. */
#define WARNING_VERSION 21

/* ---- A running JVM ---- */

struct attached {
    const struct tv_record_plan *plan;
    struct tv_jvm jvm;
    int signals;
    int stage;                  /* descriptor of the directory in its /tmp; -1: none */
    char stage_path[64];        /* in our name space */
    bool is_loaded;             /* an earlier recording has loaded the agent */
    int lock;                   /* locked until the end; -1: none */
    char lock_path[96];         /* in our name space; "": no lock */
    char agent[TV_RECORD_PATH]; /* in the JVM's name space */
    char file[TV_RECORD_PATH];
};

/* ---- The directory in its /tmp ---- */

/* Copy a file to its end. */
static bool attached_copy(int from, int to)
{
    char piece[1 << 16];
    ssize_t got;
    while ((got = read(from, piece, sizeof piece)) > 0)
        for (ssize_t put = 0, done = 0; done < got; done += put)
            if ((put = write(to, piece + done, (size_t)(got - done))) <= 0)
                return false;
    return got == 0;
}

/* Copy the agent to where the JVM can load it, owned by its user. */
static enum tv_status attached_stage_agent(const struct attached *a, struct tv_error *err)
{
    assert(a->stage >= 0);
    int from = open(a->agent, O_RDONLY | O_CLOEXEC);
    tv_jvm_enter_user(&a->jvm);
    int to = openat(a->stage, AGENT_LIBRARY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    tv_jvm_leave_user(&a->jvm);
    bool done = from >= 0 && to >= 0 && attached_copy(from, to);
    int error = errno;
    if (from >= 0)
        close(from);
    if (to >= 0)
        done = close(to) == 0 && done;
    if (done)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", a->stage_path, strerror(error));
}

/* Create the staging directory in the JVM's /tmp, and copy the agent into it unless the JVM has
 * loaded one. */
static enum tv_status attached_make_stage(struct attached *a, struct tv_error *err)
{
    snprintf(a->stage_path, sizeof a->stage_path, "/proc/%d/root/tmp/traceview-XXXXXX",
             (int)a->jvm.pid);
    tv_jvm_enter_user(&a->jvm);
    if (mkdtemp(a->stage_path))
        a->stage = open(a->stage_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    tv_jvm_leave_user(&a->jvm);
    if (a->stage < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", a->stage_path, strerror(error));
    const char *name = strrchr(a->stage_path, '/');
    snprintf(a->file, sizeof a->file, "/tmp%s/" STAGED_FILE, name);
    if (a->is_loaded)
        return TV_OK;
    enum tv_status status = attached_stage_agent(a, err);
    snprintf(a->agent, sizeof a->agent, "/tmp%s/" AGENT_LIBRARY, name);
    return status;
}

/* Copy the recording to its place, which gets it as a whole or not at all. */
static enum tv_status attached_copy_to_output(int from, const char *output, struct tv_error *err)
{
    struct tv_atomic_file file;
    enum tv_status status = tv_atomic_file_open(&file, output, err);
    if (status != TV_OK)
        return status;
    if (attached_copy(from, file.descriptor))
        return tv_atomic_file_commit(&file, err);
    status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", output, strerror(errno));
    tv_atomic_file_discard(&file);
    return status;
}

/* Copy the staged file to the output. Links are refused: a program in a container must not direct
 * us to other files. */
static enum tv_status attached_fetch(const struct attached *a, struct tv_error *err)
{
    assert(a->stage >= 0);
    const char *output = a->plan->output;
    struct stat found;
    tv_jvm_enter_user(&a->jvm);
    int from = openat(a->stage, STAGED_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    tv_jvm_leave_user(&a->jvm);
    bool regular = from >= 0 && fstat(from, &found) == 0 && S_ISREG(found.st_mode);
    /* The caller reports a missing file. */
    enum tv_status status = regular ? attached_copy_to_output(from, output, err) : TV_OK;
    if (from >= 0)
        close(from);
    return status;
}

/* ---- The lock that shows that we are alive ---- */

/* Lock a new file: in the staging directory if there is one, else in /tmp, where the JVM's own
 * socket is, too. */
static void attached_hold_lock(struct attached *a)
{
    bool staged = a->stage >= 0;
    snprintf(a->lock_path, sizeof a->lock_path, "%s",
             staged ? a->stage_path : "/tmp/.traceview-XXXXXX");
    tv_jvm_enter_user(&a->jvm);
    if (staged) {
        snprintf(a->lock_path + strlen(a->lock_path), sizeof a->lock_path - strlen(a->lock_path),
                 "/" STAGED_LOCK);
        a->lock = openat(a->stage, STAGED_LOCK, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    } else {
        a->lock = mkostemp(a->lock_path, O_CLOEXEC);
    }
    tv_jvm_leave_user(&a->jvm);
    /* Without the lock everything works, unless we are killed. */
    if (a->lock < 0)
        a->lock_path[0] = '\0';
    else
        (void)flock(a->lock, LOCK_EX | LOCK_NB);
}

/* Remove the name of the lock file, after the agent has opened it. */
static void attached_unname_lock(struct attached *a)
{
    if (a->lock < 0)
        return;
    tv_jvm_enter_user(&a->jvm);
    if (a->stage >= 0)
        unlinkat(a->stage, STAGED_LOCK, 0);
    else
        unlink(a->lock_path);
    tv_jvm_leave_user(&a->jvm);
}

/* Return the options of the recording and the path of the lock as the JVM sees it; the caller frees
 * them with tv_free. */
static char *attached_make_options(const struct attached *a)
{
    char *options = tv_record_agent_options(a->plan, a->file, false);
    if (a->lock_path[0] == '\0')
        return options;
    const char *folder = a->stage >= 0 ? strrchr(a->stage_path, '/') : "";
    const char *name = a->stage >= 0 ? "/" STAGED_LOCK : strrchr(a->lock_path, '/');
    size_t size = strlen(options) + strlen(folder) + strlen(name) + sizeof ",watch=/tmp";
    char *all = tv_alloc(size, 1);
    snprintf(all, size, "%s,watch=/tmp%s%s", options, folder, name);
    tv_free(options);
    return all;
}

/* Remove the staging directory and everything that may be in it. */
static void attached_remove_stage(struct attached *a)
{
    if (a->stage < 0)
        return;
    tv_jvm_enter_user(&a->jvm);
    unlinkat(a->stage, AGENT_LIBRARY, 0);
    unlinkat(a->stage, STAGED_FILE, 0);
    unlinkat(a->stage, STAGED_FILE ".part", 0);
    rmdir(a->stage_path);
    tv_jvm_leave_user(&a->jvm);
    close(a->stage);
}

/* ---- Commands ---- */

/* Fail with the reason that the JVM or the agent gave. */
static enum tv_status attached_fail_refused(const struct attached *a, const char *answer,
                                            struct tv_error *err)
{
    static const char returned[] = "return code: ";
    int pid = (int)a->jvm.pid;
    if (strncmp(answer, returned, sizeof returned - 1) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "process %d: %.300s", pid,
                       answer[0] ? answer : "the agent was not loaded");
    if (strcmp(answer + sizeof returned - 1, "-5") == 0) /* JNI_EEXIST */
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "process %d is being recorded already", pid);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "process %d was not recorded: see its standard error", pid);
}

/* Load the agent with these options, for the first or second time. */
static enum tv_status attached_command_agent(const struct attached *a, const char *options,
                                             struct tv_error *err)
{
    char answer[ANSWER_SIZE];
    int code;
    const char *const words[4] = {"load", a->agent, "true", options};
    enum tv_status status = tv_jvm_command(&a->jvm, words, &code, answer, sizeof answer, err);
    if (status != TV_OK)
        return status;
    /* JDK 8 answers with only the number. */
    bool fine = code == 0 && (strcmp(answer, "return code: 0") == 0 || strcmp(answer, "0") == 0);
    return fine ? TV_OK : attached_fail_refused(a, answer, err);
}

/* Announce the warning that newer JDKs print when an agent is loaded. */
static void attached_warn_of_jdk(const struct attached *a)
{
    char answer[ANSWER_SIZE];
    int code;
    struct tv_error unimportant = {0};
    const char *const words[4] = {"jcmd", "VM.version"};
    if (a->plan->settings->quiet ||
        tv_jvm_command(&a->jvm, words, &code, answer, sizeof answer, &unimportant) != TV_OK)
        return;
    const char *jdk = strstr(answer, "JDK ");
    for (const char *next = jdk; next; next = strstr(jdk + 1, "JDK "))
        jdk = next;
    long version = jdk ? strtol(jdk + 4, NULL, 10) : 0;
    if (code == 0 && version >= WARNING_VERSION && version < 1000)
        tv_message("traceview: note: JDK %ld prints a warning when an agent is loaded into a "
                   "running JVM; start it with -XX:+EnableDynamicAgentLoading to avoid that",
                   version);
}

/* ---- Waiting for the end ---- */

/* Has a slow call ended the recording? Its file is there then. */
static bool attached_has_ended_itself(const struct attached *a)
{
    struct stat found;
    if (!a->plan->slow[0])
        return false;
    return a->stage < 0 ? tv_record_is_written(a->plan)
                        : fstatat(a->stage, STAGED_FILE, &found, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Wait until the time is over, a signal comes, the JVM ends, or a slow call ends the recording. */
static void attached_wait_for_end(const struct attached *a)
{
    const struct tv_record_plan *plan = a->plan;
    struct pollfd files[] = {{a->signals, POLLIN, 0}, {a->jvm.file, POLLIN, 0}};
    struct signalfd_siginfo unused;
    int64_t left = 1, until = tv_monotonic_ms() + (int64_t)(plan->delay_ms + plan->duration_ms);
    const int64_t look = plan->slow[0] ? 100 : 1000;
    while (left > 0 && files[0].revents == 0 && !tv_jvm_has_ended(&a->jvm) &&
           !attached_has_ended_itself(a)) {
        left = plan->duration_ms > 0 ? until - tv_monotonic_ms() : INT32_MAX;
        (void)poll(files, 2, (int)(left < 0 ? 0 : left < look ? left : look));
    }
    /* Consume the signal: the stop command also waits for signals. */
    if (files[0].revents != 0 && read(a->signals, &unused, sizeof unused) < 0)
        return;
}

/* Load the agent, wait, stop it, and fetch the file. */
static enum tv_status attached_record_staged(struct attached *a, struct tv_error *err)
{
    const struct tv_settings *settings = a->plan->settings;
    attached_hold_lock(a);
    char *options = attached_make_options(a);
    attached_warn_of_jdk(a);
    enum tv_status status = attached_command_agent(a, options, err);
    tv_free(options);
    attached_unname_lock(a);
    if (status != TV_OK)
        return status;
    if (!settings->quiet)
        tv_message("traceview: recording process %d%s", (int)a->jvm.pid,
                   a->plan->duration_ms > 0 ? "" : "; Ctrl-C ends it");
    attached_wait_for_end(a);
    /* The JVM may have ended, or be ending: then it has written the file by itself. */
    if (!tv_jvm_has_ended(&a->jvm) && attached_command_agent(a, "stop", err) != TV_OK &&
        !tv_jvm_has_ended(&a->jvm))
        return err->status;
    *err = (struct tv_error){0};
    return a->stage < 0 ? TV_OK : attached_fetch(a, err);
}

#define HEAD_SIZE 4096

/* Report methods without hooks; the agent has named them on the JVM's standard error. */
static void attached_note_left_out(const struct attached *a)
{
    static const char key[] = "\n" TV_MT_KEY_LEFT_OUT "=";
    char head[HEAD_SIZE + 1] = "";
    int file = open(a->plan->output, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t length = read(file, head, HEAD_SIZE);
    close(file);
    const char *found = length > 0 ? strstr(head, key) : NULL;
    unsigned long count = found ? strtoul(found + sizeof key - 1, NULL, 10) : 0;
    if (count > 0)
        tv_message("traceview: %s: calls of %lu %s missing because the code has no room for hooks "
                   "(the limit is 64 kB); see the JVM's standard error",
                   a->plan->output, count, count == 1 ? "method are" : "methods are");
}

/* Load the agent, wait for the end, and check the recording. */
static enum tv_status attached_record(struct attached *a, struct tv_error *err)
{
    const struct tv_record_plan *plan = a->plan;
    enum tv_status status = TV_OK;
    snprintf(a->file, sizeof a->file, "%s", plan->output);
    if (a->jvm.other_files && plan->settings->record.spool)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "--spool: process %d has another root directory or another user",
                       (int)a->jvm.pid);
    a->is_loaded = tv_jvm_find_library(&a->jvm, AGENT_LIBRARY, a->agent);
    if (a->jvm.other_files)
        status = attached_make_stage(a, err);
    if (status == TV_OK)
        status = attached_record_staged(a, err);
    attached_remove_stage(a);
    if (a->lock >= 0)
        close(a->lock);
    if (status != TV_OK)
        return status;
    if (!tv_record_is_written(plan)) {
        char part[TV_RECORD_PATH + 8];
        snprintf(part, sizeof part, "%s.part", plan->output);
        tv_record_finish_part(plan, part);
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s was not written: process %d was killed",
                       plan->output, (int)a->jvm.pid);
    }
    status = tv_record_check_events(plan, err);
    if (status == TV_OK && !plan->settings->quiet)
        attached_note_left_out(a);
    return status;
}

enum tv_status tv_record_attached(const struct tv_record_plan *plan, struct tv_error *err)
{
    struct attached a = {.plan = plan, .stage = -1, .lock = -1};
    sigset_t blocked;
    enum tv_status status = tv_record_find_library("recorder/agent", AGENT_LIBRARY, a.agent, err);
    if (status != TV_OK)
        return status;
    a.signals = tv_record_signals_watch(&blocked);
    status = tv_jvm_open((pid_t)plan->settings->record.pid, a.signals, &a.jvm, err);
    if (status == TV_OK) {
        status = attached_record(&a, err);
        tv_jvm_close(&a.jvm);
    }
    close(a.signals);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    return status;
}
