/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.c - from the text of an object to its members, on two paths.
 *
 *     fast path     plain JSON without surprises; gives up on anything else (fast_path.h)
 *     lenient path  everything that can be read at all, and what was wrong with it
 *
 * Both give the same fields for text that the fast path takes.
 *
 *     {"name":"draw","ph":"X","ts":12,"dur":3,"pid":7,"tid":9,"args":{"n":1}}  , {...
 *     fields: name "\"draw\"", ph "\"X\"", ts "12", ...   raw text, views of the window
 *     *event_end -------------------------------------------------------------^
 *
 * The bytes may end within the object: TV_TE_CUT asks for more of them. TV_TE_BROKEN is beyond
 * leniency. At least TV_WINDOW_SLACK bytes behind `end` are readable and never belong to the text,
 * so looking one or two bytes ahead needs no test.
 *
 * The lenient path must accept exactly what json/lenient.c accepts, because describing an event
 * reads the same text with that one.
 */
#include "readers/trace_event/text/fields.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/trace_event/text/fast_path.h"

/* ---- The lenient path ---- */

enum te_fields_fault {
    FAULT_COMMENT = 1,
    FAULT_COMMA = 2, /* missing, or one too many */
    FAULT_QUOTES = 4,
    FAULT_WORD = 8,   /* a number that JSON does not have, or a bare key */
    FAULT_BRACE = 16, /* missing at the end */
    FAULT_VALUE = 32, /* missing */
};

struct te_lenient_walk {
    const uint8_t *at, *end;
    unsigned faults;
    bool broken;  /* beyond all leniency; else the bytes ended */
    bool between; /* no key was begun */
    bool whole;   /* the bytes are the whole text: a word may end with them */
};

/* Skip a comment; a line comment leaves its line end. */
static void te_walk_skip_comment(struct te_lenient_walk *walk)
{
    bool line = walk->at[1] == '/';
    walk->faults |= FAULT_COMMENT;
    for (walk->at += 2; walk->at < walk->end; walk->at++) {
        if (line && *walk->at == '\n')
            return;
        if (!line && walk->at[0] == '*' && walk->at[1] == '/') {
            walk->at += 2;
            return;
        }
    }
}

/* Skip "..." and the words after it, which stand for left-out text, as in json/lenient.c. */
static void te_walk_skip_dots(struct te_lenient_walk *walk)
{
    walk->faults |= FAULT_COMMENT;
    for (; walk->at < walk->end; walk->at++)
        if (strchr(",:\"{}[]\n", *walk->at ? *walk->at : ' ') ||
            (*walk->at == '\'' && EXTRA_SPACE(walk->at[-1])))
            return;
}

/* Return the next byte that is not space, without taking it; 0 at the end. */
static uint8_t te_walk_peek(struct te_lenient_walk *walk)
{
    while (walk->at < walk->end) {
        uint8_t c = *walk->at;
        if (EXTRA_SPACE(c))
            walk->at++;
        else if (c == '/' && (walk->at[1] == '/' || walk->at[1] == '*'))
            te_walk_skip_comment(walk);
        else if (c == '.' && walk->at[1] == '.' && walk->at[2] == '.')
            te_walk_skip_dots(walk);
        else
            return c ? c : 1;
    }
    walk->at = walk->end;
    return 0;
}

/* Stop at something unreadable; at the end of the bytes the text is only cut. */
static bool te_walk_break_off(struct te_lenient_walk *walk)
{
    walk->broken = walk->at < walk->end;
    return false;
}

/* Skip a string; false: it does not end. */
static bool te_walk_skip_quoted(struct te_lenient_walk *walk)
{
    assert(walk->at < walk->end && (*walk->at == '"' || *walk->at == '\''));
    uint8_t quote = *walk->at++;
    if (quote == '\'')
        walk->faults |= FAULT_QUOTES;
    for (; walk->at < walk->end; walk->at++)
        if (*walk->at == quote) {
            walk->at++;
            return true;
        } else if (*walk->at == '\\') {
            walk->at++;
        }
    walk->at = walk->end;
    return false;
}

/* Skip an object or array; false: it does not end. A single quote begins a string only where a
 * value or key is due. */
static bool te_walk_skip_nested(struct te_lenient_walk *walk)
{
    uint64_t depth = 0;
    uint8_t before = ',';
    for (uint8_t c; (c = te_walk_peek(walk)) != 0; before = c) {
        bool value = strchr("{[,:", before) != NULL;
        if (c == '"' || (c == '\'' && value)) {
            if (!te_walk_skip_quoted(walk))
                return false;
            continue;
        }
        walk->at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return true;
    }
    return false;
}

/* Within a whole text a word is the same as in json/lenient.c. */
static bool te_walk_at_word(const struct te_lenient_walk *walk)
{
    uint8_t c = *walk->at;
    return te_is_word(c) || (walk->whole && c != 0 && !EXTRA_SPACE(c) && !strchr(",:\"{}[]", c));
}

/* Skip a bare word; false: it may go on after the bytes, or there is none. */
static bool te_walk_skip_word(struct te_lenient_walk *walk)
{
    const uint8_t *start = walk->at;
    while (walk->at < walk->end && te_walk_at_word(walk))
        walk->at++;
    if (walk->at == start)
        return te_walk_break_off(walk);
    /* At the end of the bytes the word may go on. */
    return walk->whole || walk->at < walk->end;
}

/* True for numbers as JSON writes them, its three names, and the names that Python writes. */
static bool te_walk_is_usual_word(struct tv_bytes word)
{
    static const char *const names[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < TV_COUNT(names); i++)
        if (tv_bytes_equal(word, tv_bytes_of(names[i])))
            return true;
    for (size_t i = 0; i < word.length; i++)
        if (word.data[i] > '9' && (word.data[i] | 0x20) != 'e')
            return false;
    return true;
}

/* Skip a value of any type; *value is its raw text. */
static bool te_walk_skip_value(struct te_lenient_walk *walk, struct tv_bytes *value)
{
    uint8_t c = te_walk_peek(walk);
    const uint8_t *start = walk->at;
    bool ended;
    if (c == '"' || c == '\'')
        ended = te_walk_skip_quoted(walk);
    else if (c == '{' || c == '[')
        ended = te_walk_skip_nested(walk);
    else
        ended = te_walk_skip_word(walk);
    *value = (struct tv_bytes){start, (size_t)(walk->at - start)};
    if (ended && te_is_word(c) && !te_walk_is_usual_word(*value))
        walk->faults |= FAULT_WORD;
    return ended;
}

/* Skip the comma before the next member or element; false: `close` is next. */
static bool te_walk_next_item(struct te_lenient_walk *walk, uint8_t close, bool first)
{
    unsigned commas = 0;
    uint8_t c;
    for (; (c = te_walk_peek(walk)) == ','; walk->at++)
        commas++;
    if (c == close || c == 0) {
        if (commas > 0 && c == close)
            walk->faults |= FAULT_COMMA;
        return false;
    }
    if (commas != (first ? 0u : 1u))
        walk->faults |= FAULT_COMMA;
    return true;
}

/* Take the key of a member, quoted or bare. */
static bool te_walk_take_key(struct te_lenient_walk *walk, struct tv_bytes *key)
{
    uint8_t c = te_walk_peek(walk);
    const uint8_t *start = walk->at;
    bool quoted = c == '"' || c == '\'';
    walk->between = !quoted && !te_is_word(c);
    if (!(quoted ? te_walk_skip_quoted(walk) : te_walk_skip_word(walk)))
        return false;
    if (!quoted)
        walk->faults |= FAULT_WORD;
    *key = (struct tv_bytes){start, (size_t)(walk->at - start)};
    return true;
}

struct tv_bytes tv_te_key_unquote(struct tv_bytes key)
{
    if (tv_te_is_string(key) && key.length >= 2)
        return (struct tv_bytes){key.data + 1, key.length - 2};
    return key;
}

/* A missing value reads as null, which is not within the text. */
static const char te_missing_value[] = "null";

static bool te_value_is_missing(struct tv_bytes value)
{
    return value.data == (const uint8_t *)te_missing_value;
}

/* Return the next member.  False at the end of the object, of the bytes, or of readable text. */
static bool te_walk_next_member(struct te_lenient_walk *walk, bool first, struct tv_bytes *key,
                                struct tv_bytes *value)
{
    walk->between = true;
    if (!te_walk_next_item(walk, '}', first) || !te_walk_take_key(walk, key))
        return false;
    uint8_t c = te_walk_peek(walk);
    if (c == ':')
        walk->at++;
    else if (!walk->whole)
        return te_walk_break_off(walk);
    /* A missing colon or value is read as in json/lenient.c. */
    c = te_walk_peek(walk);
    if (c != 0 && strchr(",:}]", c)) {
        walk->faults |= FAULT_VALUE;
        *value = tv_bytes_of(te_missing_value);
        return true;
    }
    return te_walk_skip_value(walk, value);
}

/* Store a value in the field of its key.  The padded copy allows the comparison of whole words. */
static void te_fields_set(struct tv_te_fields *fields, struct tv_bytes key, struct tv_bytes value)
{
    uint8_t text[LONGEST_KEY + 4] = {0};
    if (key.length > LONGEST_KEY) {
        fields->rare = fields->odd = true;
        return;
    }
    memcpy(text, key.data, key.length);
    struct tv_bytes *field = te_fields_find(fields, text, key.length);
    if (field)
        *field = value;
}

/* Read the members up to the first that cannot be read; *last is after the last one. */
static void te_fields_read_members(struct te_lenient_walk *walk, struct tv_te_fields *fields,
                                   const uint8_t **last)
{
    struct tv_bytes key, value;
    *last = walk->at;
    for (bool first = true; te_walk_next_member(walk, first, &key, &value); first = false) {
        if (!te_value_is_missing(value))
            te_fields_set(fields, tv_te_key_unquote(key), value);
        *last = walk->at;
    }
    fields->faults = walk->faults;
}

/* Read an object on the lenient path. */
static enum tv_te_read te_fields_read_lenient(const uint8_t *at, const uint8_t *end,
                                              struct tv_te_fields *fields,
                                              const uint8_t **event_end)
{
    assert(*at == '{');
    struct te_lenient_walk walk = {.at = at + 1, .end = end};
    const uint8_t *last;
    te_fields_read_members(&walk, fields, &last);
    *event_end = walk.at;
    if (walk.at >= end)
        return TV_TE_CUT;
    if (*walk.at == '}' && !walk.broken) {
        *event_end = walk.at + 1;
        return TV_TE_READ;
    }
    /* The next event begins, or the list ends, where a key is due: only a brace is missing. */
    if (walk.between && fields->ph.data && (*walk.at == '{' || *walk.at == ']')) {
        fields->faults |= FAULT_BRACE;
        *event_end = last;
        return TV_TE_READ;
    }
    /* Half of what begins a comment or three dots looks broken. */
    return end - walk.at < 3 ? TV_TE_CUT : TV_TE_BROKEN;
}

enum tv_te_read tv_te_fields_close(const uint8_t *at, const uint8_t *end,
                                   struct tv_te_fields *fields, const uint8_t **event_end)
{
    assert(at < end && *at == '{');
    struct te_lenient_walk walk = {.at = at + 1, .end = end};
    memset(fields, 0, sizeof *fields);
    te_fields_read_members(&walk, fields, event_end);
    bool whole = walk.at >= end && walk.between && fields->ph.data && (*event_end)[-1] == '}';
    return whole ? TV_TE_READ : TV_TE_CUT;
}

bool tv_te_member_next(const uint8_t **at, const uint8_t *end, struct tv_bytes *key,
                       struct tv_bytes *value)
{
    struct te_lenient_walk walk = {.at = *at, .end = end, .whole = true};
    bool found = te_walk_next_member(&walk, false, key, value);
    *at = walk.at;
    return found;
}

/* Return where the value of a plain member begins; NULL: use the lenient path. */
static const uint8_t *te_fields_plain_member(const uint8_t *at, const uint8_t *end,
                                             struct tv_bytes *key)
{
    at = te_fast_skip_space(at);
    if (*at == ',')
        at = te_fast_skip_space(at + 1);
    if (at >= end || *at != '"')
        return NULL;
    const uint8_t *behind = te_fast_skip_string(at, end);
    if (!behind)
        return NULL;
    *key = (struct tv_bytes){at, (size_t)(behind - at)};
    at = te_fast_skip_space(behind);
    return at < end && *at == ':' ? te_fast_skip_space(at + 1) : NULL;
}

/* Walk over the members of an object whose fields were read: the end of a known value is known, so
 * the text of it, which may be long, is not read again. */
bool tv_te_fields_next(struct tv_te_fields *fields, const uint8_t **at, const uint8_t *end,
                       struct tv_bytes *key, struct tv_bytes *value)
{
    const uint8_t *start = te_fields_plain_member(*at, end, key);
    if (start && key->length - 2 <= LONGEST_KEY) {
        const struct tv_bytes *field = te_fields_find(fields, key->data + 1, key->length - 2);
        if (field && field->data == start) {
            *value = *field;
            *at = start + field->length;
            return true;
        }
    }
    return tv_te_member_next(at, end, key, value);
}

bool tv_te_key_is(struct tv_bytes key, const char *name)
{
    return tv_bytes_equal(tv_te_key_unquote(key), tv_bytes_of(name));
}

bool tv_te_element_next(const uint8_t **at, const uint8_t *end, struct tv_bytes *value)
{
    struct te_lenient_walk walk = {.at = *at, .end = end};
    bool found = te_walk_next_item(&walk, ']', false) && te_walk_skip_value(&walk, value);
    *at = walk.at;
    return found;
}

struct tv_bytes tv_te_member(struct tv_bytes object, const char *name)
{
    struct tv_bytes key, value, found = {NULL, 0};
    if (object.length == 0 || object.data[0] != '{')
        return found;
    const uint8_t *at = object.data + 1, *end = object.data + object.length;
    while (tv_te_member_next(&at, end, &key, &value))
        if (tv_te_key_is(key, name))
            found = value;
    return found;
}

/* A phase is a string of one character; anything else has none. */
char tv_te_fields_phase(const struct tv_te_fields *fields)
{
    struct tv_bytes ph = fields->ph;
    return ph.length == 3 && tv_te_is_string(ph) ? (char)ph.data[1] : '\0';
}

enum tv_te_id_kind tv_te_fields_id(const struct tv_te_fields *fields, struct tv_bytes *raw)
{
    *raw = fields->id;
    if (!fields->id2.data)
        return fields->id.data ? TV_TE_ID_PLAIN : TV_TE_ID_NONE;
    struct tv_bytes global = tv_te_member(fields->id2, "global");
    struct tv_bytes local = tv_te_member(fields->id2, "local");
    if (fields->id.data || !global.data == !local.data)
        return TV_TE_ID_BAD;
    *raw = global.data ? global : local;
    return global.data ? TV_TE_ID_GLOBAL : TV_TE_ID_LOCAL;
}

/* Clear the few fields that most events have each time, the others only when there were any. */
TV_INLINE void te_fields_clear(struct tv_te_fields *fields)
{
    if (TV_UNLIKELY(fields->rare)) {
        memset(fields, 0, sizeof *fields);
        return;
    }
    fields->name = fields->cat = fields->ph = fields->ts = fields->dur = (struct tv_bytes){NULL, 0};
    fields->tts = fields->tdur = fields->pid = fields->tid = fields->args = fields->name;
    fields->faults = 0;
}

/* ---- Choosing the fast path ---- */

/* The fast path with the baseline instructions. */
static bool te_fast_path_usual(const uint8_t *at, const uint8_t *end, struct tv_te_fields *fields,
                               const uint8_t **event_end)
{
    return tv_te_fast_path(at, end, fields, event_end);
}

/* Return the function for these instructions; NULL: the processor lacks them. */
static tv_te_fast_path_function *te_fast_path_for(enum tv_te_simd simd)
{
#if defined(TV_HAS_AVX2)
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                __builtin_cpu_supports("pclmul");
    if (avx2 && (simd == TV_TE_SIMD_BEST || simd == TV_TE_SIMD_AVX2))
        return tv_te_fast_path_avx2;
#endif
    if (simd == TV_TE_SIMD_PLAIN)
        return tv_te_fast_path_plain;
    return simd == TV_TE_SIMD_AVX2 ? NULL : te_fast_path_usual;
}

/* The function for this processor, found at the first call. */
static _Atomic(tv_te_fast_path_function *) chosen;

bool tv_te_simd_use(enum tv_te_simd simd)
{
    tv_te_fast_path_function *function = te_fast_path_for(simd);
    if (function)
        atomic_store_explicit(&chosen, function, memory_order_relaxed);
    return function != NULL;
}

/* Threads may race here: all of them find the same function. */
TV_INLINE tv_te_fast_path_function *te_fast_path_current(void)
{
    tv_te_fast_path_function *function = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (TV_LIKELY(function))
        return function;
    tv_te_simd_use(TV_TE_SIMD_BEST);
    return atomic_load_explicit(&chosen, memory_order_relaxed);
}

enum tv_te_read tv_te_fields_read_over(const uint8_t *at, const uint8_t *end,
                                       struct tv_te_fields *fields, const uint8_t **event_end)
{
    te_fields_clear(fields);
    *event_end = at;
    if (at >= end)
        return TV_TE_CUT;
    if (*at != '{')
        return TV_TE_NOT_OBJECT;
    if (TV_LIKELY(te_fast_path_current()(at, end, fields, event_end)))
        return TV_TE_READ;
    te_fields_clear(fields);
    return te_fields_read_lenient(at, end, fields, event_end);
}

enum tv_te_read tv_te_fields_read(const uint8_t *at, const uint8_t *end,
                                  struct tv_te_fields *fields, const uint8_t **event_end)
{
    memset(fields, 0, sizeof *fields);
    return tv_te_fields_read_over(at, end, fields, event_end);
}
