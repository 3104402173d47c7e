/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - which trace lies open, which is being loaded to take its place, and the files they are
 * made of.
 *
 * The one that lies open stays until the next is there whole: whoever cancels the loading is back
 * where he was.  Everything here may be called from several threads at once.
 */
#ifndef TV_SERVER_DESK_H
#define TV_SERVER_DESK_H

#include "server/shelf.h"
#include "view/session.h"

/* A trace has at most so many files. */
#define TV_DESK_INPUTS 64u

/* One of the program's own files; they are opened first. */
struct tv_desk_file {
    const char *name;
    tv_ns offset;
};

struct tv_desk_options {
    struct tv_loader loader; /* its context lives until tv_desk_free has returned true */
    const struct tv_desk_file *files;
    size_t file_count;
    /* A loading has ended, in this state: EMPTY where it was cancelled.  Called by its thread. */
    void (*ended)(void *context, enum tv_session_state state, const struct tv_error *error);
    void *context;
};

struct tv_desk;

struct tv_desk *tv_desk_new(const struct tv_desk_options *options);

/* Begins to load the program's own files, if there are any. */
enum tv_status tv_desk_start(struct tv_desk *desk, struct tv_error *err) TV_MUST_CHECK;

/* Stops whatever is loading and gives everything back.  False when it cannot be stopped within so
 * long, for it waits for a pipe that says nothing: then it lives on in its thread. */
bool tv_desk_free(struct tv_desk *desk, unsigned timeout_ms) TV_MUST_CHECK;

/* The files; it is the desk's. */
struct tv_shelf *tv_desk_shelf(struct tv_desk *desk);

/* Which files, and by how much their times are moved. */
struct tv_desk_choice {
    uint32_t numbers[TV_DESK_INPUTS];
    tv_ns offsets[TV_DESK_INPUTS];
    size_t count;
};

/* Begins to load these files instead of what is being loaded; *trace is the number that their trace
 * will have.  TV_ERR_USAGE: one of them is not there. */
enum tv_status tv_desk_open(struct tv_desk *desk, const struct tv_desk_choice *choice,
                            uint32_t *trace, struct tv_error *err) TV_MUST_CHECK;

/* Ends the loading, or puts away its error: what lies open stays.  Files that came for it alone are
 * dropped. */
void tv_desk_cancel(struct tv_desk *desk);

/* The trace that lies open, NULL when there is none, and its number, until it is let go. */
struct tv_session *tv_desk_hold(struct tv_desk *desk, uint32_t *trace);
void tv_desk_let_go(struct tv_desk *desk, struct tv_session *session);

/* Whether there is a sketch of what is being loaded. */
bool tv_desk_is_sketched(struct tv_desk *desk);

/* The answer to api/status. */
void tv_desk_write_status(struct tv_desk *desk, struct tv_out *out);

#endif
