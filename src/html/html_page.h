/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_page.h - all traces of an HTML page: a page of systrace and its kin has one in each of its
 * blocks, a report of `traceview html` has files, which stand in several blocks each.
 *
 * What a report lists of its files (names, machines, how far their times were moved) and what it
 * says that it leaves out is read too.  All of it is the page's word: texts are without control
 * characters and numbers within their limits, whatever stands there.
 */
#ifndef TV_HTML_HTML_PAGE_H
#define TV_HTML_HTML_PAGE_H

#include "html/html_blocks.h"

/* Limit on the blocks of a page. Only a page made to exhaust memory has more. */
#define TV_HTML_MOST_BLOCKS 65536

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
    uint64_t size; /* of the page, in bytes */
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

#endif
