/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_process.c - runs `traceview fleet` as a child in a process group of its
 * own, and bounds its time and its output.
 *
 *     server --spawn--> child --stdout--> answer, at most most_bytes
 *                             --stderr--> message, its beginning
 *            <--kill the group after `seconds`, or when `stop` is set
 *
 * The child gets no descriptor of the server (base/program.h).  Its group has its own children
 * too, so that killing it leaves nothing behind.
 */
#define _GNU_SOURCE /* pipe2 */
#include "upload/fleet.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/program.h"

/* Interval at which a request to stop is noticed. */
#define GLANCE_MS 200

/* A child that runs; a descriptor is -1 after its end. */
struct fleet_child {
    pid_t pid;
    int output, errors;
    size_t told; /* bytes of the message */
};

/* Start the child with these ends of pipes; return 0 or an error number. */
static int fleet_start_process(const struct tv_fleet_process *process, int output, int errors,
                               pid_t *pid)
{
    size_t count = 0;
    while (process->arguments[count])
        count++;
    const char **words = tv_alloc(count + 2, sizeof *words);
    words[0] = "traceview";
    memcpy(words + 1, process->arguments, (count + 1) * sizeof *words);
    const struct tv_program program = {
        .name = TV_PROGRAM_ITSELF,
        .words = words,
        .folder = process->folder,
        .fds = (const struct tv_program_fd[]){{0, -1}, {1, output}, {2, errors}},
        .fd_count = 3,
        .own_group = true};
    int error = tv_program_start(&program, pid);
    tv_free(words);
    return error;
}

/* Close an end of a pipe, once. */
static void fleet_close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Start the child and keep our ends of its pipes; false if it cannot be
 * started. */
static bool fleet_open_child(const struct tv_fleet_process *process, struct fleet_child *child)
{
    int output[2] = {-1, -1}, errors[2] = {-1, -1};
    *child = (struct fleet_child){.output = -1, .errors = -1};
    bool started = pipe2(output, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0 &&
                   fleet_start_process(process, output[1], errors[1], &child->pid) == 0;
    fleet_close_end(&output[1]);
    fleet_close_end(&errors[1]);
    child->output = output[0];
    child->errors = errors[0];
    return started;
}

/* Read what there is of standard error; the message has the beginning of it. */
static void fleet_read_errors(struct fleet_child *child, struct tv_fleet_result *result)
{
    char piece[1024];
    ssize_t got = read(child->errors, piece, sizeof piece);
    if (got <= 0) {
        fleet_close_end(&child->errors);
        return;
    }
    for (ssize_t i = 0; i < got && child->told + 1 < sizeof result->message; i++)
        result->message[child->told++] = (unsigned char)piece[i] < ' ' ? ' ' : piece[i];
}

/* False: there is too much output. */
static bool fleet_read_output(struct fleet_child *child, size_t most, struct tv_out *out)
{
    uint8_t piece[16384];
    ssize_t got = read(child->output, piece, sizeof piece);
    if (got <= 0) {
        fleet_close_end(&child->output);
        return true;
    }
    if ((size_t)got > most - out->length)
        return false;
    tv_out_bytes(out, (struct tv_bytes){piece, (size_t)got});
    return true;
}

/* Read until the child has closed both pipes, or must end. */
static enum tv_fleet_end fleet_read_child(const struct tv_fleet_process *process,
                                          struct fleet_child *child, struct tv_out *out,
                                          struct tv_fleet_result *result)
{
    const int64_t deadline = tv_monotonic_ms() + (int64_t)process->seconds * 1000;
    assert(out->length <= process->most_bytes);
    while (child->output >= 0 || child->errors >= 0) {
        struct pollfd ends[2] = {{.fd = child->output, .events = POLLIN},
                                 {.fd = child->errors, .events = POLLIN}};
        if (process->stop && atomic_load(process->stop))
            return TV_FLEET_STOPPED;
        if (tv_monotonic_ms() >= deadline)
            return TV_FLEET_LATE;
        if (poll(ends, 2, GLANCE_MS) <= 0)
            continue;
        if (ends[1].revents != 0)
            fleet_read_errors(child, result);
        if (ends[0].revents != 0 && !fleet_read_output(child, process->most_bytes, out))
            return TV_FLEET_TOO_LARGE;
    }
    return TV_FLEET_EXITED;
}

void tv_fleet_process_run(const struct tv_fleet_process *process, struct tv_out *out,
                          struct tv_fleet_result *result)
{
    struct fleet_child child;
    int status = 0;
    *result = (struct tv_fleet_result){.end = TV_FLEET_NOT_STARTED};
    if (fleet_open_child(process, &child)) {
        result->end = fleet_read_child(process, &child, out, result);
        if (result->end != TV_FLEET_EXITED)
            kill(-child.pid, SIGKILL);
        while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
            continue;
        if (result->end == TV_FLEET_EXITED && !WIFEXITED(status))
            result->end = TV_FLEET_KILLED;
        result->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    fleet_close_end(&child.output);
    fleet_close_end(&child.errors);
}
