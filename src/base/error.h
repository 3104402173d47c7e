/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - what a function that can fail says.
 *
 * Fallible functions return enum tv_status, take `struct tv_error *err` last and leave it untouched
 * on success.  The caller owns the error; reporting allocates nothing.  On the way up each layer
 * may put its context in front: "app.trace: thread table: byte 10432: expected a tab, found 'x'".
 *
 * Four kinds of trouble, four ways: a bug of ours is an assert; bad input is an error, or a counted
 * diagnostic (model/diagnostic.h) when the rest is still useful; out of memory ends the program
 * (memory.h); a mistake of the user is a usage text and exit code 2.
 */
#ifndef TV_BASE_ERROR_H
#define TV_BASE_ERROR_H

#include "base/types.h"

enum tv_status {
    TV_OK = 0,
    TV_ERR_IO,          /* the system refused to open, read or write */
    TV_ERR_SYNTAX,      /* the bytes are not what the format says */
    TV_ERR_UNSUPPORTED, /* a format or a variant that we know and do not read */
    TV_ERR_LIMIT,       /* a ceiling of ours was reached */
    TV_ERR_USAGE,       /* the caller asked for something that is not there */
    TV_ERR_CANCELLED,   /* stopped on request */
};

/* No place in a file belongs to this error. */
#define TV_NO_OFFSET UINT64_MAX

/* Bytes that an error may quote. */
#define TV_ERROR_QUOTE 48

struct tv_error {
    enum tv_status status;
    uint64_t offset; /* byte in the (unpacked) input, or TV_NO_OFFSET */
    size_t context;  /* bytes of the message that tv_error_prefix put in front */
    char message[400];
    uint8_t quote[TV_ERROR_QUOTE]; /* what stands around the offset (tv_source_quote) */
    uint32_t quoted;               /* bytes of it; 0: nothing is quoted */
    uint64_t quoted_at;            /* where its first byte stands */
};

/* Fills *err (may be NULL) and returns status, so that a caller can `return tv_fail(...)`. */
enum tv_status tv_fail(struct tv_error *err, enum tv_status status, uint64_t offset,
                       const char *format, ...) TV_PRINTF(4, 5);

/* Puts "context: " in front of the message, whose end is cut when it grows too long. Returns
 * err->status. */
enum tv_status tv_error_prefix(struct tv_error *err, const char *format, ...) TV_PRINTF(2, 3);

/* Writes the error as one line without a line end: the message, with "byte N: " between the context
 * and what tv_fail said when it has an offset; control characters become '?'. Returns buffer. */
const char *tv_error_text(const struct tv_error *err, char *buffer, size_t size);

#endif
