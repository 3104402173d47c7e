/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - --thread, --process, --category and --range, from the user's words to what
 * a question is about.
 */
#ifndef TV_CLI_SELECTION_H
#define TV_CLI_SELECTION_H

#include "analysis/subset/subset.h"
#include "cli/options.h"

/* Does the thread fit one of the words: its name, or its id in decimal? No words: every thread
 * does. */
bool tv_thread_is_named(const struct tv_head *head, uint32_t thread, const struct tv_words *words);

/* Do --thread and --process leave any thread out? */
bool tv_threads_are_chosen(const struct tv_settings *settings);

/* Is it a thread that they want?  As the sinks' callback; `context` is the struct tv_settings. */
bool tv_thread_is_wanted(const struct tv_head *head, uint32_t thread, void *context);

/* TV_ERR_USAGE, with what there is, when a word of --thread, --process or --category fits
 * nothing.  `tables` may be NULL. */
enum tv_status tv_wishes_check(const struct tv_settings *settings, const struct tv_head *head,
                               const struct tv_tables *tables, struct tv_error *err) TV_MUST_CHECK;

/* What the settings want of a trace, after that check; NULL members where they want all.  To be
 * released, also after an error. */
enum tv_status tv_keep_make(const struct tv_settings *settings, const struct tv_trace *trace,
                            struct tv_subset *keep, struct tv_error *err) TV_MUST_CHECK;

/* "A:B" into a range; an end that is not written is open. */
enum tv_status tv_range_parse(const char *text, tv_ns *from, tv_ns *to,
                              struct tv_error *err) TV_MUST_CHECK;

/* The range that the settings name, without one all of time.  TV_ERR_USAGE, with the trace's
 * extent, when nothing of the trace lies in it. */
enum tv_status tv_range_choose(const struct tv_settings *settings, const struct tv_trace *trace,
                               tv_ns *from, tv_ns *to, struct tv_error *err) TV_MUST_CHECK;

/* The range that the settings name and the tracks of threads among those to keep, whose numbers
 * `tracks` holds: trace->track_count places. */
enum tv_status tv_selection_make(const struct tv_settings *settings, const struct tv_trace *trace,
                                 const struct tv_subset *keep, uint32_t *tracks,
                                 struct tv_selection *selection,
                                 struct tv_error *err) TV_MUST_CHECK;

/* The clock that was asked for, of those that the trace has: real where there is a choice and no
 * wish.  TV_ERR_USAGE when it was asked for and is not there. */
enum tv_status tv_clock_choose(const struct tv_settings *settings, unsigned clocks, bool *cpu,
                               struct tv_error *err) TV_MUST_CHECK;

/* TV_ERR_USAGE when --sort asks for a figure of a clock that is not there.  Its words must be those
 * of the method tables: default, name, calls, incl-real, excl-real, incl-cpu, excl-cpu. */
enum tv_status tv_sort_check(const struct tv_settings *settings, unsigned clocks,
                             struct tv_error *err) TV_MUST_CHECK;

/* TV_ERR_USAGE when --sort asks a text table for calls that were not counted, as of samples. */
enum tv_status tv_sort_check_calls(const struct tv_settings *settings, const struct tv_head *head,
                                   struct tv_error *err) TV_MUST_CHECK;

#endif
