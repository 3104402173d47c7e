/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - from the options of `record` to the plan of one recording, and its start.
 *
 * The contents of a recording, and the way into the program, depend on the program and the machine.
 * Both are decided here, before anything starts: a program that ran for an hour must
 * not end with a file that cannot be written.
 *
 *     options, the program's file -> way, kind, format -> checks of all options -> paths, checked
 *
 * Later steps need the results of earlier ones: which options mean anything depends on way and
 * kind, and the default name of the output on the format.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output/message.h"
#include "cli/record/record.h"
#include "recorder/samples/samples.h"

/* Make the path absolute: a program may change its directory before it writes. */
static enum tv_status plan_absolute_path(const char *name, char *path, struct tv_error *err)
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
static enum tv_status plan_check_folder(const char *path, struct tv_error *err)
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
static enum tv_status plan_check_output(const char *path, struct tv_error *err)
{
    char folder[TV_RECORD_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    *(strrchr(folder, '/') + 1) = '\0';
    return plan_check_folder(folder, err);
}

/* Choose the format of samples: --format, else the ending of the output's name, else JSON, which
 * has times. */
static unsigned plan_choose_form(const struct tv_option *table, const struct tv_settings *settings)
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
    if (tv_record_is_given(table, settings, "format"))
        return settings->record.format;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t size = strlen(endings[i].ending);
        if (length > size && strcmp(name + length - size, endings[i].ending) == 0)
            return endings[i].form;
    }
    return TV_SAMPLES_EVENTS;
}

const char *tv_record_ending(const struct tv_record_plan *plan)
{
    static const char *const samples[] = {".hprof.txt", ".hprof.txt", ".hprof", ".json", ".folded"};
    assert(plan->form < TV_COUNT(samples));
    return plan->has_samples ? samples[plan->form] : ".trace";
}

/* Choose the output and the spool: the default name depends on the kind and format of the
 * recording. */
static enum tv_status plan_find_paths(const struct tv_settings *settings,
                                      struct tv_record_plan *plan, struct tv_error *err)
{
    char samples[32];
    const char *name = plan->way == TV_RECORD_SNAPSHOT ? "snapshot.trace" : "dmtrace.trace";
    const char *spool = settings->record.spool;
    snprintf(samples, sizeof samples, "samples%s", tv_record_ending(plan));
    if (settings->output)
        name = settings->output;
    else if (plan->has_samples)
        name = samples;
    enum tv_status status = plan_absolute_path(name, plan->output, err);
    if (status == TV_OK)
        status = plan_check_output(plan->output, err);
    if (status != TV_OK || !spool)
        return status;
    status = plan_absolute_path(spool, plan->spool, err);
    /* For a running JVM, the directory is one that the JVM sees. */
    return status == TV_OK && plan->way != TV_RECORD_ATTACHED ? plan_check_folder(plan->spool, err)
                                                              : status;
}

/* Make the plan of --snapshot or --android, which record no program of this machine. */
static enum tv_status plan_make_alone(const struct tv_option *table,
                                      const struct tv_settings *settings, enum tv_record_way way,
                                      struct tv_record_plan *plan, struct tv_error *err)
{
    plan->way = way;
    enum tv_status status = tv_record_check(table, plan, err);
    return status == TV_OK ? plan_find_paths(settings, plan, err) : status;
}

/* Choose --full: with --stop-after-slow the default is a ring, because the newest events matter. */
static unsigned plan_choose_full(const struct tv_option *table, const struct tv_settings *settings)
{
    bool is_given = tv_record_is_given(table, settings, "full");
    return is_given || !settings->record.stop_after_slow ? settings->record.full : TV_RECORD_RING;
}

/* Make the plan of a recording, in this order: what is recorded, how the recorder gets in, buffers,
 * the kernel, the format, the options' meaning, the paths. */
enum tv_status tv_record_make_plan(const struct tv_option *table,
                                   const struct tv_settings *settings, struct tv_record_plan *plan,
                                   struct tv_error *err)
{
    const struct tv_words *words = &settings->files;
    plan->settings = settings;
    if (tv_record_is_given(table, settings, "snapshot"))
        return plan_make_alone(table, settings, TV_RECORD_SNAPSHOT, plan, err);
    if (settings->record.android)
        return plan_make_alone(table, settings, TV_RECORD_ANDROID, plan, err);
    plan->with_alloc = tv_record_is_given(table, settings, "alloc");
    plan->with_lock = tv_record_is_given(table, settings, "lock");
    plan->has_samples = settings->record.sample > 0 || plan->with_alloc || plan->with_lock;
    if (tv_record_is_given(table, settings, "pid") == (words->count > 0))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       words->count == 0 ? "expected '-- PROGRAM' or --pid"
                                         : "--pid cannot be combined with a program");
    plan->way = words->count == 0 ? TV_RECORD_ATTACHED
                                  : tv_record_way_of(words->items[0], settings->record.host);
    plan->into_children = words->count > 0 && !plan->has_samples &&
                          tv_record_follows_children(plan->way, &settings->record, words->items[0]);
    plan->full = plan_choose_full(table, settings);
    plan->grows = !tv_record_is_given(table, settings, "buffer") && !settings->record.spool &&
                  plan->full == TV_RECORD_STOP;
    if (tv_record_wants_kernel(plan))
        plan->way = TV_RECORD_KERNEL;
    plan->form = plan_choose_form(table, settings);
    enum tv_status status = tv_record_check(table, plan, err);
    return status == TV_OK ? plan_find_paths(settings, plan, err) : status;
}

/* May the recording fall back to samples by signals? Only if the program is not running yet, and if
 * no option needs the kernel. */
static bool plan_can_fall_back(const struct tv_record_plan *plan)
{
    const struct tv_settings *settings = plan->settings;
    return settings->files.count > 0 && !settings->record.off_cpu &&
           settings->record.stack == TV_RECORD_STACK_AUTO;
}

/* Record by the way of the plan. The kernel may refuse; then samples by signals are an alternative.
 */
enum tv_status tv_record_start(struct tv_record_plan *plan, int *code, struct tv_words *files,
                               struct tv_error *err)
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
    if (status != TV_ERR_UNSUPPORTED || !plan_can_fall_back(plan))
        return status;
    if (!plan->settings->quiet)
        tv_message("traceview: %s; falling back to samples by signals (--stack fp)", err->message);
    *err = (struct tv_error){0};
    plan->way = TV_RECORD_PRELOADED;
    return tv_record_program(plan, code, files, err);
}
