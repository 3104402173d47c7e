/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - status codes and the error that a failing function fills.
 *
 * A function that can fail returns enum tv_status and takes `struct tv_error *err` last, which it
 * leaves untouched on success.  The caller owns the error; reporting one allocates nothing.  On the
 * way up each layer may add its context in front: "app.trace: thread table: byte 10432: expected a
 * tab, found 'x'".
 *
 * There are four kinds of trouble, each with its own way:
 *
 *     a bug of ours           assert
 *     bad input               an error; a counted diagnostic (model/diagnostic.h) if the rest is
 *                             useful
 *     out of memory           ends the program (memory.h)
 *     a mistake of the user   a usage message and exit code 2
 */
#ifndef TV_BASE_ERROR_H
#define TV_BASE_ERROR_H

#include "base/types.h"

enum tv_status {
    TV_OK = 0,
    TV_ERR_IO,          /* the system refused to open, read or write */
    TV_ERR_SYNTAX,      /* the bytes violate the format */
    TV_ERR_UNSUPPORTED, /* a known format or variant that no reader supports */
    TV_ERR_LIMIT,       /* the input exceeds a limit of this program */
    TV_ERR_USAGE,       /* the caller asked for something that does not exist */
    TV_ERR_CANCELLED,   /* stopped on request */
};

/* The error belongs to no position in a file. */
#define TV_NO_OFFSET UINT64_MAX

/* Number of input bytes that an error can quote. */
#define TV_ERROR_QUOTE 48

struct tv_error {
    enum tv_status status;
    uint64_t offset; /* byte in the (unpacked) input, or TV_NO_OFFSET */
    size_t context;  /* length of the prefix that tv_error_prefix added */
    char message[400];
    uint8_t quote[TV_ERROR_QUOTE]; /* input around the offset (tv_source_quote) */
    uint32_t quoted;               /* number of quoted bytes; 0: none */
    uint64_t quoted_at;            /* input offset of the first quoted byte */
};

/* Fill *err, which may be NULL, and return `status`, so that a caller can `return tv_fail(...)`. */
enum tv_status tv_fail(struct tv_error *err, enum tv_status status, uint64_t offset,
                       const char *format, ...) TV_PRINTF(4, 5);

/* Insert "context: " before the message and return err->status.  A message that grows too long
 * loses its end. */
enum tv_status tv_error_prefix(struct tv_error *err, const char *format, ...) TV_PRINTF(2, 3);

/* Format the error as one line without a line end and return `buffer`.  An error with an offset
 * shows "byte N: " between its context and the text that tv_fail was given.  Control characters
 * become '?'. */
const char *tv_error_text(const struct tv_error *err, char *buffer, size_t size);

#endif
