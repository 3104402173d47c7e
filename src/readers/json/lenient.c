/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lenient.c - the lexer of lenient JSON, the cursor over members, and the strict writer.
 *
 *     lexer    tokens of any text: where strings, words, objects and arrays begin and end
 *     cursor   one level of a value at a time (tv_json_next)
 *     writer   the whole text as strict JSON, or only its faults; a stack replaces recursion
 *
 * All rules of leniency are in the lexer, so cursor and writer find the same values in a text:
 *
 *   * A double quote outside of strings begins a string everywhere; a single quote does so only
 *     where no word is under way ("don't").
 *   * A comment may be anywhere between tokens.
 *   * The dots of "{ ..., "a": 1, ... more of it }" stand for left-out text, as the format's own
 *     document writes events.
 *
 * No function reads a byte after the end of the text.
 */
#include "readers/json/json.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/trace_event/text/scan.h"
#include "readers/trace_event/text/values.h"

/* The lexer.  Its tokens are raw text: strings with their quotes and escapes. It never fails: each
 * function moves on, and leaves a fault behind. A text that ends inside a token or a bracket has
 * TV_JSON_FAULT_CUT, and the value goes up to the end of the text. */
struct json_lexer {
    const uint8_t *at, *end;
    const uint8_t *bad; /* the first place where the grammar is broken, or NULL */
    unsigned faults;
};

static inline struct json_lexer json_lexer_over(struct tv_bytes text)
{
    const uint8_t *end = text.length == 0 ? text.data : text.data + text.length;
    return (struct json_lexer){text.data, end, NULL, 0};
}

/* Record a fault, and the place of the first one. A lone surrogate is allowed by the grammar, so it
 * has no place. */
static void json_lexer_add_fault(struct json_lexer *lexer, enum tv_json_fault fault,
                                 const uint8_t *place)
{
    lexer->faults |= fault;
    if (fault != TV_JSON_FAULT_SURROGATE && (!lexer->bad || place < lexer->bad))
        lexer->bad = place;
}

static bool json_is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* True for a byte that ends a bare word.  Comments end it, too. */
static bool json_ends_word(uint8_t c)
{
    return json_is_space(c) || c == ',' || c == ':' || c == '"' || c == '{' || c == '}' ||
           c == '[' || c == ']';
}

static bool json_lexer_at_comment(const struct json_lexer *lexer)
{
    return lexer->end - lexer->at >= 2 && lexer->at[0] == '/' &&
           (lexer->at[1] == '/' || lexer->at[1] == '*');
}

/* Skip a comment.  A line comment leaves its line end, which ends the dots of left-out text as
 * well. */
static void json_lexer_skip_comment(struct json_lexer *lexer)
{
    bool line = lexer->at[1] == '/';
    json_lexer_add_fault(lexer, TV_JSON_FAULT_COMMENT, lexer->at);
    for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
        if (line && *lexer->at == '\n')
            return;
        if (!line && lexer->end - lexer->at >= 2 && lexer->at[0] == '*' && lexer->at[1] == '/') {
            lexer->at += 2;
            return;
        }
    }
    if (!line)
        json_lexer_add_fault(lexer, TV_JSON_FAULT_CUT, lexer->end);
}

static bool json_lexer_at_dots(const struct json_lexer *lexer)
{
    return lexer->end - lexer->at >= 3 && memcmp(lexer->at, "...", 3) == 0;
}

/* Skip the dots with the words and comments after them. */
static void json_lexer_skip_dots(struct json_lexer *lexer)
{
    const uint8_t *comment_end = NULL;
    json_lexer_add_fault(lexer, TV_JSON_FAULT_COMMENT, lexer->at);
    lexer->at += 3;
    while (lexer->at < lexer->end) {
        uint8_t c = *lexer->at;
        if (json_lexer_at_comment(lexer)) {
            json_lexer_skip_comment(lexer);
            comment_end = lexer->at;
            continue;
        }
        bool in_word = lexer->at != comment_end && !json_is_space(lexer->at[-1]);
        if (c == '\n' || (json_ends_word(c) && !json_is_space(c)) || (c == '\'' && !in_word))
            return;
        lexer->at++;
    }
}

/* Return the next byte that is not space, comment or "...", without taking it; -1 at the end. */
static int json_lexer_peek(struct json_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        if (json_is_space(*lexer->at))
            lexer->at++;
        else if (json_lexer_at_comment(lexer))
            json_lexer_skip_comment(lexer);
        else if (json_lexer_at_dots(lexer))
            json_lexer_skip_dots(lexer);
        else
            return *lexer->at;
    }
    return -1;
}

/* Return the next quote or backslash, or the end. */
static const uint8_t *json_find_quote(const uint8_t *at, const uint8_t *end, uint8_t quote)
{
    for (; end - at >= 16; at += 16) {
        tv_sixteen bytes = tv_sixteen_load(at);
        uint32_t found = tv_sixteen_find(bytes, (char)quote) | tv_sixteen_find(bytes, '\\');
        if (found)
            return at + tv_scan_lowest_bit(found);
    }
    while (at < end && *at != quote && *at != '\\')
        at++;
    return at;
}

/* Take the string that begins here; *text is raw, with its quotes. */
static void json_lexer_take_string(struct json_lexer *lexer, struct tv_bytes *text)
{
    assert(lexer->at < lexer->end && (*lexer->at == '"' || *lexer->at == '\''));
    const uint8_t *start = lexer->at;
    uint8_t quote = *start;
    if (quote == '\'')
        json_lexer_add_fault(lexer, TV_JSON_FAULT_QUOTES, start);
    lexer->at = json_find_quote(start + 1, lexer->end, quote);
    while (lexer->at < lexer->end && *lexer->at == '\\')
        lexer->at = lexer->end - lexer->at < 2 ? lexer->end
                                               : json_find_quote(lexer->at + 2, lexer->end, quote);
    if (lexer->at == lexer->end)
        json_lexer_add_fault(lexer, TV_JSON_FAULT_CUT, lexer->end);
    else
        lexer->at++;
    *text = (struct tv_bytes){start, (size_t)(lexer->at - start)};
}

/* Take the bare word that begins here; at least one byte is there. */
static void json_lexer_take_word(struct json_lexer *lexer, struct tv_bytes *text)
{
    assert(lexer->at < lexer->end);
    const uint8_t *start = lexer->at++;
    while (lexer->at < lexer->end && !json_ends_word(*lexer->at) && !json_lexer_at_comment(lexer))
        lexer->at++;
    *text = (struct tv_bytes){start, (size_t)(lexer->at - start)};
}

/* Return the next byte that may matter when brackets are counted, or the end. */
static const uint8_t *json_find_mark(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 16; at += 16) {
        tv_sixteen bytes = tv_sixteen_load(at);
        tv_sixteen braces = tv_sixteen_or(bytes, 0x20);
        uint32_t found = tv_sixteen_find(bytes, '"') | tv_sixteen_find(bytes, '\'') |
                         tv_sixteen_find(bytes, '/') | tv_sixteen_find(braces, '{') |
                         tv_sixteen_find(braces, '}');
        if (found)
            return at + tv_scan_lowest_bit(found);
    }
    while (at < end && !strchr("\"'/{}[]", *at ? *at : ' '))
        at++;
    return at;
}

/* Skip the object or array that begins here. Brackets are only counted, "[}" is skipped as "[]" is:
 * whoever reads the inside finds the fault. */
static void json_lexer_skip_nested(struct json_lexer *lexer)
{
    assert(lexer->at < lexer->end && (*lexer->at == '{' || *lexer->at == '['));
    uint64_t depth = 0;
    const uint8_t *token_end = lexer->at; /* of the last string or comment */
    struct tv_bytes string;
    while ((lexer->at = json_find_mark(lexer->at, lexer->end)) < lexer->end) {
        uint8_t c = *lexer->at;
        bool in_word = lexer->at > token_end && !json_ends_word(lexer->at[-1]);
        if (c == '"' || (c == '\'' && !in_word)) {
            json_lexer_take_string(lexer, &string);
            token_end = lexer->at;
        } else if (json_lexer_at_comment(lexer)) {
            json_lexer_skip_comment(lexer);
            token_end = lexer->at;
        } else {
            lexer->at++;
            if (c == '{' || c == '[')
                depth++;
            else if ((c == '}' || c == ']') && --depth == 0)
                return;
        }
    }
    json_lexer_add_fault(lexer, TV_JSON_FAULT_CUT, lexer->end);
}

/* Move to the next item of an object or array; false, after its bracket, when there is none. Any
 * number of commas separates two items; none and more than one are faults. */
static bool json_lexer_next_item(struct json_lexer *lexer, bool in_object, bool first)
{
    unsigned commas = 0;
    const uint8_t *last = lexer->at;
    int c;
    for (; (c = json_lexer_peek(lexer)) == ',' || (c == ':' && !in_object); lexer->at++) {
        if (c == ':')
            json_lexer_add_fault(lexer, TV_JSON_FAULT_MISSING, lexer->at);
        else if (commas++ >= (first ? 0u : 1u))
            json_lexer_add_fault(lexer, TV_JSON_FAULT_COMMA, lexer->at);
        last = lexer->at;
    }
    if (c < 0) {
        json_lexer_add_fault(lexer, TV_JSON_FAULT_CUT, lexer->end);
        return false;
    }
    if (c != '}' && c != ']') {
        if (commas == 0 && !first)
            json_lexer_add_fault(lexer, TV_JSON_FAULT_COMMA, lexer->at);
        return true;
    }
    if (commas > 0)
        json_lexer_add_fault(lexer, TV_JSON_FAULT_COMMA, last);
    if ((c == '}') != in_object)
        json_lexer_add_fault(lexer, TV_JSON_FAULT_BRACKET, lexer->at);
    lexer->at++;
    return false;
}

/* Take the key and the colon of a member: {"a": 1}, {a: 1} and {"a" 1} have the key a. A missing
 * key is empty. */
static struct tv_bytes json_lexer_take_key(struct json_lexer *lexer)
{
    int c = json_lexer_peek(lexer);
    struct tv_bytes key = {lexer->at, 0};
    if (c == '"' || c == '\'') {
        json_lexer_take_string(lexer, &key);
    } else if (c == ':' || c == '{' || c == '[') {
        json_lexer_add_fault(lexer, TV_JSON_FAULT_MISSING, lexer->at);
    } else {
        json_lexer_take_word(lexer, &key);
        json_lexer_add_fault(lexer, TV_JSON_FAULT_WORD, key.data);
    }
    if (json_lexer_peek(lexer) == ':')
        lexer->at++;
    else
        json_lexer_add_fault(lexer, TV_JSON_FAULT_MISSING, lexer->at);
    return key;
}

/* Move to a value and return its first byte; -1, and a fault, when the value is missing. */
static int json_lexer_peek_value(struct json_lexer *lexer)
{
    int c = json_lexer_peek(lexer);
    if (c != -1 && c != ',' && c != ':' && c != '}' && c != ']')
        return c;
    json_lexer_add_fault(lexer, TV_JSON_FAULT_MISSING, lexer->at);
    return -1;
}

/* ---- Words ---- */

/* The parts of a number.  Leniency shows in their lengths: leading zeros, no digits before or
 * after the point. */
struct json_number {
    bool negative, plus, point;
    struct tv_bytes whole, fraction;
    struct tv_bytes exponent; /* with its letter and sign, or empty */
};

static struct tv_bytes json_number_take_digits(struct tv_cursor *text)
{
    const uint8_t *start = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9')
        text->at++;
    return (struct tv_bytes){start, (size_t)(text->at - start)};
}

static bool json_take_any_of(struct tv_cursor *text, const char *wanted)
{
    if (text->at == text->end || *text->at == '\0' || !strchr(wanted, *text->at))
        return false;
    text->at++;
    return true;
}

/* Split a bare word into the parts of a number; false: it is not one, however leniently read. */
static bool json_number_split(struct tv_bytes word, struct json_number *number)
{
    struct tv_cursor text = tv_cursor_over(word);
    *number = (struct json_number){.negative = json_take_any_of(&text, "-")};
    number->plus = !number->negative && json_take_any_of(&text, "+");
    number->whole = json_number_take_digits(&text);
    number->point = json_take_any_of(&text, ".");
    number->fraction = number->point ? json_number_take_digits(&text) : (struct tv_bytes){NULL, 0};
    if (number->whole.length + number->fraction.length == 0)
        return false;
    const uint8_t *start = text.at;
    if (json_take_any_of(&text, "eE")) {
        (void)json_take_any_of(&text, "+-");
        if (json_number_take_digits(&text).length == 0)
            return false;
        number->exponent = (struct tv_bytes){start, (size_t)(text.at - start)};
    }
    return text.at == text.end;
}

/* Count the zeros that can be dropped: one digit stays. */
static size_t json_number_leading_zeros(struct tv_bytes whole)
{
    size_t zeros = 0;
    while (zeros + 1 < whole.length && whole.data[zeros] == '0')
        zeros++;
    return zeros;
}

/* True when the number can be written as it stands. */
static bool json_number_is_strict(const struct json_number *number)
{
    return !number->plus && number->whole.length > 0 &&
           json_number_leading_zeros(number->whole) == 0 &&
           (!number->point || number->fraction.length > 0);
}

static bool json_word_is_infinite(struct tv_bytes word)
{
    return tv_bytes_equal(word, TV_BYTES("NaN")) || tv_bytes_equal(word, TV_BYTES("Infinity")) ||
           tv_bytes_equal(word, TV_BYTES("-Infinity"));
}

/* Return the type of a bare word; record what RFC 8259 does not allow. */
static enum tv_json_type json_lexer_classify_word(struct json_lexer *lexer, struct tv_bytes word)
{
    struct json_number number;
    if (json_number_split(word, &number)) {
        if (!json_number_is_strict(&number))
            json_lexer_add_fault(lexer, TV_JSON_FAULT_NUMBER, word.data);
        return TV_JSON_NUMBER;
    }
    if (tv_bytes_equal(word, TV_BYTES("null")))
        return TV_JSON_NULL;
    if (tv_bytes_equal(word, TV_BYTES("true")))
        return TV_JSON_TRUE;
    if (tv_bytes_equal(word, TV_BYTES("false")))
        return TV_JSON_FALSE;
    if (json_word_is_infinite(word)) {
        json_lexer_add_fault(lexer, TV_JSON_FAULT_INFINITE, word.data);
        return TV_JSON_NUMBER;
    }
    json_lexer_add_fault(lexer, TV_JSON_FAULT_WORD, word.data);
    return TV_JSON_WORD;
}

/* Write a TV_JSON_NUMBER as strict JSON with all its digits: "+007." as 7, ".5" as 0.5. NaN and the
 * infinities become strings. */
static void json_number_write(struct tv_out *out, struct tv_bytes word)
{
    struct json_number number;
    if (!json_number_split(word, &number)) {
        tv_out_json(out, word);
        return;
    }
    if (json_number_is_strict(&number)) {
        tv_out_bytes(out, word);
        return;
    }
    size_t zeros = json_number_leading_zeros(number.whole);
    if (number.negative)
        tv_out_char(out, '-');
    if (number.whole.length == 0)
        tv_out_char(out, '0');
    tv_out_bytes(out, (struct tv_bytes){number.whole.data + zeros, number.whole.length - zeros});
    if (number.fraction.length > 0) {
        tv_out_char(out, '.');
        tv_out_bytes(out, number.fraction);
    }
    tv_out_bytes(out, number.exponent);
}

/* ---- Strings ---- */

/* Take four hexadecimal digits.  tv_parse_hex would accept "0x12", which is not an escape. */
static bool json_take_utf16_unit(struct tv_cursor *text, uint64_t *unit)
{
    struct tv_cursor ahead = *text;
    struct tv_bytes digits;
    if (!tv_cursor_take_bytes(&ahead, 4, &digits) || (digits.data[1] | 0x20) == 'x' ||
        !tv_parse_hex(digits, unit))
        return false;
    *text = ahead;
    return true;
}

/* Check an escape, after its "\u". */
static void json_lexer_validate_unicode(struct json_lexer *lexer, struct tv_cursor *text)
{
    const uint8_t *place = text->at - 2;
    uint64_t high, low;
    if (!json_take_utf16_unit(text, &high)) {
        json_lexer_add_fault(lexer, TV_JSON_FAULT_ESCAPE, place);
        return;
    }
    if (high < 0xd800 || high > 0xdfff)
        return;
    struct tv_cursor ahead = *text;
    struct tv_bytes mark;
    if (high < 0xdc00 && tv_cursor_take_bytes(&ahead, 2, &mark) &&
        tv_bytes_equal(mark, TV_BYTES("\\u")) && json_take_utf16_unit(&ahead, &low) &&
        low >= 0xdc00 && low <= 0xdfff)
        *text = ahead;
    else
        json_lexer_add_fault(lexer, TV_JSON_FAULT_SURROGATE, place);
}

/* Check an escape, after its backslash. */
static void json_lexer_validate_escape(struct json_lexer *lexer, struct tv_cursor *text)
{
    const uint8_t *place = text->at - 1;
    if (json_take_any_of(text, "u")) {
        json_lexer_validate_unicode(lexer, text);
        return;
    }
    if (json_take_any_of(text, "\"\\/bfnrt"))
        return;
    json_lexer_add_fault(lexer, TV_JSON_FAULT_ESCAPE, place);
    /* An unknown escape stands for the character itself, which is checked as such if it is not
     * ASCII. */
    if (text->at < text->end && *text->at >= ' ' && *text->at < 0x80)
        text->at++;
}

/* Record what is wrong inside of a string. */
static void json_lexer_validate_string(struct json_lexer *lexer, struct tv_bytes raw)
{
    uint8_t quote = raw.data[0], c;
    struct tv_cursor text = tv_cursor_over(raw);
    text.at++; /* the closing quote, or the end, is harmless below */
    while (tv_cursor_take_u8(&text, &c)) {
        if (c == '\\') {
            json_lexer_validate_escape(lexer, &text);
        } else if (c < ' ') {
            json_lexer_add_fault(lexer, TV_JSON_FAULT_CONTROL, text.at - 1);
        } else if (c >= 0x80) {
            size_t left = tv_cursor_left(&text) + 1;
            size_t length = tv_bytes_utf8((struct tv_bytes){text.at - 1, left});
            if (length == 0)
                json_lexer_add_fault(lexer, TV_JSON_FAULT_UTF8, text.at - 1);
            else
                text.at += length - 1;
        } else if (c == quote) {
            return;
        }
    }
}

/* Take the value that comes next; a missing one is TV_JSON_NONE and does not move the lexer. */
static struct tv_json_value json_lexer_take_value(struct json_lexer *lexer)
{
    struct tv_json_value value = {TV_JSON_NONE, {NULL, 0}};
    int c = json_lexer_peek_value(lexer);
    const uint8_t *start = lexer->at;
    switch (c) {
    case -1:
        break;
    case '{':
    case '[':
        value.type = c == '{' ? TV_JSON_OBJECT : TV_JSON_ARRAY;
        json_lexer_skip_nested(lexer);
        value.raw = (struct tv_bytes){start, (size_t)(lexer->at - start)};
        break;
    case '"':
    case '\'':
        value.type = TV_JSON_STRING;
        json_lexer_take_string(lexer, &value.raw);
        break;
    default:
        json_lexer_take_word(lexer, &value.raw);
        value.type = json_lexer_classify_word(lexer, value.raw);
    }
    return value;
}

struct tv_json_value tv_json_value(struct tv_bytes text)
{
    struct json_lexer lexer = json_lexer_over(text);
    return json_lexer_take_value(&lexer);
}

/* A value that is neither object nor array has no items: `at` is NULL. */
struct tv_json_cursor tv_json_items(struct tv_bytes raw)
{
    struct json_lexer lexer = json_lexer_over(raw);
    int c = json_lexer_peek(&lexer);
    if (c == '{' || c == '[')
        lexer.at++;
    else
        lexer.at = lexer.end = NULL;
    return (struct tv_json_cursor){lexer.at, lexer.end, lexer.faults, c == '{', true};
}

bool tv_json_next(struct tv_json_cursor *cursor, struct tv_bytes *key, struct tv_json_value *value)
{
    struct json_lexer lexer = {cursor->at, cursor->end, NULL, cursor->faults};
    if (!cursor->at)
        return false;
    bool more = json_lexer_next_item(&lexer, cursor->in_object, cursor->first);
    *key = (struct tv_bytes){lexer.at, 0};
    if (more && cursor->in_object)
        *key = json_lexer_take_key(&lexer);
    if (more)
        *value = json_lexer_take_value(&lexer);
    cursor->at = more ? lexer.at : NULL;
    cursor->faults = lexer.faults;
    cursor->first = false;
    return more;
}

/* Compare a raw key with a name; a key without quotes has no escapes. */
static bool json_key_equals(struct tv_bytes raw, struct tv_bytes key, struct tv_te_scratch *scratch)
{
    return tv_bytes_equal(tv_te_is_string(raw) ? tv_te_decode_text(raw, scratch) : raw, key);
}

/* The last of several members with one key counts, as in JavaScript. */
struct tv_json_value tv_json_find(struct tv_bytes object, struct tv_bytes key)
{
    struct tv_json_value value, found = {TV_JSON_NONE, {NULL, 0}};
    struct tv_json_cursor cursor = tv_json_items(object);
    struct tv_te_scratch scratch = {NULL, 0};
    struct tv_bytes name;
    while (cursor.in_object && tv_json_next(&cursor, &name, &value))
        if (json_key_equals(name, key, &scratch))
            found = value;
    tv_te_scratch_release(&scratch);
    return found;
}

/* The strict writer. The depth of the text becomes entries of in_object, and not of the C stack. */
struct json_writer {
    struct json_lexer lexer;
    struct tv_out *out; /* NULL: only check */
    struct tv_te_scratch scratch;
    uint32_t depth;
    bool first;                    /* in the innermost container */
    bool in_object[TV_JSON_DEPTH]; /* by level: object or array */
};

static void json_writer_put_char(struct json_writer *w, char c)
{
    if (w->out)
        tv_out_char(w->out, c);
}

static void json_writer_put_null(struct json_writer *w)
{
    if (w->out)
        tv_out_text(w->out, "null");
}

/* Write a string with standard escapes; its faults are recorded first, from the raw text. */
static void json_writer_put_string(struct json_writer *w, struct tv_bytes raw)
{
    bool cut = (w->lexer.faults & TV_JSON_FAULT_CUT) && raw.data + raw.length == w->lexer.end;
    json_lexer_validate_string(&w->lexer, raw);
    if (!w->out)
        return;
    /* Decoding drops the last byte of a string, its quote; a cut string has none. */
    raw.length += cut;
    tv_out_json(w->out, tv_te_decode_text(raw, &w->scratch));
}

static void json_writer_take_string(struct json_writer *w)
{
    struct tv_bytes raw;
    json_lexer_take_string(&w->lexer, &raw);
    json_writer_put_string(w, raw);
}

/* Words may hold any bytes; record those that are not UTF-8. */
static void json_writer_validate_utf8(struct json_writer *w, struct tv_bytes word)
{
    for (struct tv_bytes rest = word; rest.length > 0;) {
        size_t length = tv_bytes_utf8(rest);
        if (length == 0)
            json_lexer_add_fault(&w->lexer, TV_JSON_FAULT_UTF8, rest.data);
        length += length == 0;
        rest = (struct tv_bytes){rest.data + length, rest.length - length};
    }
}

static void json_writer_put_word(struct json_writer *w, struct tv_bytes word)
{
    json_writer_validate_utf8(w, word);
    if (w->out)
        tv_out_json(w->out, word);
}

/* Write a bare word.  Strict JSON has no hexadecimal numbers, but readers take 0x10 for one. */
static void json_writer_put_bare(struct json_writer *w, struct tv_bytes word)
{
    uint64_t number;
    uint8_t digits[24];
    if (!tv_te_parse_hex(word, &number))
        json_writer_put_word(w, word);
    else if (w->out)
        tv_out_bytes(w->out, (struct tv_bytes){digits, tv_digits_u64(digits, number)});
}

/* Write a bare word: numbers and names as strict JSON, anything else as a string. */
static void json_writer_take_word(struct json_writer *w)
{
    struct tv_bytes word;
    json_lexer_take_word(&w->lexer, &word);
    enum tv_json_type type = json_lexer_classify_word(&w->lexer, word);
    if (type == TV_JSON_WORD)
        json_writer_put_bare(w, word);
    else if (type == TV_JSON_NUMBER && w->out)
        json_number_write(w->out, word);
    else if (w->out)
        tv_out_bytes(w->out, word);
}

static void json_writer_take_key(struct json_writer *w)
{
    struct tv_bytes key = json_lexer_take_key(&w->lexer);
    if (tv_te_is_string(key))
        json_writer_put_string(w, key);
    else
        json_writer_put_word(w, key);
    json_writer_put_char(w, ':');
}

/* Open an object or array, or write null for one that is nested too deep. */
static void json_writer_open_nested(struct json_writer *w, bool object)
{
    assert(w->depth <= TV_JSON_DEPTH);
    if (w->depth == TV_JSON_DEPTH) {
        json_lexer_add_fault(&w->lexer, TV_JSON_FAULT_DEPTH, w->lexer.at);
        json_lexer_skip_nested(&w->lexer);
        json_writer_put_null(w);
        return;
    }
    w->lexer.at++;
    w->in_object[w->depth++] = object;
    w->first = true;
    json_writer_put_char(w, object ? '{' : '[');
}

/* Write the value that comes next; null when it is missing. */
static void json_writer_take_value(struct json_writer *w)
{
    int c = json_lexer_peek_value(&w->lexer);
    if (c == '{' || c == '[')
        json_writer_open_nested(w, c == '{');
    else if (c == '"' || c == '\'')
        json_writer_take_string(w);
    else if (c >= 0)
        json_writer_take_word(w);
    else
        json_writer_put_null(w);
}

/* Move to the next item of the innermost container; false, with its bracket written, at its end. */
static bool json_writer_next_item(struct json_writer *w)
{
    assert(w->depth > 0);
    bool object = w->in_object[w->depth - 1];
    if (!json_lexer_next_item(&w->lexer, object, w->first)) {
        json_writer_put_char(w, object ? '}' : ']');
        w->depth--;
        w->first = false;
        return false;
    }
    if (!w->first)
        json_writer_put_char(w, ',');
    w->first = false;
    return true;
}

/* Go over the whole text; return the lexer, which knows the faults. */
static struct json_lexer json_writer_write_all(struct tv_bytes raw, struct tv_out *out)
{
    struct json_writer w;
    w.lexer = json_lexer_over(raw);
    w.out = out;
    w.scratch = (struct tv_te_scratch){NULL, 0};
    w.depth = 0;
    json_writer_take_value(&w);
    while (w.depth > 0) {
        if (!json_writer_next_item(&w))
            continue;
        if (w.in_object[w.depth - 1])
            json_writer_take_key(&w);
        json_writer_take_value(&w);
    }
    tv_te_scratch_release(&w.scratch);
    if (json_lexer_peek(&w.lexer) != -1)
        json_lexer_add_fault(&w.lexer, TV_JSON_FAULT_TRAILING, w.lexer.at);
    return w.lexer;
}

void tv_json_normalise(struct tv_bytes raw, struct tv_out *out, unsigned *faults)
{
    struct json_lexer lexer = json_writer_write_all(raw, out);
    if (faults)
        *faults = lexer.faults;
}

/* Compare the strict forms, so that spaces, quotes and leading zeros do not matter; the order of
 * members does. */
bool tv_json_equal(struct tv_bytes a, struct tv_bytes b)
{
    struct tv_out first, second;
    if (tv_bytes_equal(a, b))
        return true;
    tv_out_init_memory(&first);
    tv_out_init_memory(&second);
    tv_json_normalise(a, &first, NULL);
    tv_json_normalise(b, &second, NULL);
    bool same = tv_bytes_equal((struct tv_bytes){first.buffer, first.length},
                               (struct tv_bytes){second.buffer, second.length});
    tv_out_release(&first);
    tv_out_release(&second);
    return same;
}

bool tv_json_is_too_deep(struct tv_bytes raw)
{
    unsigned faults;
    size_t opening = 0;
    if (raw.length <= TV_JSON_DEPTH)
        return false;
    /* '[' and '{' differ in one bit.  Brackets in strings count too, which only costs time. */
    for (size_t i = 0; i < raw.length; i++)
        opening += (raw.data[i] | 0x20) == '{';
    if (opening <= TV_JSON_DEPTH)
        return false;
    tv_json_check(raw, &faults, NULL);
    return faults & TV_JSON_FAULT_DEPTH;
}

bool tv_json_check(struct tv_bytes raw, unsigned *faults, size_t *bad_offset)
{
    struct json_lexer lexer = json_writer_write_all(raw, NULL);
    if (faults)
        *faults = lexer.faults;
    if (bad_offset)
        *bad_offset = lexer.bad ? (size_t)(lexer.bad - raw.data) : raw.length;
    return !lexer.bad;
}
