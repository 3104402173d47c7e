/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - samples taken by the kernel, of a program that is started or of a running process.
 *
 *     parent                               child
 *     fork                                 waits for one byte
 *     open events on the child
 *     write a byte  ------------------->   exec: the events start counting, for it, its threads
 *     read rings until it ends             and its children
 *
 * The second pipe tells whether exec succeeded: it closes by exec, so the parent reads nothing, or
 * the errno that a failed exec leaves.  The child is only looked at (WNOWAIT) until the last read
 * of the rings; it is reaped afterwards, so that its id stays its own.
 *
 * Rings are read when the kernel says that they fill, and every LOOK_MS in any case. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/program.h"
#include "cli/output/message.h"
#include "cli/record/native_names.h"
#include "cli/record/record.h"
#include "perf/perf.h"

/* Read the rings at least this often. */
#define LOOK_MS 200

/* Exit codes as in shells. */
#define NOT_FOUND 127
#define NOT_STARTED 126

bool tv_record_wants_kernel(const struct tv_record_plan *plan)
{
    const struct tv_record_settings *record = &plan->settings->record;
    if (record->sample == 0)
        return false;
    if (record->stack != TV_RECORD_STACK_AUTO)
        return record->stack >= TV_RECORD_STACK_PERF;
    if (plan->way == TV_RECORD_ATTACHED)
        return record->pid <= INT32_MAX && !tv_process_is_jvm((pid_t)record->pid);
    return plan->way == TV_RECORD_PRELOADED ||
           (plan->way == TV_RECORD_INHERITED && record->host == TV_RECORD_AUTO &&
            tv_record_is_script_without_jvm(plan->settings->files.items[0]));
}

/* ---- Output ---- */

/* Say what is missing from the samples. */
static void kernel_report_losses(const struct tv_record_plan *plan, const struct tv_perf *perf,
                                 const struct tv_samples *samples)
{
    if (plan->settings->quiet)
        return;
    if (!tv_perf_sees_kernel(perf))
        tv_message("traceview: %s: time in the kernel is missing; seeing it needs root, "
                   "CAP_PERFMON or 'sysctl kernel.perf_event_paranoid=1'",
                   plan->output);
    if (samples->lost > 0)
        tv_message("traceview: %s: %" PRIu64 " records are missing beside %" PRIu64
                   " samples because the buffers were full: use a lower rate",
                   plan->output, samples->lost, samples->total);
}

/* Resolve names, write the file, and report losses. */
static enum tv_status kernel_finish(const struct tv_record_plan *plan, struct tv_perf *perf,
                                    struct tv_error *err)
{
    assert(plan->settings->record.sample > 0);
    struct tv_samples samples = {0};
    tv_perf_finish(perf, &samples);
    enum tv_status status = tv_native_samples_write(&samples, (enum tv_samples_form)plan->form,
                                                    TV_PERF_DEPTH, plan->output, err);
    if (status == TV_OK)
        kernel_report_losses(plan, perf, &samples);
    if (status == TV_OK && samples.total == 0 && samples.waits.count == 0)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                         "%s: no sample was taken: the program ran for less than %.3g ms, or with "
                         "another user's rights (setuid)",
                         plan->output, 1000.0 / (double)plan->settings->record.sample);
    tv_samples_release(&samples);
    return status;
}

/* Return what to sample. A program that is started counts from its exec on. */
static struct tv_perf_options kernel_perf_options(const struct tv_record_plan *plan, pid_t pid)
{
    assert(plan->settings->record.sample > 0);
    const struct tv_record_settings *record = &plan->settings->record;
    return (struct tv_perf_options){
        .pid = pid,
        .is_running = plan->settings->files.count == 0,
        .off_cpu = record->off_cpu,
        .depth = (uint32_t)record->depth,
        .copies_stacks = record->stack == TV_RECORD_STACK_DWARF,
        .rate = record->sample,
    };
}

/* ---- A program that is started ---- */

/* Run the child: wait for a byte, then exec. Write the error of a failed exec to `report`. */
static _Noreturn void kernel_exec_program(const struct tv_words *words, int go, int report)
{
    char word;
    char **arguments = tv_alloc(words->count + 1, sizeof *arguments);
    memcpy(arguments, words->items, words->count * sizeof *arguments);
    if (read(go, &word, 1) != 1)
        _exit(NOT_STARTED);
    execvp(arguments[0], arguments);
    int error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(NOT_FOUND);
}

/* Read the rings until the child has ended. */
static void kernel_watch_child(struct tv_perf *perf, pid_t child)
{
    siginfo_t info;
    int file = (int)syscall(SYS_pidfd_open, child, 0);
    do {
        (void)tv_perf_wait(perf, file, LOOK_MS);
        info.si_pid = 0;
    } while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
             info.si_pid == 0);
    if (file >= 0)
        close(file);
}

/* Let the child start, now that the events are open. */
static enum tv_status kernel_record_child(const struct tv_record_plan *plan, struct tv_perf *perf,
                                          pid_t child, const int ends[2], int *code,
                                          struct tv_error *err)
{
    int error = 0;
    if (write(ends[0], "", 1) != 1)
        error = errno;
    else if (read(ends[1], &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    if (error == 0)
        kernel_watch_child(perf, child);
    (void)tv_program_wait(child, code);
    if (error == 0)
        return kernel_finish(plan, perf, err);
    *code = error == ENOENT ? NOT_FOUND : NOT_STARTED;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: cannot be started: %s",
                   plan->settings->files.items[0], strerror(error));
}

/* Fork and record. `go` and `report` are pipes that close at an exec. */
static enum tv_status kernel_start_between(const struct tv_record_plan *plan, const int go[2],
                                           const int report[2], int *code, struct tv_error *err)
{
    struct tv_perf *perf;
    struct tv_record_signal_state signals;
    tv_record_signals_block(&signals);
    pid_t child = fork();
    if (child == 0) {
        tv_record_signals_unblock(&signals);
        close(go[1]);
        kernel_exec_program(&plan->settings->files, go[0], report[1]);
    }
    close(report[1]);
    if (child < 0) {
        tv_record_signals_unblock(&signals);
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "fork: %s", strerror(errno));
    }
    tv_record_signals_pass_on(&signals, child);
    struct tv_perf_options options = kernel_perf_options(plan, child);
    enum tv_status status = tv_perf_open(&options, &perf, err);
    if (status == TV_OK)
        status = kernel_record_child(plan, perf, child, (int[]){go[1], report[0]}, code, err);
    else
        kill(child, SIGKILL), (void)tv_program_wait(child, NULL);
    tv_perf_close(perf);
    tv_record_signals_restore(&signals);
    return status;
}

/* Start a program that waits until its events are open, and record it. */
static enum tv_status kernel_record_program(const struct tv_record_plan *plan, int *code,
                                            struct tv_error *err)
{
    int go[2], report[2];
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "pipe: %s", strerror(errno));
    enum tv_status status = kernel_start_between(plan, go, report, code, err);
    close(go[0]);
    close(go[1]);
    close(report[0]);
    return status;
}

/* ---- A running process ---- */

/* Return a descriptor that is readable when the process ends or a signal asks to stop; -1: too many
 * open files. */
static int kernel_watch_end(pid_t pid, int *signal_file, int *process)
{
    sigset_t blocked; /* blocked until the end of the command */
    struct epoll_event event = {.events = EPOLLIN};
    *signal_file = tv_record_signals_watch(&blocked);
    *process = (int)syscall(SYS_pidfd_open, pid, 0);
    int file = epoll_create1(EPOLL_CLOEXEC);
    if (file >= 0 && *signal_file >= 0)
        (void)epoll_ctl(file, EPOLL_CTL_ADD, *signal_file, &event);
    if (file >= 0 && *process >= 0)
        (void)epoll_ctl(file, EPOLL_CTL_ADD, *process, &event);
    return file;
}

/* Read the rings until the duration is over, the process ends or a signal comes. */
static void kernel_watch_process(const struct tv_record_plan *plan, struct tv_perf *perf, int end)
{
    uint64_t begun = (uint64_t)tv_monotonic_ms(), left = LOOK_MS;
    do {
        uint64_t passed = (uint64_t)tv_monotonic_ms() - begun;
        if (plan->duration_ms > 0)
            left = passed < plan->duration_ms ? plan->duration_ms - passed : 0;
        if (left == 0 || tv_perf_wait(perf, end, left < LOOK_MS ? (int)left : LOOK_MS))
            return;
    } while (kill((pid_t)plan->settings->record.pid, 0) == 0 || errno == EPERM);
}

/* Record a running process until it, or we, must end. */
static enum tv_status kernel_record_process(const struct tv_record_plan *plan, struct tv_error *err)
{
    pid_t pid = (pid_t)plan->settings->record.pid;
    struct tv_perf_options options = kernel_perf_options(plan, pid);
    struct tv_perf *perf = NULL;
    int signal_file, process, end;
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "there is no process %d", (int)pid);
    end = kernel_watch_end(pid, &signal_file, &process);
    if (plan->delay_ms > 0)
        (void)poll(&(struct pollfd){.fd = end, .events = POLLIN}, 1, (int)plan->delay_ms);
    enum tv_status status = tv_perf_open(&options, &perf, err);
    if (status == TV_OK) {
        if (!plan->settings->quiet)
            tv_message("traceview: recording process %d%s", (int)pid,
                       plan->duration_ms > 0 ? "" : "; Ctrl-C ends it");
        kernel_watch_process(plan, perf, end);
        status = kernel_finish(plan, perf, err);
    }
    tv_perf_close(perf);
    close(end);
    close(signal_file);
    close(process);
    return status;
}

enum tv_status tv_record_by_kernel(const struct tv_record_plan *plan, int *code,
                                   struct tv_words *files, struct tv_error *err)
{
    (void)files; /* --open shows plan->output */
    if (plan->settings->files.count == 0)
        return kernel_record_process(plan, err);
    return kernel_record_program(plan, code, err);
}
