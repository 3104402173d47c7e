/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - sources over files and pipes, and the spool.
 *
 * A platform file: POSIX, not compiled for WebAssembly.  Error messages do not name the file; the
 * caller knows the name and puts it in front.
 */
#ifndef TV_BASE_FILE_H
#define TV_BASE_FILE_H

#include "base/error.h"
#include "base/source.h"

struct stat;

/* Functions that open files by name.  A sandboxed process, which may not open any itself, replaces
 * them by requests to another process. */
struct tv_file_access {
    int (*open)(const char *path, int flags); /* for reading; as open(2) and stat(2) */
    int (*look)(const char *path, struct stat *info);
    enum tv_status (*open_temporary)(int *fd, struct tv_error *err);
};

/* Replace the functions before there are threads; NULL restores those of the system. */
void tv_file_set_access(const struct tv_file_access *access);

/* Open for reading (with O_CLOEXEC) and stat through the current functions. */
int tv_file_open(const char *path, int flags);
int tv_file_stat(const char *path, struct stat *info);

/* Open a file as a source.  A regular file is read in place by pread; every read checks that size
 * and time have not changed since, and fails if they have.  Anything else (a pipe, or standard
 * input, "-") becomes a growing source, see tv_pipe_open. */
enum tv_status tv_source_open_file(const char *path, struct tv_source **source,
                                   struct tv_error *err) TV_MUST_CHECK;

/* As above, for an open descriptor, which the source takes over; `name` becomes the source's name.
 */
enum tv_status tv_source_open_fd(int fd, const char *name, struct tv_source **source,
                                 struct tv_error *err) TV_MUST_CHECK;

/* Read a small file (a key, a list of settings) as text with a NUL after it.  The caller frees
 * *text with tv_free.  TV_ERR_LIMIT: the file has more than `most` bytes. */
enum tv_status tv_file_read_text(const char *path, size_t most, char **text, size_t *length,
                                 struct tv_error *err) TV_MUST_CHECK;

/* Write or read all of the bytes, however many calls it takes.  False: an error (errno), or the
 * other end is closed. */
bool tv_file_write_fully(int fd, const void *bytes, size_t length);
bool tv_file_read_fully(int fd, void *bytes, size_t length);

/* Map an open file read-only until tv_file_unmap; an empty file is an error.  Use this only for
 * files that this program writes: truncating a mapped file kills the process, so writers must
 * create a new file and rename it instead. */
enum tv_status tv_file_map(int fd, struct tv_bytes *bytes, struct tv_error *err) TV_MUST_CHECK;
void tv_file_unmap(struct tv_bytes bytes);

/* Create a file without a name in TMPDIR, or else in /var/tmp or /tmp. */
enum tv_status tv_file_open_temporary(int *fd, struct tv_error *err) TV_MUST_CHECK;

/*
 * A spool stores bytes that arrive only once so that they can be read again: in memory up to
 * TV_SPOOL_MEMORY, beyond that in an unlinked temporary file.
 */
struct tv_spool;
#define TV_SPOOL_MEMORY ((size_t)64 * 1024 * 1024)

/* Create an empty spool; `name` becomes the name of its source. */
struct tv_spool *tv_spool_new(const char *name);

/* Create a spool that keeps nothing in memory, for programs that have many at a time.  TV_ERR_IO:
 * no temporary file can be created; TV_ERR_LIMIT: the disk has no room for `bytes` bytes. */
enum tv_status tv_spool_new_in_file(const char *name, uint64_t bytes, struct tv_spool **spool,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Append a copy of the bytes.  After an error the spool can only be freed. */
enum tv_status tv_spool_add(struct tv_spool *spool, struct tv_bytes bytes,
                            struct tv_error *err) TV_MUST_CHECK;

/* Return the number of spooled bytes; copy a range of them, which must be within. */
uint64_t tv_spool_size(const struct tv_spool *spool);
enum tv_status tv_spool_read(const struct tv_spool *spool, uint64_t offset, void *buffer,
                             size_t size, struct tv_error *err) TV_MUST_CHECK;

/* Turn the spool into a source, which takes it over. */
struct tv_source *tv_spool_finish(struct tv_spool *spool);

/* Free the spool and its contents.  NULL is allowed. */
void tv_spool_free(struct tv_spool *spool);

/*
 * Pipes.  The bytes go into a spool when a reader asks for them, so a reader that needs the first
 * ones does not wait for the last.
 */

/* Create a growing source (source.h) that reads `fd` from its current position to its end and takes
 * it over. */
struct tv_source *tv_pipe_open(int fd, const char *name);

#endif
