/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one trace from loading to asking: loading, then ready or failed.
 *
 * One thread loads, any others ask.  The trace is published all at once: before tv_session_view
 * returns it nobody sees any part of it, and afterwards nothing of it changes.
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

/* An input file of a trace. */
struct tv_session_input {
    uint32_t number;          /* number among the uploaded files (server) */
    struct tv_source *source; /* NULL: the loader opens the file itself */
    tv_ns offset;             /* added to its times */
};

/* Loads traces, because a view knows no formats.  `load` takes ownership of the sources; several
 * threads may be in it at once.  `shown`, or NULL, is called with each loaded trace after people
 * can see it, by the same thread: it may be slow. */
struct tv_loader {
    enum tv_status (*load)(void *context, const struct tv_session_input *inputs, size_t count,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err);
    void (*shown)(void *context, const struct tv_trace *trace, const struct tv_view *view);
    void *context;
    const struct tv_view_reporter *reporter; /* or NULL; static lifetime */
};

enum tv_session_state {
    TV_SESSION_EMPTY, /* no session yet */
    TV_SESSION_LOADING,
    TV_SESSION_READY,
    TV_SESSION_FAILED,
};

struct tv_session;

/* Create a session.  It takes ownership of the sources, but not of the array; `names` are those
 * of the inputs. */
struct tv_session *tv_session_new(const struct tv_loader *loader,
                                  const struct tv_session_input *inputs, const char *const *names,
                                  size_t count);

/* Free a session.  Nobody may use it any more, and tv_session_load must have returned. */
void tv_session_free(struct tv_session *session);

/* Load the trace; call once.  Return the resulting state. */
enum tv_session_state tv_session_load(struct tv_session *session);

/* Call the loader's `shown` if the trace is ready; by the loading thread, once. */
void tv_session_show(const struct tv_session *session);

/* Make tv_session_load return soon. */
void tv_session_cancel(struct tv_session *session);

enum tv_session_state tv_session_state(const struct tv_session *session); /* current state */

/* Return true if there is a sketch to show during loading, or will be soon: some readers go over
 * a file once before they report anything. */
bool tv_session_is_sketched(const struct tv_session *session);

/* Return the progress of loading, and whether it counts bytes of packed files. */
struct tv_progress_shown tv_session_progress(const struct tv_session *session);
bool tv_session_is_unpacking(const struct tv_session *session);

/* Return the view; NULL until the trace is ready. */
const struct tv_view *tv_session_view(const struct tv_session *session);

/* Return the trace; only once it is ready. */
const struct tv_trace *tv_session_trace(const struct tv_session *session);

/* Return the error in state failed; otherwise NULL. */
const struct tv_error *tv_session_error(const struct tv_session *session);

/* Return true if the numbered file is an input. */
bool tv_session_has(const struct tv_session *session, uint32_t number);

/* Return the class of an error, by which a page can give advice: "io", "syntax", ... */
const char *tv_session_error_kind(enum tv_status status);

/* Write the members of the answer to api/status, without braces. */
void tv_session_write_status(const struct tv_session *session, struct tv_out *out);

#endif
