/* SPDX-License-Identifier: Apache-2.0 */
#include "html/html_blocks.h"

#include <string.h>

#include "base/bytes.h"

/* A longer tag is none of ours. */
#define LONGEST_TAG ((size_t)4096)

/* So much of a script's body tells what it is. */
#define LOOK ((size_t)4096)

/* In front of an end tag there are so many blanks at most. */
#define LONGEST_END ((size_t)64)

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

/* Whether the bytes begin with a word of small letters, written in letters of any size. */
static bool begins(struct tv_bytes bytes, const char *word)
{
    size_t i = 0;
    for (; word[i] != '\0'; i++)
        if (i == bytes.length || lower(bytes.data[i]) != (uint8_t)word[i])
            return false;
    return true;
}

static struct tv_bytes from(struct tv_bytes bytes, size_t count)
{
    return (struct tv_bytes){bytes.data + count, bytes.length - count};
}

static struct tv_bytes skip_spaces(struct tv_bytes bytes)
{
    while (bytes.length > 0 && is_space(bytes.data[0]))
        bytes = from(bytes, 1);
    return bytes;
}

/* "<script" and "</script" are tags when one of these follows. */
static bool ends_tag_name(uint8_t c)
{
    return is_space(c) || c == '/' || c == '>';
}

static bool is_tag(struct tv_bytes bytes, const char *word)
{
    size_t length = strlen(word);
    return begins(bytes, word) && bytes.length > length && ends_tag_name(bytes.data[length]);
}

/* "<!--", up to behind its "-->"; false when that cannot be seen. */
static bool skip_comment(struct tv_bytes *bytes)
{
    for (size_t i = 4; i + 3 <= bytes->length; i++)
        if (memcmp(bytes->data + i, "-->", 3) == 0) {
            *bytes = from(*bytes, i + 3);
            return true;
        }
    return false;
}

bool tv_html_begins(struct tv_bytes head)
{
    if (tv_bytes_starts_with(head, TV_BYTES("\xef\xbb\xbf")))
        head = from(head, 3);
    head = skip_spaces(head);
    while (begins(head, "<!--") && skip_comment(&head))
        head = skip_spaces(head);
    return is_tag(head, "<!doctype") ? begins(skip_spaces(from(head, 9)), "html")
                                     : is_tag(head, "<html");
}

/* ---- Scripts ---- */

void tv_html_scan_init(struct tv_html_scan *scan, struct tv_source *source)
{
    scan->offset = 0;
    tv_window_init(&scan->window, source);
}

void tv_html_scan_release(struct tv_html_scan *scan)
{
    tv_window_release(&scan->window);
}

/* What of the page is of interest. */
enum mark {
    MARK_NONE, /* the page's end */
    MARK_COMMENT,
    MARK_COMMENT_END,
    MARK_SCRIPT,
    MARK_SCRIPT_END,
};

static enum mark mark_of(struct tv_bytes bytes)
{
    if (begins(bytes, "-->"))
        return MARK_COMMENT_END;
    if (begins(bytes, "<!--"))
        return MARK_COMMENT;
    if (is_tag(bytes, "<script"))
        return MARK_SCRIPT;
    return is_tag(bytes, "</script") ? MARK_SCRIPT_END : MARK_NONE;
}

#define LONGEST_MARK sizeof "</script>"

/* The next place at which a mark may begin: only where comments count do they cost a look at each
 * '-'. */
static const uint8_t *find_start(struct tv_bytes bytes, bool comments)
{
    const uint8_t *open = memchr(bytes.data, '<', bytes.length);
    const uint8_t *dash = NULL;
    if (comments)
        dash = memchr(bytes.data, '-', open ? (size_t)(open - bytes.data) : bytes.length);
    return dash ? dash : open;
}

/* Goes to the next mark among those wanted (1 << enum mark). */
static enum tv_status find_mark(struct tv_html_scan *scan, unsigned wanted, enum mark *mark,
                                struct tv_error *err)
{
    bool comments = (wanted & 1u << MARK_COMMENT_END) != 0;
    struct tv_bytes bytes;
    for (;;) {
        enum tv_status status = tv_window_at(&scan->window, scan->offset, 1, &bytes, err);
        *mark = MARK_NONE;
        if (status != TV_OK || bytes.length == 0)
            return status;
        const uint8_t *found = find_start(bytes, comments);
        scan->offset += found ? (size_t)(found - bytes.data) : bytes.length;
        if (!found)
            continue;
        status = tv_window_at(&scan->window, scan->offset, LONGEST_MARK, &bytes, err);
        if (status != TV_OK)
            return status;
        *mark = mark_of(bytes);
        if (*mark != MARK_NONE && (wanted & 1u << *mark))
            return TV_OK;
        scan->offset++;
    }
}

/* What counts of a script's tag; without quotes. */
struct tag {
    struct tv_bytes class_name, id, data_of;
    bool has_src;
    size_t length; /* up to behind its '>' */
};

static void skip(struct tv_bytes *rest, size_t count)
{
    *rest = from(*rest, count);
}

/* What stands behind an attribute's "=", in quotes or not. */
static struct tv_bytes take_value(struct tv_bytes *rest)
{
    uint8_t quote = rest->length > 0 ? rest->data[0] : 0;
    bool quoted = quote == '"' || quote == '\'';
    if (quoted)
        skip(rest, 1);
    size_t i = 0;
    while (i < rest->length && rest->data[i] != (quoted ? quote : '>') &&
           (quoted || !is_space(rest->data[i])))
        i++;
    struct tv_bytes value = {rest->data, i};
    skip(rest, quoted && i < rest->length ? i + 1 : i);
    return value;
}

/* One attribute: name, maybe "=" and a value. False at the tag's end or where it cannot be seen. */
static bool take_attribute(struct tv_bytes *rest, struct tv_bytes *name, struct tv_bytes *value)
{
    size_t i = 1;
    while (rest->length > 0 && (is_space(rest->data[0]) || rest->data[0] == '/'))
        skip(rest, 1);
    if (rest->length == 0 || rest->data[0] == '>')
        return false;
    while (i < rest->length && !ends_tag_name(rest->data[i]) && rest->data[i] != '=')
        i++;
    *name = (struct tv_bytes){rest->data, i};
    *value = (struct tv_bytes){rest->data, 0};
    skip(rest, i);
    struct tv_bytes behind = skip_spaces(*rest);
    if (behind.length == 0 || behind.data[0] != '=')
        return true;
    *rest = skip_spaces(from(behind, 1));
    *value = take_value(rest);
    return true;
}

/* The tag whose "<script" the bytes begin with.  False: its end cannot be seen. */
static bool read_tag(struct tv_bytes bytes, struct tag *tag)
{
    struct tv_bytes rest = from(bytes, sizeof "<script" - 1), name, value;
    *tag = (struct tag){.length = 0};
    while (take_attribute(&rest, &name, &value)) {
        if (name.length == 5 && begins(name, "class") && !tag->class_name.data)
            tag->class_name = value;
        else if (name.length == 2 && begins(name, "id") && !tag->id.data)
            tag->id = value;
        else if (name.length == 7 && begins(name, "data-of") && !tag->data_of.data)
            tag->data_of = value;
        else if (name.length == 3 && begins(name, "src"))
            tag->has_src = true;
    }
    tag->length = (size_t)(rest.data - bytes.data) + 1;
    return rest.length > 0;
}

/* Whether a list of words has this one. */
static bool has_word(struct tv_bytes list, const char *word)
{
    size_t length = strlen(word);
    while ((list = skip_spaces(list)).length > 0) {
        size_t i = 0;
        while (i < list.length && !is_space(list.data[i]))
            i++;
        if (i == length && begins(list, word))
            return true;
        list = from(list, i);
    }
    return false;
}

/* ---- What a script's body is ---- */

static bool is_base64_digit(uint8_t c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
           c == '=';
}

/* Digits alone, one word a line, up to the body's end: no trace in plain text begins like that. */
static bool looks_like_base64(struct tv_bytes body)
{
    size_t digits = 0;
    bool word = false, gap = false;
    for (size_t i = 0; i < body.length && !is_tag(from(body, i), "</script"); i++) {
        uint8_t c = body.data[i];
        bool digit = is_base64_digit(c);
        if ((!digit && !is_space(c)) || (digit && gap))
            return false;
        digits += digit;
        gap = word && is_blank(c);
        word = c != '\n' && (word || digit);
    }
    return digits >= 4;
}

static bool take(struct tv_bytes *bytes, const char *word)
{
    if (!begins(*bytes, word))
        return false;
    *bytes = from(*bytes, strlen(word));
    return true;
}

/* Statements and comments without meaning that stand in front of the string. */
static bool skip_line(struct tv_bytes *body)
{
    if (begins(*body, "/*")) {
        for (size_t i = 2; i + 2 <= body->length; i++)
            if (memcmp(body->data + i, "*/", 2) == 0) {
                *body = from(*body, i + 2);
                return true;
            }
        return false;
    }
    if (!begins(*body, "//") && !begins(*body, "'use strict'") && !begins(*body, "\"use strict\""))
        return false;
    const uint8_t *newline = memchr(body->data, '\n', body->length);
    *body = from(*body, newline ? (size_t)(newline - body->data) + 1 : body->length);
    return true;
}

/* Whether a script begins with `var linuxPerfData = "`; *length is up to behind the quote. */
static bool begins_string(struct tv_bytes body, size_t *length)
{
    struct tv_bytes rest = skip_spaces(body);
    while (skip_line(&rest))
        rest = skip_spaces(rest);
    if (take(&rest, "var "))
        rest = skip_spaces(rest);
    /* The name has capitals: `begins` takes them as small. */
    if (!tv_bytes_starts_with(rest, TV_BYTES("linuxPerfData")) || !take(&rest, "linuxperfdata"))
        return false;
    rest = skip_spaces(rest);
    if (!take(&rest, "="))
        return false;
    rest = skip_spaces(rest);
    if (!take(&rest, "\""))
        return false;
    *length = (size_t)(rest.data - body.data);
    return true;
}

/* The line ends in front of a plain text, up to its first line that is not blank. */
static size_t blank_lines(struct tv_bytes body)
{
    size_t lines = 0;
    for (size_t i = 0; i < body.length && is_space(body.data[i]); i++)
        if (body.data[i] == '\n')
            lines = i + 1;
    return lines;
}

/* Whether it is what `traceview html` writes; then role, file and form are set. */
static bool is_of_report(const struct tag *tag, struct tv_html_block *block)
{
    uint64_t number;
    if (tv_bytes_equal(tag->data_of, TV_BYTES("manifest"))) {
        block->role = TV_HTML_MANIFEST;
        return true;
    }
    if (!tv_bytes_starts_with(tag->data_of, TV_BYTES("file")) ||
        !tv_parse_u64(from(tag->data_of, 4), &number) || number >= TV_NONE)
        return false;
    block->role = TV_HTML_PIECE;
    block->form = TV_HTML_BASE64;
    block->file = (uint32_t)number;
    return true;
}

/* Whether the script is a trace, or of one; then block->start, role and form are set. */
static bool is_trace(const struct tag *tag, struct tv_bytes body, struct tv_html_block *block)
{
    if (is_of_report(tag, block))
        return true;
    bool viewer_data = has_word(tag->id, "viewer-data");
    size_t skipped = 0;
    if (viewer_data || has_word(tag->class_name, "trace-data")) {
        block->form = looks_like_base64(body) ? TV_HTML_BASE64 : TV_HTML_TEXT;
        skipped = block->form == TV_HTML_TEXT ? blank_lines(body) : 0;
    } else if (!tag->has_src && begins_string(body, &skipped)) {
        block->form = TV_HTML_STRING;
    } else {
        return false;
    }
    block->start += skipped;
    return true;
}

/* Goes to the "</script" of a script that is no trace, as browsers do: one within "<!-- <script"
 * does not count. */
static enum tv_status leave_script(struct tv_html_scan *scan, struct tv_error *err)
{
    bool comment = false, inner = false;
    for (;;) {
        enum mark mark;
        unsigned wanted = 1u << MARK_SCRIPT_END;
        wanted |= comment ? 1u << MARK_COMMENT_END | 1u << MARK_SCRIPT : 1u << MARK_COMMENT;
        enum tv_status status = find_mark(scan, wanted, &mark, err);
        if (status != TV_OK || mark == MARK_NONE || (mark == MARK_SCRIPT_END && !inner))
            return status;
        if (mark == MARK_COMMENT)
            comment = true;
        else if (mark == MARK_COMMENT_END)
            comment = inner = false;
        else
            inner = mark == MARK_SCRIPT;
        scan->offset += mark == MARK_COMMENT ? 2 : 1; /* "<!-->" is a comment, too */
    }
}

/* The spaces in front of the end tag are no line of the trace. */
static enum tv_status trim_end(struct tv_html_scan *scan, struct tv_html_block *block,
                               struct tv_error *err)
{
    uint64_t start =
        block->end - block->start > LONGEST_END ? block->end - LONGEST_END : block->start;
    struct tv_bytes bytes;
    enum tv_status status =
        tv_window_at(&scan->window, start, (size_t)(block->end - start), &bytes, err);
    if (status != TV_OK || bytes.length < block->end - start)
        return status;
    while (block->end > start && is_blank(bytes.data[block->end - start - 1]))
        block->end--;
    return TV_OK;
}

/* From a "<script" on. `block` is set when it is a trace. */
static enum tv_status pass_script(struct tv_html_scan *scan, struct tv_html_block *block,
                                  bool *found, struct tv_error *err)
{
    struct tv_bytes bytes;
    struct tag tag;
    enum mark mark;
    *found = false;
    enum tv_status status =
        tv_window_at(&scan->window, scan->offset, LONGEST_TAG + LOOK, &bytes, err);
    if (status != TV_OK)
        return status;
    if (bytes.length > LONGEST_TAG + LOOK)
        bytes.length = LONGEST_TAG + LOOK;
    if (!read_tag(bytes, &tag) || tag.length > LONGEST_TAG) {
        scan->offset++;
        return TV_OK;
    }
    *block = (struct tv_html_block){.start = scan->offset + tag.length};
    *found = is_trace(&tag, from(bytes, tag.length), block);
    scan->offset += tag.length;
    if (!*found)
        return leave_script(scan, err);
    status = find_mark(scan, 1u << MARK_SCRIPT_END, &mark, err);
    block->end = scan->offset;
    block->open = mark == MARK_NONE;
    if (block->start > block->end)
        block->start = block->end;
    return status == TV_OK ? trim_end(scan, block, err) : status;
}

enum tv_status tv_html_scan_next(struct tv_html_scan *scan, struct tv_html_block *block, bool *none,
                                 struct tv_error *err)
{
    bool found = false;
    *none = false;
    while (!found && !*none) {
        enum mark mark;
        enum tv_status status = find_mark(scan, 1u << MARK_COMMENT | 1u << MARK_SCRIPT, &mark, err);
        if (status == TV_OK && mark == MARK_SCRIPT) {
            status = pass_script(scan, block, &found, err);
        } else if (status == TV_OK && mark == MARK_COMMENT) {
            scan->offset += 2; /* "<!-->" is a comment, too */
            status = find_mark(scan, 1u << MARK_COMMENT_END, &mark, err);
        }
        if (status != TV_OK)
            return status;
        *none = mark == MARK_NONE && !found;
    }
    return TV_OK;
}
