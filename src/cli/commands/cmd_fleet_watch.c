/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_watch.c - `fleet add` survives a trace that ends the process which reads it.
 *
 *     command --fork--> process that reads, in the sandbox
 *        ^                  | notes in shared memory what it reads, and what it has written
 *        '----- ended ------'
 *
 * A process that ended before it was finished is replaced by another one, which reads what is not
 * in a written batch.  If it was reading a single trace, that trace is the reason, and gets a row
 * with the error.  If it was reading several, the next process reads each of them alone.
 *
 * The process that reads may be in the hands of a hostile trace, and so is the shared memory: its
 * contents decide only which FILEs are read again, and what is told.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/commands/cmd_fleet.h"
#include "cli/confine.h"
#include "cli/output/message.h"

/* Why a process ended; it has room for any of the texts below. */
struct watch_reason {
    char text[64];
    bool lacks_memory;
};

static struct watch_reason watch_describe_end(int ended)
{
    struct watch_reason reason = {.lacks_memory = true};
    if (!WIFSIGNALED(ended)) { /* tv_memory_exhausted */
        snprintf(reason.text, sizeof reason.text, "out of memory");
        return reason;
    }
    int number = WTERMSIG(ended);
    snprintf(reason.text, sizeof reason.text, "signal %d (%.40s)", number, strsignal(number));
    reason.lacks_memory = number == SIGKILL;
    return reason;
}

/* Tell which trace ended its process, and what to do. */
static void watch_tell_fatal(const char *file, const struct watch_reason *reason)
{
    tv_message("traceview: %s: the process that read it ended: %s.  %s", file, reason->text,
               reason->lacks_memory
                   ? "Add it again with --max-memory, such as --max-memory 1G, or on a machine "
                     "with more memory"
                   : "This is an error in traceview: please report it.  Another version may be "
                     "able to add the trace");
}

/* Find the traces that the process was reading, and decide what becomes of them. */
static enum tv_status watch_blame(struct tv_fleet_watch *watch, const struct tv_settings *settings,
                                  int ended, struct tv_error *err)
{
    const struct watch_reason reason = watch_describe_end(ended);
    size_t reading = 0, last = 0;
    for (size_t i = 0; i < settings->files.count; i++) {
        if (!atomic_exchange(&watch->files[i].is_being_read, false))
            continue;
        atomic_store(&watch->files[i].fate, TV_FLEET_SUSPECT);
        reading++;
        last = i;
    }
    bool was_gathering = atomic_exchange(&watch->is_gathering, false);
    if (reading == 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the process that writes the rows ended: %s.  Repeat the command with "
                       "fewer FILEs at a time",
                       reason.text);
    watch->ends++;
    if (reading == 1 && !was_gathering) {
        atomic_store(&watch->files[last].fate, TV_FLEET_FATAL);
        memcpy(watch->files[last].error, reason.text, sizeof reason.text);
        watch_tell_fatal(settings->files.items[last], &reason);
    } else if (!settings->quiet) {
        tv_message("traceview: the process that read %zu %s ended: %s.  Each is read again alone",
                   reading, tv_plural(reading, "trace", "traces"), reason.text);
    }
    return TV_OK;
}

/* The process that reads: note the outcome, and end. */
static void watch_child(struct tv_fleet_watch *watch, pid_t parent, tv_fleet_watched *work,
                        const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    int code = TV_EXIT_OK;
    /* The command may be killed: then nobody needs this process. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent)
        exit(TV_EXIT_INPUT);
    if (work(watch, command, settings, &code, &err) != TV_OK)
        code = tv_command_failed(command, &err);
    tv_confine_end();
    watch->code = code;
    atomic_store(&watch->is_finished, true);
    exit(TV_EXIT_OK);
}

/* Wait for the process; return how it ended. */
static int watch_await(pid_t process)
{
    int ended = 0;
    while (waitpid(process, &ended, 0) < 0 && errno == EINTR)
        continue;
    return ended;
}

/* Let processes work until one of them finishes. */
static enum tv_status watch_work(struct tv_fleet_watch *watch, tv_fleet_watched *work,
                                 const struct tv_command *command,
                                 const struct tv_settings *settings, int *code,
                                 struct tv_error *err)
{
    const pid_t parent = getpid();
    for (enum tv_status status = TV_OK; status == TV_OK;) {
        pid_t process = fork();
        if (process < 0)
            return work(watch, command, settings, code, err);
        if (process == 0)
            watch_child(watch, parent, work, command, settings);
        int ended = watch_await(process);
        if (atomic_load(&watch->is_finished)) {
            *code = watch->code;
            return TV_OK;
        }
        if (WIFSIGNALED(ended) &&
            (WTERMSIG(ended) == SIGINT || WTERMSIG(ended) == SIGTERM || WTERMSIG(ended) == SIGHUP))
            return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "interrupted");
        status = watch_blame(watch, settings, ended, err);
    }
    return err->status;
}

enum tv_status tv_fleet_watch(tv_fleet_watched *work, const struct tv_command *command,
                              const struct tv_settings *settings, int *code, struct tv_error *err)
{
    size_t size = sizeof(struct tv_fleet_watch) +
                  tv_size_mul(settings->files.count, sizeof(struct tv_fleet_watched_file));
    struct tv_fleet_watch *watch =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watch == MAP_FAILED)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s", strerror(errno));
    enum tv_status status = watch_work(watch, work, command, settings, code, err);
    munmap(watch, size);
    return status;
}
