/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.h - what is known about the traces in the store: reading, changing and searching it.
 *
 * Texts that are returned are in the caller's arena and are valid UTF-8 without control characters
 * (except line ends and tabs in a note), whatever was put in.  Facts are the engine's bytes,
 * unchanged.
 */
#ifndef TV_STORE_TRACES_H
#define TV_STORE_TRACES_H

#include "store/uploads.h"

struct tv_arena;

/* Maximum sizes of a note and of facts, in bytes. */
#define TV_STORE_NOTE ((size_t)16 * 1024)
#define TV_STORE_FACTS ((size_t)16 * 1024 * 1024)

/* Maximum number of processes of a trace that are stored. */
#define TV_STORE_PROCESSES 256u

enum tv_store_state {
    TV_STORE_WAITING, /* for an engine to read it */
    TV_STORE_READING, /* an engine reads it; WAITING again after a restart */
    TV_STORE_READY,
    TV_STORE_UNREADABLE, /* "failed": the error says why */
};

struct tv_store_trace {
    struct tv_store_id id;
    const char *name;
    uint64_t bytes;
    int64_t uploaded_ms, seen_ms, expires_ms; /* seen and expires may be TV_STORE_NEVER */
    bool pinned;
    const char *note;
    const char *const *labels;
    size_t label_count;

    /* From the engine. */
    enum tv_store_state state;
    const char *error;     /* error of TV_STORE_UNREADABLE, else NULL */
    uint64_t error_offset; /* or TV_NO_OFFSET */
    const char *remedy;    /* advice about the error, or NULL */
    const char *format;    /* NULL before it was read */
    const char *version;   /* of the format, or NULL */
    int64_t length_ns;     /* -1: not known */
    uint64_t events, calls;
    uint32_t warnings, findings;
    int64_t recorded_ms; /* or TV_STORE_NEVER */
    const char *const *processes;
    size_t process_count;
    struct tv_bytes facts; /* from tv_store_trace_get only: the rest, as the engine gave it */
};

/* Read everything about one trace. */
enum tv_store_status tv_store_trace_get(struct tv_store *store, const char *id,
                                        struct tv_arena *arena, struct tv_store_trace *trace,
                                        struct tv_error *err) TV_MUST_CHECK;

/* Changes by a user; NULL members stay as they are. */
struct tv_store_change {
    const struct tv_bytes *name;   /* TV_STORE_INVALID: empty */
    const struct tv_bytes *note;   /* TV_STORE_INVALID: too long */
    const struct tv_bytes *labels; /* replace all labels; none if label_count is 0.
                                      TV_STORE_INVALID: too many, too long, empty, not UTF-8 */
    size_t label_count;
    const bool *pinned;
};

/* Apply all changes, or none. */
enum tv_store_status tv_store_trace_change(struct tv_store *store, const char *id,
                                           const struct tv_store_change *change,
                                           struct tv_error *err) TV_MUST_CHECK;

/* Results of an engine.  Long texts are cut, and processes beyond TV_STORE_PROCESSES are ignored.
 */
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

/* Replace all earlier results of engines.  Caches are dropped if the catalogue has no space.
 * TV_STORE_INVALID: more facts than TV_STORE_FACTS. */
enum tv_store_status tv_store_trace_set_facts(struct tv_store *store, const char *id,
                                              const struct tv_store_trace_facts *facts,
                                              struct tv_error *err) TV_MUST_CHECK;

/* Change the state only: make a trace wait again, or mark a waiting one as being read. */
enum tv_store_status tv_store_trace_set_state(struct tv_store *store, const char *id,
                                              enum tv_store_state state,
                                              struct tv_error *err) TV_MUST_CHECK;

/* Take the next waiting trace, which becomes TV_STORE_READING.  The client of whom the fewest
 * traces are being read comes first; among its traces the oldest, with a bonus for small ones.
 * TV_STORE_NOT_FOUND: none waits. */
enum tv_store_status tv_store_trace_take_next(struct tv_store *store, struct tv_store_id *id,
                                              struct tv_error *err) TV_MUST_CHECK;

/* Note that somebody looks at the trace now. */
enum tv_store_status tv_store_trace_touch(struct tv_store *store, const char *id, int64_t now_ms,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Delete a trace, its original and its cache.  Descriptors that are open stay readable. */
enum tv_store_status tv_store_trace_delete(struct tv_store *store, const char *id,
                                           struct tv_error *err) TV_MUST_CHECK;

/* ---- Search (search.c) ---- */

/* Maximum number of traces on a page. */
#define TV_STORE_PAGE 500u

enum tv_store_sort {
    TV_STORE_BY_UPLOADED,
    TV_STORE_BY_NAME, /* ignores case; digits are compared one by one */
    TV_STORE_BY_BYTES,
    TV_STORE_BY_LENGTH, /* an unknown length is the shortest */
};

/* All zero: every trace, oldest upload first. */
struct tv_store_query {
    struct tv_bytes words;   /* each word must occur in the name, a process, a label or the note */
    struct tv_bytes label;   /* must have this label */
    struct tv_bytes process; /* must occur in the name of a process; case never matters */
    bool has_since, has_until;
    int64_t since_ms, until_ms; /* uploaded in [since, until) */
    enum tv_store_sort sort;
    bool descending;
    uint32_t limit;        /* 0: 100; at most TV_STORE_PAGE */
    struct tv_bytes after; /* cursor from the previous page; empty: the first page */
};

struct tv_store_page {
    struct tv_store_trace *traces; /* without facts */
    size_t count;
    uint64_t total; /* matches on all pages */
    const char
        *after; /* cursor for the next page, in printable ASCII; NULL: this is the last page */
};

/* Find a page of traces, which is in the arena.  Traces that appear, disappear or move meanwhile
 * do not shift others out of the pages.  TV_STORE_INVALID: `after` is not a cursor of this order.
 */
enum tv_store_status tv_store_search(struct tv_store *store, const struct tv_store_query *query,
                                     struct tv_arena *arena, struct tv_store_page *page,
                                     struct tv_error *err) TV_MUST_CHECK;

#endif
