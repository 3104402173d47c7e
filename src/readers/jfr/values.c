/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - integers, texts and fields of a chunk.
 *
 *     integer   7 bits a byte, the lowest first, at most 9 bytes; or, without the flag in the
 *               header, big-endian with the full width of its type
 *     text      u8 encoding: 0 null, 1 empty, 2 constant (key), 3 UTF-8 (length, bytes),
 *               4 UTF-16 (number of units, an integer each), 5 Latin-1 (length, bytes)
 *
 * A tv_jfr_value is a field and 64 raw bits: the number itself, the key of a constant, or the place
 * in the chunk where a text, a struct or an array begins. tv_jfr_follow leads from a key or a place
 * to a struct. The ways that follow references are short and counted, since a file can make a
 * constant refer to itself.
 *
 * Decoded texts are views of the chunk where its bytes are UTF-8 already; otherwise they are in the
 * chunk's arena.
 */
#include <assert.h>
#include <string.h>

#include "readers/jfr/chunk.h"
#include "wire/little_endian.h"

/* ---- Integers ---- */

/* The ninth byte has all of its 8 bits: nine bytes hold 64 bits. */
static bool jfr_take_varint_bytes(struct tv_jfr_cursor *cursor, uint64_t *value)
{
    const uint8_t *at = cursor->at;
    uint64_t number = 0;
    for (unsigned shift = 0; at < cursor->end; shift += 7) {
        uint8_t byte = *at++;
        bool last = byte < 0x80 || shift == 56;
        number |= (uint64_t)(shift == 56 ? byte : byte & 0x7f) << shift;
        if (last) {
            cursor->at = at;
            *value = number;
            return true;
        }
    }
    return false;
}

/* A varint of at most eight bytes is taken as one word, without a branch for each byte. */
bool tv_jfr_take_long_varint(struct tv_jfr_cursor *cursor, uint64_t *value)
{
    if (TV_UNLIKELY(cursor->end - cursor->at < 8))
        return jfr_take_varint_bytes(cursor, value);
    uint64_t word = tv_le_get_u64(cursor->at), ends = ~word & TV_JFR_MORE_BITS;
    if (TV_UNLIKELY(ends == 0))
        return jfr_take_varint_bytes(cursor, value);
    unsigned last = (unsigned)__builtin_ctzll(ends); /* the high bit of the last byte */
    *value = tv_jfr_join_sevens(word & (UINT64_MAX >> (63 - last)));
    cursor->at += last / 8 + 1;
    return true;
}

bool tv_jfr_skip_varints(struct tv_jfr_cursor *cursor, uint64_t count)
{
    const uint8_t *at = cursor->at;
    uint64_t unused;
    /* Eight bytes at a time: varints end in those without the high bit.  A run of high bits that
     * may be a varint of nine bytes is taken byte by byte. */
    while (count >= 8 && cursor->end - at >= 8) {
        uint64_t ends = ~tv_le_get_u64(at) & TV_JFR_MORE_BITS;
        if (TV_UNLIKELY(ends == 0))
            break;
        unsigned open = (unsigned)__builtin_clzll(ends) / 8;         /* bytes after the last end */
        count -= ((ends >> 7) * UINT64_C(0x0101010101010101)) >> 56; /* their number */
        at += 8 - open;
    }
    cursor->at = at;
    for (; count > 0; count--)
        if (!tv_jfr_take(cursor, 8, &unused))
            return false;
    return true;
}

bool tv_jfr_take_fixed(struct tv_jfr_cursor *cursor, unsigned width, uint64_t *value)
{
    assert(width >= 1 && width <= 8);
    uint64_t number = 0;
    if ((size_t)(cursor->end - cursor->at) < width)
        return false;
    for (unsigned i = 0; i < width; i++)
        number = number << 8 | cursor->at[i];
    cursor->at += width;
    *value = number;
    return true;
}

/* ---- Texts ---- */

/* Walk over the units of a UTF-16 text; each is an integer. */
static bool jfr_skip_units(struct tv_jfr_cursor *cursor, uint64_t count)
{
    uint64_t unit;
    if (count > (uint64_t)(cursor->end - cursor->at))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!tv_jfr_take(cursor, 2, &unit))
            return false;
    return true;
}

bool tv_jfr_take_text(struct tv_jfr_cursor *cursor, struct tv_jfr_raw_text *text)
{
    *text = (struct tv_jfr_raw_text){.count = 0};
    if (cursor->at >= cursor->end || *cursor->at > TV_JFR_LATIN1)
        return false;
    text->encoding = (enum tv_jfr_encoding) * cursor->at++;
    if (text->encoding <= TV_JFR_EMPTY)
        return true;
    if (!tv_jfr_take(cursor, text->encoding == TV_JFR_CONSTANT ? 8 : 4, &text->count))
        return false;
    if (text->encoding == TV_JFR_CONSTANT)
        return true;
    text->bytes.data = cursor->at;
    if (text->encoding == TV_JFR_UTF16) {
        if (!jfr_skip_units(cursor, text->count))
            return false;
    } else {
        if (text->count > (uint64_t)(cursor->end - cursor->at))
            return false;
        cursor->at += text->count;
    }
    text->bytes.length = (size_t)(cursor->at - text->bytes.data);
    return true;
}

static bool jfr_is_high(uint32_t unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool jfr_is_low(uint32_t unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

#define REPLACEMENT 0xfffdu

/* Return the character of a unit and the one after it; a lone surrogate is U+FFFD. */
static uint32_t jfr_join_units(uint32_t unit, uint32_t next)
{
    if (jfr_is_high(unit) && jfr_is_low(next))
        return 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00);
    return jfr_is_high(unit) || jfr_is_low(unit) ? REPLACEMENT : unit;
}

/* Return the surrogate that three bytes of modified UTF-8 hold, or 0. */
static uint32_t jfr_surrogate_at(const uint8_t *at, const uint8_t *end)
{
    if (end - at < 3 || at[0] != 0xed || at[1] < 0xa0 || at[1] > 0xbf || (at[2] & 0xc0) != 0x80)
        return 0;
    return 0xd000u | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3fu);
}

/* Join the surrogates of modified UTF-8; everything else stays as it is. Java writes a character
 * beyond U+FFFF as two surrogates of three bytes, which UTF-8 forbids. */
static struct tv_bytes jfr_join_surrogates(struct tv_bytes text, struct tv_arena *arena)
{
    if (text.length == 0 || !memchr(text.data, 0xed, text.length))
        return text;
    uint8_t *start = tv_arena_alloc(arena, text.length, 1), *to = start;
    const uint8_t *at = text.data, *end = at + text.length;
    while (at < end) {
        uint32_t unit = jfr_surrogate_at(at, end);
        if (unit == 0) {
            *to++ = *at++;
            continue;
        }
        uint32_t next = jfr_surrogate_at(at + 3, end);
        uint32_t c = jfr_join_units(unit, next);
        to += tv_utf8_put(to, c);
        at += c > 0xffff ? 6 : 3;
    }
    return (struct tv_bytes){start, (size_t)(to - start)};
}

/* Decode UTF-16, always one unit ahead. A unit becomes at most three bytes, a pair four. */
static struct tv_bytes jfr_decode_utf16(const struct tv_jfr_raw_text *text, bool fixed,
                                        struct tv_arena *arena)
{
    assert(text->count <= text->bytes.length);
    struct tv_jfr_cursor cursor = {text->bytes.data, text->bytes.data + text->bytes.length, fixed};
    uint8_t *start = tv_arena_alloc(arena, (size_t)text->count, 3), *to = start;
    uint64_t unit = 0, next = 0;
    if (text->count > 0)
        (void)tv_jfr_take(&cursor, 2, &unit);
    for (uint64_t i = 0; i < text->count; i++, unit = next) {
        next = 0;
        if (i + 1 < text->count)
            (void)tv_jfr_take(&cursor, 2, &next);
        uint32_t c = jfr_join_units((uint32_t)unit & 0xffff, (uint32_t)next & 0xffff);
        to += tv_utf8_put(to, c);
        if (c > 0xffff) {
            i++;
            next = 0;
            if (i + 1 < text->count)
                (void)tv_jfr_take(&cursor, 2, &next);
        }
    }
    return (struct tv_bytes){start, (size_t)(to - start)};
}

/* Decode Latin-1; most texts are ASCII and stay where they are. */
static struct tv_bytes jfr_decode_latin1(struct tv_bytes text, struct tv_arena *arena)
{
    size_t i = 0;
    while (i < text.length && text.data[i] < 0x80)
        i++;
    if (i == text.length)
        return text;
    uint8_t *start = tv_arena_alloc(arena, text.length, 2), *to = start;
    for (i = 0; i < text.length; i++)
        to += tv_utf8_put(to, text.data[i]);
    return (struct tv_bytes){start, (size_t)(to - start)};
}

struct tv_bytes tv_jfr_text_decode(const struct tv_jfr_raw_text *text, bool fixed,
                                   struct tv_arena *arena)
{
    switch (text->encoding) {
    case TV_JFR_UTF8:
        return jfr_join_surrogates(text->bytes, arena);
    case TV_JFR_UTF16:
        return jfr_decode_utf16(text, fixed, arena);
    case TV_JFR_LATIN1:
        return jfr_decode_latin1(text->bytes, arena);
    case TV_JFR_NULL:
    case TV_JFR_EMPTY:
    case TV_JFR_CONSTANT:
        break;
    }
    return (struct tv_bytes){NULL, 0};
}

/* ---- Fields by name ---- */

const struct tv_jfr_field *tv_jfr_field_find(const struct tv_jfr_chunk *chunk, uint32_t type,
                                             struct tv_bytes name)
{
    const struct tv_jfr_type *t = &chunk->types.rows[type];
    for (uint32_t i = 0; i < t->field_count; i++)
        if (tv_bytes_equal(chunk->fields.rows[t->first_field + i].name, name))
            return &chunk->fields.rows[t->first_field + i];
    return NULL;
}

/* Compiles a program each time: for rare values only. Events have a plan (events.c). */
struct tv_jfr_value tv_jfr_get(struct tv_jfr_chunk *chunk, uint32_t type, uint64_t at,
                               const char *name)
{
    uint64_t slots[1] = {UINT64_MAX};
    struct tv_jfr_value none = {NULL, 0};
    const struct tv_jfr_field *field = tv_jfr_field_find(chunk, type, tv_bytes_of(name));
    if (!field)
        return none;
    struct tv_jfr_program program = tv_jfr_compile(chunk, type, &name, 1);
    struct tv_jfr_cursor cursor = tv_jfr_cursor_at(chunk, at);
    bool read = tv_jfr_program_note(chunk, &program, &cursor, slots);
    tv_jfr_program_release(&program);
    return read ? (struct tv_jfr_value){field, slots[0]} : none;
}

bool tv_jfr_follow(const struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value,
                   uint32_t *type, uint64_t *at)
{
    if (!value->field || value->field->array || value->field->type == TV_NONE)
        return false;
    *type = value->field->type;
    *at = value->raw;
    if (!value->field->constant)
        return value->field->kind == TV_JFR_STRUCT;
    uint32_t constant = tv_jfr_constant_find(chunk, value->field->type, value->raw);
    if (constant == TV_NONE)
        return false;
    *at = chunk->constants.rows[constant].at;
    return true;
}

/* Longest way from a value to its text: a class, its symbol, the text of that. */
#define MAX_STEPS 8

/* Read a text that is at a place; follow it once if it is a constant itself. */
static struct tv_bytes jfr_text_at(struct tv_jfr_chunk *chunk, uint64_t at)
{
    struct tv_jfr_raw_text text;
    for (unsigned step = 0; step < 2; step++) {
        struct tv_jfr_cursor cursor = tv_jfr_cursor_at(chunk, at);
        if (!tv_jfr_take_text(&cursor, &text))
            break;
        if (text.encoding != TV_JFR_CONSTANT)
            return tv_jfr_text_decode(&text, chunk->fixed, &chunk->arena);
        uint32_t constant = tv_jfr_constant_find(chunk, chunk->text_type, text.count);
        if (constant == TV_NONE)
            break;
        at = chunk->constants.rows[constant].at;
    }
    return (struct tv_bytes){NULL, 0};
}

/* A struct stands for its first field: Symbol {string}, FrameType {description}. */
struct tv_bytes tv_jfr_get_text(struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value)
{
    struct tv_jfr_value now = *value;
    for (unsigned step = 0; step < MAX_STEPS && now.field && !now.field->array; step++) {
        uint32_t type;
        uint64_t at;
        if (now.field->kind == TV_JFR_STRING && !now.field->constant)
            return jfr_text_at(chunk, now.raw);
        if (!tv_jfr_follow(chunk, &now, &type, &at))
            break;
        const struct tv_jfr_type *t = &chunk->types.rows[type];
        if (t->kind == TV_JFR_STRING)
            return jfr_text_at(chunk, at);
        if (t->field_count == 0)
            break;
        const struct tv_jfr_field *first = &chunk->fields.rows[t->first_field];
        struct tv_jfr_cursor cursor = tv_jfr_cursor_at(chunk, at);
        now = (struct tv_jfr_value){first, at};
        if (first->constant && !first->array && !tv_jfr_take(&cursor, 8, &now.raw))
            break;
    }
    return (struct tv_bytes){NULL, 0};
}

/* ---- Numbers ---- */

static bool jfr_is_integer(const struct tv_jfr_field *field)
{
    return field && !field->array && !field->constant && field->kind >= TV_JFR_BOOLEAN &&
           field->kind <= TV_JFR_LONG;
}

int64_t tv_jfr_signed(const struct tv_jfr_value *value)
{
    return jfr_is_integer(value->field) ? (int64_t)value->raw : 0;
}

bool tv_jfr_number(const struct tv_jfr_value *value, double *number)
{
    if (!value->field || value->field->array || value->field->constant)
        return false;
    if (value->field->kind == TV_JFR_FLOAT) {
        float single;
        uint32_t bits = (uint32_t)value->raw;
        memcpy(&single, &bits, sizeof single);
        *number = (double)single;
        return true;
    }
    if (value->field->kind == TV_JFR_DOUBLE) {
        memcpy(number, &value->raw, sizeof *number);
        return true;
    }
    *number = value->field->is_unsigned ? (double)value->raw : (double)(int64_t)value->raw;
    return jfr_is_integer(value->field);
}

/* ---- Names ---- */

struct tv_bytes tv_jfr_class_name(struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value)
{
    uint32_t type;
    uint64_t at;
    if (!tv_jfr_follow(chunk, value, &type, &at))
        return (struct tv_bytes){NULL, 0};
    struct tv_jfr_value name = tv_jfr_get(chunk, type, at, "name");
    struct tv_bytes text = tv_jfr_get_text(chunk, &name);
    if (text.length == 0 || !memchr(text.data, '/', text.length))
        return text;
    uint8_t *dotted = tv_arena_alloc(&chunk->arena, text.length, 1);
    for (size_t i = 0; i < text.length; i++)
        dotted[i] = text.data[i] == '/' ? '.' : text.data[i];
    return (struct tv_bytes){dotted, text.length};
}

static struct tv_bytes jfr_method_summary(struct tv_jfr_chunk *chunk, uint32_t type, uint64_t at)
{
    struct tv_jfr_value class = tv_jfr_get(chunk, type, at, "type"),
                        name = tv_jfr_get(chunk, type, at, "name");
    struct tv_bytes class_name = tv_jfr_class_name(chunk, &class),
                    method = tv_jfr_get_text(chunk, &name);
    if (class_name.length == 0)
        return method;
    size_t length = class_name.length + 1 + method.length;
    uint8_t *joined = tv_arena_alloc(&chunk->arena, length, 1);
    memcpy(joined, class_name.data, class_name.length);
    joined[class_name.length] = '.';
    if (method.length > 0)
        memcpy(joined + class_name.length + 1, method.data, method.length);
    return (struct tv_bytes){joined, length};
}

struct tv_bytes tv_jfr_summary(struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value)
{
    uint32_t type;
    uint64_t at;
    if (tv_jfr_follow(chunk, value, &type, &at)) {
        struct tv_bytes name = chunk->types.rows[type].name;
        if (tv_bytes_equal(name, TV_BYTES("java.lang.Class")))
            return tv_jfr_class_name(chunk, value);
        if (tv_bytes_ends_with(name, TV_BYTES(".types.Method")))
            return jfr_method_summary(chunk, type, at);
        if (tv_bytes_equal(name, TV_BYTES("java.lang.Thread"))) {
            struct tv_jfr_value java = tv_jfr_get(chunk, type, at, "javaName"),
                                os = tv_jfr_get(chunk, type, at, "osName");
            struct tv_bytes text = tv_jfr_get_text(chunk, &java);
            return text.length > 0 ? text : tv_jfr_get_text(chunk, &os);
        }
    }
    return tv_jfr_get_text(chunk, value);
}
