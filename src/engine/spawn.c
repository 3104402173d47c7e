/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.c - starts a child process with exactly the descriptors, signals and environment it needs.
 *
 * Every descriptor is first duplicated to a high number, then to its place in the child
 * (messages.h); all others are close-on-exec. So the order of the places cannot overwrite a source.
 *
 *     ours           duplicated        in the child
 *     errors   9     64  --dup2-->     2   a pipe that we read
 *     socket   5     65  --dup2-->     3   messages, both ways
 *     trace    3     66  --dup2-->     5   and so on, by enum tv_engine_fd
 *
 * The child reads untrusted files.  It inherits nothing that it does not need: no environment but
 * the settings of sanitizers and its TMPDIR, no ignored or blocked signal, no terminal's group.
 * We remove the child's directory, because a killed child cannot.
 */
#define _GNU_SOURCE /* O_PATH, pipe2, environ */
#include "engine/internal.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"

/* Higher than any descriptor number of the child. */
#define ABOVE 64

/* Variables that the child inherits: settings of sanitizers. */
static const char *const passed_on[] = {"ASAN_OPTIONS=", "UBSAN_OPTIONS=", "TSAN_OPTIONS="};

static enum tv_status spawn_fail(struct tv_error *err, const char *what, int error)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", what, strerror(error));
}

static void spawn_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- The child's directory ---- */

/* Make the directory for its temporary files, which nobody else may read. */
static enum tv_status spawn_make_folder(const struct tv_spawn *spawn, char **path,
                                        struct tv_error *err)
{
    size_t size = strlen(spawn->scratch) + strlen(spawn->name) + 2;
    *path = tv_alloc(size, 1);
    snprintf(*path, size, "%s/%s", spawn->scratch, spawn->name);
    if (mkdir(*path, 0700) == 0)
        return TV_OK;
    return spawn_fail(err, "cannot make a folder for temporary files", errno);
}

/* Remove the directory. Files in it have no names any more, unless the child was killed right after
 * it created one. */
static void spawn_remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(path);
}

/* ---- Its descriptors ---- */

struct spawn_fds {
    int errors;                  /* becomes standard error */
    int files[TV_ENGINE_FD_END]; /* by enum tv_engine_fd */
};

/* Duplicate a descriptor above all places of the child; -1: there was none. */
static int spawn_dup_above(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE);
}

/* Duplicate the child's ends. False: no descriptors are left. */
static bool spawn_gather_fds(const struct tv_spawn *spawn, const char *folder, int socket,
                             int errors, struct spawn_fds *handed)
{
    int scratch = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    handed->errors = spawn_dup_above(errors);
    handed->files[TV_ENGINE_FD_SOCKET] = spawn_dup_above(socket);
    handed->files[TV_ENGINE_FD_SCRATCH] = spawn_dup_above(scratch);
    handed->files[TV_ENGINE_FD_TRACE] = spawn_dup_above(spawn->trace);
    handed->files[TV_ENGINE_FD_INDEX] = spawn_dup_above(spawn->index);
    handed->files[TV_ENGINE_FD_NEW_INDEX] = spawn_dup_above(spawn->new_index);
    spawn_close_fd(&scratch);
    return handed->errors >= 0 && handed->files[TV_ENGINE_FD_SOCKET] >= 0 &&
           handed->files[TV_ENGINE_FD_SCRATCH] >= 0;
}

static void spawn_release_fds(struct spawn_fds *handed)
{
    spawn_close_fd(&handed->errors);
    for (int i = TV_ENGINE_FD_SOCKET; i < TV_ENGINE_FD_END; i++)
        spawn_close_fd(&handed->files[i]);
}

/* Fill environment[TV_COUNT(passed_on) + 2]. */
static void spawn_fill_environment(const char **environment, const char *folder)
{
    size_t count = 0;
    environment[count++] = folder;
    for (size_t i = 0; i < TV_COUNT(passed_on); i++) {
        char **ours = environ;
        while (*ours && strncmp(*ours, passed_on[i], strlen(passed_on[i])) != 0)
            ours++;
        if (*ours)
            environment[count++] = *ours;
    }
    environment[count] = NULL;
}

/* Start the process. Return 0 or an error number. */
static int spawn_run(const struct tv_spawn *spawn, const char *folder,
                     const struct spawn_fds *handed, pid_t *pid)
{
    const char *environment[TV_COUNT(passed_on) + 2];
    struct tv_program_fd fds[3 + TV_ENGINE_FD_END] = {{0, -1}, {1, -1}, {2, handed->errors}};
    struct tv_program program = {.name = spawn->program ? spawn->program : TV_PROGRAM_ITSELF,
                                 .words =
                                     (const char *const[]){"traceview", TV_ENGINE_COMMAND, NULL},
                                 .environment = environment,
                                 .fds = fds,
                                 .fd_count = 3,
                                 .own_group = true};
    size_t size = strlen(folder) + sizeof "TMPDIR=";
    char *variable = tv_alloc(size, 1);
    snprintf(variable, size, "TMPDIR=%s", folder);
    spawn_fill_environment(environment, variable);
    for (int i = TV_ENGINE_FD_SOCKET; i < TV_ENGINE_FD_END; i++)
        if (handed->files[i] >= 0)
            fds[program.fd_count++] = (struct tv_program_fd){i, handed->files[i]};
    int error = tv_program_start(&program, pid);
    tv_free(variable);
    return error;
}

/* Start the process and tell it what to read. */
static enum tv_status spawn_start(const struct tv_spawn *spawn, struct tv_spawned *spawned,
                                  int socket, int errors, struct tv_error *err)
{
    assert(spawned->scratch != NULL && spawned->socket >= 0);
    struct spawn_fds handed;
    int error = EMFILE;
    memset(&handed, 0xff, sizeof handed);
    if (spawn_gather_fds(spawn, spawned->scratch, socket, errors, &handed))
        error = spawn_run(spawn, spawned->scratch, &handed, &spawned->pid);
    spawn_release_fds(&handed);
    if (error != 0)
        return spawn_fail(err, "cannot start the process that reads the trace", error);
    struct tv_engine_message message = {.kind = TV_ENGINE_BEGIN};
    message.begin = spawn->begin;
    message.begin.server = getpid();
    message.begin.has_index = spawn->index >= 0;
    message.begin.has_new_index = spawn->new_index >= 0;
    /* The supervisor notices and explains a child that is gone already. One that lives, but was not
     * told what to read, would wait for ever. */
    if (tv_engine_send(spawned->socket, &message, (struct tv_bytes){NULL, 0}, -1) ||
        errno == EPIPE || errno == ECONNRESET)
        return TV_OK;
    error = errno;
    kill(spawned->pid, SIGKILL);
    (void)tv_program_wait(spawned->pid, NULL);
    spawned->pid = 0;
    return spawn_fail(err, "cannot tell the process what to read", error);
}

enum tv_status tv_spawn(const struct tv_spawn *spawn, struct tv_spawned *spawned,
                        struct tv_error *err)
{
    assert(spawn->begin.name[sizeof spawn->begin.name - 1] == '\0');
    int sockets[2] = {-1, -1}, pipes[2] = {-1, -1};
    *spawned = (struct tv_spawned){.socket = -1, .errors = -1};
    enum tv_status status = spawn_make_folder(spawn, &spawned->scratch, err);
    if (status == TV_OK && (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0 ||
                            pipe2(pipes, O_CLOEXEC) != 0))
        status = spawn_fail(err, "cannot talk to a child", errno);
    spawned->socket = sockets[0];
    spawned->errors = pipes[0];
    if (status == TV_OK)
        status = spawn_start(spawn, spawned, sockets[1], pipes[1], err);
    spawn_close_fd(&sockets[1]);
    spawn_close_fd(&pipes[1]);
    if (status != TV_OK)
        tv_spawned_release(spawned);
    else
        fcntl(spawned->errors, F_SETFL, O_NONBLOCK);
    return status;
}

void tv_spawned_release(struct tv_spawned *spawned)
{
    spawn_close_fd(&spawned->socket);
    spawn_close_fd(&spawned->errors);
    if (spawned->scratch)
        spawn_remove_folder(spawned->scratch);
    tv_free(spawned->scratch);
    *spawned = (struct tv_spawned){.socket = -1, .errors = -1};
}
