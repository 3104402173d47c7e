/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - see faults.h.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "unit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"

static _Atomic(enum fault) armed;
static atomic_long left;
static atomic_bool happened;

void faults_arm(enum fault fault, long at)
{
    armed = FAULT_NONE;
    left = at;
    happened = false;
    armed = fault;
}

bool faults_happened(void)
{
    return happened;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

/* Return true when this call must fail. */
static bool is_refused(bool takes_room)
{
    enum fault fault = armed;
    bool writes_alone = fault == FAULT_FULL || fault == FAULT_HALF_KILL;
    if (fault == FAULT_NONE || fault == FAULT_LOOK || (writes_alone && !takes_room))
        return false;
    long before = atomic_fetch_sub(&left, 1);
    if (before > 0 || (before < 0 && fault != FAULT_FULL))
        return false;
    happened = true;
    if (fault == FAULT_KILL)
        die();
    errno = fault == FAULT_FULL ? ENOSPC : EIO;
    return true;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    if (is_refused(true)) {
        if (armed != FAULT_HALF_KILL)
            return -1;
        syscall(SYS_pwrite64, fd, bytes, length / 2, at);
        die();
    }
    return syscall(SYS_pwrite64, fd, bytes, length, at);
}

int ftruncate(int fd, off_t length)
{
    return is_refused(false) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int fsync(int fd)
{
    return is_refused(false) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return is_refused(false) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
    return is_refused(false) ? -1 : (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int unlinkat(int folder, const char *name, int flags)
{
    return is_refused(false) ? -1 : (int)syscall(SYS_unlinkat, folder, name, flags);
}

/* ---- Calls that change nothing that exists ---- */

static bool is_blind(void)
{
    if (armed != FAULT_LOOK || atomic_fetch_sub(&left, 1) != 0)
        return false;
    happened = true;
    errno = EIO;
    return true;
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return is_blind() ? -1 : (int)syscall(SYS_openat, folder, name, flags, mode);
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    return is_blind() ? -1 : (int)syscall(SYS_mkdirat, folder, name, mode);
}

/* Calls whose structs may differ from the kernel's go through the C library. */

int fstat(int fd, struct stat *info)
{
    int (*next)(int, struct stat *);
    *(void **)&next = dlsym(RTLD_NEXT, "fstat");
    return is_blind() ? -1 : next(fd, info);
}

int fstatat(int folder, const char *name, struct stat *info, int flags)
{
    int (*next)(int, const char *, struct stat *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "fstatat");
    return is_blind() ? -1 : next(folder, name, info, flags);
}

int fstatvfs(int fd, struct statvfs *info)
{
    int (*next)(int, struct statvfs *);
    *(void **)&next = dlsym(RTLD_NEXT, "fstatvfs");
    return is_blind() ? -1 : next(fd, info);
}

DIR *fdopendir(int fd)
{
    DIR *(*next)(int);
    *(void **)&next = dlsym(RTLD_NEXT, "fdopendir");
    return is_blind() ? NULL : next(fd);
}
