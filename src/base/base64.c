/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

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
