/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the trace that the page looks at: first it is being loaded, then it is there or there
 * is an error.
 *
 * One thread loads, any others ask.  The trace appears all at once: until tv_session_view gives it
 * nobody sees any of it, and from then on nothing of it changes.
 */
#ifndef TV_SERVER_SESSION_H
#define TV_SERVER_SESSION_H

#include "base/error.h"
#include "base/progress.h"

struct tv_out;
struct tv_trace;
struct tv_view;

/* How to come by a trace: the server knows no files and no formats. */
struct tv_loader {
    enum tv_status (*load)(void *context, struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err);
    void *context;
};

enum tv_session_state {
    TV_SESSION_LOADING,
    TV_SESSION_READY,
    TV_SESSION_FAILED,
};

struct tv_session;

struct tv_session *tv_session_new(const char *name, const struct tv_loader *loader);

/* Nobody may be asking any more, and tv_session_load must have come back. */
void tv_session_free(struct tv_session *session);

/* Loads; called once. The state in which that ended. */
enum tv_session_state tv_session_load(struct tv_session *session);

/* Asks tv_session_load to come back soon. */
void tv_session_cancel(struct tv_session *session);

enum tv_session_state tv_session_state(const struct tv_session *session); /* the present one */

/* NULL while the trace is not there. */
const struct tv_view *tv_session_view(const struct tv_session *session);

/* What went wrong, in state failed; else NULL. */
const struct tv_error *tv_session_error(const struct tv_session *session);

/* The answer to api/status. */
void tv_session_write_status(const struct tv_session *session, struct tv_out *out);

#endif
