/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.c - a library for LD_PRELOAD that takes down what a program does to files.
 *
 * test-power replays the beginning of the journal and keeps only what was synced, as a disk may
 * after a loss of power.  JOURNAL names a file of a fixed size, which every process maps: a struct
 * header, then records.  Writing a record and doing what it tells are one step under the header's
 * lock, so the order of the records is the order in which the file system saw the calls.
 *
 * JOURNAL_BOOT names a file that is read as the kernel's boot_id: after a loss of power the machine
 * has been started again.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* test-power knows these layouts. */
enum kind { CREATE = 1, FOLDER, WRITE, TRUNCATE, SYNC, RENAME, UNLINK };

struct header {
    _Atomic uint64_t used; /* bytes of records */
    atomic_flag lock;
};

/* Followed by `names` bytes of names (each ends with 0) and `bytes` bytes of content. */
struct record {
    uint32_t kind, names;
    uint64_t folder, inode; /* RENAME: the old and the new directory */
    uint64_t offset, bytes; /* TRUNCATE: `offset` is the new size */
};

#define FIRST 64

static struct {
    struct header *header;
    size_t size;
} journal;

__attribute__((constructor)) static void open_journal(void)
{
    struct stat info;
    const char *path = getenv("JOURNAL");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0 || fstat(file, &info) != 0)
        return;
    void *mapped = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return;
    journal.header = mapped;
    journal.size = (size_t)info.st_size - FIRST;
}

static void lock_journal(void)
{
    while (journal.header && atomic_flag_test_and_set(&journal.header->lock))
        sched_yield();
}

static void unlock_journal(void)
{
    int error = errno;
    if (journal.header)
        atomic_flag_clear(&journal.header->lock);
    errno = error;
}

static void add_record(struct record record, const char *names, const void *content)
{
    if (!journal.header)
        return;
    uint64_t used = atomic_load(&journal.header->used);
    uint64_t size = sizeof record + record.names + (content ? record.bytes : 0);
    if (used + size > journal.size)
        abort();
    uint8_t *to = (uint8_t *)journal.header + FIRST + used;
    memcpy(to, &record, sizeof record);
    if (names && record.names > 0)
        memcpy(to + sizeof record, names, record.names);
    if (content && record.bytes > 0)
        memcpy(to + sizeof record + record.names, content, record.bytes);
    atomic_store(&journal.header->used, used + size);
}

static void *real(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol)
        abort();
    return symbol;
}

#define REAL(type, name, parameters)                                                               \
    static type(*next) parameters;                                                                 \
    if (!next)                                                                                     \
        *(void **)&next = real(#name);

/* ---- Names ---- */

struct place {
    uint64_t folder; /* its inode */
    const char *name;
    uint32_t length; /* including the 0 */
};

/* Find the directory and the last component of a path. */
static struct place find_place(int folder, const char *path)
{
    struct stat info = {0};
    char before[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct place place = {.name = slash ? slash + 1 : path};
    place.length = (uint32_t)strlen(place.name) + 1;
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof before)
        abort();
    memcpy(before, path, length);
    memcpy(before + length, slash ? "/" : ".", 2);
    if (fstatat(folder, before, &info, 0) == 0)
        place.folder = info.st_ino;
    return place;
}

static uint64_t inode_of(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) ? info.st_ino
                                                                                     : 0;
}

static void note_created(int folder, const char *path, bool was_there, int flags, int fd)
{
    struct place place = find_place(folder, path);
    if (!was_there)
        add_record((struct record){CREATE, place.length, place.folder, inode_of(fd), 0, 0},
                   place.name, NULL);
    else if (flags & O_TRUNC)
        add_record((struct record){TRUNCATE, 0, 0, inode_of(fd), 0, 0}, NULL, NULL);
}

static int open_noted(int folder, const char *path, int flags, mode_t mode)
{
    REAL(int, openat, (int, const char *, int, ...))
    const char *boot = getenv("JOURNAL_BOOT");
    struct stat info;
    if (boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        path = boot;
    if (!journal.header || (flags & __O_TMPFILE) == __O_TMPFILE ||
        (flags & (O_CREAT | O_TRUNC)) == 0)
        return next(folder, path, flags, mode);
    lock_journal();
    bool was_there = fstatat(folder, path, &info, 0) == 0;
    int fd = next(folder, path, flags, mode);
    if (fd >= 0)
        note_created(folder, path, was_there, flags, fd);
    unlock_journal();
    return fd;
}

#define OPENED(name, parameters, folder)                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                  \
        va_end(more);                                                                              \
        return open_noted(folder, path, flags, mode);                                              \
    }
OPENED(open, (const char *path, int flags, ...), AT_FDCWD)
OPENED(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENED(openat, (int folder, const char *path, int flags, ...), folder)
OPENED(openat64, (int folder, const char *path, int flags, ...), folder)

int mkdirat(int folder, const char *path, mode_t mode)
{
    REAL(int, mkdirat, (int, const char *, mode_t))
    struct stat info;
    lock_journal();
    int result = next(folder, path, mode);
    struct place place = find_place(folder, path);
    if (result == 0 && fstatat(folder, path, &info, 0) == 0)
        add_record((struct record){FOLDER, place.length, place.folder, info.st_ino, 0, 0},
                   place.name, NULL);
    unlock_journal();
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int renameat(int old, const char *from, int new, const char *to)
{
    REAL(int, renameat, (int, const char *, int, const char *))
    char names[2 * PATH_MAX];
    lock_journal();
    struct place source = find_place(old, from), target = find_place(new, to);
    memcpy(names, source.name, source.length);
    memcpy(names + source.length, target.name, target.length);
    int result = next(old, from, new, to);
    if (result == 0)
        add_record((struct record){RENAME, source.length + target.length, source.folder,
                                   target.folder, 0, 0},
                   names, NULL);
    unlock_journal();
    return result;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlinkat(int folder, const char *path, int flags)
{
    REAL(int, unlinkat, (int, const char *, int))
    lock_journal();
    struct place place = find_place(folder, path);
    int result = next(folder, path, flags);
    if (result == 0)
        add_record((struct record){UNLINK, place.length, place.folder, 0, 0, 0}, place.name, NULL);
    unlock_journal();
    return result;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

/* ---- Bytes ---- */

static ssize_t write_noted(int fd, const void *from, size_t size, off64_t offset)
{
    REAL(ssize_t, pwrite64, (int, const void *, size_t, off64_t))
    lock_journal();
    ssize_t written = next(fd, from, size, offset);
    if (written > 0)
        add_record((struct record){WRITE, 0, 0, inode_of(fd), (uint64_t)offset, (uint64_t)written},
                   NULL, from);
    unlock_journal();
    return written;
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t offset)
{
    return write_noted(fd, from, size, offset);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t offset)
{
    return write_noted(fd, from, size, offset);
}

ssize_t write(int fd, const void *from, size_t size)
{
    REAL(ssize_t, write, (int, const void *, size_t))
    if (!journal.header || inode_of(fd) == 0)
        return next(fd, from, size);
    lock_journal();
    int flags = fcntl(fd, F_GETFL);
    ssize_t written = next(fd, from, size);
    off_t end = lseek(fd, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR);
    if (written > 0)
        add_record((struct record){WRITE, 0, 0, inode_of(fd), (uint64_t)(end - written),
                                   (uint64_t)written},
                   NULL, from);
    unlock_journal();
    return written;
}

int ftruncate64(int fd, off64_t size)
{
    REAL(int, ftruncate64, (int, off64_t))
    lock_journal();
    int result = next(fd, size);
    if (result == 0)
        add_record((struct record){TRUNCATE, 0, 0, inode_of(fd), (uint64_t)size, 0}, NULL, NULL);
    unlock_journal();
    return result;
}

int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

/* The file may grow; the journal records that as an empty write at the new end. */
int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
    REAL(int, posix_fallocate64, (int, off64_t, off64_t))
    lock_journal();
    int result = next(fd, offset, size);
    if (result == 0)
        add_record((struct record){WRITE, 0, 0, inode_of(fd), (uint64_t)(offset + size), 0}, NULL,
                   "");
    unlock_journal();
    return result;
}

/* The bytes are on disk before the call returns, and a write in between does not count as
 * synced. */
#define SYNCED(name)                                                                               \
    int name(int fd)                                                                               \
    {                                                                                              \
        REAL(int, name, (int))                                                                     \
        lock_journal();                                                                            \
        int result = next(fd);                                                                     \
        if (result == 0)                                                                           \
            add_record((struct record){SYNC, 0, 0, inode_of(fd), 0, 0}, NULL, NULL);               \
        unlock_journal();                                                                          \
        return result;                                                                             \
    }
SYNCED(fsync)
SYNCED(fdatasync)
