/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c - integers and times from decimal text.
 */
#include "base/number.h"

#include <assert.h>

#include "base/bytes.h"

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

bool tv_parse_u64(struct tv_bytes text, uint64_t *value)
{
    uint64_t number = 0;
    if (text.length == 0)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (!is_digit(text.data[i]))
            return false;
        unsigned digit = text.data[i] - '0';
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *value = number;
    return true;
}

/* Takes a '-' away; whether there was one. */
static bool take_minus(struct tv_bytes *text)
{
    if (text->length == 0 || text->data[0] != '-')
        return false;
    text->data++;
    text->length--;
    return true;
}

/* magnitude or -magnitude, if an int64 holds it. */
static bool with_sign(uint64_t magnitude, bool negative, int64_t *value)
{
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    if (!negative)
        *value = (int64_t)magnitude;
    else
        *value = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    return true;
}

bool tv_parse_i64(struct tv_bytes text, int64_t *value)
{
    bool negative = take_minus(&text);
    uint64_t magnitude;
    return tv_parse_u64(text, &magnitude) && with_sign(magnitude, negative, value);
}

static int hex_digit(uint8_t c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool tv_parse_hex(struct tv_bytes text, uint64_t *value)
{
    uint64_t number = 0;
    if (tv_bytes_starts_with(text, TV_BYTES("0x")) || tv_bytes_starts_with(text, TV_BYTES("0X"))) {
        text.data += 2;
        text.length -= 2;
    }
    if (text.length == 0)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        int digit = hex_digit(text.data[i]);
        if (digit < 0 || number >> 60 != 0)
            return false;
        number = number << 4 | (uint64_t)digit;
    }
    *value = number;
    return true;
}

/* Takes a unit from the end of the text. */
static tv_ns take_unit(struct tv_bytes *text, tv_ns unit_ns)
{
    static const struct {
        struct tv_bytes name;
        tv_ns ns;
    } units[] = {
        {{(const uint8_t *)"ns", 2}, 1},
        {{(const uint8_t *)"us", 2}, 1000},
        {{(const uint8_t *)"ms", 2}, 1000000},
        {{(const uint8_t *)"s", 1}, 1000000000},
    };
    for (size_t i = 0; i < TV_COUNT(units); i++) {
        size_t length = units[i].name.length;
        if (text->length < length)
            continue;
        struct tv_bytes end = {text->data + text->length - length, length};
        if (tv_bytes_equal(end, units[i].name)) {
            text->length -= length;
            return units[i].ns;
        }
    }
    return unit_ns;
}

/* 0.<digits> * unit, rounded down; *exact says whether nothing was lost.  From the last digit to
 * the first, as a fraction of a fraction rounds down to the same whole. */
static bool parse_fraction(struct tv_bytes digits, uint64_t unit, uint64_t *value, bool *exact)
{
    uint64_t part = 0;
    *exact = true;
    for (size_t i = digits.length; i-- > 0;) {
        if (!is_digit(digits.data[i]))
            return false;
        part += (unsigned)(digits.data[i] - '0') * unit;
        if (part % 10 != 0)
            *exact = false;
        part /= 10;
    }
    *value = part;
    return true;
}

bool tv_parse_time(struct tv_bytes text, tv_ns unit_ns, tv_ns *value)
{
    assert(unit_ns > 0 && unit_ns <= INT64_MAX / 10);
    uint64_t unit = (uint64_t)take_unit(&text, unit_ns);
    bool negative = take_minus(&text);

    struct tv_bytes whole_digits;
    bool has_point = tv_bytes_split(&text, '.', &whole_digits);
    if (has_point && text.length == 0)
        return false;
    uint64_t whole = 0, fraction = 0;
    bool exact = true;
    bool bare_point = has_point && whole_digits.length == 0; /* ".5" */
    if (!bare_point && !tv_parse_u64(whole_digits, &whole))
        return false;
    if (has_point && !parse_fraction(text, unit, &fraction, &exact))
        return false;

    if (negative && !exact)
        fraction++;
    if (whole > (UINT64_MAX - fraction) / unit)
        return false;
    return with_sign(whole * unit + fraction, negative, value);
}

/* Digits, and perhaps a letter behind them that multiplies, and then a fraction. */
struct multiple {
    char letter;
    uint64_t factor;
};

static bool parse_multiple(struct tv_bytes text, const struct multiple *letters, size_t count,
                           uint64_t *value)
{
    uint64_t factor = 1, number, fraction = 0;
    struct tv_bytes whole;
    bool exact;
    for (size_t i = 0; i < count && text.length > 0; i++) {
        if (text.data[text.length - 1] != (uint8_t)letters[i].letter)
            continue;
        factor = letters[i].factor;
        text.length--;
        break;
    }
    bool has_point = tv_bytes_split(&text, '.', &whole);
    if (has_point &&
        (factor == 1 || text.length == 0 || !parse_fraction(text, factor, &fraction, &exact)))
        return false;
    if (!tv_parse_u64(whole, &number) || number > (UINT64_MAX - fraction) / factor)
        return false;
    *value = number * factor + fraction;
    return true;
}

bool tv_parse_size(struct tv_bytes text, uint64_t *bytes)
{
    static const struct multiple letters[] = {
        {'K', UINT64_C(1) << 10}, {'M', UINT64_C(1) << 20}, {'G', UINT64_C(1) << 30},
        {'T', UINT64_C(1) << 40}, {'k', UINT64_C(1) << 10}, {'m', UINT64_C(1) << 20},
        {'g', UINT64_C(1) << 30}, {'t', UINT64_C(1) << 40},
    };
    return parse_multiple(text, letters, TV_COUNT(letters), bytes);
}

bool tv_parse_seconds(struct tv_bytes text, uint64_t *seconds)
{
    static const struct multiple letters[] = {
        {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 24 * 3600}, {'w', 7 * 24 * 3600},
    };
    return parse_multiple(text, letters, TV_COUNT(letters), seconds);
}
