/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_page.c - the traces of a page and their decoded texts.
 *
 * Blocks come from the scanner (html_blocks.c). Consecutive blocks of one file are a trace; the
 * manifest of a report adds names, machines and offsets. The second part decodes the blocks of a
 * trace as one text.
 *
 *     data-of="manifest"   {"note": "arguments are left out",
 *                           "files": [{"name": "a.trace", "machine": 0, "offset_ns": "-1500"}]}
 *     data-of="file0"      base64 \
 *     data-of="file0"      base64  > one text: the gzip file of files[0]
 *     data-of="file1"      base64    another trace
 *
 * An unusable number in the manifest becomes 0, and a file without an entry gets no name: a trace
 * in the page is never lost because of its description. src/report writes these pages;
 * src/unpack/page.c and the page's own engine read them.
 */
#include "html/html_page.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/trace_info.h"
#include "readers/json/json.h"
#include "readers/trace_event/text/values.h"

/* A file that the report's manifest lists. */
struct tv_html_listed {
    char *name;
    uint64_t machine; /* as listed; UINT64_MAX: missing or not a number */
    tv_ns offset;     /* to add to its times; 0 also if it is out of bounds */
    bool found;       /* a block of it is in the page */
};

static enum tv_status html_page_add_block(struct tv_html_page *page,
                                          const struct tv_html_block *block, struct tv_error *err)
{
    if (page->block_count == TV_HTML_MAX_BLOCKS)
        return tv_fail(err, TV_ERR_LIMIT, block->start, "a page with more than %d traces",
                       TV_HTML_MAX_BLOCKS);
    page->blocks = tv_array_reserve(page->blocks, &page->block_capacity, page->block_count + 1,
                                    sizeof *page->blocks);
    page->blocks[page->block_count++] = *block;
    return TV_OK;
}

/* Collect all blocks except the manifest. A second manifest is ignored. */
static enum tv_status html_page_find_blocks(struct tv_html_page *page, struct tv_source *source,
                                            struct tv_html_block *manifest, struct tv_error *err)
{
    struct tv_html_scan scan;
    struct tv_html_block block;
    enum tv_status status;
    bool none = false, has_manifest = false;
    tv_html_scan_init(&scan, source);
    while ((status = tv_html_scan_next(&scan, &block, &none, err)) == TV_OK && !none) {
        if (block.role != TV_HTML_MANIFEST) {
            status = html_page_add_block(page, &block, err);
            if (status != TV_OK)
                break;
        } else if (!has_manifest) {
            *manifest = block;
            has_manifest = true;
        }
    }
    tv_html_scan_release(&scan);
    return status;
}

/* ---- The manifest ---- */

/* Copy a JSON string. It may be printed on a terminal, so each byte of a control character
 * becomes '?'. */
static char *html_page_copy_text(struct tv_bytes raw)
{
    struct tv_te_scratch scratch = {0};
    struct tv_bytes text = tv_te_is_string(raw) ? tv_te_decode_text(raw, &scratch) : TV_BYTES("");
    char *taken = tv_alloc(text.length + 1, 1);
    memcpy(taken, text.data, text.length);
    for (size_t i = 0; i < text.length; i++)
        memset(taken + i, '?', tv_bytes_control((struct tv_bytes){text.data + i, text.length - i}));
    tv_te_scratch_release(&scratch);
    return taken;
}

/* Read one entry of "files". A wrong type or a missing key gives the default. */
static struct tv_html_listed html_page_read_listed(struct tv_bytes raw)
{
    struct tv_bytes offset = tv_json_find(raw, TV_BYTES("offset_ns")).raw;
    struct tv_html_listed file = {.name =
                                      html_page_copy_text(tv_json_find(raw, TV_BYTES("name")).raw)};
    if (!tv_parse_u64(tv_json_find(raw, TV_BYTES("machine")).raw, &file.machine))
        file.machine = UINT64_MAX;
    if (!tv_te_parse_integer(offset, &file.offset) || file.offset > TV_MOVE_MAX ||
        file.offset < -TV_MOVE_MAX)
        file.offset = 0;
    return file;
}

static void html_page_parse_manifest(struct tv_html_page *page, struct tv_bytes text)
{
    struct tv_json_cursor files = tv_json_items(tv_json_find(text, TV_BYTES("files")).raw);
    struct tv_bytes key, note = tv_json_find(text, TV_BYTES("note")).raw;
    struct tv_json_value value;
    while (tv_json_next(&files, &key, &value)) {
        page->listed = tv_array_reserve(page->listed, &page->listed_capacity,
                                        page->listed_count + 1, sizeof *page->listed);
        page->listed[page->listed_count++] = html_page_read_listed(value.raw);
    }
    if (tv_te_is_string(note))
        page->note = html_page_copy_text(note);
}

/* Read the list of files of a report. */
static enum tv_status html_page_read_manifest(struct tv_html_page *page, struct tv_source *source,
                                              const struct tv_html_block *block,
                                              struct tv_error *err)
{
    struct tv_window window;
    struct tv_bytes text;
    uint64_t length = block->end - block->start;
    if (length > TV_HTML_LONGEST_MANIFEST)
        return tv_fail(err, TV_ERR_LIMIT, block->start,
                       "a report with a list of files longer than %zu bytes",
                       TV_HTML_LONGEST_MANIFEST);
    if (length == 0)
        return TV_OK;
    tv_window_init(&window, source);
    enum tv_status status = tv_window_at(&window, block->start, (size_t)length, &text, err);
    if (status == TV_OK && text.length >= length)
        html_page_parse_manifest(page, (struct tv_bytes){text.data, (size_t)length});
    tv_window_release(&window);
    return status;
}

/* ---- The traces ---- */

/* Does the block continue the one before it in the array, which must exist? */
static bool html_page_continues_file(const struct tv_html_block *block)
{
    return block->role == TV_HTML_PIECE && block[-1].role == TV_HTML_PIECE &&
           block->file == block[-1].file;
}

/* Fill in what the report's manifest says about the file. Machines of a report are numbered from
 * 0, below the number of files; traces of other pages all have machine 0. */
static void html_page_apply_manifest(struct tv_html_page *page, struct tv_html_trace *trace)
{
    const struct tv_html_block *block = trace->blocks;
    if (block->role == TV_HTML_PIECE && block->file < page->listed_count) {
        struct tv_html_listed *listed = &page->listed[block->file];
        listed->found = true;
        trace->name = listed->name;
        trace->offset = listed->offset;
        trace->machine = listed->machine < page->listed_count ? (uint32_t)listed->machine : 0;
    }
}

/* Group the blocks into traces, and count the listed files that have none. */
static void html_page_find_traces(struct tv_html_page *page)
{
    for (size_t i = 0; i < page->block_count; i++) {
        const struct tv_html_block *block = &page->blocks[i];
        if (i > 0 && html_page_continues_file(block)) {
            page->traces[page->count - 1].count++;
            continue;
        }
        page->traces =
            tv_array_reserve(page->traces, &page->capacity, page->count + 1, sizeof *page->traces);
        struct tv_html_trace *trace = &page->traces[page->count++];
        *trace = (struct tv_html_trace){.blocks = block, .count = 1, .name = ""};
        html_page_apply_manifest(page, trace);
    }
    for (size_t i = 0; i < page->listed_count; i++)
        page->missing += !page->listed[i].found;
}

enum tv_status tv_html_page_find(struct tv_html_page *page, struct tv_source *source,
                                 struct tv_error *err)
{
    struct tv_html_block manifest = {0};
    *page = (struct tv_html_page){.size = tv_source_size(source)};
    enum tv_status status = html_page_find_blocks(page, source, &manifest, err);
    if (status == TV_OK)
        status = html_page_read_manifest(page, source, &manifest, err);
    if (status != TV_OK)
        return status;
    html_page_find_traces(page);
    if (page->count == 0 && page->missing > 0)
        return tv_fail(err, TV_ERR_SYNTAX, page->size,
                       "the report ends before the first of its files");
    return TV_OK;
}

void tv_html_page_release(struct tv_html_page *page)
{
    for (size_t i = 0; i < page->listed_count; i++)
        tv_free(page->listed[i].name);
    tv_free(page->listed);
    tv_free(page->note);
    tv_free(page->traces);
    tv_free(page->blocks);
}

uint64_t tv_html_trace_bytes(const struct tv_html_trace *trace)
{
    uint64_t bytes = 0;
    assert(trace->count > 0);
    for (size_t i = 0; i < trace->count; i++)
        bytes += trace->blocks[i].end - trace->blocks[i].start;
    return bytes;
}

/* Describe where a report is truncated; nothing when it is complete. */
static void html_page_describe_end(const struct tv_html_page *page, struct tv_out *out)
{
    const struct tv_html_trace *last = page->count > 0 ? &page->traces[page->count - 1] : NULL;
    const struct tv_html_block *block = last ? &last->blocks[last->count - 1] : NULL;
    bool within = block && block->open && block->role == TV_HTML_PIECE;
    if (!within && page->missing == 0)
        return;
    tv_out_format(out, "the report ends at byte %" PRIu64, page->size);
    if (within) {
        tv_out_text(out, ", within ");
        tv_out_text(out, last->name[0] != '\0' ? last->name : "a file");
    }
    if (page->missing > 0) {
        tv_out_format(out, ", before %zu of its ", page->missing);
        tv_out_counted(out, page->listed_count, "file|files");
    }
}

void tv_html_page_describe(const struct tv_html_page *page,
                           void (*say)(void *context, const char *text), void *context)
{
    struct tv_out out;
    if (page->note) {
        tv_out_init_memory(&out);
        tv_out_text(&out, "the report says: ");
        tv_out_text(&out, page->note);
        tv_out_char(&out, '\0');
        say(context, (const char *)out.buffer);
        tv_out_release(&out);
    }
    tv_out_init_memory(&out);
    html_page_describe_end(page, &out);
    tv_out_char(&out, '\0');
    if (out.length > 1)
        say(context, (const char *)out.buffer);
    tv_out_release(&out);
}

/* Maximum number of bytes after the quote that ends a string: ";", line breaks, spaces. */
#define LONGEST_END ((size_t)64)

static bool html_text_is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

static void html_text_next_block(struct tv_html_text *text)
{
    const struct tv_html_block *block = text->next++;
    assert(text->left > 0);
    text->left--;
    text->at = block->start;
    text->end = block->end;
    text->form = block->form;
    text->base64 = (struct tv_base64){0};
}

void tv_html_text_init(struct tv_html_text *text, struct tv_source *source,
                       const struct tv_html_block *blocks, size_t count)
{
    assert(count > 0);
    *text = (struct tv_html_text){.next = blocks, .left = count};
    tv_window_init(&text->window, source);
    html_text_next_block(text);
}

void tv_html_text_release(struct tv_html_text *text)
{
    tv_window_release(&text->window);
}

/* Return up to `most` of the bytes that are left in the block, and at least `want` unless fewer
 * are left. */
static enum tv_status html_text_window(struct tv_html_text *text, size_t want, size_t most,
                                       struct tv_bytes *bytes, struct tv_error *err)
{
    uint64_t left = text->end - text->at;
    assert(text->at <= text->end);
    *bytes = (struct tv_bytes){NULL, 0};
    if (left == 0)
        return TV_OK;
    enum tv_status status =
        tv_window_at(&text->window, text->at, want < left ? want : (size_t)left, bytes, err);
    if (bytes->length > left)
        bytes->length = (size_t)left;
    if (bytes->length > most)
        bytes->length = most;
    return status;
}

static enum tv_status html_text_read_plain(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                           size_t *got, struct tv_error *err)
{
    struct tv_bytes bytes;
    enum tv_status status = html_text_window(text, 1, size, &bytes, err);
    if (status != TV_OK || bytes.length == 0)
        return status;
    memcpy(buffer, bytes.data, bytes.length);
    text->at += bytes.length;
    *got = bytes.length;
    return TV_OK;
}

/* Decode base64. Blocks may contain line breaks only, so that some input may decode to nothing;
 * continue until there is output. */
static enum tv_status html_text_read_base64(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                            size_t *got, struct tv_error *err)
{
    while (*got == 0 && text->at < text->end) {
        struct tv_bytes bytes;
        size_t used;
        enum tv_status status = html_text_window(text, 1, size, &bytes, err);
        if (status != TV_OK || bytes.length == 0)
            return status;
        *got = tv_base64_decode(&text->base64, bytes, buffer, &used);
        text->at += used;
        text->damaged = used < bytes.length;
        if (text->damaged)
            text->end = text->at;
    }
    return TV_OK;
}

/* Parse hexadecimal digits of either case. False: another letter. */
static bool html_text_parse_hex(struct tv_bytes digits, unsigned *code)
{
    *code = 0;
    for (size_t i = 0; i < digits.length; i++) {
        uint8_t c = digits.data[i];
        if (c >= '0' && c <= '9')
            *code = *code << 4 | (unsigned)(c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            *code = *code << 4 | (unsigned)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* Decode a backslash and what belongs to it into at most 3 bytes. Return the number of bytes
 * used. */
static size_t html_text_unescape(struct tv_bytes bytes, uint8_t *to, size_t *length)
{
    static const char letters[] = "nrtbfv0", meanings[] = "\n\r\t\b\f\v\0";
    unsigned code;
    if (bytes.length < 2)
        return bytes.length;
    uint8_t c = bytes.data[1];
    if (c == '\n' || c == '\r') { /* a backslash at the end of a line continues it */
        size_t used = 2;
        while (bytes.data[used - 1] == '\r' && used < bytes.length &&
               (bytes.data[used] == '\r' || bytes.data[used] == '\n'))
            used++;
        return used;
    }
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 0;
    if (digits > 0 && bytes.length >= 2 + digits &&
        html_text_parse_hex((struct tv_bytes){bytes.data + 2, digits}, &code)) {
        *length += tv_utf8_put(to + *length, code);
        return 2 + digits;
    }
    const char *letter = strchr(letters, c);
    to[(*length)++] = letter && c != '\0' ? (uint8_t)meanings[letter - letters] : c;
    return 2;
}

/* Return true when a quote ends the string: only ";" and blanks follow it in the script. Some
 * writers did not escape the quotes inside the string. */
static bool html_text_ends_string(struct tv_bytes bytes, uint64_t left)
{
    bool semicolon = false;
    if (left > LONGEST_END)
        return false;
    for (size_t i = 1; i < bytes.length; i++) {
        if (bytes.data[i] == ';' && !semicolon)
            semicolon = true;
        else if (!html_text_is_space(bytes.data[i]))
            return false;
    }
    return true;
}

/* Decode a JavaScript string. Each step writes at most 3 bytes, unless it copies a plain run. */
static enum tv_status html_text_read_string(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                            size_t *got, struct tv_error *err)
{
    while (*got + 3 <= size && text->at < text->end) {
        struct tv_bytes bytes;
        enum tv_status status = html_text_window(text, LONGEST_END, size, &bytes, err);
        if (status != TV_OK || bytes.length == 0)
            return status;
        size_t room = size - *got, plain = 0;
        while (plain < room && plain < bytes.length && bytes.data[plain] != '\\' &&
               bytes.data[plain] != '"')
            plain++;
        if (plain > 0) {
            memcpy(buffer + *got, bytes.data, plain);
            *got += plain;
            text->at += plain;
        } else if (bytes.data[0] == '\\') {
            text->at += html_text_unescape(bytes, buffer, got);
        } else if (html_text_ends_string(bytes, text->end - text->at)) {
            text->end = text->at;
        } else {
            buffer[(*got)++] = '"';
            text->at++;
        }
    }
    return TV_OK;
}

static enum tv_status html_text_read_block(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                           size_t *got, struct tv_error *err)
{
    if (text->form == TV_HTML_STRING)
        return html_text_read_string(text, buffer, size, got, err);
    return text->form == TV_HTML_BASE64 ? html_text_read_base64(text, buffer, size, got, err)
                                        : html_text_read_plain(text, buffer, size, got, err);
}

/* A damaged block ends the text: everything after it would be at a wrong place in the file. */
enum tv_status tv_html_text_read(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                 size_t *got, struct tv_error *err)
{
    assert(size >= 64);
    *got = 0;
    for (;;) {
        enum tv_status status = html_text_read_block(text, buffer, size, got, err);
        if (status != TV_OK || *got > 0 || text->left == 0 || text->damaged)
            return status;
        html_text_next_block(text);
    }
}
