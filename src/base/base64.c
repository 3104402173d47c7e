/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include "base/out.h"

static int digit_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The first '=' ends the bytes of the digits before it. */
static size_t end_padded(struct tv_base64 *state, uint8_t *to)
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
        int value = digit_value(c);
        if (is_blank(c) || (c == '=' && state->padded))
            continue;
        if (c == '=') {
            count += end_padded(state, to + count);
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

/* Groups that are put down in one go. */
#define GROUPS ((size_t)TV_OUT_ROOM / 4)

static void put_group(uint8_t *to, uint8_t a, uint8_t b, uint8_t c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)a << 16 | (uint32_t)b << 8 | c;
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)digits[bits >> (18 - 6 * i) & 63];
}

/* Takes bytes off until none of another call are held. */
static void encode_held(struct tv_base64_encoder *encoder, struct tv_bytes *bytes,
                        struct tv_out *out)
{
    while (encoder->count > 0 && bytes->length > 0) {
        if (encoder->count == 2) {
            put_group(tv_out_room(out, 4), encoder->held[0], encoder->held[1], bytes->data[0]);
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
    encode_held(encoder, &bytes, out);
    while (bytes.length >= 3) {
        size_t groups = bytes.length / 3 < GROUPS ? bytes.length / 3 : GROUPS;
        uint8_t *to = tv_out_room(out, groups * 4);
        for (size_t i = 0; i < groups; i++, bytes.data += 3)
            put_group(to + i * 4, bytes.data[0], bytes.data[1], bytes.data[2]);
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
    put_group(to, encoder->held[0], encoder->count > 1 ? encoder->held[1] : 0, 0);
    to[3] = '=';
    if (encoder->count == 1)
        to[2] = '=';
    out->length += 4;
    encoder->count = 0;
}
