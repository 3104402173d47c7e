/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - what words and strings of JSON text are, and what is wrong with them. */
#include <string.h>

#include "base/bytes.h"
#include "base/number.h"
#include "readers/json/walk.h"

/* ---- Words ---- */

/* The parts of a number; all that is lenient about it is in them. */
struct json_number {
    bool negative, plus, point;
    struct tv_bytes whole, fraction;
    struct tv_bytes exponent; /* with its letter and sign, or empty */
};

static struct tv_bytes json_number_take_digits(struct tv_cursor *text)
{
    const uint8_t *start = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9')
        text->at++;
    return (struct tv_bytes){start, (size_t)(text->at - start)};
}

static bool json_take_any_of(struct tv_cursor *text, const char *wanted)
{
    if (text->at == text->end || *text->at == '\0' || !strchr(wanted, *text->at))
        return false;
    text->at++;
    return true;
}

static bool json_number_split(struct tv_bytes word, struct json_number *number)
{
    struct tv_cursor text = tv_cursor_over(word);
    *number = (struct json_number){.negative = json_take_any_of(&text, "-")};
    number->plus = !number->negative && json_take_any_of(&text, "+");
    number->whole = json_number_take_digits(&text);
    number->point = json_take_any_of(&text, ".");
    number->fraction = number->point ? json_number_take_digits(&text) : (struct tv_bytes){NULL, 0};
    if (number->whole.length + number->fraction.length == 0)
        return false;
    const uint8_t *start = text.at;
    if (json_take_any_of(&text, "eE")) {
        (void)json_take_any_of(&text, "+-");
        if (json_number_take_digits(&text).length == 0)
            return false;
        number->exponent = (struct tv_bytes){start, (size_t)(text.at - start)};
    }
    return text.at == text.end;
}

static size_t json_number_leading_zeros(struct tv_bytes whole)
{
    size_t zeros = 0;
    while (zeros + 1 < whole.length && whole.data[zeros] == '0')
        zeros++;
    return zeros;
}

static bool json_number_is_strict(const struct json_number *number)
{
    return !number->plus && number->whole.length > 0 && json_number_leading_zeros(number->whole) == 0 &&
           (!number->point || number->fraction.length > 0);
}

static bool json_word_is_infinite(struct tv_bytes word)
{
    return tv_bytes_equal(word, TV_BYTES("NaN")) || tv_bytes_equal(word, TV_BYTES("Infinity")) ||
           tv_bytes_equal(word, TV_BYTES("-Infinity"));
}

enum tv_json_type tv_json_judge_word(struct tv_json_walk *walk, struct tv_bytes word)
{
    struct json_number number;
    if (json_number_split(word, &number)) {
        if (!json_number_is_strict(&number))
            tv_json_blame(walk, TV_JSON_FAULT_NUMBER, word.data);
        return TV_JSON_NUMBER;
    }
    if (tv_bytes_equal(word, TV_BYTES("null")))
        return TV_JSON_NULL;
    if (tv_bytes_equal(word, TV_BYTES("true")))
        return TV_JSON_TRUE;
    if (tv_bytes_equal(word, TV_BYTES("false")))
        return TV_JSON_FALSE;
    if (json_word_is_infinite(word)) {
        tv_json_blame(walk, TV_JSON_FAULT_INFINITE, word.data);
        return TV_JSON_NUMBER;
    }
    tv_json_blame(walk, TV_JSON_FAULT_WORD, word.data);
    return TV_JSON_WORD;
}

void tv_json_number_write(struct tv_out *out, struct tv_bytes word)
{
    struct json_number number;
    if (!json_number_split(word, &number)) {
        tv_out_json(out, word);
        return;
    }
    if (json_number_is_strict(&number)) {
        tv_out_bytes(out, word);
        return;
    }
    size_t zeros = json_number_leading_zeros(number.whole);
    if (number.negative)
        tv_out_char(out, '-');
    if (number.whole.length == 0)
        tv_out_char(out, '0');
    tv_out_bytes(out, (struct tv_bytes){number.whole.data + zeros, number.whole.length - zeros});
    if (number.fraction.length > 0) {
        tv_out_char(out, '.');
        tv_out_bytes(out, number.fraction);
    }
    tv_out_bytes(out, number.exponent);
}

/* ---- Strings ---- */

static bool json_take_utf16_unit(struct tv_cursor *text, uint64_t *unit)
{
    struct tv_cursor ahead = *text;
    struct tv_bytes digits;
    if (!tv_cursor_take_bytes(&ahead, 4, &digits) || (digits.data[1] | 0x20) == 'x' ||
        !tv_parse_hex(digits, unit))
        return false;
    *text = ahead;
    return true;
}

/* Behind "\u". */
static void json_lexer_validate_unicode(struct tv_json_walk *walk, struct tv_cursor *text)
{
    const uint8_t *place = text->at - 2;
    uint64_t high, low;
    if (!json_take_utf16_unit(text, &high)) {
        tv_json_blame(walk, TV_JSON_FAULT_ESCAPE, place);
        return;
    }
    if (high < 0xd800 || high > 0xdfff)
        return;
    struct tv_cursor ahead = *text;
    struct tv_bytes mark;
    if (high < 0xdc00 && tv_cursor_take_bytes(&ahead, 2, &mark) &&
        tv_bytes_equal(mark, TV_BYTES("\\u")) && json_take_utf16_unit(&ahead, &low) && low >= 0xdc00 &&
        low <= 0xdfff)
        *text = ahead;
    else
        tv_json_blame(walk, TV_JSON_FAULT_SURROGATE, place);
}

/* Behind a backslash. */
static void json_lexer_validate_escape(struct tv_json_walk *walk, struct tv_cursor *text)
{
    const uint8_t *place = text->at - 1;
    if (json_take_any_of(text, "u")) {
        json_lexer_validate_unicode(walk, text);
        return;
    }
    if (json_take_any_of(text, "\"\\/bfnrt"))
        return;
    tv_json_blame(walk, TV_JSON_FAULT_ESCAPE, place);
    /* Else it is judged again, as what it stands for: itself. */
    if (text->at < text->end && *text->at >= ' ' && *text->at < 0x80)
        text->at++;
}

void tv_json_judge_string(struct tv_json_walk *walk, struct tv_bytes raw)
{
    uint8_t quote = raw.data[0], c;
    struct tv_cursor text = tv_cursor_over(raw);
    text.at++; /* the closing quote, or whatever there is at the end, harms nobody */
    while (tv_cursor_take_u8(&text, &c)) {
        if (c == '\\') {
            json_lexer_validate_escape(walk, &text);
        } else if (c < ' ') {
            tv_json_blame(walk, TV_JSON_FAULT_CONTROL, text.at - 1);
        } else if (c >= 0x80) {
            size_t left = tv_cursor_left(&text) + 1;
            size_t length = tv_bytes_utf8((struct tv_bytes){text.at - 1, left});
            if (length == 0)
                tv_json_blame(walk, TV_JSON_FAULT_UTF8, text.at - 1);
            else
                text.at += length - 1;
        } else if (c == quote) {
            return;
        }
    }
}
