/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.c - writes files from inside somebody else's process; output_file.h says why a
 * descriptor may stop being ours at any time.
 *
 * A file is known by device and inode.  Before each append:
 *
 *     descriptor still leads to our inode? --yes--> pwrite at `size`
 *        | no: the program closed it, and may have reused the number
 *     path still leads to our inode?       --yes--> open it again, pwrite at `size`
 *        | no
 *     -EBADF: give up for good; never touch the descriptor, it is the program's
 *
 * pwrite with an offset of our own, not write: a forked child shares the file position.  The check
 * and the write are two system calls, so a program that closes and reopens all numbers between
 * them can still be hit; moving descriptors to high numbers makes that unlikely.
 *
 * The first error of a file stays in `error` and nothing is written after it: a file that lacks a
 * piece in the middle could not be read.
 */
#define _GNU_SOURCE
#include "recorder/output_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/memory.h"

/* Move descriptors up to here if the limit allows it: programs use the lowest numbers, and the
 * kernel's table is as long as the largest number. */
#define HIGH_DESCRIPTOR 4000u

/* Attempts to open a path whose file another recording renames in between. */
#define OPEN_TRIES 8

/* Below a low limit, the upper eighth of the numbers is used.  When no number is free there, the
 * file keeps its own. */
int tv_output_file_move_high(int file)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return file;
    int least = limit.rlim_cur > HIGH_DESCRIPTOR + 64 ? (int)HIGH_DESCRIPTOR
                                                      : (int)(limit.rlim_cur - limit.rlim_cur / 8);
    int high = fcntl(file, F_DUPFD_CLOEXEC, least);
    if (high < 0)
        return file;
    close(file);
    return high;
}

static bool output_file_matches(const struct tv_output_file *output, const struct stat *found)
{
    return found->st_dev == output->device && found->st_ino == output->inode;
}

bool tv_output_file_is_at_path(const struct tv_output_file *output)
{
    struct stat found;
    return stat(output->path, &found) == 0 && output_file_matches(output, &found);
}

static bool output_file_owns(const struct tv_output_file *output, int file)
{
    struct stat found;
    return file >= 0 && fstat(file, &found) == 0 && output_file_matches(output, &found);
}

bool tv_output_file_exists(const struct tv_output_file *output)
{
    struct stat found;
    return tv_output_file_is_at_path(output) ||
           (output->descriptor >= 0 && fstat(output->descriptor, &found) == 0 &&
            output_file_matches(output, &found) && found.st_nlink > 0);
}

/* Lock a file that was just opened, note its identity and empty it.  It is emptied only under the
 * lock, so a second recording cannot destroy the file of the first.  0, or a negative errno;
 * -EAGAIN: the file is not at its path any more, open the path again. */
static int output_file_take(struct tv_output_file *output, int file)
{
    struct stat found;
    if (fstat(file, &found) != 0)
        return -errno;
    if (!S_ISREG(found.st_mode))
        return -ENOTSUP;
    /* On a file system without locks, other recordings are not kept away. */
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return -EBUSY;
    output->device = found.st_dev;
    output->inode = found.st_ino;
    /* Another recording may have just finished with the file and renamed it. */
    if (!tv_output_file_is_at_path(output))
        return -EAGAIN;
    if (found.st_size == 0 || ftruncate(file, 0) == 0)
        return 0;
    return -errno;
}

int tv_output_file_open(struct tv_output_file *output, const char *path, mode_t mode)
{
    int failed = -EAGAIN;
    *output = (struct tv_output_file){.descriptor = -1, .path = path};
    for (int i = 0; i < OPEN_TRIES && failed == -EAGAIN; i++) {
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
        if (file < 0)
            return errno == ENXIO ? -ENOTSUP : -errno; /* a pipe that nobody reads */
        failed = output_file_take(output, file);
        if (failed == 0)
            output->descriptor = tv_output_file_move_high(file);
        else
            close(file);
    }
    return failed;
}

/* Make the descriptor valid again; 0, or why the file is lost. */
static int output_file_reopen(struct tv_output_file *output)
{
    assert(output->path);
    if (output_file_owns(output, output->descriptor))
        return 0;
    output->descriptor = -1;
    int file = open(output->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return errno == EACCES || errno == EPERM ? -errno : -EBADF;
    if (output_file_owns(output, file))
        output->descriptor = tv_output_file_move_high(file);
    else
        close(file);
    return output->descriptor >= 0 ? 0 : -EBADF;
}

/* Writing past RLIMIT_FSIZE sends SIGXFSZ to the writing thread, whose default action kills the
 * program.  The guard blocks the signal in this thread, and at its end consumes the one that our
 * own write caused; a signal that was pending before belongs to the program and stays. */
static sigset_t file_limit_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

static bool file_limit_is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void tv_file_limit_begin(struct tv_file_limit_guard *limit)
{
    sigset_t set = file_limit_signals();
    pthread_sigmask(SIG_BLOCK, &set, &limit->before);
    limit->was_pending = file_limit_is_pending();
}

void tv_file_limit_end(const struct tv_file_limit_guard *limit)
{
    static const struct timespec at_once;
    sigset_t set = file_limit_signals();
    if (!limit->was_pending && file_limit_is_pending())
        (void)sigtimedwait(&set, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}

int tv_output_file_append(struct tv_output_file *output, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    struct tv_file_limit_guard limit;
    if (output->error == 0 && size > 0)
        output->error = output_file_reopen(output);
    tv_file_limit_begin(&limit);
    while (size > 0 && output->error == 0) {
        ssize_t wrote = pwrite(output->descriptor, from, size, (off_t)output->size);
        if (wrote > 0) {
            from += wrote;
            size -= (size_t)wrote;
            output->size += (uint64_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            output->error = wrote == 0 ? -EIO : -errno;
        }
    }
    tv_file_limit_end(&limit);
    return output->error;
}

int tv_output_file_sync(int file)
{
    while (fsync(file) != 0) {
        if (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS)
            return 0; /* the file system does not support it */
        if (errno != EINTR)
            return -errno;
    }
    return 0;
}

int tv_output_file_publish(const struct tv_output_file *output, const char *part, const char *path)
{
    int failed =
        output_file_owns(output, output->descriptor) ? tv_output_file_sync(output->descriptor) : 0;
    if (failed == 0 && rename(part, path) != 0)
        failed = -errno;
    return failed;
}

/* The stream is closed in every case, so the caller never closes it. */
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

void tv_output_file_close(struct tv_output_file *output)
{
    if (output_file_owns(output, output->descriptor))
        close(output->descriptor);
    output->descriptor = -1;
}

int tv_output_file_check_path(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode) ? -ENOTSUP : 0;
}

/* ---- Buffer ---- */

struct tv_output_buffer *tv_output_buffer_new(struct tv_output_file *to)
{
    struct tv_output_buffer *out = tv_mmap_alloc(sizeof *out);
    if (out)
        out->to = to;
    return out;
}

void tv_output_buffer_free(struct tv_output_buffer *out)
{
    tv_mmap_free(out, sizeof *out);
}

/* After an error, and without a file, the bytes are dropped but still counted in `flushed`. */
int tv_output_buffer_flush(struct tv_output_buffer *out)
{
    assert(out->used <= TV_OUTPUT_BUFFER_SIZE);
    if (out->to && out->error == 0)
        out->error = tv_output_file_append(out->to, out->bytes, out->used);
    out->flushed += out->used;
    out->used = 0;
    return out->error;
}

uint8_t *tv_output_buffer_reserve(struct tv_output_buffer *out, size_t size)
{
    assert(size <= TV_OUTPUT_BUFFER_SIZE && out->used <= TV_OUTPUT_BUFFER_SIZE);
    if (TV_OUTPUT_BUFFER_SIZE - out->used < size)
        tv_output_buffer_flush(out);
    return out->bytes + out->used;
}

void tv_output_buffer_put(struct tv_output_buffer *out, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t piece = size < TV_OUTPUT_BUFFER_SIZE ? size : TV_OUTPUT_BUFFER_SIZE;
        memcpy(tv_output_buffer_reserve(out, piece), from, piece);
        out->used += piece;
        from += piece;
        size -= piece;
    }
}

void tv_output_buffer_print(struct tv_output_buffer *out, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        tv_output_buffer_put(out, text,
                             (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}
