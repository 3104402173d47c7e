/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/html.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "html/html_text.h"

bool tv_html_knows(struct tv_bytes head)
{
    return tv_html_begins(head);
}

struct blocks {
    struct tv_html_block *rows;
    size_t count, capacity;
};

static enum tv_status find_blocks(struct tv_source *packed, struct blocks *blocks,
                                  struct tv_error *err)
{
    struct tv_html_scan scan;
    struct tv_html_block block;
    enum tv_status status;
    bool none = false;
    tv_html_scan_init(&scan, packed);
    while ((status = tv_html_scan_next(&scan, &block, &none, err)) == TV_OK && !none) {
        if (blocks->count == TV_UNPACK_LOOKS) {
            status = tv_fail(err, TV_ERR_LIMIT, block.start, TV_UNPACK_TOO_MANY, TV_UNPACK_MEMBERS,
                             TV_UNPACK_LOOKS);
            break;
        }
        blocks->rows = tv_array_reserve(blocks->rows, &blocks->capacity, blocks->count + 1,
                                        sizeof *blocks->rows);
        blocks->rows[blocks->count++] = block;
    }
    tv_html_scan_release(&scan);
    return status;
}

/* As tv_member.read. */
static enum tv_status read_block(void *context, uint8_t *buffer, size_t size, size_t *got,
                                 struct tv_error *err)
{
    struct tv_html_text *text = context;
    size_t more;
    *got = 0;
    do {
        /* What decoding wants at least is little beside what members are read by. */
        if (size - *got < 64)
            break;
        enum tv_status status = tv_html_text_read(text, buffer + *got, size - *got, &more, err);
        if (status != TV_OK)
            return status;
        *got += more;
    } while (more > 0);
    return TV_OK;
}

/* "page.html: block 2"; of the only one the page's own name. */
static enum tv_status take_block(struct tv_taking *taking, struct tv_source *packed,
                                 const struct blocks *blocks, size_t index, bool *cut_off,
                                 struct tv_error *err)
{
    const struct tv_html_block *block = &blocks->rows[index];
    char name[1024];
    struct tv_html_text text;
    struct tv_member member = {name, read_block, &text};
    struct tv_plain_member plain = {name, packed, block->start, block->end};
    bool taken;
    if (blocks->count == 1)
        snprintf(name, sizeof name, "%s", tv_source_name(packed));
    else
        snprintf(name, sizeof name, "%s: block %zu", tv_source_name(packed), index + 1);
    tv_html_text_init(&text, packed, block);
    enum tv_status status = block->form == TV_HTML_TEXT
                                ? tv_taking_add_plain(taking, &plain, &taken, err)
                                : tv_taking_add(taking, &member, &taken, err);
    if (status == TV_OK && !taken && block->end > block->start)
        tv_taking_note(taking,
                       "block %zu, %" PRIu64 " bytes at byte %" PRIu64
                       ", is of no known format: left out",
                       index + 1, block->end - block->start, block->start);
    *cut_off = *cut_off || block->open || text.damaged;
    tv_html_text_release(&text);
    return status;
}

enum tv_status tv_html_unpack(struct tv_taking *taking, struct tv_source *packed, bool *cut_off,
                              struct tv_error *err)
{
    struct blocks blocks = {NULL, 0, 0};
    enum tv_status status = find_blocks(packed, &blocks, err);
    for (size_t i = 0; status == TV_OK && i < blocks.count; i++)
        status = take_block(taking, packed, &blocks, i, cut_off, err);
    tv_free(blocks.rows);
    return status;
}
