/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - buffered output of text and bytes.
 *
 * An output goes to a function (a file descriptor in cli, an HTTP answer in server) or stays in
 * memory.  The first error sticks: later output is dropped, and tv_out_finish reports the error, so
 * a writer need not check each line.  Long loops may stop early by asking tv_out_has_failed.
 *
 * Functions for short pieces are inline, because whole exports consist of them.
 */
#ifndef TV_BASE_OUT_H
#define TV_BASE_OUT_H

#include <string.h>

#include "base/error.h"
#include "base/types.h"

struct tv_layout;

struct tv_out {
    uint8_t *buffer;
    size_t length; /* bytes in the buffer */
    size_t capacity;
    uint64_t total; /* bytes already written */
    uint64_t limit; /* most bytes in all (tv_out_set_limit); 0: none */
    /* Receives full buffers; NULL: the output stays in memory. */
    enum tv_status (*write)(void *context, struct tv_bytes bytes, struct tv_error *err);
    void *context;
    /* Terminal that shows the text (writers/text/layout.h); NULL: a file or a pipe. */
    struct tv_layout *layout;
    struct tv_error error; /* status TV_OK until the first error */
};

/* Start an output that stays in buffer[0..length). */
void tv_out_init_memory(struct tv_out *out);

/* Start an output that calls `write` whenever its buffer is full. */
void tv_out_init(struct tv_out *out,
                 enum tv_status (*write)(void *context, struct tv_bytes bytes,
                                         struct tv_error *err),
                 void *context);

void tv_out_release(struct tv_out *out);

/* Accept at most `limit` bytes in all (0: any number).  One byte more is TV_ERR_LIMIT: an output in
 * memory is emptied, and nothing more is written. */
void tv_out_set_limit(struct tv_out *out, uint64_t limit);

/* Return whether an error occurred, so that further output is dropped. */
static inline bool tv_out_has_failed(const struct tv_out *out)
{
    return out->error.status != TV_OK;
}

/* Write the buffered bytes now.  Does nothing for an output in memory. */
void tv_out_flush(struct tv_out *out);

/* Write the rest and report the first error. */
enum tv_status tv_out_finish(struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

/* Return room for `size` (at most TV_OUT_ROOM) bytes after buffer[length].  The caller fills them
 * and adds to length. */
#define TV_OUT_ROOM 4096
void tv_out_make_room(struct tv_out *out, size_t size);

static inline uint8_t *tv_out_room(struct tv_out *out, size_t size)
{
    if (TV_UNLIKELY(out->capacity - out->length < size))
        tv_out_make_room(out, size);
    return out->buffer + out->length;
}

/* Append bytes for which the buffer has no room; called by tv_out_bytes. */
void tv_out_bytes_slow(struct tv_out *out, struct tv_bytes bytes);

static inline void tv_out_bytes(struct tv_out *out, struct tv_bytes bytes)
{
    if (TV_UNLIKELY(out->capacity - out->length <= bytes.length)) {
        tv_out_bytes_slow(out, bytes);
        return;
    }
    if (bytes.length > 0)
        memcpy(out->buffer + out->length, bytes.data, bytes.length);
    out->length += bytes.length;
}

static inline void tv_out_text(struct tv_out *out, const char *text)
{
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)text, strlen(text)});
}

static inline void tv_out_char(struct tv_out *out, char c)
{
    *tv_out_room(out, 1) = (uint8_t)c;
    out->length++;
}

/* Write a number in decimal to `to`, which has room for 20 digits, and return the number of digits.
 */
size_t tv_digits_u64(uint8_t *to, uint64_t value);

static inline void tv_out_u64(struct tv_out *out, uint64_t value)
{
    out->length += tv_digits_u64(tv_out_room(out, 20), value);
}

/* Append a signed number. */
void tv_out_i64(struct tv_out *out, int64_t value);

/* Append as printf does, less than TV_OUT_ROOM bytes: for short and rare output. */
void tv_out_format(struct tv_out *out, const char *format, ...) TV_PRINTF(2, 3);

/* Append the count and `words`, in which each "one|several" stands for the form that fits:
 * "slice|slices of threads becomes|become states". */
void tv_out_counted(struct tv_out *out, uint64_t count, const char *words);

/* As above, for printf. */
static inline const char *tv_plural(uint64_t count, const char *one, const char *several)
{
    return count == 1 ? one : several;
}

/* The largest unit of tv_out_time: 1 GiB. Its remainder times 10^9 fits into 64 bits. */
#define TV_OUT_UNIT_MAX (INT64_C(1) << 30)

/* Append nanoseconds as a decimal number of `unit_ns` (1, 1000, 1000000, 1000000000; of bytes also
 * powers of 1024) with `decimals` digits, rounded half up, without going through double. */
void tv_out_time(struct tv_out *out, tv_ns value, tv_ns unit_ns, int decimals);

/* Append an exact time without trailing zeros, for sentences. */
void tv_out_time_short(struct tv_out *out, tv_ns value, tv_ns unit_ns);

/* Append a JSON string with its quotes.  Quotes, backslashes and control characters are escaped,
 * also DEL and U+0080 to U+009F, which terminals obey; a byte that is not UTF-8 becomes U+FFFD. */
void tv_out_json(struct tv_out *out, struct tv_bytes text);

/* Append a JSON string for use inside an HTML element: '<' and '>' are escaped as well, so that no
 * text can end the element. */
void tv_out_json_in_html(struct tv_out *out, struct tv_bytes text);

/* Append text for XML or HTML: & < > " ' and control characters are escaped; invalid UTF-8, and
 * characters that XML cannot hold in any form, become U+FFFD. */
void tv_out_xml(struct tv_out *out, struct tv_bytes text);

/* Append a CSV field (RFC 4180), in quotes when it holds a comma, a quote or a line break. */
void tv_out_csv(struct tv_out *out, struct tv_bytes text);

/* Append little-endian numbers, for binary answers. */
void tv_out_le32(struct tv_out *out, uint32_t value);
void tv_out_f64(struct tv_out *out, double value);
/* Append zeros up to a multiple of `alignment`, counted from the start of the output. */
void tv_out_align(struct tv_out *out, size_t alignment);

#endif
