/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - names, numbers and units as every text shows them.
 */
#ifndef TV_WRITERS_TEXT_NAMES_H
#define TV_WRITERS_TEXT_NAMES_H

#include "analysis/calltree/call_tree.h"
#include "base/out.h"
#include "model/trace_info.h"

/* Write "class.method", or the name alone when there is no class; "class.method:17" for a function
 * at a sampled line. */
void tv_names_method(struct tv_out *out, const struct tv_trace_info *head,
                     const struct tv_frame *frame);

/* Write tv_names_method and, after a blank, the signature, unless it is the mangled name of a C++
 * or Rust function, which only keeps overloads apart. Line breaks and tabs become blanks, so that a
 * method never takes more than one line or column. */
void tv_names_full(struct tv_out *out, const struct tv_trace_info *head,
                   const struct tv_frame *frame);

/* Write the full name of a frame; "(none)" for TV_NONE. */
void tv_names_frame(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame);

/* Write a thread's name, or "[id]" when it has none. */
void tv_names_thread(struct tv_out *out, const struct tv_trace_info *head, uint32_t thread);

/* Write a process as "name (id)", or "(id)" if it has no name; TV_NONE as "(no process)". */
void tv_names_process(struct tv_out *out, const struct tv_trace_info *head, uint32_t process);

/* Write text with a blank for each control character: line breaks, tabs, and characters that a
 * terminal obeys (ESC, DEL, U+0080 to U+009F). */
void tv_names_line(struct tv_out *out, struct tv_bytes text);

/* Return true when the text has no such character, so that tv_names_line writes it as it is. */
bool tv_names_is_line(struct tv_bytes text);

/* Write a time, microseconds since 1970, as "2026-11-20T10:11:12.000345Z". */
void tv_names_date(struct tv_out *out, int64_t us);

/* Return "kernel", "inlined" and so on; "" for the unknown kind. */
const char *tv_names_frame_kind(enum tv_frame_kind kind);

/* Return "dual", "wall" or "thread-cpu". */
const char *tv_names_clocks(unsigned clocks);

/* Return the same of an input; "none" when it has no times. */
const char *tv_names_input_clocks(const struct tv_input *input);

/* Write part / whole in percent with one decimal, rounded half up; 0.0 when whole is 0. */
void tv_names_percent(struct tv_out *out, int64_t part, int64_t whole);

/* Write right-aligned in `width` (at most 100) columns: a time in `unit_ns` with `decimals`, a
 * percentage as above, or a number. */
void tv_names_time_column(struct tv_out *out, int width, tv_ns value, tv_ns unit_ns, int decimals);
void tv_names_percent_column(struct tv_out *out, int width, int64_t part, int64_t whole);
void tv_names_number_column(struct tv_out *out, int width, uint64_t value);

/* Write a value of a counter for people: whole numbers with all digits, others with six significant
 * digits, and with all digits before the point; below 1e15. "-" for NaN. */
void tv_names_double(struct tv_out *out, double value);

/* A cache of the full names of frames, for writers of a line per call. */
struct tv_name_cache {
    const struct tv_trace_info *head;
    struct tv_out text;
    struct {
        size_t start, length;
    } * place; /* [frame_count] position in `text`; length 0: not yet made */
};

void tv_name_cache_init(struct tv_name_cache *names, const struct tv_trace_info *head);
void tv_name_cache_release(struct tv_name_cache *names);

/* Return the full name of a frame. Valid until the next call. */
struct tv_bytes tv_name_cache_get(struct tv_name_cache *names, uint32_t frame);

/* ---- JSON members ---- */

/* Write "class.name", as text and as a JSON string. */
void tv_names_put_function(struct tv_out *out, const struct tv_trace_info *head,
                           const struct tv_frame *frame);
void tv_json_put_function(struct tv_out *out, const struct tv_trace_info *head,
                          const struct tv_frame *frame);

/* Write a member: `before` (such as ", "), the key in quotes and ": "; then the value. */
void tv_json_put_key(struct tv_out *out, const char *before, const char *key);
void tv_json_put_text(struct tv_out *out, const char *before, const char *key,
                      struct tv_bytes text);
void tv_json_put_u64(struct tv_out *out, const char *before, const char *key, uint64_t value);
void tv_json_put_i64(struct tv_out *out, const char *before, const char *key, int64_t value);

/* As above, or null when the value is missing. */
void tv_json_put_some_i64(struct tv_out *out, const char *before, const char *key, bool there,
                          int64_t value);

/* Write the members "class", "method" and "signature" of a frame. */
void tv_json_put_frame(struct tv_out *out, const char *before, const struct tv_trace_info *head,
                       const struct tv_frame *frame);

/* Write a number (a value, not a member) with the fewest digits that reproduce it. An infinite
 * number is the string "Infinity" or "-Infinity"; NaN is null. */
void tv_json_put_double(struct tv_out *out, double value);

/* ---- Figures: units and titles, which depend on what the inputs measured ---- */

/* The unit in which figures are written: milliseconds, or samples when there are no times. */
struct tv_figure_unit {
    const char *name; /* "ms" */
    tv_ns ns;         /* nanoseconds of one on the trace's axis */
    int decimals;
};

/* Return the unit of all figures of a trace. */
struct tv_figure_unit tv_figures_unit(const struct tv_trace_info *head);

/* Kinds of units that weights of samples have. */
enum tv_unit_kind {
    TV_UNIT_PLAIN, /* a number of things: the unit says nothing more */
    TV_UNIT_TIME,
    TV_UNIT_BYTES,
    TV_UNIT_OTHER, /* any other text */
};

/* Return the kind of a unit, and in *times how many nanoseconds or bytes one is, else 1. */
enum tv_unit_kind tv_unit_kind_of(struct tv_bytes unit, int64_t *times);

/* Scale and unit for writing the weights of a value type. */
struct tv_value_scale {
    struct tv_figure_unit unit; /* `name` is empty for plain numbers */
    int64_t times;              /* weights are multiplied by this first */
    char text[40];              /* of a unit that only the file knows */
};

/* Choose the scale for weights up to `largest`: of time ns to s, of bytes B to GiB; other units,
 * and counts, are written as they are. */
void tv_value_scale_of_unit(struct tv_value_scale *scale, struct tv_bytes unit, int64_t largest);

/* Choose it for the figures of a trace's samples. */
void tv_value_scale_choose(struct tv_value_scale *scale, const struct tv_trace_info *head,
                           const struct tv_sample_figures *figures, int64_t largest);

/* Write a weight, without its unit. */
void tv_value_scale_write(struct tv_out *out, const struct tv_value_scale *scale, int64_t weight);

/* Write a line: the value type, its samples and their sum. */
void tv_names_value(struct tv_out *out, const struct tv_trace_info *head,
                    const struct tv_sample_figures *figures);

/* Write what an axis of weights is: "weight, not time, in bytes". */
void tv_names_weight_axis(struct tv_out *out, struct tv_bytes unit);

/* Return true when every input counts calls, so that calls and times per call may be shown. */
bool tv_figures_count_calls(const struct tv_trace_info *head);

/* Write the remarks above a table: that and how often the trace was sampled; that samples
 * without times are shown beside times. */
void tv_figures_note(struct tv_out *out, const struct tv_trace_info *head);

/* Write a line above a table that says how much overhead was subtracted from its times; nothing
 * when none was. `clocks` are the table's clocks. */
void tv_compensation_write(struct tv_out *out, const struct tv_compensation *compensation,
                           unsigned clocks);

#endif
