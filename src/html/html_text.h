/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_text.h - the decoded text of a trace in an HTML page. The trace is in one block, or in
 * several consecutive blocks of one file.
 */
#ifndef TV_UNPACK_HTML_TEXT_H
#define TV_UNPACK_HTML_TEXT_H

#include "base/base64.h"
#include "html/html_blocks.h"

/* Reads a decoded text in order. The decoded text is never longer than its blocks. */
struct tv_html_text {
    struct tv_window window;
    const struct tv_html_block *next; /* the next block; `left` blocks have not been started */
    size_t left;
    uint64_t at, end;
    enum tv_html_form form;
    struct tv_base64 base64;
    bool damaged; /* the text stopped at a character that is not base64 */
};

/* Start at the first of `count` blocks (at least one), which must outlive the text. */
void tv_html_text_init(struct tv_html_text *text, struct tv_source *source,
                       const struct tv_html_block *blocks, size_t count);
void tv_html_text_release(struct tv_html_text *text);

/* Fill up to `size` (at least 64) bytes; *got is 0 only at the end. */
enum tv_status tv_html_text_read(struct tv_html_text *text, uint8_t *buffer, size_t size,
                                 size_t *got, struct tv_error *err) TV_MUST_CHECK;

#endif
