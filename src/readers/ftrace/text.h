/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - walking over the lines of a stretch of ftrace text.
 */
#ifndef TV_READERS_FTRACE_TEXT_H
#define TV_READERS_FTRACE_TEXT_H

#include "base/error.h"
#include "base/progress.h"
#include "base/source.h"
#include "model/sketch.h"
#include "readers/ftrace/graph.h"
#include "readers/ftrace/part.h"
#include "readers/text_lines.h"

/* "# key: value" of the head of the text. */
struct tv_ft_comment {
    uint32_t key, value; /* texts */
};

/* "CPU:1 [LOST 12 EVENTS]" */
struct tv_ft_loss {
    uint64_t offset;
    uint32_t frame, cpu;
};

/* Events of processors beyond these are not sketched. */
#define TV_FT_SKETCHED TV_SKETCH_TRACKS

/* Names of more buffers are not kept. */
#define TV_FT_BUFFERS 64u

struct tv_ft_text {
    struct tv_source *source;
    uint64_t start, end;    /* of whole lines */
    enum tv_ft_clock clock; /* of lines that count; TV_FT_CLOCKS: any */
    struct tv_progress *progress;
    uint64_t told;                     /* events, to the progress */
    uint32_t sketched[TV_FT_SKETCHED]; /* by processor: 0: not known yet, else 1 + the track */
    struct tv_ft_part part;
    struct tv_ft_owners owners;
    TV_TABLE(tv_ft_comment) comments;
    /* Lines before the first event that are none: whether they belong to the last event of the
     * stretch before is not known here. */
    struct tv_diagnostics strays;
    uint32_t buffers[TV_FT_BUFFERS]; /* texts: the buffers that trace-cmd names */
    uint32_t buffer_count;
    TV_TABLE(tv_ft_loss) losses; /* before the event that comes next */
    bool any;                    /* there was an event */
    bool continues;              /* lines that are no event belong to the last event */
    struct tv_ft_stack last;     /* of the last event, which lines "=> function" belong to */
    bool has_last;
    bool in_stack; /* its stack is the last one */
    enum tv_status status;
    struct tv_error error;
};

void tv_ft_text_init(struct tv_ft_text *text, struct tv_source *source, uint64_t start,
                     uint64_t end);
void tv_ft_text_release(struct tv_ft_text *text);

/* Reads all lines; fills `status` and `error`. */
void tv_ft_text_read(struct tv_ft_text *text);

/* What a line is that is no event. */
enum tv_ft_other_kind {
    TV_FT_OTHER_COMMENT, /* "# tracer: nop" */
    TV_FT_OTHER_LOSS,    /* "CPU:3 [LOST 12 EVENTS]" */
    TV_FT_OTHER_SYMBOL,  /* "=> do_sys_open", of the stack of the event before */
    TV_FT_OTHER_CALL,    /* of the function_graph tracer */
    TV_FT_OTHER_HEADING, /* empty, a ruler, or what stands in front of all: it says nothing */
    TV_FT_OTHER_STRAY,
};

struct tv_ft_other {
    enum tv_ft_other_kind kind;
    uint32_t cpu;                 /* of a loss */
    struct tv_bytes name;         /* of a symbol */
    struct tv_ft_graph_line call; /* of a call */
};

/* `bare` is no line of an event (line.h). */
void tv_ft_text_other(struct tv_bytes bare, struct tv_ft_other *other);

/* Whether text may follow an event of this name on lines of its own: what somebody printed. */
bool tv_ft_text_continues(struct tv_bytes event);

/* Return true for a last line without a line end, which writers never leave out: the file was cut
 * within the line.  Nothing shows where ("67890" to "6"), so nothing of the line is trusted. */
bool tv_ft_text_is_cut(const struct tv_text_line *line);

/* "CPU:3 [LOST 12 EVENTS]", "CPU:3 [EVENTS DROPPED]": stands before the next event, whose time it
 * gets. */
bool tv_ft_text_loss(struct tv_bytes line, uint32_t *cpu);

/* "a/b   #P:4" of the head's entries-in-buffer/entries-written. */
bool tv_ft_entries(struct tv_bytes text, uint64_t *kept, uint64_t *written);

#endif
