/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - stores a finished trace in one file, so that it opens instantly the next time.
 *
 * An index is a cache for the same machine and the same build of the program.  One that is
 * outdated, of another file, truncated or damaged is rejected with the reason, and the caller reads
 * the original again.  docs/trace-index.md describes the format.
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

/* Further sections that other modules want to find in trace->sections: tv_view_store (view.h). */
struct tv_index_more {
    void (*add)(const void *context, struct tv_sections_writer *writer);
    const void *context;
};

/* Write a trace that is not a subset (trace->base is NULL).  `key` describes its origin in the
 * caller's terms (size, time and hash of the file; the settings of reading), at most
 * TV_SECTIONS_KEY bytes.  `more` may be NULL.  Finishes `out`, which must be empty, and reports the
 * error of its output. */
enum tv_status tv_index_write(const struct tv_trace *trace, struct tv_bytes key,
                              const struct tv_index_more *more, struct tv_out *out,
                              struct tv_error *err) TV_MUST_CHECK;

/* Sources for reading arguments again.  Texts embedded in other sources are part of the index; all
 * others are opened when somebody first reads them. */
struct tv_index_inputs {
    /* Open source `number` in the order of tv_trace_keep_source.  It must have the same size as
     * before.  Called at most once per source, from any thread; a failure is reported at each read.
     */
    enum tv_status (*open)(void *context, uint32_t number, struct tv_source **source,
                           struct tv_error *err);
    void (*free)(void *context); /* called with the trace, or when reading fails; or NULL */
    void *context;
};

/*
 * Read an index.  The function takes memory and inputs over, also on failure; columns and tables
 * stay in the memory until tv_trace_free.  `inputs` NULL: events cannot be read again.
 *
 * TV_ERR_UNSUPPORTED: another key, version or build; TV_ERR_SYNTAX: truncated or damaged.  The
 * caller must set the namer of addresses again (trace->head->namer).
 */
enum tv_status tv_index_read(const struct tv_sections_memory *memory, struct tv_bytes key,
                             const struct tv_index_inputs *inputs, struct tv_trace **trace,
                             struct tv_error *err) TV_MUST_CHECK;

#endif
