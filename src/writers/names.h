/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - names, numbers and units as every text shows them.
 */
#ifndef TV_WRITERS_NAMES_H
#define TV_WRITERS_NAMES_H

#include "base/out.h"
#include "model/head.h"

/* Write "class.method", or the name alone when there is no class. */
void tv_names_method(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame);

/* The same with the signature, if there is one, behind a blank. Line breaks and tabs become
 * blanks, so that a method never takes more than one line or column. */
void tv_names_full(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame);

/* Write the full name of a frame; "(none)" for TV_NONE. */
void tv_names_frame(struct tv_out *out, const struct tv_head *head, uint32_t frame);

/* Write a thread's name, or "[id]" when it has none. */
void tv_names_thread(struct tv_out *out, const struct tv_head *head, uint32_t thread);

/* Write text with a blank for each control character: line breaks, tabs, and characters that a
 * terminal obeys (ESC, DEL, U+0080 to U+009F). */
void tv_names_line(struct tv_out *out, struct tv_bytes text);

/* Return "dual", "wall" or "thread-cpu". */
const char *tv_names_clocks(unsigned clocks);

/* Write part / whole in percent with one decimal, rounded half up; 0.0 when whole is 0. */
void tv_names_percent(struct tv_out *out, int64_t part, int64_t whole);

/* Write right-aligned in `width` (at most 100) columns: a time in `unit_ns` with `decimals`, a
 * percentage as above, or a number. */
void tv_names_time_column(struct tv_out *out, int width, tv_ns value, tv_ns unit_ns, int decimals);
void tv_names_percent_column(struct tv_out *out, int width, int64_t part, int64_t whole);
void tv_names_number_column(struct tv_out *out, int width, uint64_t value);

/* A cache of the full names of frames, for writers of a line per call. */
struct tv_name_cache {
    const struct tv_head *head;
    struct tv_out text;
    struct {
        size_t start, length;
    } * place; /* [frame_count] position in `text`; length 0: not yet made */
};

void tv_name_cache_init(struct tv_name_cache *names, const struct tv_head *head);
void tv_name_cache_release(struct tv_name_cache *names);

/* Return the full name of a frame. Valid until the next call. */
struct tv_bytes tv_name_cache_get(struct tv_name_cache *names, uint32_t frame);

#endif
