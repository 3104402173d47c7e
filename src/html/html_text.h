/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_text.h - the text of a trace in an HTML page, decoded: of one block, or of those that are
 * pieces of one file.
 */
#ifndef TV_UNPACK_HTML_TEXT_H
#define TV_UNPACK_HTML_TEXT_H

#include "base/encoding.h"
#include "html/html_blocks.h"

/* Never longer than its blocks. */
struct tv_html_text {
    struct tv_window window;
    const struct tv_html_block *next; /* block, of `left` that are not begun */
    size_t left;
    uint64_t at, end;
    enum tv_html_form form;
    struct tv_base64 base64;
    bool damaged; /* characters that are none of base64: it ends there */
};

/* Of `count` blocks, at least one, which stay where they are. */
void tv_html_text_init(struct tv_html_text *text, struct tv_source *source,
                       const struct tv_html_block *blocks, size_t count);
void tv_html_text_release(struct tv_html_text *text);

/* Fills up to `size` (at least 64) bytes; *got is 0 only at the end. */
enum tv_status tv_html_text_read(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                 size_t *got, struct tv_error *err) TV_MUST_CHECK;

#endif
