/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_blocks.c - a scanner for the scripts of an HTML page (html_page.h).
 *
 * The page is never parsed as a whole. The scanner jumps from '<' to '<' and recognises five
 * tokens (comments and scripts, their starts and ends), because only the whole body of a script
 * can be a trace:
 *
 *     page --> next token --> <!-- : skip the comment
 *                         '-> <script : read the tag --> a trace: [start, end) of the body
 *                                                    '-> anything else: skip to its </script
 *
 *     <script class="trace-data" type="application/text">
 *     # tracer: nop                                     <-- start: blank lines are left out
 *       app-42  (   42) [000] ...1  1.5: sched_switch: ...
 *     </script>                                         <-- end: so are blanks in front of the tag
 *
 * Memory is bounded: a window of the page, at most LONGEST_TAG + LOOK bytes of it at a time. A
 * script that the end of the page cuts off is still a block, with `open` set. The rules for
 * comments and scripts are those of the HTML standard, section "Tokenization" ("script data
 * escaped states").
 */
#include "html/html_page.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

/* Longest start tag that can announce a trace; longer tags are skipped. */
#define LONGEST_TAG ((size_t)4096)

/* Bytes of a script's body that are enough to recognise its content. */
#define LOOK ((size_t)4096)

/* Maximum number of blanks that can precede an end tag. */
#define LONGEST_END ((size_t)64)

static bool html_is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

static bool html_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static uint8_t html_lower_case(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

/* Return true when the bytes begin with `word` (lower case), whatever the case of the bytes. */
static bool html_begins_with(struct tv_bytes bytes, const char *word)
{
    size_t i = 0;
    for (; word[i] != '\0'; i++)
        if (i == bytes.length || html_lower_case(bytes.data[i]) != (uint8_t)word[i])
            return false;
    return true;
}

static struct tv_bytes html_bytes_from(struct tv_bytes bytes, size_t count)
{
    assert(count <= bytes.length);
    return (struct tv_bytes){bytes.data + count, bytes.length - count};
}

static struct tv_bytes html_skip_spaces(struct tv_bytes bytes)
{
    while (bytes.length > 0 && html_is_space(bytes.data[0]))
        bytes = html_bytes_from(bytes, 1);
    return bytes;
}

/* Return true when `c` ends a tag name, so that "<script" and "</script" are tags. */
static bool html_ends_tag_name(uint8_t c)
{
    return html_is_space(c) || c == '/' || c == '>';
}

/* Return true when the bytes begin with this tag, and not with a longer name ("<scripted"). */
static bool html_is_tag(struct tv_bytes bytes, const char *word)
{
    size_t length = strlen(word);
    return html_begins_with(bytes, word) && bytes.length > length &&
           html_ends_tag_name(bytes.data[length]);
}

/* Skip "<!-- ... -->". Return false when the end is not within the bytes. */
static bool html_skip_comment(struct tv_bytes *bytes)
{
    for (size_t i = 4; i + 3 <= bytes->length; i++)
        if (memcmp(bytes->data + i, "-->", 3) == 0) {
            *bytes = html_bytes_from(*bytes, i + 3);
            return true;
        }
    return false;
}

/* Skip a byte order mark, blanks and comments; then a doctype or the root element must follow. */
bool tv_html_begins(struct tv_bytes head)
{
    if (tv_bytes_starts_with(head, TV_BYTES("\xef\xbb\xbf")))
        head = html_bytes_from(head, 3);
    head = html_skip_spaces(head);
    while (html_begins_with(head, "<!--") && html_skip_comment(&head))
        head = html_skip_spaces(head);
    return html_is_tag(head, "<!doctype")
               ? html_begins_with(html_skip_spaces(html_bytes_from(head, 9)), "html")
               : html_is_tag(head, "<html");
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

/* Tokens of the page that the scanner stops at. */
enum html_token {
    TOKEN_NONE, /* the end of the page */
    TOKEN_COMMENT,
    TOKEN_COMMENT_END,
    TOKEN_SCRIPT,
    TOKEN_SCRIPT_END,
};

static enum html_token html_token_of(struct tv_bytes bytes)
{
    if (html_begins_with(bytes, "-->"))
        return TOKEN_COMMENT_END;
    if (html_begins_with(bytes, "<!--"))
        return TOKEN_COMMENT;
    if (html_is_tag(bytes, "<script"))
        return TOKEN_SCRIPT;
    return html_is_tag(bytes, "</script") ? TOKEN_SCRIPT_END : TOKEN_NONE;
}

/* The longest token, with the byte that ends its name: sizeof counts the NUL in place of it. */
#define LONGEST_TOKEN sizeof "</script>"

/* Return the next byte at which a token may begin. Looking at every '-' is slow, so that happens
 * only inside comments. */
static const uint8_t *html_find_token_start(struct tv_bytes bytes, bool comments)
{
    const uint8_t *open = memchr(bytes.data, '<', bytes.length);
    const uint8_t *dash = NULL;
    if (comments)
        dash = memchr(bytes.data, '-', open ? (size_t)(open - bytes.data) : bytes.length);
    return dash ? dash : open;
}

/* Advance to the next of the wanted tokens (bit 1 << enum html_token). */
static enum tv_status html_find_token(struct tv_html_scan *scan, unsigned wanted,
                                      enum html_token *token, struct tv_error *err)
{
    bool comments = (wanted & 1u << TOKEN_COMMENT_END) != 0;
    struct tv_bytes bytes;
    for (;;) {
        enum tv_status status = tv_window_at(&scan->window, scan->offset, 1, &bytes, err);
        *token = TOKEN_NONE;
        if (status != TV_OK || bytes.length == 0)
            return status;
        const uint8_t *found = html_find_token_start(bytes, comments);
        scan->offset += found ? (size_t)(found - bytes.data) : bytes.length;
        if (!found)
            continue;
        status = tv_window_at(&scan->window, scan->offset, LONGEST_TOKEN, &bytes, err);
        if (status != TV_OK)
            return status;
        *token = html_token_of(bytes);
        if (*token != TOKEN_NONE && (wanted & 1u << *token))
            return TV_OK;
        scan->offset++;
    }
}

/* The attributes of a script's start tag that matter, without their quotes. */
struct html_script_tag {
    struct tv_bytes class_name, id, data_of;
    bool has_src;
    size_t length; /* bytes of the tag, including its '>' */
};

static void html_skip_bytes(struct tv_bytes *rest, size_t count)
{
    *rest = html_bytes_from(*rest, count);
}

/* Take the value after an attribute's "=", quoted or not. */
static struct tv_bytes html_take_attribute_value(struct tv_bytes *rest)
{
    uint8_t quote = rest->length > 0 ? rest->data[0] : 0;
    bool quoted = quote == '"' || quote == '\'';
    if (quoted)
        html_skip_bytes(rest, 1);
    size_t i = 0;
    while (i < rest->length && rest->data[i] != (quoted ? quote : '>') &&
           (quoted || !html_is_space(rest->data[i])))
        i++;
    struct tv_bytes value = {rest->data, i};
    html_skip_bytes(rest, quoted && i < rest->length ? i + 1 : i);
    return value;
}

/* Take one attribute: a name, and "=" with a value if there is one. Return false at the end of
 * the tag, or when its end is not within the bytes. */
static bool html_take_attribute(struct tv_bytes *rest, struct tv_bytes *name,
                                struct tv_bytes *value)
{
    size_t i = 1;
    while (rest->length > 0 && (html_is_space(rest->data[0]) || rest->data[0] == '/'))
        html_skip_bytes(rest, 1);
    if (rest->length == 0 || rest->data[0] == '>')
        return false;
    while (i < rest->length && !html_ends_tag_name(rest->data[i]) && rest->data[i] != '=')
        i++;
    *name = (struct tv_bytes){rest->data, i};
    *value = (struct tv_bytes){rest->data, 0};
    html_skip_bytes(rest, i);
    struct tv_bytes after = html_skip_spaces(*rest);
    if (after.length == 0 || after.data[0] != '=')
        return true;
    *rest = html_skip_spaces(html_bytes_from(after, 1));
    *value = html_take_attribute_value(rest);
    return true;
}

/* Parse the tag whose "<script" begins the bytes. Return false when its end is not within the
 * bytes. */
static bool html_read_tag(struct tv_bytes bytes, struct html_script_tag *tag)
{
    struct tv_bytes rest = html_bytes_from(bytes, sizeof "<script" - 1), name, value;
    *tag = (struct html_script_tag){.length = 0};
    while (html_take_attribute(&rest, &name, &value)) {
        /* Browsers take the first of two attributes with one name. */
        if (name.length == 5 && html_begins_with(name, "class") && !tag->class_name.data)
            tag->class_name = value;
        else if (name.length == 2 && html_begins_with(name, "id") && !tag->id.data)
            tag->id = value;
        else if (name.length == 7 && html_begins_with(name, "data-of") && !tag->data_of.data)
            tag->data_of = value;
        else if (name.length == 3 && html_begins_with(name, "src"))
            tag->has_src = true;
    }
    tag->length = (size_t)(rest.data - bytes.data) + 1;
    return rest.length > 0;
}

/* Return true when a list of words separated by spaces contains `word`. */
static bool html_has_word(struct tv_bytes list, const char *word)
{
    size_t length = strlen(word);
    while ((list = html_skip_spaces(list)).length > 0) {
        size_t i = 0;
        while (i < list.length && !html_is_space(list.data[i]))
            i++;
        if (i == length && html_begins_with(list, word))
            return true;
        list = html_bytes_from(list, i);
    }
    return false;
}

/* ---- The content of a script ---- */

static bool html_is_base64_digit(uint8_t c)
{
    return (html_lower_case(c) >= 'a' && html_lower_case(c) <= 'z') || (c >= '0' && c <= '9') ||
           c == '+' || c == '/' || c == '=';
}

/* Base64 consists of digits only, one word a line, up to the end of the body. No trace in plain
 * text begins like that. */
static bool html_looks_like_base64(struct tv_bytes body)
{
    size_t digits = 0;
    bool word = false, gap = false;
    for (size_t i = 0; i < body.length && !html_is_tag(html_bytes_from(body, i), "</script"); i++) {
        uint8_t c = body.data[i];
        bool digit = html_is_base64_digit(c);
        if ((!digit && !html_is_space(c)) || (digit && gap))
            return false;
        digits += digit;
        gap = word && html_is_blank(c);
        word = c != '\n' && (word || digit);
    }
    return digits >= 4;
}

static bool html_take_word(struct tv_bytes *bytes, const char *word)
{
    if (!html_begins_with(*bytes, word))
        return false;
    *bytes = html_bytes_from(*bytes, strlen(word));
    return true;
}

/* Skip a comment or 'use strict' in front of the string. */
static bool html_skip_script_line(struct tv_bytes *body)
{
    if (html_begins_with(*body, "/*")) {
        for (size_t i = 2; i + 2 <= body->length; i++)
            if (memcmp(body->data + i, "*/", 2) == 0) {
                *body = html_bytes_from(*body, i + 2);
                return true;
            }
        return false;
    }
    if (!html_begins_with(*body, "//") && !html_begins_with(*body, "'use strict'") &&
        !html_begins_with(*body, "\"use strict\""))
        return false;
    const uint8_t *newline = memchr(body->data, '\n', body->length);
    *body = html_bytes_from(*body, newline ? (size_t)(newline - body->data) + 1 : body->length);
    return true;
}

/* Return true when a script begins with `var linuxPerfData = "`; *length then counts the bytes
 * up to and including the quote. */
static bool html_begins_perf_string(struct tv_bytes body, size_t *length)
{
    struct tv_bytes rest = html_skip_spaces(body);
    while (html_skip_script_line(&rest))
        rest = html_skip_spaces(rest);
    if (html_take_word(&rest, "var "))
        rest = html_skip_spaces(rest);
    /* html_begins_with() ignores case, so compare the capitals of the name first. */
    if (!tv_bytes_starts_with(rest, TV_BYTES("linuxPerfData")) ||
        !html_take_word(&rest, "linuxperfdata"))
        return false;
    rest = html_skip_spaces(rest);
    if (!html_take_word(&rest, "="))
        return false;
    rest = html_skip_spaces(rest);
    if (!html_take_word(&rest, "\""))
        return false;
    *length = (size_t)(rest.data - body.data);
    return true;
}

/* Return the size of the blank lines in front of a plain text. */
static size_t html_measure_blank_lines(struct tv_bytes body)
{
    size_t lines = 0;
    for (size_t i = 0; i < body.length && html_is_space(body.data[i]); i++)
        if (body.data[i] == '\n')
            lines = i + 1;
    return lines;
}

/* Recognise a block that `traceview html` wrote, and set its role, file and form. */
static bool html_is_report_block(const struct html_script_tag *tag, struct tv_html_block *block)
{
    uint64_t number;
    if (tv_bytes_equal(tag->data_of, TV_BYTES("manifest"))) {
        block->role = TV_HTML_MANIFEST;
        return true;
    }
    if (!tv_bytes_starts_with(tag->data_of, TV_BYTES("file")) ||
        !tv_parse_u64(html_bytes_from(tag->data_of, 4), &number) || number >= TV_NONE)
        return false;
    block->role = TV_HTML_PIECE;
    block->form = TV_HTML_BASE64;
    block->file = (uint32_t)number;
    return true;
}

/* Recognise a script that is a trace, or a part of one, and set block->start, role and form. */
static bool html_is_trace_script(const struct html_script_tag *tag, struct tv_bytes body,
                                 struct tv_html_block *block)
{
    if (html_is_report_block(tag, block))
        return true;
    bool viewer_data = html_has_word(tag->id, "viewer-data");
    size_t skipped = 0;
    if (viewer_data || html_has_word(tag->class_name, "trace-data")) {
        block->form = html_looks_like_base64(body) ? TV_HTML_BASE64 : TV_HTML_TEXT;
        skipped = block->form == TV_HTML_TEXT ? html_measure_blank_lines(body) : 0;
    } else if (!tag->has_src && html_begins_perf_string(body, &skipped)) {
        block->form = TV_HTML_STRING;
    } else {
        return false;
    }
    block->start += skipped;
    return true;
}

/* Advance to the "</script" that ends a script without a trace. As in browsers, one inside "<!--
 * <script" does not end it. */
static enum tv_status html_leave_script(struct tv_html_scan *scan, struct tv_error *err)
{
    bool comment = false, inner = false;
    for (;;) {
        enum html_token token;
        unsigned wanted = 1u << TOKEN_SCRIPT_END;
        wanted |= comment ? 1u << TOKEN_COMMENT_END | 1u << TOKEN_SCRIPT : 1u << TOKEN_COMMENT;
        enum tv_status status = html_find_token(scan, wanted, &token, err);
        if (status != TV_OK || token == TOKEN_NONE || (token == TOKEN_SCRIPT_END && !inner))
            return status;
        if (token == TOKEN_COMMENT)
            comment = true;
        else if (token == TOKEN_COMMENT_END)
            comment = inner = false;
        else
            inner = token == TOKEN_SCRIPT;
        scan->offset += token == TOKEN_COMMENT ? 2 : 1; /* two bytes only, because "<!-->" is a
                                                         * complete comment */
    }
}

/* Drop the blanks in front of the end tag; they are not a line of the trace. */
static enum tv_status html_trim_script_end(struct tv_html_scan *scan, struct tv_html_block *block,
                                           struct tv_error *err)
{
    uint64_t start =
        block->end - block->start > LONGEST_END ? block->end - LONGEST_END : block->start;
    struct tv_bytes bytes;
    enum tv_status status =
        tv_window_at(&scan->window, start, (size_t)(block->end - start), &bytes, err);
    assert(block->start <= block->end);
    if (status != TV_OK || bytes.length < block->end - start)
        return status;
    while (block->end > start && html_is_blank(bytes.data[block->end - start - 1]))
        block->end--;
    return TV_OK;
}

/* Pass the script that begins at scan->offset. Set `block` when it is a trace. */
static enum tv_status html_pass_script(struct tv_html_scan *scan, struct tv_html_block *block,
                                       bool *found, struct tv_error *err)
{
    struct tv_bytes bytes;
    struct html_script_tag tag;
    enum html_token token;
    *found = false;
    enum tv_status status =
        tv_window_at(&scan->window, scan->offset, LONGEST_TAG + LOOK, &bytes, err);
    if (status != TV_OK)
        return status;
    if (bytes.length > LONGEST_TAG + LOOK)
        bytes.length = LONGEST_TAG + LOOK;
    if (!html_read_tag(bytes, &tag) || tag.length > LONGEST_TAG) {
        scan->offset++;
        return TV_OK;
    }
    *block = (struct tv_html_block){.start = scan->offset + tag.length};
    *found = html_is_trace_script(&tag, html_bytes_from(bytes, tag.length), block);
    scan->offset += tag.length;
    if (!*found)
        return html_leave_script(scan, err);
    status = html_find_token(scan, 1u << TOKEN_SCRIPT_END, &token, err);
    block->end = scan->offset;
    block->open = token == TOKEN_NONE;
    if (block->start > block->end)
        block->start = block->end;
    return status == TV_OK ? html_trim_script_end(scan, block, err) : status;
}

enum tv_status tv_html_scan_next(struct tv_html_scan *scan, struct tv_html_block *block, bool *none,
                                 struct tv_error *err)
{
    bool found = false;
    *none = false;
    while (!found && !*none) {
        enum html_token token;
        enum tv_status status =
            html_find_token(scan, 1u << TOKEN_COMMENT | 1u << TOKEN_SCRIPT, &token, err);
        if (status == TV_OK && token == TOKEN_SCRIPT) {
            status = html_pass_script(scan, block, &found, err);
        } else if (status == TV_OK && token == TOKEN_COMMENT) {
            scan->offset += 2; /* two bytes only, because "<!-->" is a complete comment */
            status = html_find_token(scan, 1u << TOKEN_COMMENT_END, &token, err);
        }
        if (status != TV_OK)
            return status;
        *none = token == TOKEN_NONE && !found;
    }
    return TV_OK;
}
