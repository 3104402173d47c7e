/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - the viewer behind one address of this machine: the page, the questions it asks, and
 * the traces it asks about, which load meanwhile.
 *
 *     tv_server_new            listens; clients wait
 *     tv_server_start          answers, and begins to load the files it is given
 *     tv_server_wait_loaded    until their trace is there, or is not to be had, or nobody wants it
 *     tv_server_wait_end       until somebody wants no more
 *     tv_server_free
 */
#ifndef TV_SERVER_SERVER_H
#define TV_SERVER_SERVER_H

#include "server/desk.h"

struct tv_server_options {
    const struct tv_desk_file *files;
    size_t file_count; /* 0: the page asks for some */
    uint16_t port;     /* 0: a home port, or one that is free (http.h) */
    struct tv_loader loader;
};

struct tv_server;

/* Make the server and its address, without any thread yet.  Copies the files; the loader's context
 * must live until tv_server_free has returned true. */
enum tv_status tv_server_new(const struct tv_server_options *options, struct tv_server **server,
                             struct tv_error *err) TV_MUST_CHECK;

/* Answer and load from now on.  Called once; after an error only tv_server_free is left. */
enum tv_status tv_server_start(struct tv_server *server, struct tv_error *err) TV_MUST_CHECK;

/* Ends everything and gives it back.  False when the loading cannot be stopped, for it waits for a
 * pipe that says nothing: then it lives on in its thread, with the server's memory, and the program
 * must end. */
bool tv_server_free(struct tv_server *server) TV_MUST_CHECK;

/* What to open in a browser. */
const char *tv_server_address(const struct tv_server *server);

/* Waits at most so long for the loading that tv_server_start began; its state then, EMPTY when
 * there was none or somebody cancelled it. */
enum tv_session_state tv_server_wait_loaded(struct tv_server *server, unsigned timeout_ms);

/* The same, but no longer than until there is a sketch of the trace to look at, or will be soon
 * (tv_session_is_sketched). */
enum tv_session_state tv_server_wait_sketched(struct tv_server *server, unsigned timeout_ms);

/* No time limit. */
#define TV_FOREVER 0u

/* Waits for tv_server_end or the page's own button.  When that loading failed: only if a page is
 * open, where other files can be opened, or, says the caller, about to open. */
void tv_server_wait_end(struct tv_server *server, bool page_opens);

/* Asks for the end. From any thread, at any time before tv_server_free. */
void tv_server_end(struct tv_server *server);

/* What went wrong with that loading, or NULL. */
const struct tv_error *tv_server_error(const struct tv_server *server);

#endif
