/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - the child's side of an engine: the hidden command that the server starts.
 *
 * The server passes all files that the child may use under the descriptor numbers of messages.h,
 * and sends the limits.  The child enters the sandbox, reports what protects it, and only then
 * reads the first byte of the trace.
 */
#ifndef TV_ENGINE_CHILD_H
#define TV_ENGINE_CHILD_H

#include "base/error.h"
#include "base/progress.h"

struct tv_source;
struct tv_trace;

/* The file to read, and limits for reading it. */
struct tv_engine_input {
    struct tv_source *source; /* the loader takes ownership */
    uint64_t unpacked_bytes;  /* limit of what a packed file may unpack to */
    unsigned jobs;            /* threads; 0: one for each processor */
};

/* Reads traces: this module knows no format. */
struct tv_engine_loader {
    /* Open the sources that `load` would read, in the order of the trace's inputs, without reading
     * them.  Used when the trace came from its index and some event must be read again.  The caller
     * frees the array with tv_free. */
    enum tv_status (*open)(void *context, const struct tv_engine_input *input,
                           struct tv_source ***sources, size_t *count, struct tv_error *err);
    enum tv_status (*load)(void *context, const struct tv_engine_input *input,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err);
    void *context;
    const struct tv_view_reporter *reporter; /* as in struct tv_loader */
};

/* Serve until the server disconnects, and return the exit code.  The process must end with _exit
 * then: the sandbox forbids what exit handlers do. */
int tv_engine_main(const struct tv_engine_loader *loader);

#endif
