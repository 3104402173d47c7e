/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_blocks.h - where the traces are in an HTML page.
 *
 * A page is split as a browser does: text, comments, scripts.  Only the whole body of a script is
 * ever a trace:
 *
 *     <script class="trace-data" ...>   systrace.py since 2014: plain text
 *     <script id="viewer-data" ...>     trace2html, Telemetry: base64 of gzip or zip; or plain text
 *     <script> var linuxPerfData = "    systrace.py before: a JavaScript string, a line a line
 *     <script data-of="file0" ...>      `traceview html` (src/report): a piece of a file, base64 of
 *                                       gzip; data-of="manifest" lists the files, as JSON
 *
 * So what the page's own scripts contain is never taken for data: those of the viewer hold all of
 * these words.
 */
#ifndef TV_UNPACK_HTML_BLOCKS_H
#define TV_UNPACK_HTML_BLOCKS_H

#include "base/source.h"

enum tv_html_form {
    TV_HTML_TEXT,
    TV_HTML_BASE64,
    TV_HTML_STRING, /* a JavaScript string, from behind its opening quote */
};

/* The part that a block plays in its page. */
enum tv_html_role {
    TV_HTML_WHOLE, /* a trace of its own */
    TV_HTML_PIECE, /* a part of a file of a report; the blocks of one file are consecutive */
    TV_HTML_MANIFEST,
};

struct tv_html_block {
    uint64_t start, end;
    enum tv_html_form form;
    enum tv_html_role role;
    uint32_t file; /* TV_HTML_PIECE: the number of its file in the report */
    bool open;     /* the page ends inside the block */
};

/* Return true when these first bytes begin an HTML page. */
bool tv_html_begins(struct tv_bytes head);

struct tv_html_scan {
    struct tv_window window;
    uint64_t offset;
};

void tv_html_scan_init(struct tv_html_scan *scan, struct tv_source *source);
void tv_html_scan_release(struct tv_html_scan *scan);

/* Find the next block; *none is set when there are no more. */
enum tv_status tv_html_scan_next(struct tv_html_scan *scan, struct tv_html_block *block, bool *none,
                                 struct tv_error *err) TV_MUST_CHECK;

#endif
