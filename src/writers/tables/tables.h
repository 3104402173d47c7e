/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables that commands print: profile, call tree, comparison, states of threads,
 * counters, and Traceview's regression output; each as text and in formats for programs.
 *
 * Columns and keys are defined in traceview(1), under the command; those of CSV and JSON are a
 * contract. Times are milliseconds in text and nanoseconds elsewhere.
 */
#ifndef TV_WRITERS_TABLES_TABLES_H
#define TV_WRITERS_TABLES_TABLES_H

#include "analysis/calltree/diff.h"
#include "analysis/calltree/profile.h"
#include "analysis/flame/flame.h"
#include "analysis/states/states.h"
#include "analysis/timeline/counters.h"
#include "base/out.h"

/* ---- Profile ---- */

enum tv_table_format {
    TV_TABLE_TEXT,
    TV_TABLE_CSV,
    TV_TABLE_JSON,
    TV_TABLE_MARKDOWN,
};

/* The rows of a method table: a row is a method or, with frame TV_NONE, the pseudo-method
 * "(context switch)". */
struct tv_profile_rows {
    struct tv_method_cost *rows;
    uint32_t count;
    uint32_t left_out; /* number of rows beyond the limit */
    enum tv_profile_order order;
};

/* List the methods in that order; with `waits`, the pseudo-method too, if the profile measures
 * waits. At most `limit` rows; 0: all. */
void tv_profile_rows_init(struct tv_profile_rows *rows, struct tv_profile *profile,
                          enum tv_profile_order order, bool waits, uint64_t limit);
void tv_profile_rows_release(struct tv_profile_rows *rows);

/* The columns of the text that --columns can name. */
#define TV_PROFILE_COLUMNS                                                                         \
    "incl-cpu|excl-cpu|incl-wall|excl-wall|calls|cpu-per-call|wall-per-call|total|self|samples"

/* Write the rows in a format. */
void tv_profile_table_write(struct tv_out *out, const struct tv_profile *profile,
                            const struct tv_profile_rows *rows, enum tv_table_format format);

/* Write a row's name: "class.method signature", or "(context switch)". */
void tv_profile_row_name(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame);

/* Write a row as JSON members, without the braces. */
void tv_profile_row_json(struct tv_out *out, const struct tv_profile *profile,
                         const struct tv_method_cost *row);

/* Write a row's name in a code span of Markdown. */
void tv_profile_row_markdown(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame);

/* ---- Profile of samples ----
 *
 * What tv_profile_table_write writes for a profile of samples: how much of a value type belongs to
 * each function. */

/* Write the rows in a format. */
void tv_value_table_write(struct tv_out *out, const struct tv_profile *profile,
                          const struct tv_profile_rows *rows, enum tv_table_format format);

struct tv_value_scale;

/* The part of a value that no row shows, and the line that says so. */
struct tv_unshown {
    int64_t value, whole;
    int column;       /* width of the column of the value, with those before it */
    const char *what; /* "samples without a stack" */
};
#define TV_UNSHOWN_SAMPLES "samples without a stack, or of hidden functions alone"

/* Write the line, aligned with the columns of a file; on a screen, columns have other widths.
 * Nothing for 0. */
void tv_unshown_write(struct tv_out *out, const struct tv_value_scale *scale,
                      const struct tv_unshown *unshown);

/* Write a row as JSON members, without the braces. */
void tv_value_row_json(struct tv_out *out, const struct tv_profile *profile,
                       const struct tv_method_cost *row);

/* ---- Call tree as indented text or JSON ---- */

struct tv_tree_text_options {
    uint64_t depth; /* number of levels; 0: all */
    bool json;
    bool bottom_up; /* the layout is inverted, and has totals */
    /* Written above the text, and in each line of JSON. */
    struct tv_compensation compensation;
    unsigned clocks;                  /* of the tree */
    struct tv_sample_figures figures; /* of the tree */
};

/* The columns of the text that --columns can name. */
#define TV_TREE_COLUMNS "total|self|calls|samples|level"

/* Write the layout's frames, depth first. */
void tv_tree_text_write(struct tv_out *out, const struct tv_trace_info *head,
                        const struct tv_flame *flame, const struct tv_tree_text_options *options);

/* ---- Comparison of two profiles ---- */

enum tv_diff_format {
    TV_DIFF_TEXT,
    TV_DIFF_CSV,
    TV_DIFF_JSON,
};

/* The columns of the text that --columns can name. */
#define TV_DIFF_COLUMNS "a|b|difference|ratio|calls-a|calls-b"

struct tv_diff_table_options {
    enum tv_diff_format format;
    uint64_t limit; /* methods of each group; 0: all */
    bool sort_each; /* text: sort each table of the methods in both by its own difference */
};

/* Write the comparison. Sorts the methods in both again when options->sort_each is set. */
void tv_diff_table_write(struct tv_out *out, struct tv_diff *diff,
                         const struct tv_diff_table_options *options);

/*
 * ---- States: the time of threads by state and by processor ----
 *
 * TSV and CSV have one line a thread with all figures; text and JSON also show how busy the
 * processors were.
 */

enum tv_states_format {
    TV_STATES_TEXT,
    TV_STATES_TSV,
    TV_STATES_CSV,
    TV_STATES_JSON,
};

/* The columns of the text that --columns can name; "cpus" are those of the second table. */
#define TV_STATES_COLUMNS                                                                          \
    "running|runnable|preempted|sleeping|uninterruptible|io-wait|other|wakeups|longest-wait|cpus"

/* Write at most `limit` threads; 0: all. */
void tv_states_table_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_states *states, enum tv_states_format format,
                           uint64_t limit);

/* ---- Counters: figures of each series in a range ---- */

enum tv_counters_format {
    TV_COUNTERS_TEXT,
    TV_COUNTERS_CSV,
    TV_COUNTERS_JSON,
};

/* The columns of the text that --columns can name. */
#define TV_COUNTERS_COLUMNS "at|mean|min|max|first|last|change|rate|samples"

struct tv_counters_table_options {
    enum tv_counters_format format;
    uint64_t limit; /* rows; 0: all */
    bool has_at;    /* add the value at `at`, a time on the trace's axis */
    tv_ns at;
};

/* Write the rows in their order. */
void tv_counters_table_write(struct tv_out *out, const struct tv_trace *trace,
                             const struct tv_counter_figures *figures,
                             const struct tv_counters_table_options *options);

/* Write the figures of a row as JSON members, without the braces. */
void tv_counter_row_json(struct tv_out *out, const struct tv_series_figures *row);

/*
 * ---- Regression output: everything that Traceview's -r printed ----
 *
 * Times are whole microseconds; a clock that the trace lacks reads "-". The columns are defined
 * in traceview(1), REGRESSION TEXT.
 */

/* `profile` is the profile of the whole trace; it is sorted again. */
void tv_regression_write(struct tv_out *out, const struct tv_trace *trace,
                         struct tv_profile *profile);

#endif
