/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - see faults.h.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
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
    if (fault == FAULT_NONE || (writes_alone && !takes_room))
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
