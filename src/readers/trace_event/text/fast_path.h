/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_path.h - the fast path through an event: plain JSON; it gives up on anything else.
 *
 * Compiled three times, each time with the loops of scan.h for other instructions: in fields.c for
 * the baseline of the architecture, in fast_path_avx2.c, and in fast_path_plain.c in plain C.  Only
 * these files include it.
 *
 * Nothing here checks every byte against `end`: the slack after the window is zero, and a zero
 * stops every loop.  The loops of scan.h look for other bytes and are given the end.
 */
#ifndef TV_READERS_TRACE_EVENT_TEXT_FAST_PATH_H
#define TV_READERS_TRACE_EVENT_TEXT_FAST_PATH_H

#include <string.h>

#include "readers/trace_event/text/fields.h"
#include "readers/trace_event/text/scan.h"

/* No field has a longer key. */
#define LONGEST_KEY 15

#define EXTRA_SPACE(c) ((c) == ' ' || (c) == '\n' || (c) == '\r' || (c) == '\t')

/* Bytes of numbers, of the names of values and of bare words. */
TV_INLINE bool te_is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.' || c == '_' || c == '$';
}

/* ---- Which field a key is ---- */

/* Return where the value of a key goes; NULL: the key is not a field. */
TV_NOINLINE static struct tv_bytes *te_fields_find_rare(struct tv_te_fields *fields,
                                                        const uint8_t *key, size_t length)
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
    fields->odd = true;
    FIELD("end", end);
#undef FIELD
    return NULL;
}

/* A key of up to four letters as one number. */
#define KEY2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define KEY3(a, b, c) (KEY2(a, b) | (uint32_t)(c) << 16)
#define KEY4(a, b, c, d) (KEY3(a, b, c) | (uint32_t)(d) << 24)

/* Return where the value of a key goes, or NULL.  Four bytes at `key` are readable. */
TV_INLINE struct tv_bytes *te_fields_find(struct tv_te_fields *fields, const uint8_t *key,
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
    return te_fields_find_rare(fields, key, length);
}

/* ---- The fast path ---- */

TV_INLINE const uint8_t *te_fast_skip_space(const uint8_t *at)
{
    while (TV_UNLIKELY(EXTRA_SPACE(*at)))
        at++;
    return at;
}

/* Return the place after the string, or NULL. */
TV_INLINE const uint8_t *te_fast_skip_string(const uint8_t *at, const uint8_t *end)
{
    if (at[2] == '"' && at[1] != '\\' && at[1] != '"')
        return at + 3;
    at = tv_scan_string(at + 1, end);
    return at ? at + 1 : NULL;
}

/* Return the place after the number or word, or NULL. */
TV_INLINE const uint8_t *te_fast_skip_word(const uint8_t *at, const uint8_t *end)
{
    /* Byte after byte is faster than a search: the processor predicts the length and need not wait.
     */
    if (TV_LIKELY(*at >= '0' && *at <= '9')) {
        do
            at++;
        while ((*at >= '0' && *at <= '9') || *at == '.');
        return *at == ',' || *at == '}' || EXTRA_SPACE(*at) ? at : NULL;
    }
    /* The usual names, and numbers with a sign. */
    if (*at == '\0' || !strchr("-tfnNI", *at))
        return NULL;
    while (te_is_word(*at))
        at++;
    return at < end ? at : NULL;
}

/* Return the place after the value, or NULL. */
TV_INLINE const uint8_t *te_fast_skip_value(const uint8_t *at, const uint8_t *end)
{
    if (*at == '"')
        return te_fast_skip_string(at, end);
    if (*at == '{' || *at == '[')
        return tv_scan_nested(at, end);
    return te_fast_skip_word(at, end);
}

/* Match the usual keys, written without space.  Each comparison implies the distance to the value,
 * so the processor need not wait for a search.  *value is after the ':'.  False: another key. */
TV_INLINE bool te_fast_usual_key(const uint8_t *key, struct tv_te_fields *fields,
                                 struct tv_bytes **field, const uint8_t **value)
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

/* Match any key without escapes, of at most 15 letters; NULL: it is not one. */
TV_NOINLINE static const uint8_t *te_fast_other_key(const uint8_t *key, struct tv_te_fields *fields,
                                                    struct tv_bytes **field)
{
    tv_sixteen bytes = tv_sixteen_load(key);
    uint32_t quotes = tv_sixteen_find(bytes, '"');
    if (quotes == 0 || tv_sixteen_find(bytes, '\\') & (quotes - 1))
        return NULL;
    size_t length = tv_scan_lowest_bit(quotes);
    *field = te_fields_find(fields, key, length);
    const uint8_t *at = te_fast_skip_space(key + length + 1);
    return *at == ':' ? te_fast_skip_space(at + 1) : NULL;
}

/* Read an event.  False: use the lenient path. */
TV_INLINE bool tv_te_fast_path(const uint8_t *at, const uint8_t *end, struct tv_te_fields *fields,
                               const uint8_t **event_end)
{
    for (at++;; at++) {
        const uint8_t *value;
        struct tv_bytes *field;
        at = te_fast_skip_space(at);
        if (TV_UNLIKELY(*at != '"'))
            return false;
        if (TV_UNLIKELY(!te_fast_usual_key(at + 1, fields, &field, &value))) {
            value = te_fast_other_key(at + 1, fields, &field);
            if (!value)
                return false;
        }
        at = te_fast_skip_value(value, end);
        if (TV_UNLIKELY(!at))
            return false;
        if (TV_LIKELY(field))
            *field = (struct tv_bytes){value, (size_t)(at - value)};
        at = te_fast_skip_space(at);
        if (*at != ',')
            break;
    }
    *event_end = at + 1;
    return *at == '}' && at < end;
}

/* Read an event.  False: use the lenient path. */
typedef bool tv_te_fast_path_function(const uint8_t *at, const uint8_t *end,
                                      struct tv_te_fields *fields, const uint8_t **event_end);

tv_te_fast_path_function tv_te_fast_path_plain;
#if defined(TV_HAS_AVX2)
tv_te_fast_path_function tv_te_fast_path_avx2;
#endif

#endif
