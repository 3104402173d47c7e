/* SPDX-License-Identifier: Apache-2.0 */
#include "json_plain.h"

#include <string.h>

struct plain {
    const uint8_t *at, *end;
};

static int look(const struct plain *p)
{
    return p->at < p->end ? *p->at : -1;
}

static bool take(struct plain *p, int c)
{
    if (look(p) != c)
        return false;
    p->at++;
    return true;
}

static void skip_space(struct plain *p)
{
    while (take(p, 0x20) || take(p, 0x09) || take(p, 0x0a) || take(p, 0x0d))
        continue;
}

static bool take_word(struct plain *p, const char *word)
{
    for (; *word; word++)
        if (!take(p, *word))
            return false;
    return true;
}

static bool take_digits(struct plain *p)
{
    const uint8_t *start = p->at;
    while (look(p) >= '0' && look(p) <= '9')
        p->at++;
    return p->at > start;
}

/* number = [ minus ] int [ frac ] [ exp ] */
static bool take_number(struct plain *p)
{
    (void)take(p, '-');
    if (!take(p, '0') && !take_digits(p))
        return false;
    if (take(p, '.') && !take_digits(p))
        return false;
    if (take(p, 'e') || take(p, 'E')) {
        if (!take(p, '+'))
            (void)take(p, '-');
        return take_digits(p);
    }
    return true;
}

static bool take_hex(struct plain *p)
{
    for (int i = 0; i < 4; i++) {
        int c = look(p);
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return false;
        p->at++;
    }
    return true;
}

/* The code points of RFC 3629: decoded, then looked at. */
static bool take_utf8(struct plain *p)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t lead = *p->at;
    int length = (lead & 0xe0) == 0xc0   ? 2
                 : (lead & 0xf0) == 0xe0 ? 3
                 : (lead & 0xf8) == 0xf0 ? 4
                                         : 0;
    if (length == 0 || p->end - p->at < length)
        return false;
    uint32_t code = lead & (0xffu >> (length + 1));
    for (int i = 1; i < length; i++) {
        if ((p->at[i] & 0xc0) != 0x80)
            return false;
        code = code << 6 | (p->at[i] & 0x3f);
    }
    p->at += length;
    return code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

static bool take_string(struct plain *p)
{
    if (!take(p, '"'))
        return false;
    while (!take(p, '"')) {
        int c = look(p);
        if (c < 0x20)
            return false;
        if (c >= 0x80) {
            if (!take_utf8(p))
                return false;
            continue;
        }
        p->at++;
        if (c != '\\')
            continue;
        c = look(p);
        if (c <= 0 || !strchr("\"\\/bfnrtu", c))
            return false;
        p->at++;
        if (c == 'u' && !take_hex(p))
            return false;
    }
    return true;
}

static bool take_value(struct plain *p, unsigned depth);

/* Objects and arrays. */
static bool take_items(struct plain *p, int close, unsigned depth)
{
    p->at++;
    skip_space(p);
    if (depth == 0)
        return false;
    if (take(p, close))
        return true;
    do {
        skip_space(p);
        if (close == '}') {
            if (!take_string(p))
                return false;
            skip_space(p);
            if (!take(p, ':'))
                return false;
        }
        if (!take_value(p, depth - 1))
            return false;
    } while (take(p, ','));
    return take(p, close);
}

static bool take_value(struct plain *p, unsigned depth)
{
    bool good;
    skip_space(p);
    switch (look(p)) {
    case '{':
        good = take_items(p, '}', depth);
        break;
    case '[':
        good = take_items(p, ']', depth);
        break;
    case '"':
        good = take_string(p);
        break;
    case 't':
        good = take_word(p, "true");
        break;
    case 'f':
        good = take_word(p, "false");
        break;
    case 'n':
        good = take_word(p, "null");
        break;
    default:
        good = take_number(p);
    }
    skip_space(p);
    return good;
}

bool plain_is_json(struct tv_bytes text, unsigned depth)
{
    struct plain p = {text.data, text.data + text.length};
    return take_value(&p, depth) && p.at == p.end;
}

const uint8_t *plain_string_end(const uint8_t *at, const uint8_t *end)
{
    for (; at < end; at++) {
        if (*at == '"')
            return at;
        if (*at == '\\')
            at++;
    }
    return NULL;
}

const uint8_t *plain_nested_end(const uint8_t *at, const uint8_t *end)
{
    size_t depth = 0;
    for (; at && at < end; at++) {
        if (*at == '{' || *at == '[')
            depth++;
        else if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
        else if (*at == '"' && (at = plain_string_end(at + 1, end)) == NULL)
            return NULL;
    }
    return NULL;
}
