/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding.c - Base64 in both directions, and query strings decoded in place.
 *
 * Texts and bytes arrive in pieces of any length, so a group may be cut by the end of a piece. Each
 * direction keeps the incomplete group in its state:
 *
 *     decoding   "TWF" | "u"      digits T W F wait in `bits`; the fourth makes three bytes
 *     encoding   'M' 'a' | 'n'    bytes M a wait in `held`; the third makes four letters
 *
 * A decoded byte needs less room than its text.  A query is therefore decoded where it stands, and
 * its names and values point into the request: answering one allocates nothing.
 */
#include "base/encoding.h"
#include "base/bytes.h"
#include "base/out.h"

/* Return the value of a digit; -1: none. */
static int base64_digit_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decode the two or three digits before the first '=', which closes the last group. */
static size_t base64_finish_padded(struct tv_base64 *state, uint8_t *to)
{
    size_t count = state->digits == 3 ? 2 : state->digits == 2 ? 1 : 0;
    uint32_t bits = state->bits << 6 * (4 - state->digits);
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)(bits >> (16 - 8 * i));
    state->padded = true;
    state->digits = 0;
    return count;
}

size_t tv_base64_decode(struct tv_base64 *state, struct tv_bytes text, uint8_t *to, size_t *used)
{
    size_t count = 0, i = 0;
    for (; i < text.length; i++) {
        uint8_t c = text.data[i];
        int value = base64_digit_value(c);
        if (tv_is_space(c) || (c == '=' && state->padded))
            continue;
        if (c == '=') {
            count += base64_finish_padded(state, to + count);
            continue;
        }
        if (value < 0 || state->padded)
            break;
        state->bits = state->bits << 6 | (uint32_t)value;
        if (++state->digits < 4)
            continue;
        to[count++] = (uint8_t)(state->bits >> 16);
        to[count++] = (uint8_t)(state->bits >> 8);
        to[count++] = (uint8_t)state->bits;
        state->digits = 0;
        state->bits = 0;
    }
    *used = i;
    return count;
}

/* tv_out_room offers room for so many groups of four letters at once. */
#define BASE64_GROUPS ((size_t)TV_OUT_ROOM / 4)

/* Write the four letters for three bytes, six bits each, highest first. */
static void base64_write_group(uint8_t *to, uint8_t a, uint8_t b, uint8_t c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)a << 16 | (uint32_t)b << 8 | c;
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)digits[bits >> (18 - 6 * i) & 63];
}

/* Complete the group that an earlier call began, as far as the new bytes suffice. */
static void base64_encode_held(struct tv_base64_encoder *encoder, struct tv_bytes *bytes,
                               struct tv_out *out)
{
    while (encoder->count > 0 && bytes->length > 0) {
        if (encoder->count == 2) {
            base64_write_group(tv_out_room(out, 4), encoder->held[0], encoder->held[1],
                               bytes->data[0]);
            out->length += 4;
            encoder->count = 0;
        } else {
            encoder->held[1] = bytes->data[0];
            encoder->count = 2;
        }
        bytes->data++;
        bytes->length--;
    }
}

void tv_base64_encode(struct tv_base64_encoder *encoder, struct tv_bytes bytes, struct tv_out *out)
{
    base64_encode_held(encoder, &bytes, out);
    while (bytes.length >= 3) {
        size_t groups = bytes.length / 3 < BASE64_GROUPS ? bytes.length / 3 : BASE64_GROUPS;
        uint8_t *to = tv_out_room(out, groups * 4);
        for (size_t i = 0; i < groups; i++, bytes.data += 3)
            base64_write_group(to + i * 4, bytes.data[0], bytes.data[1], bytes.data[2]);
        out->length += groups * 4;
        bytes.length -= groups * 3;
    }
    for (size_t i = 0; i < bytes.length; i++)
        encoder->held[i] = bytes.data[i];
    if (bytes.length > 0)
        encoder->count = (unsigned)bytes.length;
}

void tv_base64_encode_finish(struct tv_base64_encoder *encoder, struct tv_out *out)
{
    if (encoder->count == 0)
        return;
    uint8_t *to = tv_out_room(out, 4);
    base64_write_group(to, encoder->held[0], encoder->count > 1 ? encoder->held[1] : 0, 0);
    to[3] = '=';
    if (encoder->count == 1)
        to[2] = '=';
    out->length += 4;
    encoder->count = 0;
}

struct tv_bytes tv_query_split(struct tv_bytes *target)
{
    struct tv_bytes rest = *target;
    tv_bytes_split(&rest, '?', target);
    return rest;
}

/* Decode %41 and, with `plus`, "+" as a blank. The text never grows, so it is decoded where it is.
 * Control characters are refused: they have no use, and would be written into logs. */
static enum tv_status query_decode_in_place(uint8_t *text, size_t length, bool plus,
                                            struct tv_bytes *decoded, struct tv_error *err)
{
    size_t made = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t c = plus && text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            int high = length - i > 2 ? tv_hex_digit(text[i + 1]) : -1;
            int low = length - i > 2 ? tv_hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                               "expected two hexadecimal digits after '%%'");
            c = (uint8_t)(high << 4 | low);
            i += 2;
        }
        if (c < 0x20 || c == 0x7f)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "a control character stands in the question");
        text[made++] = c;
    }
    *decoded = (struct tv_bytes){text, made};
    return TV_OK;
}

const struct tv_bytes *tv_query_find(const struct tv_query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (tv_bytes_equal(query->items[i].name, tv_bytes_of(name)))
            return &query->items[i].value;
    }
    return NULL;
}

static bool query_has_name(const struct tv_query *query, struct tv_bytes name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (tv_bytes_equal(query->items[i].name, name))
            return true;
    }
    return false;
}

/* Return the place of the first such byte, or `length` if there is none. */
static size_t query_find_byte(const uint8_t *text, size_t length, uint8_t byte)
{
    size_t at = 0;
    while (at < length && text[at] != byte)
        at++;
    return at;
}

/* Parse "name=value".  A name alone has an empty value. */
static enum tv_status query_add_parameter(struct tv_query *query, uint8_t *text, size_t length,
                                          struct tv_error *err)
{
    struct tv_query_parameter parameter;
    size_t equals = query_find_byte(text, length, '=');
    size_t value = equals < length ? equals + 1 : length;
    enum tv_status status = query_decode_in_place(text, equals, true, &parameter.name, err);
    if (status == TV_OK)
        status = query_decode_in_place(text + value, length - value, true, &parameter.value, err);
    if (status != TV_OK)
        return status;
    if (parameter.name.length == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "a parameter has no name");
    if (query_has_name(query, parameter.name))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "a parameter was given twice");
    if (query->count == TV_QUERY_PARAMETERS)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "more than %d parameters",
                       TV_QUERY_PARAMETERS);
    query->items[query->count++] = parameter;
    return TV_OK;
}

enum tv_status tv_query_parse(struct tv_query *query, uint8_t *text, size_t length,
                              struct tv_error *err)
{
    query->count = 0;
    size_t start = 0;
    while (start < length) {
        size_t size = query_find_byte(text + start, length - start, '&');
        enum tv_status status = query_add_parameter(query, text + start, size, err);
        if (status != TV_OK)
            return status;
        start += size + 1;
    }
    return TV_OK;
}

enum tv_status tv_query_decode_name(uint8_t *text, size_t length, struct tv_bytes *decoded,
                                    struct tv_error *err)
{
    return query_decode_in_place(text, length, false, decoded, err);
}
