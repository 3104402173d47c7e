/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rust.c - a recursive descent over the grammar of RFC 2603, which prints as it goes.
 *
 *     _RNvNtC4shop5order3pay        N namespace path name   C crate   ->  shop::order::pay
 *     _RINvC4shop3payjE             I path arguments E                ->  shop::pay::<usize>
 *     _RNvMC4shopNtB2_5Order3pay    M path type, B2_ points back      ->  <shop::Order>::pay
 *
 * Back references are printed again, so that a short name could mean a very long one: steps,
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

static void fail_name(struct rust *r)
{
    r->failed = true;
}

static char peek_letter(const struct rust *r)
{
    return r->at < r->in.length && !r->failed ? (char)r->in.data[r->at] : '\0';
}

static char next_letter(struct rust *r)
{
    char letter = peek_letter(r);
    if (letter == '\0')
        fail_name(r);
    else
        r->at++;
    return letter;
}

static bool eat_letter(struct rust *r, char letter)
{
    bool is = peek_letter(r) == letter;
    r->at += is;
    return is;
}

static void print_bytes(struct rust *r, const char *text, size_t length)
{
    if (r->silent || r->failed)
        return;
    if (length >= r->room - r->used) {
        fail_name(r);
        return;
    }
    memcpy(r->out + r->used, text, length);
    r->used += length;
}

static void print_text(struct rust *r, const char *text)
{
    print_bytes(r, text, strlen(text));
}

static void print_decimal(struct rust *r, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    print_text(r, text);
}

/* ---- numbers and names ---- */

static uint64_t append_digit(struct rust *r, uint64_t number, uint64_t base, uint64_t digit)
{
    uint64_t product;
    if (__builtin_mul_overflow(number, base, &product) ||
        __builtin_add_overflow(product, digit, &number))
        fail_name(r);
    return r->failed ? 0 : number;
}

static uint64_t read_decimal(struct rust *r)
{
    uint64_t number = 0;
    if (peek_letter(r) < '0' || peek_letter(r) > '9')
        fail_name(r);
    if (eat_letter(r, '0'))
        return 0;
    while (peek_letter(r) >= '0' && peek_letter(r) <= '9')
        number = append_digit(r, number, 10, (uint64_t)(next_letter(r) - '0'));
    return number;
}

/* "_" is 0, "0_" is 1, and so on. */
static uint64_t read_base_62(struct rust *r)
{
    uint64_t number = 0;
    if (eat_letter(r, '_'))
        return 0;
    while (!r->failed && !eat_letter(r, '_')) {
        char letter = next_letter(r);
        uint64_t digit = letter >= '0' && letter <= '9'   ? (uint64_t)(letter - '0')
                         : letter >= 'a' && letter <= 'z' ? (uint64_t)(letter - 'a') + 10
                         : letter >= 'A' && letter <= 'Z' ? (uint64_t)(letter - 'A') + 36
                                                          : 62;
        if (digit == 62)
            fail_name(r);
        number = append_digit(r, number, 62, digit);
    }
    return append_digit(r, number, 1, 1);
}

/* 0: there is none. */
static uint64_t read_tagged_number(struct rust *r, char tag)
{
    return eat_letter(r, tag) ? append_digit(r, read_base_62(r), 1, 1) : 0;
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
    print_text(r, text);
}

/* How far the insertions of Punycode are apart (RFC 3492, section 6.1). */
static uint32_t adapt_bias(uint32_t delta, uint32_t count, bool first)
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
            fail_name(r);
            return;
        }
        bias = adapt_bias(place - before, count + 1, before == 0);
        code += place / (count + 1);
        place %= count + 1;
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
            fail_name(r);
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
    struct identifier found = {.is_punycode = eat_letter(r, 'u')};
    uint64_t length = read_decimal(r);
    (void)eat_letter(r, '_');
    if (r->failed || length > r->in.length - r->at) {
        fail_name(r);
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

static void put_rust_path(struct rust *r, bool in_value);
static void put_rust_type(struct rust *r);
static void put_rust_constant(struct rust *r);

static bool enter_level(struct rust *r)
{
    if (r->depth >= DEEPEST || ++r->steps > STEPS)
        fail_name(r);
    r->depth++;
    return !r->failed;
}

typedef void put_thing(struct rust *r);

static void put_path_of_type(struct rust *r)
{
    put_rust_path(r, false);
}

static void put_path_of_value(struct rust *r)
{
    put_rust_path(r, true);
}

/* Print an earlier part of the name once more. */
static void put_back_reference(struct rust *r, put_thing *put)
{
    size_t tag = r->at - 1;
    uint64_t target = read_base_62(r);
    size_t behind = r->at;
    if (target >= tag)
        fail_name(r);
    if (r->failed || r->silent || !enter_level(r))
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
        fail_name(r);
        return;
    }
    uint64_t depth = r->lifetimes - number;
    print_text(r, "'");
    if (number == 0) {
        print_text(r, "_");
    } else if (depth < 26) {
        letter[0] = (char)('a' + depth);
        print_text(r, letter);
    } else {
        print_text(r, "_");
        print_decimal(r, depth);
    }
}

/* for<'a, 'b>; what to give back afterwards. */
static uint64_t put_lifetime_binder(struct rust *r)
{
    uint64_t before = r->lifetimes, count = read_tagged_number(r, 'G');
    if (count > 1000)
        fail_name(r);
    if (count == 0 || r->failed)
        return before;
    print_text(r, "for<");
    for (uint64_t i = 0; i < count; i++) {
        print_text(r, i > 0 ? ", " : "");
        r->lifetimes++;
        print_lifetime(r, 1);
    }
    print_text(r, "> ");
    return before;
}

static void put_generic_argument(struct rust *r)
{
    if (eat_letter(r, 'L'))
        print_lifetime(r, read_base_62(r));
    else if (eat_letter(r, 'K'))
        put_rust_constant(r);
    else
        put_rust_type(r);
}

/* Up to "E", with commas between; how many. */
static unsigned put_comma_list(struct rust *r, put_thing *put)
{
    unsigned count = 0;
    while (!r->failed && !eat_letter(r, 'E')) {
        print_text(r, count++ > 0 ? ", " : "");
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
    put_rust_path(r, false);
    r->silent = silent;
}

static void put_implementation(struct rust *r, char tag)
{
    if (tag != 'Y')
        pass_over_place(r);
    print_text(r, "<");
    put_rust_type(r);
    if (tag != 'M') {
        print_text(r, " as ");
        put_rust_path(r, false);
    }
    print_text(r, ">");
}

/* Upper case is for what has no name in the program, or a number. */
static void put_nested_path(struct rust *r, bool in_value)
{
    char space = next_letter(r);
    char letter[2] = {space, '\0'};
    put_rust_path(r, in_value);
    struct identifier name = read_identifier(r);
    if (space >= 'A' && space <= 'Z') {
        print_text(r, "::{");
        print_text(r, space == 'C' ? "closure" : space == 'S' ? "shim" : letter);
        if (name.text.length > 0) {
            print_text(r, ":");
            print_identifier(r, &name);
        }
        print_text(r, "#");
        print_decimal(r, name.disambiguator);
        print_text(r, "}");
    } else if (space < 'a' || space > 'z') {
        fail_name(r);
    } else if (name.text.length > 0) {
        print_text(r, "::");
        print_identifier(r, &name);
    }
}

static void put_rust_path(struct rust *r, bool in_value)
{
    if (!enter_level(r))
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
        put_nested_path(r, in_value);
        break;
    case 'I':
        put_rust_path(r, in_value);
        print_text(r, in_value ? "::<" : "<");
        (void)put_comma_list(r, put_generic_argument);
        print_text(r, ">");
        break;
    case 'B':
        put_back_reference(r, in_value ? put_path_of_value : put_path_of_type);
        break;
    default:
        fail_name(r);
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

static void put_function_type(struct rust *r)
{
    uint64_t before = put_lifetime_binder(r);
    if (eat_letter(r, 'U'))
        print_text(r, "unsafe ");
    if (eat_letter(r, 'K')) {
        struct identifier abi = {.text = TV_BYTES("C")};
        if (!eat_letter(r, 'C'))
            abi = read_plain_identifier(r);
        print_text(r, "extern \"");
        /* "C_unwind" stands for "C-unwind". */
        for (size_t i = 0; i < abi.text.length; i++)
            print_bytes(r, abi.text.data[i] == '_' ? "-" : (const char *)&abi.text.data[i], 1);
        print_text(r, "\" ");
    }
    print_text(r, "fn(");
    (void)put_comma_list(r, put_rust_type);
    print_text(r, ")");
    if (!eat_letter(r, 'u')) {
        print_text(r, " -> ");
        put_rust_type(r);
    }
    r->lifetimes = before;
}

/* A trait with the types that it is bound to: Iterator<Item = u8>. */
static void put_trait_bound(struct rust *r)
{
    bool open = false;
    /* Its own arguments stand in the same brackets. */
    if (peek_letter(r) == 'I') {
        r->at++;
        put_rust_path(r, false);
        print_text(r, "<");
        open = true;
        (void)put_comma_list(r, put_generic_argument);
    } else {
        put_rust_path(r, false);
    }
    while (eat_letter(r, 'p')) {
        print_text(r, open ? ", " : "<");
        open = true;
        struct identifier name = read_plain_identifier(r);
        print_identifier(r, &name);
        print_text(r, " = ");
        put_rust_type(r);
    }
    print_text(r, open ? ">" : "");
}

static void put_dynamic_type(struct rust *r)
{
    print_text(r, "dyn ");
    uint64_t before = put_lifetime_binder(r);
    unsigned count = 0;
    while (!r->failed && !eat_letter(r, 'E')) {
        print_text(r, count++ > 0 ? " + " : "");
        put_trait_bound(r);
    }
    r->lifetimes = before;
    if (!eat_letter(r, 'L')) {
        fail_name(r);
        return;
    }
    uint64_t lifetime = read_base_62(r);
    if (lifetime > 0) {
        print_text(r, " + ");
        print_lifetime(r, lifetime);
    }
}

static void put_reference_type(struct rust *r, bool is_mutable)
{
    print_text(r, "&");
    if (eat_letter(r, 'L')) {
        uint64_t lifetime = read_base_62(r);
        if (lifetime > 0) {
            print_lifetime(r, lifetime);
            print_text(r, " ");
        }
    }
    print_text(r, is_mutable ? "mut " : "");
    put_rust_type(r);
}

static void put_compound_type(struct rust *r, char tag)
{
    switch (tag) {
    case 'A':
    case 'S':
        print_text(r, "[");
        put_rust_type(r);
        if (tag == 'A') {
            print_text(r, "; ");
            put_rust_constant(r);
        }
        print_text(r, "]");
        break;
    case 'T':
        print_text(r, "(");
        if (put_comma_list(r, put_rust_type) == 1)
            print_text(r, ",");
        print_text(r, ")");
        break;
    case 'P':
    case 'O':
        print_text(r, tag == 'P' ? "*const " : "*mut ");
        put_rust_type(r);
        break;
    default:
        r->at--;
        put_rust_path(r, false);
    }
}

static void put_rust_type(struct rust *r)
{
    if (!enter_level(r))
        return;
    char tag = next_letter(r);
    const char *basic = basic_type(tag);
    if (basic)
        print_text(r, basic);
    else if (tag == 'R' || tag == 'Q')
        put_reference_type(r, tag == 'Q');
    else if (tag == 'F')
        put_function_type(r);
    else if (tag == 'D')
        put_dynamic_type(r);
    else if (tag == 'B')
        put_back_reference(r, put_rust_type);
    else
        put_compound_type(r, tag);
    r->depth--;
}

/* Digits of 16, up to "_". */
static struct tv_bytes read_hex_digits(struct rust *r)
{
    size_t from = r->at;
    while (peek_letter(r) && strchr("0123456789abcdef", peek_letter(r)))
        r->at++;
    struct tv_bytes digits = {r->in.data + from, r->at - from};
    if (!eat_letter(r, '_'))
        fail_name(r);
    return digits;
}

static uint64_t value_of_hex(struct rust *r, struct tv_bytes digits)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.length; i++) {
        uint8_t digit = digits.data[i];
        value = append_digit(r, value, 16,
                             digit <= '9' ? (uint64_t)(digit - '0') : (uint64_t)(digit - 'a') + 10);
    }
    return value;
}

static void put_integer_constant(struct rust *r, bool is_signed)
{
    if (is_signed && eat_letter(r, 'n'))
        print_text(r, "-");
    struct tv_bytes digits = read_hex_digits(r);
    if (digits.length > 16) { /* more than 64 bits stay as they are */
        print_text(r, "0x");
        print_bytes(r, (const char *)digits.data, digits.length);
    } else {
        print_decimal(r, value_of_hex(r, digits));
    }
}

static void put_character_constant(struct rust *r)
{
    uint64_t value = value_of_hex(r, read_hex_digits(r));
    if (value > 0x10FFFF || value < ' ') {
        fail_name(r);
        return;
    }
    print_text(r, "'");
    print_text(r, value == '\'' || value == '\\' ? "\\" : "");
    print_code_point(r, (uint32_t)value);
    print_text(r, "'");
}

static void put_rust_constant(struct rust *r)
{
    if (!enter_level(r))
        return;
    char tag = next_letter(r);
    if (tag == '\0')
        fail_name(r);
    else if (tag == 'B')
        put_back_reference(r, put_rust_constant);
    else if (tag == 'p')
        print_text(r, "_");
    else if (strchr("htmyoj", tag) || strchr("aslxni", tag))
        put_integer_constant(r, strchr("aslxni", tag) != NULL);
    else if (tag == 'b')
        print_text(r, value_of_hex(r, read_hex_digits(r)) == 0 ? "false" : "true");
    else if (tag == 'c')
        put_character_constant(r);
    else
        fail_name(r);
    r->depth--;
}

bool tv_rust_demangle(struct tv_bytes mangled, char *text, size_t room)
{
    if (room == 0 || !tv_bytes_starts_with(mangled, TV_BYTES("_R")))
        return false;
    struct rust r = {.in = {mangled.data + 2, mangled.length - 2}, .out = text, .room = room};
    /* The suffixes of LLVM begin with a dot, which no name has. */
    const uint8_t *dot = memchr(r.in.data, '.', r.in.length);
    if (dot)
        r.in.length = (size_t)(dot - r.in.data);
    put_rust_path(&r, true);
    if (r.at < r.in.length) { /* the crate that made this instance */
        r.silent = true;
        put_rust_path(&r, false);
    }
    if (r.failed || r.at < r.in.length || r.used == 0)
        return false;
    text[r.used] = '\0';
    return true;
}
