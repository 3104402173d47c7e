/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file.h - files that the recorder writes inside somebody else's process.
 *
 * Programs close descriptors that they did not open, all from 3 on, and then open files of their
 * own under the same numbers.  So an output file remembers the device and inode of its file. Before
 * every write it checks its descriptor, opens the path again when the descriptor is not its own any
 * more, and gives up when the file is gone.  It never writes or closes the program's files.
 *
 * The file is locked while it is open, so that two recordings never write the same one.
 */
#ifndef TV_RECORDER_OUTPUT_FILE_H
#define TV_RECORDER_OUTPUT_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct tv_output_file {
    int descriptor; /* -1: none */
    int error;      /* 0, or the first negative errno; nothing is written after it */
    dev_t device;   /* identity of the file, with `inode` */
    ino_t inode;
    uint64_t size;    /* bytes written */
    const char *path; /* stays the caller's while the file is open */
};

#define TV_OUTPUT_FILE_NONE ((struct tv_output_file){.descriptor = -1})

/* Create a regular file or empty an existing one.  -EBUSY: another recording writes it;
 * -ENOTSUP: it is no regular file; else the error of open. */
int tv_output_file_open(struct tv_output_file *output, const char *path, mode_t mode);

/* Append bytes.  0 or the file's error, which stays.  -EBADF: the program closed the descriptor
 * and the file is not at its path any more; -EACCES or -EPERM: it may not be opened again. */
int tv_output_file_append(struct tv_output_file *output, const void *bytes, size_t size);

/* Is it the file at its path? */
bool tv_output_file_is_at_path(const struct tv_output_file *output);

/* Does it exist anywhere?  The path may lead elsewhere in a process that changed its root or
 * rights. */
bool tv_output_file_exists(const struct tv_output_file *output);

/* Rename the file from `part` to `path`, after an fsync: after a crash of the machine, `path` is
 * the old file or the whole new one.  0 or a negative errno. */
int tv_output_file_publish(const struct tv_output_file *output, const char *part, const char *path);

/* fsync, where the file system supports it.  0 or a negative errno. */
int tv_output_file_sync(int file);

/* Close a stream to the file at `part` and rename it like tv_output_file_publish.  `part` is
 * removed when that fails, or when writing has failed before (`failed`, a negative errno).  0 or
 * the first negative errno. */
int tv_output_stream_publish(FILE *stream, int failed, const char *part, const char *path);

/* Move a descriptor to a high number, which programs use last.  Returns the number. */
int tv_output_file_move_high(int file);

/* Close the descriptor if it is still the recorder's. */
void tv_output_file_close(struct tv_output_file *output);

/* Can `path` be written by replacing what is there?  -ENOTSUP: it is a directory, a device or a
 * pipe. */
int tv_output_file_check_path(const char *path);

struct tv_file_limit_guard {
    sigset_t before;
    bool was_pending;
};

/* From here to tv_file_limit_end, in the same thread, a file that exceeds RLIMIT_FSIZE gives an
 * error and no deadly SIGXFSZ. */
void tv_file_limit_begin(struct tv_file_limit_guard *limit);

/* End it; a signal that was pending before stays pending. */
void tv_file_limit_end(const struct tv_file_limit_guard *limit);

/*
 * A buffer in front of an output file.  It replaces the C library's streams, which call malloc and
 * take locks that a crashed thread may hold.
 */

#define TV_OUTPUT_BUFFER_SIZE 65536u

struct tv_output_file;

struct tv_output_buffer {
    struct tv_output_file *to; /* NULL: only count the bytes */
    uint64_t flushed;          /* bytes written so far */
    int error;                 /* 0 or the first negative errno; later bytes are dropped */
    size_t used;
    uint8_t bytes[TV_OUTPUT_BUFFER_SIZE];
};

/* NULL: no memory. */
struct tv_output_buffer *tv_output_buffer_new(struct tv_output_file *to);
void tv_output_buffer_free(struct tv_output_buffer *out);

/* Write the buffered bytes.  0 or the buffer's error. */
int tv_output_buffer_flush(struct tv_output_buffer *out);

/* Return space for `size` bytes, at most TV_OUTPUT_BUFFER_SIZE; the caller adds what it filled
 * in to `used`. */
uint8_t *tv_output_buffer_reserve(struct tv_output_buffer *out, size_t size);

/* Append any number of bytes. */
void tv_output_buffer_put(struct tv_output_buffer *out, const void *bytes, size_t size);

/* Append text in the manner of printf, up to 1023 bytes. */
void tv_output_buffer_print(struct tv_output_buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
