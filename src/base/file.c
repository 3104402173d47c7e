/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - files that are read in place, pipes, and the spool for input that comes only once.
 *
 *     regular file   --pread-->  source
 *     pipe, stdin    --read--->  spool (memory, then an unlinked file)  -->  growing source
 *
 * A reader cannot tell the difference: it may read any offset of either source again.
 *
 * Files are read by pread and not mapped: a file that another program shortens would end this one
 * by SIGBUS.  Size and time are looked at after each read.  A check before it could miss a change
 * in between, and a trace of two halves is worse than none.
 *
 * A spool has no name, so nothing remains when the program is killed.  It grows only as far as
 * readers want it: a pipe whose first bytes are no trace is refused without waiting for its end.
 */
#include "base/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/swap.h"

static const struct tv_file_access *file_access; /* NULL: the system's own */

void tv_file_set_access(const struct tv_file_access *access)
{
    file_access = access;
}

int tv_file_open(const char *path, int flags)
{
    return file_access ? file_access->open(path, flags) : open(path, O_RDONLY | O_CLOEXEC | flags);
}

int tv_file_stat(const char *path, struct stat *info)
{
    return file_access ? file_access->look(path, info) : stat(path, info);
}

/* Linux transfers at most 2 GiB - 4 KiB per call. */
#define LARGEST_IO ((size_t)1 << 30)

/* Fail with a sentence for errno. */
static enum tv_status file_fail_errno(struct tv_error *err, const char *what)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", what, strerror(errno));
}

/* ---- Files that are read in place ---- */

struct file_source {
    int fd;
    bool ours; /* belongs to a spool: no other process can change it */
    struct stat opened;
};

static bool file_times_are_equal(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Fail if the file has another size, or another time, than when it was opened. */
static enum tv_status file_check_unchanged(const struct file_source *file, struct tv_error *err)
{
    struct stat now;
    if (fstat(file->fd, &now) != 0)
        return file_fail_errno(err, "cannot look at the file");
    if (now.st_size != file->opened.st_size)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the file changed since it was opened: it had %" PRIdMAX
                       " bytes, now it has %" PRIdMAX,
                       (intmax_t)file->opened.st_size, (intmax_t)now.st_size);
    if (!file_times_are_equal(&now, &file->opened))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the file was written to since it was opened");
    return TV_OK;
}

/* Read up to `size` bytes.  *got is less than `size` only at the end of the file. */
static enum tv_status file_read_at(int fd, uint64_t offset, uint8_t *buffer, size_t size,
                                   size_t *got, struct tv_error *err)
{
    size_t done = 0;
    while (done < size) {
        size_t part = size - done < LARGEST_IO ? size - done : LARGEST_IO;
        ssize_t n = pread(fd, buffer + done, part, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tv_fail(err, TV_ERR_IO, offset + done, "cannot read: %s", strerror(errno));
        if (n == 0)
            break;
        done += (size_t)n;
    }
    *got = done;
    return TV_OK;
}

/* Read for a source that somebody else may be writing. A file that shrank or changed since it was
 * opened is an error instead of bytes of two states; files of our own (`ours`) need no look. */
static enum tv_status file_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                       struct tv_error *err)
{
    const struct file_source *file = context;
    size_t got = 0;
    enum tv_status status = file_read_at(file->fd, offset, buffer, size, &got, err);
    /* Check after the read, so that no change before it goes unnoticed. */
    if (status == TV_OK && !file->ours)
        status = file_check_unchanged(file, err);
    if (status == TV_OK && got < size)
        status = tv_fail(err, TV_ERR_IO, offset + got, "the file ends before its size");
    return status;
}

static void file_source_close(void *context)
{
    struct file_source *file = context;
    close(file->fd);
    tv_free(file);
}

/* Return a source that owns the descriptor. */
static struct tv_source *file_source_new(struct file_source file, uint64_t size, const char *name)
{
    static const struct tv_source_reads reads = {.read = file_source_read,
                                                 .close = file_source_close};
    struct file_source *context = tv_alloc(1, sizeof *context);
    *context = file;
    return tv_source_from_reads(&reads, context, size, name);
}

/* ---- Mapped files ---- */

enum tv_status tv_file_map(int fd, struct tv_bytes *bytes, struct tv_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return file_fail_errno(err, "cannot look at the file");
    if (!S_ISREG(info.st_mode) || info.st_size <= 0 || (uintmax_t)info.st_size > SIZE_MAX)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the file is empty, or none");
    void *memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return file_fail_errno(err, "cannot map the file");
    *bytes = (struct tv_bytes){memory, (size_t)info.st_size};
    tv_swap_watch(*bytes);
    return TV_OK;
}

void tv_file_unmap(struct tv_bytes bytes)
{
    void *memory;
    tv_swap_forget(bytes);
    /* munmap takes a writable pointer; nothing writes through it. */
    memcpy(&memory, &bytes.data, sizeof memory);
    munmap(memory, bytes.length);
}

/* ---- The spool ---- */

struct tv_spool {
    char *name;
    uint8_t *memory;
    size_t length;
    size_t capacity;
    int fd; /* -1: everything is still in memory */
    uint64_t size;
};

struct tv_spool *tv_spool_new(const char *name)
{
    struct tv_spool *spool = tv_alloc(1, sizeof *spool);
    size_t name_size = strlen(name) + 1;
    spool->name = memcpy(tv_alloc(name_size, 1), name, name_size);
    spool->fd = -1;
    return spool;
}

void tv_spool_free(struct tv_spool *spool)
{
    if (spool == NULL)
        return;
    if (spool->fd >= 0)
        close(spool->fd);
    tv_free(spool->memory);
    tv_free(spool->name);
    tv_free(spool);
}

/* Create a file and remove its name at once.  Return -1 with errno set on failure. */
static int file_create_unnamed(const char *folder)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/traceview-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

/* Prefer /var/tmp to /tmp without TMPDIR: /tmp is often a file system in memory. */
enum tv_status tv_file_open_temporary(int *fd, struct tv_error *err)
{
    if (file_access)
        return file_access->open_temporary(fd, err);
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || folder[0] == '\0')
        folder = "/var/tmp";
    *fd = file_create_unnamed(folder);
    if (*fd < 0)
        *fd = file_create_unnamed("/tmp");
    if (*fd < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot make a temporary file in %s: %s",
                       folder, strerror(errno));
    return TV_OK;
}

bool tv_file_write_fully(int fd, const void *bytes, size_t length)
{
    for (const uint8_t *next = bytes; length > 0;) {
        ssize_t written = write(fd, next, length < LARGEST_IO ? length : LARGEST_IO);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        next += written;
        length -= (size_t)written;
    }
    return true;
}

bool tv_file_read_fully(int fd, void *bytes, size_t length)
{
    for (uint8_t *next = bytes; length > 0;) {
        ssize_t got = read(fd, next, length < LARGEST_IO ? length : LARGEST_IO);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        next += got;
        length -= (size_t)got;
    }
    return true;
}

static enum tv_status spool_write_all(int fd, struct tv_bytes bytes, struct tv_error *err)
{
    if (tv_file_write_fully(fd, bytes.data, bytes.length))
        return TV_OK;
    return file_fail_errno(err, "cannot write to the temporary file (TMPDIR says where)");
}

/* Move the bytes from memory to a temporary file, where all later ones go. */
static enum tv_status spool_move_to_file(struct tv_spool *spool, struct tv_error *err)
{
    enum tv_status status = tv_file_open_temporary(&spool->fd, err);
    if (status != TV_OK)
        return status;
    status = spool_write_all(spool->fd, (struct tv_bytes){spool->memory, spool->length}, err);
    tv_free(spool->memory);
    spool->memory = NULL;
    spool->length = spool->capacity = 0;
    return status;
}

/* Format a size as people read it, in MB or GB. */
static const char *size_write_readable(char buffer[24], uint64_t bytes)
{
    bool giga = bytes >= UINT64_C(1000000000);
    uint64_t tenths = bytes / (giga ? 100000000 : 100000);
    snprintf(buffer, 24, "%" PRIu64 ".%u %s", tenths / 10, (unsigned)(tenths % 10),
             giga ? "GB" : "MB");
    return buffer;
}

/* Assume that there is room when the file system does not tell. */
static enum tv_status file_check_disk_space(int fd, uint64_t bytes, struct tv_error *err)
{
    struct statvfs info;
    char wanted[24], free[24];
    if (fstatvfs(fd, &info) != 0 || info.f_frsize == 0)
        return TV_OK;
    uint64_t blocks = bytes / info.f_frsize + (bytes % info.f_frsize != 0);
    if (blocks <= info.f_bavail)
        return TV_OK;
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                   "no room for %s where temporary files go, there is %s (TMPDIR says where)",
                   size_write_readable(wanted, bytes),
                   size_write_readable(free, (uint64_t)info.f_bavail * info.f_frsize));
}

enum tv_status tv_spool_new_in_file(const char *name, uint64_t bytes, struct tv_spool **spool,
                                    struct tv_error *err)
{
    struct tv_spool *made = tv_spool_new(name);
    enum tv_status status = spool_move_to_file(made, err);
    if (status == TV_OK)
        status = file_check_disk_space(made->fd, bytes, err);
    if (status == TV_OK)
        *spool = made;
    else
        tv_spool_free(made);
    return status;
}

enum tv_status tv_spool_add(struct tv_spool *spool, struct tv_bytes bytes, struct tv_error *err)
{
    if (bytes.length == 0)
        return TV_OK;
    if (spool->fd < 0 && bytes.length > TV_SPOOL_MEMORY - spool->length) {
        enum tv_status status = spool_move_to_file(spool, err);
        if (status != TV_OK)
            return status;
    }
    if (spool->fd >= 0) {
        spool->size += bytes.length;
        return spool_write_all(spool->fd, bytes, err);
    }
    spool->memory =
        tv_array_reserve(spool->memory, &spool->capacity, spool->length + bytes.length, 1);
    memcpy(spool->memory + spool->length, bytes.data, bytes.length);
    spool->length += bytes.length;
    spool->size += bytes.length;
    return TV_OK;
}

uint64_t tv_spool_size(const struct tv_spool *spool)
{
    return spool->size;
}

enum tv_status tv_spool_read(const struct tv_spool *spool, uint64_t offset, void *buffer,
                             size_t size, struct tv_error *err)
{
    size_t got = size;
    assert(offset <= spool->size && size <= spool->size - offset);
    if (spool->fd < 0) {
        memcpy(buffer, spool->memory + offset, size);
        return TV_OK;
    }
    enum tv_status status = file_read_at(spool->fd, offset, buffer, size, &got, err);
    if (status == TV_OK && got < size)
        status = tv_fail(err, TV_ERR_IO, offset + got, "the file ends before its size");
    return status;
}

static enum tv_status spool_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                        struct tv_error *err)
{
    return tv_spool_read(context, offset, buffer, size, err);
}

static void spool_source_close(void *context)
{
    tv_spool_free(context);
}

struct tv_source *tv_spool_finish(struct tv_spool *spool)
{
    static const struct tv_source_reads in_memory = {.read = spool_source_read,
                                                     .close = spool_source_close};
    if (spool->fd < 0)
        return tv_source_from_reads(&in_memory, spool, spool->size, spool->name);
    struct file_source file = {.fd = spool->fd, .ours = true};
    struct tv_source *source = file_source_new(file, spool->size, spool->name);
    spool->fd = -1; /* the source owns the descriptor now */
    tv_spool_free(spool);
    return source;
}

/* ---- Opening ---- */

/* Files in /proc and /sys report size 0 although they have content, so only a file with a size is
 * read in place; standard input only while nobody has read from it. */
static bool file_is_seekable(int fd, const struct stat *info)
{
    return S_ISREG(info->st_mode) && info->st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0;
}

enum tv_status tv_source_open_fd(int fd, const char *name, struct tv_source **source,
                                 struct tv_error *err)
{
    struct stat info;
    bool known = fstat(fd, &info) == 0;
    if (known && S_ISDIR(info.st_mode))
        errno = EISDIR;
    if (!known || S_ISDIR(info.st_mode)) {
        enum tv_status status = file_fail_errno(err, "cannot open");
        close(fd);
        return status;
    }
    if (!file_is_seekable(fd, &info)) {
        *source = tv_pipe_open(fd, name);
        return TV_OK;
    }
    struct file_source file = {.fd = fd, .opened = info};
    *source = file_source_new(file, (uint64_t)info.st_size, name);
    return TV_OK;
}

enum tv_status tv_source_open_file(const char *path, struct tv_source **source,
                                   struct tv_error *err)
{
    bool standard_input = strcmp(path, "-") == 0;
    int fd =
        standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : tv_file_open(path, O_NOCTTY);
    if (fd < 0)
        return file_fail_errno(err, "cannot open");
    return tv_source_open_fd(fd, standard_input ? "standard input" : path, source, err);
}

enum tv_status tv_file_read_text(const char *path, size_t most, char **text, size_t *length,
                                 struct tv_error *err)
{
    struct tv_source *file;
    enum tv_status status = tv_source_open_file(path, &file, err);
    if (status != TV_OK)
        return status;
    if (tv_source_reaches(file, (uint64_t)most + 1)) {
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "more than %zu bytes", most);
    } else {
        size_t size = (size_t)tv_source_size(file);
        *text = tv_alloc(size + 1, 1);
        status = tv_source_read(file, 0, *text, size, length, err);
        if (status != TV_OK)
            tv_free(*text);
    }
    tv_source_free(file);
    return status;
}

/* A pipe delivers at most 64 KiB per read unless its capacity was raised. */
#define PIPE_CHUNK ((size_t)256 * 1024)

struct pipe_source {
    int fd; /* -1: the end was reached */
    struct tv_spool *spool;
    uint8_t *chunk;
};

/* Stop reading; the process that writes to the pipe gets SIGPIPE. */
static void pipe_end(struct pipe_source *pipe)
{
    if (pipe->fd >= 0)
        close(pipe->fd);
    pipe->fd = -1;
    tv_free(pipe->chunk);
    pipe->chunk = NULL;
}

/* Wait for at least one byte and move the available ones to the spool. */
static enum tv_status pipe_read_chunk(struct pipe_source *pipe, struct tv_error *err)
{
    ssize_t n;
    do
        n = read(pipe->fd, pipe->chunk, PIPE_CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot read: %s", strerror(errno));
    if (n == 0)
        pipe_end(pipe);
    return tv_spool_add(pipe->spool, (struct tv_bytes){pipe->chunk, (size_t)n}, err);
}

/* Read until the spool has `wanted` bytes, or the pipe ends. An error ends the pipe, too: the rest
 * could not be appended to what is there. */
static enum tv_status pipe_grow(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                                struct tv_error *err)
{
    struct pipe_source *pipe = context;
    enum tv_status status = TV_OK;
    while (status == TV_OK && pipe->fd >= 0 && tv_spool_size(pipe->spool) < wanted)
        status = pipe_read_chunk(pipe, err);
    if (status != TV_OK)
        pipe_end(pipe);
    *size = tv_spool_size(pipe->spool);
    *ended = pipe->fd < 0;
    return status;
}

static enum tv_status pipe_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                       struct tv_error *err)
{
    const struct pipe_source *pipe = context;
    return tv_spool_read(pipe->spool, offset, buffer, size, err);
}

/* A pipe at its end is readable, too: poll reports it, and read returns 0. */
static bool pipe_would_wait(void *context)
{
    const struct pipe_source *pipe = context;
    struct pollfd wanted = {.fd = pipe->fd, .events = POLLIN};
    return pipe->fd >= 0 && poll(&wanted, 1, 0) == 0;
}

static void pipe_source_close(void *context)
{
    struct pipe_source *pipe = context;
    pipe_end(pipe);
    tv_spool_free(pipe->spool);
    tv_free(pipe);
}

struct tv_source *tv_pipe_open(int fd, const char *name)
{
    static const struct tv_source_growth growth = {
        .reads = {.read = pipe_source_read, .close = pipe_source_close},
        .grow = pipe_grow,
        .would_wait = pipe_would_wait,
    };
    struct pipe_source *pipe = tv_alloc(1, sizeof *pipe);
    *pipe = (struct pipe_source){fd, tv_spool_new(name), tv_alloc(PIPE_CHUNK, 1)};
    return tv_source_from_growth(&growth, pipe, name);
}
