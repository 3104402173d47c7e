/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - sources over files, pipes and spools. A platform file: POSIX, not compiled for
 * WebAssembly.  Errors do not name the file: the caller, who knows it, puts it in front.
 */
#ifndef TV_BASE_FILE_H
#define TV_BASE_FILE_H

#include "base/error.h"
#include "base/source.h"

struct stat;

/* How files are found by their names.  A process that has locked itself in asks another one. */
struct tv_file_access {
    int (*open)(const char *path, int flags); /* for reading; as open(2) and stat(2) */
    int (*look)(const char *path, struct stat *info);
    enum tv_status (*open_temporary)(int *fd, struct tv_error *err);
};

/* Set another way before there are threads; NULL: the system's own. */
void tv_file_set_access(const struct tv_file_access *access);

/* open(2) for reading, with O_CLOEXEC, and stat(2), by the access that is set. */
int tv_file_open(const char *path, int flags);
int tv_file_stat(const char *path, struct stat *info);

/* A regular file is read in place by pread; a later read checks that its size and time are
 * unchanged and says so when not.  Anything else (a pipe, standard input, which is "-") grows while
 * it is read (pipe.h). */
enum tv_status tv_source_open_file(const char *path, struct tv_source **source,
                                   struct tv_error *err) TV_MUST_CHECK;

/* The same of a file that is open already, which is taken over; `name` becomes the source's. */
enum tv_status tv_source_open_fd(int fd, const char *name, struct tv_source **source,
                                 struct tv_error *err) TV_MUST_CHECK;

/* A small file (a key, a list of settings) as text with a NUL behind it, to be given back with
 * tv_free; TV_ERR_LIMIT when there are more than `most` bytes. */
enum tv_status tv_file_read_text(const char *path, size_t most, char **text, size_t *length,
                                 struct tv_error *err) TV_MUST_CHECK;

/* The whole of an open file as memory that cannot be written to, until tv_file_unmap; an empty file
 * is an error.  For files of our own alone: one that is cut off meanwhile ends the program, so
 * whoever replaces it makes a new one and renames that. */
enum tv_status tv_file_map(int fd, struct tv_bytes *bytes, struct tv_error *err) TV_MUST_CHECK;
void tv_file_unmap(struct tv_bytes bytes);

/* A file without a name, to read and write, in TMPDIR or else in /var/tmp or /tmp. */
enum tv_status tv_file_open_temporary(int *fd, struct tv_error *err) TV_MUST_CHECK;

/*
 * A spool keeps bytes that come only once so that they can be read again: in memory up to
 * TV_SPOOL_MEMORY, then in an unlinked temporary file.
 */
struct tv_spool;
#define TV_SPOOL_MEMORY ((size_t)64 * 1024 * 1024)

/* `name` becomes the source's. */
struct tv_spool *tv_spool_new(const char *name);

/* The same, of which nothing stays in memory: for many at a time.  TV_ERR_IO when there is no place
 * for a temporary file, TV_ERR_LIMIT when that has no room for so many bytes. */
enum tv_status tv_spool_new_in_file(const char *name, uint64_t bytes, struct tv_spool **spool,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Puts a copy of the bytes behind those that are there. After an error the spool can only be freed.
 */
enum tv_status tv_spool_add(struct tv_spool *spool, struct tv_bytes bytes,
                            struct tv_error *err) TV_MUST_CHECK;

/* What is in it, and a stretch of that. */
uint64_t tv_spool_size(const struct tv_spool *spool);
enum tv_status tv_spool_read(const struct tv_spool *spool, uint64_t offset, void *buffer,
                             size_t size, struct tv_error *err) TV_MUST_CHECK;

/* The spooled bytes as a source; the spool is gone. */
struct tv_source *tv_spool_finish(struct tv_spool *spool);

/* Drops it and what it keeps. NULL is fine. */
void tv_spool_free(struct tv_spool *spool);

#endif
