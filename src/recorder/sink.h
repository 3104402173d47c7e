/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - bytes to a file in large pieces, without the C library's streams (they call
 * malloc and take locks that a crashed thread may hold).
 */
#ifndef TV_RECORDER_SINK_H
#define TV_RECORDER_SINK_H

#include <stddef.h>
#include <stdint.h>

#define TV_OUTPUT_BUFFER_SIZE 65536u

struct tv_output_file;

struct tv_output_buffer {
    struct tv_output_file *to; /* NULL: only counts */
    uint64_t flushed;   /* bytes */
    int error;          /* 0 or the first negative errno; what follows it is thrown away */
    size_t used;
    uint8_t bytes[TV_OUTPUT_BUFFER_SIZE];
};

/* NULL: no memory. */
struct tv_output_buffer *tv_output_buffer_new(struct tv_output_file *to);
void tv_output_buffer_free(struct tv_output_buffer *sink);

/* Writes what is held back. 0 or the sink's error. */
int tv_output_buffer_flush(struct tv_output_buffer *sink);

/* Room for so many bytes (at most TV_OUTPUT_BUFFER_SIZE); the caller adds what it filled to `used`. */
uint8_t *tv_output_buffer_reserve(struct tv_output_buffer *sink, size_t size);

/* Adds bytes of any number. */
void tv_output_buffer_put(struct tv_output_buffer *sink, const void *bytes, size_t size);

/* Adds text as printf makes it, up to 1023 bytes. */
void tv_output_buffer_print(struct tv_output_buffer *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
