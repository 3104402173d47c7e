/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - filling an error, and showing it on one line that cannot upset a terminal.
 */
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* A context longer than this is cut, so that there is always room for what happened. */
#define CONTEXT_MAX (sizeof(((struct tv_error *)0)->message) / 2)

/* vsnprintf may have cut a UTF-8 sequence in two: takes the first half of it away. */
static void drop_half_character(char *text)
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

static void format_text(char *buffer, size_t size, const char *format, va_list args)
    TV_PRINTF(3, 0);

static void format_text(char *buffer, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(buffer, size, format, args);
    if (length < 0)
        buffer[0] = '\0';
    else if ((size_t)length >= size)
        drop_half_character(buffer);
}

enum tv_status tv_fail(struct tv_error *err, enum tv_status status, uint64_t offset,
                       const char *format, ...)
{
    if (err == NULL)
        return status;
    /* Made aside: an argument may point into the old message. */
    struct tv_error made = {.status = status, .offset = offset};
    va_list args;
    va_start(args, format);
    format_text(made.message, sizeof made.message, format, args);
    va_end(args);
    *err = made;
    return status;
}

enum tv_status tv_error_prefix(struct tv_error *err, const char *format, ...)
{
    char prefix[CONTEXT_MAX];
    va_list args;
    va_start(args, format);
    format_text(prefix, sizeof prefix - 2, format, args);
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
        drop_half_character(err->message);

    size_t length = strlen(err->message);
    err->context = added + err->context < length ? added + err->context : length;
    return err->status;
}

/* Control characters, which a file may have put into a message, become '?'. */
static void make_printable(char *text)
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
    make_printable(buffer);
    return buffer;
}
