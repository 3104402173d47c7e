/* SPDX-License-Identifier: Apache-2.0 */
/* android.c - an app on an Android device, which its own runtime records (am profile).
 *
 *     pm path, pidof, monkey    is the app installed and running? start it
 *     am profile start          the runtime records into /data/local/tmp
 *     am profile stop           ... and writes the file after it has answered: watch its size
 *     pull, rm                  copy the file, and remove it in any case
 *
 * The answers of adb and the device are known from AOSP: ActivityManagerShellCommand.runProfile and
 * ActivityManagerService.profileControl, PackageManagerShellCommand (path), toybox (pidof, stat),
 * monkey. Before Android 7 `adb shell` returns no exit code, so the texts of errors count, too. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/program.h"
#include "cli/output/message.h"
#include "cli/record/record.h"

#define LOOK_MS 200
#define START_LOOKS 100 /* until the app is running */
#define FILE_POLLS 75   /* until the file appears, and until its size is stable */
#define SAME_SIZES 4
#define NAME_BYTES_MAX 223u /* limit of PackageManager */
#define FOLDER "/data/local/tmp"

/* State of one recording. */
struct android {
    const struct tv_record_plan *plan;
    struct tv_adb adb;
    sigset_t blocked;
    char package[NAME_BYTES_MAX + 1], process[2 * NAME_BYTES_MAX + 2];
    char quoted[2 * NAME_BYTES_MAX + 8]; /* the process, for the device's shell */
    char file[128];                      /* on the device */
    char part[TV_RECORD_PATH + 16];      /* here */
};

/* ---- names ---- */

/* ASCII letters only: package names have no others. */
static bool android_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Is it a name: parts of letters, digits and '_' that begin with a letter, separated by points? */
static bool android_is_name(const char *name, size_t length, bool wants_point)
{
    bool begins = true, has_point = false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        if (c == '.' && !begins)
            has_point = begins = true;
        else if (android_is_letter(c) || (!begins && ((c >= '0' && c <= '9') || c == '_')))
            begins = false;
        else
            return false;
    }
    return length > 0 && length <= NAME_BYTES_MAX && !begins && (has_point || !wants_point);
}

/* Read PACKAGE or PACKAGE:PROCESS. Only names that need no quoting are accepted, and they are
 * quoted nevertheless. */
static enum tv_status android_parse_names(struct android *a, const char *text, struct tv_error *err)
{
    size_t package = strcspn(text, ":");
    const char *process = text[package] == ':' ? text + package + 1 : NULL;
    if (!android_is_name(text, package, true) ||
        (process && !android_is_name(process, strlen(process), false)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--android: expected a package such as com.example.app, or one of its "
                       "processes, com.example.app:remote; found '%.100s'",
                       text);
    snprintf(a->package, sizeof a->package, "%.*s", (int)package, text);
    snprintf(a->process, sizeof a->process, "%s", text);
    if (!tv_adb_quote(a->process, a->quoted, sizeof a->quoted))
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%s: the name is too long", text);
    return TV_OK;
}

/* ---- answers ---- */

/* Find the line of an answer that explains the failure: the first that names an error, else the
 * first. */
static const char *android_find_reason(const char *text, int *length)
{
    static const char *const words[] = {"xception:", "rror:", "FAILED"};
    const char *found = text;
    for (size_t i = sizeof words / sizeof words[0]; i-- > 0;) {
        const char *at = strstr(text, words[i]);
        if (at) {
            const char *begin = at;
            while (begin > text && begin[-1] != '\n')
                begin--;
            found = begin;
        }
    }
    found += strspn(found, " \t\n");
    *length = (int)strcspn(found, "\n");
    return found;
}

/* Return true when an answer tells of an error, by exit code or by text. */
static bool android_says_error(const struct tv_adb_answer *answer)
{
    return answer->code != 0 || strstr(answer->text, "xception:") ||
           strstr(answer->text, "Error:") || strstr(answer->text, "PROFILE FAILED");
}

/* Fail with the reason that the device gave. */
static enum tv_status android_fail(const struct android *a, const char *order,
                                   const struct tv_adb_answer *answer, struct tv_error *err)
{
    int length;
    const char *reason = android_find_reason(answer->text, &length);
    if (answer->timed_out)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s: the device does not answer",
                       a->adb.serial, order);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s: %.*s", a->adb.serial, order,
                   length > 0 ? length : 9, length > 0 ? reason : "no answer");
}

static enum tv_status android_fail_interrupted(struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "interrupted before the recording began");
}

/* ---- the app ---- */

/* Is the process running? */
static enum tv_status android_find_process(const struct android *a, bool *runs,
                                           struct tv_error *err)
{
    struct tv_adb_answer answer;
    enum tv_status status = tv_adb_shell(&a->adb, &answer, err, "pidof %s", a->quoted);
    if (status != TV_OK)
        return status;
    if (answer.interrupted)
        return android_fail_interrupted(err);
    *runs = answer.text[0] >= '1' && answer.text[0] <= '9';
    /* pidof prints nothing and exits with 1 when there is no process. */
    if (!*runs && answer.text[0])
        return android_fail(a, "pidof", &answer, err);
    return TV_OK;
}

/* Check that the app is installed. */
static enum tv_status android_check_package(const struct android *a, struct tv_error *err)
{
    char quoted[NAME_BYTES_MAX + 8];
    struct tv_adb_answer answer;
    if (!tv_adb_quote(a->package, quoted, sizeof quoted))
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%s: too long", a->package);
    enum tv_status status = tv_adb_shell(&a->adb, &answer, err, "pm path %s", quoted);
    if (status != TV_OK || strncmp(answer.text, "package:", 8) == 0)
        return status;
    if (answer.interrupted)
        return android_fail_interrupted(err);
    if (answer.text[0] || answer.timed_out)
        return android_fail(a, "pm path", &answer, err);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "%s is not installed on %s ('adb shell pm list packages' names those that are)",
                   a->package, a->adb.serial);
}

/* Sleep; true when a signal came. */
static bool android_sleep(const struct android *a, int ms)
{
    struct pollfd file = {a->adb.signals, POLLIN, 0};
    return poll(&file, 1, ms) > 0;
}

/* Start the app as a tap on its icon does; monkey is the only command that needs no name of an
 * activity. */
static enum tv_status android_launch(const struct android *a, struct tv_error *err)
{
    struct tv_adb_answer answer;
    enum tv_status status = tv_adb_shell(
        &a->adb, &answer, err, "monkey -p '%s' -c android.intent.category.LAUNCHER 1", a->package);
    if (status != TV_OK)
        return status;
    if (answer.interrupted)
        return android_fail_interrupted(err);
    if (strstr(answer.text, "No activities found"))
        return tv_fail(
            err, TV_ERR_IO, TV_NO_OFFSET,
            "%s is not running and cannot be started from the home screen: start it first",
            a->package);
    return answer.code != 0 ? android_fail(a, "monkey", &answer, err) : TV_OK;
}

/* Start the app unless it is running, and wait for the process to record. */
static enum tv_status android_start_app(const struct android *a, struct tv_error *err)
{
    bool runs = false;
    enum tv_status status = android_find_process(a, &runs, err);
    if (status != TV_OK || runs)
        return status;
    if (!a->plan->settings->quiet)
        tv_message("traceview: %s is not running; starting it", a->package);
    status = android_launch(a, err);
    for (int i = 0; i < START_LOOKS && status == TV_OK && !runs; i++) {
        status = android_find_process(a, &runs, err);
        if (status == TV_OK && !runs && android_sleep(a, LOOK_MS))
            status = android_fail_interrupted(err);
    }
    if (status != TV_OK || runs)
        return status;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "%s was started, but has no process %s: start that process in the app first",
                   a->package, a->process);
}

/* ---- the recording ---- */

/* Tell the runtime to record; with --sample it takes stacks instead of every call. */
static enum tv_status android_begin_profile(const struct android *a, struct tv_error *err)
{
    const uint64_t rate = a->plan->settings->record.sample;
    char sampling[48] = "";
    struct tv_adb_answer answer;
    if (rate > 0)
        snprintf(sampling, sizeof sampling, "--sampling %u ", (unsigned)(1000000 / rate));
    enum tv_status status = tv_adb_shell(&a->adb, &answer, err, "am profile start %s%s %s",
                                         sampling, a->quoted, a->file);
    if (status != TV_OK)
        return status;
    if (answer.interrupted)
        return android_fail_interrupted(err);
    if (strstr(answer.text, "not debuggable"))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s cannot be recorded: build it debuggable, or add <profileable "
                       "android:shell=\"true\"/> to its manifest (Android 10 and later)",
                       a->package);
    return android_says_error(&answer) ? android_fail(a, "am profile start", &answer, err) : TV_OK;
}

/* Drop the signals so far: from here on a signal means another request to stop. */
static void android_drain_signals(const struct android *a)
{
    struct signalfd_siginfo unused;
    while (read(a->adb.signals, &unused, sizeof unused) > 0)
        continue;
}

/* Wait for the end of --duration or for a signal. */
static void android_wait_for_end(const struct android *a)
{
    const uint64_t duration = a->plan->duration_ms;
    const int64_t until = tv_monotonic_ms() + (int64_t)duration;
    for (int64_t left = 1; left > 0;) {
        left = duration > 0 ? until - tv_monotonic_ms() : 1000;
        if (left > 0 && android_sleep(a, left < 1000 ? (int)left : 1000))
            break;
    }
    android_drain_signals(a);
}

/* Tell the runtime to stop. The recording is lost when the process has ended, because the events
 * were in its memory. */
static enum tv_status android_end_profile(const struct android *a, struct tv_error *err)
{
    struct tv_adb_answer answer;
    enum tv_status status = tv_adb_shell(&a->adb, &answer, err, "am profile stop %s", a->quoted);
    if (status != TV_OK || !android_says_error(&answer))
        return status;
    if (strstr(answer.text, "Unknown process") || strstr(answer.text, "PROFILE FAILED"))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s ended during the recording, which is lost",
                       a->process);
    return android_fail(a, "am profile stop", &answer, err);
}

/* Return the size of the file on the device; -1 when unknown. */
static long long android_file_size(const struct android *a)
{
    struct tv_adb_answer answer;
    struct tv_error unimportant = {0};
    char *end;
    if (tv_adb_shell(&a->adb, &answer, &unimportant, "stat -c %%s %s", a->file) != TV_OK)
        return -1;
    long long size = strtoll(answer.text, &end, 10);
    return end == answer.text ? -1 : size;
}

/* Wait until the size of the file stops changing: "am profile stop" returns before the runtime has
 * written it. */
static enum tv_status android_await_file(const struct android *a, struct tv_error *err)
{
    long long size = 0;
    int same = 0;
    for (int polls = 0; polls < FILE_POLLS && same < SAME_SIZES; polls++) {
        long long now = android_file_size(a);
        same = now > 0 && now == size ? same + 1 : 0;
        polls = now > size ? 0 : polls; /* the file is growing */
        size = now;
        if (same < SAME_SIZES && android_sleep(a, LOOK_MS))
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                           "interrupted while %s wrote the trace; the recording is lost",
                           a->process);
    }
    if (same == SAME_SIZES)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "%s wrote no trace: it ended, or another tool recorded it at the same time",
                   a->process);
}

/* Copy the file from the device, however long that takes. */
static enum tv_status android_pull(const struct android *a, struct tv_error *err)
{
    assert(a->part[0] && a->file[0]);
    const char *const words[] = {"pull", a->file, a->part, NULL};
    struct tv_adb_answer answer;
    enum tv_status status = tv_adb_run(&a->adb, words, 0, &answer, err);
    if (status != TV_OK)
        return status;
    if (answer.interrupted)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "interrupted while the trace was copied; the recording is lost");
    if (answer.code != 0 || access(a->part, R_OK) != 0)
        return android_fail(a, "pull", &answer, err);
    return TV_OK;
}

/* Remove the file on the device, also after an error; nobody else would. */
static void android_remove_file(const struct android *a)
{
    struct tv_adb_answer answer;
    struct tv_error unimportant = {0};
    struct tv_adb adb = a->adb;
    adb.signals = -1; /* even after another Ctrl-C */
    (void)!tv_adb_shell(&adb, &answer, &unimportant, "rm -f %s", a->file);
}

/* ---- names of R8 ---- */

/* Write the output with the names of the mapping file, as `traceview convert` does. */
static enum tv_status android_convert_names(const struct android *a, struct tv_error *err)
{
    const char *const words[] = {
        "traceview", "convert", "--mapping",     a->plan->settings->input.mapping,
        a->part,     "-o",      a->plan->output, NULL};
    /* Ctrl-C has stopped the recording; pressed again, it does not end this */
    const struct tv_program convert = {
        .name = TV_PROGRAM_ITSELF, .words = words, .own_group = true};
    pid_t process;
    int code = 0;
    int error = tv_program_start(&convert, &process);
    if (error != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "traceview convert: %s", strerror(error));
    if (tv_program_wait(process, &code) && code == 0) {
        unlink(a->part);
        return TV_OK;
    }
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "the names could not be restored; the trace as it was recorded is %s", a->part);
}

/* Give the trace its final name. */
static enum tv_status android_store(const struct android *a, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (a->plan->settings->input.mapping)
        status = android_convert_names(a, err);
    else if (rename(a->part, a->plan->output) != 0)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s; the trace is %s", a->plan->output,
                         strerror(errno), a->part);
    if (status == TV_OK && !a->plan->settings->quiet)
        tv_message("traceview: %s: recorded %s on %s", a->plan->output, a->process, a->adb.serial);
    return status;
}

/* Record, and copy the trace to PATH.part. */
static enum tv_status android_record(const struct android *a, struct tv_error *err)
{
    const struct tv_record_plan *plan = a->plan;
    enum tv_status status = android_begin_profile(a, err);
    if (status != TV_OK)
        return status;
    if (!plan->settings->quiet)
        tv_message("traceview: recording %s on %s%s", a->process, a->adb.serial,
                   plan->duration_ms > 0 ? "" : "; Ctrl-C ends it");
    android_wait_for_end(a);
    status = android_end_profile(a, err);
    if (status == TV_OK)
        status = android_await_file(a, err);
    if (status == TV_OK)
        status = android_pull(a, err);
    if (status != TV_OK)
        unlink(a->part);
    return status;
}

/* Run all steps. The first ones change nothing on the device. */
static enum tv_status android_run(struct android *a, struct tv_error *err)
{
    enum tv_status status = tv_adb_find(&a->adb, err);
    if (status == TV_OK)
        status = tv_adb_choose(&a->adb, a->plan->settings->record.device, err);
    if (status == TV_OK)
        status = android_check_package(a, err);
    if (status == TV_OK)
        status = android_start_app(a, err);
    if (status != TV_OK)
        return status;
    status = android_record(a, err);
    android_remove_file(a);
    return status == TV_OK ? android_store(a, err) : status;
}

enum tv_status tv_record_android(const struct tv_record_plan *plan, struct tv_error *err)
{
    struct android a = {.plan = plan};
    enum tv_status status = android_parse_names(&a, plan->settings->record.android, err);
    if (status != TV_OK)
        return status;
    const char *mapping = plan->settings->input.mapping;
    if (mapping && access(mapping, R_OK) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", mapping, strerror(errno));
    snprintf(a.file, sizeof a.file, FOLDER "/traceview-%d-%lld.trace", (int)getpid(),
             (long long)time(NULL));
    snprintf(a.part, sizeof a.part, "%s.part", plan->output);
    a.adb.signals = tv_record_signals_watch(&a.blocked);
    status = android_run(&a, err);
    android_drain_signals(
        &a); /* the signal has stopped the recording; it must not end us as well */
    close(a.adb.signals);
    sigprocmask(SIG_UNBLOCK, &a.blocked, NULL);
    return status;
}
