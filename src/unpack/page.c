/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - an HTML page as a container of traces.
 */
#include "unpack/member.h"

#include <inttypes.h>
#include <stdio.h>

#include "html/html_page.h"

/* The read function of a tv_unpack_member. */
static enum tv_status page_read_text(void *context, uint8_t *buffer, size_t size, size_t *got,
                                     struct tv_error *err)
{
    struct tv_html_text *text = context;
    size_t more;
    *got = 0;
    do {
        /* Stop when less room is left than decoding needs; members are read in much larger
         * blocks. */
        if (size - *got < 64)
            break;
        enum tv_status status = tv_html_text_read(text, buffer + *got, size - *got, &more, err);
        if (status != TV_OK)
            return status;
        *got += more;
    } while (more > 0);
    return TV_OK;
}

/* Return the name of a trace within its page: "app.trace", or "block 2", which is written into
 * `room`. */
static const char *page_trace_name(const struct tv_html_trace *trace, size_t index, char room[32])
{
    if (trace->name[0] != '\0')
        return trace->name;
    snprintf(room, 32, "block %zu", index + 1);
    return room;
}

/* Make the name of the source: "report.html: app.trace"; the page's own name for an only trace
 * without a name. */
static void page_source_name(const struct tv_html_page *page, const char *called,
                             const char *container, char *name, size_t size)
{
    if (page->count == 1 && page->traces[0].name[0] == '\0')
        snprintf(name, size, "%s", container);
    else
        snprintf(name, size, "%s: %s", container, called);
}

/* Extract a trace of an HTML page.  Plain text is read in place; packed text becomes a member.  One
 * of no known format is noted and left out. */
static enum tv_status page_extract_trace(struct tv_extraction *extraction, struct tv_source *packed,
                                         const struct tv_html_page *page, size_t index,
                                         bool *cut_off, struct tv_error *err)
{
    const struct tv_html_trace *trace = &page->traces[index];
    const struct tv_html_block *last = &trace->blocks[trace->count - 1];
    uint64_t start = trace->blocks->start;
    char name[1024], room[32];
    const char *called = page_trace_name(trace, index, room);
    struct tv_html_text text;
    struct tv_unpack_member member = {.name = name, .read = page_read_text, .context = &text};
    struct tv_plain_member plain = {name, packed, start, last->end};
    bool taken;
    page_source_name(page, called, tv_source_name(packed), name, sizeof name);
    tv_html_text_init(&text, packed, trace->blocks, trace->count);
    enum tv_status status = trace->blocks->form == TV_HTML_TEXT
                                ? tv_extraction_add_plain(extraction, &plain, &taken, err)
                                : tv_extraction_add(extraction, &member, &taken, err);
    if (status == TV_OK && taken) {
        extraction->members[extraction->count - 1].machine = trace->machine;
        extraction->members[extraction->count - 1].offset = trace->offset;
    } else if (status == TV_OK && tv_html_trace_bytes(trace) > 0) {
        tv_extraction_note(extraction,
                           "%s, %" PRIu64 " bytes at byte %" PRIu64
                           ", is of no known format: left out",
                           called, tv_html_trace_bytes(trace), start);
    }
    if (text.damaged)
        tv_extraction_note(extraction, "%s is no base64 at byte %" PRIu64 ": it ends there", called,
                           text.at);
    *cut_off = *cut_off || last->open || text.damaged;
    tv_html_text_release(&text);
    return status;
}

static void page_forward_note(void *context, const char *text)
{
    const struct tv_extraction *extraction = context;
    if (extraction->question->note)
        extraction->question->note(extraction->question->context, text);
}

enum tv_status tv_html_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                              bool *cut_off, struct tv_error *err)
{
    struct tv_html_page page;
    enum tv_status status = tv_html_page_find(&page, packed, err);
    if (status == TV_OK) {
        tv_html_page_describe(&page, page_forward_note, extraction);
        *cut_off = page.missing > 0;
    }
    for (size_t i = 0; status == TV_OK && i < page.count; i++)
        status = page_extract_trace(extraction, packed, &page, i, cut_off, err);
    tv_html_page_release(&page);
    return status;
}
