/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - a file that the recorder writes in somebody else's process.
 *
 * Programs close descriptors that they did not open, all from 3 on, and open files of their own
 * under the same numbers.  So a output file knows which one it is: it is looked at before every
 * write, opened again under its path when it was closed, and given up when it is not there any
 * more.  What is not ours is neither written nor closed.
 *
 * It is locked while it is open, so that of two recordings neither writes the other's.
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
    int descriptor;   /* -1: none */
    int error;        /* 0, or the first negative errno; nothing is written any more */
    dev_t device;     /* together with */
    ino_t inode;      /* what is ours */
    uint64_t size;    /* bytes written */
    const char *path; /* the caller's, as long as it is open */
};

#define TV_OUTPUT_FILE_NONE ((struct tv_output_file){.descriptor = -1})

/* A new or emptied regular file.  -EBUSY: another process keeps it; -ENOTSUP: what is there is no
 * regular file; else what open says. */
int tv_output_file_open(struct tv_output_file *output, const char *path, mode_t mode);

/* Adds bytes at the end.  0 or its error, which stays: -EBADF when the program has closed it and
 * it lies no more where it was; -EACCES or -EPERM when it may not be opened again. */
int tv_output_file_append(struct tv_output_file *output, const void *bytes, size_t size);

/* Is it what lies under its path? */
bool tv_output_file_is_at_path(const struct tv_output_file *output);

/* Does it lie anywhere?  Its path may lead elsewhere for who has changed its root or its rights. */
bool tv_output_file_exists(const struct tv_output_file *output);

/* Give the file, which is at `part`, its name.  It is synced first: also after a crash of the
 * machine the name leads to the older file or to the whole new one.  0 or a negative errno. */
int tv_output_file_publish(const struct tv_output_file *output, const char *part, const char *path);

/* Put the bytes of a file on the disk, where the file system can.  0 or a negative errno. */
int tv_output_file_sync(int file);

/* Close a stream to the file at `part`, and give it its name as tv_output_file_publish does.  Where
 * that fails, or writing has `failed` (a negative errno) before, `part` is removed.  0 or the first
 * negative errno. */
int tv_output_stream_publish(FILE *stream, int failed, const char *part, const char *path);

/* The same file under a high number, which programs use last. */
int tv_output_file_move_high(int file);

/* Closes the descriptor if it is ours still. */
void tv_output_file_close(struct tv_output_file *output);

/* Can `path` be written by replacing what is there?  -ENOTSUP: that is no regular file; a folder,
 * a device or a pipe stays what it is. */
int tv_output_file_check_path(const char *path);

struct tv_file_limit_guard {
    sigset_t before;
    bool was_pending;
};

/* From here on, until the same thread ends it, a file that may not grow any more (RLIMIT_FSIZE) is
 * an error alone, not a signal that ends the program. */
void tv_file_limit_begin(struct tv_file_limit_guard *limit);

/* The end of that; a signal that was there before stays. */
void tv_file_limit_end(const struct tv_file_limit_guard *limit);

/*
 * out.h - bytes to a file in large pieces, without the C library's streams (they call
 * malloc and take locks that a crashed thread may hold).
 */

#define TV_OUTPUT_BUFFER_SIZE 65536u

struct tv_output_file;

struct tv_output_buffer {
    struct tv_output_file *to; /* NULL: only counts */
    uint64_t flushed;          /* bytes */
    int error;                 /* 0 or the first negative errno; what follows it is thrown away */
    size_t used;
    uint8_t bytes[TV_OUTPUT_BUFFER_SIZE];
};

/* NULL: no memory. */
struct tv_output_buffer *tv_output_buffer_new(struct tv_output_file *to);
void tv_output_buffer_free(struct tv_output_buffer *out);

/* Writes what is held back. 0 or the out's error. */
int tv_output_buffer_flush(struct tv_output_buffer *out);

/* Room for so many bytes (at most TV_OUTPUT_BUFFER_SIZE); the caller adds what it filled to `used`.
 */
uint8_t *tv_output_buffer_reserve(struct tv_output_buffer *out, size_t size);

/* Adds bytes of any number. */
void tv_output_buffer_put(struct tv_output_buffer *out, const void *bytes, size_t size);

/* Adds text as printf makes it, up to 1023 bytes. */
void tv_output_buffer_print(struct tv_output_buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
