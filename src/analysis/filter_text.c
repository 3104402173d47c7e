/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/filter_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/needle.h"
#include "base/bytes.h"
#include "base/memory.h"

#define MS INT64_C(1000000)
#define SHOWN 60 /* characters of the user's text in a message */

/* ---- The line ---- */

struct line {
    struct tv_bytes text;
    size_t at;
    size_t *column;
    struct tv_error *err;
};

static size_t column_of(const struct line *line, size_t at)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++)
        column += (line->text.data[i] & 0xc0) != 0x80;
    return column;
}

/* "column 8: expected ..., found 'xyz'"; what is found ends at a blank. */
static bool expected(const struct line *line, size_t at, const char *what)
{
    const uint8_t *found = line->text.data + at;
    size_t left = line->text.length - at, length = 0;
    *line->column = column_of(line, at);
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

static bool is_blank(const struct line *line, size_t at)
{
    return at == line->text.length || line->text.data[at] == ' ' || line->text.data[at] == '\t';
}

static uint8_t byte_at(const struct line *line, size_t at)
{
    return at < line->text.length ? line->text.data[at] : 0;
}

/* ---- Words ---- */

/* What a piece of a line may hold beside text. */
enum piece_kind {
    PIECE_WISH,  /* '*', and '|' ends it */
    PIECE_EXACT, /* '|' ends it */
    PIECE_PLAIN, /* up to a blank */
    PIECE_KEY,   /* an operator ends it */
};

struct piece {
    uint8_t *bytes; /* room for two more */
    size_t length;
    bool starred;
};

static bool is_operator(uint8_t c)
{
    return c == ':' || c == '=' || c == '~' || c == '<' || c == '>';
}

static bool ends_piece(const struct line *line, enum piece_kind kind)
{
    uint8_t c = byte_at(line, line->at);
    return is_blank(line, line->at) || (kind <= PIECE_EXACT && c == '|') ||
           (kind == PIECE_KEY && is_operator(c));
}

/* From a quote to the next; a backslash before a quote or a backslash stands for what follows. */
static bool take_quoted(struct line *line, struct piece *piece)
{
    size_t quote = line->at++;
    for (; line->at < line->text.length; line->at++) {
        uint8_t c = line->text.data[line->at], next = byte_at(line, line->at + 1);
        if (c == '"') {
            line->at++;
            return true;
        }
        if (c == '\\' && (next == '"' || next == '\\'))
            c = line->text.data[++line->at];
        piece->bytes[piece->length++] = c;
    }
    return expected(line, quote, "a closing quote");
}

/* The bytes are to be freed, also after an error. */
static bool take_piece(struct line *line, enum piece_kind kind, struct piece *piece)
{
    *piece = (struct piece){.bytes = tv_alloc(line->text.length - line->at + 2, 1)};
    while (!ends_piece(line, kind)) {
        uint8_t c = line->text.data[line->at];
        if (c == '"') {
            if (!take_quoted(line, piece))
                return false;
            continue;
        }
        bool star = kind == PIECE_WISH && c == '*';
        piece->starred |= star;
        piece->bytes[piece->length++] = star ? TV_FILTER_ANY : c;
        line->at++;
    }
    return true;
}

static bool has_capital(struct tv_bytes text)
{
    for (size_t i = 0, length; i < text.length; i += length) {
        struct tv_bytes rest = {text.data + i, text.length - i};
        uint32_t c = tv_needle_take_plain(rest, &length);
        if (c == '\\' && i + length < text.length)
            length++; /* \S and \W of patterns are no capitals */
        else if (tv_needle_small(c) != c)
            return true;
    }
    return false;
}

/* ---- Values ---- */

static void add_wish(struct tv_filter_term *term, const struct piece *piece, bool exact)
{
    size_t length = piece->length;
    uint8_t *bytes = piece->bytes;
    bool fold = !exact && !has_capital((struct tv_bytes){bytes, length});
    bool whole = exact || piece->starred ||
                 tv_filter_is_of(term, TV_FILTER_THREAD_ID, TV_FILTER_THREAD_ID) ||
                 tv_filter_is_of(term, TV_FILTER_PROCESS_ID, TV_FILTER_PROCESS_ID);
    if (!whole) {
        memmove(bytes + 1, bytes, length);
        bytes[0] = bytes[length + 1] = TV_FILTER_ANY;
        length += 2;
    }
    term->wishes = tv_realloc(term->wishes, term->wish_count + 1, sizeof *term->wishes);
    term->wishes[term->wish_count++] = (struct tv_filter_wish){{bytes, length}, fold};
}

/* "a", "a*b|c"; nothing is no text unless it stands in quotes. */
static bool take_wishes(struct line *line, struct tv_filter_term *term, bool exact)
{
    for (;;) {
        struct piece piece;
        size_t start = line->at;
        if (ends_piece(line, PIECE_WISH))
            return expected(line, start, "a text (\"\" is the empty one)");
        if (!take_piece(line, exact ? PIECE_EXACT : PIECE_WISH, &piece)) {
            tv_free(piece.bytes);
            return false;
        }
        /* What contains nothing contains all: an empty text is meant as the whole. */
        add_wish(term, &piece, exact || piece.length == 0);
        if (byte_at(line, line->at) != '|')
            return true;
        line->at++;
    }
}

static bool take_pattern(struct line *line, struct tv_filter_term *term)
{
    struct piece piece;
    struct tv_error fault = {0};
    size_t start = line->at;
    bool good = take_piece(line, PIECE_PLAIN, &piece);
    struct tv_bytes text = {piece.bytes, piece.length};
    if (good && piece.length == 0)
        good = expected(line, start, "a regular expression");
    if (good && tv_pattern_new(text, !has_capital(text), &term->pattern, &fault) != TV_OK) {
        *line->column = column_of(line, start);
        tv_fail(line->err, TV_ERR_USAGE, TV_NO_OFFSET, "column %zu: %s", *line->column,
                fault.message);
        good = false;
    }
    tv_free(piece.bytes);
    return good;
}

static bool is_time(enum tv_filter_field field)
{
    return field == TV_FILTER_DURATION || field == TV_FILTER_CPU || field == TV_FILTER_SELF;
}

bool tv_filter_number_of(struct tv_bytes text, double *value)
{
    char copy[64], *end;
    if (text.length == 0 || text.length >= sizeof copy)
        return false;
    /* No more than JSON has: neither "inf" nor hexadecimal. */
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == '\0' || !strchr("+-.0123456789eE", text.data[i]))
            return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    *value = strtod(copy, &end);
    return *end == '\0' && isfinite(*value);
}

static bool parse_number(const struct tv_filter_term *term, struct tv_bytes text, double *value)
{
    tv_ns time;
    uint64_t number;
    if (is_time(term->field)) {
        bool good = tv_parse_time(text, MS, &time);
        *value = good ? (double)time : 0;
        return good;
    }
    if (term->field == TV_FILTER_ARGUMENT)
        return tv_filter_number_of(text, value);
    bool good = tv_parse_u64(text, &number);
    *value = good ? (double)number : 0;
    return good;
}

static const char *number_words(const struct tv_filter_term *term, bool range)
{
    if (is_time(term->field))
        return range ? "a time or two, such as 2ms or 1ms..5ms (ns, us, ms, s)"
                     : "a time such as 2ms (ns, us, ms, s)";
    return range ? "a number or two, such as 3 or 1..5" : "a number such as 3";
}

/* "1ms..5ms", either of which may be missing. */
static bool parse_range(struct tv_filter_term *term, struct tv_bytes text)
{
    size_t dots = 0;
    while (dots + 1 < text.length && (text.data[dots] != '.' || text.data[dots + 1] != '.'))
        dots++;
    if (dots + 1 >= text.length) {
        bool good = parse_number(term, text, &term->low);
        term->high = term->low;
        return good;
    }
    struct tv_bytes low = {text.data, dots};
    struct tv_bytes high = {text.data + dots + 2, text.length - dots - 2};
    return low.length + high.length > 0 &&
           (low.length == 0 || parse_number(term, low, &term->low)) &&
           (high.length == 0 || parse_number(term, high, &term->high));
}

enum relation {
    CONTAINS, /* ':' */
    IS,
    MATCHES, /* '~' */
    BELOW,
    UP_TO,
    ABOVE,
    FROM,
};

static bool take_numbers(struct line *line, struct tv_filter_term *term, enum relation relation)
{
    struct piece piece;
    size_t start = line->at;
    bool range = relation == CONTAINS || relation == IS;
    bool good = take_piece(line, PIECE_PLAIN, &piece);
    struct tv_bytes text = {piece.bytes, piece.length};
    double bound = 0;
    term->low = -HUGE_VAL;
    term->high = HUGE_VAL;
    if (good && !(range ? parse_range(term, text) : parse_number(term, text, &bound)))
        good = expected(line, start, number_words(term, range));
    if (good && term->low > term->high)
        good = expected(line, start, "a range that ends where it begins or later");
    tv_free(piece.bytes);
    term->below = relation == BELOW;
    term->above = relation == ABOVE;
    if (relation == BELOW || relation == UP_TO)
        term->high = bound;
    if (relation == ABOVE || relation == FROM)
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

static bool find_field(struct tv_bytes word, enum tv_filter_field *field)
{
    for (size_t i = 0; i < TV_COUNT(fields); i++)
        if (tv_bytes_equal(word, tv_bytes_of(fields[i].name))) {
            *field = fields[i].field;
            return true;
        }
    return false;
}

static bool fail_field(const struct line *line, size_t start, struct tv_bytes word)
{
    *line->column = column_of(line, start);
    tv_fail(line->err, TV_ERR_USAGE, TV_NO_OFFSET,
            "column %zu: there is no field '%.*s', but thread process pid tid name class method "
            "cat dur cpu self depth arg.KEY; a name with such a sign in it stands in quotes",
            *line->column, word.length < SHOWN ? (int)word.length : SHOWN, (const char *)word.data);
    return false;
}

/* Takes "field" or "arg.KEY" up to the operator; *bare: it is a word of a name instead. */
static bool take_field(struct line *line, struct tv_filter_term *term, bool *bare)
{
    size_t start = line->at, end = start;
    while ((byte_at(line, end) | 0x20) >= 'a' && (byte_at(line, end) | 0x20) <= 'z')
        end++;
    struct tv_bytes word = {line->text.data + start, end - start};
    uint8_t sign = byte_at(line, end);
    bool key = sign == '.' && tv_bytes_equal(word, TV_BYTES("arg"));
    bool scope = sign == ':' && byte_at(line, end + 1) == ':'; /* of C++ */
    *bare = !key && (word.length == 0 || scope || !is_operator(sign));
    if (*bare)
        return true;
    if (!find_field(word, &term->field))
        return fail_field(line, start, word);
    line->at = end;
    if (!key)
        return true;
    struct piece piece;
    line->at++;
    bool good = take_piece(line, PIECE_KEY, &piece);
    term->key = (struct tv_bytes){piece.bytes, piece.length};
    if (good && piece.length == 0)
        return expected(line, end + 1, "the key of an argument");
    if (good && is_blank(line, line->at))
        return expected(line, line->at, "one of : = ~ < <= > >= behind the key");
    return good;
}

static enum relation take_relation(struct line *line)
{
    uint8_t sign = line->text.data[line->at++];
    bool equal = (sign == '<' || sign == '>') && byte_at(line, line->at) == '=';
    line->at += equal;
    switch (sign) {
    case ':':
        return CONTAINS;
    case '=':
        return IS;
    case '~':
        return MATCHES;
    case '<':
        return equal ? UP_TO : BELOW;
    default:
        return equal ? FROM : ABOVE;
    }
}

/* What stands behind the field. */
static bool take_value(struct line *line, struct tv_filter_term *term)
{
    size_t sign = line->at;
    enum relation relation = take_relation(line);
    bool text = term->field < TV_FILTER_DURATION;
    bool number = term->field >= TV_FILTER_ARGUMENT || term->field == TV_FILTER_THREAD_ID ||
                  term->field == TV_FILTER_PROCESS_ID;
    if (relation >= BELOW && !number)
        return expected(line, sign, "one of : = ~ behind a field of texts");
    if (relation == MATCHES && !text)
        return expected(line, sign, "one of : = < <= > >= behind a field of numbers");
    if (relation == MATCHES)
        return take_pattern(line, term);
    if (relation >= BELOW || !text)
        return take_numbers(line, term, relation);
    return take_wishes(line, term, relation == IS);
}

static bool take_term(struct line *line, struct tv_filter_term *term)
{
    bool bare;
    term->column = column_of(line, line->at);
    if (line->text.data[line->at] == '-') {
        term->negated = true;
        if (is_blank(line, ++line->at))
            return expected(line, line->at, "a term behind '-'");
    }
    if (!take_field(line, term, &bare))
        return false;
    return bare ? take_wishes(line, term, false) : take_value(line, term);
}

static bool check_line(const struct line *line)
{
    if (line->text.length > TV_FILTER_BYTES)
        return expected(line, TV_FILTER_BYTES, "the end: a filter has at most 4096 bytes");
    for (size_t i = 0; i < line->text.length; i++) {
        uint8_t c = line->text.data[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return expected(line, i, "no control characters");
    }
    return true;
}

static bool take_terms(struct line *line, struct tv_filter *filter)
{
    for (;;) {
        while (line->at < line->text.length && is_blank(line, line->at))
            line->at++;
        if (line->at == line->text.length)
            return true;
        if (filter->count == TV_FILTER_TERMS)
            return expected(line, line->at, "the end: a filter has at most 64 terms");
        filter->terms = tv_array_reserve(filter->terms, &filter->capacity, filter->count + 1,
                                         sizeof *filter->terms);
        struct tv_filter_term *term = &filter->terms[filter->count++];
        memset(term, 0, sizeof *term);
        if (!take_term(line, term))
            return false;
    }
}

enum tv_status tv_filter_parse(struct tv_bytes text, struct tv_filter *filter, size_t *column,
                               struct tv_error *err)
{
    struct line line = {.text = text, .column = column, .err = err};
    *filter = (struct tv_filter){.terms = NULL};
    if (check_line(&line) && take_terms(&line, filter))
        return TV_OK;
    tv_filter_release(filter);
    return TV_ERR_USAGE;
}

void tv_filter_release(struct tv_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        struct tv_filter_term *term = &filter->terms[i];
        for (size_t j = 0; j < term->wish_count; j++)
            tv_free((void *)(uintptr_t)term->wishes[j].text.data);
        tv_free(term->wishes);
        tv_pattern_free(term->pattern);
        tv_free((void *)(uintptr_t)term->key.data);
    }
    tv_free(filter->terms);
    *filter = (struct tv_filter){.terms = NULL};
}

/* ---- What fits ---- */

/* The same character; *a and *b go behind it. */
static bool same_character(struct tv_bytes text, size_t *a, struct tv_bytes wish, size_t *b,
                           bool fold)
{
    if (!fold) {
        bool same = text.data[*a] == wish.data[*b];
        ++*a;
        ++*b;
        return same;
    }
    size_t first, second;
    uint32_t c = tv_needle_take_plain((struct tv_bytes){text.data + *a, text.length - *a}, &first);
    uint32_t d = tv_needle_take_plain((struct tv_bytes){wish.data + *b, wish.length - *b}, &second);
    *a += first;
    *b += second;
    return tv_needle_small(c) == d;
}

/* Of several "any" only the last one met needs to be tried again with more. */
static bool wish_fits(const struct tv_filter_wish *wish, struct tv_bytes text)
{
    struct tv_bytes w = wish->text;
    size_t at = 0, p = 0, star = SIZE_MAX, tried = 0;
    while (at < text.length) {
        if (p < w.length && w.data[p] == TV_FILTER_ANY) {
            star = ++p;
            tried = at;
            if (p == w.length)
                return true;
        } else if (p < w.length && same_character(text, &at, w, &p, wish->fold)) {
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

bool tv_filter_text_fits(const struct tv_filter_term *term, struct tv_bytes text)
{
    if (term->pattern)
        return tv_pattern_find(term->pattern, text, tv_needle_take_plain) != TV_PATTERN_NONE;
    for (size_t i = 0; i < term->wish_count; i++)
        if (wish_fits(&term->wishes[i], text))
            return true;
    return false;
}
