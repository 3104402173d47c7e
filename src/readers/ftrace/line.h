/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - one line of ftrace text, taken apart (docs/formats/ftrace.md section 2).
 *
 * A line of an event has one of these forms:
 *
 *     comm-tid (tgid) [cpu] flags secs.frac: event: details        tracefs, trace-cmd report
 *     comm-tid cpu+flags secs.frac: event: details                 latency format of trace-cmd
 *     comm-tid cpu+flags delta us : details                        latency format of the kernel
 *
 * When trace-cmd reports several buffers or files, it writes "name: " in front, right-aligned, and
 * as many spaces before the lines of the main buffer.  tgid and flags may be missing.  Every line
 * is parsed by itself, because a file may mix forms.
 *
 * A line of the function_graph tracer has columns, each of which may be missing:
 *
 *     [secs.us |] cpu) [task-tid |] [flags |] [mark]duration us | text
 *
 * The text is "name() {", "name();", "}", "} name" in a comment, or an event in a comment.
 */
#ifndef TV_READERS_FTRACE_LINE_H
#define TV_READERS_FTRACE_LINE_H

#include "base/types.h"
#include "readers/text_lines.h"

#define TV_FT_NO_ID (-1)

TV_INLINE bool tv_ft_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* ---- Events ---- */

/* Unit of the times of a file. */
enum tv_ft_clock {
    TV_FT_CLOCK_SECONDS,
    TV_FT_CLOCK_TICKS, /* there was no '.': a clock of unknown unit */
    TV_FT_CLOCK_DELTA, /* microseconds since the tracer began */
    TV_FT_CLOCKS
};

/* Spaces around texts are cut off.  All texts point into the parsed line. */
struct tv_ft_line {
    struct tv_bytes buffer; /* an instance of tracefs, or a file; empty: the main buffer */
    struct tv_bytes task;   /* "<...>": unknown; "<idle>" for tid 0 */
    int64_t tid;
    int64_t tgid; /* TV_FT_NO_ID: not in the line */
    uint32_t cpu;
    struct tv_bytes flags; /* empty: none */
    tv_ns time;            /* when `clock` is TV_FT_CLOCK_TICKS: the bare number */
    enum tv_ft_clock clock;
    struct tv_bytes event;   /* "sched_switch"; empty: `details` is "function <-parent" */
    struct tv_bytes details; /* may be empty */
};

/* Cache of parsed line prefixes: few threads emit most events, so most prefixes
 * ("bash-1977  (-----) ") are byte for byte the same as one that was parsed recently. */
#define TV_FT_CACHED_TASKS 512u
#define TV_FT_TASK_BYTES 40u

struct tv_ft_task_text {
    uint8_t text[TV_FT_TASK_BYTES]; /* the line up to the '[' of the processor */
    uint8_t length;                 /* 0: the slot is free */
    uint8_t task, task_length;      /* position of the task's name in `text` */
    int64_t tid, tgid;
};

struct tv_ft_task_cache {
    struct tv_ft_task_text rows[TV_FT_CACHED_TASKS];
};

/* Parse a line of an event.  `text` has no '\n' or '\r' at its end.  Return false when the line is
 * not an event. */
bool tv_ft_line_parse(struct tv_bytes text, struct tv_ft_line *line);

/* Like tv_ft_line_parse, but faster for the many lines of a file.  Zero `cache` before the first
 * line. */
bool tv_ft_line_parse_next(struct tv_ft_task_cache *cache, struct tv_bytes text,
                           struct tv_ft_line *line);

/* Return true for a last line without a line end.  Writers never leave the line end out, so the
 * file was cut within the line.  Nothing shows where ("67890" to "6"), so the reader trusts nothing
 * of the line. */
bool tv_ft_line_is_cut(const struct tv_text_line *line);

/* Return true when the text of this event may continue on the following lines: it is what a program
 * printed. */
bool tv_ft_event_continues(struct tv_bytes event);

/* ---- function_graph ---- */

enum tv_ft_graph_kind {
    TV_FT_GRAPH_ENTRY,
    TV_FT_GRAPH_EXIT,
    TV_FT_GRAPH_LEAF,
    TV_FT_GRAPH_SWITCH, /* the processor switches to another task */
    TV_FT_GRAPH_INTERRUPT,
    TV_FT_GRAPH_INTERRUPT_END,
    TV_FT_GRAPH_EVENT, /* an event in a comment */
};

struct tv_ft_graph_line {
    enum tv_ft_graph_kind kind;
    bool has_time, has_duration, has_cpu;
    bool returns; /* an exit that shows the return value */
    tv_ns time, duration;
    struct tv_bytes printed; /* the duration as the line has it: "+ 10.5 us" */
    uint32_t cpu;
    struct tv_bytes task; /* of a switch: the previous task; empty: not in the line */
    int64_t tid;          /* of `task`; TV_FT_NO_ID: not in the line */
    struct tv_bytes next; /* of a switch: the next task */
    int64_t next_tid;
    struct tv_bytes flags;
    struct tv_bytes name; /* of the function; empty: an exit without it.  An event: all of it */
    struct tv_bytes text; /* the last column */
};

/* Parse a line of the function_graph tracer.  Return false when the line is something else. */
bool tv_ft_graph_parse(struct tv_bytes text, struct tv_ft_graph_line *line);

/* Parse the details of trace-cmd's events funcgraph_entry and funcgraph_exit: "1.3 us | f();". */
bool tv_ft_graph_parse_event(struct tv_bytes details, struct tv_ft_graph_line *line);

/* ---- All other lines ---- */

enum tv_ft_other_kind {
    TV_FT_OTHER_COMMENT, /* "# tracer: nop" */
    TV_FT_OTHER_LOSS,    /* "CPU:3 [LOST 12 EVENTS]" */
    TV_FT_OTHER_SYMBOL,  /* "=> do_sys_open", of the stack of the event above */
    TV_FT_OTHER_CALL,    /* of the function_graph tracer */
    TV_FT_OTHER_HEADING, /* empty, a ruler, or a line of the file's preamble: no content */
    TV_FT_OTHER_STRAY,   /* continues the text above, or is damaged */
};

struct tv_ft_other {
    enum tv_ft_other_kind kind;
    uint32_t cpu;                 /* of a loss */
    struct tv_bytes name;         /* of a symbol */
    struct tv_ft_graph_line call; /* of a call */
};

/* Classify `bare`, a line that tv_ft_line_parse refused. */
void tv_ft_other_parse(struct tv_bytes bare, struct tv_ft_other *other);

/* Parse "CPU:3 [LOST 12 EVENTS]" or "CPU:3 [EVENTS DROPPED]".  Such a line is before the next
 * event, and the loss gets that event's time. */
bool tv_ft_loss_parse(struct tv_bytes line, uint32_t *cpu);

/* Parse "a/b   #P:4", the value of entries-in-buffer/entries-written in the file's preamble. */
bool tv_ft_parse_entries(struct tv_bytes text, uint64_t *kept, uint64_t *written);

#endif
