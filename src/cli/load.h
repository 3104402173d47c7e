/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - from FILE arguments to a filled sink or a finished trace: what joins inputs, readers,
 * sinks and names.
 */
#ifndef TV_CLI_LOAD_H
#define TV_CLI_LOAD_H

#include "base/progress.h"
#include "cli/options.h"
#include "model/builder.h"

/* Reads all files, as one trace, into the sink: with the mapping, the number of threads and the
 * progress that the settings ask for.  `progress` NULL: shown on the terminal. */
enum tv_status tv_load_sink(const struct tv_settings *settings, struct tv_head *head,
                            struct tv_sink *sink, struct tv_progress *progress,
                            struct tv_error *err) TV_MUST_CHECK;

/* The same of `count` files, into a trace, which the caller frees. */
enum tv_status tv_load_trace(const struct tv_settings *settings, const char *const *files,
                             size_t count, struct tv_progress *progress, struct tv_trace **trace,
                             struct tv_error *err) TV_MUST_CHECK;

/* What was repaired, one line a kind, to standard error; nothing when the user wants quiet.  Calls
 * that began before the trace or are open at its end are no repair: almost every trace has them,
 * `info` counts them. */
void tv_load_report(const struct tv_settings *settings, const struct tv_head *head);

#endif
