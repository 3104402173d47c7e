/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict.c - checking strict JSON, and copying it without the space between its tokens.
 *
 * A state machine of tokens: next_state[state][token] is the state after the token, or REFUSED.  A
 * stack of bits tells objects from arrays, so 64 levels cost one word.  Text that is refused,
 * because it is deeper or not strict, goes through lenient.c.
 *
 *     text    {        "a"          :        [            1             ]      }
 *     state   BEGIN -> FIRST_KEY -> BEHIND_KEY -> MEMBER -> FIRST_ITEM -> BEHIND_ITEM -> DONE
 *                                                                    the stack: in an object,
 *                                                                    so BEHIND_MEMBER
 *
 * Nearly all text is strict, and is only copied.  Its strings are looked at eight bytes at a time;
 * only a quote, a backslash, a control character or a byte beyond ASCII needs a closer look.
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/json/json.h"

/* Tokens by their first byte; every other byte is ODD. */
enum json_token {
    ODD,
    SPACE,
    NUMBER,
    WORD,
    STRING,
    OPEN_OBJECT,
    CLOSE_OBJECT,
    OPEN_LIST,
    CLOSE_LIST,
    COMMA,
    COLON,
    KINDS,
};

static const uint8_t kinds[256] = {
    [' '] = SPACE,       ['\t'] = SPACE,       ['\n'] = SPACE,    ['\r'] = SPACE,
    ['0'] = NUMBER,      ['1'] = NUMBER,       ['2'] = NUMBER,    ['3'] = NUMBER,
    ['4'] = NUMBER,      ['5'] = NUMBER,       ['6'] = NUMBER,    ['7'] = NUMBER,
    ['8'] = NUMBER,      ['9'] = NUMBER,       ['-'] = NUMBER,    ['t'] = WORD,
    ['f'] = WORD,        ['n'] = WORD,         ['"'] = STRING,    [','] = COMMA,
    ['{'] = OPEN_OBJECT, ['}'] = CLOSE_OBJECT, ['['] = OPEN_LIST, [']'] = CLOSE_LIST,
    [':'] = COLON,
};

/* States of a reader of strict JSON (RFC 8259). */
enum json_strict_state {
    REFUSED,
    BEGIN,
    FIRST_KEY, /* or the end of the object */
    KEY,
    BEHIND_KEY,
    MEMBER,
    BEHIND_MEMBER,
    FIRST_ITEM, /* or the end of the array */
    ITEM,
    BEHIND_ITEM,
    DONE, /* after the outermost value, or after a closed object or array */
};

/* The tokens that begin a value; after a nested one the state comes from the stack of bits. */
#define VALUE(behind)                                                                              \
    [NUMBER] = (behind), [WORD] = (behind), [STRING] = (behind), [OPEN_OBJECT] = FIRST_KEY,        \
    [OPEN_LIST] = FIRST_ITEM

static const uint8_t next_state[][KINDS] = {
    [BEGIN] = {VALUE(DONE)},
    [FIRST_KEY] = {[STRING] = BEHIND_KEY, [CLOSE_OBJECT] = DONE},
    [KEY] = {[STRING] = BEHIND_KEY},
    [BEHIND_KEY] = {[COLON] = MEMBER},
    [MEMBER] = {VALUE(BEHIND_MEMBER)},
    [BEHIND_MEMBER] = {[COMMA] = KEY, [CLOSE_OBJECT] = DONE},
    [FIRST_ITEM] = {VALUE(BEHIND_ITEM), [CLOSE_LIST] = DONE},
    [ITEM] = {VALUE(BEHIND_ITEM)},
    [BEHIND_ITEM] = {[COMMA] = ITEM, [CLOSE_LIST] = DONE},
    [DONE] = {0},
};

/* Levels of nesting that have a bit; deeper text goes through lenient.c. */
#define LEVELS 64

/* True when one of eight bytes is not ASCII, a control character, DEL, a quote or a backslash. */
static bool json_strict_has_special(const uint8_t *at)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    /* A byte is 0 after XOR with the byte that is looked for; subtracting 1 then sets its top bit.
     * A borrow can set further bits, which only sends eight harmless bytes the slow way. */
    uint64_t quotes = bytes ^ ones * '"', backslashes = bytes ^ ones * '\\';
    uint64_t found = bytes | (bytes - ones * ' ') | (quotes - ones) | (backslashes - ones);
    found |= bytes + ones; /* DEL */
    return (found & tops) != 0;
}

static bool json_is_hex_digit(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Return the length of the escape; 0: JSON has no such escape. */
static size_t json_escape_length(struct tv_bytes text)
{
    if (text.length < 2 || !strchr("\"\\/bfnrtu", text.data[1] ? text.data[1] : ' '))
        return 0;
    if (text.data[1] != 'u')
        return 2;
    for (size_t i = 2; i < 6; i++)
        if (i >= text.length || !json_is_hex_digit(text.data[i]))
            return 0;
    return 6;
}

/* Return the place after the string whose text begins at `at`; 0: it is not strict, or holds
 * control characters. */
static size_t json_strict_skip_string(struct tv_bytes raw, size_t at)
{
    assert(at > 0 && raw.data[at - 1] == '"');
    while (at < raw.length) {
        struct tv_bytes rest = {raw.data + at, raw.length - at};
        size_t length = 1;
        if (rest.length >= 8 && !json_strict_has_special(rest.data))
            length = 8;
        else if (*rest.data == '"')
            return at + 1;
        else if (*rest.data == '\\')
            length = json_escape_length(rest);
        else if (tv_bytes_control(rest) > 0)
            length = 0;
        else if (*rest.data >= 0x80)
            length = tv_bytes_utf8(rest);
        if (length == 0)
            return 0;
        at += length;
    }
    return 0;
}

/* Return the place after some digits. */
static size_t json_skip_digits(struct tv_bytes raw, size_t at)
{
    while (at < raw.length && raw.data[at] >= '0' && raw.data[at] <= '9')
        at++;
    return at;
}

/* Return the length of the number of RFC 8259 that the text begins with; 0: there is none. */
size_t tv_json_number_length(struct tv_bytes text)
{
    size_t whole = text.length > 0 && text.data[0] == '-', at = json_skip_digits(text, whole);
    if (at == whole || (text.data[whole] == '0' && at - whole > 1))
        return 0;
    if (at < text.length && text.data[at] == '.') {
        size_t fraction = at + 1;
        at = json_skip_digits(text, fraction);
        if (at == fraction)
            return 0;
    }
    if (at < text.length && (text.data[at] | 0x20) == 'e') {
        size_t power = at + 1;
        power += power < text.length && (text.data[power] == '+' || text.data[power] == '-');
        at = json_skip_digits(text, power);
        if (at == power)
            return 0;
    }
    return at;
}

/* Return the length of true, false or null; 0: another word. */
static size_t json_word_length(struct tv_bytes text)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < TV_COUNT(words); i++)
        if (tv_bytes_starts_with(text, tv_bytes_of(words[i])))
            return strlen(words[i]);
    return 0;
}

/* Return the place after the token that begins at `at`; 0: it is not a token of JSON. */
static size_t json_strict_skip_token(struct tv_bytes raw, size_t at, enum json_token kind)
{
    struct tv_bytes rest = {raw.data + at, raw.length - at};
    if (kind == STRING)
        return json_strict_skip_string(raw, at + 1);
    if (kind != NUMBER && kind != WORD)
        return at + 1;
    size_t length = kind == NUMBER ? tv_json_number_length(rest) : json_word_length(rest);
    return length > 0 ? at + length : 0;
}

/* True when the text is one strict value without control characters in its strings.  *spaced: there
 * is space between tokens. */
static bool json_strict_check(struct tv_bytes raw, bool *spaced)
{
    uint8_t state = BEGIN;
    unsigned depth = 0;
    uint64_t lists = 0; /* a bit for each level, the innermost lowest: set for an array */
    *spaced = false;
    for (size_t at = 0; at < raw.length;) {
        enum json_token kind = kinds[raw.data[at]];
        bool opens = kind == OPEN_OBJECT || kind == OPEN_LIST;
        if (kind == SPACE) {
            *spaced = true;
            at++;
            continue;
        }
        state = next_state[state][kind];
        at = json_strict_skip_token(raw, at, kind);
        if (state == REFUSED || at == 0 || (opens && depth == LEVELS))
            return false;
        if (opens) {
            lists = lists << 1 | (kind == OPEN_LIST);
            depth++;
        } else if (state == DONE && depth > 0) {
            lists >>= 1;
            depth--;
            state = depth == 0 ? DONE : lists & 1 ? BEHIND_ITEM : BEHIND_MEMBER;
        }
    }
    return state == DONE && depth == 0;
}

/* Copy the text in runs between white space.  Only strict text comes here, so each token is valid.
 */
static void json_strict_copy_tokens(struct tv_bytes raw, struct tv_out *out)
{
    size_t done = 0;
    for (size_t at = 0; at < raw.length;) {
        uint8_t kind = kinds[raw.data[at]];
        size_t next = kind == STRING ? json_strict_skip_string(raw, at + 1) : at + 1;
        assert(next > at); /* the text is strict */
        if (kind == SPACE) {
            tv_out_bytes(out, (struct tv_bytes){raw.data + done, at - done});
            done = next;
        }
        at = next;
    }
    tv_out_bytes(out, (struct tv_bytes){raw.data + done, raw.length - done});
}

void tv_json_compact(struct tv_bytes raw, struct tv_out *out, unsigned *faults)
{
    bool spaced;
    if (!json_strict_check(raw, &spaced)) {
        tv_json_normalise(raw, out, faults);
        return;
    }
    if (faults)
        *faults = 0;
    if (spaced)
        json_strict_copy_tokens(raw, out);
    else
        tv_out_bytes(out, raw);
}
