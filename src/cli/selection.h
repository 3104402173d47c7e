/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - --thread and --range, from the user's words to what a question is about.
 */
#ifndef TV_CLI_SELECTION_H
#define TV_CLI_SELECTION_H

#include "analysis/call_tree.h"
#include "cli/options.h"

/* Does the thread fit one of the words: its name, or its id in decimal? No words: every thread
 * does. */
bool tv_thread_is_named(const struct tv_head *head, uint32_t thread, const struct tv_words *words);

/* The same as the sinks' callback; `context` is the struct tv_settings. */
bool tv_thread_is_wanted(const struct tv_head *head, uint32_t thread, void *context);

/* TV_ERR_USAGE when a word fits no thread. */
enum tv_status tv_threads_check(const struct tv_head *head, const struct tv_words *words,
                                struct tv_error *err) TV_MUST_CHECK;

/* "A:B" into a range; an end that is not written is open. */
enum tv_status tv_range_parse(const char *text, tv_ns *from, tv_ns *to,
                              struct tv_error *err) TV_MUST_CHECK;

/* The selection that the settings name in the trace. `tracks` holds trace->track_count places. */
enum tv_status tv_selection_make(const struct tv_settings *settings, const struct tv_trace *trace,
                                 uint32_t *tracks, struct tv_selection *selection,
                                 struct tv_error *err) TV_MUST_CHECK;

/* The clock that was asked for, of those that the trace has: real where there is a choice and no
 * wish.  TV_ERR_USAGE when it was asked for and is not there. */
enum tv_status tv_clock_choose(const struct tv_settings *settings, unsigned clocks, bool *cpu,
                               struct tv_error *err) TV_MUST_CHECK;

/* TV_ERR_USAGE when --sort asks for a figure of a clock that is not there.  Its words must be those
 * of the method tables: default, name, calls, incl-real, excl-real, incl-cpu, excl-cpu. */
enum tv_status tv_sort_check(const struct tv_settings *settings, unsigned clocks,
                             struct tv_error *err) TV_MUST_CHECK;

#endif
