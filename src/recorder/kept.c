/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - see kept.h. */
#define _GNU_SOURCE
#include "recorder/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Descriptors from here on, if there may be so many: programs use the lowest ones, and the kernel's
 * table is as long as the largest. */
#define HIGH 4000u
#define TRIES 8

int tv_output_file_move_high(int file)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return file;
    int least = limit.rlim_cur > HIGH + 64 ? (int)HIGH : (int)(limit.rlim_cur - limit.rlim_cur / 8);
    int high = fcntl(file, F_DUPFD_CLOEXEC, least);
    if (high < 0)
        return file;
    close(file);
    return high;
}

static bool is(const struct tv_output_file *kept, const struct stat *found)
{
    return found->st_dev == kept->device && found->st_ino == kept->inode;
}

bool tv_output_file_is_at_path(const struct tv_output_file *kept)
{
    struct stat found;
    return stat(kept->path, &found) == 0 && is(kept, &found);
}

static bool is_ours(const struct tv_output_file *kept, int file)
{
    struct stat found;
    return file >= 0 && fstat(file, &found) == 0 && is(kept, &found);
}

bool tv_output_file_exists(const struct tv_output_file *kept)
{
    struct stat found;
    return tv_output_file_is_at_path(kept) || (kept->file >= 0 && fstat(kept->file, &found) == 0 &&
                                      is(kept, &found) && found.st_nlink > 0);
}

static int take(struct tv_output_file *kept, int file)
{
    struct stat found;
    if (fstat(file, &found) != 0)
        return -errno;
    if (!S_ISREG(found.st_mode))
        return -ENOTSUP;
    /* Where files cannot be locked, nobody else is kept away. */
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return -EBUSY;
    kept->device = found.st_dev;
    kept->inode = found.st_ino;
    /* Another recording may have finished with it just now, and given it another name. */
    if (!tv_output_file_is_at_path(kept))
        return -EAGAIN;
    if (found.st_size == 0 || ftruncate(file, 0) == 0)
        return 0;
    return -errno;
}

int tv_output_file_open(struct tv_output_file *kept, const char *path, mode_t mode)
{
    int failed = -EAGAIN;
    *kept = (struct tv_output_file){.file = -1, .path = path};
    for (int i = 0; i < TRIES && failed == -EAGAIN; i++) {
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
        if (file < 0)
            return errno == ENXIO ? -ENOTSUP : -errno; /* a pipe that nobody reads */
        failed = take(kept, file);
        if (failed == 0)
            kept->file = tv_output_file_move_high(file);
        else
            close(file);
    }
    return failed;
}

/* 0, or why it is lost. */
static int find(struct tv_output_file *kept)
{
    if (is_ours(kept, kept->file))
        return 0;
    kept->file = -1;
    int file = open(kept->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return errno == EACCES || errno == EPERM ? -errno : -EBADF;
    if (is_ours(kept, file))
        kept->file = tv_output_file_move_high(file);
    else
        close(file);
    return kept->file >= 0 ? 0 : -EBADF;
}

static sigset_t limit_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

static bool is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void tv_file_limit_begin(struct tv_file_limit_guard *limit)
{
    sigset_t set = limit_signal();
    pthread_sigmask(SIG_BLOCK, &set, &limit->before);
    limit->was_pending = is_pending();
}

void tv_file_limit_end(const struct tv_file_limit_guard *limit)
{
    static const struct timespec at_once;
    sigset_t set = limit_signal();
    if (!limit->was_pending && is_pending())
        (void)sigtimedwait(&set, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}

int tv_output_file_append(struct tv_output_file *kept, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    struct tv_file_limit_guard limit;
    if (kept->error == 0 && size > 0)
        kept->error = find(kept);
    tv_file_limit_begin(&limit);
    while (size > 0 && kept->error == 0) {
        ssize_t wrote = pwrite(kept->file, from, size, (off_t)kept->size);
        if (wrote > 0) {
            from += wrote;
            size -= (size_t)wrote;
            kept->size += (uint64_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            kept->error = wrote == 0 ? -EIO : -errno;
        }
    }
    tv_file_limit_end(&limit);
    return kept->error;
}

int tv_output_file_sync(int file)
{
    while (fsync(file) != 0) {
        if (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS)
            return 0; /* the file system cannot */
        if (errno != EINTR)
            return -errno;
    }
    return 0;
}

int tv_output_file_publish(const struct tv_output_file *kept, const char *part, const char *path)
{
    int failed = is_ours(kept, kept->file) ? tv_output_file_sync(kept->file) : 0;
    if (failed == 0 && rename(part, path) != 0)
        failed = -errno;
    return failed;
}

int tv_output_stream_publish(FILE *stream, int failed, const char *part, const char *path)
{
    if (fflush(stream) != 0 && failed == 0)
        failed = -errno;
    if (failed == 0)
        failed = tv_output_file_sync(fileno(stream));
    if (fclose(stream) != 0 && failed == 0)
        failed = -errno;
    if (failed == 0 && rename(part, path) != 0)
        failed = -errno;
    if (failed != 0)
        unlink(part);
    return failed;
}

void tv_output_file_close(struct tv_output_file *kept)
{
    if (is_ours(kept, kept->file))
        close(kept->file);
    kept->file = -1;
}

int tv_output_file_check_path(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode) ? -ENOTSUP : 0;
}
