/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_line.h - the lines of "perf script", and names that all formats of perf share.
 *
 *     comm  pid/tid  [cpu] misc  time:  period event: text      head of a sample
 *     \t         ffffffff821e59e4 xas_find+0x4 ([kernel.kallsyms])   frame, leaf first
 *       file.c:12                                               source line of the frame above
 *
 * Every field may be missing, as its user chose (-F).
 */
#ifndef TV_READERS_PERF_SCRIPT_LINE_H
#define TV_READERS_PERF_SCRIPT_LINE_H

#include "base/bytes.h"
#include "model/trace_info.h"

/* Fields in the sample lines of a file.  All sample lines of one file have the same ones. */
enum tv_script_field {
    TV_SCRIPT_COMM = 1 << 0,
    TV_SCRIPT_TID = 1 << 1, /* a number: a thread, or with -F pid alone a process */
    TV_SCRIPT_PID = 1 << 2, /* "pid/tid" */
    TV_SCRIPT_CPU = 1 << 3, /* also where it is not set, a line may have one */
    TV_SCRIPT_TIME = 1 << 4,
    TV_SCRIPT_PERIOD = 1 << 5, /* where events are, a line may have one all the same */
    TV_SCRIPT_EVENT = 1 << 6,
    TV_SCRIPT_CHAIN =
        1 << 7, /* frames are on lines of their own, below their head if it has fields */
};

/* Fields that make a line below which frames are a head. */
#define TV_SCRIPT_HEAD_FIELDS (TV_SCRIPT_CHAIN - 1)

struct tv_script_head {
    struct tv_bytes comm;
    uint64_t pid, tid;
    bool has_tid, has_pid, has_period;
    uint32_t cpu; /* TV_NONE: unknown */
    tv_ns time;
    int64_t period;
    struct tv_bytes event; /* empty: none */
    struct tv_bytes tail;  /* after the event: text of a tracepoint, an address, a frame */
};

struct tv_script_frame {
    uint64_t address;
    struct tv_bytes name;   /* without an offset; "[unknown]" as perf prints it; with -F ip alone
                             * the digits of the address */
    struct tv_bytes module; /* path of its file, or empty */
    enum tv_frame_kind kind;
};

/* Parse a line as the head of a sample with these fields (enum tv_script_field).  Without a time
 * and an event, a head is the line above the frames of a chain, or what is before the one frame. */
bool tv_script_parse_head(struct tv_bytes line, unsigned fields, struct tv_script_head *head);

/* Guess which fields a line has.  Return those of a head with a time or an event, and fill *head;
 * 0: it has neither. */
unsigned tv_script_guess_fields(struct tv_bytes line, struct tv_script_head *head);

/* Guess which fields other than times and events a line has, before its frame or below `chain`
 * without one. *is_head: it may be a head. */
unsigned tv_script_guess_bare_fields(struct tv_bytes line, bool *is_head);

/* Parse a line as a frame. */
bool tv_script_parse_frame(struct tv_bytes line, struct tv_script_frame *frame);

/* Return true for a line that is surely a frame, not the words of a text: it has an address as wide
 * as perf prints it. */
bool tv_script_is_frame_line(struct tv_bytes line);

/* Return true for a frame after an event. */
bool tv_script_is_frame_tail(struct tv_bytes tail);

/* Parse the frame that is after a head when there are no chains. */
bool tv_script_parse_tail(const struct tv_script_head *head, struct tv_script_frame *frame);

/* Parse "  file.c:12". */
bool tv_script_parse_place(struct tv_bytes line, struct tv_bytes *file, int32_t *number);

/* Return true for "[kernel.kallsyms][ffffffff821e59e4]", "??:0" and ":0": no source line is known.
 */
bool tv_script_is_no_place(struct tv_bytes line);

/* Return true for a line that is neither a head nor a frame: registers (-F iregs), an instruction
 * (-F insn), or the source itself (-F srccode), which begins with a bar. */
bool tv_script_is_extra(struct tv_bytes line);

/* Return true for a line with a time and a record that is no sample ("1.5: PERF_RECORD_COMM"). */
bool tv_script_is_record(struct tv_bytes line);

/* Parse "PERF_RECORD_COMM exec: name:pid/tid" after a time; *name, pid and tid of the head become
 * those of the record. */
bool tv_script_parse_comm(struct tv_bytes record, struct tv_script_head *head);

/* Return how code of a module at an address runs. */
enum tv_frame_kind tv_perf_frame_kind(struct tv_bytes module, uint64_t address);

/* Return the unit of an event's periods. */
struct tv_bytes tv_perf_unit(struct tv_bytes event);

#endif
