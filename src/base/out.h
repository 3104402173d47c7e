/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - text and bytes on their way out, buffered.
 *
 * An out goes to a function (a file descriptor in cli, an HTTP answer in server) or into memory.
 * The first error sticks: what is added after it is dropped and tv_out_finish reports it, so
 * writers need not check each line.  Long loops may ask tv_out_is_broken.
 *
 * Short pieces are put down in line, as whole exports consist of them.
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
    uint64_t total; /* bytes handed on already */
    uint64_t limit; /* of all bytes, see tv_out_set_limit; 0: none */
    /* Where full buffers go; NULL: memory. */
    enum tv_status (*write)(void *context, struct tv_bytes bytes, struct tv_error *err);
    void *context;
    /* The screen that the text is shown on (writers/text/layout.h); NULL: a file or a pipe. */
    struct tv_layout *layout;
    struct tv_error error; /* status TV_OK while all is well */
};

/* Everything stays in buffer[0..length). */
void tv_out_init_memory(struct tv_out *out);

/* Hands on what it holds whenever its buffer is full. */
void tv_out_init(struct tv_out *out,
                 enum tv_status (*write)(void *context, struct tv_bytes bytes,
                                         struct tv_error *err),
                 void *context);

void tv_out_release(struct tv_out *out);

/* Take at most `limit` bytes in all (0: any number). The byte behind them is an error,
 * TV_ERR_LIMIT: what is in memory is dropped, and nothing more is handed on. */
void tv_out_set_limit(struct tv_out *out, uint64_t limit);

/* Return true when all that is still added will be dropped. */
static inline bool tv_out_is_broken(const struct tv_out *out)
{
    return out->error.status != TV_OK;
}

/* Hands on what it holds by now. Of what stays in memory it does nothing. */
void tv_out_flush(struct tv_out *out);

/* Hands on the rest; the first error that happened, or TV_OK. */
enum tv_status tv_out_finish(struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

/* Room for at least `size` (at most TV_OUT_ROOM) more bytes behind buffer[length], to be filled by
 * the caller, who then adds to length. */
#define TV_OUT_ROOM 4096
void tv_out_make_room(struct tv_out *out, size_t size);

static inline uint8_t *tv_out_room(struct tv_out *out, size_t size)
{
    if (TV_UNLIKELY(out->capacity - out->length < size))
        tv_out_make_room(out, size);
    return out->buffer + out->length;
}

/* What does not fit into the buffer. */
void tv_out_more_bytes(struct tv_out *out, struct tv_bytes bytes);

static inline void tv_out_bytes(struct tv_out *out, struct tv_bytes bytes)
{
    if (TV_UNLIKELY(out->capacity - out->length <= bytes.length)) {
        tv_out_more_bytes(out, bytes);
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

/* Writes the number's decimal digits to `to`, which has room for 20; how many there are. */
size_t tv_digits_u64(uint8_t *to, uint64_t value);

static inline void tv_out_u64(struct tv_out *out, uint64_t value)
{
    out->length += tv_digits_u64(tv_out_room(out, 20), value);
}

/* With a '-' in front when it is below 0. */
void tv_out_i64(struct tv_out *out, int64_t value);

/* As printf, of less than TV_OUT_ROOM bytes: for what is short and rare. */
void tv_out_format(struct tv_out *out, const char *format, ...) TV_PRINTF(2, 3);

/* The count and the words behind it, each "one|several" in the form that the count asks for:
 * "slice|slices of threads becomes|become states". */
void tv_out_counted(struct tv_out *out, uint64_t count, const char *words);

/* The same choice, for printf. */
static inline const char *tv_plural(uint64_t count, const char *one, const char *several)
{
    return count == 1 ? one : several;
}

/* Nanoseconds as a decimal number of `unit_ns` (1, 1000, 1000000, 1000000000) with `decimals`
 * digits, rounded half up; exact, no double. */
void tv_out_time(struct tv_out *out, tv_ns value, tv_ns unit_ns, int decimals);

/* The same in sentences: exact, and without zeros at the end. */
void tv_out_time_short(struct tv_out *out, tv_ns value, tv_ns unit_ns);

/* A JSON string with its quotes: control characters (also DEL and U+0080 to U+009F, which terminals
 * obey), quotes and backslashes escaped, and each byte that is not UTF-8 replaced by U+FFFD. */
void tv_out_json(struct tv_out *out, struct tv_bytes text);

/* Append a JSON string for use inside an HTML element: '<' and '>' are escaped as well, so that no
 * text can end the element. */
void tv_out_json_in_html(struct tv_out *out, struct tv_bytes text);

/* Text inside XML or HTML: & < > " ' and control characters escaped, invalid UTF-8 replaced, and so
 * the characters that XML cannot hold even when escaped. */
void tv_out_xml(struct tv_out *out, struct tv_bytes text);

/* A CSV field (RFC 4180): quoted when it holds a comma, a quote or a line break. */
void tv_out_csv(struct tv_out *out, struct tv_bytes text);

/* Little-endian numbers and padding, for binary answers. */
void tv_out_le32(struct tv_out *out, uint32_t value);
void tv_out_f64(struct tv_out *out, double value);
/* Zeros up to a multiple, counted from the start. */
void tv_out_align(struct tv_out *out, size_t alignment);

#endif
