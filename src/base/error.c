/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - filling an error, and formatting it as one line that is safe for a terminal.
 */
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* A longer context is cut, so that the message itself always has room. */
#define CONTEXT_MAX (sizeof(((struct tv_error *)0)->message) / 2)

/* Remove an incomplete UTF-8 sequence from the end, which vsnprintf leaves when it cuts a text. */
static void error_drop_partial_utf8(char *text)
{
    size_t length = strlen(text);
    size_t first = length;
    while (first > 0 && length - first < 3 && ((uint8_t)text[first - 1] & 0xc0) == 0x80)
        first--;
    if (first == 0)
        return;
    uint8_t lead = (uint8_t)text[first - 1];
    size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (length - (first - 1) < size)
        text[first - 1] = '\0';
}

static void error_format_text(char *buffer, size_t size, const char *format, va_list args)
    TV_PRINTF(3, 0);

static void error_format_text(char *buffer, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(buffer, size, format, args);
    if (length < 0)
        buffer[0] = '\0';
    else if ((size_t)length >= size)
        error_drop_partial_utf8(buffer);
}

enum tv_status tv_fail(struct tv_error *err, enum tv_status status, uint64_t offset,
                       const char *format, ...)
{
    if (err == NULL)
        return status;
    /* Build the new error aside: an argument may point into the old message. */
    struct tv_error made = {.status = status, .offset = offset};
    va_list args;
    va_start(args, format);
    error_format_text(made.message, sizeof made.message, format, args);
    va_end(args);
    *err = made;
    return status;
}

enum tv_status tv_error_prefix(struct tv_error *err, const char *format, ...)
{
    char prefix[CONTEXT_MAX];
    va_list args;
    va_start(args, format);
    error_format_text(prefix, sizeof prefix - 2, format, args);
    va_end(args);
    size_t added = strlen(prefix);
    memcpy(prefix + added, ": ", 2);
    added += 2;

    size_t kept = strlen(err->message);
    bool cut = added + kept >= sizeof err->message;
    if (cut)
        kept = sizeof err->message - 1 - added;
    memmove(err->message + added, err->message, kept);
    memcpy(err->message, prefix, added);
    err->message[added + kept] = '\0';
    if (cut)
        error_drop_partial_utf8(err->message);

    size_t length = strlen(err->message);
    err->context = added + err->context < length ? added + err->context : length;
    return err->status;
}

/* Replace control characters by '?': a message may quote text from a hostile file. */
static void error_make_printable(char *text)
{
    struct tv_bytes rest = tv_bytes_of(text);
    while (rest.length > 0) {
        size_t control = tv_bytes_control(rest), length = control > 0 ? control : 1;
        memset(text, '?', control);
        text += length;
        rest = (struct tv_bytes){rest.data + length, rest.length - length};
    }
}

const char *tv_error_text(const struct tv_error *err, char *buffer, size_t size)
{
    int context = (int)err->context;
    if (err->offset == TV_NO_OFFSET)
        snprintf(buffer, size, "%s", err->message);
    else
        snprintf(buffer, size, "%.*sbyte %" PRIu64 ": %s", context, err->message, err->offset,
                 err->message + context);
    error_make_printable(buffer);
    return buffer;
}
