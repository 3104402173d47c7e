/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/te_json.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/te_values.h"

struct writer {
    const uint8_t *at, *end;
    struct tv_out *out;
    struct tv_te_scratch scratch;
    uint32_t depth;
    bool in_object[TV_TE_JSON_DEPTH];
    bool first; /* in the innermost container */
};

/* The end of a line, or of the bytes. */
static const uint8_t *line_end(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found : end;
}

static const uint8_t *comment_end(const uint8_t *at, const uint8_t *end)
{
    for (at += 2; at + 1 < end; at++)
        if (at[0] == '*' && at[1] == '/')
            return at + 2;
    return end;
}

/* The next byte that is no space, comma or comment; 0 at the end. */
static uint8_t look(struct writer *w)
{
    while (w->at < w->end) {
        uint8_t c = *w->at, next = w->at + 1 < w->end ? w->at[1] : 0;
        if (c == '/' && next == '/')
            w->at = line_end(w->at, w->end);
        else if (c == '/' && next == '*')
            w->at = comment_end(w->at, w->end);
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',')
            w->at++;
        else
            return c;
    }
    return 0;
}

static struct tv_bytes take_string(struct writer *w)
{
    const uint8_t *start = w->at, quote = *w->at;
    for (w->at++; w->at < w->end && *w->at != quote; w->at++)
        if (*w->at == '\\' && w->at + 1 < w->end)
            w->at++;
    if (w->at < w->end)
        w->at++;
    return (struct tv_bytes){start, (size_t)(w->at - start)};
}

static struct tv_bytes take_word(struct writer *w)
{
    const uint8_t *start = w->at;
    while (w->at < w->end && (w->at == start || !memchr(" \t\r\n,:]}[{\"'", *w->at, 12)))
        w->at++;
    return (struct tv_bytes){start, (size_t)(w->at - start)};
}

static bool is_quote(uint8_t c)
{
    return c == '"' || c == '\'';
}

/* A string that the end of the bytes cut has no closing quote. */
static void write_string(struct writer *w, struct tv_bytes raw)
{
    bool closed = raw.length >= 2 && raw.data[raw.length - 1] == raw.data[0];
    if (closed)
        tv_out_json(w->out, tv_te_text(raw, &w->scratch));
    else
        tv_out_json(w->out, (struct tv_bytes){raw.data + 1, raw.length - 1});
}

/* Digits with an optional sign, fraction and exponent, as RFC 8259 section 6 has them. */
static bool is_strict_number(struct tv_bytes raw)
{
    size_t i = raw.length > 0 && raw.data[0] == '-', digits = 0;
    bool zero = i < raw.length && raw.data[i] == '0';
    for (; i < raw.length && raw.data[i] >= '0' && raw.data[i] <= '9'; i++)
        digits++;
    if (digits == 0 || (zero && digits > 1))
        return false;
    if (i < raw.length && raw.data[i] == '.') {
        size_t fraction = ++i;
        while (i < raw.length && raw.data[i] >= '0' && raw.data[i] <= '9')
            i++;
        if (i == fraction)
            return false;
    }
    if (i < raw.length && (raw.data[i] | 0x20) == 'e') {
        i += i + 1 < raw.length && (raw.data[i + 1] == '+' || raw.data[i + 1] == '-') ? 2 : 1;
        size_t exponent = i;
        while (i < raw.length && raw.data[i] >= '0' && raw.data[i] <= '9')
            i++;
        if (i == exponent)
            return false;
    }
    return i == raw.length;
}

static bool is_word(struct tv_bytes raw)
{
    return tv_bytes_equal(raw, TV_BYTES("true")) || tv_bytes_equal(raw, TV_BYTES("false")) ||
           tv_bytes_equal(raw, TV_BYTES("null"));
}

static void write_word(struct writer *w, struct tv_bytes raw)
{
    double value;
    if (is_word(raw) || is_strict_number(raw))
        tv_out_bytes(w->out, raw);
    else if (tv_te_number(raw, &value) && isfinite(value))
        tv_out_format(w->out, "%.17g", value);
    else
        tv_out_json(w->out, raw);
}

static void separate(struct writer *w)
{
    if (!w->first)
        tv_out_char(w->out, ',');
    w->first = false;
}

static void open(struct writer *w, uint8_t c)
{
    w->at++;
    if (w->depth == TV_TE_JSON_DEPTH) {
        tv_out_text(w->out, "null");
        w->at = w->end;
        return;
    }
    w->in_object[w->depth++] = c == '{';
    tv_out_char(w->out, (char)c);
    w->first = true;
}

static void close(struct writer *w)
{
    tv_out_char(w->out, w->in_object[--w->depth] ? '}' : ']');
    w->first = false;
}

static void write_value(struct writer *w)
{
    uint8_t c = look(w);
    if (c == '{' || c == '[')
        open(w, c);
    else if (is_quote(c))
        write_string(w, take_string(w));
    else if (c == 0 || c == '}' || c == ']')
        tv_out_text(w->out, "null");
    else
        write_word(w, take_word(w));
}

static void write_key(struct writer *w)
{
    if (is_quote(look(w)))
        write_string(w, take_string(w));
    else
        tv_out_json(w->out, take_word(w));
    tv_out_char(w->out, ':');
    if (look(w) == ':')
        w->at++;
}

void tv_te_json_write(struct tv_out *out, struct tv_bytes raw)
{
    struct writer w = {.at = raw.data, .end = raw.data + raw.length, .out = out, .first = true};
    write_value(&w);
    while (w.depth > 0) {
        uint8_t c = look(&w);
        if (c == 0) {
            close(&w);
        } else if (c == '}' || c == ']') {
            w.at++;
            close(&w);
        } else {
            separate(&w);
            if (w.in_object[w.depth - 1])
                write_key(&w);
            write_value(&w);
        }
    }
    tv_te_scratch_release(&w.scratch);
}
