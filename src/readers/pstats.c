/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pstats.c - a dictionary of functions in Python's marshal format:
 *
 *     {(file, line, name): (primitive calls, calls, own time, cumulative time,
 *                           {(file, line, name) of a caller: (calls, primitive calls, times...)})}
 *
 *     '{'                                       dictionary: keys and values, then '0'
 *     ')' 3                                     tuple of three
 *       'Z' 6 "app.py"  'i' 12 0 0 0  'Z' 4 "load"
 *     ')' 5                                     figures of load
 *       'i' 10 0 0 0  'i' 12 0 0 0  'g' <0.5>  'g' <0.9>  '{' ... '0'
 *
 * Only numbers, strings, and tuples and dictionaries of this shape are read, at fixed depths, so
 * that nothing recurses and nothing is executed.  An object with the bit 0x80 gets the next number,
 * and "r" repeats it.
 *
 * Times are seconds. The result is a call graph: functions with own times, and calls with
 * cumulative times; call_graph.c makes tables of it and estimates stacks. CPython's
 * Python/marshal.c and Lib/pstats.py define the format. Damage ends the reading at its place, since
 * no value says where the next one begins; everything before it counts.
 */
#include "readers/readers.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/call_graph.h"

#define REFERENCED 0x80
#define NANOSECONDS 1e9

enum pstats_kind { PSTATS_OTHER, PSTATS_TEXT, PSTATS_INTEGER, PSTATS_FLOAT, PSTATS_FUNCTION };

struct pstats_value {
    union {
        const uint8_t *text;
        int64_t integer;
        double number;
    };
    uint32_t length; /* length of the text; or, of PSTATS_FUNCTION, the function of the graph */
    uint8_t kind;    /* enum pstats_kind */
};

struct pstats {
    struct tv_profile_input profile;
    struct tv_call_graph graph;
    struct tv_cursor cursor;
    struct pstats_value *values; /* that can be repeated */
    size_t count, capacity;
    uint32_t type;
};

/* ---- Values ---- */

/* Take the type of the next value, and reserve its number: TV_NONE if it has none. */
static bool pstats_take_type(struct pstats *pstats, uint8_t *type, uint32_t *number)
{
    *number = TV_NONE;
    if (!tv_cursor_take_u8(&pstats->cursor, type))
        return false;
    if (*type & REFERENCED) {
        pstats->values = tv_array_reserve(pstats->values, &pstats->capacity, pstats->count + 1,
                                          sizeof *pstats->values);
        *number = (uint32_t)pstats->count;
        pstats->values[pstats->count++] = (struct pstats_value){.kind = PSTATS_OTHER};
    }
    *type &= (uint8_t)~REFERENCED;
    return true;
}

/* Keep a value under its number. Until then a reference to it is of no use (PSTATS_OTHER). */
static void pstats_store(struct pstats *pstats, uint32_t number, const struct pstats_value *value)
{
    if (number != TV_NONE)
        pstats->values[number] = *value;
}

/* Take a string with a length of one byte or four. */
static bool pstats_take_text(struct pstats *pstats, bool is_short, struct pstats_value *value)
{
    struct tv_bytes text;
    uint32_t length = 0;
    uint8_t byte;
    if (is_short && tv_cursor_take_u8(&pstats->cursor, &byte))
        length = byte;
    else if (is_short || !tv_cursor_take_u32(&pstats->cursor, &length))
        return false;
    if (!tv_cursor_take_bytes(&pstats->cursor, length, &text))
        return false;
    *value = (struct pstats_value){.text = text.data, .length = length, .kind = PSTATS_TEXT};
    return true;
}

/* Take a long integer: a signed number of digits of 15 bits, least significant first. */
static bool pstats_take_long(struct pstats *pstats, struct pstats_value *value)
{
    uint32_t count;
    uint16_t digit;
    if (!tv_cursor_take_u32(&pstats->cursor, &count))
        return false;
    bool negative = count > INT32_MAX;
    uint64_t magnitude = 0, left = negative ? UINT64_C(0x100000000) - count : count;
    for (unsigned shift = 0; left > 0; left--, shift += 15) {
        if (!tv_cursor_take_u16(&pstats->cursor, &digit) || shift > 45)
            return false;
        magnitude |= (uint64_t)digit << shift;
    }
    value->kind = PSTATS_INTEGER;
    value->integer = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static bool pstats_take_float(struct pstats *pstats, struct pstats_value *value)
{
    uint64_t bits;
    if (!tv_cursor_take_u64(&pstats->cursor, &bits))
        return false;
    value->kind = PSTATS_FLOAT;
    memcpy(&value->number, &bits, sizeof bits);
    return true;
}

static bool pstats_take_integer(struct pstats *pstats, struct pstats_value *value)
{
    uint32_t bits;
    if (!tv_cursor_take_u32(&pstats->cursor, &bits))
        return false;
    value->kind = PSTATS_INTEGER;
    value->integer = (int32_t)bits;
    return true;
}

static bool pstats_take_repeated(struct pstats *pstats, struct pstats_value *value)
{
    uint32_t number;
    if (!tv_cursor_take_u32(&pstats->cursor, &number) || number >= pstats->count)
        return false;
    *value = pstats->values[number];
    return true;
}

/* Take a string, number or repeated value of a type that was taken. */
static bool pstats_take_value(struct pstats *pstats, uint8_t type, struct pstats_value *value)
{
    *value = (struct pstats_value){.kind = PSTATS_OTHER};
    switch (type) {
    case 'z':
    case 'Z':
        return pstats_take_text(pstats, true, value);
    case 's':
    case 't':
    case 'u':
    case 'a':
    case 'A':
        return pstats_take_text(pstats, false, value);
    case 'i':
        return pstats_take_integer(pstats, value);
    case 'l':
        return pstats_take_long(pstats, value);
    case 'g':
        return pstats_take_float(pstats, value);
    case 'r':
        return pstats_take_repeated(pstats, value);
    default:
        return type == 'N' || type == 'T' || type == 'F';
    }
}

static bool pstats_take_scalar(struct pstats *pstats, struct pstats_value *value)
{
    uint8_t type;
    uint32_t number;
    if (!pstats_take_type(pstats, &type, &number) || !pstats_take_value(pstats, type, value))
        return false;
    pstats_store(pstats, number, value);
    return true;
}

/* Take the number of items of a tuple whose type was taken. */
static bool pstats_take_tuple(struct pstats *pstats, uint8_t type, uint32_t *count)
{
    uint8_t byte;
    if (type == '(')
        return tv_cursor_take_u32(&pstats->cursor, count);
    if (type != ')' || !tv_cursor_take_u8(&pstats->cursor, &byte))
        return false;
    *count = byte;
    return true;
}

/* ---- Functions ---- */

static struct tv_bytes pstats_text(const struct pstats_value *value)
{
    return value->kind == PSTATS_TEXT ? (struct tv_bytes){value->text, value->length}
                                      : TV_BYTES("");
}

/* Return the function of (file, line, name); a part of another type is treated as missing. */
static uint32_t pstats_add_function(struct pstats *pstats, const struct pstats_value *file,
                                    const struct pstats_value *line,
                                    const struct pstats_value *name)
{
    struct tv_frame frame = {.name = tv_profile_string(&pstats->profile, pstats_text(name))};
    /* "~" stands for functions that are not written in Python. */
    if (!tv_bytes_equal(pstats_text(file), TV_BYTES("~")))
        frame.file = tv_profile_string(&pstats->profile, pstats_text(file));
    if (line->kind == PSTATS_INTEGER && line->integer > 0 && line->integer <= INT32_MAX)
        frame.line = (int32_t)line->integer;
    return tv_call_graph_function(&pstats->graph,
                                  tv_trace_info_add_frame(pstats->profile.info, &frame));
}

/* Take (file, line, name), perhaps repeated.  *end: there is the end of the dictionary instead. */
static bool pstats_take_function(struct pstats *pstats, uint32_t *function, bool *end)
{
    struct pstats_value items[3], value;
    uint32_t number, count;
    uint8_t type;
    if (!pstats_take_type(pstats, &type, &number))
        return false;
    *end = type == '0';
    if (*end)
        return true;
    if (type == 'r') {
        if (!pstats_take_repeated(pstats, &value) || value.kind != PSTATS_FUNCTION)
            return false;
        *function = value.length;
        return true;
    }
    if (!pstats_take_tuple(pstats, type, &count) || count != 3)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (!pstats_take_scalar(pstats, &items[i]))
            return false;
    *function = pstats_add_function(pstats, &items[0], &items[1], &items[2]);
    value = (struct pstats_value){.length = *function, .kind = PSTATS_FUNCTION};
    pstats_store(pstats, number, &value);
    return true;
}

/* ---- Figures ---- */

/* Convert seconds; 0 for NaN, infinity, and times that do not fit. */
static int64_t pstats_nanoseconds(const struct pstats_value *value)
{
    double seconds = value->kind == PSTATS_FLOAT     ? value->number
                     : value->kind == PSTATS_INTEGER ? (double)value->integer
                                                     : 0;
    double rounded = floor(seconds * NANOSECONDS + 0.5);
    if (!(rounded >= -0x1p61 && rounded <= 0x1p61))
        return 0;
    return (int64_t)rounded;
}

static uint64_t pstats_count(const struct pstats_value *value)
{
    return value->kind == PSTATS_INTEGER && value->integer > 0 ? (uint64_t)value->integer : 0;
}

/* Take the figures of a caller: (calls, primitive calls, own, cumulative time), or only calls, as
 * the module `profile` writes. */
static bool pstats_take_caller(struct pstats *pstats, uint32_t caller, uint32_t callee)
{
    struct pstats_value items[4];
    uint32_t number, count = 1;
    uint8_t type;
    if (!pstats_take_type(pstats, &type, &number))
        return false;
    bool tuple = type == '(' || type == ')';
    if (tuple && (!pstats_take_tuple(pstats, type, &count) || count != 4))
        return false;
    if (!tuple && !pstats_take_value(pstats, type, &items[0]))
        return false;
    if (!tuple)
        pstats_store(pstats, number, &items[0]);
    for (size_t i = 0; tuple && i < 4; i++)
        if (!pstats_take_scalar(pstats, &items[i]))
            return false;
    uint32_t call = tv_call_graph_call(&pstats->graph, caller, callee, pstats_count(&items[0]));
    if (tuple)
        tv_call_graph_add_cost(&pstats->graph, call, pstats->type, pstats_nanoseconds(&items[3]));
    return true;
}

/* Take the dictionary of a function's callers.  False: it is damaged. */
static bool pstats_take_callers(struct pstats *pstats, uint32_t callee)
{
    uint32_t number, caller;
    uint8_t type;
    bool end;
    if (!pstats_take_type(pstats, &type, &number) || type != '{')
        return false;
    while (pstats_take_function(pstats, &caller, &end)) {
        if (end)
            return true;
        if (!pstats_take_caller(pstats, caller, callee))
            return false;
    }
    return false;
}

/* Take the figures of a function. */
static bool pstats_take_figures(struct pstats *pstats, uint32_t function)
{
    struct pstats_value items[4];
    uint32_t number, count;
    uint8_t type;
    if (!pstats_take_type(pstats, &type, &number) || !pstats_take_tuple(pstats, type, &count) ||
        count != 5)
        return false;
    for (size_t i = 0; i < 4; i++)
        if (!pstats_take_scalar(pstats, &items[i]))
            return false;
    pstats->graph.functions[function].stated_calls = pstats_count(&items[1]);
    tv_call_graph_add_self(&pstats->graph, function, pstats->type, pstats_nanoseconds(&items[2]));
    tv_call_graph_add_inclusive(&pstats->graph, function, pstats->type,
                                pstats_nanoseconds(&items[3]));
    pstats->profile.info->inputs[pstats->profile.input].samples++;
    return pstats_take_callers(pstats, function);
}

/* ---- The reader ---- */

/* Take the whole dictionary; false: it ends early or has another shape. */
static bool pstats_take_all(struct pstats *pstats, struct tv_progress *progress)
{
    uint32_t number, function;
    uint8_t type;
    bool end;
    if (!pstats_take_type(pstats, &type, &number) || type != '{')
        return false;
    while (!tv_reader_is_cancelled(progress) && pstats_take_function(pstats, &function, &end)) {
        if (end)
            return true;
        if (!pstats_take_figures(pstats, function))
            return false;
    }
    return false;
}

static void pstats_begin(struct pstats *pstats, struct tv_source *source,
                         struct tv_builder *builder)
{
    struct tv_profile_input *profile = &pstats->profile;
    tv_profile_input_begin(profile, source, builder, "Python cProfile");
    profile->info->inputs[profile->input].weight_axis = true;
    pstats->graph.profile = profile;
    pstats->graph.thread =
        tv_profile_thread(profile, tv_profile_process(profile, 0, TV_BYTES("")), 0,
                          TV_BYTES("all (estimated: cProfile keeps no paths)"));
    pstats->type =
        tv_call_graph_add_type(&pstats->graph, TV_BYTES("time"), TV_BYTES("nanoseconds"));
}

/* Read the file as the marshalled dictionary that cProfile writes; what came before damage is kept.
 */
static enum tv_status pstats_assemble(struct tv_source *source, struct tv_builder *builder,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_profile_text text;
    enum tv_status status = tv_profile_text_read(source, &text, err);
    if (status != TV_OK)
        return status;
    struct pstats *pstats = tv_alloc(1, sizeof *pstats);
    pstats_begin(pstats, source, builder);
    pstats->cursor = tv_cursor_over(text.bytes);
    if (!pstats_take_all(pstats, options->progress))
        tv_profile_warn(&pstats->profile,
                        tv_cursor_left(&pstats->cursor) > 0 ? TV_DIAGNOSTIC_BAD_EVENT
                                                            : TV_DIAGNOSTIC_TRUNCATED,
                        tv_cursor_position(&pstats->cursor));
    else if (tv_cursor_left(&pstats->cursor) > 0)
        tv_profile_warn(&pstats->profile, TV_DIAGNOSTIC_TRAILING_BYTES,
                        tv_cursor_position(&pstats->cursor));
    tv_call_graph_finish(&pstats->graph);
    tv_profile_input_end(&pstats->profile, options);
    tv_call_graph_release(&pstats->graph);
    tv_free(pstats->values);
    tv_free(pstats);
    tv_profile_text_release(&text);
    return tv_reader_check_cancel(options->progress, err);
}

/* A dictionary whose first key is a tuple of three. */
static int pstats_sniff(struct tv_bytes prefix, uint64_t size)
{
    static const uint8_t three[] = {3, 0, 0, 0};
    (void)size;
    if (prefix.length < 6 || (prefix.data[0] & ~REFERENCED) != '{')
        return 0;
    uint8_t tuple = prefix.data[1] & (uint8_t)~REFERENCED;
    bool is = (tuple == ')' && prefix.data[2] == 3) ||
              (tuple == '(' && memcmp(prefix.data + 2, three, sizeof three) == 0);
    return is ? 80 : 0;
}

const struct tv_reader tv_reader_pstats = {
    .name = "pstats",
    .sniff = pstats_sniff,
    .assemble = pstats_assemble,
    .refuses_empty = true,
};
