/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact.c - the text of a value as it stands, without the space between tokens.
 */
#include <string.h>

#include "base/bytes.h"
#include "readers/json/json.h"

/* What bytes outside of strings are. */
enum { ODD, DIGIT, LETTER, SPACE, QUOTE, OPEN, CLOSE, MARK };

static const uint8_t kinds[256] = {
    ['0'] = DIGIT,  ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,  ['4'] = DIGIT,  ['5'] = DIGIT,
    ['6'] = DIGIT,  ['7'] = DIGIT,  ['8'] = DIGIT,  ['9'] = DIGIT,  ['-'] = DIGIT,  ['.'] = DIGIT,
    [','] = MARK,   [':'] = MARK,   [' '] = SPACE,  ['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE,
    ['"'] = QUOTE,  ['{'] = OPEN,   ['['] = OPEN,   ['}'] = CLOSE,  [']'] = CLOSE,  ['t'] = LETTER,
    ['f'] = LETTER, ['n'] = LETTER, ['e'] = LETTER, ['E'] = LETTER,
};

/* Whether any of eight bytes is no ASCII, a control character, DEL, a quote or a backslash. */
static bool is_special(const uint8_t *at)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    uint64_t quotes = bytes ^ ones * '"', backslashes = bytes ^ ones * '\\';
    uint64_t found = bytes | (bytes - ones * ' ') | (quotes - ones) | (backslashes - ones);
    found |= bytes + ones; /* DEL */
    return (found & tops) != 0;
}

static bool is_hexadecimal(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* How long the escape is; 0: it is none of JSON. */
static size_t escape_length(struct tv_bytes text)
{
    if (text.length < 2 || !strchr("\"\\/bfnrtu", text.data[1] ? text.data[1] : ' '))
        return 0;
    if (text.data[1] != 'u')
        return 2;
    for (size_t i = 2; i < 6; i++)
        if (i >= text.length || !is_hexadecimal(text.data[i]))
            return 0;
    return 6;
}

/* 0: it is not UTF-8, or one of U+0080 to U+009F, which terminals obey. */
static size_t utf8_length(struct tv_bytes rest)
{
    size_t length = tv_bytes_utf8(rest);
    return length == 2 && rest.data[0] == 0xc2 && rest.data[1] < 0xa0 ? 0 : length;
}

/* Behind the quote that ends the string, whose text begins at `at`; 0: it is not quite JSON, or
 * holds control characters. */
static size_t pass_string(struct tv_bytes raw, size_t at)
{
    while (at < raw.length) {
        struct tv_bytes rest = {raw.data + at, raw.length - at};
        size_t length = 1;
        if (rest.length >= 8 && !is_special(rest.data))
            length = 8;
        else if (*rest.data == '"')
            return at + 1;
        else if (*rest.data == '\\')
            length = escape_length(rest);
        else if (*rest.data >= 0x80)
            length = utf8_length(rest);
        else if (*rest.data < ' ' || *rest.data == 0x7f)
            length = 0;
        if (length == 0)
            return 0;
        at += length;
    }
    return 0;
}

/* Behind the word, or the exponent of a number; 0: it is none of JSON. */
static size_t pass_letters(struct tv_bytes raw, size_t at)
{
    static const char *const words[] = {"true", "false", "null"};
    struct tv_bytes rest = {raw.data + at, raw.length - at};
    if ((*rest.data | 0x20) == 'e') {
        bool behind_digit = at > 0 && raw.data[at - 1] >= '0' && raw.data[at - 1] <= '9';
        bool sign = rest.length > 1 && rest.data[1] == '+';
        return behind_digit ? at + 1 + sign : 0;
    }
    for (size_t i = 0; i < TV_COUNT(words); i++)
        if (tv_bytes_starts_with(rest, tv_bytes_of(words[i])))
            return at + strlen(words[i]);
    return 0;
}

static bool is_of_word(uint8_t kind)
{
    return kind == DIGIT || kind == LETTER;
}

/* Whether each token is one of JSON, the brackets are even, and no two words lack what keeps them
 * apart but space; *spaced: there is space between tokens. */
static bool is_plain(struct tv_bytes raw, bool *spaced)
{
    size_t depth = 0;
    uint8_t before = MARK; /* the kind of the last byte that is no space */
    *spaced = false;
    for (size_t at = 0; at < raw.length;) {
        uint8_t kind = kinds[raw.data[at]];
        size_t next = at + 1;
        if (kind == ODD || (kind == CLOSE && depth == 0))
            return false;
        if (is_of_word(kind) && is_of_word(before) && kinds[raw.data[at - 1]] == SPACE)
            return false;
        if (kind == QUOTE)
            next = pass_string(raw, next);
        else if (kind == LETTER)
            next = pass_letters(raw, at);
        if (next == 0)
            return false;
        depth += (size_t)(kind == OPEN) - (size_t)(kind == CLOSE);
        *spaced = *spaced || kind == SPACE;
        before = kind == SPACE ? before : kind;
        at = next;
    }
    return depth == 0;
}

static void copy_tokens(struct tv_bytes raw, struct tv_out *out)
{
    size_t done = 0;
    for (size_t at = 0; at < raw.length;) {
        uint8_t kind = kinds[raw.data[at]];
        size_t next = kind == QUOTE ? pass_string(raw, at + 1) : at + 1;
        if (kind == SPACE) {
            tv_out_bytes(out, (struct tv_bytes){raw.data + done, at - done});
            done = next;
        }
        at = next;
    }
    tv_out_bytes(out, (struct tv_bytes){raw.data + done, raw.length - done});
}

/* A string's tokens are its grammar. */
static bool is_strict(struct tv_bytes raw, bool *spaced)
{
    if (raw.length == 0 || !is_plain(raw, spaced))
        return false;
    return (raw.data[0] == '"' && pass_string(raw, 1) == raw.length) ||
           tv_json_check(raw, NULL, NULL);
}

void tv_json_compact(struct tv_bytes raw, struct tv_out *out, unsigned *faults)
{
    bool spaced;
    if (!is_strict(raw, &spaced)) {
        tv_json_normalise(raw, out, faults);
        return;
    }
    if (faults)
        *faults = 0;
    if (spaced)
        copy_tokens(raw, out);
    else
        tv_out_bytes(out, raw);
}
