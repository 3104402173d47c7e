/* SPDX-License-Identifier: Apache-2.0 */
#include "html/html_text.h"

#include <string.h>

/* Most bytes that can follow the quote that ends a string: ";", line breaks, spaces. */
#define LONGEST_END ((size_t)64)

static bool html_text_is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

static void html_text_next_block(struct tv_html_text *text)
{
    const struct tv_html_block *block = text->next++;
    text->left--;
    text->at = block->start;
    text->end = block->end;
    text->form = block->form;
    text->base64 = (struct tv_base64){0};
}

void tv_html_text_init(struct tv_html_text *text, struct tv_source *source,
                       const struct tv_html_block *blocks, size_t count)
{
    *text = (struct tv_html_text){.next = blocks, .left = count};
    tv_window_init(&text->window, source);
    html_text_next_block(text);
}

void tv_html_text_release(struct tv_html_text *text)
{
    tv_window_release(&text->window);
}

/* Return up to `most` of the bytes that are left in the block, and at least `want` unless fewer
 * are left. */
static enum tv_status html_text_window(struct tv_html_text *text, size_t want, size_t most,
                                       struct tv_bytes *bytes, struct tv_error *err)
{
    uint64_t left = text->end - text->at;
    *bytes = (struct tv_bytes){NULL, 0};
    if (left == 0)
        return TV_OK;
    enum tv_status status =
        tv_window_at(&text->window, text->at, want < left ? want : (size_t)left, bytes, err);
    if (bytes->length > left)
        bytes->length = (size_t)left;
    if (bytes->length > most)
        bytes->length = most;
    return status;
}

static enum tv_status html_text_read_plain(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                           size_t *got, struct tv_error *err)
{
    struct tv_bytes bytes;
    enum tv_status status = html_text_window(text, 1, size, &bytes, err);
    if (status != TV_OK || bytes.length == 0)
        return status;
    memcpy(buffer, bytes.data, bytes.length);
    text->at += bytes.length;
    *got = bytes.length;
    return TV_OK;
}

static enum tv_status html_text_read_base64(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                            size_t *got, struct tv_error *err)
{
    while (*got == 0 && text->at < text->end) {
        struct tv_bytes bytes;
        size_t used;
        enum tv_status status = html_text_window(text, 1, size, &bytes, err);
        if (status != TV_OK || bytes.length == 0)
            return status;
        *got = tv_base64_decode(&text->base64, bytes, buffer, &used);
        text->at += used;
        text->damaged = used < bytes.length;
        if (text->damaged)
            text->end = text->at;
    }
    return TV_OK;
}

static bool html_text_parse_hex(struct tv_bytes digits, unsigned *code)
{
    *code = 0;
    for (size_t i = 0; i < digits.length; i++) {
        uint8_t c = digits.data[i];
        if (c >= '0' && c <= '9')
            *code = *code << 4 | (unsigned)(c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            *code = *code << 4 | (unsigned)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* Encode a UTF-16 unit in at most 3 bytes. Each half of a surrogate pair is encoded by itself. */
static size_t html_text_encode_utf8(unsigned code, uint8_t *to)
{
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (uint8_t)(0xc0 | code >> 6);
        to[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    to[0] = (uint8_t)(0xe0 | code >> 12);
    to[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    to[2] = (uint8_t)(0x80 | (code & 0x3f));
    return 3;
}

/* Decode a backslash and what belongs to it into at most 3 bytes. Return the number of bytes
 * used. */
static size_t html_text_unescape(struct tv_bytes bytes, uint8_t *to, size_t *length)
{
    static const char letters[] = "nrtbfv0", meanings[] = "\n\r\t\b\f\v\0";
    unsigned code;
    if (bytes.length < 2)
        return bytes.length;
    uint8_t c = bytes.data[1];
    if (c == '\n' || c == '\r') { /* a backslash at the end of a line continues it */
        size_t used = 2;
        while (bytes.data[used - 1] == '\r' && used < bytes.length &&
               (bytes.data[used] == '\r' || bytes.data[used] == '\n'))
            used++;
        return used;
    }
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 0;
    if (digits > 0 && bytes.length >= 2 + digits &&
        html_text_parse_hex((struct tv_bytes){bytes.data + 2, digits}, &code)) {
        *length += html_text_encode_utf8(code, to + *length);
        return 2 + digits;
    }
    const char *letter = strchr(letters, c);
    to[(*length)++] = letter && c != '\0' ? (uint8_t)meanings[letter - letters] : c;
    return 2;
}

/* Return true when a quote ends the string: only ";" and blanks follow it in the script. Some
 * writers did not escape the quotes inside the string. */
static bool html_text_ends_string(struct tv_bytes bytes, uint64_t left)
{
    bool semicolon = false;
    if (left > LONGEST_END)
        return false;
    for (size_t i = 1; i < bytes.length; i++) {
        if (bytes.data[i] == ';' && !semicolon)
            semicolon = true;
        else if (!html_text_is_space(bytes.data[i]))
            return false;
    }
    return true;
}

static enum tv_status html_text_read_string(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                            size_t *got, struct tv_error *err)
{
    while (*got + 3 <= size && text->at < text->end) {
        struct tv_bytes bytes;
        enum tv_status status = html_text_window(text, LONGEST_END, size, &bytes, err);
        if (status != TV_OK || bytes.length == 0)
            return status;
        size_t room = size - *got, plain = 0;
        while (plain < room && plain < bytes.length && bytes.data[plain] != '\\' &&
               bytes.data[plain] != '"')
            plain++;
        if (plain > 0) {
            memcpy(buffer + *got, bytes.data, plain);
            *got += plain;
            text->at += plain;
        } else if (bytes.data[0] == '\\') {
            text->at += html_text_unescape(bytes, buffer, got);
        } else if (html_text_ends_string(bytes, text->end - text->at)) {
            text->end = text->at;
        } else {
            buffer[(*got)++] = '"';
            text->at++;
        }
    }
    return TV_OK;
}

static enum tv_status html_text_read_block(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                           size_t *got, struct tv_error *err)
{
    if (text->form == TV_HTML_STRING)
        return html_text_read_string(text, buffer, size, got, err);
    return text->form == TV_HTML_BASE64 ? html_text_read_base64(text, buffer, size, got, err)
                                        : html_text_read_plain(text, buffer, size, got, err);
}

/* A damaged block ends the text: everything behind it would be at a wrong place in the file. */
enum tv_status tv_html_text_read(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                 size_t *got, struct tv_error *err)
{
    *got = 0;
    for (;;) {
        enum tv_status status = html_text_read_block(text, buffer, size, got, err);
        if (status != TV_OK || *got > 0 || text->left == 0 || text->damaged)
            return status;
        html_text_next_block(text);
    }
}
