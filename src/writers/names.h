/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - how frames and clocks are written, the same in every text.
 */
#ifndef TV_WRITERS_NAMES_H
#define TV_WRITERS_NAMES_H

#include "base/out.h"
#include "model/trace_info.h"

/* "class.method", or the name alone when there is no class. */
void tv_names_method(struct tv_out *out, const struct tv_trace_info *head, const struct tv_frame *frame);

/* The same and, behind a blank, the signature if there is one. Line breaks and tabs become blanks:
 * a method is never more than one line or one column. */
void tv_names_full(struct tv_out *out, const struct tv_trace_info *head, const struct tv_frame *frame);

/* The full name of a frame's index; "(none)" for TV_NONE. */
void tv_names_frame(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame);

/* A thread's name, or "[id]" when it has none. */
void tv_names_thread(struct tv_out *out, const struct tv_trace_info *head, uint32_t thread);

/* Text with a blank for each control character: line breaks, tabs, and what a terminal would obey
 * (ESC, DEL, U+0080 to U+009F). */
void tv_names_line(struct tv_out *out, struct tv_bytes text);

/* "dual", "wall" or "thread-cpu". */
const char *tv_names_clocks(unsigned clocks);

/* part of whole in percent with one decimal, rounded half up; 0.0 of nothing. */
void tv_names_percent(struct tv_out *out, int64_t part, int64_t whole);

/* Right-aligned in `width` (at most 100) columns: a time in `unit_ns` with `decimals`, a percentage
 * as above, a number. */
void tv_names_time_column(struct tv_out *out, int width, tv_ns value, tv_ns unit_ns, int decimals);
void tv_names_percent_column(struct tv_out *out, int width, int64_t part, int64_t whole);
void tv_names_number_column(struct tv_out *out, int width, uint64_t value);

/* The full names of frames, each made once: for what prints a line a call. */
struct tv_full_names {
    const struct tv_trace_info *head;
    struct tv_out text;
    struct {
        size_t start, length;
    } * place; /* [frame_count]; length 0: not yet made */
};

void tv_full_names_init(struct tv_full_names *names, const struct tv_trace_info *head);
void tv_full_names_release(struct tv_full_names *names);

/* The full name of a frame. Valid until the next call. */
struct tv_bytes tv_full_names_get(struct tv_full_names *names, uint32_t frame);

#endif
