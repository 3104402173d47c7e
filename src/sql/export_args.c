/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_args.c - the table of arguments without DuckDB: a row for each value
 * in the JSON of each event, which tv_describe made, so that it is valid.
 *
 *     event 7:  {"args": {"a": [1, {"b": true}]}}
 *
 *     arg_set_id  key           flat_key   value
 *              7  args.a[0]     args.a     1
 *              7  args.a[1].b   args.a.b   true
 *
 * Queries have this table as a view over DuckDB's JSON functions
 * (prelude.c); a test compares both.  So numbers are those of DuckDB: integers
 * of 64 bits, with a sign or without; all others are doubles.
 *
 * The parser walks the text of one event and appends rows as it meets values.
 * `key` is the path to the value: a member or an element appends its part, and
 * cuts it off again afterwards.  Rows of an event are never split between
 * chunks, so a chunk may have more than TV_SQL_ROWS rows.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/trace.h"
#include "sql/tables.h"
#include "sql/values.h"
#include "writers/text/names.h"

/* Values that are deeper are left out; readers accept no file that is nested deeper. */
#define DEEPEST 1000

enum {
    ARGS_SET,
    ARGS_FLAT_KEY,
    ARGS_KEY,
    ARGS_STRING,
    ARGS_INT,
    ARGS_REAL,
    ARGS_TYPE,
    ARGS_DISPLAY,
    ARGS_COLUMNS,
};

static const struct {
    const char *name;
    int type;
    size_t size;
} args_columns[] = {
    [ARGS_SET] = {"arg_set_id", DUCK_BIGINT, 8},
    [ARGS_FLAT_KEY] = {"flat_key", DUCK_VARCHAR, sizeof(struct duck_string)},
    [ARGS_KEY] = {"key", DUCK_VARCHAR, sizeof(struct duck_string)},
    [ARGS_STRING] = {"string_value", DUCK_VARCHAR, sizeof(struct duck_string)},
    [ARGS_INT] = {"int_value", DUCK_BIGINT, 8},
    [ARGS_REAL] = {"real_value", DUCK_DOUBLE, 8},
    [ARGS_TYPE] = {"value_type", DUCK_VARCHAR, sizeof(struct duck_string)},
    [ARGS_DISPLAY] = {"display_value", DUCK_VARCHAR, sizeof(struct duck_string)},
};

struct tv_sql_arguments {
    const struct tv_sql_data *data;
    uint64_t next, count; /* ids of events */
    struct tv_sql_vector vectors[ARGS_COLUMNS];
    size_t capacity, rows;
    struct tv_arena texts; /* texts of the rows */
    struct tv_out event;   /* JSON of one event */
    struct tv_out key;     /* key of the value that is read */
    int64_t id;            /* id of the event */
    const char *at, *end;  /* the rest of its JSON */
    unsigned depth;
};

struct tv_sql_arguments *tv_sql_arguments_new(const struct tv_sql_data *data)
{
    struct tv_sql_arguments *made = tv_alloc(1, sizeof *made);
    made->data = data;
    made->count = data->first_id[data->trace->row_count] + data->trace->tables.instants.count;
    tv_arena_init(&made->texts);
    tv_out_init_memory(&made->event);
    tv_out_init_memory(&made->key);
    return made;
}

void tv_sql_arguments_free(struct tv_sql_arguments *arguments)
{
    if (!arguments)
        return;
    for (size_t i = 0; i < ARGS_COLUMNS; i++) {
        tv_free(arguments->vectors[i].data);
        tv_free(arguments->vectors[i].validity);
    }
    tv_arena_release(&arguments->texts);
    tv_out_release(&arguments->event);
    tv_out_release(&arguments->key);
    tv_free(arguments);
}

void tv_sql_arguments_columns(struct tv_sql_columns *columns)
{
    columns->count = ARGS_COLUMNS;
    columns->items = tv_alloc(ARGS_COLUMNS, sizeof *columns->items);
    for (size_t i = 0; i < ARGS_COLUMNS; i++)
        columns->items[i] = (struct tv_sql_result_column){.name = args_columns[i].name,
                                                          .type = args_columns[i].type};
}

/* ---- Rows ---- */

/* Make room for one row more. */
static void args_reserve(struct tv_sql_arguments *arguments)
{
    size_t before = arguments->capacity;
    if (arguments->rows < before)
        return;
    arguments->capacity = before > 0 ? 2 * before : 2 * TV_SQL_ROWS;
    for (size_t i = 0; i < ARGS_COLUMNS; i++) {
        struct tv_sql_vector *vector = &arguments->vectors[i];
        vector->plain = true;
        vector->data = tv_realloc(vector->data, arguments->capacity, args_columns[i].size);
        vector->validity =
            tv_realloc(vector->validity, arguments->capacity / 64, sizeof *vector->validity);
    }
}

/* Keep a text as long as the rows. */
static struct tv_bytes args_keep(struct tv_sql_arguments *arguments, struct tv_bytes text)
{
    uint8_t *kept = tv_arena_alloc(&arguments->texts, text.length + 1, 1);
    if (text.length > 0)
        memcpy(kept, text.data, text.length);
    return (struct tv_bytes){kept, text.length};
}

/* Return the key without the numbers of elements: "[12]". */
static struct tv_bytes args_flatten(struct tv_sql_arguments *arguments, struct tv_bytes key)
{
    uint8_t *flat = tv_arena_alloc(&arguments->texts, key.length + 1, 1);
    size_t length = 0;
    for (size_t i = 0; i < key.length;) {
        size_t end = i + 1;
        while (key.data[i] == '[' && end < key.length && key.data[end] >= '0' &&
               key.data[end] <= '9')
            end++;
        if (key.data[i] == '[' && end > i + 1 && end < key.length && key.data[end] == ']')
            i = end + 1;
        else
            flat[length++] = key.data[i++];
    }
    return (struct tv_bytes){flat, length};
}

/* Begin a row with the key of the value; its other columns are missing. */
static uint64_t args_begin_row(struct tv_sql_arguments *arguments, const char *type)
{
    args_reserve(arguments);
    uint64_t row = arguments->rows++;
    struct tv_sql_vector *vectors = arguments->vectors;
    for (size_t i = 0; i < ARGS_COLUMNS; i++)
        vectors[i].validity[row / 64] |= UINT64_C(1) << row % 64;
    const size_t missing[] = {ARGS_STRING, ARGS_INT, ARGS_REAL, ARGS_DISPLAY};
    for (size_t i = 0; i < TV_COUNT(missing); i++)
        tv_sql_put_null(&vectors[missing[i]], row);
    struct tv_bytes key =
        args_keep(arguments, (struct tv_bytes){arguments->key.buffer, arguments->key.length});
    tv_sql_put_integer(&vectors[ARGS_SET], row, arguments->id);
    tv_sql_put_bytes(&vectors[ARGS_KEY], row, key);
    tv_sql_put_bytes(&vectors[ARGS_FLAT_KEY], row, args_flatten(arguments, key));
    tv_sql_put_text(&vectors[ARGS_TYPE], row, type);
    return row;
}

static void args_set_valid(struct tv_sql_vector *vector, uint64_t row)
{
    vector->validity[row / 64] |= UINT64_C(1) << row % 64;
}

static void args_put_text(struct tv_sql_arguments *arguments, size_t column, uint64_t row,
                          struct tv_bytes text)
{
    args_set_valid(&arguments->vectors[column], row);
    tv_sql_put_bytes(&arguments->vectors[column], row, text);
}

static void args_put_integer(struct tv_sql_arguments *arguments, uint64_t row, int64_t value)
{
    args_set_valid(&arguments->vectors[ARGS_INT], row);
    tv_sql_put_integer(&arguments->vectors[ARGS_INT], row, value);
}

/* ---- JSON ---- */

static void args_skip_space(struct tv_sql_arguments *arguments)
{
    while (arguments->at < arguments->end && strchr(" \t\r\n", *arguments->at))
        arguments->at++;
}

/* Take a character that has to be the next one. */
static bool args_take(struct tv_sql_arguments *arguments, char c)
{
    args_skip_space(arguments);
    if (arguments->at >= arguments->end || *arguments->at != c)
        return false;
    arguments->at++;
    return true;
}

/* Take the four digits of \u; U+FFFD if there are none. */
static unsigned args_take_hex(struct tv_sql_arguments *arguments)
{
    uint64_t unit = 0;
    if (arguments->end - arguments->at < 4 ||
        !tv_parse_hex((struct tv_bytes){(const uint8_t *)arguments->at, 4}, &unit))
        return 0xfffd;
    arguments->at += 4;
    return (unsigned)unit;
}

/* Append a character as UTF-8. */
static void args_put_character(struct tv_out *out, unsigned c)
{
    if (c < 0x80) {
        tv_out_char(out, (char)c);
        return;
    }
    unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
    tv_out_char(out, (char)(first[more] | c >> 6 * more));
    while (more-- > 0)
        tv_out_char(out, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

/* Take what follows a backslash. */
static void args_take_escape(struct tv_sql_arguments *arguments, struct tv_out *out)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char c = arguments->at < arguments->end ? *arguments->at++ : '\\';
    const char *found = strchr(from, c);
    if (c != 'u') {
        tv_out_char(out, found && c ? to[found - from] : c);
        return;
    }
    unsigned unit = args_take_hex(arguments);
    /* A character above U+FFFF is two escapes, a high and a low surrogate. */
    if (unit >= 0xd800 && unit < 0xdc00 && arguments->end - arguments->at >= 6 &&
        memcmp(arguments->at, "\\u", 2) == 0) {
        arguments->at += 2;
        unit = 0x10000 + ((unit - 0xd800) << 10) + ((args_take_hex(arguments) - 0xdc00) & 0x3ff);
    }
    args_put_character(out, unit);
}

/* Append the string that begins here, after its quotation mark. */
static void args_take_string(struct tv_sql_arguments *arguments, struct tv_out *out)
{
    while (arguments->at < arguments->end && *arguments->at != '"') {
        char c = *arguments->at++;
        if (c == '\\')
            args_take_escape(arguments, out);
        else
            tv_out_char(out, c);
    }
    if (arguments->at < arguments->end)
        arguments->at++;
}

/* A double in decimal: 0.DIGITS * 10^point. */
struct args_decimal {
    bool negative;
    char digits[24];
    int count, point;
};

/* Find the fewest digits from which the same double is read. */
static struct args_decimal args_find_digits(double value)
{
    struct args_decimal decimal = {.negative = signbit(value) != 0};
    char text[40];
    int precision = 14;
    do
        snprintf(text, sizeof text, "%.*e", precision, value);
    while (++precision <= 16 && (strtod(text, NULL) < value || strtod(text, NULL) > value));
    const char *c = text;
    for (; *c && *c != 'e'; c++)
        if (*c >= '0' && *c <= '9')
            decimal.digits[decimal.count++] = *c;
    decimal.point = *c ? (int)strtol(c + 1, NULL, 10) + 1 : 1;
    while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0')
        decimal.count--;
    return decimal;
}

/* Write a double in the form of DuckDB's JSON: 1.0, 1.5, 1e30. */
static struct tv_bytes args_write_real(struct tv_sql_arguments *arguments, double value)
{
    struct args_decimal decimal = args_find_digits(value);
    int point = decimal.point;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_text(&out, decimal.negative ? "-" : "");
    if (point > 21 || point <= -6) {
        tv_out_char(&out, decimal.digits[0]);
        tv_out_text(&out, decimal.count > 1 ? "." : "");
        for (int i = 1; i < decimal.count; i++)
            tv_out_char(&out, decimal.digits[i]);
        tv_out_format(&out, "e%d", point - 1);
    } else {
        /* Digit 0 has the place `point` before the point; there is one on each side of it. */
        for (int i = point < 1 ? point - 1 : 0; i < decimal.count || i <= point; i++) {
            if (i == point)
                tv_out_char(&out, '.');
            tv_out_char(&out, i >= 0 && i < decimal.count ? decimal.digits[i] : '0');
        }
    }
    struct tv_bytes kept = args_keep(arguments, (struct tv_bytes){out.buffer, out.length});
    tv_out_release(&out);
    return kept;
}

/* Add the row of a number. */
static void args_add_number(struct tv_sql_arguments *arguments)
{
    const char *start = arguments->at;
    while (arguments->at < arguments->end && strchr("+-.0123456789eE", *arguments->at))
        arguments->at++;
    struct tv_bytes text = args_keep(
        arguments, (struct tv_bytes){(const uint8_t *)start, (size_t)(arguments->at - start)});
    int64_t integer = 0;
    uint64_t whole = 0;
    bool fits = tv_parse_i64(text, &integer);
    if (fits || tv_parse_u64(text, &whole)) {
        uint64_t row = args_begin_row(arguments, "int");
        args_put_text(arguments, ARGS_DISPLAY, row, text);
        if (fits)
            args_put_integer(arguments, row, integer);
        return;
    }
    double real = strtod((const char *)text.data, NULL); /* args_keep adds a NUL */
    uint64_t row = args_begin_row(arguments, "real");
    /* DuckDB shows an integer that is too large as it stands. */
    bool whole_number = !memchr(text.data, '.', text.length) &&
                        !memchr(text.data, 'e', text.length) &&
                        !memchr(text.data, 'E', text.length);
    args_put_text(arguments, ARGS_DISPLAY, row,
                  whole_number ? text : args_write_real(arguments, real));
    args_set_valid(&arguments->vectors[ARGS_REAL], row);
    tv_sql_put_real(&arguments->vectors[ARGS_REAL], row, real);
}

/* Add the row of true, false or null. */
static void args_add_word(struct tv_sql_arguments *arguments)
{
    const char *start = arguments->at;
    while (arguments->at < arguments->end && *arguments->at >= 'a' && *arguments->at <= 'z')
        arguments->at++;
    if (arguments->at == start) { /* not JSON: end the event */
        arguments->at = arguments->end;
        return;
    }
    uint64_t row = args_begin_row(arguments, *start == 'n' ? "null" : "bool");
    if (*start == 'n')
        return;
    args_put_integer(arguments, row, *start == 't');
    args_put_text(arguments, ARGS_DISPLAY, row,
                  *start == 't' ? TV_BYTES("true") : TV_BYTES("false"));
}

/* Add the row of a string. */
static void args_add_string(struct tv_sql_arguments *arguments)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    args_take_string(arguments, &text);
    uint64_t row = args_begin_row(arguments, "string");
    struct tv_bytes kept = args_keep(arguments, (struct tv_bytes){text.buffer, text.length});
    args_put_text(arguments, ARGS_STRING, row, kept);
    args_put_text(arguments, ARGS_DISPLAY, row, kept);
    tv_out_release(&text);
}

/* Append the name of a member to the key, without quotation marks (the macro arg_key). */
static void args_add_to_key(struct tv_sql_arguments *arguments, struct tv_bytes name)
{
    tv_out_text(&arguments->key, arguments->key.length > 0 ? "." : "");
    for (size_t i = 0; i < name.length; i++)
        if (name.data[i] != '"')
            tv_out_char(&arguments->key, (char)name.data[i]);
}

static void args_add_value(struct tv_sql_arguments *arguments);

/* Add the rows of an object or array, whose bracket was taken. */
static void args_add_members(struct tv_sql_arguments *arguments, bool object)
{
    /* The key of the object itself: each member appends to it. */
    size_t key = arguments->key.length;
    for (uint64_t i = 0; !args_take(arguments, object ? '}' : ']'); i++) {
        if (arguments->at >= arguments->end || (i > 0 && !args_take(arguments, ',')))
            return;
        if (object && args_take(arguments, '"')) {
            struct tv_out name;
            tv_out_init_memory(&name);
            args_take_string(arguments, &name);
            (void)args_take(arguments, ':');
            args_add_to_key(arguments, (struct tv_bytes){name.buffer, name.length});
            tv_out_release(&name);
        } else {
            tv_out_format(&arguments->key, "[%llu]", (unsigned long long)i);
        }
        args_add_value(arguments);
        arguments->key.length = key;
    }
}

static void args_add_value(struct tv_sql_arguments *arguments)
{
    args_skip_space(arguments);
    char c = arguments->at < arguments->end ? *arguments->at : '\0';
    if (c == '{' || c == '[') {
        arguments->at++;
        if (++arguments->depth <= DEEPEST)
            args_add_members(arguments, c == '{');
        else
            arguments->at = arguments->end;
        arguments->depth--;
    } else if (c == '"') {
        arguments->at++;
        args_add_string(arguments);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        args_add_number(arguments);
    } else {
        args_add_word(arguments);
    }
}

/* ---- Events ---- */

/* Return whether an id is of the table `slice`: neither a processor's nor a state. */
static bool args_is_slice(const struct tv_sql_data *data, uint64_t id)
{
    const struct tv_trace *trace = data->trace;
    if (id >= data->first_id[trace->row_count])
        return true;
    enum tv_track_kind kind = trace->tracks[trace->rows[tv_sql_row_of(data, id)].track].kind;
    return kind != TV_TRACK_CPU && kind != TV_TRACK_STATES;
}

bool tv_sql_arguments_next(struct tv_sql_arguments *arguments, struct tv_sql_chunk *chunk)
{
    tv_arena_release(&arguments->texts);
    tv_arena_init(&arguments->texts);
    arguments->rows = 0;
    for (; arguments->next < arguments->count && arguments->rows < TV_SQL_ROWS; arguments->next++) {
        if (!args_is_slice(arguments->data, arguments->next))
            continue;
        arguments->id = (int64_t)arguments->next;
        arguments->event.length = arguments->key.length = 0;
        tv_sql_event_write(arguments->data, arguments->id, &arguments->event);
        if (arguments->event.length == 0)
            continue;
        arguments->at = (const char *)arguments->event.buffer;
        arguments->end = arguments->at + arguments->event.length;
        args_add_value(arguments);
    }
    chunk->count = arguments->rows;
    for (size_t i = 0; i < ARGS_COLUMNS; i++) {
        chunk->data[i] = arguments->vectors[i].data;
        chunk->validity[i] = arguments->vectors[i].validity;
    }
    return arguments->rows > 0;
}
