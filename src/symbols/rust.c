/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rust.c - a recursive descent over the grammar of RFC 2603, which prints as it goes.
 *
 *     _RNvNtC4shop5order3pay        N namespace path name   C crate   ->  shop::order::pay
 *     _RINvC4shop3payjE             I path arguments E                ->  shop::pay::<usize>
 *     _RNvMC4shopNtB2_5Order3pay    M path type, B2_ points back      ->  <shop::Order>::pay
 *
 * What is pointed back to is printed again, so that a short name could mean a very long one: steps,
 * depth and text have limits, and a name that passes one stays mangled.
 */
#include "symbols/rust.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

#define DEEPEST 100u
#define STEPS 10000u
#define IDENTIFIER 256u /* code points of one with other than ASCII letters */

struct rust {
    struct tv_bytes in; /* behind "_R" */
    size_t at;
    char *out;
    size_t used, room;
    unsigned depth, steps;
    uint64_t lifetimes; /* that are bound around here */
    bool silent;        /* read on without printing */
    bool failed;
};

/* ---- letters ---- */

static void fail(struct rust *r)
{
    r->failed = true;
}

static char peek(const struct rust *r)
{
    return r->at < r->in.length && !r->failed ? (char)r->in.data[r->at] : '\0';
}

static char next_letter(struct rust *r)
{
    char letter = peek(r);
    if (letter == '\0')
        fail(r);
    else
        r->at++;
    return letter;
}

static bool eat(struct rust *r, char letter)
{
    bool is = peek(r) == letter;
    r->at += is;
    return is;
}

static void print_bytes(struct rust *r, const char *text, size_t length)
{
    if (r->silent || r->failed)
        return;
    if (length >= r->room - r->used) {
        fail(r);
        return;
    }
    memcpy(r->out + r->used, text, length);
    r->used += length;
}

static void print(struct rust *r, const char *text)
{
    print_bytes(r, text, strlen(text));
}

static void print_number(struct rust *r, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    print(r, text);
}

/* ---- numbers and names ---- */

static uint64_t add_digit(struct rust *r, uint64_t number, uint64_t base, uint64_t digit)
{
    uint64_t product;
    if (__builtin_mul_overflow(number, base, &product) ||
        __builtin_add_overflow(product, digit, &number))
        fail(r);
    return r->failed ? 0 : number;
}

static uint64_t read_decimal(struct rust *r)
{
    uint64_t number = 0;
    if (peek(r) < '0' || peek(r) > '9')
        fail(r);
    if (eat(r, '0'))
        return 0;
    while (peek(r) >= '0' && peek(r) <= '9')
        number = add_digit(r, number, 10, (uint64_t)(next_letter(r) - '0'));
    return number;
}

/* "_" is 0, "0_" is 1, and so on. */
static uint64_t read_base_62(struct rust *r)
{
    uint64_t number = 0;
    if (eat(r, '_'))
        return 0;
    while (!r->failed && !eat(r, '_')) {
        char letter = next_letter(r);
        uint64_t digit = letter >= '0' && letter <= '9'   ? (uint64_t)(letter - '0')
                         : letter >= 'a' && letter <= 'z' ? (uint64_t)(letter - 'a') + 10
                         : letter >= 'A' && letter <= 'Z' ? (uint64_t)(letter - 'A') + 36
                                                          : 62;
        if (digit == 62)
            fail(r);
        number = add_digit(r, number, 62, digit);
    }
    return add_digit(r, number, 1, 1);
}

/* 0: there is none. */
static uint64_t read_tagged_number(struct rust *r, char tag)
{
    return eat(r, tag) ? add_digit(r, read_base_62(r), 1, 1) : 0;
}

static void print_code_point(struct rust *r, uint32_t c)
{
    char text[5] = "";
    if (c < 0x80) {
        text[0] = (char)c;
    } else if (c < 0x800) {
        text[0] = (char)(0xC0 | c >> 6);
        text[1] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        text[0] = (char)(0xE0 | c >> 12);
        text[1] = (char)(0x80 | (c >> 6 & 0x3F));
        text[2] = (char)(0x80 | (c & 0x3F));
    } else {
        text[0] = (char)(0xF0 | c >> 18);
        text[1] = (char)(0x80 | (c >> 12 & 0x3F));
        text[2] = (char)(0x80 | (c >> 6 & 0x3F));
        text[3] = (char)(0x80 | (c & 0x3F));
    }
    print(r, text);
}

/* How far the insertions of Punycode are apart (RFC 3492, section 6.1). */
static uint32_t adapt(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / 700 : delta / 2;
    delta += delta / count;
    for (; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* One number of Punycode; false: it does not end, or is too large. */
static bool read_variable(struct tv_bytes text, size_t *at, uint32_t bias, uint32_t *number)
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

/* "gdel_5qa" is the letters "gdel" and where others stand among them. */
static void print_punycode(struct rust *r, struct tv_bytes text)
{
    uint32_t points[IDENTIFIER], count = 0, code = 128, place = 0, bias = 72;
    size_t at = text.length;
    while (at > 0 && text.data[at - 1] != '_')
        at--;
    for (size_t i = 0; i + 1 < at && count < IDENTIFIER; i++)
        points[count++] = text.data[i];
    while (at < text.length && !r->failed) {
        uint32_t before = place;
        if (count == IDENTIFIER || !read_variable(text, &at, bias, &place)) {
            fail(r);
            return;
        }
        bias = adapt(place - before, count + 1, before == 0);
        code += place / (count + 1);
        place %= count + 1;
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
            fail(r);
            return;
        }
        memmove(points + place + 1, points + place, (count - place) * sizeof *points);
        points[place++] = code;
        count++;
    }
    for (uint32_t i = 0; i < count; i++)
        print_code_point(r, points[i]);
}

struct identifier {
    uint64_t disambiguator;
    struct tv_bytes text;
    bool is_punycode;
};

static struct identifier read_plain_identifier(struct rust *r)
{
    struct identifier found = {.is_punycode = eat(r, 'u')};
    uint64_t length = read_decimal(r);
    (void)eat(r, '_');
    if (r->failed || length > r->in.length - r->at) {
        fail(r);
        return found;
    }
    found.text = (struct tv_bytes){r->in.data + r->at, (size_t)length};
    r->at += (size_t)length;
    return found;
}

static struct identifier read_identifier(struct rust *r)
{
    uint64_t disambiguator = read_tagged_number(r, 's');
    struct identifier found = read_plain_identifier(r);
    found.disambiguator = disambiguator;
    return found;
}

static void print_identifier(struct rust *r, const struct identifier *name)
{
    if (name->is_punycode)
        print_punycode(r, name->text);
    else
        print_bytes(r, (const char *)name->text.data, name->text.length);
}

/* ---- paths, types and constants ---- */

static void put_path(struct rust *r, bool in_value);
static void put_type(struct rust *r);
static void put_constant(struct rust *r);

static bool go_down(struct rust *r)
{
    if (r->depth >= DEEPEST || ++r->steps > STEPS)
        fail(r);
    r->depth++;
    return !r->failed;
}

typedef void put_thing(struct rust *r);

static void put_path_of_type(struct rust *r)
{
    put_path(r, false);
}

static void put_path_of_value(struct rust *r)
{
    put_path(r, true);
}

/* What stands earlier in the name, once more. */
static void put_back_reference(struct rust *r, put_thing *put)
{
    size_t tag = r->at - 1;
    uint64_t target = read_base_62(r);
    size_t behind = r->at;
    if (target >= tag)
        fail(r);
    if (r->failed || r->silent || !go_down(r))
        return;
    r->at = (size_t)target;
    put(r);
    r->at = behind;
    r->depth--;
}

static void print_lifetime(struct rust *r, uint64_t number)
{
    char letter[2] = "";
    if (number > r->lifetimes) {
        fail(r);
        return;
    }
    uint64_t depth = r->lifetimes - number;
    print(r, "'");
    if (number == 0) {
        print(r, "_");
    } else if (depth < 26) {
        letter[0] = (char)('a' + depth);
        print(r, letter);
    } else {
        print(r, "_");
        print_number(r, depth);
    }
}

/* for<'a, 'b>; what to give back afterwards. */
static uint64_t put_binder(struct rust *r)
{
    uint64_t before = r->lifetimes, count = read_tagged_number(r, 'G');
    if (count > 1000)
        fail(r);
    if (count == 0 || r->failed)
        return before;
    print(r, "for<");
    for (uint64_t i = 0; i < count; i++) {
        print(r, i > 0 ? ", " : "");
        r->lifetimes++;
        print_lifetime(r, 1);
    }
    print(r, "> ");
    return before;
}

static void put_argument(struct rust *r)
{
    if (eat(r, 'L'))
        print_lifetime(r, read_base_62(r));
    else if (eat(r, 'K'))
        put_constant(r);
    else
        put_type(r);
}

/* Up to "E", with commas between; how many. */
static unsigned put_list(struct rust *r, put_thing *put)
{
    unsigned count = 0;
    while (!r->failed && !eat(r, 'E')) {
        print(r, count++ > 0 ? ", " : "");
        put(r);
    }
    return count;
}

/* The place of an implementation, which says nothing that its type does not. */
static void pass_over_place(struct rust *r)
{
    bool silent = r->silent;
    r->silent = true;
    (void)read_tagged_number(r, 's');
    put_path(r, false);
    r->silent = silent;
}

static void put_implementation(struct rust *r, char tag)
{
    if (tag != 'Y')
        pass_over_place(r);
    print(r, "<");
    put_type(r);
    if (tag != 'M') {
        print(r, " as ");
        put_path(r, false);
    }
    print(r, ">");
}

/* Upper case is for what has no name in the program, or a number. */
static void put_nested(struct rust *r, bool in_value)
{
    char space = next_letter(r);
    char letter[2] = {space, '\0'};
    put_path(r, in_value);
    struct identifier name = read_identifier(r);
    if (space >= 'A' && space <= 'Z') {
        print(r, "::{");
        print(r, space == 'C' ? "closure" : space == 'S' ? "shim" : letter);
        if (name.text.length > 0) {
            print(r, ":");
            print_identifier(r, &name);
        }
        print(r, "#");
        print_number(r, name.disambiguator);
        print(r, "}");
    } else if (space < 'a' || space > 'z') {
        fail(r);
    } else if (name.text.length > 0) {
        print(r, "::");
        print_identifier(r, &name);
    }
}

static void put_path(struct rust *r, bool in_value)
{
    if (!go_down(r))
        return;
    char tag = next_letter(r);
    struct identifier name;
    switch (tag) {
    case 'C':
        name = read_identifier(r);
        print_identifier(r, &name);
        break;
    case 'M':
    case 'X':
    case 'Y':
        put_implementation(r, tag);
        break;
    case 'N':
        put_nested(r, in_value);
        break;
    case 'I':
        put_path(r, in_value);
        print(r, in_value ? "::<" : "<");
        (void)put_list(r, put_argument);
        print(r, ">");
        break;
    case 'B':
        put_back_reference(r, in_value ? put_path_of_value : put_path_of_type);
        break;
    default:
        fail(r);
    }
    r->depth--;
}

static const char *basic_type(char tag)
{
    static const char *const types[26] = {"i8",   "bool",  "char",  "f64", "str", "f32", NULL,
                                          "u8",   "isize", "usize", NULL,  "i32", "u32", "i128",
                                          "u128", "_",     NULL,    NULL,  "i16", "u16", "()",
                                          "...",  NULL,    "i64",   "u64", "!"};
    return tag >= 'a' && tag <= 'z' ? types[tag - 'a'] : NULL;
}

static void put_function(struct rust *r)
{
    uint64_t before = put_binder(r);
    if (eat(r, 'U'))
        print(r, "unsafe ");
    if (eat(r, 'K')) {
        struct identifier abi = {.text = TV_BYTES("C")};
        if (!eat(r, 'C'))
            abi = read_plain_identifier(r);
        print(r, "extern \"");
        /* "C_unwind" stands for "C-unwind". */
        for (size_t i = 0; i < abi.text.length; i++)
            print_bytes(r, abi.text.data[i] == '_' ? "-" : (const char *)&abi.text.data[i], 1);
        print(r, "\" ");
    }
    print(r, "fn(");
    (void)put_list(r, put_type);
    print(r, ")");
    if (!eat(r, 'u')) {
        print(r, " -> ");
        put_type(r);
    }
    r->lifetimes = before;
}

/* A trait with the types that it is bound to: Iterator<Item = u8>. */
static void put_trait(struct rust *r)
{
    bool open = false;
    /* Its own arguments stand in the same brackets. */
    if (peek(r) == 'I') {
        r->at++;
        put_path(r, false);
        print(r, "<");
        open = true;
        (void)put_list(r, put_argument);
    } else {
        put_path(r, false);
    }
    while (eat(r, 'p')) {
        print(r, open ? ", " : "<");
        open = true;
        struct identifier name = read_plain_identifier(r);
        print_identifier(r, &name);
        print(r, " = ");
        put_type(r);
    }
    print(r, open ? ">" : "");
}

static void put_dynamic(struct rust *r)
{
    print(r, "dyn ");
    uint64_t before = put_binder(r);
    unsigned count = 0;
    while (!r->failed && !eat(r, 'E')) {
        print(r, count++ > 0 ? " + " : "");
        put_trait(r);
    }
    r->lifetimes = before;
    if (!eat(r, 'L')) {
        fail(r);
        return;
    }
    uint64_t lifetime = read_base_62(r);
    if (lifetime > 0) {
        print(r, " + ");
        print_lifetime(r, lifetime);
    }
}

static void put_reference(struct rust *r, bool is_mutable)
{
    print(r, "&");
    if (eat(r, 'L')) {
        uint64_t lifetime = read_base_62(r);
        if (lifetime > 0) {
            print_lifetime(r, lifetime);
            print(r, " ");
        }
    }
    print(r, is_mutable ? "mut " : "");
    put_type(r);
}

static void put_compound(struct rust *r, char tag)
{
    switch (tag) {
    case 'A':
    case 'S':
        print(r, "[");
        put_type(r);
        if (tag == 'A') {
            print(r, "; ");
            put_constant(r);
        }
        print(r, "]");
        break;
    case 'T':
        print(r, "(");
        if (put_list(r, put_type) == 1)
            print(r, ",");
        print(r, ")");
        break;
    case 'P':
    case 'O':
        print(r, tag == 'P' ? "*const " : "*mut ");
        put_type(r);
        break;
    default:
        r->at--;
        put_path(r, false);
    }
}

static void put_type(struct rust *r)
{
    if (!go_down(r))
        return;
    char tag = next_letter(r);
    const char *basic = basic_type(tag);
    if (basic)
        print(r, basic);
    else if (tag == 'R' || tag == 'Q')
        put_reference(r, tag == 'Q');
    else if (tag == 'F')
        put_function(r);
    else if (tag == 'D')
        put_dynamic(r);
    else if (tag == 'B')
        put_back_reference(r, put_type);
    else
        put_compound(r, tag);
    r->depth--;
}

/* Digits of 16, up to "_". */
static struct tv_bytes read_hex(struct rust *r)
{
    size_t from = r->at;
    while (peek(r) && strchr("0123456789abcdef", peek(r)))
        r->at++;
    struct tv_bytes digits = {r->in.data + from, r->at - from};
    if (!eat(r, '_'))
        fail(r);
    return digits;
}

static uint64_t value_of(struct rust *r, struct tv_bytes digits)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.length; i++) {
        uint8_t digit = digits.data[i];
        value = add_digit(r, value, 16,
                          digit <= '9' ? (uint64_t)(digit - '0') : (uint64_t)(digit - 'a') + 10);
    }
    return value;
}

static void put_integer(struct rust *r, bool is_signed)
{
    if (is_signed && eat(r, 'n'))
        print(r, "-");
    struct tv_bytes digits = read_hex(r);
    if (digits.length > 16) { /* more than 64 bits stay as they are */
        print(r, "0x");
        print_bytes(r, (const char *)digits.data, digits.length);
    } else {
        print_number(r, value_of(r, digits));
    }
}

static void put_character(struct rust *r)
{
    uint64_t value = value_of(r, read_hex(r));
    if (value > 0x10FFFF || value < ' ') {
        fail(r);
        return;
    }
    print(r, "'");
    print(r, value == '\'' || value == '\\' ? "\\" : "");
    print_code_point(r, (uint32_t)value);
    print(r, "'");
}

static void put_constant(struct rust *r)
{
    if (!go_down(r))
        return;
    char tag = next_letter(r);
    if (tag == '\0')
        fail(r);
    else if (tag == 'B')
        put_back_reference(r, put_constant);
    else if (tag == 'p')
        print(r, "_");
    else if (strchr("htmyoj", tag) || strchr("aslxni", tag))
        put_integer(r, strchr("aslxni", tag) != NULL);
    else if (tag == 'b')
        print(r, value_of(r, read_hex(r)) == 0 ? "false" : "true");
    else if (tag == 'c')
        put_character(r);
    else
        fail(r);
    r->depth--;
}

bool tv_rust_demangle(struct tv_bytes mangled, char *text, size_t room)
{
    if (room == 0 || !tv_bytes_starts_with(mangled, TV_BYTES("_R")))
        return false;
    struct rust r = {.in = {mangled.data + 2, mangled.length - 2}, .out = text, .room = room};
    /* What LLVM appends begins with a dot, which no name has. */
    const uint8_t *dot = memchr(r.in.data, '.', r.in.length);
    if (dot)
        r.in.length = (size_t)(dot - r.in.data);
    put_path(&r, true);
    if (r.at < r.in.length) { /* the crate that made this instance */
        r.silent = true;
        put_path(&r, false);
    }
    if (r.failed || r.at < r.in.length || r.used == 0)
        return false;
    text[r.used] = '\0';
    return true;
}
