/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json_scan.c - the scanning of 16 and 64 bytes at once (text/scan.h), of events
 * (text/fields.h) and of trees (json.h) against json_plain.h, which goes a byte at a time.
 *
 * Texts are random, of the characters that matter, at every alignment, and after them stands more
 * of the same: whoever heeds what is after the end finds something else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "json_plain.h"
#include "readers/json/json.h"
#include "readers/trace_event/text/fields.h"
#include "readers/trace_event/text/scan.h"

#define ALIGNMENTS 64
#define SLACK 64
#define LONGEST 400

/* Was this test compiled with scan.h's own choice of instructions? */
#if defined(TV_SCAN_AVX2) || defined(TV_SCAN_PLAIN)
#define IS_USUAL false
#else
#define IS_USUAL true
#endif

static uint64_t state = 0x9e3779b97f4a7c15u;
static unsigned tests, failures;

/* xorshift64*; the same numbers on every machine. */
static unsigned below(unsigned limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (unsigned)((state * 0x2545f4914f6cdd1du) >> 33) % limit;
}

static void expect(bool holds, const char *what, struct tv_bytes text)
{
    if (holds)
        return;
    if (failures++ < 5)
        printf("# %s: %.*s\n", what, (int)text.length, (const char *)text.data);
}

static void end_test(const char *name)
{
    printf("%sok %u - %s\n", failures ? "not " : "", ++tests, name);
    failures = 0;
}

/* ---- Texts ---- */

/* A block with room for any alignment, whose bytes after a text can be read. */
struct place {
    uint8_t *block;
    uint8_t *at;
    size_t length;
};

static struct place place_of(size_t length, unsigned alignment)
{
    size_t size = ALIGNMENTS + length + SLACK;
    uint8_t *block = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!block) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    memset(block, 0, (size + 63) / 64 * 64);
    return (struct place){block, block + alignment, length};
}

static struct tv_bytes text_of(const struct place *place)
{
    return (struct tv_bytes){place->at, place->length};
}

/* Fills text and slack. */
static void fill(struct place *place, const char *alphabet)
{
    unsigned letters = (unsigned)strlen(alphabet);
    for (size_t i = 0; i < place->length + SLACK; i++)
        place->at[i] = (uint8_t)alphabet[below(letters)];
}

/* Letters instead of backslashes outside of strings, where they mean nothing that one could agree
 * about. */
static void clear_stray(struct place *place)
{
    const uint8_t *end = place->at + place->length;
    for (uint8_t *at = place->at; at < end; at++) {
        if (*at == '\\')
            *at = 'a';
        if (*at != '"')
            continue;
        const uint8_t *quote = plain_string_end(at + 1, end);
        if (!quote)
            return;
        at += quote - at;
    }
}

/* Near the borders of 16, 32 and 64 bytes more often than elsewhere. */
static size_t random_length(void)
{
    static const unsigned borders[] = {16, 32, 48, 64, 80, 128, 192, 256};
    if (below(2))
        return borders[below(TV_COUNT(borders))] + below(5) - 2;
    return below(LONGEST);
}

/* From few quotes in much text to nothing but marks. */
static const char *const alphabets[] = {
    "\"\\",         "\"\\{}[]",           "\"a",         "\\\\\\\\\\\\\\\"",
    "{}[]aaaa\"\\", "aaaaaaaaaaaaaaaa\"", "{{[[}]\"\"a", "abcdefgh:,0123456789\"{}[]\\ \n",
};

/* ---- Bits ---- */

static void check_bits(uint64_t bits, uint64_t carry)
{
    uint64_t escaped = 0, parity = 0, escape = carry, odd = 0, out = carry;
    for (unsigned i = 0; i < 64; i++) {
        uint64_t bit = bits >> i & 1;
        odd ^= bit;
        parity |= odd << i;
        escaped |= escape << i;
        escape = !escape && bit;
    }
    expect(tv_scan_escaped_bits(bits, &out) == escaped && out == escape, "escaped",
           TV_BYTES("bits"));
    expect(tv_scan_prefix_parity(bits) == parity, "parity", TV_BYTES("bits"));
}

static void test_bits(void)
{
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t bits =
            (uint64_t)below(1u << 31) << 33 ^ (uint64_t)below(1u << 31) << 11 ^ below(2048);
        bits |= below(3) ? 0 : (uint64_t)below(1u << 31) << below(33);
        check_bits(below(4) ? bits : ~bits, below(2));
    }
    for (unsigned from = 0; from < 64; from++)
        for (unsigned to = from; to < 64; to++)
            for (unsigned carry = 0; carry < 2; carry++)
                check_bits((UINT64_MAX >> (63 - to)) & (UINT64_MAX << from), carry);
    end_test("bits of escapes and of quotes");
}

/* ---- Strings and nested values ---- */

static void check_string(const struct place *place)
{
    const uint8_t *end = place->at + place->length;
    expect(tv_scan_string(place->at, end) == plain_string_end(place->at, end), "string",
           text_of(place));
}

/* In pieces of any length, as windows may cut it. */
static const uint8_t *scan_pieces(const uint8_t *at, const uint8_t *end)
{
    struct tv_scan_nested_state scan = {0, 0, 0};
    while (at < end) {
        size_t piece = 1 + below(100), left = (size_t)(end - at);
        piece = piece < left ? piece : left;
        const uint8_t *found = tv_scan_nested_next(&scan, at, at + piece);
        if (found)
            return found;
        at += piece;
    }
    return NULL;
}

static void check_nested(const struct place *place)
{
    const uint8_t *at = place->at, *end = place->at + place->length;
    const uint8_t *plain = plain_nested_end(at, end);
    struct tv_bytes text = text_of(place);
    expect(tv_scan_nested(at, end) == plain, "nested", text);
    expect(scan_pieces(at, end) == plain, "nested in pieces", text);
    struct tv_json_value value = tv_json_value(text);
    const uint8_t *raw_end = value.raw.data ? value.raw.data + value.raw.length : NULL;
    expect(raw_end == (plain ? plain : end), "extent of a value", text);
    expect(value.type == (*at == '{' ? TV_JSON_OBJECT : TV_JSON_ARRAY), "type", text);
}

static void test_random_texts(void)
{
    for (unsigned round = 0; round < 60000; round++) {
        size_t length = random_length();
        struct place place = place_of(length, round % ALIGNMENTS);
        fill(&place, alphabets[below(TV_COUNT(alphabets))]);
        check_string(&place);
        if (length > 0) {
            place.at[0] = below(2) ? '{' : '[';
            clear_stray(&place);
            check_nested(&place);
        }
        free(place.block);
    }
    end_test("random texts");
}

/* `start` letters, `run` backslashes, a quote, a bracket, a quote and a bracket. */
static void check_run(unsigned start, unsigned run, unsigned alignment)
{
    struct place place = place_of(2 + start + run + 4, alignment);
    fill(&place, "\"\\{}");
    uint8_t *at = place.at;
    *at++ = '{';
    *at++ = '"';
    memset(at, 'a', start);
    memset(at + start, '\\', run);
    memcpy(at + start + run, "\"}\"}", 4);
    check_nested(&place);
    struct place inside = {NULL, at, place.length - 2};
    check_string(&inside);
    free(place.block);
}

static void test_backslashes(void)
{
    for (unsigned start = 0; start < 68; start++)
        for (unsigned run = 0; run < 140; run++)
            check_run(start, run, (start + run * 7) % ALIGNMENTS);
    for (unsigned alignment = 0; alignment < ALIGNMENTS; alignment++)
        for (unsigned run = 0; run < 70; run++)
            check_run(61, run, alignment);
    end_test("runs of backslashes across borders");
}

/* All ends of one text that has everything. */
static void test_every_end(void)
{
    struct tv_bytes all = TV_BYTES("{\"a\":[1,\"}\\\"]\",{\"\\\\\":{}}],\"bcdefghijklmnopqrstuvwxyz"
                                   "ABCDEF\\\\\\\"{[\":[[[\"\\\\\"]]],\"c\":\"\\u0022\"}");
    for (size_t length = 1; length <= all.length; length++)
        for (unsigned alignment = 0; alignment < ALIGNMENTS; alignment++) {
            struct place place = place_of(length, alignment);
            fill(&place, "}]\"");
            memcpy(place.at, all.data, length);
            check_nested(&place);
            expect((plain_nested_end(place.at, place.at + length) != NULL) ==
                       (length == all.length),
                   "the plain scanner", text_of(&place));
            free(place.block);
        }
    end_test("every end at every alignment");
}

/* ---- Events ---- */

static const char *const keys[] = {
    "name", "cat",    "ph",  "ts",     "dur",     "tts",     "tdur",     "pid",
    "tid",  "args",   "id",  "id2",    "scope",   "s",       "bp",       "cname",
    "sf",   "stack",  "esf", "estack", "bind_id", "flow_in", "flow_out", "use_async_tts",
    "cpu",  "weight",
};

static struct tv_bytes field_of(const struct tv_te_fields *f, size_t key)
{
    const struct tv_bytes all[] = {
        f->name,  f->cat,    f->ph,      f->ts,      f->dur,      f->tts,
        f->tdur,  f->pid,    f->tid,     f->args,    f->id,       f->id2,
        f->scope, f->s,      f->bp,      f->cname,   f->sf,       f->stack,
        f->esf,   f->estack, f->bind_id, f->flow_in, f->flow_out, f->use_async_tts,
        f->cpu,   f->weight,
    };
    return all[key];
}

static const uint8_t *plain_space(const uint8_t *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
        at++;
    return at;
}

static const uint8_t *plain_value_end(const uint8_t *at, const uint8_t *end)
{
    if (*at == '"')
        return plain_string_end(at + 1, end) + 1;
    if (*at == '{' || *at == '[')
        return plain_nested_end(at, end);
    while (!strchr(",}] \n\r\t", *at))
        at++;
    return at;
}

/* The last value of a key in an object of strict JSON. */
static struct tv_bytes plain_member(struct tv_bytes object, const char *wanted)
{
    struct tv_bytes found = {NULL, 0};
    const uint8_t *end = object.data + object.length;
    const uint8_t *at = plain_space(plain_space(object.data) + 1);
    while (*at == '"') {
        struct tv_bytes key = {at + 1, 0};
        at = plain_string_end(at + 1, end);
        key.length = (size_t)(at - key.data);
        const uint8_t *value = plain_space(plain_space(at + 1) + 1);
        at = plain_value_end(value, end);
        if (tv_bytes_equal(key, tv_bytes_of(wanted)))
            found = (struct tv_bytes){value, (size_t)(at - value)};
        at = plain_space(at);
        at = *at == ',' ? plain_space(at + 1) : at;
    }
    return found;
}

struct text {
    char bytes[2000];
    size_t length;
};

static void add(struct text *text, const char *more)
{
    size_t length = strlen(more);
    if (text->length + length >= sizeof text->bytes)
        return;
    memcpy(text->bytes + text->length, more, length + 1);
    text->length += length;
}

static void add_space(struct text *text, bool spaced)
{
    static const char *const spaces[] = {" ", "\n", "\t\t", "\r\n  ", ""};
    if (spaced)
        add(text, spaces[below(TV_COUNT(spaces))]);
}

static void add_value(struct text *text)
{
    static const char *const values[] = {
        "0",
        "1",
        "-5",
        "1658333411123456.789",
        "12.345",
        "1e3",
        "true",
        "false",
        "null",
        "\"\"",
        "\"X\"",
        "\"a\"",
        "\"\\\"\"",
        "\"\\\\\"",
        "\"\\\\\\\"}\"",
        "\"std::vector<int>\"",
        "{}",
        "[]",
        "{ }",
        "{\"a\":1}",
        "{\"a\":\"}\",\"ph\":\"B\"}",
        "[[],{\"x\":\"]\\\\\"}]",
        "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"",
        "{\"data\":{\"frame\":\"0123456789abcdef\",\"url\":\"https://x/\\\"\\\\\"}}",
    };
    add(text, values[below(TV_COUNT(values))]);
}

static void make_event(struct text *text, bool spaced)
{
    static const char *const others[] = {
        "x",     "",         "nam",
        "names", "\\u0070h", "a\\\"",
        "p",     "phh",      "a_key_of_many_letters_that_no_event_has"};
    unsigned members = below(14);
    text->length = 0;
    add(text, "{");
    for (unsigned i = 0; i < members; i++) {
        add(text, i > 0 ? "," : "");
        add_space(text, spaced);
        add(text, "\"");
        add(text, below(5) ? keys[below(TV_COUNT(keys))] : others[below(TV_COUNT(others))]);
        add(text, "\"");
        add_space(text, spaced);
        add(text, ":");
        add_space(text, spaced);
        add_value(text);
        add_space(text, spaced);
    }
    add(text, "}");
}

/* Check the result for an object of strict JSON. */
static void check_event(struct tv_bytes object, const struct tv_te_fields *fields,
                        enum tv_te_read status, const uint8_t *event_end)
{
    expect(status == TV_TE_READ && event_end == object.data + object.length, "event", object);
    for (size_t key = 0; status == TV_TE_READ && key < TV_COUNT(keys); key++) {
        struct tv_bytes plain = plain_member(object, keys[key]), found = field_of(fields, key);
        expect(!plain.data == !found.data && tv_bytes_equal(plain, found), keys[key], object);
        struct tv_json_value value = tv_json_find(object, tv_bytes_of(keys[key]));
        /* The reference resolves the escapes in keys; the event reader does not. */
        if (!memchr(object.data, 'u', object.length) || strcmp(keys[key], "ph") != 0)
            expect(tv_bytes_equal(plain, value.raw), "find", object);
    }
}

/* The same text without and with a comment in front of the first member: only the lenient way takes
 * comments. */
static void check_both_ways(const struct text *text, unsigned alignment)
{
    struct place place = place_of(text->length, alignment), lenient = place_of(text->length + 4, 0);
    struct tv_te_fields fields, slow;
    const uint8_t *event_end, *slow_end;
    memcpy(place.at, text->bytes, text->length);
    enum tv_te_read status =
        tv_te_fields_read(place.at, place.at + place.length, &fields, &event_end);
    check_event(text_of(&place), &fields, status, event_end);
    lenient.at[0] = '{';
    memcpy(lenient.at + 1, "/**/", 4);
    memcpy(lenient.at + 5, text->bytes + 1, text->length - 1);
    status = tv_te_fields_read(lenient.at, lenient.at + lenient.length, &slow, &slow_end);
    expect(status == TV_TE_READ && slow_end == lenient.at + lenient.length, "lenient event",
           text_of(&lenient));
    for (size_t key = 0; key < TV_COUNT(keys); key++)
        expect(tv_bytes_equal(field_of(&fields, key), field_of(&slow, key)), "lenient field",
               text_of(&lenient));
    free(place.block);
    free(lenient.block);
}

static void test_events(void)
{
    struct text text;
    for (unsigned round = 0; round < 20000; round++) {
        make_event(&text, round % 2);
        expect(plain_is_json((struct tv_bytes){(uint8_t *)text.bytes, text.length}, 100),
               "the generator", (struct tv_bytes){(uint8_t *)text.bytes, text.length});
        check_both_ways(&text, round % ALIGNMENTS);
    }
    end_test("events, quickly and leniently");
}

static void test_cut_events(void)
{
    struct text text;
    for (unsigned round = 0; round < 300; round++) {
        make_event(&text, round % 2);
        for (size_t length = 0; length < text.length; length++) {
            struct place place = place_of(length, (unsigned)length % ALIGNMENTS);
            struct tv_te_fields fields;
            const uint8_t *event_end;
            if (length > 0)
                memcpy(place.at, text.bytes, length);
            expect(tv_te_fields_read(place.at, place.at + length, &fields, &event_end) == TV_TE_CUT,
                   "cut event", text_of(&place));
            free(place.block);
        }
    }
    end_test("events cut anywhere");
}

/* Every result lies within the text. */
static void check_within(struct tv_bytes text, const struct tv_te_fields *fields,
                         const uint8_t *event_end)
{
    const uint8_t *end = text.data + text.length;
    expect(event_end >= text.data && event_end <= end, "end of a broken event", text);
    for (size_t key = 0; key < TV_COUNT(keys); key++) {
        struct tv_bytes field = field_of(fields, key);
        expect(!field.data || (field.data > text.data && field.data + field.length <= end),
               "field of a broken event", text);
    }
}

static void mutate(struct text *text)
{
    static const char marks[] = "\"\\{}[]:,'/ *0a";
    for (unsigned changes = 1 + below(3); changes > 0; changes--)
        text->bytes[1 + below((unsigned)text->length - 1)] = marks[below(sizeof marks - 1)];
}

static void test_mutated_events(void)
{
    struct text text;
    unsigned strict = 0;
    for (unsigned round = 0; round < 100000; round++) {
        make_event(&text, round % 2);
        mutate(&text);
        struct place place = place_of(text.length, round % ALIGNMENTS);
        struct tv_te_fields fields;
        const uint8_t *event_end;
        memcpy(place.at, text.bytes, text.length);
        struct tv_bytes bytes = text_of(&place);
        enum tv_te_read status =
            tv_te_fields_read(place.at, place.at + place.length, &fields, &event_end);
        bool good = plain_is_json(bytes, TV_JSON_DEPTH);
        check_within(bytes, &fields, event_end);
        expect(tv_json_check(bytes, NULL, NULL) == good, "strict or not", bytes);
        if (good && bytes.data[bytes.length - 1] == '}')
            check_event(bytes, &fields, status, event_end);
        strict += good;
        free(place.block);
    }
    expect(strict > 10000 && strict < 90000, "mutations are of both kinds", TV_BYTES(""));
    end_test("mutated events");
}

/* Events are read by functions of the library, which choose the instructions at run time: one of
 * the builds of this test tries all of them.  TV_TE_SIMD_BEST is one of the others. */
static void test_reading_events(void)
{
    for (enum tv_te_simd simd = TV_TE_SIMD_PLAIN; simd <= TV_TE_SIMD_AVX2; simd++) {
        if (!IS_USUAL || !tv_te_simd_use(simd))
            continue;
        test_events();
        test_cut_events();
        test_mutated_events();
    }
}

int main(void)
{
#if defined(TV_SCAN_AVX2)
    if (!tv_te_simd_use(TV_TE_SIMD_AVX2)) {
        printf("1..0 # SKIP the processor has no AVX2\n");
        return 0;
    }
#endif
    test_bits();
    test_random_texts();
    test_backslashes();
    test_every_end();
    test_reading_events();
    printf("1..%u\n", tests);
    return 0;
}
