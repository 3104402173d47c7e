/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cxx_type.c - types and template arguments of C++.
 *
 * A type has a place where the next pointer goes: at the end of "char const", but between the
 * return type and the parameters of a function, "void (*)(int)".
 *
 *     mangled     PFvPKcE         P pointer to F..E function of v, P K c
 *     read        function        void (char const*)     place after "void "
 *                 pointer to it   void (*)(char const*)  place after the '*'
 *
 * So an outer part is written into the middle of an inner one that was complete already.  Parts are
 * pieces of an arena, and an insertion writes a new one.
 *
 * Mangled names come from untrusted files.  The depth and the arena are limited, and after the
 * first mistake (c->failed) every function returns an empty part.
 */
#include "base/cxx_parser.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* ---- Template arguments ---- */

/* Take "Lb1E", "Li5E", "Lm3E". */
static struct tv_cxx_part cxx_take_literal(struct tv_cxx_parser *c)
{
    static const char *const suffixes[] = {"i", "",   "j", "u",  "l", "l",
                                           "m", "ul", "x", "ll", "y", "ull"};
    char type[2] = {tv_cxx_peek(c), '\0'};
    bool is_bool = type[0] == 'b';
    const char *suffix = NULL;
    struct tv_cxx_part cast = tv_cxx_begin(c);
    if (type[0] == '_' || type[0] == 'f' || type[0] == 'd' || type[0] == 'e')
        c->failed = true;
    for (size_t i = 0; i < TV_COUNT(suffixes); i += 2)
        if (strcmp(type, suffixes[i]) == 0)
            suffix = suffixes[i + 1];
    struct tv_cxx_part name = tv_cxx_take_type(c);
    if (!suffix && !is_bool) {
        cast = tv_cxx_join(c, tv_cxx_text(c, "("), "", name);
        cast = tv_cxx_join(c, cast, ")", tv_cxx_begin(c));
    }
    struct tv_cxx_part part = tv_cxx_begin(c);
    tv_cxx_append_part(c, &part, cast);
    tv_cxx_append_text(c, &part, tv_cxx_eat(c, 'n') ? "-" : "");
    size_t start = c->at;
    while (tv_cxx_is_digit(tv_cxx_peek(c)))
        c->at++;
    c->failed |= c->at == start;
    if (c->failed)
        return part;
    if (is_bool)
        tv_cxx_append_text(c, &part, c->in.data[start] == '1' ? "true" : "false");
    else
        tv_cxx_append(c, &part, (const char *)c->in.data + start, c->at - start);
    tv_cxx_append_text(c, &part, suffix ? suffix : "");
    tv_cxx_expect(c, 'E');
    return part;
}

static struct tv_cxx_part cxx_take_argument(struct tv_cxx_parser *c);

/* Take arguments up to 'E', joined by commas; keep the first of them in `list`, if there is one. */
static struct tv_cxx_part cxx_take_argument_list(struct tv_cxx_parser *c, struct tv_cxx_part *list,
                                                 size_t *count)
{
    struct tv_cxx_part all = tv_cxx_begin(c);
    while (!c->failed && !tv_cxx_eat(c, 'E')) {
        struct tv_cxx_part argument = cxx_take_argument(c);
        if (list && *count < CXX_ARGUMENTS)
            list[(*count)++] = argument;
        all = argument.length == 0 ? all
              : all.length == 0    ? argument
                                   : tv_cxx_join(c, all, ", ", argument);
    }
    return all;
}

/* Take one argument: a value, a pack of arguments, or a type. */
static struct tv_cxx_part cxx_take_argument(struct tv_cxx_parser *c)
{
    struct tv_cxx_part part = tv_cxx_begin(c);
    if (!tv_cxx_enter(c))
        return part;
    if (tv_cxx_eat(c, 'L'))
        part = cxx_take_literal(c);
    else if (tv_cxx_eat(c, 'J'))
        part = cxx_take_argument_list(c, NULL, NULL);
    else
        part = tv_cxx_take_type(c);
    c->depth--;
    return part;
}

/* Take "IiiE" after a name. */
struct tv_cxx_part tv_cxx_take_arguments(struct tv_cxx_parser *c, struct tv_cxx_part name)
{
    struct tv_cxx_part list[CXX_ARGUMENTS];
    size_t count = 0;
    tv_cxx_expect(c, 'I');
    c->types++;
    struct tv_cxx_part all = cxx_take_argument_list(c, list, &count);
    c->types--;
    if (c->types == 0) {
        memcpy(c->arguments, list, count * sizeof *list);
        c->argument_count = count;
    }
    struct tv_cxx_part part = tv_cxx_begin(c);
    tv_cxx_append_part(c, &part, name);
    tv_cxx_append_text(c, &part, tv_cxx_last(c, name) == '<' ? " <" : "<");
    tv_cxx_append_part(c, &part, all);
    tv_cxx_append_text(c, &part, tv_cxx_last(c, all) == '>' ? " >" : ">");
    c->is_template = true;
    return part;
}

/* Take "T_", "T0_": an argument of the function's template. */
struct tv_cxx_part tv_cxx_take_parameter(struct tv_cxx_parser *c)
{
    tv_cxx_expect(c, 'T');
    size_t index = tv_cxx_take_index(c, 10);
    if (index >= c->argument_count)
        c->failed = true;
    return c->failed ? tv_cxx_begin(c) : c->arguments[index];
}

#define CXX_TRAITS "<char, std::char_traits<char> >"

/* Take "S_", "S0_", or an abbreviation like "Ss"; `prefix`: of a class whose member follows. */
struct tv_cxx_part tv_cxx_take_substitution(struct tv_cxx_parser *c, bool prefix)
{
    static const struct {
        char letter;
        const char *text, *class_name;
    } known[] = {{'a', "std::allocator", "std::allocator"},
                 {'b', "std::basic_string", "std::basic_string"},
                 {'s', "std::string",
                  "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"},
                 {'i', "std::istream", "std::basic_istream" CXX_TRAITS},
                 {'o', "std::ostream", "std::basic_ostream" CXX_TRAITS},
                 {'d', "std::iostream", "std::basic_iostream" CXX_TRAITS}};
    tv_cxx_expect(c, 'S');
    for (size_t i = 0; i < TV_COUNT(known); i++)
        if (tv_cxx_eat(c, known[i].letter))
            return tv_cxx_text(c, prefix ? known[i].class_name : known[i].text);
    size_t index = tv_cxx_take_index(c, 36);
    if (index >= c->part_count)
        c->failed = true;
    return c->failed ? tv_cxx_begin(c) : c->parts[index];
}

/* ---- Types ---- */

/* Return the type that one letter means; NULL: none. */
static const char *cxx_builtin(char letter)
{
    static const char letters[] = "vwbcahstijlmxynofdegz";
    static const char *const texts[] = {"void",        "wchar_t",
                                        "bool",        "char",
                                        "signed char", "unsigned char",
                                        "short",       "unsigned short",
                                        "int",         "unsigned int",
                                        "long",        "unsigned long",
                                        "long long",   "unsigned long long",
                                        "__int128",    "unsigned __int128",
                                        "float",       "double",
                                        "long double", "__float128",
                                        "..."};
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    return found ? texts[found - letters] : NULL;
}

/* Add a pointer, a reference or a member pointer to a type. */
static struct tv_cxx_part cxx_point(struct tv_cxx_parser *c, struct tv_cxx_part type,
                                    const char *mark)
{
    char text[8];
    size_t place = type.place;
    const char *before = c->arena + type.start;
    if (c->failed)
        return tv_cxx_begin(c);
    if (type.shape != CXX_PLAIN) {
        snprintf(text, sizeof text, "(%s)%s", mark, type.shape == CXX_ARRAY ? " " : "");
        struct tv_cxx_part part = tv_cxx_insert(c, type, text);
        part.place -= c->failed ? 0 : type.shape == CXX_ARRAY ? 2 : 1;
        return part;
    }
    /* A reference to a reference is one; && only when both are. */
    if (mark[0] == '&' && place > 0 && before[place - 1] == '&') {
        bool both = place > 1 && before[place - 2] == '&';
        if (!both || mark[1] == '&')
            return type;
        struct tv_cxx_part shorter = type;
        shorter.place--;
        struct tv_cxx_part part = tv_cxx_begin(c);
        tv_cxx_append(c, &part, before, place - 1);
        uint32_t end = part.length;
        tv_cxx_append(c, &part, before + place, type.length - place);
        part.place = end;
        return part;
    }
    return tv_cxx_insert(c, type, mark);
}

/* Take the types up to the end of a list, in parentheses: "(int, char)"; "v" alone is "()". */
struct tv_cxx_part tv_cxx_take_types(struct tv_cxx_parser *c)
{
    struct tv_cxx_part all = tv_cxx_begin(c);
    if (tv_cxx_peek(c) == 'v' && (tv_cxx_peek_at(c, 1) == 'E' || tv_cxx_peek_at(c, 1) == '\0')) {
        c->at++;
    } else {
        while (!c->failed && tv_cxx_peek(c) != 'E' && tv_cxx_peek(c) != '\0') {
            struct tv_cxx_part type = tv_cxx_take_type(c);
            all = all.length == 0 ? type : type.length == 0 ? all : tv_cxx_join(c, all, ", ", type);
        }
    }
    struct tv_cxx_part part = tv_cxx_begin(c);
    tv_cxx_append_text(c, &part, "(");
    tv_cxx_append_part(c, &part, all);
    tv_cxx_append_text(c, &part, ")");
    return part;
}

/* Take "FviE", a function type. */
static struct tv_cxx_part cxx_take_function(struct tv_cxx_parser *c)
{
    tv_cxx_expect(c, 'F');
    (void)tv_cxx_eat(c, 'Y');
    struct tv_cxx_part result = tv_cxx_take_type(c);
    struct tv_cxx_part parameters = tv_cxx_take_types(c);
    tv_cxx_expect(c, 'E');
    c->failed |= result.shape != CXX_PLAIN || result.place != result.length;
    struct tv_cxx_part part = tv_cxx_join(c, result, " ", parameters);
    part.place = result.length + 1;
    part.shape = CXX_FUNCTION;
    return part;
}

/* Take "A3_i". */
static struct tv_cxx_part cxx_take_array(struct tv_cxx_parser *c)
{
    char text[24];
    tv_cxx_expect(c, 'A');
    size_t count = tv_cxx_peek(c) == '_' ? 0 : tv_cxx_take_number(c);
    tv_cxx_expect(c, '_');
    struct tv_cxx_part type = tv_cxx_take_type(c);
    c->failed |= type.shape != CXX_PLAIN || type.place != type.length;
    if (count > 0)
        snprintf(text, sizeof text, " [%zu]", count);
    else
        snprintf(text, sizeof text, " []");
    struct tv_cxx_part part = tv_cxx_join(c, type, text, tv_cxx_begin(c));
    part.place = type.length + 1;
    part.shape = CXX_ARRAY;
    return part;
}

/* Take "MC": a pointer to a member of class C. */
static struct tv_cxx_part cxx_take_member_pointer(struct tv_cxx_parser *c)
{
    tv_cxx_expect(c, 'M');
    struct tv_cxx_part owner = tv_cxx_take_type(c);
    struct tv_cxx_part qualifiers = tv_cxx_peek(c) == 'K' && tv_cxx_peek_at(c, 1) == 'F'
                                        ? tv_cxx_text(c, " const")
                                        : tv_cxx_begin(c);
    c->at += qualifiers.length > 0;
    struct tv_cxx_part type = tv_cxx_take_type(c);
    bool function = type.shape == CXX_FUNCTION;
    if (qualifiers.length > 0) {
        /* The qualified function can be substituted, too. */
        struct tv_cxx_part whole = tv_cxx_join(c, type, " const", tv_cxx_begin(c));
        whole.place = type.place;
        whole.shape = type.shape;
        tv_cxx_remember(c, whole);
        type = whole;
    }
    struct tv_cxx_part part = tv_cxx_begin(c);
    tv_cxx_append(c, &part, c->arena + type.start, type.place);
    tv_cxx_append_text(c, &part, function ? "(" : " ");
    tv_cxx_append_part(c, &part, owner);
    tv_cxx_append_text(c, &part, "::*");
    uint32_t place = part.length;
    tv_cxx_append_text(c, &part, function ? ")" : "");
    tv_cxx_append(c, &part, c->arena + type.start + type.place, type.length - type.place);
    part.place = place;
    return part;
}

/* Take "Kc" and the like: the qualifiers together make one type. */
static struct tv_cxx_part cxx_take_qualified(struct tv_cxx_parser *c)
{
    bool is_restrict = tv_cxx_eat(c, 'r'), is_volatile = tv_cxx_eat(c, 'V'),
         is_const = tv_cxx_eat(c, 'K');
    struct tv_cxx_part type = tv_cxx_take_type(c);
    char text[32];
    snprintf(text, sizeof text, "%s%s%s", is_const ? " const" : "", is_volatile ? " volatile" : "",
             is_restrict ? " restrict" : "");
    c->failed |= type.shape != CXX_PLAIN;
    return tv_cxx_insert(c, type, text);
}

/* Take a type that begins with 'D'. */
static struct tv_cxx_part cxx_take_d_type(struct tv_cxx_parser *c, bool *builtin)
{
    static const struct {
        char code[3];
        const char *text;
    } known[] = {{"Dn", "decltype(nullptr)"},
                 {"Da", "auto"},
                 {"Di", "char32_t"},
                 {"Ds", "char16_t"},
                 {"Du", "char8_t"}};
    for (size_t i = 0; i < TV_COUNT(known); i++)
        if (tv_cxx_eat_two(c, known[i].code)) {
            *builtin = true;
            return tv_cxx_text(c, known[i].text);
        }
    if (tv_cxx_eat_two(c, "Dp"))
        return tv_cxx_take_type(c);
    c->failed = true;
    return tv_cxx_begin(c);
}

/* Take a substitution or a parameter, with template arguments after it. */
static struct tv_cxx_part cxx_take_known_type(struct tv_cxx_parser *c, bool *builtin)
{
    bool parameter = tv_cxx_peek(c) == 'T';
    struct tv_cxx_part type =
        parameter ? tv_cxx_take_parameter(c) : tv_cxx_take_substitution(c, false);
    if (tv_cxx_peek(c) != 'I') {
        *builtin = !parameter;
        return type;
    }
    if (parameter)
        tv_cxx_remember(c, type);
    return tv_cxx_take_arguments(c, type);
}

/* Take a type by its first letter (Itanium C++ ABI, 5.1.5).  *builtin: it is one, which is no
 * candidate for a later substitution. */
static struct tv_cxx_part cxx_take_type_at(struct tv_cxx_parser *c, bool *builtin)
{
    char letter = tv_cxx_peek(c);
    const char *known = cxx_builtin(letter);
    if (known) {
        c->at++;
        *builtin = true;
        return tv_cxx_text(c, known);
    }
    switch (letter) {
    case 'r':
    case 'V':
    case 'K':
        return cxx_take_qualified(c);
    case 'P':
    case 'R':
    case 'O':
        c->at++;
        return cxx_point(c, tv_cxx_take_type(c), letter == 'P' ? "*" : letter == 'R' ? "&" : "&&");
    case 'F':
        return cxx_take_function(c);
    case 'A':
        return cxx_take_array(c);
    case 'M':
        return cxx_take_member_pointer(c);
    case 'D':
        return cxx_take_d_type(c, builtin);
    case 'T':
        return cxx_take_known_type(c, builtin);
    case 'S':
        if (tv_cxx_peek_at(c, 1) != 't')
            return cxx_take_known_type(c, builtin);
        break;
    default:
        break;
    }
    if (letter != 'N' && letter != 'Z' && letter != 'S' && !tv_cxx_is_digit(letter))
        c->failed = true;
    return c->failed ? tv_cxx_begin(c) : tv_cxx_take_name(c);
}

struct tv_cxx_part tv_cxx_take_type(struct tv_cxx_parser *c)
{
    struct tv_cxx_part type = tv_cxx_begin(c);
    bool builtin = false;
    if (!tv_cxx_enter(c))
        return type;
    bool parameter = tv_cxx_peek(c) == 'T';
    c->types += !parameter;
    type = cxx_take_type_at(c, &builtin);
    c->types -= !parameter;
    if (!builtin)
        tv_cxx_remember(c, type);
    c->depth--;
    return type;
}
