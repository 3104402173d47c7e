/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftrace.h - the reader of ftrace text: tracefs, trace-cmd report, atrace.
 *
 * docs/formats/ftrace.md describes the format and what the reader makes of it.  The file is cut at
 * line ends into chunks that workers read side by side; then the chunks are merged:
 *
 *     chunk 0   chunk 1   chunk 2      one worker each: chunk_reader.c parses lines, event handlers
 *        |         |         |         (switch.c, marks.c, kernel.c, ...) fill tables (chunk.h)
 *        '---------+---------'
 *                  v
 *                merge                 merge.c: numbers of a chunk become numbers of the trace,
 *                  |                   rows are sorted by time
 *        .---------+---------.
 *        v         v         v
 *     schedule  deferred   graph       sched.c: who ran; deferred.c: events that need others;
 *        |         |         |         graph.c: calls of the function_graph tracer
 *        '---------+---------'
 *                  v
 *              assembly                model/assembly/assembly.h pairs and nests the slices of
 *                  |                   each thread
 *                  v
 *               arrows                 arrows.c: the rows of the slices that arrows join
 *
 * Invariant: the result does not depend on where the file is cut.  A chunk therefore never decides
 * what needs an earlier line of another chunk: it stores a row, and the merge decides.
 */
#ifndef TV_READERS_FTRACE_FTRACE_H
#define TV_READERS_FTRACE_FTRACE_H

#include "model/trace.h"
#include "readers/ftrace/line.h"
#include "readers/reader.h"

extern const struct tv_reader tv_reader_ftrace;

/* One line as it is in the file, for a record visitor. */
struct tv_ft_record {
    struct tv_bytes text; /* without its line end; empty only when the line is too long */
    uint64_t offset;
    bool too_long;
    bool is_event;            /* `event` is filled, else `other` */
    struct tv_ft_line event;  /* the texts are in `text` */
    struct tv_ft_other other; /* the same */
};

/* Read an event of the trace again and write it as JSON: "args" (every key=value of the line; those
 * of Chrome's marks by themselves), then task, processor, flags and the details as the file has
 * them.  Lines that continue a text are appended to it.  `end_offset` is the event that ended the
 * slice, or TV_NO_OFFSET. */
enum tv_status tv_ft_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err);

#endif
