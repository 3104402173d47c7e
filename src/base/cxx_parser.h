/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cxx_parser.h - what the files of the C++ demangler share: letters of a mangled name, and texts.
 *
 * Every part of a name becomes a text of its own in an arena; parts are joined by copying.  So a
 * name that doubles itself by substitutions fills the arena, and is not decoded; depth has a limit
 * too.  After a failure every function returns an empty text, and nothing is taken any more.
 *
 *     cxx_parser.c    letters and texts
 *     cxx_name.c      names of functions
 *     cxx_type.c      types and template arguments
 */
#ifndef TV_BASE_CXX_PARSER_H
#define TV_BASE_CXX_PARSER_H

#include "base/types.h"

#define CXX_LONGEST 4096u
#define CXX_ARENA 65536u
#define CXX_DEEPEST 64u
#define CXX_PARTS 256u
#define CXX_ARGUMENTS 32u

enum cxx_shape { CXX_PLAIN, CXX_FUNCTION, CXX_ARRAY };

/* A text in the arena. */
struct tv_cxx_part {
    uint32_t start, length;
    uint32_t place; /* where pointers go */
    uint8_t shape;  /* of a type that no pointer was added to */
};

struct tv_cxx_parser {
    struct tv_bytes in;
    size_t at;
    char arena[CXX_ARENA];
    size_t used;
    struct tv_cxx_part parts[CXX_PARTS]; /* substitutions */
    struct tv_cxx_part arguments[CXX_ARGUMENTS];
    size_t part_count, argument_count;
    unsigned depth;
    unsigned types; /* types around: template arguments inside of them are not the function's */
    bool rust, failed;
    bool is_template, is_constructor; /* of the name that was read last */
    struct tv_cxx_part qualifiers;    /* of the member function that was read last: " const" */
};

/* Return a letter ahead of the next one, or the next one, without taking it; NUL at the end and
 * after a failure. */
char tv_cxx_peek_at(const struct tv_cxx_parser *c, size_t ahead);
char tv_cxx_peek(const struct tv_cxx_parser *c);

/* Return whether a letter is a decimal digit. */
bool tv_cxx_is_digit(char letter);

/* Take a letter, or two, if they come next. */
bool tv_cxx_eat(struct tv_cxx_parser *c, char letter);
bool tv_cxx_eat_two(struct tv_cxx_parser *c, const char *letters);

/* Take a letter, or fail. */
void tv_cxx_expect(struct tv_cxx_parser *c, char letter);

/* Take decimal digits. */
size_t tv_cxx_take_number(struct tv_cxx_parser *c);

/* Take the rest of "S_", "S0_", "T_", "T0_": 0 for none, else the number and 1. */
size_t tv_cxx_take_index(struct tv_cxx_parser *c, unsigned base);

/* Return an empty text at the end of the arena, and append to the text that is there. */
struct tv_cxx_part tv_cxx_begin(const struct tv_cxx_parser *c);
void tv_cxx_append(struct tv_cxx_parser *c, struct tv_cxx_part *part, const char *text,
                   size_t length);
void tv_cxx_append_text(struct tv_cxx_parser *c, struct tv_cxx_part *part, const char *text);
void tv_cxx_append_part(struct tv_cxx_parser *c, struct tv_cxx_part *part,
                        struct tv_cxx_part added);

/* Return a new text; two with another between them; or one with a text inserted at its place,
 * after which the next one goes. */
struct tv_cxx_part tv_cxx_text(struct tv_cxx_parser *c, const char *text);
struct tv_cxx_part tv_cxx_join(struct tv_cxx_parser *c, struct tv_cxx_part a, const char *between,
                               struct tv_cxx_part b);
struct tv_cxx_part tv_cxx_insert(struct tv_cxx_parser *c, struct tv_cxx_part into,
                                 const char *text);

/* Return the last letter of a text, or NUL. */
char tv_cxx_last(const struct tv_cxx_parser *c, struct tv_cxx_part part);

/* Keep what substitutions may name. */
void tv_cxx_remember(struct tv_cxx_parser *c, struct tv_cxx_part part);

/* Go down a level; false: the name failed, or is too deep.  The caller comes up by parser->depth--.
 */
bool tv_cxx_enter(struct tv_cxx_parser *c);

/* Take a name, a type, a list of types in parentheses, template arguments "IiiE" after a name, an
 * argument "T_" of the function's template, or a substitution "S_"; `prefix`: of a class whose
 * member follows. */
struct tv_cxx_part tv_cxx_take_name(struct tv_cxx_parser *c);
struct tv_cxx_part tv_cxx_take_type(struct tv_cxx_parser *c);
struct tv_cxx_part tv_cxx_take_types(struct tv_cxx_parser *c);
struct tv_cxx_part tv_cxx_take_arguments(struct tv_cxx_parser *c, struct tv_cxx_part name);
struct tv_cxx_part tv_cxx_take_parameter(struct tv_cxx_parser *c);
struct tv_cxx_part tv_cxx_take_substitution(struct tv_cxx_parser *c, bool prefix);

#endif
