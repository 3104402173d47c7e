/* SPDX-License-Identifier: Apache-2.0 */
/*
 * viewer.h - the viewer server: shows traces of one user in a browser, at one address of this
 * machine.  It serves the page, answers the page's questions (docs/view-protocol.md) and loads
 * traces in the background.
 *
 *     tv_viewer_new            listens; clients can connect and wait
 *     tv_viewer_start          answers, and begins to load the given files
 *     tv_viewer_wait_loaded    waits for the first trace: loaded, failed or cancelled
 *     tv_viewer_wait_stop      waits until somebody asks to stop
 *     tv_viewer_free
 */
#ifndef TV_VIEWER_VIEWER_H
#define TV_VIEWER_VIEWER_H

#include "base/types.h"
#include "view/session.h"

/* Maximum number of files of one trace. */
#define TV_OPEN_INPUTS 64u

/* Maximum number of traces that lie open: a comparison can have 12 runs of each side. */
#define TV_OPEN_TRACES 24u

/* A file that only the loader can read. */
struct tv_viewer_file {
    const char *name;
    tv_ns offset; /* added to its times */
};

/* Questions in SQL about open traces (docs/sql.md).  All zero: there are none. */
struct tv_viewer_sql {
    bool ready;          /* DuckDB's library is open (sql/duckdb.h) */
    const char *missing; /* not ready: why, for people; or NULL.  Outlives the viewer */
    uint64_t max_memory; /* of the queries about one trace, in bytes; 0: a part of the machine's */
    unsigned threads;    /* of a query; 0: one for each processor */
    /* Limit the memory of the calling process, which is the one of a trace's queries; or NULL. */
    void (*limit_memory)(uint64_t bytes);
};

/* Sends files to the user's upload server.  All zero: there is none. */
struct tv_viewer_sender {
    /* Start to send files, which are numbered as in `files` of the options.  Return a descriptor
     * from which the messages of the sending process can be read, without blocking, until it ends:
     * a line with the address of each trace, or why it failed.  -1: it cannot be started.  One call
     * at a time. */
    int (*start)(void *context, const uint32_t *numbers, size_t count);
    void *context;
};

struct tv_viewer_options {
    const struct tv_viewer_file *files;
    size_t file_count;
    size_t begin_count; /* the trace of so many files, the first ones, is opened first; 0: the page
                           lets the user choose files */
    uint16_t port;      /* 0: a home port, or any free port (http.h) */
    struct tv_loader loader;
    struct tv_viewer_sql sql;
    struct tv_viewer_sender sender;
};

struct tv_viewer;

/* Make the server and its address, without starting a thread.  Copies the file list.  The loader's
 * context must live until tv_viewer_free has returned true. */
enum tv_status tv_viewer_new(const struct tv_viewer_options *options, struct tv_viewer **viewer,
                             struct tv_error *err) TV_MUST_CHECK;

/* Start answering and loading.  To be called once; after an error only tv_viewer_free is allowed.
 */
enum tv_status tv_viewer_start(struct tv_viewer *viewer, struct tv_error *err) TV_MUST_CHECK;

/* Stop everything and free it.  False: a loading thread cannot be stopped because it is blocked on
 * a silent pipe.  That thread still uses the viewer's memory, so the program must exit. */
bool tv_viewer_free(struct tv_viewer *viewer) TV_MUST_CHECK;

/* Return the URL to open in a browser.  It contains the secret token. */
const char *tv_viewer_address(const struct tv_viewer *viewer);

/* Wait for the loading that tv_viewer_start began, at most timeout_ms.  Return its state then:
 * EMPTY when there was none or it was cancelled. */
enum tv_session_state tv_viewer_wait_loaded(struct tv_viewer *viewer, unsigned timeout_ms);

/* Like tv_viewer_wait_loaded, but also return as soon as a sketch of the trace can be shown, or
 * will be soon (tv_session_is_sketched). */
enum tv_session_state tv_viewer_wait_sketched(struct tv_viewer *viewer, unsigned timeout_ms);

/* As a timeout: no limit. */
#define TV_FOREVER 0u

/* Wait for tv_viewer_stop or the page's stop button.  When the first loading failed, wait only if a
 * page is open, in which the user can open other files, or `page_opens`: one is about to open. */
void tv_viewer_wait_stop(struct tv_viewer *viewer, bool page_opens);

/* Ask the server to stop.  From any thread, at any time before tv_viewer_free. */
void tv_viewer_stop(struct tv_viewer *viewer);

/* Return the error of the first loading, or NULL. */
const struct tv_error *tv_viewer_error(const struct tv_viewer *viewer);

/* ---- The user's browser ---- */

/* The address contains the viewer's token, and other users of the machine can read the arguments of
 * every process.  So the browser is given a file that only this user can read, which redirects to
 * the address. */
struct tv_browser {
    char directory[4096]; /* private; "": none was made */
    char file[4096 + 16];
};

/* Start xdg-open, which starts the desktop's browser.  False when there is no display, no xdg-open
 * or no place for the file.  Nobody waits for xdg-open: on some desktops it is the browser itself
 * and runs as long. */
bool tv_browser_open(struct tv_browser *browser, const char *address);

/* Remove the file, once no server answers at the address. */
void tv_browser_close(struct tv_browser *browser);

/* ---- The page ---- */

/* The viewer's page is part of the program.  The build bundles web/ into one HTML file, and
 * tools/embed-assets makes two symbols of it: the page is the bytes [tv_page, tv_page_end), and a
 * NUL follows them. */
extern const char tv_page[];
extern const char tv_page_end[];

/* Header values for serving a page. */
struct tv_page_headers {
    char policy[1024]; /* Content-Security-Policy */
    char tag[24];      /* ETag, with its quotes */
};

/* Derive the headers from a page.  The policy is the one in the page's own <meta> element, where
 * the build put the hashes of script and style, plus a rule that only a header may state: no other
 * page may frame this one.  A page without a policy is allowed nothing. */
void tv_page_describe(struct tv_bytes page, struct tv_page_headers *headers);

#endif
