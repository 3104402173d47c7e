/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - a call tree or a profile of the selected part of the files: streamed if possible;
 * from a trace if a range, a filter or the format needs one.
 */
#ifndef TV_CLI_MEASURE_H
#define TV_CLI_MEASURE_H

#include "analysis/calltree/profile.h"
#include "analysis/states/statistics.h"
#include "cli/command.h"

/* A call tree, and the trace or head that owns its names. */
struct tv_measured {
    struct tv_call_tree *tree;
    struct tv_trace_info *head; /* owned if there is no trace */
    struct tv_trace *trace;     /* or NULL */
};

enum tv_measure_flags {
    TV_MEASURE_SPLIT_THREADS = 1, /* tree_sink.c */
    TV_MEASURE_FOLD_NAMES = 2,
    TV_MEASURE_TRACE = 4, /* make a trace, also where a stream would do */
};

/* Read the files into a call tree and report repairs. --thread, --process, --category and --range
 * apply; --range cannot be combined with TV_MEASURE_SPLIT_THREADS. */
enum tv_status tv_measure_tree(const struct tv_settings *settings, unsigned flags,
                               struct tv_measured *measured, struct tv_error *err) TV_MUST_CHECK;

/* Check that the samples of two traces have one unit.  Values of other names, which the user has
 * not chosen with --value, are told on standard error: allocated bytes are not bytes in use. */
enum tv_status tv_figures_check_sides(const struct tv_settings *settings,
                                      const struct tv_trace_info *const heads[2],
                                      const struct tv_sample_figures *const figures[2],
                                      struct tv_error *err) TV_MUST_CHECK;

/* As tv_measure_tree, in memory that trees of further files can use again; NULL: none. */
enum tv_status tv_measure_next_tree(const struct tv_settings *settings, unsigned flags,
                                    struct tv_tree_memory *memory, struct tv_measured *measured,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Run a command that prints a call tree: measure as above, call `write`, and return the exit code.
 */
int tv_measure_run(const struct tv_command *command, const struct tv_settings *settings,
                   unsigned flags,
                   enum tv_status (*write)(const struct tv_settings *settings,
                                           const struct tv_call_tree *tree, struct tv_error *err));

/* Read the files into a profile. This is the fast way: it makes no tree unless the options need
 * one. */
enum tv_status tv_measure_profile(const struct tv_settings *settings, struct tv_measured *measured,
                                  struct tv_profile **profile, struct tv_error *err) TV_MUST_CHECK;

/* Select the calls that were measured from a trace (TV_MEASURE_TRACE) without filters and
 * categories, for statistics of their lengths. */
struct tv_measured_calls {
    struct tv_selection selection;
    uint32_t *tracks; /* tracks of the selection */
};

enum tv_status tv_measured_calls_init(struct tv_measured_calls *calls,
                                      const struct tv_settings *settings,
                                      const struct tv_measured *measured,
                                      struct tv_error *err) TV_MUST_CHECK;
void tv_measured_calls_release(struct tv_measured_calls *calls);

/* Compute the lengths of the calls of each name on a clock, of calls that can be selected as above;
 * free them with tv_statistics_free. */
enum tv_status tv_measure_lengths(const struct tv_settings *settings,
                                  const struct tv_measured *measured, bool by_cpu,
                                  struct tv_statistics **lengths,
                                  struct tv_error *err) TV_MUST_CHECK;
void tv_measured_release(struct tv_measured *measured);

#endif
