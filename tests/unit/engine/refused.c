/* SPDX-License-Identifier: Apache-2.0 */
/* refused.c - see refused.h. The kernel is called directly: a child in its sandbox loads no code.
 */
#define _GNU_SOURCE /* pipe2, RTLD_NEXT */
#include "engine/refused.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Atomic(enum refused_call) armed;
static atomic_long left;
static atomic_int code;
static atomic_bool happened;

const char *refused_name(enum refused_call call)
{
    static const char *const names[REFUSED_CALLS] = {
        "none",  "poll",  "read",  "write",     "pipe",    "socketpair",
        "mkdir", "open",  "dup",   "sendmsg",   "recvmsg", "waitpid",
        "fsync", "fstat", "prctl", "getrlimit", "clock",   "thread"};
    return names[call];
}

void refused_arm(enum refused_call call, long at, int error)
{
    armed = REFUSED_NONE;
    left = at;
    code = error;
    happened = false;
    armed = call;
}

bool refused_disarm(void)
{
    armed = REFUSED_NONE;
    return happened;
}

/* Return true when this call must fail; errno is set. */
static bool is_refused(enum refused_call call)
{
    if (armed != call || atomic_fetch_sub(&left, 1) != 0)
        return false;
    happened = true;
    errno = code;
    return true;
}

int poll(struct pollfd *polls, nfds_t count, int milliseconds)
{
    return is_refused(REFUSED_POLL) ? -1 : (int)syscall(SYS_poll, polls, count, milliseconds);
}

ssize_t read(int fd, void *bytes, size_t length)
{
    return is_refused(REFUSED_READ) ? -1 : syscall(SYS_read, fd, bytes, length);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    return is_refused(REFUSED_WRITE) ? -1 : syscall(SYS_write, fd, bytes, length);
}

int pipe(int pipes[2])
{
    return is_refused(REFUSED_PIPE) ? -1 : (int)syscall(SYS_pipe2, pipes, 0);
}

int pipe2(int pipes[2], int flags)
{
    return is_refused(REFUSED_PIPE) ? -1 : (int)syscall(SYS_pipe2, pipes, flags);
}

int socketpair(int domain, int type, int protocol, int sockets[2])
{
    if (is_refused(REFUSED_SOCKETPAIR))
        return -1;
    return (int)syscall(SYS_socketpair, domain, type, protocol, sockets);
}

int mkdir(const char *path, mode_t mode)
{
    return is_refused(REFUSED_MKDIR) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return is_refused(REFUSED_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* Only duplicates fail: the flags of a descriptor that exists can always be changed. */
int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    long value = va_arg(arguments, long);
    va_end(arguments);
    if (command == F_DUPFD_CLOEXEC && is_refused(REFUSED_DUP))
        return -1;
    return (int)syscall(SYS_fcntl, fd, command, value);
}

ssize_t sendmsg(int socket, const struct msghdr *packet, int flags)
{
    return is_refused(REFUSED_SENDMSG) ? -1 : syscall(SYS_sendmsg, socket, packet, flags);
}

ssize_t recvmsg(int socket, struct msghdr *packet, int flags)
{
    return is_refused(REFUSED_RECVMSG) ? -1 : syscall(SYS_recvmsg, socket, packet, flags);
}

pid_t waitpid(pid_t pid, int *status, int flags)
{
    return is_refused(REFUSED_WAITPID) ? -1 : (pid_t)syscall(SYS_wait4, pid, status, flags, NULL);
}

int fsync(int fd)
{
    return is_refused(REFUSED_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

/* Calls whose arguments the C library converts go through it. */

int fstat(int fd, struct stat *info)
{
    int (*next)(int, struct stat *);
    *(void **)&next = dlsym(RTLD_NEXT, "fstat");
    return is_refused(REFUSED_FSTAT) ? -1 : next(fd, info);
}

int prctl(int option, ...)
{
    unsigned long values[4];
    va_list arguments;
    va_start(arguments, option);
    for (size_t i = 0; i < 4; i++)
        values[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (is_refused(REFUSED_PRCTL))
        return -1;
    return (int)syscall(SYS_prctl, option, values[0], values[1], values[2], values[3]);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    if (is_refused(REFUSED_GETRLIMIT))
        return -1;
    return (int)syscall(SYS_prlimit64, 0, resource, NULL, limit);
}

int clock_getcpuclockid(pid_t pid, clockid_t *clock)
{
    int (*next)(pid_t, clockid_t *);
    *(void **)&next = dlsym(RTLD_NEXT, "clock_getcpuclockid");
    return is_refused(REFUSED_CLOCK) ? code : next(pid, clock);
}

/* Sanitizers must see each thread begin, so theirs do not fail. */
#ifndef SANITIZED
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return is_refused(REFUSED_THREAD) ? code : next(thread, attributes, run, context);
}
#endif
