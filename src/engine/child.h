/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - the child's side of an engine: what the hidden command runs.
 *
 * The server has opened all files that the child may use, by the numbers of messages.h; it says
 * what the limits are, the child locks itself in, says what holds it, and only then reads a byte.
 */
#ifndef TV_ENGINE_CHILD_H
#define TV_ENGINE_CHILD_H

#include "base/error.h"
#include "base/progress.h"

struct tv_source;
struct tv_trace;

/* What is to be read, and how far that may go. */
struct tv_engine_input {
    struct tv_source *source; /* the loader's from now on */
    uint64_t unpacked_bytes;  /* ceiling of what comes out of it */
    unsigned jobs;            /* threads; 0: as many as processors */
};

/* How to come by a trace: this room knows no formats. */
struct tv_engine_loader {
    /* The same sources that `load` read, in the order in which its trace keeps them, for what is
     * read again; without reading.  The array is to be given back with tv_free. */
    enum tv_status (*open)(void *context, const struct tv_engine_input *wish,
                           struct tv_source ***sources, size_t *count, struct tv_error *err);
    enum tv_status (*load)(void *context, const struct tv_engine_input *wish,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err);
    void *context;
    const struct tv_view_reporter *reporter; /* as in struct tv_loader */
};

/* Serves until the server wants no more; the exit code.  The process must end then at once, without
 * whatever else is done at the end of a program: the sandbox does not allow it. */
int tv_engine_main(const struct tv_engine_loader *loader);

#endif
