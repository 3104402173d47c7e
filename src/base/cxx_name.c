/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cxx_name.c - a recursive descent over the grammar of the Itanium C++ ABI, chapter 5.1.
 *
 *     _Z N 4shop 5Order 3pay E i      N prefix prefix name E: nested name; i: parameters, not read
 *     S_ S0_ S1_ ...                  a prefix or type that came before: substitutions
 *     I type type E                   template arguments;  T_ T0_ ...: those of the function
 */
#include "base/native_name.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cxx_parser.h"
#include "base/memory.h"

/* "::h" and 16 digits, which end Rust's older names. */
#define HASH_LENGTH 19u

static struct tv_cxx_part cxx_take_encoding(struct tv_cxx_parser *c);

/* ---- Names ---- */

static const struct {
    char code[3];
    const char *text;
} cxx_operators[] = {
    {"nw", " new"}, {"na", " new[]"}, {"dl", " delete"}, {"da", " delete[]"}, {"ps", "+"},
    {"ng", "-"},    {"ad", "&"},      {"de", "*"},       {"co", "~"},         {"pl", "+"},
    {"mi", "-"},    {"ml", "*"},      {"dv", "/"},       {"rm", "%"},         {"an", "&"},
    {"or", "|"},    {"eo", "^"},      {"aS", "="},       {"pL", "+="},        {"mI", "-="},
    {"mL", "*="},   {"dV", "/="},     {"rM", "%="},      {"aN", "&="},        {"oR", "|="},
    {"eO", "^="},   {"ls", "<<"},     {"rs", ">>"},      {"lS", "<<="},       {"rS", ">>="},
    {"eq", "=="},   {"ne", "!="},     {"lt", "<"},       {"gt", ">"},         {"le", "<="},
    {"ge", ">="},   {"ss", "<=>"},    {"nt", "!"},       {"aa", "&&"},        {"oo", "||"},
    {"pp", "++"},   {"mm", "--"},     {"cm", ","},       {"pm", "->*"},       {"pt", "->"},
    {"cl", "()"},   {"ix", "[]"},     {"qu", "?"},
};

/* Write an identifier of Rust without its escapes: "_$LT$T$GT$" is "<T>", ".." is "::". */
static struct tv_cxx_part cxx_rust_identifier(struct tv_cxx_parser *c, const char *text,
                                              size_t length)
{
    static const struct {
        const char *code, *text;
    } escapes[] = {{"$SP$", "@"},  {"$BP$", "*"},  {"$RF$", "&"},  {"$LT$", "<"},  {"$GT$", ">"},
                   {"$LP$", "("},  {"$RP$", ")"},  {"$C$", ","},   {"$u20$", " "}, {"$u22$", "\""},
                   {"$u27$", "'"}, {"$u2b$", "+"}, {"$u3b$", ";"}, {"$u5b$", "["}, {"$u5d$", "]"},
                   {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"..", "::"},   {".", "."}};
    struct tv_cxx_part part = tv_cxx_begin(c);
    size_t at = length > 1 && text[0] == '_' && text[1] == '$';
    while (at < length) {
        size_t i = 0, code = 0;
        for (; i < TV_COUNT(escapes); i++) {
            code = strlen(escapes[i].code);
            if (code <= length - at && memcmp(text + at, escapes[i].code, code) == 0)
                break;
        }
        if (i < TV_COUNT(escapes))
            tv_cxx_append_text(c, &part, escapes[i].text);
        else
            tv_cxx_append(c, &part, text + at, code = 1);
        at += code;
    }
    return part;
}

/* Take "4shop". */
static struct tv_cxx_part cxx_take_identifier(struct tv_cxx_parser *c)
{
    size_t length = tv_cxx_take_number(c);
    if (c->failed || length == 0 || length > c->in.length - c->at) {
        c->failed = true;
        return tv_cxx_begin(c);
    }
    const char *text = (const char *)c->in.data + c->at;
    c->at += length;
    if (length >= 10 && memcmp(text, "_GLOBAL_", 8) == 0 && text[9] == 'N')
        return tv_cxx_text(c, "(anonymous namespace)");
    if (c->rust)
        return cxx_rust_identifier(c, text, length);
    struct tv_cxx_part part = tv_cxx_begin(c);
    tv_cxx_append(c, &part, text, length);
    return part;
}

/* Take "pl", "cv" and a type, or "li" and a suffix: the name of an operator. */
static struct tv_cxx_part cxx_take_operator(struct tv_cxx_parser *c)
{
    struct tv_cxx_part part = tv_cxx_begin(c);
    if (tv_cxx_eat_two(c, "cv")) {
        struct tv_cxx_part type = tv_cxx_take_type(c);
        return tv_cxx_join(c, tv_cxx_text(c, "operator"), " ", type);
    }
    if (tv_cxx_eat_two(c, "li")) {
        struct tv_cxx_part name = cxx_take_identifier(c);
        return tv_cxx_join(c, tv_cxx_text(c, "operator\"\""), " ", name);
    }
    for (size_t i = 0; i < TV_COUNT(cxx_operators); i++)
        if (tv_cxx_eat_two(c, cxx_operators[i].code)) {
            tv_cxx_append_text(c, &part, "operator");
            tv_cxx_append_text(c, &part, cxx_operators[i].text);
            return part;
        }
    c->failed = true;
    return part;
}

/* Take the number of "Ut_" or "Ul...E0_", from 1, and close the text. */
static void cxx_number_unnamed(struct tv_cxx_parser *c, struct tv_cxx_part *part)
{
    char number[24];
    size_t index = tv_cxx_eat(c, '_') ? 1 : tv_cxx_take_number(c) + 2;
    if (index > 1)
        tv_cxx_expect(c, '_');
    snprintf(number, sizeof number, "#%zu}", index);
    tv_cxx_append_text(c, part, number);
}

/* Take "Ut_" or "UlvE_". */
static struct tv_cxx_part cxx_take_unnamed(struct tv_cxx_parser *c)
{
    struct tv_cxx_part part, parameters;
    if (tv_cxx_eat_two(c, "Ut")) {
        part = tv_cxx_text(c, "{unnamed type");
    } else if (tv_cxx_eat_two(c, "Ul")) {
        parameters = tv_cxx_take_types(c);
        tv_cxx_expect(c, 'E');
        part = tv_cxx_begin(c);
        tv_cxx_append_text(c, &part, "{lambda");
        tv_cxx_append_part(c, &part, parameters);
    } else {
        c->failed = true;
        return tv_cxx_begin(c);
    }
    cxx_number_unnamed(c, &part);
    return part;
}

/* Take an identifier, operator or unnamed type, and its ABI tags. */
static struct tv_cxx_part cxx_take_simple_name(struct tv_cxx_parser *c)
{
    (void)tv_cxx_eat(c, 'L');
    char letter = tv_cxx_peek(c);
    struct tv_cxx_part part = tv_cxx_is_digit(letter) ? cxx_take_identifier(c)
                              : letter == 'U'         ? cxx_take_unnamed(c)
                                                      : cxx_take_operator(c);
    while (tv_cxx_eat(c, 'B')) {
        struct tv_cxx_part tag = cxx_take_identifier(c);
        part = tv_cxx_join(c, tv_cxx_join(c, part, "[abi:", tag), "]", tv_cxx_begin(c));
    }
    return part;
}

/* Return the end of a class's name without ABI tags and template arguments. */
static size_t cxx_without_arguments(const char *text, size_t end)
{
    size_t nested = 0;
    while (end > 0 && text[end - 1] == ']') {
        while (end > 0 && text[end - 1] != '[')
            end--;
        end -= end > 0;
    }
    if (end == 0 || text[end - 1] != '>')
        return end;
    do {
        end--;
        nested += text[end] == '>';
        nested -= text[end] == '<';
    } while (end > 0 && nested > 0);
    return end;
}

/* Return the name that a constructor repeats: after the last "::", without template arguments. */
static struct tv_cxx_part cxx_last_component(const struct tv_cxx_parser *c, struct tv_cxx_part part)
{
    const char *text = c->arena + part.start;
    size_t end = cxx_without_arguments(text, part.length), start = end, nested = 0;
    for (; start > 0 && (text[start - 1] != ':' || nested > 0); start--) {
        char letter = text[start - 1];
        nested += letter == '>' || letter == ')' || letter == '}';
        nested -= nested > 0 && (letter == '<' || letter == '(' || letter == '{');
    }
    return (struct tv_cxx_part){.start = part.start + (uint32_t)start,
                                .length = (uint32_t)(end - start)};
}

/* Take "C1" or "D0" after a class. */
static struct tv_cxx_part cxx_take_constructor(struct tv_cxx_parser *c,
                                               struct tv_cxx_part class_name)
{
    struct tv_cxx_part part = tv_cxx_begin(c), name = cxx_last_component(c, class_name);
    bool destructor = tv_cxx_peek(c) == 'D';
    if (name.length == 0 || tv_cxx_peek_at(c, 1) < '0' || tv_cxx_peek_at(c, 1) > '5')
        c->failed = true;
    c->at += 2;
    c->is_constructor = true;
    tv_cxx_append_text(c, &part, destructor ? "~" : "");
    tv_cxx_append_part(c, &part, name);
    while (tv_cxx_eat(c, 'B')) {
        struct tv_cxx_part tag = cxx_take_identifier(c);
        part = tv_cxx_join(c, tv_cxx_join(c, part, "[abi:", tag), "]", tv_cxx_begin(c));
    }
    return part;
}

/* ---- Nested names ---- */

/* Take the next component of a nested name. */
static struct tv_cxx_part cxx_take_component(struct tv_cxx_parser *c, struct tv_cxx_part prefix)
{
    char letter = tv_cxx_peek(c);
    if (letter == 'I')
        return tv_cxx_take_arguments(c, prefix);
    c->is_template = c->is_constructor = false;
    if (letter == 'C' || letter == 'D') {
        struct tv_cxx_part name = cxx_take_constructor(c, prefix);
        return tv_cxx_join(c, prefix, "::", name);
    }
    struct tv_cxx_part name = cxx_take_simple_name(c);
    return prefix.length == 0 ? name : tv_cxx_join(c, prefix, "::", name);
}

/* Take the const and & of a member function. */
static struct tv_cxx_part cxx_take_member_qualifiers(struct tv_cxx_parser *c)
{
    struct tv_cxx_part part = tv_cxx_begin(c);
    bool is_restrict = tv_cxx_eat(c, 'r'), is_volatile = tv_cxx_eat(c, 'V'),
         is_const = tv_cxx_eat(c, 'K');
    tv_cxx_append_text(c, &part, is_const ? " const" : "");
    tv_cxx_append_text(c, &part, is_volatile ? " volatile" : "");
    tv_cxx_append_text(c, &part, is_restrict ? " restrict" : "");
    if (tv_cxx_eat(c, 'R'))
        tv_cxx_append_text(c, &part, " &");
    else if (tv_cxx_eat(c, 'O'))
        tv_cxx_append_text(c, &part, " &&");
    return part;
}

/* Take "N4shop5Order3payE".  Every prefix but the whole can be substituted. */
static struct tv_cxx_part cxx_take_nested(struct tv_cxx_parser *c)
{
    struct tv_cxx_part name = tv_cxx_begin(c);
    tv_cxx_expect(c, 'N');
    struct tv_cxx_part qualifiers = cxx_take_member_qualifiers(c);
    bool fresh = false; /* it can be substituted */
    if (tv_cxx_eat_two(c, "St")) {
        name = tv_cxx_text(c, "std");
    } else if (tv_cxx_peek(c) == 'S') {
        name = tv_cxx_take_substitution(c, true);
    } else if (tv_cxx_peek(c) == 'T') {
        name = tv_cxx_take_parameter(c);
        fresh = true;
    }
    while (!c->failed && !tv_cxx_eat(c, 'E')) {
        if (fresh)
            tv_cxx_remember(c, name);
        (void)tv_cxx_eat(c, 'M');
        name = cxx_take_component(c, name);
        fresh = true;
    }
    c->qualifiers = qualifiers;
    return name;
}

/* Skip "_3" or "__12_", which tell local names of a function apart. */
static void cxx_skip_discriminator(struct tv_cxx_parser *c)
{
    if (tv_cxx_eat_two(c, "__")) {
        (void)tv_cxx_take_number(c);
        tv_cxx_expect(c, '_');
    } else if (tv_cxx_peek(c) == '_' && tv_cxx_is_digit(tv_cxx_peek_at(c, 1))) {
        c->at += 2;
    }
}

/* Take "Z" function "E" name: a name inside of a function. */
static struct tv_cxx_part cxx_take_local(struct tv_cxx_parser *c)
{
    tv_cxx_expect(c, 'Z');
    struct tv_cxx_part function = cxx_take_encoding(c);
    tv_cxx_expect(c, 'E');
    if (tv_cxx_eat(c, 's')) {
        cxx_skip_discriminator(c);
        return tv_cxx_join(c, function, "::", tv_cxx_text(c, "string literal"));
    }
    struct tv_cxx_part name = tv_cxx_take_name(c);
    cxx_skip_discriminator(c);
    return tv_cxx_join(c, function, "::", name);
}

struct tv_cxx_part tv_cxx_take_name(struct tv_cxx_parser *c)
{
    struct tv_cxx_part name = tv_cxx_begin(c);
    if (!tv_cxx_enter(c))
        return name;
    char letter = tv_cxx_peek(c);
    bool substituted = letter == 'S' && tv_cxx_peek_at(c, 1) != 't';
    c->is_template = c->is_constructor = false;
    c->qualifiers = name;
    if (letter == 'N') {
        name = cxx_take_nested(c);
    } else if (letter == 'Z') {
        name = cxx_take_local(c);
    } else {
        if (substituted)
            name = tv_cxx_take_substitution(c, false);
        else if (tv_cxx_eat_two(c, "St"))
            name = tv_cxx_join(c, tv_cxx_text(c, "std"), "::", cxx_take_simple_name(c));
        else
            name = cxx_take_simple_name(c);
        if (tv_cxx_peek(c) == 'I') {
            if (!substituted)
                tv_cxx_remember(c, name);
            name = tv_cxx_take_arguments(c, name);
        } else {
            c->failed |= substituted;
        }
    }
    c->depth--;
    return name;
}

/* ---- Functions ---- */

/* Take a function with its parameters, inside of a local name. */
static struct tv_cxx_part cxx_take_encoding(struct tv_cxx_parser *c)
{
    unsigned types = c->types;
    c->types = 0;
    struct tv_cxx_part name = tv_cxx_take_name(c), qualifiers = c->qualifiers;
    bool returns = c->is_template && !c->is_constructor;
    if (tv_cxx_peek(c) != 'E' && tv_cxx_peek(c) != '\0') {
        if (returns)
            (void)tv_cxx_take_type(c);
        struct tv_cxx_part parameters = tv_cxx_take_types(c);
        name = tv_cxx_join(c, name, "", parameters);
        name = tv_cxx_join(c, name, "", qualifiers);
    }
    c->types = types;
    c->argument_count = 0; /* those of the function around it are lost */
    return name;
}

/* Skip the numbers of a thunk: "hn16_", "v0_n24_". */
static void cxx_skip_offsets(struct tv_cxx_parser *c, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        (void)tv_cxx_eat(c, 'n');
        (void)tv_cxx_take_number(c);
        tv_cxx_expect(c, '_');
    }
}

/* Take what is after "_Z". */
static struct tv_cxx_part cxx_take_whole(struct tv_cxx_parser *c)
{
    static const struct {
        char code[3];
        const char *text;
        bool type;
    } special[] = {{"TV", "vtable for ", true},
                   {"TT", "VTT for ", true},
                   {"TI", "typeinfo for ", true},
                   {"TS", "typeinfo name for ", true},
                   {"TH", "TLS init function for ", false},
                   {"TW", "TLS wrapper function for ", false},
                   {"GV", "guard variable for ", false}};
    for (size_t i = 0; i < TV_COUNT(special); i++)
        if (tv_cxx_eat_two(c, special[i].code)) {
            struct tv_cxx_part name = special[i].type ? tv_cxx_take_type(c) : tv_cxx_take_name(c);
            return tv_cxx_join(c, tv_cxx_text(c, special[i].text), "", name);
        }
    bool simple = tv_cxx_eat_two(c, "Th");
    if (simple || tv_cxx_eat_two(c, "Tv")) {
        cxx_skip_offsets(c, simple ? 1 : 2);
        struct tv_cxx_part name = tv_cxx_take_name(c);
        return tv_cxx_join(
            c, tv_cxx_text(c, simple ? "non-virtual thunk to " : "virtual thunk to "), "", name);
    }
    return tv_cxx_take_name(c);
}

/* Rust's older names end with a hash: "17h", 16 hexadecimal digits and the end of the name. */
static bool cxx_ends_with_hash(struct tv_bytes name)
{
    if (name.length < 24 || name.data[name.length - 1] != 'E')
        return false;
    const uint8_t *hash = name.data + name.length - 17;
    for (size_t i = 0; i < 16; i++)
        if (tv_hex_digit(hash[i]) < 0)
            return false;
    return memcmp(hash - 3, "17h", 3) == 0;
}

/* Decode what is after "_Z". */
static bool cxx_demangle_into(struct tv_cxx_parser *c, char *text, size_t room)
{
    struct tv_cxx_part name = cxx_take_whole(c);
    if (c->rust && name.length > HASH_LENGTH)
        name.length -= HASH_LENGTH;
    if (c->failed || name.length == 0 || name.length >= room)
        return false;
    memcpy(text, c->arena + name.start, name.length);
    text[name.length] = '\0';
    return true;
}

bool tv_cxx_demangle(struct tv_bytes mangled, char *text, size_t room)
{
    struct tv_bytes in = mangled;
    size_t skip = tv_bytes_starts_with(mangled, TV_BYTES("__Z")) ? 3 : 2;
    if ((skip == 2 && !tv_bytes_starts_with(mangled, TV_BYTES("_Z"))) ||
        mangled.length > CXX_LONGEST)
        return false;
    in.data += skip;
    in.length -= skip;
    bool rust = cxx_ends_with_hash(mangled);
    const uint8_t *dot = rust || in.length == 0 ? NULL : memchr(in.data, '.', in.length);
    if (dot) /* ".isra.0", ".cold": what the compiler did with the function */
        in.length = (size_t)(dot - in.data);
    /* Large: not on the stack of a thread. */
    struct tv_cxx_parser *c = tv_alloc(1, sizeof *c);
    c->in = in;
    c->rust = rust;
    bool decoded = cxx_demangle_into(c, text, room);
    tv_free(c);
    return decoded;
}

/* No linker's name has control characters; a NUL would end the readable name early. */
static bool native_name_has_controls(struct tv_bytes name)
{
    for (size_t i = 0; i < name.length; i++)
        if (name.data[i] < ' ' || name.data[i] == 0x7f)
            return true;
    return false;
}

bool tv_native_name(struct tv_bytes mangled, char *text, size_t room)
{
    if (!tv_is_mangled(mangled) || native_name_has_controls(mangled))
        return false;
    return mangled.data[1] == 'R' ? tv_rust_demangle(mangled, text, room)
                                  : tv_cxx_demangle(mangled, text, room);
}
