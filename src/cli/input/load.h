/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - from FILE arguments to a filled sink or a finished trace. This joins inputs, readers,
 * sinks, names, the filter and the index cache.
 *
 *     tv_load_open --> struct tv_loading --+--> tv_load_stream   events into a sink, no trace
 *                                          +--> tv_load_dump     records as they are in the file
 *                                          '--> tv_load_build    a trace, perhaps from the cache
 *
 * Each of the three functions at the right takes the loading over.
 */
#ifndef TV_CLI_LOAD_H
#define TV_CLI_LOAD_H

#include "base/progress.h"
#include "cli/input/inputs.h"
#include "cli/options.h"
#include "model/builder/builder.h"

struct tv_record_visitor;

/* Files that are open but not read yet. */
struct tv_loading;

/* Open `count` files as one trace, with the offsets, mapping and symbols of the settings. A file
 * that no reader knows, or a --filter that is not valid, is an error. Formats that cannot be
 * streamed come from the index cache if they are in it (index_cache.h), and are written to it if
 * reading took long. */
enum tv_status tv_load_open(const struct tv_settings *settings, const char *const *files,
                            size_t count, struct tv_loading **loading,
                            struct tv_error *err) TV_MUST_CHECK;

/* Check the settings, or the first bytes of a file that is not packed, so that tv_load_open does
 * not fail for them later. */
enum tv_status tv_load_check(const struct tv_settings *settings,
                             struct tv_error *err) TV_MUST_CHECK;
enum tv_status tv_load_check_file(const char *path, struct tv_error *err) TV_MUST_CHECK;

/* Do the same with files that are open already, and take them over. `progress`, or NULL, shows how
 * far unpacking is and can cancel it. */
enum tv_status tv_load_open_files(const struct tv_settings *settings, struct tv_input_file *given,
                                  size_t count, struct tv_progress *progress,
                                  struct tv_loading **loading, struct tv_error *err) TV_MUST_CHECK;

/* Return the sources in the order in which a trace would keep them, and end the loading. The caller
 * frees the array with tv_free. */
void tv_load_take_sources(struct tv_loading *loading, struct tv_source ***sources, size_t *count);

/* Close everything that was opened. NULL is allowed. */
void tv_load_close(struct tv_loading *loading);

/* Was anything unpacked? Were there notes about containers? A trace does not hold those. */
bool tv_load_is_packed(const struct tv_loading *loading);
bool tv_load_has_notes(const struct tv_loading *loading);

/* Return the number of inputs; an archive can have several. */
size_t tv_load_count(const struct tv_loading *loading);

/* Return one input. */
const struct tv_inputs_row *tv_load_input(const struct tv_loading *loading, size_t i);

/* Call a function before waiting for more data from an unpacked pipe (base/source.h). */
void tv_load_before_waiting(struct tv_loading *loading, void (*call)(void *context), void *context);

/* Can all inputs be streamed into a sink? False with a filter: that needs a trace. */
bool tv_load_can_stream(const struct tv_loading *loading);

/* Can all inputs be printed while they are read: formats that stream, and formats whose records can
 * be visited? False with a filter or an offset. */
bool tv_load_can_dump(const struct tv_loading *loading);

/* Let tv_load_build add up samples where nothing asks for single ones.  A trace from the cache has
 * single ones all the same; one with sums is not written there. */
void tv_load_sum_samples(struct tv_loading *loading, enum tv_sample_detail detail);

/* Read into a sink, or build the trace that --filter leaves, which the caller frees. Both end the
 * loading. --jobs sets the number of threads. `progress` NULL: show the progress on the terminal.
 */
enum tv_status tv_load_stream(struct tv_loading *loading, struct tv_trace_info *head,
                              struct tv_sink *sink, struct tv_progress *progress,
                              struct tv_error *err) TV_MUST_CHECK;
/* Do the same, with a visitor for formats whose records can be visited. */
enum tv_status tv_load_dump(struct tv_loading *loading, struct tv_trace_info *head,
                            struct tv_sink *sink, struct tv_record_visitor *visitor,
                            struct tv_progress *progress, struct tv_error *err) TV_MUST_CHECK;
enum tv_status tv_load_build(struct tv_loading *loading, struct tv_progress *progress,
                             struct tv_trace **trace, struct tv_error *err) TV_MUST_CHECK;

/* Open the files and build the trace. */
enum tv_status tv_load_trace(const struct tv_settings *settings, const char *const *files,
                             size_t count, struct tv_progress *progress, struct tv_trace **trace,
                             struct tv_error *err) TV_MUST_CHECK;

/* Run a command that reads all FILEs as one trace: load them, report repairs, call `act`. Return
 * the exit code. */
struct tv_command;
int tv_load_run(const struct tv_command *command, const struct tv_settings *settings,
                enum tv_status (*act)(const struct tv_settings *settings,
                                      const struct tv_trace *trace, struct tv_error *err));

/* Print repairs to standard error, one line per kind; nothing with -q. Calls that began before the
 * trace or are open at its end are not reported: almost every trace has them, and `info` counts
 * them. */
void tv_load_report(const struct tv_settings *settings, const struct tv_trace_info *head);

#endif
