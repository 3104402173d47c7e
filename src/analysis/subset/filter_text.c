/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hand-written parser: line -> terms -> field, operator, value.
 *
 *   -arg.url~"img|png"
 *   | '-.--'|'---.---'
 *   |   key | regular expression
 *   negated operator
 *
 * The place of a character decides its meaning.  Quotes take every meaning away:
 *
 *     place                     '*'        '|'          operator      blank
 *     key                       itself     itself       ends it       ends it
 *     text after ':'            any text   next value   itself        ends it
 *     text after '='            itself     next value   itself        ends it
 *     expression, number        its own    its own      itself        ends it
 *
 * Except after '=', capitals count only if the user wrote one: "Draw" finds Draw, "draw" both.
 *
 * Every error names a column and what was expected there, because the line is typed in the page,
 * which marks that column.
 */
#include "analysis/subset/filter.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/search/text_search.h"
#include "base/bytes.h"
#include "base/memory.h"

#define MS INT64_C(1000000)
#define SHOWN 60 /* characters of the user's text in an error message */

/* ---- The line ---- */

struct filter_line {
    struct tv_bytes text;
    size_t at;
    size_t *column;
    struct tv_error *err;
};

/* Return the column of a byte, counted in characters from 1. */
static size_t filter_line_column(const struct filter_line *line, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++)
        column += (line->text.data[i] & 0xc0) != 0x80;
    return column;
}

/* Report "column 8: expected ..., found 'xyz'"; the quoted text ends at a blank. */
static bool filter_line_expected(const struct filter_line *line, size_t at, const char *what)
{
    const uint8_t *found = line->text.data + at;
    size_t left = line->text.length - at, length = 0;
    *line->column = filter_line_column(line, at);
    while (length < left && length < SHOWN && found[length] > ' ')
        length++;
    if (length == 0)
        tv_fail(line->err, TV_ERR_USAGE, TV_NO_OFFSET, "column %zu: expected %s", *line->column,
                what);
    else
        tv_fail(line->err, TV_ERR_USAGE, TV_NO_OFFSET, "column %zu: expected %s, found '%.*s'",
                *line->column, what, (int)length, (const char *)found);
    return false;
}

/* Return whether there is a blank at a place; the end of the line counts as one. */
static bool filter_line_is_blank(const struct filter_line *line, size_t at)
{
    return at == line->text.length || line->text.data[at] == ' ' || line->text.data[at] == '\t';
}

/* Return the byte at a place; 0 at the end of the line. */
static uint8_t filter_line_byte(const struct filter_line *line, size_t at)
{
    return at < line->text.length ? line->text.data[at] : 0;
}

/* ---- Words ---- */

/* Syntax of a word: which characters are special in it. */
enum filter_word_kind {
    WORD_GLOB,  /* '*' is a wildcard, and '|' ends it */
    WORD_EXACT, /* '|' ends it */
    WORD_PLAIN, /* ends at a blank */
    WORD_KEY,   /* an operator ends it */
};

struct filter_word {
    uint8_t *bytes; /* has room for two more */
    size_t length;
    bool starred;
};

static bool filter_is_operator(uint8_t c)
{
    return c == ':' || c == '=' || c == '~' || c == '<' || c == '>';
}

/* Return whether a word of this kind ends here. */
static bool filter_word_ends(const struct filter_line *line, enum filter_word_kind kind)
{
    uint8_t c = filter_line_byte(line, line->at);
    return filter_line_is_blank(line, line->at) || (kind <= WORD_EXACT && c == '|') ||
           (kind == WORD_KEY && filter_is_operator(c));
}

/* Read from a quote to the next one; a backslash escapes a quote or a backslash. */
static bool filter_parse_quoted(struct filter_line *line, struct filter_word *parsed)
{
    assert(line->text.data[line->at] == '"');
    size_t quote = line->at++;
    for (; line->at < line->text.length; line->at++) {
        uint8_t c = line->text.data[line->at], next = filter_line_byte(line, line->at + 1);
        if (c == '"') {
            line->at++;
            return true;
        }
        if (c == '\\' && (next == '"' || next == '\\'))
            c = line->text.data[++line->at];
        parsed->bytes[parsed->length++] = c;
    }
    return filter_line_expected(line, quote, "a closing quote");
}

/* The caller frees the bytes, also after an error. */
static bool filter_parse_word(struct filter_line *line, enum filter_word_kind kind,
                              struct filter_word *parsed)
{
    *parsed = (struct filter_word){.bytes = tv_alloc(line->text.length - line->at + 2, 1)};
    while (!filter_word_ends(line, kind)) {
        uint8_t c = line->text.data[line->at];
        if (c == '"') {
            if (!filter_parse_quoted(line, parsed))
                return false;
            continue;
        }
        bool star = kind == WORD_GLOB && c == '*';
        parsed->starred |= star;
        parsed->bytes[parsed->length++] = star ? TV_FILTER_ANY : c;
        line->at++;
    }
    return true;
}

/* Return true if a text has an upper case letter; then its case counts. */
static bool filter_has_capital(struct tv_bytes text)
{
    for (size_t i = 0, length; i < text.length; i += length) {
        struct tv_bytes rest = {text.data + i, text.length - i};
        uint32_t c = tv_character_decode(rest, &length);
        if (c == '\\' && i + length < text.length)
            length++; /* \S and \W of regular expressions are not capital letters */
        else if (tv_character_lower(c) != c)
            return true;
    }
    return false;
}

/* ---- Values ---- */

/* Add a value to a term.  A word is found anywhere in a text, unless it is exact, has a star, or is
 * an id; so it gets a star on both sides. */
static void filter_term_add_value(struct tv_filter_term *term, const struct filter_word *parsed,
                                  bool exact)
{
    size_t length = parsed->length;
    uint8_t *bytes = parsed->bytes;
    bool fold = !exact && !filter_has_capital((struct tv_bytes){bytes, length});
    bool whole = exact || parsed->starred ||
                 tv_filter_field_in(term, TV_FILTER_THREAD_ID, TV_FILTER_THREAD_ID) ||
                 tv_filter_field_in(term, TV_FILTER_PROCESS_ID, TV_FILTER_PROCESS_ID);
    if (!whole) {
        memmove(bytes + 1, bytes, length);
        bytes[0] = bytes[length + 1] = TV_FILTER_ANY;
        length += 2;
    }
    term->values = tv_realloc(term->values, term->value_count + 1, sizeof *term->values);
    term->values[term->value_count++] = (struct tv_filter_value){{bytes, length}, fold};
}

/* Parse "a" or "a*b|c"; an empty text must be quoted. */
static bool filter_parse_texts(struct filter_line *line, struct tv_filter_term *term, bool exact)
{
    for (;;) {
        struct filter_word parsed;
        size_t start = line->at;
        if (filter_word_ends(line, WORD_GLOB))
            return filter_line_expected(line, start, "a text (\"\" is the empty one)");
        if (!filter_parse_word(line, exact ? WORD_EXACT : WORD_GLOB, &parsed)) {
            tv_free(parsed.bytes);
            return false;
        }
        /* Every text contains the empty one, so an empty value means an empty text. */
        filter_term_add_value(term, &parsed, exact || parsed.length == 0);
        if (filter_line_byte(line, line->at) != '|')
            return true;
        line->at++;
    }
}

/* Parse the regular expression after '~'. */
static bool filter_parse_regex(struct filter_line *line, struct tv_filter_term *term)
{
    struct filter_word parsed;
    struct tv_error fault = {0};
    size_t start = line->at;
    bool good = filter_parse_word(line, WORD_PLAIN, &parsed);
    struct tv_bytes text = {parsed.bytes, parsed.length};
    if (good && parsed.length == 0)
        good = filter_line_expected(line, start, "a regular expression");
    if (good && tv_regex_new(text, !filter_has_capital(text), &term->regex, &fault) != TV_OK) {
        *line->column = filter_line_column(line, start);
        tv_fail(line->err, TV_ERR_USAGE, TV_NO_OFFSET, "column %zu: %s", *line->column,
                fault.message);
        good = false;
    }
    tv_free(parsed.bytes);
    return good;
}

static bool filter_field_is_time(enum tv_filter_field field)
{
    return field == TV_FILTER_DURATION || field == TV_FILTER_CPU || field == TV_FILTER_SELF;
}

bool tv_filter_parse_number(struct tv_bytes text, double *value)
{
    char copy[64], *end;
    if (text.length == 0 || text.length >= sizeof copy)
        return false;
    /* Accept JSON numbers only: no "inf", no hexadecimal. */
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == '\0' || !strchr("+-.0123456789eE", text.data[i]))
            return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    *value = strtod(copy, &end);
    return *end == '\0' && isfinite(*value);
}

/* Parse one number in the unit of a term's field. */
static bool filter_parse_number(const struct tv_filter_term *term, struct tv_bytes text,
                                double *value)
{
    tv_ns time;
    uint64_t number;
    if (filter_field_is_time(term->field)) {
        bool good = tv_parse_time(text, MS, &time);
        *value = good ? (double)time : 0;
        return good;
    }
    if (term->field == TV_FILTER_ARGUMENT)
        return tv_filter_parse_number(text, value);
    bool good = tv_parse_u64(text, &number);
    *value = good ? (double)number : 0;
    return good;
}

/* Return what a value of the field should look like, for an error. */
static const char *filter_number_syntax(const struct tv_filter_term *term, bool range)
{
    if (filter_field_is_time(term->field))
        return range ? "a time or two, such as 2ms or 1ms..5ms (ns, us, ms, s)"
                     : "a time such as 2ms (ns, us, ms, s)";
    return range ? "a number or two, such as 3 or 1..5" : "a number such as 3";
}

/* Parse "1ms..5ms"; either bound may be missing. */
static bool filter_parse_range(struct tv_filter_term *term, struct tv_bytes text)
{
    size_t dots = 0;
    while (dots + 1 < text.length && (text.data[dots] != '.' || text.data[dots + 1] != '.'))
        dots++;
    if (dots + 1 >= text.length) {
        bool good = filter_parse_number(term, text, &term->low);
        term->high = term->low;
        return good;
    }
    struct tv_bytes low = {text.data, dots};
    struct tv_bytes high = {text.data + dots + 2, text.length - dots - 2};
    return low.length + high.length > 0 &&
           (low.length == 0 || filter_parse_number(term, low, &term->low)) &&
           (high.length == 0 || filter_parse_number(term, high, &term->high));
}

enum filter_operator {
    OP_CONTAINS, /* ':' */
    OP_EQUALS,
    OP_REGEX, /* '~' */
    OP_LESS,
    OP_AT_MOST,
    OP_MORE,
    OP_AT_LEAST,
};

/* Parse one bound, or a range for ':' and '='. */
static bool filter_parse_numbers(struct filter_line *line, struct tv_filter_term *term,
                                 enum filter_operator relation)
{
    struct filter_word parsed;
    size_t start = line->at;
    bool range = relation == OP_CONTAINS || relation == OP_EQUALS;
    bool good = filter_parse_word(line, WORD_PLAIN, &parsed);
    struct tv_bytes text = {parsed.bytes, parsed.length};
    double bound = 0;
    term->low = -HUGE_VAL;
    term->high = HUGE_VAL;
    if (good && !(range ? filter_parse_range(term, text) : filter_parse_number(term, text, &bound)))
        good = filter_line_expected(line, start, filter_number_syntax(term, range));
    if (good && term->low > term->high)
        good = filter_line_expected(line, start, "a range that ends where it begins or later");
    tv_free(parsed.bytes);
    term->below = relation == OP_LESS;
    term->above = relation == OP_MORE;
    if (relation == OP_LESS || relation == OP_AT_MOST)
        term->high = bound;
    if (relation == OP_MORE || relation == OP_AT_LEAST)
        term->low = bound;
    return good;
}

/* ---- Terms ---- */

static const struct {
    const char *name;
    enum tv_filter_field field;
} fields[] = {
    {"thread", TV_FILTER_THREAD}, {"process", TV_FILTER_PROCESS}, {"pid", TV_FILTER_PROCESS_ID},
    {"tid", TV_FILTER_THREAD_ID}, {"name", TV_FILTER_NAME},       {"class", TV_FILTER_CLASS},
    {"method", TV_FILTER_METHOD}, {"cat", TV_FILTER_CATEGORY},    {"dur", TV_FILTER_DURATION},
    {"cpu", TV_FILTER_CPU},       {"self", TV_FILTER_SELF},       {"depth", TV_FILTER_DEPTH},
    {"arg", TV_FILTER_ARGUMENT},
};

static bool filter_find_field(struct tv_bytes word, enum tv_filter_field *field)
{
    for (size_t i = 0; i < TV_COUNT(fields); i++)
        if (tv_bytes_equal(word, tv_bytes_of(fields[i].name))) {
            *field = fields[i].field;
            return true;
        }
    return false;
}

static bool filter_fail_field(const struct filter_line *line, size_t start, struct tv_bytes word)
{
    *line->column = filter_line_column(line, start);
    tv_fail(line->err, TV_ERR_USAGE, TV_NO_OFFSET,
            "column %zu: there is no field '%.*s', but thread process pid tid name class method "
            "cat dur cpu self depth arg.KEY; a name with such a sign in it stands in quotes",
            *line->column, word.length < SHOWN ? (int)word.length : SHOWN, (const char *)word.data);
    return false;
}

/* Parse "field" or "arg.KEY" up to the operator.  *bare: the word is part of a name instead. */
static bool filter_parse_field(struct filter_line *line, struct tv_filter_term *term, bool *bare)
{
    size_t start = line->at, end = start;
    while ((filter_line_byte(line, end) | 0x20) >= 'a' &&
           (filter_line_byte(line, end) | 0x20) <= 'z')
        end++;
    struct tv_bytes word = {line->text.data + start, end - start};
    uint8_t sign = filter_line_byte(line, end);
    bool key = sign == '.' && tv_bytes_equal(word, TV_BYTES("arg"));
    bool scope = sign == ':' && filter_line_byte(line, end + 1) == ':'; /* as in C++ */
    *bare = !key && (word.length == 0 || scope || !filter_is_operator(sign));
    if (*bare)
        return true;
    if (!filter_find_field(word, &term->field))
        return filter_fail_field(line, start, word);
    line->at = end;
    if (!key)
        return true;
    struct filter_word parsed;
    line->at++;
    bool good = filter_parse_word(line, WORD_KEY, &parsed);
    term->key = (struct tv_bytes){parsed.bytes, parsed.length};
    if (good && parsed.length == 0)
        return filter_line_expected(line, end + 1, "the key of an argument");
    if (good && filter_line_is_blank(line, line->at))
        return filter_line_expected(line, line->at, "one of : = ~ < <= > >= after the key");
    return good;
}

/* Parse the operator after a field; the caller has seen its first byte. */
static enum filter_operator filter_parse_operator(struct filter_line *line)
{
    assert(filter_is_operator(line->text.data[line->at]));
    uint8_t sign = line->text.data[line->at++];
    bool equal = (sign == '<' || sign == '>') && filter_line_byte(line, line->at) == '=';
    line->at += equal;
    switch (sign) {
    case ':':
        return OP_CONTAINS;
    case '=':
        return OP_EQUALS;
    case '~':
        return OP_REGEX;
    case '<':
        return equal ? OP_AT_MOST : OP_LESS;
    default:
        return equal ? OP_AT_LEAST : OP_MORE;
    }
}

/* Parse the operator and the value after a field. */
static bool filter_parse_value(struct filter_line *line, struct tv_filter_term *term)
{
    size_t sign = line->at;
    enum filter_operator relation = filter_parse_operator(line);
    bool text = term->field < TV_FILTER_DURATION;
    bool number = term->field >= TV_FILTER_ARGUMENT || term->field == TV_FILTER_THREAD_ID ||
                  term->field == TV_FILTER_PROCESS_ID;
    if (relation >= OP_LESS && !number)
        return filter_line_expected(line, sign, "one of : = ~ after a field of texts");
    if (relation == OP_REGEX && !text)
        return filter_line_expected(line, sign, "one of : = < <= > >= after a field of numbers");
    if (relation == OP_REGEX)
        return filter_parse_regex(line, term);
    if (relation >= OP_LESS || !text)
        return filter_parse_numbers(line, term, relation);
    return filter_parse_texts(line, term, relation == OP_EQUALS);
}

/* Parse one term, from its '-' to the end of its value. */
static bool filter_parse_term(struct filter_line *line, struct tv_filter_term *term)
{
    bool bare;
    term->column = filter_line_column(line, line->at);
    if (line->text.data[line->at] == '-') {
        term->negated = true;
        if (filter_line_is_blank(line, ++line->at))
            return filter_line_expected(line, line->at, "a term after '-'");
    }
    if (!filter_parse_field(line, term, &bare))
        return false;
    return bare ? filter_parse_texts(line, term, false) : filter_parse_value(line, term);
}

/* Refuse a line that is too long or has control characters. */
static bool filter_line_check(const struct filter_line *line)
{
    if (line->text.length > TV_FILTER_BYTES)
        return filter_line_expected(line, TV_FILTER_BYTES,
                                    "the end: a filter has at most 4096 bytes");
    for (size_t i = 0; i < line->text.length; i++) {
        uint8_t c = line->text.data[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return filter_line_expected(line, i, "no control characters");
    }
    return true;
}

/* Parse the terms up to the end of the line.  False: the message is written. */
static bool filter_parse_terms(struct filter_line *line, struct tv_filter *filter)
{
    for (;;) {
        while (line->at < line->text.length && filter_line_is_blank(line, line->at))
            line->at++;
        if (line->at == line->text.length)
            return true;
        if (filter->count == TV_FILTER_TERMS)
            return filter_line_expected(line, line->at, "the end: a filter has at most 64 terms");
        filter->terms = tv_array_reserve(filter->terms, &filter->capacity, filter->count + 1,
                                         sizeof *filter->terms);
        struct tv_filter_term *term = &filter->terms[filter->count++];
        memset(term, 0, sizeof *term);
        if (!filter_parse_term(line, term))
            return false;
    }
}

enum tv_status tv_filter_parse(struct tv_bytes text, struct tv_filter *filter, size_t *column,
                               struct tv_error *err)
{
    struct filter_line line = {.text = text, .column = column, .err = err};
    *filter = (struct tv_filter){.terms = NULL};
    if (filter_line_check(&line) && filter_parse_terms(&line, filter))
        return TV_OK;
    tv_filter_release(filter);
    return TV_ERR_USAGE;
}

void tv_filter_release(struct tv_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        struct tv_filter_term *term = &filter->terms[i];
        for (size_t j = 0; j < term->value_count; j++)
            tv_free((void *)(uintptr_t)term->values[j].text.data);
        tv_free(term->values);
        tv_regex_free(term->regex);
        tv_free((void *)(uintptr_t)term->key.data);
    }
    tv_free(filter->terms);
    *filter = (struct tv_filter){.terms = NULL};
}

/* ---- Matching ---- */

/* Compare one character; *a and *b move after it. */
static bool filter_same_character(struct tv_bytes text, size_t *a, struct tv_bytes value, size_t *b,
                                  bool fold)
{
    if (!fold) {
        bool same = text.data[*a] == value.data[*b];
        ++*a;
        ++*b;
        return same;
    }
    size_t first, second;
    uint32_t c = tv_character_decode((struct tv_bytes){text.data + *a, text.length - *a}, &first);
    uint32_t d =
        tv_character_decode((struct tv_bytes){value.data + *b, value.length - *b}, &second);
    *a += first;
    *b += second;
    return tv_character_lower(c) == d;
}

/* Backtracking to the last wildcard is enough, as in tv_glob_matches. */
static bool filter_value_matches(const struct tv_filter_value *value, struct tv_bytes text)
{
    assert(value->text.data != NULL);
    struct tv_bytes w = value->text;
    size_t at = 0, p = 0, star = SIZE_MAX, tried = 0;
    while (at < text.length) {
        if (p < w.length && w.data[p] == TV_FILTER_ANY) {
            star = ++p;
            tried = at;
            if (p == w.length)
                return true;
        } else if (p < w.length && filter_same_character(text, &at, w, &p, value->fold)) {
            continue;
        } else if (star != SIZE_MAX) {
            p = star;
            at = ++tried;
        } else {
            return false;
        }
    }
    while (p < w.length && w.data[p] == TV_FILTER_ANY)
        p++;
    return p == w.length;
}

bool tv_filter_matches_text(const struct tv_filter_term *term, struct tv_bytes text)
{
    if (term->regex)
        return tv_regex_find(term->regex, text, tv_character_decode) != TV_REGEX_NONE;
    for (size_t i = 0; i < term->value_count; i++)
        if (filter_value_matches(&term->values[i], text))
            return true;
    return false;
}
