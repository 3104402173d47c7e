/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_fields.c - from the text of an object to its members.
 *
 * Twice: the quick way takes plain JSON and gives up on anything else; the lenient way takes all
 * that is read at all, and says what was wrong.
 */
#include "readers/te_fields.h"

#include <string.h>

#include "base/bytes.h"
#include "readers/te_scan.h"

/* Longer keys are those of no field. */
#define LONGEST_KEY 15

#define EXTRA_SPACE(c) ((c) == ' ' || (c) == '\n' || (c) == '\r' || (c) == '\t')

/* What numbers, names of values and bare words consist of. */
static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.' || c == '_' || c == '$';
}

/* ---- Which field a key is ---- */

/* Where a key's value goes; NULL: to nobody. */
static struct tv_bytes *rare_field(struct tv_te_fields *fields, const uint8_t *key, size_t length)
{
#define FIELD(text, member)                                                                        \
    if (length == sizeof(text) - 1 && memcmp(key, text, sizeof(text) - 1) == 0)                    \
    return &fields->member
    fields->rare = true;
    FIELD("s", s);
    FIELD("id", id);
    FIELD("bp", bp);
    FIELD("sf", sf);
    FIELD("id2", id2);
    FIELD("cpu", cpu);
    FIELD("esf", esf);
    FIELD("scope", scope);
    FIELD("cname", cname);
    FIELD("stack", stack);
    FIELD("estack", estack);
    FIELD("weight", weight);
    FIELD("bind_id", bind_id);
    FIELD("flow_in", flow_in);
    FIELD("flow_out", flow_out);
    FIELD("use_async_tts", use_async_tts);
#undef FIELD
    return NULL;
}

/* The bytes of a key of up to four letters in one word. */
#define KEY2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define KEY3(a, b, c) (KEY2(a, b) | (uint32_t)(c) << 16)
#define KEY4(a, b, c, d) (KEY3(a, b, c) | (uint32_t)(d) << 24)

/* Four bytes behind `key` can be read. */
TV_INLINE struct tv_bytes *find_field(struct tv_te_fields *fields, const uint8_t *key,
                                      size_t length)
{
    uint32_t word = KEY4(key[0], key[1], key[2], key[3]);
    switch (length) {
    case 2:
        word &= 0xffff;
        if (word == KEY2('p', 'h'))
            return &fields->ph;
        if (word == KEY2('t', 's'))
            return &fields->ts;
        break;
    case 3:
        word &= 0xffffff;
        if (word == KEY3('p', 'i', 'd'))
            return &fields->pid;
        if (word == KEY3('t', 'i', 'd'))
            return &fields->tid;
        if (word == KEY3('c', 'a', 't'))
            return &fields->cat;
        if (word == KEY3('d', 'u', 'r'))
            return &fields->dur;
        if (word == KEY3('t', 't', 's'))
            return &fields->tts;
        break;
    case 4:
        if (word == KEY4('n', 'a', 'm', 'e'))
            return &fields->name;
        if (word == KEY4('a', 'r', 'g', 's'))
            return &fields->args;
        if (word == KEY4('t', 'd', 'u', 'r'))
            return &fields->tdur;
        break;
    default:
        break;
    }
    return rare_field(fields, key, length);
}

/* ---- The quick way ---- */

TV_INLINE const uint8_t *quick_space(const uint8_t *at)
{
    while (TV_UNLIKELY(EXTRA_SPACE(*at)))
        at++;
    return at;
}

/* Behind the string, or NULL. */
TV_INLINE const uint8_t *quick_string(const uint8_t *at, const uint8_t *end)
{
    if (at[2] == '"' && at[1] != '\\' && at[1] != '"')
        return at + 3;
    at = tv_scan_string(at + 1, end);
    return at ? at + 1 : NULL;
}

/* Behind the number or word, or NULL. */
TV_INLINE const uint8_t *quick_word(const uint8_t *at, const uint8_t *end)
{
    /* Byte after byte: processors guess how many there are, and need not wait to know. */
    const uint8_t *start = at;
    while ((*at >= '0' && *at <= '9') || *at == '.')
        at++;
    if (TV_LIKELY(at > start))
        return *at == ',' || *at == '}' || EXTRA_SPACE(*at) ? at : NULL;
    /* The names that are usual, and what begins with a sign. */
    if (*at == '\0' || !strchr("-tfnNI", *at))
        return NULL;
    while (is_word(*at))
        at++;
    return at < end ? at : NULL;
}

/* Behind the value, or NULL. */
TV_INLINE const uint8_t *quick_value(const uint8_t *at, const uint8_t *end)
{
    if (*at == '"')
        return quick_string(at, end);
    if (*at == '{' || *at == '[')
        return tv_scan_nested(at, end);
    return quick_word(at, end);
}

/* The usual keys, written without space: each comparison says how far to go, so that processors
 * need not wait for a search.  *value is behind the ':'; false: another key. */
TV_INLINE bool usual_key(const uint8_t *key, struct tv_te_fields *fields, struct tv_bytes **field,
                         const uint8_t **value)
{
    switch (KEY4(key[0], key[1], key[2], key[3])) {
#define KEY(word, member, length)                                                                  \
    case word:                                                                                     \
        *field = &fields->member;                                                                  \
        *value = key + (length) + 2;                                                               \
        break
        KEY(KEY4('p', 'h', '"', ':'), ph, 2);
        KEY(KEY4('t', 's', '"', ':'), ts, 2);
        KEY(KEY4('p', 'i', 'd', '"'), pid, 3);
        KEY(KEY4('t', 'i', 'd', '"'), tid, 3);
        KEY(KEY4('c', 'a', 't', '"'), cat, 3);
        KEY(KEY4('d', 'u', 'r', '"'), dur, 3);
        KEY(KEY4('t', 't', 's', '"'), tts, 3);
        KEY(KEY4('n', 'a', 'm', 'e'), name, 4);
        KEY(KEY4('a', 'r', 'g', 's'), args, 4);
        KEY(KEY4('t', 'd', 'u', 'r'), tdur, 4);
#undef KEY
    default:
        return false;
    }
    return (*value)[-2] == '"' && (*value)[-1] == ':' && **value > ' ';
}

/* Any key without escapes, of at most 15 letters; NULL: it is none. */
static const uint8_t *other_key(const uint8_t *key, struct tv_te_fields *fields,
                                struct tv_bytes **field)
{
    tv_sixteen bytes = tv_sixteen_load(key);
    uint32_t quotes = tv_sixteen_find(bytes, '"');
    if (quotes == 0 || tv_sixteen_find(bytes, '\\') & (quotes - 1))
        return NULL;
    size_t length = tv_lowest_bit(quotes);
    *field = find_field(fields, key, length);
    const uint8_t *at = quick_space(key + length + 1);
    return *at == ':' ? quick_space(at + 1) : NULL;
}

/* False: look at it the lenient way.  The bytes behind the end are 0 and so stop it. */
static bool read_quick(const uint8_t *at, const uint8_t *end, struct tv_te_fields *fields,
                       const uint8_t **event_end)
{
    for (at++;; at++) {
        const uint8_t *value;
        struct tv_bytes *field;
        at = quick_space(at);
        if (TV_UNLIKELY(*at != '"'))
            return false;
        if (TV_UNLIKELY(!usual_key(at + 1, fields, &field, &value))) {
            value = other_key(at + 1, fields, &field);
            if (!value)
                return false;
        }
        at = quick_value(value, end);
        if (TV_UNLIKELY(!at))
            return false;
        if (TV_LIKELY(field))
            *field = (struct tv_bytes){value, (size_t)(at - value)};
        at = quick_space(at);
        if (*at != ',')
            break;
    }
    *event_end = at + 1;
    return *at == '}' && at < end;
}

/* ---- The lenient way ---- */

enum fault {
    FAULT_COMMENT = 1,
    FAULT_COMMA = 2, /* missing, or one too many */
    FAULT_QUOTES = 4,
    FAULT_WORD = 8, /* a number that JSON does not have, a bare key */
};

struct walk {
    const uint8_t *at, *end;
    unsigned faults;
    bool broken; /* something that no leniency takes; else the end was reached */
};

static void skip_comment(struct walk *walk)
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

/* The next byte that is no space; 0 at the end. */
static uint8_t look(struct walk *walk)
{
    while (walk->at < walk->end) {
        uint8_t c = *walk->at;
        if (EXTRA_SPACE(c))
            walk->at++;
        else if (c == '/' && (walk->at[1] == '/' || walk->at[1] == '*'))
            skip_comment(walk);
        else
            return c ? c : 1;
    }
    walk->at = walk->end;
    return 0;
}

static bool broken(struct walk *walk)
{
    walk->broken = walk->at < walk->end;
    return false;
}

static bool skip_quoted(struct walk *walk)
{
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

/* Strings in single quotes are known by what stands before them. */
static bool skip_nested(struct walk *walk)
{
    uint64_t depth = 0;
    uint8_t before = ',';
    for (uint8_t c; (c = look(walk)) != 0; before = c) {
        bool value = strchr("{[,:", before) != NULL;
        if (c == '"' || (c == '\'' && value)) {
            if (!skip_quoted(walk))
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

static bool skip_word(struct walk *walk)
{
    const uint8_t *start = walk->at;
    while (walk->at < walk->end && is_word(*walk->at))
        walk->at++;
    if (walk->at == start)
        return broken(walk);
    /* At the end of the bytes it may go on. */
    return walk->at < walk->end;
}

/* Numbers as JSON writes them, its three names, and the names that Python writes. */
static bool is_usual_word(struct tv_bytes word)
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

static bool skip_value(struct walk *walk, struct tv_bytes *value)
{
    uint8_t c = look(walk);
    const uint8_t *start = walk->at;
    bool ended;
    if (c == '"' || c == '\'')
        ended = skip_quoted(walk);
    else if (c == '{' || c == '[')
        ended = skip_nested(walk);
    else
        ended = skip_word(walk);
    *value = (struct tv_bytes){start, (size_t)(walk->at - start)};
    if (ended && is_word(c) && !is_usual_word(*value))
        walk->faults |= FAULT_WORD;
    return ended;
}

/* Past the comma before the next member or element; whether there is one before `close`. */
static bool next_item(struct walk *walk, uint8_t close, bool first)
{
    unsigned commas = 0;
    uint8_t c;
    for (; (c = look(walk)) == ','; walk->at++)
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

static bool take_key(struct walk *walk, struct tv_bytes *key)
{
    uint8_t c = look(walk);
    const uint8_t *start = walk->at;
    bool quoted = c == '"' || c == '\'';
    if (!(quoted ? skip_quoted(walk) : skip_word(walk)))
        return false;
    if (!quoted)
        walk->faults |= FAULT_WORD;
    *key = (struct tv_bytes){start, (size_t)(walk->at - start)};
    return true;
}

static struct tv_bytes without_quotes(struct tv_bytes key)
{
    if (tv_te_is_string(key))
        return (struct tv_bytes){key.data + 1, key.length - 2};
    return key;
}

/* False at the end of the object, of the bytes, or of what can be read. */
static bool next_member(struct walk *walk, bool first, struct tv_bytes *key, struct tv_bytes *value)
{
    if (!next_item(walk, '}', first) || !take_key(walk, key))
        return false;
    if (look(walk) != ':')
        return broken(walk);
    walk->at++;
    return skip_value(walk, value);
}

static enum tv_te_read read_lenient(const uint8_t *at, const uint8_t *end,
                                    struct tv_te_fields *fields, const uint8_t **event_end)
{
    struct walk walk = {.at = at + 1, .end = end};
    struct tv_bytes key, value;
    for (bool first = true; next_member(&walk, first, &key, &value); first = false) {
        uint8_t text[LONGEST_KEY + 4] = {0};
        key = without_quotes(key);
        if (key.length > LONGEST_KEY)
            continue;
        memcpy(text, key.data, key.length);
        struct tv_bytes *field = find_field(fields, text, key.length);
        if (field)
            *field = value;
    }
    *event_end = walk.at;
    fields->faults = walk.faults;
    /* Half of what begins a comment looks broken. */
    if (walk.at >= end || (walk.broken && end - walk.at < 2))
        return TV_TE_CUT;
    if (walk.broken)
        return TV_TE_BROKEN;
    if (*walk.at != '}')
        return TV_TE_BROKEN;
    *event_end = walk.at + 1;
    return TV_TE_READ;
}

bool tv_te_member_next(const uint8_t **at, const uint8_t *end, struct tv_bytes *key,
                       struct tv_bytes *value)
{
    struct walk walk = {.at = *at, .end = end};
    bool found = next_member(&walk, false, key, value);
    *at = walk.at;
    return found;
}

bool tv_te_element_next(const uint8_t **at, const uint8_t *end, struct tv_bytes *value)
{
    struct walk walk = {.at = *at, .end = end};
    bool found = next_item(&walk, ']', false) && skip_value(&walk, value);
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
        if (tv_bytes_equal(without_quotes(key), tv_bytes_of(name)))
            found = value;
    return found;
}

char tv_te_phase(const struct tv_te_fields *fields)
{
    struct tv_bytes ph = fields->ph;
    return ph.length == 3 && tv_te_is_string(ph) ? (char)ph.data[1] : '\0';
}

enum tv_te_id_kind tv_te_id(const struct tv_te_fields *fields, struct tv_bytes *raw)
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

/* The few that most events have are cleared each time, the others when there were any. */
TV_INLINE void clear(struct tv_te_fields *fields)
{
    if (TV_UNLIKELY(fields->rare)) {
        memset(fields, 0, sizeof *fields);
        return;
    }
    fields->name = fields->cat = fields->ph = fields->ts = fields->dur = (struct tv_bytes){NULL, 0};
    fields->tts = fields->tdur = fields->pid = fields->tid = fields->args = fields->name;
    fields->faults = 0;
}

enum tv_te_read tv_te_fields_read_over(const uint8_t *at, const uint8_t *end,
                                       struct tv_te_fields *fields, const uint8_t **event_end)
{
    clear(fields);
    *event_end = at;
    if (at >= end)
        return TV_TE_CUT;
    if (*at != '{')
        return TV_TE_NOT_OBJECT;
    if (TV_LIKELY(read_quick(at, end, fields, event_end)))
        return TV_TE_READ;
    clear(fields);
    return read_lenient(at, end, fields, event_end);
}

enum tv_te_read tv_te_fields_read(const uint8_t *at, const uint8_t *end,
                                  struct tv_te_fields *fields, const uint8_t **event_end)
{
    memset(fields, 0, sizeof *fields);
    return tv_te_fields_read_over(at, end, fields, event_end);
}
