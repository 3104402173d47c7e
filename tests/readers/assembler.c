/* SPDX-License-Identifier: Apache-2.0 */
#include "assembler.h"

#include <string.h>

#include "base/bytes.h"

#define MAX_OPEN 8

struct open {
    size_t start; /* of the block's bytes */
    unsigned width;
    bool big_endian;
    bool base64;
};

struct assembler {
    struct tv_cursor text;
    struct assembly *assembly;
    struct tv_out *out; /* the assembly's */
    struct tv_error *err;
    unsigned width; /* of the numbers that follow; 0: none may */
    bool big_endian;
    char kind; /* 'n' number, 'u' uleb, 's' sleb, 'z' zeros, 'b' base64 */
    struct open open[MAX_OPEN];
    size_t depth;
};

static bool fail(struct assembler *assembler, const char *what)
{
    tv_fail(assembler->err, TV_ERR_SYNTAX, tv_cursor_position(&assembler->text), "%s", what);
    return false;
}

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_escape(struct assembler *assembler)
{
    uint8_t c, high, low;
    if (!tv_cursor_take_u8(&assembler->text, &c))
        return fail(assembler, "a lone backslash");
    if (c == 'x') {
        if (!tv_cursor_take_u8(&assembler->text, &high) ||
            !tv_cursor_take_u8(&assembler->text, &low) || hex_digit(high) < 0 || hex_digit(low) < 0)
            return fail(assembler, "\\x wants two digits");
        tv_out_char(assembler->out, (char)(hex_digit(high) * 16 + hex_digit(low)));
        return true;
    }
    tv_out_char(assembler->out, c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : (char)c);
    return true;
}

static bool take_string(struct assembler *assembler)
{
    uint8_t c;
    while (tv_cursor_take_u8(&assembler->text, &c)) {
        if (c == '"')
            return true;
        if (c != '\\')
            tv_out_char(assembler->out, (char)c);
        else if (!take_escape(assembler))
            return false;
    }
    return fail(assembler, "a string without end");
}

/* Return which byte of a number of that width stands at place i. */
static unsigned shift_of(unsigned i, unsigned width, bool big_endian)
{
    return 8 * (big_endian ? width - 1 - i : i);
}

static void put_number(struct tv_out *out, uint64_t value, unsigned width, bool big_endian)
{
    for (unsigned i = 0; i < width; i++)
        tv_out_char(out, (char)(value >> shift_of(i, width, big_endian)));
}

static void put_uleb(struct tv_out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        tv_out_char(out, (char)(value | 0x80));
    tv_out_char(out, (char)value);
}

static void put_sleb(struct tv_out *out, int64_t value)
{
    for (; value < -64 || value > 63; value >>= 7)
        tv_out_char(out, (char)(value | 0x80));
    tv_out_char(out, (char)(value & 0x7f));
}

static bool parse_number(struct tv_bytes word, uint64_t *value)
{
    int64_t negative;
    if (tv_bytes_starts_with(word, TV_BYTES("0x")))
        return tv_parse_hex(word, value);
    if (tv_parse_u64(word, value))
        return true;
    if (!tv_parse_i64(word, &negative))
        return false;
    *value = (uint64_t)negative;
    return true;
}

static bool take_number(struct assembler *assembler, struct tv_bytes word)
{
    uint64_t value;
    if (assembler->kind == 0 || !parse_number(word, &value))
        return fail(assembler, "no such word");
    if (assembler->kind == 'n')
        put_number(assembler->out, value, assembler->width, assembler->big_endian);
    else if (assembler->kind == 'u')
        put_uleb(assembler->out, value);
    else if (assembler->kind == 's')
        put_sleb(assembler->out, (int64_t)value);
    else
        for (; value > 0; value--)
            tv_out_char(assembler->out, 0);
    return true;
}

static bool open_block(struct assembler *assembler)
{
    bool base64 = assembler->kind == 'b';
    if (assembler->depth == MAX_OPEN || (!base64 && assembler->kind != 'n'))
        return fail(assembler, "a block wants a width in front");
    unsigned width = base64 ? 0 : assembler->width;
    put_number(assembler->out, 0, width, false);
    assembler->open[assembler->depth++] =
        (struct open){assembler->out->length, width, assembler->big_endian, base64};
    assembler->kind = 0;
    return true;
}

static void encode_base64(struct tv_out *out, size_t start)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = out->length - start;
    struct tv_out text;
    tv_out_init_memory(&text);
    for (size_t i = 0; i < length; i += 3) {
        const uint8_t *at = out->buffer + start + i;
        size_t left = length - i;
        uint32_t bits = (uint32_t)at[0] << 16 | (left > 1 ? (uint32_t)at[1] << 8 : 0) |
                        (left > 2 ? (uint32_t)at[2] : 0);
        for (size_t k = 0; k < 4; k++)
            tv_out_char(&text, k <= left ? digits[bits >> (18 - 6 * k) & 63] : '=');
    }
    out->length = start;
    tv_out_bytes(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

static bool close_block(struct assembler *assembler)
{
    if (assembler->depth == 0)
        return fail(assembler, "a block is closed that was not opened");
    const struct open *block = &assembler->open[--assembler->depth];
    uint64_t length = assembler->out->length - block->start;
    for (unsigned i = 0; i < block->width; i++)
        assembler->out->buffer[block->start - block->width + i] =
            (uint8_t)(length >> shift_of(i, block->width, block->big_endian));
    if (block->base64)
        encode_base64(assembler->out, block->start);
    assembler->kind = 0;
    return true;
}

static bool take_word(struct assembler *assembler, struct tv_bytes word)
{
    static const struct {
        const char *word;
        char kind;
        unsigned width;
    } kinds[] = {{"u1", 'n', 1},   {"u2", 'n', 2},   {"u3", 'n', 3},    {"u4", 'n', 4},
                 {"u8", 'n', 8},   {"b2", 'n', 2},   {"b4", 'n', 4},    {"b8", 'n', 8},
                 {"uleb", 'u', 0}, {"sleb", 's', 0}, {"zeros", 'z', 0}, {"base64", 'b', 0}};
    for (size_t i = 0; i < TV_COUNT(kinds); i++) {
        if (!tv_bytes_equal(word, tv_bytes_of(kinds[i].word)))
            continue;
        assembler->kind = kinds[i].kind;
        assembler->width = kinds[i].width;
        assembler->big_endian = kinds[i].word[0] == 'b';
        return true;
    }
    if (tv_bytes_equal(word, TV_BYTES("[")))
        return open_block(assembler);
    if (tv_bytes_equal(word, TV_BYTES("]")))
        return close_block(assembler);
    return take_number(assembler, word);
}

static bool name_place(struct assembler *assembler, struct tv_bytes name)
{
    struct assembly *assembly = assembler->assembly;
    if (assembly->place_count == ASSEMBLY_PLACES)
        return fail(assembler, "too many places");
    assembly->places[assembly->place_count].name = name;
    assembly->places[assembly->place_count++].offset = assembler->out->length;
    return true;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static bool take_token(struct assembler *assembler)
{
    struct tv_cursor *text = &assembler->text;
    struct tv_bytes skipped;
    if (*text->at == '#')
        return tv_cursor_take_line(text, &skipped);
    if (*text->at == '"') {
        text->at++;
        assembler->kind = 0;
        return take_string(assembler);
    }
    const uint8_t *start = text->at;
    while (text->at < text->end && !is_blank(*text->at))
        text->at++;
    struct tv_bytes word = {start, (size_t)(text->at - start)};
    if (*start == ':')
        return name_place(assembler, (struct tv_bytes){start + 1, word.length - 1});
    return take_word(assembler, word);
}

bool assemble(struct tv_bytes text, struct assembly *assembly, struct tv_error *err)
{
    struct assembler assembler = {
        .text = tv_cursor_over(text),
        .assembly = assembly,
        .out = &assembly->out,
        .err = err,
    };
    while (tv_cursor_left(&assembler.text) > 0) {
        if (is_blank(*assembler.text.at))
            assembler.text.at++;
        else if (!take_token(&assembler))
            return false;
    }
    return assembler.depth == 0 || fail(&assembler, "a block without end");
}

static bool is_name(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

static bool find_place(const struct assembly *assembly, struct tv_bytes name, uint64_t *offset)
{
    for (size_t i = 0; i < assembly->place_count; i++) {
        if (!tv_bytes_equal(assembly->places[i].name, name))
            continue;
        *offset = assembly->places[i].offset;
        return true;
    }
    return false;
}

/* Takes "name" or "name+N". */
static bool take_place(const struct assembly *assembly, struct tv_cursor *cursor, uint64_t *offset)
{
    struct tv_bytes name = {cursor->at, 0};
    uint64_t more = 0;
    while (cursor->at < cursor->end && is_name(*cursor->at))
        cursor->at++;
    name.length = (size_t)(cursor->at - name.data);
    if (!find_place(assembly, name, offset))
        return false;
    if (cursor->at == cursor->end || *cursor->at != '+')
        return true;
    struct tv_bytes digits = {++cursor->at, 0};
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
        cursor->at++;
    digits.length = (size_t)(cursor->at - digits.data);
    if (!tv_parse_u64(digits, &more))
        return false;
    *offset += more;
    return true;
}

bool assembly_resolve(const struct assembly *assembly, struct tv_bytes text, struct tv_out *out)
{
    struct tv_cursor cursor = tv_cursor_over(text);
    uint64_t offset;
    uint8_t c;
    while (tv_cursor_take_u8(&cursor, &c)) {
        if (c != '@') {
            tv_out_char(out, (char)c);
            continue;
        }
        if (!take_place(assembly, &cursor, &offset))
            return false;
        tv_out_u64(out, offset);
    }
    return true;
}
