/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - one pass over JSON of known structure.
 *
 * The stream is a position in the text and a flag.  Errors need no handling at each step: `bad`
 * stays set, and every function then returns false or 0, so the loops of a reader end by
 * themselves.  The reader looks at the flag once, at the end.
 *
 * A value that nobody wants is skipped without being looked at.  An object or array is skipped by
 * counting brackets, 16 bytes at a time, so depth costs no stack:
 *
 *     {"a": [1, {"b": "}"}], "c": 3}     the string "}" is skipped as a string
 *     1     2   3        21        0     open brackets
 *
 * '{' and '[' differ in bit 5 only, as do '}' and ']', so one comparison finds both.  The price is
 * that the kinds of brackets are not paired: "[1}" passes as one value when it is skipped.
 *
 * A number is computed from its decimal digits, not through a double, because times in nanoseconds
 * since 1970 need 61 bits and a double has 53.
 */
#include "readers/json/stream.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/trace_event/text/scan.h"

/* 18 decimal digits always fit into 63 bits. */
#define DIGITS_MAX 18

static const int64_t powers[DIGITS_MAX + 1] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
};

struct tv_json_stream tv_json_stream_over(struct tv_bytes text)
{
    const uint8_t *end = text.length == 0 ? text.data : text.data + text.length;
    struct tv_json_stream stream = {text.data, text.data, end, false};
    if (tv_bytes_starts_with(text, TV_BYTES("\xef\xbb\xbf")))
        stream.at += 3;
    return stream;
}

struct tv_json_stream tv_json_stream_at(const struct tv_json_stream *stream, size_t offset)
{
    assert(offset <= (size_t)(stream->end - stream->start));
    return (struct tv_json_stream){stream->start, stream->start + offset, stream->end, false};
}

/* A text that ends where a value or a bracket must follow is bad. */
static inline void json_stream_skip_space(struct tv_json_stream *stream)
{
    while (stream->at < stream->end && (*stream->at == ' ' || *stream->at == '\n' ||
                                        *stream->at == '\r' || *stream->at == '\t'))
        stream->at++;
    if (stream->at == stream->end)
        stream->bad = true;
}

uint8_t tv_json_peek(struct tv_json_stream *stream)
{
    json_stream_skip_space(stream);
    return stream->bad ? 0 : *stream->at;
}

/* ---- Skipping ---- */

/* Return the next byte at or after `at` that is a quote or backslash, or the end. */
static const uint8_t *json_stream_find_quote(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 16; at += 16) {
        tv_sixteen bytes = tv_sixteen_load(at);
        uint32_t found = tv_sixteen_find(bytes, '"') | tv_sixteen_find(bytes, '\\');
        if (found)
            return at + tv_scan_lowest_bit(found);
    }
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* Skip the string that begins here.  A backslash takes the next byte with it: for \uXXXX that is
 * enough, as none of the digits is a quote. */
static void json_stream_skip_string(struct tv_json_stream *stream)
{
    const uint8_t *at = json_stream_find_quote(stream->at + 1, stream->end);
    while (at < stream->end && *at == '\\')
        at = stream->end - at < 2 ? stream->end : json_stream_find_quote(at + 2, stream->end);
    stream->bad = stream->bad || at == stream->end;
    stream->at = at == stream->end ? at : at + 1;
}

/* Return the next quote or bracket, or the end. */
static const uint8_t *json_stream_find_mark(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 16; at += 16) {
        tv_sixteen bytes = tv_sixteen_load(at);
        tv_sixteen braces = tv_sixteen_or(bytes, 0x20);
        uint32_t found = tv_sixteen_find(bytes, '"') | tv_sixteen_find(braces, '{') |
                         tv_sixteen_find(braces, '}');
        if (found)
            return at + tv_scan_lowest_bit(found);
    }
    while (at < end && *at != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}')
        at++;
    return at;
}

/* Skip the object or array that begins here. */
static void json_stream_skip_nested(struct tv_json_stream *stream)
{
    uint64_t depth = 0;
    while ((stream->at = json_stream_find_mark(stream->at, stream->end)) < stream->end) {
        uint8_t c = *stream->at;
        if (c == '"') {
            json_stream_skip_string(stream);
            continue;
        }
        stream->at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return;
    }
    stream->bad = true;
}

/* Return whether the byte may belong to a number, true, false or null.  Skipping does not check the
 * word any further. */
static bool json_stream_is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

/* Skip a number or word; text that is neither is bad. */
static void json_stream_skip_word(struct tv_json_stream *stream)
{
    const uint8_t *start = stream->at;
    while (stream->at < stream->end && json_stream_is_word(*stream->at))
        stream->at++;
    stream->bad = stream->bad || stream->at == start;
}

void tv_json_skip(struct tv_json_stream *stream)
{
    uint8_t c = tv_json_peek(stream);
    if (stream->bad)
        return;
    if (c == '"')
        json_stream_skip_string(stream);
    else if (c == '{' || c == '[')
        json_stream_skip_nested(stream);
    else
        json_stream_skip_word(stream);
}

struct tv_bytes tv_json_take_raw(struct tv_json_stream *stream)
{
    (void)tv_json_peek(stream);
    const uint8_t *start = stream->at;
    tv_json_skip(stream);
    return (struct tv_bytes){start, (size_t)(stream->at - start)};
}

/* ---- Objects and arrays ---- */

bool tv_json_open(struct tv_json_stream *stream, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    if (tv_json_peek(stream) == (uint8_t)bracket && !stream->bad) {
        stream->at++;
        return true;
    }
    tv_json_skip(stream);
    return false;
}

/* Move to the next item; false, after the bracket, when there is none.  A comma is optional here:
 * one rule serves the first item, which has none, and all others. */
static bool json_stream_next_item(struct tv_json_stream *stream, uint8_t closing)
{
    uint8_t c = tv_json_peek(stream);
    if (c == ',' && !stream->bad) {
        stream->at++;
        c = tv_json_peek(stream);
    }
    if (stream->bad)
        return false;
    if (c != closing)
        return true;
    stream->at++;
    return false;
}

bool tv_json_take_element(struct tv_json_stream *stream)
{
    return json_stream_next_item(stream, ']');
}

bool tv_json_take_key(struct tv_json_stream *stream, struct tv_bytes *key)
{
    if (!json_stream_next_item(stream, '}'))
        return false;
    const uint8_t *start = stream->at;
    if (*start == '"')
        json_stream_skip_string(stream);
    else
        stream->bad = true;
    if (stream->bad)
        return false;
    *key = (struct tv_bytes){start + 1, (size_t)(stream->at - start) - 2};
    if (tv_json_peek(stream) == ':')
        stream->at++;
    else
        stream->bad = true;
    return !stream->bad;
}

bool tv_json_find_members(struct tv_json_stream *stream, struct tv_json_member *members,
                          size_t count)
{
    struct tv_bytes key;
    for (size_t i = 0; i < count; i++)
        members[i].offset = TV_NO_OFFSET;
    if (!tv_json_open(stream, '{'))
        return false;
    while (tv_json_take_key(stream, &key)) {
        (void)tv_json_peek(stream);
        for (size_t i = 0; i < count; i++)
            if (tv_bytes_equal(key, tv_bytes_of(members[i].key)))
                members[i].offset = tv_json_stream_offset(stream);
        tv_json_skip(stream);
    }
    return true;
}

/* ---- Numbers ---- */

/* The digits of a number: its first 18 that matter, or 19 if they fit into 63 bits, and where its
 * decimal point stands. */
struct json_decimal {
    int64_t digits;
    int64_t exponent; /* of ten, that the digits are multiplied with */
    unsigned count;
    bool negative, any;
    bool cut; /* a digit was dropped, as 63 bits cannot hold it with those before */
};

/* Far beyond every 64-bit number, and small enough that sums of exponents cannot overflow. */
#define EXPONENT_MAX 100000

/* Add a digit.  Leading zeros do not use up digits.  Further digits of the integer part only
 * raise the exponent, and further decimals are dropped. */
static void json_decimal_add(struct json_decimal *decimal, uint8_t digit, bool fraction)
{
    decimal->any = true;
    if (!decimal->cut &&
        (decimal->count < DIGITS_MAX || decimal->digits <= (INT64_MAX - digit) / 10)) {
        decimal->digits = decimal->digits * 10 + digit;
        decimal->count += decimal->digits > 0;
        decimal->exponent -= fraction;
    } else {
        decimal->cut = true;
        decimal->exponent += !fraction && decimal->exponent < EXPONENT_MAX;
    }
}

/* Read the exponent after "e"; false: it has no digits. */
static bool json_decimal_read_exponent(struct json_decimal *decimal, const uint8_t *at,
                                       const uint8_t *end)
{
    int64_t exponent = 0;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end)
        return false;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*at - '0') : exponent;
    decimal->exponent += negative ? -exponent : exponent;
    return at == end;
}

/* Read [-]digits[.digits][e[+-]digits]; false: the text is not such a number. */
static bool json_decimal_read(struct json_decimal *decimal, struct tv_bytes raw)
{
    const uint8_t *at = raw.data, *end = at + raw.length;
    bool fraction = false;
    decimal->negative = at < end && *at == '-';
    at += decimal->negative;
    for (; at < end; at++) {
        if (*at >= '0' && *at <= '9')
            json_decimal_add(decimal, (uint8_t)(*at - '0'), fraction);
        else if (*at == '.' && !fraction)
            fraction = true;
        else
            break;
    }
    if (at < end && (*at == 'e' || *at == 'E'))
        return decimal->any && json_decimal_read_exponent(decimal, at + 1, end);
    return decimal->any && at == end;
}

bool tv_json_parse_number(struct tv_bytes raw, unsigned digits, int64_t *value)
{
    assert(digits <= DIGITS_MAX);
    struct json_decimal decimal = {0};
    if (raw.length == 0 || !json_decimal_read(&decimal, raw))
        return false;
    int64_t exponent = decimal.exponent + digits, result = decimal.digits;
    /* Ten times the digits and the one that was cut do not fit. */
    if (exponent > 0 && (decimal.cut || exponent > DIGITS_MAX) && result > 0)
        result = INT64_MAX;
    else if (exponent > 0 && result > 0)
        result = result > INT64_MAX / powers[exponent] ? INT64_MAX : result * powers[exponent];
    else if (exponent < -DIGITS_MAX)
        result = exponent == -DIGITS_MAX - 1 && result >= 5 * powers[DIGITS_MAX];
    else if (exponent < 0)
        result = result / powers[-exponent] + (result % powers[-exponent] >= powers[-exponent] / 2);
    *value = decimal.negative ? -result : result;
    return true;
}

/* Take a plain integer of at most 15 digits, as nearly all numbers of profiles are. */
static inline bool json_stream_take_integer(struct tv_json_stream *stream, unsigned digits,
                                            int64_t *value)
{
    const uint8_t *at = stream->at;
    bool negative = at < stream->end && *at == '-';
    at += negative;
    const uint8_t *first = at;
    int64_t result = 0;
    for (; at < stream->end && *at >= '0' && *at <= '9' && at - first <= 15; at++)
        result = result * 10 + (*at - '0');
    if (at == first || at - first > 15 || digits > 3 || at == stream->end ||
        json_stream_is_word(*at))
        return false;
    stream->at = at;
    *value = (negative ? -result : result) * powers[digits];
    return true;
}

bool tv_json_take_number(struct tv_json_stream *stream, unsigned digits, int64_t *value)
{
    uint8_t c = tv_json_peek(stream);
    if (stream->bad)
        return false;
    if (json_stream_take_integer(stream, digits, value))
        return true;
    if (c != '-' && (c < '0' || c > '9')) {
        tv_json_skip(stream);
        return false;
    }
    return tv_json_parse_number(tv_json_take_raw(stream), digits, value);
}
