/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - styles, widths of Unicode text, and shortened names.
 *
 * A name loses what identifies it least, and no more than it must:
 *
 *     whole            std::map<int, Foo>::insert(std::pair<int, Foo> const&)
 *     parameters       std::map<int, Foo>::insert(...)
 *     type arguments   std::map<...>::insert(...)
 *     middle           std::m...insert(...)
 *
 * An operator's brackets ("operator()", "operator<<"), "<init>" and "(anonymous namespace)" are
 * names and stay.  A JVM descriptor after the parameters goes with them.
 */
#include "writers/text/layout.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

static const char *const sequences[] = {
    [TV_STYLE_PLAIN] = "",           [TV_STYLE_TITLE] = "\033[1m", [TV_STYLE_HOT] = "\033[31m",
    [TV_STYLE_WARM] = "\033[33m",    [TV_STYLE_DIM] = "\033[2m",   [TV_STYLE_ERROR] = "\033[1;31m",
    [TV_STYLE_WARNING] = "\033[35m", [TV_STYLE_NOTE] = "\033[36m",
};

uint32_t tv_layout_width(const struct tv_out *out)
{
    return out->layout ? out->layout->width : 0;
}

static bool layout_shows_style(const struct tv_out *out, enum tv_style style)
{
    return style != TV_STYLE_PLAIN && out->layout && out->layout->colors;
}

void tv_layout_style(struct tv_out *out, enum tv_style style)
{
    if (layout_shows_style(out, style))
        tv_out_text(out, sequences[style]);
}

void tv_layout_plain(struct tv_out *out, enum tv_style style)
{
    if (layout_shows_style(out, style))
        tv_out_text(out, "\033[m");
}

void tv_layout_text(struct tv_out *out, enum tv_style style, const char *text)
{
    tv_layout_style(out, style);
    tv_out_text(out, text);
    tv_layout_plain(out, style);
}

enum tv_style tv_layout_style_of(enum tv_severity severity)
{
    static const enum tv_style styles[TV_SEVERITIES] = {
        [TV_NOTE] = TV_STYLE_NOTE,
        [TV_WARNING] = TV_STYLE_WARNING,
        [TV_ERROR] = TV_STYLE_ERROR,
    };
    return styles[severity];
}

/* ---- Width of a text ---- */

/* Characters that do not take one column, in order. Combining marks and marks without width take
 * none; East Asian wide characters and most emoji take two (Unicode Standard Annex 11, and by
 * block the general categories Mn and Cf). */
static const struct {
    uint32_t first, last;
    uint32_t columns;
} widths[] = {
    {0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
    {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
    {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},   {0xff01, 0xff60, 2},   {0xffe0, 0xffe6, 2},
    {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

/* Return the first character of the bytes (at least one) and its length. A byte that is not
 * UTF-8 counts as a character. */
static uint32_t layout_take_utf8_character(struct tv_bytes bytes, size_t *length)
{
    uint32_t character = bytes.data[0];
    assert(bytes.length > 0);
    *length = tv_bytes_utf8(bytes);
    if (*length <= 1) {
        *length = 1;
        return character;
    }
    character &= 0xffu >> (*length + 1);
    for (size_t i = 1; i < *length; i++)
        character = character << 6 | (bytes.data[i] & 0x3fu);
    return character;
}

static uint32_t layout_columns_of_character(uint32_t character)
{
    for (size_t i = 0; character >= widths[0].first && i < TV_COUNT(widths); i++)
        if (character >= widths[i].first && character <= widths[i].last)
            return widths[i].columns;
    return 1;
}

uint32_t tv_layout_columns(struct tv_bytes text)
{
    uint32_t columns = 0;
    size_t length;
    for (size_t at = 0; at < text.length; at += length)
        columns += layout_columns_of_character(layout_take_utf8_character(
            (struct tv_bytes){text.data + at, text.length - at}, &length));
    return columns;
}

/* ---- Shortening names ---- */

#define ELLIPSIS(utf8) ((utf8) ? "\xe2\x80\xa6" : "...")

static bool layout_is_word_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Return true when the bracket at `at` belongs to an operator's name: "operator<<",
 * "operator()". */
static bool layout_follows_operator(struct tv_bytes text, size_t at)
{
    const size_t length = strlen("operator");
    while (at > 0 && text.data[at] == '<' && text.data[at - 1] == '<')
        at--;
    return at >= length && memcmp(text.data + at - length, "operator", length) == 0;
}

/* Return true when there is a bracket at `at` whose contents may be omitted. A '<' counts only
 * after a word, because "<init>" is a name. */
static bool layout_opens_bracket(struct tv_bytes text, size_t at, uint8_t open)
{
    if (text.data[at] != open || layout_follows_operator(text, at))
        return false;
    return open != '<' || (at > 0 && layout_is_word_byte(text.data[at - 1]));
}

/* Return the position of the bracket that closes the one at `at`, or the length of the text. */
static size_t layout_find_closing_bracket(struct tv_bytes text, size_t at, uint8_t open,
                                          uint8_t close)
{
    size_t depth = 0;
    for (; at < text.length; at++) {
        bool arrow = close == '>' && at > 0 && text.data[at - 1] == '-';
        depth += text.data[at] == open;
        if (text.data[at] == close && !arrow && --depth == 0)
            break;
    }
    return at;
}

/* Return true when the text after a method's parameters ends a JVM descriptor: "V",
 * "[Lcom/ex/A;". */
static bool layout_is_return_type(struct tv_bytes text)
{
    return text.length > 0 && memchr("VZBCSIJFDL[", text.data[0], 11) &&
           !memchr(text.data, ' ', text.length);
}

/* Copy a text with an ellipsis instead of the contents of each pair of brackets. */
static void layout_empty_brackets(struct tv_out *to, struct tv_bytes text, uint8_t open,
                                  uint8_t close, const char *ellipsis)
{
    assert(open != close);
    for (size_t at = 0; at < text.length; at++) {
        tv_out_char(to, (char)text.data[at]);
        if (!layout_opens_bracket(text, at, open))
            continue;
        size_t end = layout_find_closing_bracket(text, at, open, close);
        struct tv_bytes rest = {text.data + end, text.length - end};
        bool space = tv_bytes_starts_with(rest, TV_BYTES(")::")); /* (anonymous namespace):: */
        if (end >= text.length)
            continue;
        if (end - at - 1 <= strlen(ellipsis) || space) {
            tv_out_bytes(to, (struct tv_bytes){text.data + at + 1, end - at});
        } else {
            tv_out_text(to, ellipsis);
            tv_out_char(to, (char)close);
        }
        rest = (struct tv_bytes){text.data + end + 1, text.length - end - 1};
        if (open == '(' && at > 0 && text.data[at - 1] == ' ' && layout_is_return_type(rest))
            return;
        at = end;
    }
}

size_t tv_layout_prefix(struct tv_bytes text, uint32_t width)
{
    size_t at = 0, length;
    while (at < text.length) {
        uint32_t columns = layout_columns_of_character(layout_take_utf8_character(
            (struct tv_bytes){text.data + at, text.length - at}, &length));
        if (columns > width)
            break;
        width -= columns;
        at += length;
    }
    return at;
}

/* Return the offset of the longest tail that fits in `width` columns. */
static size_t layout_fit_tail(struct tv_bytes text, uint32_t width)
{
    uint32_t columns = tv_layout_columns(text);
    size_t at = 0, length;
    while (at < text.length && columns > width) {
        columns -= layout_columns_of_character(layout_take_utf8_character(
            (struct tv_bytes){text.data + at, text.length - at}, &length));
        at += length;
    }
    return at;
}

/* Drop the middle of a name: its end says more than its beginning, which is a package or
 * namespace. */
static void layout_cut_middle(struct tv_out *out, struct tv_bytes text, uint32_t width,
                              const char *ellipsis)
{
    uint32_t dots = tv_layout_columns(tv_bytes_of(ellipsis));
    uint32_t room = width > dots ? width - dots : 0, head = room / 3;
    size_t tail = layout_fit_tail(text, room - head);
    tv_out_bytes(out, (struct tv_bytes){text.data, tv_layout_prefix(text, head)});
    tv_out_text(out, ellipsis);
    tv_out_bytes(out, (struct tv_bytes){text.data + tail, text.length - tail});
}

/* Return a method without the signature after a blank: "a.B.run (I)" becomes "a.B.run". */
static struct tv_bytes layout_without_signature(struct tv_bytes text)
{
    size_t at = text.length;
    if (at == 0 || text.data[at - 1] != ')')
        return text;
    while (at > 0 && text.data[at - 1] != '(')
        at--;
    if (at > 2 && text.data[at - 2] == ' ')
        text.length = at - 2;
    return text;
}

static struct tv_bytes layout_bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

void tv_layout_fit(struct tv_out *out, struct tv_bytes name, uint32_t width)
{
    static const struct {
        uint8_t open, close;
    } brackets[] = {{'(', ')'}, {'<', '>'}};
    const char *ellipsis = ELLIPSIS(out->layout && out->layout->utf8);
    if (width == 0 || tv_layout_columns(name) <= width) {
        tv_out_bytes(out, name);
        return;
    }
    struct tv_out shorter[TV_COUNT(brackets)];
    struct tv_bytes text = name;
    for (size_t i = 0; i < TV_COUNT(brackets); i++) {
        tv_out_init_memory(&shorter[i]);
        if (tv_layout_columns(text) > width) {
            layout_empty_brackets(&shorter[i], text, brackets[i].open, brackets[i].close, ellipsis);
            text = layout_bytes_of(&shorter[i]);
        }
    }
    if (tv_layout_columns(text) > width)
        text = layout_without_signature(text);
    if (tv_layout_columns(text) <= width)
        tv_out_bytes(out, text);
    else
        layout_cut_middle(out, text, width, ellipsis);
    for (size_t i = 0; i < TV_COUNT(brackets); i++)
        tv_out_release(&shorter[i]);
}

/* ---- Lines that fit ---- */

/* Return the length of the run of spaces at the beginning, or of other characters up to a '|',
 * after which a list of choices may be broken. */
static size_t layout_run(struct tv_bytes text, bool spaces)
{
    size_t length = 0;
    while (length < text.length && (text.data[length] == ' ') == spaces)
        if (text.data[length++] == '|')
            break;
    return length;
}

/* Return the columns of a text that may have colour sequences, which take none. */
static uint32_t layout_columns_of_styled(struct tv_bytes text)
{
    uint32_t columns = 0;
    while (text.length > 0) {
        const uint8_t *escape = memchr(text.data, '\033', text.length);
        size_t before = escape ? (size_t)(escape - text.data) : text.length;
        columns += tv_layout_columns((struct tv_bytes){text.data, before});
        const uint8_t *end = escape ? memchr(escape, 'm', text.length - before) : NULL;
        size_t skipped = end ? (size_t)(end - text.data) + 1 : text.length;
        text = (struct tv_bytes){text.data + skipped, text.length - skipped};
    }
    return columns;
}

#define LONGEST_LABEL 24 /* bytes; two blanks further on are between sentences */

/* Return the columns before the text after the label of a line, or else those of its spaces and
 * `hang`; at most half the width. */
static uint32_t layout_find_indent(struct tv_bytes line, uint32_t width, uint32_t hang)
{
    size_t spaces = layout_run(line, true);
    uint32_t indent = (uint32_t)spaces + hang;
    for (size_t at = spaces; at < line.length && at < LONGEST_LABEL;) {
        at += layout_run((struct tv_bytes){line.data + at, line.length - at}, false);
        size_t gap = layout_run((struct tv_bytes){line.data + at, line.length - at}, true);
        at += gap;
        if (gap < 2)
            continue;
        indent = layout_columns_of_styled((struct tv_bytes){line.data, at});
        break;
    }
    return indent <= width / 2 ? indent : (uint32_t)spaces < width / 2 ? (uint32_t)spaces : 0;
}

static void layout_wrap_line(struct tv_out *out, struct tv_bytes line, uint32_t hang)
{
    uint32_t width = tv_layout_width(out), column = 0, start = 0;
    if (width == 0 || layout_columns_of_styled(line) <= width) {
        tv_out_bytes(out, line);
        return;
    }
    uint32_t indent = layout_find_indent(line, width, hang);
    while (line.length > 0) {
        size_t spaces = layout_run(line, true);
        struct tv_bytes word = {line.data + spaces, line.length - spaces};
        word.length = layout_run(word, false);
        uint32_t columns = layout_columns_of_styled(word);
        if (column > start && column + spaces + columns > width) {
            tv_out_format(out, "\n%*s", (int)indent, "");
            column = start = indent;
        } else {
            tv_out_bytes(out, (struct tv_bytes){line.data, spaces});
            column += (uint32_t)spaces;
        }
        tv_out_bytes(out, word);
        column += columns;
        line.data += spaces + word.length;
        line.length -= spaces + word.length;
    }
}

void tv_layout_hold(const struct tv_out *out, struct tv_out *held)
{
    tv_out_init_memory(held);
    held->layout = out->layout;
}

void tv_layout_release(struct tv_out *out, struct tv_out *held, uint32_t hang)
{
    struct tv_bytes rest = {held->buffer, held->length}, line;
    while (tv_bytes_split(&rest, '\n', &line)) {
        layout_wrap_line(out, line, hang);
        tv_out_char(out, '\n');
    }
    tv_out_release(held);
}
