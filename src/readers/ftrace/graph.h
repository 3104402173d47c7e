/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - lines of the function_graph tracer (ftrace.md section 2).
 *
 *     [secs.us |] cpu) [task-tid |] [flags |] [mark]duration us | text
 *
 * Every column may be missing; the text is "name() {", "name();", "}", "} name" in a comment, or an
 * event in a comment.  Without a time of their own calls lie one behind the other.
 */
#ifndef TV_READERS_FTRACE_GRAPH_H
#define TV_READERS_FTRACE_GRAPH_H

#include "readers/ftrace/part.h"

/* One line taken apart. */
struct tv_ft_graph_line {
    enum tv_ft_graph_kind kind;
    bool has_time, has_duration, has_cpu, returns;
    tv_ns time, duration;
    struct tv_bytes printed; /* the duration as it stands: "+ 10.5 us" */
    uint32_t cpu;
    struct tv_bytes task; /* of a switch: the one that left; empty: the line does not say */
    int64_t tid;          /* of that task; TV_FT_NO_ID: the line does not say */
    struct tv_bytes next; /* of a switch: the one that came */
    int64_t next_tid;
    struct tv_bytes flags;
    struct tv_bytes name; /* of the function; empty: an end does not say. Of an event: all of it */
    struct tv_bytes text; /* the last column */
};

/* False: no such line. */
bool tv_ft_graph_parse(struct tv_bytes text, struct tv_ft_graph_line *line);

/* The last column of an event of trace-cmd (funcgraph_entry, funcgraph_exit): "1.3 us | f();". */
bool tv_ft_graph_parse_event(struct tv_bytes details, struct tv_ft_graph_line *line);

/* Keeps what a line says. */
void tv_ft_graph_take(struct tv_ft_part *part, const struct tv_ft_graph_line *line,
                      uint64_t offset);

struct tv_ft_merge;

/* calls.c: makes slices of all lines, in the order of the file. */
void tv_ft_place_calls(struct tv_ft_merge *merge);

#endif
