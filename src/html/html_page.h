/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_page.h - the traces in an HTML page: the blocks that contain them, what a report lists about
 * its files, and the decoded text of a trace.
 *
 * A page is split as a browser splits it: text, comments, scripts. Only the whole body of a script
 * can be a trace, so that the scripts of a viewer, which contain all of these words, never match:
 *
 *     <script class="trace-data" ...>   systrace.py since 2014: plain text
 *     <script id="viewer-data" ...>     trace2html, Telemetry: base64 of gzip or zip; or plain text
 *     <script> var linuxPerfData = "    systrace.py before: a JavaScript string, a line a line
 *     <script data-of="file0" ...>      `traceview html` (src/report): a part of a file, base64 of
 *                                       gzip; data-of="manifest" lists the files, as JSON
 *
 * The page is hostile input: listed texts lose their control characters, and listed numbers are
 * checked against their limits.
 */
#ifndef TV_HTML_HTML_PAGE_H
#define TV_HTML_HTML_PAGE_H

#include "base/encoding.h"
#include "base/source.h"

enum tv_html_form {
    TV_HTML_TEXT,
    TV_HTML_BASE64,
    TV_HTML_STRING, /* a JavaScript string, starting after its opening quote */
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

/* A scan of a page for its blocks. */
struct tv_html_scan {
    struct tv_window window;
    uint64_t offset;
};

void tv_html_scan_init(struct tv_html_scan *scan, struct tv_source *source);
void tv_html_scan_release(struct tv_html_scan *scan);

/* Find the next block; *none is set when there are no more. */
enum tv_status tv_html_scan_next(struct tv_html_scan *scan, struct tv_html_block *block, bool *none,
                                 struct tv_error *err) TV_MUST_CHECK;

/* ---- Traces: a page of systrace has one in each block, a report one in several blocks ---- */

/* Limit on the blocks of a page. Only a page made to exhaust memory has more. */
#define TV_HTML_MAX_BLOCKS 65536

/* Limit on the size of a report's list of files, in bytes. */
#define TV_HTML_LONGEST_MANIFEST ((size_t)1024 * 1024)

struct tv_html_trace {
    const struct tv_html_block *blocks; /* the consecutive blocks that hold the trace */
    size_t count;
    const char *name; /* the name that a report lists for the file; "" when there is none */
    uint32_t machine; /* files with the same number come from the same machine; 0, or less than
                       * `listed_count` */
    tv_ns offset;     /* nanoseconds to add to all times of the trace, within TV_MOVE_MAX */
};

struct tv_html_page {
    uint64_t size; /* size of the page, in bytes */
    struct tv_html_block *blocks;
    size_t block_count, block_capacity;
    struct tv_html_trace *traces;
    size_t count, capacity;
    /* Only in a report: */
    struct tv_html_listed *listed;
    size_t listed_count, listed_capacity;
    size_t missing; /* listed files that are not in the page, because the page is truncated */
    char *note;     /* sentences about what the report omits; or NULL */
};

/* Find all traces of the page. A report that is truncated before its first file is an error. The
 * caller releases the page in any case. */
enum tv_status tv_html_page_find(struct tv_html_page *page, struct tv_source *source,
                                 struct tv_error *err) TV_MUST_CHECK;
void tv_html_page_release(struct tv_html_page *page);

/* Return the size of the trace's blocks in bytes, still encoded. */
uint64_t tv_html_trace_bytes(const struct tv_html_trace *trace);

/* Call `say` for each remark about the page, a few words each: the report's own note, and where
 * the page is truncated. */
void tv_html_page_describe(const struct tv_html_page *page,
                           void (*say)(void *context, const char *text), void *context);

/* ---- Texts ---- */

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
