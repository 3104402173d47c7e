/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - a finished trace as the bytes of one file, and back: so that a trace opens at once the
 * second time.
 *
 * An index is a cache: whoever wrote it reads it again, on the same machine and with the same build
 * of the program.  One that is old, of something else, torn or damaged is refused with the reason,
 * and the caller reads the original again.  The layout is docs/trace-index.md.
 *
 *     opening a trace                          opening it again
 *     trace = read FILE                        memory = tv_file_map(fd of the index)
 *     view = tv_view_new(trace)                tv_index_read(memory, key, ..., &trace)
 *     tv_index_write(trace, key, ..., out)     view = tv_view_new(trace), at once
 */
#ifndef TV_INDEX_INDEX_H
#define TV_INDEX_INDEX_H

#include "base/sections.h"
#include "model/trace.h"

/* What others want to find again beside the trace, by trace->sections: tv_view_store (view.h). */
struct tv_index_more {
    void (*add)(const void *context, struct tv_sections_writer *writer);
    const void *context;
};

/* Writes a trace that was not made of another (trace->base is NULL).  `key` is what the trace was
 * made of, as the caller tells it (size, time, hash of the file; the settings it was read with), at
 * most TV_SECTIONS_KEY bytes; `more` may be NULL.  Finishes `out`, which is empty: the error is
 * that of its writing. */
enum tv_status tv_index_write(const struct tv_trace *trace, struct tv_bytes key,
                              const struct tv_index_more *more, struct tv_out *out,
                              struct tv_error *err) TV_MUST_CHECK;

/* The sources that arguments are read from again.  Those of texts that stand inside of another lie
 * in the index; the others are opened when somebody first looks. */
struct tv_index_inputs {
    /* Opens source `number` of the trace: of those that tv_trace_keep_source got, in that order.
     * It must have the size that it had.  Called at most once for each, but from any thread; a
     * failure is told to whoever looks, each time. */
    enum tv_status (*open)(void *context, uint32_t number, struct tv_source **source,
                           struct tv_error *err);
    void (*free)(void *context); /* with the trace, or when reading fails; or NULL */
    void *context;
};

/*
 * Reads it again.  Takes the memory and the inputs over, also on failure: the trace's columns and
 * tables lie in it until tv_trace_free.  `inputs` NULL: nothing is read again.
 *
 * TV_ERR_UNSUPPORTED: of another key, version or build; TV_ERR_SYNTAX: cut off or damaged.  A
 * namer of addresses is the caller's to set again (trace->head->namer).
 */
enum tv_status tv_index_read(const struct tv_sections_memory *memory, struct tv_bytes key,
                             const struct tv_index_inputs *inputs, struct tv_trace **trace,
                             struct tv_error *err) TV_MUST_CHECK;

#endif
