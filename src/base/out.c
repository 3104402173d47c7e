/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.c - the buffer of an output, decimal numbers, and the escapes of JSON, XML and CSV.
 *
 * An export consists of millions of pieces of a few bytes.  The inline functions of out.h copy such
 * a piece into the buffer if it fits; only then is there no call.  Everything here is for the rest:
 *
 *     a full buffer   a target receives it and it is empty again; in memory it grows
 *     a long text     is written past the buffer, after the buffered bytes, without a copy
 *     an error        stays in out->error; the buffer goes on taking bytes that nobody will see
 *
 * Numbers have digit pairs from a table, because a division by 100 yields two digits at the price
 * of one.  Escapes copy runs of harmless bytes at once: most names have nothing to escape.
 */
#include "base/out.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/memory.h"

/* Large enough to make the write call cheap, small enough to stay in the cache. */
#define BUFFER_SIZE ((size_t)128 * 1024)
_Static_assert(BUFFER_SIZE > TV_OUT_ROOM, "an empty buffer has room for any piece");

void tv_out_init_memory(struct tv_out *out)
{
    *out = (struct tv_out){0};
}

void tv_out_init(struct tv_out *out,
                 enum tv_status (*write)(void *context, struct tv_bytes bytes,
                                         struct tv_error *err),
                 void *context)
{
    *out = (struct tv_out){.write = write, .context = context, .capacity = BUFFER_SIZE};
    out->buffer = tv_realloc(NULL, BUFFER_SIZE, 1);
}

void tv_out_release(struct tv_out *out)
{
    tv_free(out->buffer);
    *out = (struct tv_out){0};
}

void tv_out_set_limit(struct tv_out *out, uint64_t limit)
{
    out->limit = limit;
}

/* Return false, and set the error, when `bytes` more bytes would exceed the limit. */
static bool out_is_within_limit(struct tv_out *out, uint64_t bytes)
{
    if (out->limit == 0 || out->total + bytes <= out->limit)
        return true;
    if (out->error.status == TV_OK)
        tv_fail(&out->error, TV_ERR_LIMIT, TV_NO_OFFSET, "the output has more than %llu bytes",
                (unsigned long long)out->limit);
    return false;
}

/* Hand bytes to the target, unless an earlier error or the limit forbids it. An error of the target
 * is kept and ends all further output. */
static void out_write_through(struct tv_out *out, struct tv_bytes bytes)
{
    assert(out->write != NULL);
    if (out->error.status != TV_OK || bytes.length == 0 || !out_is_within_limit(out, bytes.length))
        return;
    struct tv_error error = {.offset = TV_NO_OFFSET};
    enum tv_status status = out->write(out->context, bytes, &error);
    if (status != TV_OK) {
        out->error = error;
        out->error.status = status;
        return;
    }
    out->total += bytes.length;
}

/* After an error the buffer is emptied as well: further output is dropped. */
void tv_out_flush(struct tv_out *out)
{
    if (out->write == NULL)
        return;
    out_write_through(out, (struct tv_bytes){out->buffer, out->length});
    out->length = 0;
}

enum tv_status tv_out_finish(struct tv_out *out, struct tv_error *err)
{
    tv_out_flush(out);
    if (!out_is_within_limit(out, out->length) || tv_out_has_failed(out))
        out->length = 0;
    if (tv_out_has_failed(out) && err != NULL)
        *err = out->error;
    return out->error.status;
}

/* Beyond the limit the buffer is reused, so that memory stays bounded. */
static void out_grow_memory(struct tv_out *out, size_t size)
{
    if (size > SIZE_MAX - out->length)
        tv_memory_exhausted();
    if (!out_is_within_limit(out, out->length))
        out->length = 0;
    out->buffer = tv_array_reserve(out->buffer, &out->capacity, out->length + size, 1);
}

void tv_out_make_room(struct tv_out *out, size_t size)
{
    assert(size <= TV_OUT_ROOM);
    if (out->write == NULL)
        out_grow_memory(out, size);
    else
        tv_out_flush(out);
}

void tv_out_bytes_slow(struct tv_out *out, struct tv_bytes bytes)
{
    if (out->write == NULL && !out_is_within_limit(out, (uint64_t)out->length + bytes.length)) {
        out->length = 0;
        return;
    }
    if (out->write == NULL)
        out_grow_memory(out, bytes.length);
    else
        tv_out_flush(out);
    if (bytes.length > out->capacity - out->length) {
        out_write_through(out, bytes); /* larger than the whole buffer */
        return;
    }
    if (bytes.length > 0)
        memcpy(out->buffer + out->length, bytes.data, bytes.length);
    out->length += bytes.length;
}

/* ---- Numbers ---- */

static const char digit_pairs[] = "00010203040506070809"
                                  "10111213141516171819"
                                  "20212223242526272829"
                                  "30313233343536373839"
                                  "40414243444546474849"
                                  "50515253545556575859"
                                  "60616263646566676869"
                                  "70717273747576777879"
                                  "80818283848586878889"
                                  "90919293949596979899";

/* Return the number of decimal digits; 1 for zero. */
static size_t decimal_count_digits(uint64_t value)
{
    size_t count = 1;
    while (value >= 10000) {
        value /= 10000;
        count += 4;
    }
    if (value >= 100)
        return count + (value >= 1000 ? 3 : 2);
    return count + (value >= 10 ? 1 : 0);
}

static void decimal_write_pair(uint8_t *to, uint32_t value)
{
    memcpy(to, digit_pairs + value * 2, 2);
}

/* Write exactly eight digits.  Splitting into halves keeps the four divisions independent. */
static void decimal_write_eight(uint8_t *to, uint32_t value)
{
    uint32_t high = value / 10000;
    uint32_t low = value % 10000;
    decimal_write_pair(to, high / 100);
    decimal_write_pair(to + 2, high % 100);
    decimal_write_pair(to + 4, low / 100);
    decimal_write_pair(to + 6, low % 100);
}

/* Write exactly `count` digits with leading zeros. */
static void decimal_write_digits(uint8_t *to, uint64_t value, size_t count)
{
    while (count >= 8) {
        count -= 8;
        decimal_write_eight(to + count, (uint32_t)(value % 100000000));
        value /= 100000000;
    }
    uint32_t rest = (uint32_t)value; /* fewer than eight digits */
    while (count >= 2) {
        count -= 2;
        decimal_write_pair(to + count, rest % 100);
        rest /= 100;
    }
    if (count == 1)
        to[0] = (uint8_t)('0' + rest % 10);
}

size_t tv_digits_u64(uint8_t *to, uint64_t value)
{
    size_t count = decimal_count_digits(value);
    decimal_write_digits(to, value, count);
    return count;
}

/* Return the distance from zero; INT64_MIN has no positive counterpart of its own type. */
static uint64_t decimal_magnitude(int64_t value)
{
    return value < 0 ? (uint64_t) - (value + 1) + 1 : (uint64_t)value;
}

void tv_out_i64(struct tv_out *out, int64_t value)
{
    if (value < 0)
        tv_out_char(out, '-');
    tv_out_u64(out, decimal_magnitude(value));
}

void tv_out_format(struct tv_out *out, const char *format, ...)
{
    uint8_t *to = tv_out_room(out, TV_OUT_ROOM);
    va_list args;
    va_start(args, format);
    int length = vsnprintf((char *)to, TV_OUT_ROOM, format, args);
    va_end(args);
    assert(length >= 0 && length < TV_OUT_ROOM);
    if (length > 0)
        out->length += length < TV_OUT_ROOM ? (size_t)length : TV_OUT_ROOM - 1;
}

/* Further digits are zeros in any unit. */
#define TIME_DIGITS 9

static const uint32_t power_of_ten[TIME_DIGITS + 1] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
};

/* Division by a constant is several times faster. */
static uint64_t time_divide_by_unit(uint64_t value, uint64_t unit)
{
    switch (unit) {
    case 1:
        return value;
    case 1000:
        return value / 1000;
    case 1000000:
        return value / 1000000;
    default:
        return value / unit;
    }
}

void tv_out_time(struct tv_out *out, tv_ns value, tv_ns unit_ns, int decimals)
{
    assert(unit_ns > 0 && unit_ns <= TV_OUT_UNIT_MAX && decimals >= 0);
    uint64_t unit = (uint64_t)unit_ns;
    uint64_t magnitude = decimal_magnitude(value);
    int digits = decimals < TIME_DIGITS ? decimals : TIME_DIGITS;
    uint32_t scale = power_of_ten[digits];

    uint64_t whole = time_divide_by_unit(magnitude, unit);
    /* Half up means towards zero for negative values, so an exact half rounds down there. */
    uint64_t half = (value < 0 ? unit - 1 : unit) / 2;
    uint64_t fraction = time_divide_by_unit((magnitude - whole * unit) * scale + half, unit);
    if (fraction == scale) {
        whole++;
        fraction = 0;
    }
    if (value < 0 && (whole != 0 || fraction != 0))
        tv_out_char(out, '-');
    tv_out_u64(out, whole);
    if (decimals == 0)
        return;
    tv_out_char(out, '.');
    decimal_write_digits(tv_out_room(out, TIME_DIGITS), fraction, (size_t)digits);
    out->length += (size_t)digits;
    for (int i = digits; i < decimals; i++)
        tv_out_char(out, '0');
}

void tv_out_time_short(struct tv_out *out, tv_ns value, tv_ns unit_ns)
{
    int decimals = 0;
    for (tv_ns rest = value % unit_ns; rest != 0; rest = rest * 10 % unit_ns)
        decimals++;
    tv_out_time(out, value, unit_ns, decimals);
}

void tv_out_counted(struct tv_out *out, uint64_t count, const char *words)
{
    tv_out_u64(out, count);
    while (*words != '\0') {
        size_t length = strcspn(words, " "), one = strcspn(words, " |");
        tv_out_char(out, ' ');
        if (one == length || count == 1)
            tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)words, one});
        else
            tv_out_bytes(out,
                         (struct tv_bytes){(const uint8_t *)words + one + 1, length - one - 1});
        words += length + (words[length] == ' ');
    }
}

/* ---- Escapes ---- */

#define REPLACEMENT TV_BYTES("\xef\xbf\xbd") /* U+FFFD */

/* Bytes that need attention, by format.  A table, because names are scanned byte by byte. */
enum { IN_JSON = 1, IN_XML = 2, IN_CSV = 4, IN_HTML = 8 };

static const uint8_t special[256] = {
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 7, 3, 3,  7, 3,  3, /* control characters; LF, CR */
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,  3, 3,  3, 0, 0, 7, 0, 0, 0, 2, 2, 0, 0, 0, 0,
    4, 0, 0, 0,                                       /* " & ' , */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 10, 0, /* < > */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 0, 0, 0, /* backslash */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 3,                                       /* DEL */
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,  3, 3,  3, /* not ASCII, to the end */
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,  3, 3,  3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,  3, 3,  3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,  3, 3,  3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,  3, 3,  3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
};

/* Return how many bytes from `from` on need no attention. */
static size_t escape_plain_run(struct tv_bytes text, size_t from, uint8_t where)
{
    size_t at = from;
    while (at < text.length && (special[text.data[at]] & where) == 0)
        at++;
    return at - from;
}

/* U+FFFE and U+FFFF, which XML excludes. */
static bool escape_is_xml_noncharacter(const uint8_t *at)
{
    return at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
}

/* Return the length of a valid UTF-8 sequence that may be copied although its first byte is marked,
 * or 0. */
static size_t escape_allowed_length(struct tv_bytes rest, uint8_t where)
{
    size_t length = rest.data[0] < 0x80 ? 0 : tv_bytes_utf8(rest);
    if (where == IN_XML && length == 3 && escape_is_xml_noncharacter(rest.data))
        return 0;
    if ((where & IN_JSON) && tv_bytes_control(rest) > 0)
        return 0;
    return length;
}

/* Copy the text; pass each byte that may not be copied to `put_escaped`, which returns how many
 * bytes of input it has written. */
static void escape_write_text(struct tv_out *out, struct tv_bytes text, uint8_t where,
                              size_t (*put_escaped)(struct tv_out *out, struct tv_bytes rest))
{
    if (tv_out_has_failed(out))
        return;      /* scanning a long text that is dropped wastes time */
    size_t done = 0; /* input bytes that are written */
    size_t at = escape_plain_run(text, 0, where);
    while (at < text.length) {
        struct tv_bytes rest = {text.data + at, text.length - at};
        size_t length = escape_allowed_length(rest, where);
        if (length == 0) {
            tv_out_bytes(out, (struct tv_bytes){text.data + done, at - done});
            length = put_escaped(out, rest);
            done = at + length;
        }
        at += length;
        at += escape_plain_run(text, at, where);
    }
    if (at > done)
        tv_out_bytes(out, (struct tv_bytes){text.data + done, at - done});
}

/* Write the short escape that JSON has for a character, or its code. */
static void json_write_ascii_escape(struct tv_out *out, uint8_t c)
{
    switch (c) {
    case '"':
        tv_out_text(out, "\\\"");
        return;
    case '\\':
        tv_out_text(out, "\\\\");
        return;
    case '\n':
        tv_out_text(out, "\\n");
        return;
    case '\t':
        tv_out_text(out, "\\t");
        return;
    case '\r':
        tv_out_text(out, "\\r");
        return;
    default:
        tv_out_format(out, "\\u%04x", c);
    }
}

/* Write one character that JSON may not hold: a control character beyond ASCII takes two bytes of
 * input, and a byte that is not UTF-8 becomes U+FFFD. */
static size_t json_write_escape(struct tv_out *out, struct tv_bytes rest)
{
    if (tv_bytes_control(rest) == 2) {
        tv_out_format(out, "\\u%04x", rest.data[1]);
        return 2;
    }
    if (rest.data[0] >= 0x80)
        tv_out_bytes(out, REPLACEMENT);
    else
        json_write_ascii_escape(out, rest.data[0]);
    return 1;
}

void tv_out_json(struct tv_out *out, struct tv_bytes text)
{
    tv_out_char(out, '"');
    escape_write_text(out, text, IN_JSON, json_write_escape);
    tv_out_char(out, '"');
}

void tv_out_json_in_html(struct tv_out *out, struct tv_bytes text)
{
    tv_out_char(out, '"');
    escape_write_text(out, text, IN_JSON | IN_HTML, json_write_escape);
    tv_out_char(out, '"');
}

/* Write the entity of a byte. Line breaks are written by number, because XML turns them into blanks
 * in the values of attributes. */
static void xml_write_byte(struct tv_out *out, uint8_t c)
{
    switch (c) {
    case '&':
        tv_out_text(out, "&amp;");
        return;
    case '<':
        tv_out_text(out, "&lt;");
        return;
    case '>':
        tv_out_text(out, "&gt;");
        return;
    case '"':
        tv_out_text(out, "&quot;");
        return;
    case '\t':
    case '\n':
    case '\r':
    case '\'': /* &apos; is not HTML 4 */
    case 0x7f:
        tv_out_format(out, "&#%u;", c);
        return;
    default: /* not UTF-8, or a control character that XML 1.0 cannot hold in any form */
        tv_out_bytes(out, REPLACEMENT);
    }
}

static size_t xml_write_escape(struct tv_out *out, struct tv_bytes rest)
{
    xml_write_byte(out, rest.data[0]);
    return 1;
}

void tv_out_xml(struct tv_out *out, struct tv_bytes text)
{
    escape_write_text(out, text, IN_XML, xml_write_escape);
}

void tv_out_csv(struct tv_out *out, struct tv_bytes text)
{
    if (escape_plain_run(text, 0, IN_CSV) == text.length) {
        tv_out_bytes(out, text);
        return;
    }
    tv_out_char(out, '"');
    struct tv_bytes part;
    while (tv_bytes_split(&text, '"', &part)) {
        tv_out_bytes(out, part);
        tv_out_text(out, "\"\"");
    }
    tv_out_bytes(out, part);
    tv_out_char(out, '"');
}

/* ---- Binary numbers ---- */

/* Write a number with its lowest byte first, on any machine. */
static void out_write_le(struct tv_out *out, uint64_t value, size_t size)
{
    uint8_t *to = tv_out_room(out, size);
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> (8 * i));
    out->length += size;
}

void tv_out_le32(struct tv_out *out, uint32_t value)
{
    out_write_le(out, value, 4);
}

void tv_out_f64(struct tv_out *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    out_write_le(out, bits, 8);
}

void tv_out_align(struct tv_out *out, size_t alignment)
{
    assert(alignment > 0);
    while ((out->total + out->length) % alignment != 0)
        tv_out_char(out, '\0');
}
