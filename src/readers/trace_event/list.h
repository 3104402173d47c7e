/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - walking over the list of events, or over a stretch of it.
 *
 * Elements are separated by commas, or stand one a line.  What is no event is skipped and counted;
 * where the text is broken, reading goes on at the next thing that looks like an event.
 */
#ifndef TV_READERS_TRACE_EVENT_LIST_H
#define TV_READERS_TRACE_EVENT_LIST_H

#include "base/out.h"
#include "base/progress.h"
#include "readers/trace_event/part.h"

enum tv_te_list_end {
    TV_TE_LIST_REACHED, /* the next event begins at or behind `end` */
    TV_TE_LIST_CLOSED,  /* ']' */
    TV_TE_LIST_RAN_OUT, /* the bytes end */
    TV_TE_LIST_STRAYED, /* gave up: nothing like an event follows */
};

/* An event as it is copied. */
struct tv_te_list_event {
    struct tv_te_fields *fields;
    struct tv_bytes text; /* from '{' to '}' */
    uint64_t offset;
};

struct tv_te_top_member;

/* Where the text of each event goes as strict JSON, with commas between. */
struct tv_te_copy {
    struct tv_out *out;
    uint64_t count;
    bool alone; /* nothing else becomes of the events, and "{}" is none: their chunk stays empty */
    /* Whether the event goes there; NULL: each does. */
    bool (*wanted)(void *context, const struct tv_te_list_event *event);
    /* What stands beside the events, in the order of the file; but what stands before them comes
     * when they begin.  It is in no list then.  NULL: nobody asks. */
    enum tv_status (*beside)(void *context, const struct tv_te_top_member *member,
                             struct tv_error *err);
    void *context;
};

struct tv_te_list {
    struct tv_source *source;
    struct tv_te_copy *copy;      /* or NULL */
    struct tv_progress *progress; /* or NULL */
    bool lines;                   /* JSON lines: no brackets around, no commas between */
    uint64_t start;               /* where the first element, or white space before it, begins */
    uint64_t end;                 /* events from here on belong to somebody else */
    uint64_t at;                  /* behind what was read */
    enum tv_te_list_end ended;
    bool clean; /* what was read tells nothing on how to read the rest: one comma, nothing broken */
    struct tv_te_chunk chunk;
    /* Its own: */
    struct tv_window window;
    struct tv_te_fields fields; /* of the event at hand */
    unsigned commas;            /* since the last element */
    bool fresh;                 /* no element before that could want a comma */
    bool comment;               /* there was one since the last element */
    uint64_t wasted;            /* bytes that were looked at for the end of events that have none */
    enum tv_status status;
    struct tv_error error;
};

void tv_te_list_init(struct tv_te_list *list, struct tv_source *source, uint64_t start,
                     uint64_t end);
void tv_te_list_release(struct tv_te_list *list);

/* Reads from list->at to list->end or whatever ends it before. Can go on with a greater end. */
enum tv_status tv_te_list_read(struct tv_te_list *list);

/* Where the next thing that looks like an event begins, at or behind `from`; TV_NO_OFFSET: nowhere
 * near. */
enum tv_status tv_te_list_guess(struct tv_window *window, uint64_t from, uint64_t *start,
                                struct tv_error *err) TV_MUST_CHECK;

#endif
