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

/* A page with more blocks was made to have them. */
#define TV_HTML_MOST_BLOCKS 65536

/* The list of a report's files is no longer. */
#define TV_HTML_LONGEST_MANIFEST ((size_t)1024 * 1024)

struct tv_html_trace {
    const struct tv_html_block *blocks; /* one behind the other */
    size_t count;
    const char *name; /* of a file of a report; "": it has none */
    uint32_t machine; /* those of one number are of one machine; 0, or less than `listed_count` */
    tv_ns offset;     /* to be added to its times, within TV_MOVE_MAX */
};

struct tv_html_page {
    uint64_t size; /* of the page */
    struct tv_html_block *blocks;
    size_t block_count, block_capacity;
    struct tv_html_trace *traces;
    size_t count, capacity;
    /* Of a report: */
    struct tv_html_listed *listed;
    size_t listed_count, listed_capacity;
    size_t missing; /* files that are listed and are not there: the page was cut off */
    char *note;     /* what it leaves out, in sentences; or NULL */
};

/* Finds them. A report that was cut off before the first of its files is an error.  The page is
 * released in any case. */
enum tv_status tv_html_page_find(struct tv_html_page *page, struct tv_source *source,
                                 struct tv_error *err) TV_MUST_CHECK;
void tv_html_page_release(struct tv_html_page *page);

/* Of all its blocks, as they stand there. */
uint64_t tv_html_trace_bytes(const struct tv_html_trace *trace);

/* Tells what is to be known of the page, a few words each. */
void tv_html_page_tell(const struct tv_html_page *page,
                       void (*say)(void *context, const char *text), void *context);

#endif
