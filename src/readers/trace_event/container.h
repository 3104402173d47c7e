/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.h - the text around the events, and reading the list of events in parallel.
 *
 *     container   an array, an object with its members in any order, or JSON lines
 *     lists       all event lists of the file, each cut into chunks that worker threads read
 *     list        the reader of one chunk: it separates the elements and resumes after damage
 *
 * The chunk boundaries are guesses; event_list.c explains how they are verified.
 */
#ifndef TV_READERS_TRACE_EVENT_CONTAINER_H
#define TV_READERS_TRACE_EVENT_CONTAINER_H

#include "base/memory.h"
#include "base/progress.h"
#include "readers/reader.h"
#include "readers/trace_event/chunk.h"

/* ---- One chunk of an event list ---- */

/* Why the reading of a chunk ended. */
enum tv_te_list_end {
    TV_TE_LIST_REACHED, /* the next event begins at or after `end` */
    TV_TE_LIST_CLOSED,  /* ']' */
    TV_TE_LIST_RAN_OUT, /* the file ends */
    TV_TE_LIST_STRAYED, /* the text is broken and nothing like an event follows */
};

/* An event as the text visitors see it. */
struct tv_te_list_event {
    struct tv_te_fields *fields;
    struct tv_bytes text; /* from '{' to '}' */
    uint64_t offset;
};

struct tv_te_top_member;

/* Callbacks for one serial pass over the text of a file. */
struct tv_te_visitor {
    bool text_only; /* skip "{}" and do not collect the events in the chunk, only count them */
    /* Called for each event, in the order of the file. */
    void (*event)(void *context, const struct tv_te_list_event *event);
    /* Called for each member that is not an event list, in the order of the file, except that
     * members in front of the events come when the events begin.  These members do not stay in the
     * container.  NULL: they do. */
    enum tv_status (*member)(void *context, const struct tv_te_top_member *member,
                             struct tv_error *err);
    void *context;
};

/* The reader of one chunk. */
struct tv_te_list {
    struct tv_source *source;
    const struct tv_te_visitor *visitor; /* or NULL */
    struct tv_progress *progress;        /* or NULL */
    bool lines;                          /* JSON lines: no brackets, no commas */
    uint64_t start;                      /* start of the first element, or white space before it */
    uint64_t end;                        /* events from here on belong to the next chunk */
    uint64_t at;                         /* everything before is read */
    enum tv_te_list_end ended;
    bool clean; /* nothing broken, one comma at the stitch: a reader that starts at `at` with no
                   knowledge of this chunk reads the rest in the same way */
    struct tv_te_chunk chunk;
    /* The state of the reader: */
    struct tv_window window;
    struct tv_te_fields fields; /* of the current event */
    unsigned commas;            /* since the last element */
    bool fresh;                 /* no comma is due: the list or the text after damage begins */
    bool comment;               /* there was a comment since the last element */
    uint64_t wasted;            /* bytes searched in vain for the ends of events */
    enum tv_status status;
    struct tv_error error;
};

void tv_te_list_init(struct tv_te_list *list, struct tv_source *source, uint64_t start,
                     uint64_t end);
void tv_te_list_release(struct tv_te_list *list);

/* Read from list->at to list->end, or to what ends the list before.  The caller may raise list->end
 * and call again. */
enum tv_status tv_te_list_read(struct tv_te_list *list);

/* Set *start to the next place at or after `from` that looks like the begin of an event;
 * TV_NO_OFFSET when there is none nearby. */
enum tv_status tv_te_list_guess(struct tv_window *window, uint64_t from, uint64_t *start,
                                struct tv_error *err) TV_MUST_CHECK;

/* Mark some of a block's events in a sketch, without what precedes the block: the reader's
 * `sketch_block`. */
void tv_te_block_sketch(struct tv_bytes block, struct tv_sketch *sketch, void **notes);

/* Fail with TV_ERR_CANCELLED when the user asked to stop.  `progress` may be NULL. */
enum tv_status tv_te_check_cancelled(struct tv_progress *progress,
                                     struct tv_error *err) TV_MUST_CHECK;

/* ---- All event lists of a file ---- */

/* The chunks of all lists, in the order of the file. */
struct tv_te_lists {
    struct tv_te_list **rows;
    size_t count, capacity;
    const struct tv_te_visitor *visitor; /* or NULL; with a visitor there is one chunk a list */
    bool lines;                          /* the next list is JSON lines */
};

void tv_te_lists_release(struct tv_te_lists *lists);

/* Read a list whose elements begin at `start`.  *last is its last chunk, which knows where and how
 * the list ended. */
enum tv_status tv_te_lists_read(struct tv_te_lists *lists, struct tv_source *source, uint64_t start,
                                const struct tv_read_options *options,
                                const struct tv_te_list **last, struct tv_error *err) TV_MUST_CHECK;

/* ---- The container ---- */

/* A member of the outermost object that is not an event list. */
struct tv_te_top_member {
    char *key; /* raw text, in the arena of the container */
    size_t key_length;
    struct tv_te_extent value;
};

struct tv_te_container {
    struct tv_te_lists lists; /* read */
    struct tv_te_top_member *members;
    size_t member_count, member_capacity;
    struct tv_arena keys;
    struct tv_diagnostics diagnostics;
};

/* Read the whole source.  Release the container after a failure, too. */
enum tv_status tv_te_container_read(struct tv_te_container *container, struct tv_source *source,
                                    const struct tv_read_options *options,
                                    struct tv_error *err) TV_MUST_CHECK;

/* As above, serially, and call the visitor. */
enum tv_status tv_te_container_visit(struct tv_te_container *container, struct tv_source *source,
                                     const struct tv_te_visitor *visitor,
                                     struct tv_error *err) TV_MUST_CHECK;
void tv_te_container_release(struct tv_te_container *container);

/* Return how likely the first bytes of a file are those of a Trace Event file, 0 to 100. */
int tv_te_container_sniff(struct tv_bytes head);

#endif
