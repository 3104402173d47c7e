/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_line.h - the lines of "perf script", and names that all formats of perf share.
 *
 *     comm  pid/tid  [cpu] misc  time:  period event: text      head of a sample
 *     \t         ffffffff821e59e4 xas_find+0x4 ([kernel.kallsyms])   frame, leaf first
 *       file.c:12                                               source line of the frame above
 *
 * Every field may be missing, as its user chose.
 */
#ifndef TV_READERS_PERF_SCRIPT_LINE_H
#define TV_READERS_PERF_SCRIPT_LINE_H

#include "base/bytes.h"
#include "model/trace_info.h"

/* Fields in the sample lines of a file.  All sample lines of one file have the same ones. */
enum tv_script_shape {
    TV_SCRIPT_TIMED,  /* a thread and a time */
    TV_SCRIPT_THREAD, /* a thread, no time */
    TV_SCRIPT_EVENT,  /* an event alone */
    TV_SCRIPT_FRAMES, /* no heads: groups of frames between blank lines */
};

struct tv_script_head {
    struct tv_bytes comm;
    uint64_t pid, tid;
    bool has_pid, has_period;
    uint32_t cpu; /* TV_NONE: unknown */
    tv_ns time;
    int64_t period;
    struct tv_bytes event; /* empty: none */
    struct tv_bytes tail;  /* after the event: text of a tracepoint, an address, a frame */
};

struct tv_script_frame {
    uint64_t address;
    struct tv_bytes name;   /* without an offset; "[unknown]" as perf prints it */
    struct tv_bytes module; /* path of its file, or empty */
    enum tv_frame_kind kind;
};

/* Parse a line as the head of a sample. */
bool tv_script_parse_head(struct tv_bytes line, enum tv_script_shape shape,
                          struct tv_script_head *head);

/* Parse a line as a frame. */
bool tv_script_parse_frame(struct tv_bytes line, struct tv_script_frame *frame);

/* Parse the frame that is after a head when there are no chains. */
bool tv_script_parse_tail(const struct tv_script_head *head, struct tv_script_frame *frame);

/* Parse "  file.c:12". */
bool tv_script_parse_place(struct tv_bytes line, struct tv_bytes *file, int32_t *number);

/* Parse "PERF_RECORD_COMM exec: name:pid/tid" after a time; *name, pid and tid of the head become
 * those of the record. */
bool tv_script_parse_comm(struct tv_bytes record, struct tv_script_head *head);

/* Return how code of a module at an address runs. */
enum tv_frame_kind tv_perf_frame_kind(struct tv_bytes module, uint64_t address);

/* Return the unit of an event's periods. */
struct tv_bytes tv_perf_unit(struct tv_bytes event);

#endif
