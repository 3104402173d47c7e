/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cxx_parser.c - letters of a mangled name, and texts in the arena (cxx_parser.h).
 *
 * A failure is a flag and no return value.  After it tv_cxx_peek gives NUL, which no rule of the
 * grammar matches: so cxx_name.c and cxx_type.c need no check after each step, and whoever asked
 * for the name looks at the flag once.
 *
 *     arena   | Vector | int | Vector<int> | ...        each part is [start, start + length)
 *                                          ^ used
 *
 * Only the last part of the arena may grow; tv_cxx_append asserts it.
 */
#include "base/cxx_parser.h"

#include <assert.h>
#include <string.h>

/* ---- Letters ---- */

char tv_cxx_peek_at(const struct tv_cxx_parser *c, size_t ahead)
{
    return !c->failed && ahead < c->in.length - c->at ? (char)c->in.data[c->at + ahead] : '\0';
}

char tv_cxx_peek(const struct tv_cxx_parser *c)
{
    return tv_cxx_peek_at(c, 0);
}

bool tv_cxx_eat(struct tv_cxx_parser *c, char letter)
{
    bool is = letter != '\0' && tv_cxx_peek(c) == letter;
    c->at += is;
    return is;
}

bool tv_cxx_eat_two(struct tv_cxx_parser *c, const char *letters)
{
    bool is = tv_cxx_peek(c) == letters[0] && tv_cxx_peek_at(c, 1) == letters[1];
    c->at += is ? 2 : 0;
    return is;
}

void tv_cxx_expect(struct tv_cxx_parser *c, char letter)
{
    if (!tv_cxx_eat(c, letter))
        c->failed = true;
}

bool tv_cxx_is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

size_t tv_cxx_take_number(struct tv_cxx_parser *c)
{
    size_t number = 0;
    if (!tv_cxx_is_digit(tv_cxx_peek(c)))
        c->failed = true;
    while (tv_cxx_is_digit(tv_cxx_peek(c)) && number <= CXX_LONGEST)
        number = number * 10 + (size_t)(c->in.data[c->at++] - '0');
    c->failed |= number > CXX_LONGEST;
    return number;
}

/* Take the rest of "S_", "S0_", "T_", "T0_": 0 for none, else the number and 1. */
size_t tv_cxx_take_index(struct tv_cxx_parser *c, unsigned base)
{
    size_t number = 0;
    if (tv_cxx_eat(c, '_'))
        return 0;
    while (!c->failed && tv_cxx_peek(c) != '_') {
        char letter = tv_cxx_peek(c);
        unsigned digit = tv_cxx_is_digit(letter)          ? (unsigned)(letter - '0')
                         : letter >= 'A' && letter <= 'Z' ? (unsigned)(letter - 'A') + 10
                                                          : base;
        c->failed |= digit >= base || number > CXX_PARTS;
        number = number * base + digit;
        c->at++;
    }
    tv_cxx_expect(c, '_');
    return number + 1;
}

/* ---- Texts ---- */

void tv_cxx_append(struct tv_cxx_parser *c, struct tv_cxx_part *part, const char *text,
                   size_t length)
{
    assert(part->start + part->length == c->used || c->failed);
    if (c->failed || length > CXX_ARENA - c->used) {
        c->failed = true;
        return;
    }
    memcpy(c->arena + c->used, text, length);
    c->used += length;
    part->length += (uint32_t)length;
    part->place = part->length;
}

struct tv_cxx_part tv_cxx_begin(const struct tv_cxx_parser *c)
{
    return (struct tv_cxx_part){.start = (uint32_t)c->used};
}

void tv_cxx_append_text(struct tv_cxx_parser *c, struct tv_cxx_part *part, const char *text)
{
    tv_cxx_append(c, part, text, strlen(text));
}

void tv_cxx_append_part(struct tv_cxx_parser *c, struct tv_cxx_part *part, struct tv_cxx_part added)
{
    tv_cxx_append(c, part, c->arena + added.start, added.length);
}

struct tv_cxx_part tv_cxx_text(struct tv_cxx_parser *c, const char *text)
{
    struct tv_cxx_part part = tv_cxx_begin(c);
    tv_cxx_append_text(c, &part, text);
    return part;
}

/* Join two texts with another between them. */
struct tv_cxx_part tv_cxx_join(struct tv_cxx_parser *c, struct tv_cxx_part a, const char *between,
                               struct tv_cxx_part b)
{
    struct tv_cxx_part part = tv_cxx_begin(c);
    tv_cxx_append_part(c, &part, a);
    tv_cxx_append_text(c, &part, between);
    tv_cxx_append_part(c, &part, b);
    return part;
}

/* Insert a text at a place of a part, after which the next one goes. */
struct tv_cxx_part tv_cxx_insert(struct tv_cxx_parser *c, struct tv_cxx_part into, const char *text)
{
    struct tv_cxx_part part = tv_cxx_begin(c);
    tv_cxx_append(c, &part, c->arena + into.start, into.place);
    tv_cxx_append_text(c, &part, text);
    uint32_t place = part.length;
    tv_cxx_append(c, &part, c->arena + into.start + into.place, into.length - into.place);
    part.place = place;
    return part;
}

char tv_cxx_last(const struct tv_cxx_parser *c, struct tv_cxx_part part)
{
    return part.length > 0 ? c->arena[part.start + part.length - 1] : '\0';
}

void tv_cxx_remember(struct tv_cxx_parser *c, struct tv_cxx_part part)
{
    if (c->part_count == CXX_PARTS)
        c->failed = true;
    else
        c->parts[c->part_count++] = part;
}

bool tv_cxx_enter(struct tv_cxx_parser *c)
{
    if (++c->depth > CXX_DEEPEST)
        c->failed = true;
    return !c->failed;
}
