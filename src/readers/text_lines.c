/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_lines.c - lines of a range of a source (text_lines.h).
 *
 * A line is a view of the window, so no line is copied.  The window grows while it lacks the line's
 * end, up to TV_TEXT_LINE_LIMIT; what is longer is skipped window by window, in bounded memory.
 */
#include "readers/text_lines.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

void tv_text_lines_init(struct tv_text_lines *lines, struct tv_source *source, uint64_t offset,
                        uint64_t end)
{
    uint64_t size;
    tv_source_has_size(source, &size);
    *lines = (struct tv_text_lines){.offset = offset, .end = end < size ? end : size};
    tv_window_init(&lines->window, source);
}

void tv_text_lines_release(struct tv_text_lines *lines)
{
    tv_window_release(&lines->window);
}

/* Return at least `want` bytes from `offset`, up to the end of the range. This may be where the
 * end of the source is found. */
static enum tv_status text_lines_look(struct tv_text_lines *lines, uint64_t offset, size_t want,
                                      struct tv_bytes *bytes, struct tv_error *err)
{
    assert(offset <= lines->end);
    uint64_t left = lines->end - offset;
    if (want > left)
        want = (size_t)left;
    enum tv_status status = tv_window_at(&lines->window, offset, want, bytes, err);
    if (status == TV_OK && bytes->length > left)
        bytes->length = (size_t)left;
    if (status == TV_OK && bytes->length < want)
        lines->end = offset + bytes->length;
    return status;
}

/* Skip an overlong line. */
static enum tv_status text_lines_skip_long(struct tv_text_lines *lines, struct tv_text_line *line,
                                           struct tv_error *err)
{
    line->too_long = true;
    while (lines->offset < lines->end) {
        struct tv_bytes bytes;
        enum tv_status status = text_lines_look(lines, lines->offset, 1, &bytes, err);
        if (status != TV_OK)
            return status;
        const uint8_t *newline = memchr(bytes.data, '\n', bytes.length);
        line->ended = newline != NULL;
        lines->offset += newline ? (uint64_t)(newline - bytes.data) + 1 : bytes.length;
        if (newline || bytes.length == 0)
            break;
    }
    return TV_OK;
}

/* The window grows until it contains the end of the line, or until the line is too long. */
enum tv_status tv_text_lines_next(struct tv_text_lines *lines, struct tv_text_line *line,
                                  struct tv_error *err)
{
    *line = (struct tv_text_line){.offset = lines->offset};
    if (lines->offset >= lines->end) {
        line->none = true;
        return TV_OK;
    }
    struct tv_bytes bytes;
    const uint8_t *newline;
    size_t want = 1;
    for (;;) {
        enum tv_status status = text_lines_look(lines, lines->offset, want, &bytes, err);
        if (status != TV_OK)
            return status;
        line->none = bytes.length == 0;
        newline = bytes.length > 0 ? memchr(bytes.data, '\n', bytes.length) : NULL;
        if (newline || bytes.length >= lines->end - lines->offset)
            break;
        if (bytes.length > TV_TEXT_LINE_LIMIT)
            return text_lines_skip_long(lines, line, err);
        want = bytes.length + 1;
    }
    size_t length = newline ? (size_t)(newline - bytes.data) : bytes.length;
    if (length > TV_TEXT_LINE_LIMIT)
        return text_lines_skip_long(lines, line, err);
    lines->offset += length + (newline ? 1 : 0);
    line->ended = newline != NULL;
    if (length > 0 && bytes.data[length - 1] == '\r')
        length--;
    line->text = (struct tv_bytes){bytes.data, length};
    return TV_OK;
}

struct tv_bytes tv_text_line_bare(struct tv_bytes text)
{
    while (text.length > 0 && text.data[text.length - 1] == '\r')
        text.length--;
    if (tv_bytes_ends_with(text, TV_BYTES("\\n\\")))
        text.length -= 3;
    else if (tv_bytes_ends_with(text, TV_BYTES("\\n\";")))
        text.length -= 4;
    return text;
}

bool tv_text_has_header_key(struct tv_bytes prefix, struct tv_bytes key)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line)) {
        size_t i = 0;
        line = tv_bytes_trim(line);
        if (line.length == 0 || line.data[0] == '#')
            continue;
        if (tv_bytes_starts_with(line, key))
            return true;
        while (i < line.length &&
               ((line.data[i] >= 'a' && line.data[i] <= 'z') || line.data[i] == '_'))
            i++;
        if (i == 0 || i == line.length || line.data[i] != ':')
            return false;
    }
    return false;
}

size_t tv_text_ltrace_module(struct tv_bytes call)
{
    for (size_t i = 1; i + 1 < call.length && call.data[i] > ' ' && call.data[i] != '('; i++)
        if (call.data[i] == '-' && call.data[i + 1] == '>')
            return i + 2;
    return 0;
}

/* Return true when the first call or end of a line is ltrace's. */
static bool text_line_is_ltrace(struct tv_bytes line)
{
    struct tv_bytes word;
    bool more = true;
    while (more) {
        more = tv_bytes_split(&line, ' ', &word);
        if (word.length > 0 && memchr(word.data, '(', word.length))
            return tv_text_ltrace_module(word) > 0;
        if (tv_bytes_equal(word, TV_BYTES("exited")))
            return tv_bytes_starts_with(line, TV_BYTES("(status "));
    }
    return false;
}

bool tv_text_is_ltrace(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line))
        if (text_line_is_ltrace(line))
            return true;
    return false;
}
