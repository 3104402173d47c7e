/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - numbers, times, texts and colours of single values.
 *
 *     raw              time in ns    text
 *     12               12000         12
 *     12.345           12345         12.345
 *     "12.5"           12500         12.5        a string, as some writers have it
 *     1.5e3            1500000       1500
 *     0x10             16000         16
 *     "a\u0062c"       none          abc
 *
 * Times are exact: they are computed from the decimal digits, never through a double, which could
 * not hold nanoseconds since the epoch.  The usual forms, integers and three decimals, have paths
 * of their own, because every event has a time.
 *
 * A time beyond TV_TE_LATEST is none, so that differences of times never overflow.
 */
#include "readers/trace_event/text/values.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

/* ---- Numbers ---- */

/* A decimal number: its digits, and the exponent that shifts the point. */
struct te_decimal {
    struct tv_bytes digits; /* may contain one '.' */
    int64_t exponent;
    bool negative;
};

/* Longer texts do not count as numbers: nobody writes them, and every digit costs time. */
#define LONGEST_NUMBER 400

static bool te_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Return the digits: of a string, the text between its quotes. */
static struct tv_bytes te_number_text(struct tv_bytes raw)
{
    if (tv_te_is_string(raw) && raw.length >= 2)
        return (struct tv_bytes){raw.data + 1, raw.length - 2};
    return raw;
}

/* Take a sign; true: it is '-'. */
static bool te_take_sign(struct tv_bytes *text)
{
    if (text->length == 0 || (text->data[0] != '-' && text->data[0] != '+'))
        return false;
    bool negative = text->data[0] == '-';
    text->data++;
    text->length--;
    return negative;
}

/* Parse an exponent.  One beyond a million means the same as a million: no time or integer. */
static bool te_parse_exponent(struct tv_bytes text, int64_t *exponent)
{
    bool negative = te_take_sign(&text);
    uint64_t value = 0;
    if (text.length == 0)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (!te_is_digit(text.data[i]))
            return false;
        if (value < 1000000)
            value = value * 10 + (unsigned)(text.data[i] - '0');
    }
    *exponent = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* Parse a decimal number, leniently: "+5", ".5", "5." and leading zeros as well. */
static bool te_parse_decimal(struct tv_bytes text, struct te_decimal *decimal)
{
    size_t length = 0, digits = 0, points = 0;
    if (text.length > LONGEST_NUMBER)
        return false;
    decimal->negative = te_take_sign(&text);
    decimal->exponent = 0;
    for (; length < text.length && (te_is_digit(text.data[length]) || text.data[length] == '.');
         length++)
        if (text.data[length] == '.')
            points++;
        else
            digits++;
    decimal->digits = (struct tv_bytes){text.data, length};
    if (digits == 0 || points > 1)
        return false;
    if (length == text.length)
        return true;
    if ((text.data[length] | 0x20) != 'e')
        return false;
    struct tv_bytes exponent = {text.data + length + 1, text.length - length - 1};
    return te_parse_exponent(exponent, &decimal->exponent);
}

/* Hexadecimal numbers are not JSON, but ids are often written so, without quotes. */
bool tv_te_parse_hex(struct tv_bytes text, uint64_t *value)
{
    return text.length > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x' &&
           tv_parse_hex(text, value);
}

/* Append a digit; false: the number becomes larger than a time may be. */
static bool te_decimal_push_digit(uint64_t *magnitude, unsigned digit)
{
    assert(digit <= 9);
    if (*magnitude > ((uint64_t)TV_TE_LATEST - digit) / 10)
        return false;
    *magnitude = *magnitude * 10 + digit;
    return true;
}

/* Multiply by ten to the power of `shift`, and round half away from zero.  *exact: nothing was
 * lost. */
static bool te_decimal_to_integer(const struct te_decimal *decimal, int64_t shift, int64_t *value,
                                  bool *exact)
{
    assert(decimal->digits.length > 0);
    const uint8_t *digits = decimal->digits.data;
    size_t length = decimal->digits.length;
    const uint8_t *point = memchr(digits, '.', length);
    int64_t whole = (point ? point - digits : (int64_t)length) + decimal->exponent + shift;
    int64_t seen = 0;
    uint64_t magnitude = 0;
    bool up = false;
    *exact = true;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] == '.')
            continue;
        unsigned digit = (unsigned)(digits[i] - '0');
        if (seen >= whole) {
            up = up || (seen == whole && digit >= 5);
            *exact = *exact && digit == 0;
        } else if (!te_decimal_push_digit(&magnitude, digit)) {
            return false;
        }
        seen++;
    }
    for (; seen < whole && magnitude != 0; seen++)
        if (!te_decimal_push_digit(&magnitude, 0))
            return false;
    magnitude += up;
    *value = decimal->negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return magnitude <= (uint64_t)TV_TE_LATEST;
}

/* Parse a time that is not a plain run of digits. */
static TV_NOINLINE bool te_parse_odd_time(struct tv_bytes raw, int64_t *ns)
{
    struct te_decimal decimal;
    bool exact;
    uint64_t hex;
    struct tv_bytes text = te_number_text(raw);
    if (!tv_te_is_string(raw) && tv_te_parse_hex(text, &hex)) {
        if (hex > (uint64_t)TV_TE_LATEST / 1000)
            return false;
        *ns = (int64_t)(hex * 1000);
        return true;
    }
    return te_parse_decimal(text, &decimal) && te_decimal_to_integer(&decimal, 3, ns, &exact);
}

/* A 64-bit number holds any number of so many digits. */
#define SAFE_DIGITS 18

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* Join eight digits at once: to pairs, then fours, then all. */
TV_INLINE uint64_t te_join_digits(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8);
    digits = ((digits & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
              (digits >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
             32;
    return digits & UINT32_MAX;
}

/* Load eight digits; false: some byte is not a digit. */
TV_INLINE bool te_load_digits(const uint8_t *at, uint64_t *digits)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    *digits = word - UINT64_C(0x3030303030303030);
    return ((*digits | (word + UINT64_C(0x4646464646464646))) & UINT64_C(0x8080808080808080)) == 0;
}

/* Parse integers of 8 to 16 digits, which most times are. */
TV_INLINE bool te_parse_digits(struct tv_bytes raw, uint64_t *value)
{
    uint64_t high, low;
    if (raw.length < 8 || raw.length > 16 || !te_load_digits(raw.data, &high) ||
        !te_load_digits(raw.data + raw.length - 8, &low))
        return false;
    *value = te_join_digits(low);
    if (raw.length > 8) /* the shift drops the digits that both loads share */
        *value += te_join_digits(high << (16 - raw.length) * 8) * 100000000;
    return true;
}

#else

TV_INLINE bool te_parse_digits(struct tv_bytes raw, uint64_t *value)
{
    (void)raw, (void)value;
    return false;
}

#endif

bool tv_te_parse_time(struct tv_bytes raw, int64_t *ns)
{
    uint64_t value = 0;
    size_t i = 0;
    if (TV_LIKELY(te_parse_digits(raw, &value) && value < (uint64_t)TV_TE_LATEST / 1000)) {
        *ns = (int64_t)(value * 1000);
        return true;
    }
    value = 0;
    for (; i < raw.length && te_is_digit(raw.data[i]); i++)
        value = value * 10 + (unsigned)(raw.data[i] - '0');
    if (TV_LIKELY(i > 0 && i <= SAFE_DIGITS && value < (uint64_t)TV_TE_LATEST / 1000)) {
        size_t decimals = raw.length - i;
        if (decimals == 0) {
            *ns = (int64_t)(value * 1000);
            return true;
        }
        /* "12.345": nanoseconds, as most writers have them that write more than microseconds. */
        if (decimals == 4 && raw.data[i] == '.' && te_is_digit(raw.data[i + 1]) &&
            te_is_digit(raw.data[i + 2]) && te_is_digit(raw.data[i + 3])) {
            unsigned rest = (raw.data[i + 1] - '0') * 100u + (raw.data[i + 2] - '0') * 10u +
                            (raw.data[i + 3] - '0');
            *ns = (int64_t)(value * 1000 + rest);
            return true;
        }
    }
    return te_parse_odd_time(raw, ns);
}

/* Parse NaN and the infinities. */
static bool te_parse_number_name(struct tv_bytes text, double *value)
{
    bool negative = te_take_sign(&text);
    if (tv_bytes_equal(text, TV_BYTES("NaN")))
        *value = (double)NAN;
    else if (tv_bytes_equal(text, TV_BYTES("Infinity")))
        *value = negative ? -(double)INFINITY : (double)INFINITY;
    else
        return false;
    return true;
}

/* A double holds any integer of so many digits exactly. */
#define DOUBLE_DIGITS 15

/* Parse a short run of digits without strtod. */
static bool te_parse_plain_double(struct tv_bytes text, double *value)
{
    uint64_t number = 0;
    if (text.length == 0 || text.length > DOUBLE_DIGITS)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (!te_is_digit(text.data[i]))
            return false;
        number = number * 10 + (unsigned)(text.data[i] - '0');
    }
    *value = (double)number;
    return true;
}

bool tv_te_parse_number(struct tv_bytes raw, double *value)
{
    struct te_decimal decimal;
    uint64_t hex;
    char copy[LONGEST_NUMBER + 1];
    struct tv_bytes text = te_number_text(raw);
    if (te_parse_plain_double(text, value))
        return true;
    if (!tv_te_is_string(raw)) {
        if (te_parse_number_name(text, value))
            return true;
        if (tv_te_parse_hex(text, &hex)) {
            *value = (double)hex;
            return true;
        }
    }
    if (!te_parse_decimal(text, &decimal))
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    *value = strtod(copy, NULL);
    return true;
}

bool tv_te_parse_integer(struct tv_bytes raw, int64_t *value)
{
    struct te_decimal decimal;
    bool exact;
    uint64_t hex;
    struct tv_bytes text = te_number_text(raw);
    if (tv_te_parse_hex(text, &hex)) {
        *value = (int64_t)hex;
        return hex <= INT64_MAX;
    }
    return te_parse_decimal(text, &decimal) && te_decimal_to_integer(&decimal, 0, value, &exact) &&
           exact;
}

/* Is the value true in JavaScript? Objects and non-empty strings are. */
bool tv_te_is_true(struct tv_bytes raw)
{
    double number;
    if (raw.length == 0)
        return false;
    if (tv_te_is_string(raw))
        return raw.length > 2;
    if (tv_te_parse_number(raw, &number))
        return number < 0 || number > 0;
    return !tv_bytes_equal(raw, TV_BYTES("null")) && !tv_bytes_equal(raw, TV_BYTES("false"));
}

/* ---- Text ---- */

void tv_te_scratch_release(struct tv_te_scratch *scratch)
{
    tv_free(scratch->bytes);
    *scratch = (struct tv_te_scratch){NULL, 0};
}

/* Make room for a text; the previous one is gone. */
static uint8_t *te_scratch_reserve(struct tv_te_scratch *scratch, size_t size)
{
    scratch->bytes = tv_array_reserve(scratch->bytes, &scratch->capacity, size, 1);
    return scratch->bytes;
}

/* True for digits as JavaScript prints them, so that the text need not change. */
static bool te_is_plain_integer(struct tv_bytes raw)
{
    size_t sign = raw.length > 0 && raw.data[0] == '-';
    if (raw.length == sign || (raw.data[sign] == '0' && raw.length > 1))
        return false;
    for (size_t i = sign; i < raw.length; i++)
        if (!te_is_digit(raw.data[i]))
            return false;
    return true;
}

/* Parse a number that is an integer but is not written like one. */
static bool te_parse_whole(struct tv_bytes raw, int64_t *value)
{
    return (te_is_digit(raw.data[0]) || strchr("+-.", raw.data[0])) &&
           tv_te_parse_integer(raw, value);
}

/* Write a number as digits into the scratch. */
static struct tv_bytes te_digits_text(uint64_t magnitude, bool negative,
                                      struct tv_te_scratch *scratch)
{
    uint8_t *to = te_scratch_reserve(scratch, 24);
    size_t length = 0;
    if (negative)
        to[length++] = '-';
    length += tv_digits_u64(to + length, magnitude);
    return (struct tv_bytes){to, length};
}

/* Decode a bare value that is not a plain integer. */
static struct tv_bytes te_bare_text(struct tv_bytes raw, struct tv_te_scratch *scratch)
{
    int64_t whole;
    uint64_t hex;
    if (tv_te_parse_hex(raw, &hex)) /* also beyond the signed numbers */
        return te_digits_text(hex, false, scratch);
    if (!te_parse_whole(raw, &whole))
        return raw;
    return te_digits_text(whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole, whole < 0, scratch);
}

/* Take four hexadecimal digits; "0x12" is none, although tv_parse_hex takes it. */
static bool te_take_hex4(struct tv_cursor *text, uint32_t *code)
{
    struct tv_bytes digits;
    uint64_t value;
    struct tv_cursor ahead = *text;
    if (!tv_cursor_take_bytes(&ahead, 4, &digits) || digits.data[1] == 'x' ||
        digits.data[1] == 'X' || !tv_parse_hex(digits, &value))
        return false;
    *code = (uint32_t)value;
    *text = ahead;
    return true;
}

/* U+FFFD, the character for text that cannot be decoded. */
#define REPLACEMENT 0xfffdu

/* Decode the escape after its "\u"; half a surrogate pair alone is U+FFFD. */
static uint32_t te_take_unicode(struct tv_cursor *text)
{
    uint32_t high, low;
    if (!te_take_hex4(text, &high))
        return 'u';
    if (high < 0xd800 || high > 0xdfff)
        return high;
    struct tv_cursor ahead = *text;
    struct tv_bytes mark;
    if (high < 0xdc00 && tv_cursor_take_bytes(&ahead, 2, &mark) &&
        tv_bytes_equal(mark, TV_BYTES("\\u")) && te_take_hex4(&ahead, &low) && low >= 0xdc00 &&
        low <= 0xdfff) {
        *text = ahead;
        return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    }
    return REPLACEMENT;
}

/* Decode the escape after its backslash.  An unknown escape is the character itself. */
static uint32_t te_take_escape(struct tv_cursor *text)
{
    uint8_t c;
    if (!tv_cursor_take_u8(text, &c))
        return '\\';
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'u':
        return te_take_unicode(text);
    default:
        return c;
    }
}

/* Decode in place of at most the same length: no escape is shorter than its character. */
static struct tv_bytes te_decode_string(struct tv_bytes inside, struct tv_te_scratch *scratch)
{
    struct tv_cursor text = tv_cursor_over(inside);
    uint8_t *to = te_scratch_reserve(scratch, inside.length + 4);
    size_t length = 0;
    uint8_t c;
    while (tv_cursor_take_u8(&text, &c))
        if (c != '\\')
            to[length++] = c;
        else if (tv_cursor_left(&text) > 0 && *text.at >= 0x80)
            continue; /* the bytes of the character follow as they are */
        else
            length += tv_utf8_put(to + length, te_take_escape(&text));
    assert(length <= inside.length);
    return (struct tv_bytes){to, length};
}

struct tv_bytes tv_te_decode_text(struct tv_bytes raw, struct tv_te_scratch *scratch)
{
    if (raw.length == 0 || te_is_plain_integer(raw))
        return raw;
    if (!tv_te_is_string(raw))
        return te_bare_text(raw, scratch);
    struct tv_bytes inside = {raw.data + 1, raw.length >= 2 ? raw.length - 2 : 0};
    if (!memchr(inside.data, '\\', inside.length))
        return inside;
    return te_decode_string(inside, scratch);
}

bool tv_te_text_contains(struct tv_bytes text, struct tv_bytes chunk)
{
    for (size_t i = 0; i + chunk.length <= text.length; i++)
        if (memcmp(text.data + i, chunk.data, chunk.length) == 0)
            return true;
    return false;
}

/* ---- Colours ---- */

/* Return the number of a reserved colour name, from 1 on; 0: another name, or none. */
unsigned tv_te_parse_colour(struct tv_bytes raw)
{
    /* In the order of their numbers (trace-event.md section 5). */
    static const char *const names[] = {
        "thread_state_uninterruptible",
        "thread_state_iowait",
        "thread_state_running",
        "thread_state_runnable",
        "thread_state_sleeping",
        "thread_state_unknown",
        "background_memory_dump",
        "light_memory_dump",
        "detailed_memory_dump",
        "vsync_highlight_color",
        "generic_work",
        "good",
        "bad",
        "terrible",
        "black",
        "grey",
        "white",
        "yellow",
        "olive",
        "rail_response",
        "rail_animation",
        "rail_idle",
        "rail_load",
        "startup",
        "heap_dump_stack_frame",
        "heap_dump_object_type",
        "heap_dump_child_node_arrow",
        "cq_build_running",
        "cq_build_passed",
        "cq_build_failed",
        "cq_build_abandoned",
        "cq_build_attempt_runnig",
        "cq_build_attempt_passed",
        "cq_build_attempt_failed",
    };
    if (!tv_te_is_string(raw) || raw.length < 2)
        return 0;
    struct tv_bytes name = {raw.data + 1, raw.length - 2};
    for (unsigned i = 0; i < TV_COUNT(names); i++)
        if (tv_bytes_equal(name, tv_bytes_of(names[i])))
            return i + 1;
    return 0;
}

/* Take the first character; invalid bytes are U+FFFD each. */
static uint32_t te_take_character(struct tv_bytes *text)
{
    assert(text->length > 0);
    size_t length = tv_bytes_utf8(*text);
    uint32_t code = text->data[0];
    if (length == 0)
        code = REPLACEMENT;
    else if (length > 1)
        code &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (text->data[i] & 0x3f);
    length += length == 0;
    *text = (struct tv_bytes){text->data + length, text->length - length};
    return code;
}

/* One step of Trace Viewer's hash, modulo 2^32 - 1. */
static uint64_t te_hash_utf16_unit(uint64_t hash, uint32_t unit)
{
    return (hash + 37 * hash + 11 * (uint64_t)unit) % 0xffffffff;
}

/* Colours by name are those of Trace Viewer, so a trace looks familiar: its hash, over the UTF-16
 * units of the name, and its 23 colours. */
unsigned tv_te_name_colour(struct tv_bytes name)
{
    uint64_t hash = 0;
    while (name.length > 0) {
        uint32_t code = te_take_character(&name);
        if (code > 0xffff) { /* two UTF-16 units */
            hash = te_hash_utf16_unit(hash, 0xd7c0 + (code >> 10));
            code = 0xdc00 + (code & 0x3ff);
        }
        hash = te_hash_utf16_unit(hash, code);
    }
    return (unsigned)(hash % 23);
}
