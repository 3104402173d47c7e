/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - LEB128, lines, comparisons, UTF-8, and numbers from text.
 *
 * bytes.h holds the short cursor functions inline; the longer ones are here.
 *
 * Texts are untrusted, and every function says whether it understood all of its text: a number with
 * a letter in it, or with too many digits, is none.  Nothing here depends on the locale, allocates,
 * or needs a NUL at the end.
 *
 * LEB128, lowest group first; bit 7 says that another byte follows:
 *
 *     300 = 10 0101100b    1|0101100  0|0000010
 *      -2 = ...1111110b    0|1111110  bit 6 of the last byte is the sign
 *
 * A second spelling of the same number is read, but not bits that 64 bits do not hold.
 */
#include "base/bytes.h"

#include <assert.h>

/* A 64-bit LEB128 number has at most ten groups of seven bits; the tenth holds one bit. */
#define LEB_MAX 10

/* Read the LEB128 number at the cursor without moving it.  *size is its length in bytes.  Return
 * false when the bytes end first.  The caller judges *last, the byte that ended the number, because
 * signed and unsigned numbers allow different tenth bytes. */
static bool cursor_read_leb128(const struct tv_cursor *cursor, uint64_t *bits, unsigned *size,
                               uint8_t *last)
{
    size_t left = tv_cursor_left(cursor);
    unsigned most = left < LEB_MAX ? (unsigned)left : LEB_MAX;
    uint64_t value = 0;
    for (unsigned i = 0; i < most; i++) {
        uint8_t byte = cursor->at[i];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *bits = value;
            *size = i + 1;
            *last = byte;
            return true;
        }
    }
    return false;
}

bool tv_cursor_take_long_uleb(struct tv_cursor *cursor, uint64_t *value)
{
    uint64_t bits;
    unsigned size;
    uint8_t last;
    if (!cursor_read_leb128(cursor, &bits, &size, &last))
        return false;
    if (size == LEB_MAX && last > 1)
        return false;
    *value = bits;
    cursor->at += size;
    return true;
}

bool tv_cursor_take_long_sleb(struct tv_cursor *cursor, int64_t *value)
{
    uint64_t bits;
    unsigned size;
    uint8_t last;
    if (!cursor_read_leb128(cursor, &bits, &size, &last))
        return false;
    /* All bits above bit 63 must be copies of the sign. */
    if (size == LEB_MAX && last != 0 && last != 0x7f)
        return false;
    if (size < LEB_MAX && (last & 0x40) != 0)
        bits |= UINT64_MAX << (7 * size);
    memcpy(value, &bits, sizeof bits);
    cursor->at += size;
    return true;
}

bool tv_cursor_take_line(struct tv_cursor *cursor, struct tv_bytes *line)
{
    size_t left = tv_cursor_left(cursor);
    if (left == 0)
        return false;
    const uint8_t *newline = memchr(cursor->at, '\n', left);
    size_t length = newline == NULL ? left : (size_t)(newline - cursor->at);
    *line = (struct tv_bytes){cursor->at, length};
    cursor->at += newline == NULL ? length : length + 1;
    return true;
}

bool tv_bytes_split(struct tv_bytes *bytes, uint8_t separator, struct tv_bytes *head)
{
    *head = *bytes;
    if (bytes->length == 0)
        return false;
    const uint8_t *found = memchr(bytes->data, separator, bytes->length);
    if (found == NULL) {
        *bytes = (struct tv_bytes){bytes->data + bytes->length, 0};
        return false;
    }
    head->length = (size_t)(found - bytes->data);
    *bytes = (struct tv_bytes){found + 1, bytes->length - head->length - 1};
    return true;
}

bool tv_bytes_equal(struct tv_bytes a, struct tv_bytes b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

bool tv_bytes_starts_with(struct tv_bytes bytes, struct tv_bytes prefix)
{
    if (bytes.length < prefix.length)
        return false;
    return prefix.length == 0 || memcmp(bytes.data, prefix.data, prefix.length) == 0;
}

int tv_bytes_compare(struct tv_bytes a, struct tv_bytes b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    if (order != 0)
        return order;
    return (a.length > b.length) - (a.length < b.length);
}

size_t tv_bytes_utf8(struct tv_bytes bytes)
{
    uint8_t lead = bytes.data[0];
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (bytes.length < length)
        return 0;
    uint8_t lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (bytes.data[1] < lowest || bytes.data[1] > highest)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((bytes.data[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

struct tv_bytes tv_bytes_base_name(struct tv_bytes path)
{
    struct tv_bytes part;
    while (tv_bytes_split(&path, '/', &part))
        ;
    return part;
}

struct tv_bytes tv_bytes_trim(struct tv_bytes bytes)
{
    while (bytes.length > 0 && tv_is_space(bytes.data[0])) {
        bytes.data++;
        bytes.length--;
    }
    while (bytes.length > 0 && tv_is_space(bytes.data[bytes.length - 1]))
        bytes.length--;
    return bytes;
}

struct tv_bytes tv_bytes_take_word(struct tv_bytes *bytes)
{
    size_t length = 0;
    while (bytes->length > 0 && tv_is_blank(bytes->data[0])) {
        bytes->data++;
        bytes->length--;
    }
    while (length < bytes->length && !tv_is_blank(bytes->data[length]))
        length++;
    struct tv_bytes word = {bytes->data, length};
    if (length > 0)
        bytes->data += length;
    bytes->length -= length;
    return word;
}

/*
 * ---- Numbers from text ----
 */

static bool number_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

bool tv_parse_u64(struct tv_bytes text, uint64_t *value)
{
    uint64_t number = 0;
    if (text.length == 0)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (!number_is_digit(text.data[i]))
            return false;
        unsigned digit = text.data[i] - '0';
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *value = number;
    return true;
}

/* Remove a leading '-' and return whether there was one. */
static bool number_take_minus(struct tv_bytes *text)
{
    if (text->length == 0 || text->data[0] != '-')
        return false;
    text->data++;
    text->length--;
    return true;
}

/* Store magnitude or -magnitude.  Return false when an int64_t cannot hold it. */
static bool number_apply_sign(uint64_t magnitude, bool negative, int64_t *value)
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
    bool negative = number_take_minus(&text);
    uint64_t magnitude;
    return tv_parse_u64(text, &magnitude) && number_apply_sign(magnitude, negative, value);
}

int tv_hex_digit(uint8_t c)
{
    if (number_is_digit(c))
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
        int digit = tv_hex_digit(text.data[i]);
        if (digit < 0 || number >> 60 != 0)
            return false;
        number = number << 4 | (uint64_t)digit;
    }
    *value = number;
    return true;
}

/* Remove a time unit from the end of the text and return its nanoseconds, or `unit_ns` when there
 * is none. */
static tv_ns number_take_time_unit(struct tv_bytes *text, tv_ns unit_ns)
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

/* Compute 0.<digits> * unit, rounded down; *exact tells whether rounding lost nothing.  The loop
 * runs from the last digit to the first: rounding down at each step gives the same result as
 * rounding the sum once. */
static bool number_parse_fraction(struct tv_bytes digits, uint64_t unit, uint64_t *value,
                                  bool *exact)
{
    uint64_t part = 0;
    *exact = true;
    for (size_t i = digits.length; i-- > 0;) {
        if (!number_is_digit(digits.data[i]))
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
    uint64_t unit = (uint64_t)number_take_time_unit(&text, unit_ns);
    bool negative = number_take_minus(&text);

    struct tv_bytes whole_digits;
    bool has_point = tv_bytes_split(&text, '.', &whole_digits);
    if (has_point && text.length == 0)
        return false;
    uint64_t whole = 0, fraction = 0;
    bool exact = true;
    bool bare_point = has_point && whole_digits.length == 0; /* ".5" */
    if (!bare_point && !tv_parse_u64(whole_digits, &whole))
        return false;
    if (has_point && !number_parse_fraction(text, unit, &fraction, &exact))
        return false;

    if (negative && !exact)
        fraction++;
    if (whole > (UINT64_MAX - fraction) / unit)
        return false;
    return number_apply_sign(whole * unit + fraction, negative, value);
}

/* A letter after a number that multiplies it, as the K in "50K". */
struct number_suffix {
    char letter;
    uint64_t factor;
};

/* Parse "1.5M": digits, a fraction and one of the letters.  Without a letter there is no fraction.
 * False: malformed, or more than 64 bits. */
static bool number_parse_scaled(struct tv_bytes text, const struct number_suffix *letters,
                                size_t count, uint64_t *value)
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
    if (has_point && (factor == 1 || text.length == 0 ||
                      !number_parse_fraction(text, factor, &fraction, &exact)))
        return false;
    if (!tv_parse_u64(whole, &number) || number > (UINT64_MAX - fraction) / factor)
        return false;
    *value = number * factor + fraction;
    return true;
}

bool tv_parse_size(struct tv_bytes text, uint64_t *bytes)
{
    static const struct number_suffix letters[] = {
        {'K', UINT64_C(1) << 10}, {'M', UINT64_C(1) << 20}, {'G', UINT64_C(1) << 30},
        {'T', UINT64_C(1) << 40}, {'k', UINT64_C(1) << 10}, {'m', UINT64_C(1) << 20},
        {'g', UINT64_C(1) << 30}, {'t', UINT64_C(1) << 40},
    };
    return number_parse_scaled(text, letters, TV_COUNT(letters), bytes);
}

bool tv_parse_seconds(struct tv_bytes text, uint64_t *seconds)
{
    static const struct number_suffix letters[] = {
        {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 24 * 3600}, {'w', 7 * 24 * 3600},
    };
    return number_parse_scaled(text, letters, TV_COUNT(letters), seconds);
}
