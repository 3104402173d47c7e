/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - the list of traces: those that fit a question, in an order, page by page.
 */
#ifndef TV_STORE_SEARCH_H
#define TV_STORE_SEARCH_H

#include "store/traces.h"

/* A page has at most so many traces. */
#define TV_STORE_PAGE 500u

enum tv_store_sort {
    TV_STORE_BY_UPLOADED,
    TV_STORE_BY_NAME, /* whatever case; of digits each is compared for itself */
    TV_STORE_BY_BYTES,
    TV_STORE_BY_LENGTH, /* a length that is not known is the shortest */
};

/* Zeros are: all, by uploaded, the oldest first. */
struct tv_store_query {
    struct tv_bytes words;   /* each word stands in the name, a process, a label or the note */
    struct tv_bytes label;   /* has this label */
    struct tv_bytes process; /* a process' name holds this; case never counts */
    bool has_since, has_until;
    int64_t since_ms, until_ms; /* came at since or later, and before until */
    enum tv_store_sort sort;
    bool descending;
    uint32_t limit;        /* 0: 100; more than TV_STORE_PAGE is that */
    struct tv_bytes after; /* the end of the page before; empty: the first page */
};

struct tv_store_page {
    struct tv_store_trace *traces; /* without facts */
    size_t count;
    uint64_t total;    /* that fit, on all pages */
    const char *after; /* printable ASCII for the next page; NULL: this is the last one */
};

/* The page lies in the arena.  A trace that comes, goes or changes its place meanwhile shifts no
 * others out of the pages.  TV_STORE_BAD: `after` is no end of a page in this order. */
enum tv_store_status tv_store_search(struct tv_store *store, const struct tv_store_query *query,
                                     struct tv_arena *arena, struct tv_store_page *page,
                                     struct tv_error *err) TV_MUST_CHECK;

#endif
