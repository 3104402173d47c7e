/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rust_name.c - a recursive descent over the grammar of RFC 2603 that prints while it parses.
 *
 *     _RNvNtC4shop5order3pay        N namespace path name   C crate   ->  shop::order::pay
 *     _RINvC4shop3payjE             I path arguments E                ->  shop::pay::<usize>
 *     _RNvMC4shopNtB2_5Order3pay    M path type, B2_ refers back      ->  <shop::Order>::pay
 *
 * Each function of the grammar eats its part of the name and prints it.  One letter tells which
 * rule comes next, so the parser tries no alternatives.
 *
 * A back reference is parsed and printed again, so that a short name can stand for a very long
 * one. Steps, depth and text therefore have limits; a name that exceeds one stays mangled.
 *
 * An error is not returned: it sets `failed`.  From then on rust_peek returns no letter and nothing
 * is printed, so every function ends by itself; only loops that eat up to a letter must look.
 */
#include "base/native_name.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

#define DEEPEST 100u
#define STEPS 10000u
#define IDENTIFIER 256u /* code points of an identifier with letters outside ASCII */

struct rust_demangler {
    struct tv_bytes in; /* the name after "_R" */
    size_t at;
    char *out;
    size_t used, room;
    unsigned depth, steps;
    uint64_t lifetimes; /* that are bound by the enclosing binders */
    bool silent;        /* parse without printing */
    bool failed;
};

/* ---- letters ---- */

static void rust_fail(struct rust_demangler *r)
{
    r->failed = true;
}

/* Return the next letter without eating it; NUL at the end of the name and after an error. */
static char rust_peek(const struct rust_demangler *r)
{
    return r->at < r->in.length && !r->failed ? (char)r->in.data[r->at] : '\0';
}

static char rust_next(struct rust_demangler *r)
{
    char letter = rust_peek(r);
    if (letter == '\0')
        rust_fail(r);
    else
        r->at++;
    return letter;
}

static bool rust_eat(struct rust_demangler *r, char letter)
{
    bool is = rust_peek(r) == letter;
    r->at += is;
    return is;
}

/* Print, unless that is switched off. A name that does not fit fails as a whole: half a name would
 * look like another function. */
static void rust_print_bytes(struct rust_demangler *r, const char *text, size_t length)
{
    assert(r->used <= r->room);
    if (r->silent || r->failed)
        return;
    if (length >= r->room - r->used) {
        rust_fail(r);
        return;
    }
    memcpy(r->out + r->used, text, length);
    r->used += length;
}

static void rust_print_text(struct rust_demangler *r, const char *text)
{
    rust_print_bytes(r, text, strlen(text));
}

static void rust_print_decimal(struct rust_demangler *r, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    rust_print_text(r, text);
}

/* ---- numbers and names ---- */

/* Return number * base + digit. A number of more than 64 bits is an error. */
static uint64_t rust_append_digit(struct rust_demangler *r, uint64_t number, uint64_t base,
                                  uint64_t digit)
{
    uint64_t product;
    if (__builtin_mul_overflow(number, base, &product) ||
        __builtin_add_overflow(product, digit, &number))
        rust_fail(r);
    return r->failed ? 0 : number;
}

/* Read a length.  It has no leading zeros, so a 0 is the whole number. */
static uint64_t rust_read_decimal(struct rust_demangler *r)
{
    uint64_t number = 0;
    if (rust_peek(r) < '0' || rust_peek(r) > '9')
        rust_fail(r);
    if (rust_eat(r, '0'))
        return 0;
    while (rust_peek(r) >= '0' && rust_peek(r) <= '9')
        number = rust_append_digit(r, number, 10, (uint64_t)(rust_next(r) - '0'));
    return number;
}

/* Read a number in base 62: "_" is 0, "0_" is 1, and so on. */
static uint64_t rust_read_base_62(struct rust_demangler *r)
{
    uint64_t number = 0;
    if (rust_eat(r, '_'))
        return 0;
    while (!r->failed && !rust_eat(r, '_')) {
        char letter = rust_next(r);
        uint64_t digit = letter >= '0' && letter <= '9'   ? (uint64_t)(letter - '0')
                         : letter >= 'a' && letter <= 'z' ? (uint64_t)(letter - 'a') + 10
                         : letter >= 'A' && letter <= 'Z' ? (uint64_t)(letter - 'A') + 36
                                                          : 62;
        if (digit == 62)
            rust_fail(r);
        number = rust_append_digit(r, number, 62, digit);
    }
    return rust_append_digit(r, number, 1, 1);
}

/* Read the number after an optional tag; 0 when the tag is missing. */
static uint64_t rust_read_tagged_number(struct rust_demangler *r, char tag)
{
    return rust_eat(r, tag) ? rust_append_digit(r, rust_read_base_62(r), 1, 1) : 0;
}

static void rust_print_code_point(struct rust_demangler *r, uint32_t c)
{
    uint8_t text[5] = {0};
    (void)tv_utf8_put(text, c);
    rust_print_text(r, (const char *)text);
}

/* Return the next bias of Punycode (RFC 3492, section 6.1). */
static uint32_t rust_adapt_bias(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / 700 : delta / 2;
    delta += delta / count;
    for (; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* Read one variable-length integer of Punycode. Return false when it does not end, or is too
 * large. */
static bool rust_read_punycode_number(struct tv_bytes text, size_t *at, uint32_t bias,
                                      uint32_t *number)
{
    uint64_t weight = 1, sum = *number;
    for (uint32_t k = 36; *at < text.length; k += 36) {
        uint8_t letter = text.data[(*at)++];
        uint32_t digit = letter >= 'a' && letter <= 'z'   ? (uint32_t)(letter - 'a')
                         : letter >= '0' && letter <= '9' ? (uint32_t)(letter - '0') + 26
                                                          : 36;
        uint32_t least = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        sum += digit * weight;
        if (digit == 36 || sum > UINT32_MAX)
            return false;
        *number = (uint32_t)sum;
        if (digit < least)
            return true;
        weight *= 36 - least;
        if (weight > UINT32_MAX)
            return false;
    }
    return false;
}

/* Print an identifier in Punycode: "gdel_5qa" is the letters "gdel" and the insertions "5qa". */
static void rust_print_punycode(struct rust_demangler *r, struct tv_bytes text)
{
    uint32_t points[IDENTIFIER], count = 0, code = 128, place = 0, bias = 72;
    size_t at = text.length;
    while (at > 0 && text.data[at - 1] != '_')
        at--;
    for (size_t i = 0; i + 1 < at && count < IDENTIFIER; i++)
        points[count++] = text.data[i];
    while (at < text.length && !r->failed) {
        uint32_t before = place;
        if (count == IDENTIFIER || !rust_read_punycode_number(text, &at, bias, &place)) {
            rust_fail(r);
            return;
        }
        bias = rust_adapt_bias(place - before, count + 1, before == 0);
        code += place / (count + 1);
        place %= count + 1;
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
            rust_fail(r);
            return;
        }
        memmove(points + place + 1, points + place, (count - place) * sizeof *points);
        points[place++] = code;
        count++;
    }
    for (uint32_t i = 0; i < count; i++)
        rust_print_code_point(r, points[i]);
}

struct rust_identifier {
    uint64_t disambiguator;
    struct tv_bytes text;
    bool is_punycode;
};

/* Read the length and the bytes of an identifier. A "_" between them keeps the length apart from a
 * name that begins with a digit or with "_". */
static struct rust_identifier rust_read_plain_identifier(struct rust_demangler *r)
{
    struct rust_identifier found = {.is_punycode = rust_eat(r, 'u')};
    uint64_t length = rust_read_decimal(r);
    assert(r->at <= r->in.length);
    (void)rust_eat(r, '_');
    if (r->failed || length > r->in.length - r->at) {
        rust_fail(r);
        return found;
    }
    found.text = (struct tv_bytes){r->in.data + r->at, (size_t)length};
    r->at += (size_t)length;
    return found;
}

/* Read an identifier after its disambiguator, which tells things of one name apart: the crates of
 * two versions, or the closures of one function. */
static struct rust_identifier rust_read_identifier(struct rust_demangler *r)
{
    uint64_t disambiguator = rust_read_tagged_number(r, 's');
    struct rust_identifier found = rust_read_plain_identifier(r);
    found.disambiguator = disambiguator;
    return found;
}

static void rust_print_identifier(struct rust_demangler *r, const struct rust_identifier *name)
{
    if (name->is_punycode)
        rust_print_punycode(r, name->text);
    else
        rust_print_bytes(r, (const char *)name->text.data, name->text.length);
}

/* ---- paths, types and constants ---- */

static void rust_print_path(struct rust_demangler *r, bool in_value);
static void rust_print_type(struct rust_demangler *r);
static void rust_print_constant(struct rust_demangler *r);

/* Begin a path, a type or a constant, or a back reference to one. The caller decreases `depth` at
 * the end, unless this failed. A reference may lead to something that contains it; depth ends that.
 */
static bool rust_enter_level(struct rust_demangler *r)
{
    if (r->depth >= DEEPEST || ++r->steps > STEPS)
        rust_fail(r);
    r->depth++;
    return !r->failed;
}

typedef void rust_print_function(struct rust_demangler *r);

static void rust_print_path_of_type(struct rust_demangler *r)
{
    rust_print_path(r, false);
}

static void rust_print_path_of_value(struct rust_demangler *r)
{
    rust_print_path(r, true);
}

/* Print an earlier part of the name again. */
static void rust_print_back_reference(struct rust_demangler *r, rust_print_function *put)
{
    size_t tag = r->at - 1;
    uint64_t target = rust_read_base_62(r);
    size_t after = r->at;
    if (target >= tag)
        rust_fail(r);
    if (r->failed || r->silent || !rust_enter_level(r))
        return;
    r->at = (size_t)target;
    put(r);
    r->at = after;
    r->depth--;
}

/* Print a lifetime by its number: 1 is the one bound last, 2 the one before it, and 0 is erased.
 * Names count from the outermost binder, so that a lifetime has one name however deep it is used.
 */
static void rust_print_lifetime(struct rust_demangler *r, uint64_t number)
{
    char letter[2] = "";
    assert(r->depth > 0);
    if (number > r->lifetimes) {
        rust_fail(r);
        return;
    }
    uint64_t depth = r->lifetimes - number;
    rust_print_text(r, "'");
    if (number == 0) {
        rust_print_text(r, "_");
    } else if (depth < 26) {
        letter[0] = (char)('a' + depth);
        rust_print_text(r, letter);
    } else {
        rust_print_text(r, "_");
        rust_print_decimal(r, depth);
    }
}

/* Print for<'a, 'b>. Return the number of bound lifetimes to restore after the binder. */
static uint64_t rust_print_lifetime_binder(struct rust_demangler *r)
{
    uint64_t before = r->lifetimes, count = rust_read_tagged_number(r, 'G');
    if (count > 1000)
        rust_fail(r);
    if (count == 0 || r->failed)
        return before;
    rust_print_text(r, "for<");
    for (uint64_t i = 0; i < count; i++) {
        rust_print_text(r, i > 0 ? ", " : "");
        r->lifetimes++;
        rust_print_lifetime(r, 1);
    }
    rust_print_text(r, "> ");
    return before;
}

/* Print one argument in angle brackets: a lifetime, a constant or a type. */
static void rust_print_generic_argument(struct rust_demangler *r)
{
    if (rust_eat(r, 'L'))
        rust_print_lifetime(r, rust_read_base_62(r));
    else if (rust_eat(r, 'K'))
        rust_print_constant(r);
    else
        rust_print_type(r);
}

/* Print a list up to "E", with commas between its items. Return their number. */
static unsigned rust_print_comma_list(struct rust_demangler *r, rust_print_function *put)
{
    unsigned count = 0;
    while (!r->failed && !rust_eat(r, 'E')) {
        rust_print_text(r, count++ > 0 ? ", " : "");
        put(r);
    }
    return count;
}

/* Skip the path of an implementation: its type says the same. */
static void rust_skip_path(struct rust_demangler *r)
{
    bool silent = r->silent;
    r->silent = true;
    (void)rust_read_tagged_number(r, 's');
    rust_print_path(r, false);
    r->silent = silent;
}

/* Print <Type> of an inherent implementation (M), or <Type as Trait> of a trait's (X, and Y, which
 * has no path of its own). */
static void rust_print_implementation(struct rust_demangler *r, char tag)
{
    if (tag != 'Y')
        rust_skip_path(r);
    rust_print_text(r, "<");
    rust_print_type(r);
    if (tag != 'M') {
        rust_print_text(r, " as ");
        rust_print_path(r, false);
    }
    rust_print_text(r, ">");
}

/* Print a path with a name in it. Upper-case namespaces are for closures and shims, which have a
 * number instead of a name. */
static void rust_print_nested_path(struct rust_demangler *r, bool in_value)
{
    char space = rust_next(r);
    char letter[2] = {space, '\0'};
    rust_print_path(r, in_value);
    struct rust_identifier name = rust_read_identifier(r);
    if (space >= 'A' && space <= 'Z') {
        rust_print_text(r, "::{");
        rust_print_text(r, space == 'C' ? "closure" : space == 'S' ? "shim" : letter);
        if (name.text.length > 0) {
            rust_print_text(r, ":");
            rust_print_identifier(r, &name);
        }
        rust_print_text(r, "#");
        rust_print_decimal(r, name.disambiguator);
        rust_print_text(r, "}");
    } else if (space < 'a' || space > 'z') {
        rust_fail(r);
    } else if (name.text.length > 0) {
        rust_print_text(r, "::");
        rust_print_identifier(r, &name);
    }
}

/* Print a path. `in_value`: it names a value, in which arguments need "::" before their bracket. */
static void rust_print_path(struct rust_demangler *r, bool in_value)
{
    if (!rust_enter_level(r))
        return;
    char tag = rust_next(r);
    struct rust_identifier name;
    switch (tag) {
    case 'C':
        name = rust_read_identifier(r);
        rust_print_identifier(r, &name);
        break;
    case 'M':
    case 'X':
    case 'Y':
        rust_print_implementation(r, tag);
        break;
    case 'N':
        rust_print_nested_path(r, in_value);
        break;
    case 'I':
        rust_print_path(r, in_value);
        rust_print_text(r, in_value ? "::<" : "<");
        (void)rust_print_comma_list(r, rust_print_generic_argument);
        rust_print_text(r, ">");
        break;
    case 'B':
        rust_print_back_reference(r, in_value ? rust_print_path_of_value : rust_print_path_of_type);
        break;
    default:
        rust_fail(r);
    }
    r->depth--;
}

/* Return the type that a lower-case letter stands for; NULL: the letter begins another rule, or
 * none. */
static const char *rust_basic_type(char tag)
{
    static const char *const types[26] = {"i8",   "bool",  "char",  "f64", "str", "f32", NULL,
                                          "u8",   "isize", "usize", NULL,  "i32", "u32", "i128",
                                          "u128", "_",     NULL,    NULL,  "i16", "u16", "()",
                                          "...",  NULL,    "i64",   "u64", "!"};
    return tag >= 'a' && tag <= 'z' ? types[tag - 'a'] : NULL;
}

/* Print a function pointer: [binder] ["U": unsafe] ["K" and an ABI] arguments "E" result. */
static void rust_print_function_type(struct rust_demangler *r)
{
    uint64_t before = rust_print_lifetime_binder(r);
    if (rust_eat(r, 'U'))
        rust_print_text(r, "unsafe ");
    if (rust_eat(r, 'K')) {
        struct rust_identifier abi = {.text = TV_BYTES("C")};
        if (!rust_eat(r, 'C'))
            abi = rust_read_plain_identifier(r);
        rust_print_text(r, "extern \"");
        /* The ABI "C_unwind" is printed as "C-unwind". */
        for (size_t i = 0; i < abi.text.length; i++)
            rust_print_bytes(r, abi.text.data[i] == '_' ? "-" : (const char *)&abi.text.data[i], 1);
        rust_print_text(r, "\" ");
    }
    rust_print_text(r, "fn(");
    (void)rust_print_comma_list(r, rust_print_type);
    rust_print_text(r, ")");
    if (!rust_eat(r, 'u')) {
        rust_print_text(r, " -> ");
        rust_print_type(r);
    }
    r->lifetimes = before;
}

/* Print a trait with its bound types: Iterator<Item = u8>. */
static void rust_print_trait_bound(struct rust_demangler *r)
{
    bool open = false;
    /* The trait's own arguments share the brackets. */
    if (rust_peek(r) == 'I') {
        r->at++;
        rust_print_path(r, false);
        rust_print_text(r, "<");
        open = true;
        (void)rust_print_comma_list(r, rust_print_generic_argument);
    } else {
        rust_print_path(r, false);
    }
    while (rust_eat(r, 'p')) {
        rust_print_text(r, open ? ", " : "<");
        open = true;
        struct rust_identifier name = rust_read_plain_identifier(r);
        rust_print_identifier(r, &name);
        rust_print_text(r, " = ");
        rust_print_type(r);
    }
    rust_print_text(r, open ? ">" : "");
}

/* Print "dyn A + B + 'a".  The binder covers the traits but not the lifetime after them. */
static void rust_print_dynamic_type(struct rust_demangler *r)
{
    rust_print_text(r, "dyn ");
    uint64_t before = rust_print_lifetime_binder(r);
    unsigned count = 0;
    while (!r->failed && !rust_eat(r, 'E')) {
        rust_print_text(r, count++ > 0 ? " + " : "");
        rust_print_trait_bound(r);
    }
    r->lifetimes = before;
    if (!rust_eat(r, 'L')) {
        rust_fail(r);
        return;
    }
    uint64_t lifetime = rust_read_base_62(r);
    if (lifetime > 0) {
        rust_print_text(r, " + ");
        rust_print_lifetime(r, lifetime);
    }
}

/* Print a reference; its lifetime only where it is not erased. */
static void rust_print_reference_type(struct rust_demangler *r, bool is_mutable)
{
    rust_print_text(r, "&");
    if (rust_eat(r, 'L')) {
        uint64_t lifetime = rust_read_base_62(r);
        if (lifetime > 0) {
            rust_print_lifetime(r, lifetime);
            rust_print_text(r, " ");
        }
    }
    rust_print_text(r, is_mutable ? "mut " : "");
    rust_print_type(r);
}

/* Print an array, slice, tuple or raw pointer; any other letter begins the path of a named type. */
static void rust_print_compound_type(struct rust_demangler *r, char tag)
{
    switch (tag) {
    case 'A':
    case 'S':
        rust_print_text(r, "[");
        rust_print_type(r);
        if (tag == 'A') {
            rust_print_text(r, "; ");
            rust_print_constant(r);
        }
        rust_print_text(r, "]");
        break;
    case 'T':
        rust_print_text(r, "(");
        if (rust_print_comma_list(r, rust_print_type) == 1)
            rust_print_text(r, ",");
        rust_print_text(r, ")");
        break;
    case 'P':
    case 'O':
        rust_print_text(r, tag == 'P' ? "*const " : "*mut ");
        rust_print_type(r);
        break;
    default:
        r->at--;
        rust_print_path(r, false);
    }
}

/* Print a type by its tag. Basic types have a letter each. */
static void rust_print_type(struct rust_demangler *r)
{
    if (!rust_enter_level(r))
        return;
    char tag = rust_next(r);
    const char *basic = rust_basic_type(tag);
    if (basic)
        rust_print_text(r, basic);
    else if (tag == 'R' || tag == 'Q')
        rust_print_reference_type(r, tag == 'Q');
    else if (tag == 'F')
        rust_print_function_type(r);
    else if (tag == 'D')
        rust_print_dynamic_type(r);
    else if (tag == 'B')
        rust_print_back_reference(r, rust_print_type);
    else
        rust_print_compound_type(r, tag);
    r->depth--;
}

/* Read hexadecimal digits up to "_". */
static struct tv_bytes rust_read_hex_digits(struct rust_demangler *r)
{
    size_t from = r->at;
    while (rust_peek(r) && strchr("0123456789abcdef", rust_peek(r)))
        r->at++;
    struct tv_bytes digits = {r->in.data + from, r->at - from};
    if (!rust_eat(r, '_'))
        rust_fail(r);
    return digits;
}

/* Convert hexadecimal digits; more than 16 of them are an error. */
static uint64_t rust_value_of_hex(struct rust_demangler *r, struct tv_bytes digits)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.length; i++) {
        uint8_t digit = digits.data[i];
        value = rust_append_digit(
            r, value, 16, digit <= '9' ? (uint64_t)(digit - '0') : (uint64_t)(digit - 'a') + 10);
    }
    return value;
}

static void rust_print_integer(struct rust_demangler *r, bool is_signed)
{
    if (is_signed && rust_eat(r, 'n'))
        rust_print_text(r, "-");
    struct tv_bytes digits = rust_read_hex_digits(r);
    if (digits.length > 16) { /* more than 64 bits: printed as they are */
        rust_print_text(r, "0x");
        rust_print_bytes(r, (const char *)digits.data, digits.length);
    } else {
        rust_print_decimal(r, rust_value_of_hex(r, digits));
    }
}

/* Print a constant of type char in quotes. A control character would change how the name is shown,
 * so it is an error. */
static void rust_print_character(struct rust_demangler *r)
{
    uint64_t value = rust_value_of_hex(r, rust_read_hex_digits(r));
    if (value > 0x10FFFF || value < ' ') {
        rust_fail(r);
        return;
    }
    rust_print_text(r, "'");
    rust_print_text(r, value == '\'' || value == '\\' ? "\\" : "");
    rust_print_code_point(r, (uint32_t)value);
    rust_print_text(r, "'");
}

/* Print a constant: its type is one letter, its value follows in hexadecimal digits. */
static void rust_print_constant(struct rust_demangler *r)
{
    if (!rust_enter_level(r))
        return;
    char tag = rust_next(r);
    if (tag == '\0')
        rust_fail(r);
    else if (tag == 'B')
        rust_print_back_reference(r, rust_print_constant);
    else if (tag == 'p')
        rust_print_text(r, "_");
    else if (strchr("htmyoj", tag) || strchr("aslxni", tag))
        rust_print_integer(r, strchr("aslxni", tag) != NULL);
    else if (tag == 'b')
        rust_print_text(r, rust_value_of_hex(r, rust_read_hex_digits(r)) == 0 ? "false" : "true");
    else if (tag == 'c')
        rust_print_character(r);
    else
        rust_fail(r);
    r->depth--;
}

bool tv_rust_demangle(struct tv_bytes mangled, char *text, size_t room)
{
    if (room == 0 || !tv_bytes_starts_with(mangled, TV_BYTES("_R")))
        return false;
    struct rust_demangler r = {
        .in = {mangled.data + 2, mangled.length - 2}, .out = text, .room = room};
    /* Suffixes of LLVM begin with a dot, which no mangled name contains. */
    const uint8_t *dot = memchr(r.in.data, '.', r.in.length);
    if (dot)
        r.in.length = (size_t)(dot - r.in.data);
    rust_print_path(&r, true);
    if (r.at < r.in.length) { /* the crate that instantiated the function */
        r.silent = true;
        rust_print_path(&r, false);
    }
    if (r.failed || r.at < r.in.length || r.used == 0)
        return false;
    text[r.used] = '\0';
    return true;
}
