/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one trace: first it is being loaded, then it is there or there is an error.
 *
 * One thread loads, any others ask.  The trace appears all at once: until tv_session_view gives it
 * nobody sees any of it, and from then on nothing of it changes.
 */
#ifndef TV_VIEW_SESSION_H
#define TV_VIEW_SESSION_H

#include "base/error.h"
#include "base/progress.h"

struct tv_out;
struct tv_source;
struct tv_trace;
struct tv_view;
struct tv_view_reporter;

/* A file that a trace is made of. */
struct tv_session_input {
    uint32_t number;          /* on the shelf (shelf.h) */
    struct tv_source *source; /* NULL: one of the loader's own */
    tv_ns offset;             /* added to its times */
};

/* How to come by a trace: a view knows no formats.  `load` takes the sources over; several
 * threads may be in it at once.  `shown`, or NULL, is called by the same thread with each trace
 * that was loaded, when people can see it already: what it does may take its time. */
struct tv_loader {
    enum tv_status (*load)(void *context, const struct tv_session_input *inputs, size_t count,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err);
    void (*shown)(void *context, const struct tv_trace *trace, const struct tv_view *view);
    void *context;
    const struct tv_view_reporter *reporter; /* or NULL; lives as long as the program */
};

enum tv_session_state {
    TV_SESSION_EMPTY, /* of the desk (desk.h), where there is no session */
    TV_SESSION_LOADING,
    TV_SESSION_READY,
    TV_SESSION_FAILED,
};

struct tv_session;

/* Takes the sources over, not the array; `names` are those of the inputs. */
struct tv_session *tv_session_new(const struct tv_loader *loader,
                                  const struct tv_session_input *inputs, const char *const *names,
                                  size_t count);

/* Nobody may be asking any more, and tv_session_load, if it was called, must have come back. */
void tv_session_free(struct tv_session *session);

/* Loads; called once. The state in which that ended. */
enum tv_session_state tv_session_load(struct tv_session *session);

/* Calls the loader's `shown`, where there is something to show; by the thread that loaded, once. */
void tv_session_show(const struct tv_session *session);

/* Asks tv_session_load to come back soon. */
void tv_session_cancel(struct tv_session *session);

enum tv_session_state tv_session_state(const struct tv_session *session); /* the present one */

/* Whether there is a sketch to look at while it loads, or will be soon: some readers go over a file
 * once before they mark anything. */
bool tv_session_is_sketched(const struct tv_session *session);

/* How far the loading is, and whether the bytes are those of packed files. */
struct tv_progress_shown tv_session_progress(const struct tv_session *session);
bool tv_session_is_unpacking(const struct tv_session *session);

/* NULL while the trace is not there. */
const struct tv_view *tv_session_view(const struct tv_session *session);

/* What went wrong, in state failed; else NULL. */
const struct tv_error *tv_session_error(const struct tv_session *session);

/* Whether the file is one of its inputs. */
bool tv_session_has(const struct tv_session *session, uint32_t number);

/* What the numbered file is, of its inputs in their order; false behind the last one. */
bool tv_session_input(const struct tv_session *session, size_t i, uint32_t *number);

/* What a page can give advice by: "io", "syntax", ... */
const char *tv_session_error_kind(enum tv_status status);

/* Members of the answer to api/status, without braces. */
void tv_session_write_status(const struct tv_session *session, struct tv_out *out);

#endif
