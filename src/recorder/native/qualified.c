/* SPDX-License-Identifier: Apache-2.0 */
/* qualified.c - see qualified.h; the grammar is that of the Itanium C++ ABI, 5.1. */
#include "recorder/native/qualified.h"

#include <string.h>

#define RUST_HASH 17u /* 'h' and 16 digits */

struct parser {
    const char *at;
    char *name;
    size_t used, size;
    size_t last; /* where the last part of the name begins */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool append(struct parser *parser, const char *text, size_t length)
{
    if (length >= parser->size - parser->used)
        return false;
    memcpy(parser->name + parser->used, text, length);
    parser->used += length;
    parser->name[parser->used] = '\0';
    return true;
}

static bool begin_part(struct parser *parser)
{
    bool fine = parser->used == 0 || append(parser, "::", 2);
    parser->last = parser->used;
    return fine;
}

/* The length in front of a name, of which so many bytes are there; 0: there is none. */
static size_t take_length(struct parser *parser)
{
    size_t length = 0, left = strlen(parser->at);
    while (is_digit(*parser->at) && length <= left)
        length = 10 * length + (size_t)(*parser->at++ - '0');
    return length <= strlen(parser->at) ? length : 0;
}

static bool is_rust_hash(const char *text, size_t length)
{
    return length == RUST_HASH && text[0] == 'h' && strspn(text + 1, "0123456789abcdef") >= 16;
}

/* 6Server */
static bool take_source_name(struct parser *parser)
{
    static const char unnamed[] = "_GLOBAL__N", spoken[] = "(anonymous namespace)";
    size_t length = take_length(parser);
    const char *text = parser->at;
    if (length == 0)
        return false;
    parser->at += length;
    if (is_rust_hash(text, length) && *parser->at == 'E')
        return true;
    if (!begin_part(parser))
        return false;
    if (length >= sizeof unnamed - 1 && memcmp(text, unnamed, sizeof unnamed - 1) == 0)
        return append(parser, spoken, sizeof spoken - 1);
    return append(parser, text, length);
}

/* Template arguments, behind their I: names in them are passed over with their lengths, literals up
 * to their E. */
static bool skip_arguments(struct parser *parser)
{
    size_t depth = 1;
    while (depth > 0 && *parser->at) {
        if (is_digit(*parser->at)) {
            size_t length = take_length(parser);
            if (length == 0)
                return false;
            parser->at += length;
            continue;
        }
        char c = *parser->at++;
        if (c == 'L') {
            if (*parser->at == '_')
                return false;
            parser->at += strcspn(parser->at, "E");
            parser->at += *parser->at == 'E';
        } else if (c == 'S' || c == 'T') {
            /* S_, S1_, T0_, St, Ss: the digits are no lengths. */
            while (is_digit(*parser->at))
                parser->at++;
        } else {
            depth += strchr("INXJF", c) != NULL;
            depth -= c == 'E';
        }
    }
    return depth == 0;
}

/* C1: the class's name again; D1 with a tilde. */
static bool take_structor(struct parser *parser)
{
    char class[256];
    size_t length = parser->used - parser->last;
    if (length == 0 || length >= sizeof class || !is_digit(parser->at[1]))
        return false;
    bool destroys = *parser->at == 'D';
    memcpy(class, parser->name + parser->last, length);
    parser->at += 2;
    return begin_part(parser) && append(parser, "~", destroys) && append(parser, class, length);
}

static bool take_part(struct parser *parser)
{
    if (strncmp(parser->at, "St", 2) == 0 && parser->used == 0) {
        parser->at += 2;
        return begin_part(parser) && append(parser, "std", 3);
    }
    if (*parser->at == 'I') {
        parser->at++;
        return skip_arguments(parser);
    }
    if (*parser->at == 'C' || *parser->at == 'D')
        return take_structor(parser);
    parser->at += *parser->at == 'L'; /* of this file alone */
    return take_source_name(parser);
}

bool tv_symbols_qualified_name(const char *symbol, char *name, size_t size)
{
    struct parser parser = {.at = symbol + 2, .name = name, .size = size};
    if (size == 0 || strncmp(symbol, "_Z", 2) != 0)
        return false;
    if (*parser.at != 'N') {
        bool is_std = strncmp(parser.at, "St", 2) == 0;
        return take_part(&parser) && (!is_std || take_part(&parser));
    }
    parser.at++;
    parser.at += strspn(parser.at, "rVK");
    parser.at += strspn(parser.at, "RO");
    while (*parser.at != 'E')
        if (*parser.at == '\0' || !take_part(&parser))
            return false;
    return parser.used > 0;
}
