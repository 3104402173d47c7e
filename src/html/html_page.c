/* SPDX-License-Identifier: Apache-2.0 */
#include "html/html_page.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/out.h"
#include "model/head.h"
#include "readers/json/json.h"
#include "readers/trace_event/values.h"

/* A file that the report's manifest lists. */
struct tv_html_listed {
    char *name;
    uint64_t machine;
    tv_ns offset;
    bool found;
};

static enum tv_status html_page_add_block(struct tv_html_page *page,
                                          const struct tv_html_block *block, struct tv_error *err)
{
    if (page->block_count == TV_HTML_MOST_BLOCKS)
        return tv_fail(err, TV_ERR_LIMIT, block->start, "a page with more than %d traces",
                       TV_HTML_MOST_BLOCKS);
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
    struct tv_bytes text = tv_te_is_string(raw) ? tv_te_text(raw, &scratch) : TV_BYTES("");
    char *taken = tv_alloc(text.length + 1, 1);
    memcpy(taken, text.data, text.length);
    for (size_t i = 0; i < text.length; i++)
        memset(taken + i, '?', tv_bytes_control((struct tv_bytes){text.data + i, text.length - i}));
    tv_te_scratch_release(&scratch);
    return taken;
}

static struct tv_html_listed html_page_read_listed(struct tv_bytes raw)
{
    struct tv_bytes offset = tv_json_find(raw, TV_BYTES("offset_ns")).raw;
    struct tv_html_listed file = {.name =
                                      html_page_copy_text(tv_json_find(raw, TV_BYTES("name")).raw)};
    if (!tv_parse_u64(tv_json_find(raw, TV_BYTES("machine")).raw, &file.machine))
        file.machine = UINT64_MAX;
    if (!tv_te_integer(offset, &file.offset) || file.offset > TV_MOVE_MAX ||
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
