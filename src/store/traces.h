/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.h - what is known of the traces that are in the store, and changing it.
 *
 * Texts that come out lie in the arena that the caller gives and are valid UTF-8 without control
 * characters (a note has line ends and tabs), whatever somebody put in; facts are the engine's
 * bytes as they were.
 */
#ifndef TV_STORE_TRACES_H
#define TV_STORE_TRACES_H

#include "store/uploads.h"

struct tv_arena;

/* A note has at most so many bytes, facts so many. */
#define TV_STORE_NOTE ((size_t)16 * 1024)
#define TV_STORE_FACTS ((size_t)16 * 1024 * 1024)

/* So many processes of a trace are kept. */
#define TV_STORE_PROCESSES 256u

enum tv_store_state {
    TV_STORE_WAITING, /* for an engine to read it */
    TV_STORE_READING, /* an engine is at it; after a start it waits again */
    TV_STORE_READY,
    TV_STORE_UNREADABLE, /* "failed": the error says why */
};

struct tv_store_trace {
    struct tv_store_id id;
    const char *name;
    uint64_t bytes;
    int64_t uploaded_ms, seen_ms, expires_ms; /* seen, expires: may be TV_STORE_NEVER */
    bool pinned;
    const char *note;
    const char *const *labels;
    size_t label_count;

    /* What the engine found. */
    enum tv_store_state state;
    const char *error;     /* of TV_STORE_UNREADABLE, else NULL */
    uint64_t error_offset; /* or TV_NO_OFFSET */
    const char *remedy;    /* what one can do about the error, or NULL */
    const char *format;    /* NULL before it was read */
    const char *version;   /* of the format, or NULL */
    int64_t length_ns;     /* -1: not known */
    uint64_t events, calls;
    uint32_t warnings, findings;
    int64_t recorded_ms; /* or TV_STORE_NEVER */
    const char *const *processes;
    size_t process_count;
    struct tv_bytes facts; /* of tv_store_trace_get alone: the rest, as the engine gave it */
};

/* Everything of one trace. */
enum tv_store_status tv_store_trace_get(struct tv_store *store, const char *id,
                                        struct tv_arena *arena, struct tv_store_trace *trace,
                                        struct tv_error *err) TV_MUST_CHECK;

/* What somebody wants changed; NULL stays as it is. */
struct tv_store_change {
    const struct tv_bytes *name;   /* TV_STORE_INVALID: empty */
    const struct tv_bytes *note;   /* TV_STORE_INVALID: too long */
    const struct tv_bytes *labels; /* all of them, none when label_count is 0.  TV_STORE_INVALID: too
                                      many, too long, empty, not UTF-8 */
    size_t label_count;
    const bool *pinned;
};

/* Changes all of it or nothing. */
enum tv_store_status tv_store_trace_change(struct tv_store *store, const char *id,
                                           const struct tv_store_change *change,
                                           struct tv_error *err) TV_MUST_CHECK;

/* What an engine found out: takes the place of all it said before.  A long text is cut, processes
 * beyond TV_STORE_PROCESSES are passed over. */
struct tv_store_trace_facts {
    enum tv_store_state state;
    struct tv_bytes error, remedy; /* of TV_STORE_UNREADABLE */
    uint64_t error_offset;
    struct tv_bytes format, version; /* empty: not known */
    int64_t length_ns;               /* -1: not known */
    uint64_t events, calls;
    uint32_t warnings, findings;
    int64_t recorded_ms; /* or TV_STORE_NEVER */
    const struct tv_bytes *processes;
    size_t process_count;
    struct tv_bytes facts;
};

/* TV_STORE_INVALID: more facts than TV_STORE_FACTS.  Caches go when the catalogue has no room. */
enum tv_store_status tv_store_trace_set_facts(struct tv_store *store, const char *id,
                                              const struct tv_store_trace_facts *found,
                                              struct tv_error *err) TV_MUST_CHECK;

/* Changes the state alone: puts a trace back to wait, or has a waiting one read at once. */
enum tv_store_status tv_store_trace_set_state(struct tv_store *store, const char *id,
                                              enum tv_store_state state,
                                              struct tv_error *err) TV_MUST_CHECK;

/* The trace that is to be read next, which is TV_STORE_READING from now on: of the client of whom
 * the fewest are being read, the one that waits longest, where small ones have some advantage.
 * TV_STORE_NOT_FOUND: none waits. */
enum tv_store_status tv_store_trace_take_next(struct tv_store *store, struct tv_store_id *id,
                                         struct tv_error *err) TV_MUST_CHECK;

/* Notes that somebody looks at it now. */
enum tv_store_status tv_store_trace_touch(struct tv_store *store, const char *id, int64_t now_ms,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Forgets the trace, its original and its cache.  Who has them open reads on. */
enum tv_store_status tv_store_trace_delete(struct tv_store *store, const char *id,
                                           struct tv_error *err) TV_MUST_CHECK;

/*
 * search.h - the list of traces: those that fit a question, in an order, page by page.
 */

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
 * others out of the pages.  TV_STORE_INVALID: `after` is no end of a page in this order. */
enum tv_store_status tv_store_search(struct tv_store *store, const struct tv_store_query *query,
                                     struct tv_arena *arena, struct tv_store_page *page,
                                     struct tv_error *err) TV_MUST_CHECK;

#endif
