/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_empty.c - why a recording has nothing in it, and what would work.
 *
 * Whoever records learns it now, not when the trace is needed.  The reason is read from the
 * program's file where that has it (program_file.h); otherwise the ways to end without a file are
 * named.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/program_file.h"
#include "cli/record.h"

/* A recording without events is short and says so, near its start. */
#define SHORT_RECORDING ((size_t)1 << 20)

static bool recording_has_events(struct tv_bytes file)
{
    static const char *const none[] = {"\nnum-method-calls=0\n", "CPU SAMPLES BEGIN (total = 0)",
                                       "\"samples\":[\n]"};
    size_t length = file.length < SHORT_RECORDING ? file.length : SHORT_RECORDING;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (memmem(file.data, length, none[i], strlen(none[i])))
            return false;
    return file.length > 0;
}

#define SAMPLE_INSTEAD ": take samples of it (--sample HZ)"

/* Return why the program cannot be recorded, as far as its file says it; NULL: it does not. */
static const char *recording_obstacle(const struct tv_record_plan *plan)
{
    char path[TV_RECORD_PATH];
    struct tv_program_file program;
    if (plan->way != TV_RECORD_PRELOADED ||
        !tv_record_find_program(plan->settings->files.items[0], path))
        return NULL;
    tv_program_file_read(path, &program);
    if (!program.is_elf)
        return NULL;
    if (program.other_machine)
        return "it is built for another machine than the recorder (of 32 bits, perhaps)" SAMPLE_INSTEAD;
    if (program.other_rights)
        return "it runs with other rights than yours (setuid, setgid, capabilities), so the system "
               "loads no recorder into it: record it as the user whose rights it has";
    if (program.is_go)
        return "it is a Go program, whose compiler has no hooks" SAMPLE_INSTEAD;
    if (program.is_static)
        return "it is linked statically, so no recorder can be loaded: link it dynamically, or "
               "take samples (--sample HZ)";
    if (program.has_hooks || plan->settings->record.sample > 0)
        return NULL;
    return "neither it nor what it started is compiled with -finstrument-functions: do that, or "
           "take samples (--sample HZ); for a JVM that it starts, --host java";
}

static enum tv_status recording_fail_no_sample(const struct tv_record_plan *plan, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s has no sample: no thread%s ran meanwhile",
                   plan->output, plan->settings->record.threads ? " that --threads names" : "");
}

static enum tv_status recording_fail_empty(const struct tv_record_plan *plan, struct tv_error *err)
{
    const struct tv_record_settings *record = &plan->settings->record;
    const char *obstacle = recording_obstacle(plan);
    /* A program may well allocate little, and wait for nothing. */
    if (plan->with_alloc || plan->with_lock)
        return TV_OK;
    if (record->sample > 0)
        return recording_fail_no_sample(plan, err);
    if (obstacle)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s has no call of %s: %s", plan->output,
                       plan->settings->files.items[0], obstacle);
    if (plan->least_us > 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s has no call: none that ended lasted %" PRIu64 " us (--min-duration)",
                       plan->output, plan->least_us);
    if (record->trigger.count > 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s has no call: no method that --trigger names was called%s", plan->output,
                       plan->way == TV_RECORD_PRELOADED
                           ? "; names are those of the program's own symbols, which strip removes"
                           : "");
    const char *which = record->boot ? "" : " outside of the JDK, whose methods --boot records,";
    if (record->include.count + record->exclude.count > 0)
        which = " that --include and --exclude leave";
    if (plan->way == TV_RECORD_ATTACHED)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s has no call: process %d called no method%s meanwhile", plan->output,
                       (int)record->pid, which);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s has no call: the program called no %s%s",
                   plan->output,
                   plan->way == TV_RECORD_PRELOADED ? "function that has hooks" : "method",
                   plan->way == TV_RECORD_PRELOADED ? "" : which);
}

enum tv_status tv_record_check_events(const struct tv_record_plan *plan, struct tv_error *err)
{
    struct tv_bytes file;
    int fd = open(plan->output, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return TV_OK;
    enum tv_status status = tv_file_map(fd, &file, err);
    close(fd);
    if (status != TV_OK)
        return status;
    bool any = recording_has_events(file);
    tv_file_unmap(file);
    return any ? TV_OK : recording_fail_empty(plan, err);
}

/* Is there a whole trace that could not get its name: its process had another root by then, or
 * other rights? */
static bool recording_is_unnamed(const struct tv_record_plan *plan, char *part, size_t size)
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

static const char *recording_how_lost(const struct tv_record_plan *plan)
{
    if (plan->into_children && plan->way == TV_RECORD_INHERITED)
        return "it started no JVM, or none that ended by itself, and no native program with hooks "
               "(-finstrument-functions)";
    if (plan->way == TV_RECORD_INHERITED)
        return plan->settings->record.sample > 0
                   ? "it started no JVM, or none that ended by itself; samples of what is no JVM "
                     "are taken with --host native"
                   : "it started no JVM, or none that ended by itself";
    if (plan->way == TV_RECORD_ARGUMENT)
        return "the JVM did not start, or was ended by SIGKILL or a fault of its own";
    return plan->spool[0] ? "the program ended by _exit, exec or SIGKILL"
                          : "the program ended by _exit, exec or SIGKILL, when only --spool DIR "
                            "keeps what was recorded";
}

enum tv_status tv_record_not_written(const struct tv_record_plan *plan, int code,
                                     struct tv_error *err)
{
    const char *spool = plan->spool, *program = plan->settings->files.items[0];
    char part[TV_RECORD_PATH + 8];
    if (recording_is_unnamed(plan, part, sizeof part))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s: the program could not give the trace its name (exit code %d): it is %s",
                       plan->output, code, part);
    const char *obstacle = recording_obstacle(plan);
    if (obstacle)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s was not written (exit code %d): nothing of %s was recorded: %s",
                       plan->output, code, program, obstacle);
    tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
            "%s was not written (exit code %d): unless a line above says why, %s", plan->output,
            code, recording_how_lost(plan));
    if (spool[0] && strlen(err->message) + strlen(spool) + 40 < sizeof err->message)
        snprintf(err->message + strlen(err->message), sizeof err->message - strlen(err->message),
                 "; try 'traceview recover %s'", spool);
    return err->status;
}
