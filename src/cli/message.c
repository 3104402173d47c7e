/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* Put '?' in the place of what terminals obey.  `text` is `length` bytes; returns how many are
 * left. */
static size_t message_replace_controls(char *text, size_t length)
{
    size_t to = 0;
    for (size_t at = 0; at < length;) {
        struct tv_bytes rest = {(const uint8_t *)text + at, length - at};
        size_t control = tv_bytes_control(rest);
        size_t whole = rest.data[0] < 0x80 ? 1 : tv_bytes_utf8(rest);
        if (control > 0 || whole == 0) {
            text[to++] = '?';
            at += control > 0 ? control : 1;
            continue;
        }
        memmove(text + to, text + at, whole);
        to += whole;
        at += whole;
    }
    return to;
}

void tv_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return;
    char *line = tv_alloc((size_t)length + 2, 1);
    va_start(args, format);
    vsnprintf(line, (size_t)length + 1, format, args);
    va_end(args);
    size_t kept = message_replace_controls(line, (size_t)length);
    line[kept] = '\n';
    fwrite(line, 1, kept + 1, stderr);
    tv_free(line);
}
