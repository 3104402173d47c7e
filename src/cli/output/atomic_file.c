/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_file.c - writes a file completely or not at all (atomic_file.h).
 *
 * Beside each way stands why it may be impossible; then the next one is tried:
 *
 *     opening      unnamed, in the directory of the file     no O_TMPFILE there, no /proc
 *                  hidden, ".traceview-PID-N.tmp"            the directory refuses new files
 *                  in place, not atomic
 *     committing   link under the final name                 there is an older file
 *                  link under a hidden name, and rename      mount point, sticky directory
 *                  copy the complete contents into the older file
 *
 * A full disk is no reason for the next way: writing in place would then destroy the older file.
 * The handler of signals may only unlink a name in a static buffer, so one hidden file at a time is
 * guarded.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "cli/output/atomic_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/confine.h"

#define MAX_LINKS 40 /* the limit of the kernel */
#define TRIES 100
#define COPY_SIZE 65536

static enum tv_status atomic_file_fail(const char *path, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
}

/* ---- The hidden file, for file systems without unnamed files ---- */

static const int deadly_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static struct sigaction older_actions[TV_COUNT(deadly_signals)];
static char removed_by_signal[PATH_MAX];

/* Remove the hidden file, then end by the signal itself, so that the shell sees the true reason. */
static void atomic_file_remove_and_die(int number)
{
    unlink(removed_by_signal);
    signal(number, SIG_DFL);
    raise(number);
}

/* Signals that end the program remove the hidden file first. */
static void atomic_file_guard_hidden(const char *path)
{
    struct sigaction action = {.sa_handler = atomic_file_remove_and_die};
    snprintf(removed_by_signal, sizeof removed_by_signal, "%s", path);
    for (size_t i = 0; i < TV_COUNT(deadly_signals); i++) {
        sigaction(deadly_signals[i], NULL, &older_actions[i]);
        if (older_actions[i].sa_handler == SIG_DFL)
            sigaction(deadly_signals[i], &action, NULL);
    }
}

static void atomic_file_unguard_hidden(void)
{
    for (size_t i = 0; i < TV_COUNT(deadly_signals); i++)
        sigaction(deadly_signals[i], &older_actions[i], NULL);
}

/* ---- Names ---- */

/* Is it a link in /proc to an open descriptor? The path that such a link shows may lead to another
 * file. */
static bool is_descriptor_link(const struct stat *link)
{
    struct stat proc;
    return stat("/proc", &proc) == 0 && link->st_dev == proc.st_dev;
}

/* Replace file->path, a symbolic link, by its target `link`. */
static bool atomic_file_apply_link(struct tv_atomic_file *file, const char *link)
{
    char *slash = strrchr(file->path, '/');
    size_t start = link[0] != '/' && slash ? (size_t)(slash + 1 - file->path) : 0;
    if (start + strlen(link) >= sizeof file->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(file->path + start, link, strlen(link) + 1);
    return true;
}

/* Follow the symbolic links of the last component. The kernel follows those of directories. */
static bool atomic_file_follow_links(struct tv_atomic_file *file, const char *path)
{
    char link[PATH_MAX];
    struct stat found;
    if (!atomic_file_apply_link(file, path))
        return false;
    for (int i = 0; lstat(file->path, &found) == 0 && S_ISLNK(found.st_mode); i++) {
        ssize_t length = readlink(file->path, link, sizeof link - 1);
        if (length < 0 || i == MAX_LINKS) {
            errno = i == MAX_LINKS ? ELOOP : errno;
            return false;
        }
        link[length] = '\0';
        file->in_place |= is_descriptor_link(&found);
        if (!atomic_file_apply_link(file, link))
            return false;
    }
    return true;
}

/* Copy the directory of the file. */
static void atomic_file_directory(const struct tv_atomic_file *file, char *directory)
{
    const char *slash = strrchr(file->path, '/');
    size_t length = slash ? (size_t)(slash - file->path) : 1;
    memcpy(directory, slash ? file->path : ".", length);
    if (length == 0)
        directory[length++] = '/';
    directory[length] = '\0';
}

/* Make the name of a hidden file beside the file; false when it is too long. */
static bool atomic_file_make_name(struct tv_atomic_file *file, int number)
{
    char directory[PATH_MAX];
    atomic_file_directory(file, directory);
    int length = snprintf(file->temporary, sizeof file->temporary, "%s/.traceview-%ld-%d.tmp",
                          directory, (long)getpid(), number);
    if (length > 0 && (size_t)length < sizeof file->temporary)
        return true;
    errno = ENAMETOOLONG;
    file->temporary[0] = '\0';
    return false;
}

/* ---- The new file ---- */

/* Open a file without a name in the directory of the file; -1: impossible there. It stays private
 * until it gets the mode of the file that it replaces. */
static int atomic_file_open_unnamed(const struct tv_atomic_file *file)
{
    char directory[PATH_MAX];
    atomic_file_directory(file, directory);
    /* Without /proc the file could not be linked later (atomic_file_link). */
    return access("/proc/self/fd", X_OK) == 0
               ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, file->replaces ? 0600 : 0666)
               : -1;
}

/* Open a file with a name of its own, where the file system has no unnamed files. */
static int atomic_file_open_hidden(struct tv_atomic_file *file)
{
    int descriptor = -1;
    for (int i = 0; i < TRIES && atomic_file_make_name(file, i); i++) {
        descriptor = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                          file->replaces ? 0600 : 0666);
        if (descriptor >= 0 || errno != EEXIST)
            break;
    }
    if (descriptor >= 0)
        atomic_file_guard_hidden(file->temporary);
    else
        file->temporary[0] = '\0';
    return descriptor;
}

/* May the existing file, `older`, be replaced? */
static bool atomic_file_is_replaceable(const struct tv_atomic_file *file)
{
    struct stat named;
    return S_ISREG(file->older.st_mode) && !file->in_place && stat(file->path, &named) == 0 &&
           named.st_dev == file->older.st_dev && named.st_ino == file->older.st_ino;
}

/* Write to the existing file, whose descriptor is `there`; -1: there is none. */
static enum tv_status atomic_file_write_in_place(struct tv_atomic_file *file, int there,
                                                 const char *path, struct tv_error *err)
{
    if (there < 0)
        return atomic_file_fail(path, err);
    file->in_place = true;
    file->descriptor = there;
    if (!S_ISREG(file->older.st_mode) || ftruncate(there, 0) == 0)
        return TV_OK;
    atomic_file_fail(path, err);
    tv_atomic_file_discard(file);
    return err->status;
}

/* Does the error mean that the directory allows no new file? Not a temporary problem, such as a
 * full disk or no free descriptor. */
static bool directory_refuses_file(int error)
{
    return error == EACCES || error == EPERM || error == EROFS;
}

/* Open and inspect the existing file; *there is -1 when there is none. */
static enum tv_status atomic_file_open_older(struct tv_atomic_file *file, const char *path,
                                             int *there, struct tv_error *err)
{
    *file = (struct tv_atomic_file){.descriptor = -1};
    if (!atomic_file_follow_links(file, path))
        return atomic_file_fail(path, err);
    /* A user who may not write the older file may not replace it either. */
    *there = open(path, O_WRONLY | O_CLOEXEC);
    if (*there < 0)
        return errno == ENOENT && path[0] != '\0' ? TV_OK : atomic_file_fail(path, err);
    if (fstat(*there, &file->older) == 0) {
        file->replaces = atomic_file_is_replaceable(file);
        return TV_OK;
    }
    atomic_file_fail(path, err);
    close(*there);
    return err->status;
}

/* Open the new file: unnamed, else hidden, else in place if the directory refuses both. */
static enum tv_status atomic_file_open_new(struct tv_atomic_file *file, const char *path,
                                           bool or_in_place, struct tv_error *err)
{
    int there = -1;
    enum tv_status status = atomic_file_open_older(file, path, &there, err);
    if (status != TV_OK)
        return status;
    if (there < 0 || file->replaces) {
        file->descriptor = atomic_file_open_unnamed(file);
        if (file->descriptor < 0)
            file->descriptor = atomic_file_open_hidden(file);
    }
    if (file->descriptor < 0 && or_in_place && (!file->replaces || directory_refuses_file(errno)))
        return atomic_file_write_in_place(file, there, path, err);
    if (file->descriptor < 0)
        status = atomic_file_fail(path, err);
    file->in_place = false;
    if (there >= 0)
        close(there);
    return status;
}

enum tv_status tv_atomic_file_open(struct tv_atomic_file *file, const char *path,
                                   struct tv_error *err)
{
    if (tv_is_confined())
        return tv_confined_file_open(file, path, err);
    return atomic_file_open_new(file, path, true, err);
}

enum tv_status tv_atomic_file_open_to_replace(struct tv_atomic_file *file, const char *path,
                                              struct tv_error *err)
{
    return atomic_file_open_new(file, path, false, err);
}

FILE *tv_atomic_file_stream(const struct tv_atomic_file *file)
{
    assert(file->descriptor >= 0);
    int descriptor = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 0);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!stream && descriptor >= 0)
        close(descriptor);
    return stream;
}

/* ---- The end ---- */

/* Copy owner and mode of the old file. The owner comes first, because changing it clears mode bits.
 * If the group cannot be kept, the new group gets no more rights than everybody. */
static bool atomic_file_copy_attributes(const struct tv_atomic_file *file)
{
    assert(!file->in_place);
    mode_t mode = file->older.st_mode & 07777;
    if (!file->replaces)
        return true;
    if (fchown(file->descriptor, file->older.st_uid, file->older.st_gid) != 0 &&
        fchown(file->descriptor, (uid_t)-1, file->older.st_gid) != 0)
        mode = (mode & 0707) | (mode & ((mode & 07) << 3));
    return fchmod(file->descriptor, mode) == 0;
}

/* Sync the file; some file systems and devices cannot. */
static bool atomic_file_sync(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

/* Sync the directory, so that the new name survives a power loss. */
static void atomic_file_sync_directory(const struct tv_atomic_file *file)
{
    char directory[PATH_MAX];
    atomic_file_directory(file, directory);
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    (void)atomic_file_sync(descriptor);
    close(descriptor);
}

/* Give the unnamed file a name; false with errno: it could not be linked, or the name is taken. */
static bool atomic_file_link(const struct tv_atomic_file *file, const char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->descriptor);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* Link the unnamed file under a temporary name, because only a named file can be renamed. */
static bool atomic_file_name_temporary(struct tv_atomic_file *file)
{
    assert(file->temporary[0] == '\0');
    for (int i = 0; i < TRIES && atomic_file_make_name(file, i); i++) {
        if (atomic_file_link(file, file->temporary)) {
            atomic_file_guard_hidden(file->temporary);
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    file->temporary[0] = '\0';
    return false;
}

/* Copy the new contents into the old file, for names that cannot be replaced: mount points, and
 * files of others in directories such as /tmp. This is not atomic, but the new contents are
 * complete. */
static bool atomic_file_copy_in_place(const struct tv_atomic_file *file)
{
    char buffer[COPY_SIZE];
    off_t at = 0;
    ssize_t length;
    int to = open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    bool done = to >= 0;
    while (done && (length = pread(file->descriptor, buffer, sizeof buffer, at)) != 0) {
        done = length > 0 && pwrite(to, buffer, (size_t)length, at) == length;
        at += length;
    }
    done = done && atomic_file_sync(to);
    return to >= 0 && close(to) == 0 && done;
}

/* Name the new file by rename(): readers see the old file or the new one.  A program that is killed
 * in between leaves the temporary name. */
static bool atomic_file_rename(struct tv_atomic_file *file)
{
    bool named = file->temporary[0] != '\0' || atomic_file_name_temporary(file);
    if (!named || rename(file->temporary, file->path) != 0)
        return false;
    atomic_file_unguard_hidden();
    file->temporary[0] = '\0';
    return true;
}

/* Put the new file in the place of the old one. */
static bool atomic_file_replace(struct tv_atomic_file *file)
{
    assert(!file->in_place && file->descriptor >= 0);
    if (!atomic_file_sync(file->descriptor) || !atomic_file_copy_attributes(file))
        return false;
    bool linked =
        file->temporary[0] == '\0' && !file->replaces && atomic_file_link(file, file->path);
    if (linked || atomic_file_rename(file)) {
        atomic_file_sync_directory(file);
        return true;
    }
    bool locked = errno == EBUSY || errno == EPERM || errno == EACCES;
    return file->replaces && locked && atomic_file_copy_in_place(file);
}

enum tv_status tv_atomic_file_commit(struct tv_atomic_file *file, struct tv_error *err)
{
    if (tv_is_confined())
        return tv_confined_file_commit(file, err);
    enum tv_status status = TV_OK;
    if (!file->in_place && !atomic_file_replace(file))
        status = atomic_file_fail(file->path, err);
    if (file->in_place && status == TV_OK) {
        if (close(file->descriptor) != 0)
            status = atomic_file_fail(file->path, err);
        file->descriptor = -1;
    }
    tv_atomic_file_discard(file);
    return status;
}

void tv_atomic_file_discard(struct tv_atomic_file *file)
{
    if (tv_is_confined()) {
        tv_confined_file_discard(file);
        return;
    }
    if (file->temporary[0] != '\0') {
        unlink(file->temporary);
        atomic_file_unguard_hidden();
        file->temporary[0] = '\0';
    }
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}
