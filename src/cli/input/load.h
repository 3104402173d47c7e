/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - from FILE arguments to a filled sink or a finished trace: what joins inputs, readers,
 * sinks and names.
 */
#ifndef TV_CLI_LOAD_H
#define TV_CLI_LOAD_H

#include "base/progress.h"
#include "cli/input/inputs.h"
#include "cli/options.h"
#include "model/builder.h"

struct tv_teller;

/* Files that are open and not yet read. */
struct tv_loading;

/* Opens `count` files, as one trace, moved as --offset says, the mapping and the symbols that the
 * settings ask for.  An input that no reader knows is an error, and a wrong --filter.  What can
 * only become a trace comes from the user's cache when it lies there (cached.h), and is put there
 * when it took long. */
enum tv_status tv_load_open(const struct tv_settings *settings, const char *const *files,
                            size_t count, struct tv_loading **loading,
                            struct tv_error *err) TV_MUST_CHECK;

/* Whether that will fail for the settings, or for a file that is at hand and not packed: looks at a
 * file's first bytes alone. */
enum tv_status tv_load_check(const struct tv_settings *settings,
                             struct tv_error *err) TV_MUST_CHECK;
enum tv_status tv_load_check_file(const char *path, struct tv_error *err) TV_MUST_CHECK;

/* The same of files that are open already and are taken over.  `progress`, or NULL, is told how far
 * unpacking is, and can stop it. */
enum tv_status tv_load_open_files(const struct tv_settings *settings, struct tv_input_file *given,
                                  size_t count, struct tv_progress *progress,
                                  struct tv_loading **loading, struct tv_error *err) TV_MUST_CHECK;

/* The sources themselves, in the order in which a trace of them would keep them; the loading is
 * gone. The array is to be given back with tv_free. */
void tv_load_take_sources(struct tv_loading *loading, struct tv_source ***sources, size_t *count);

/* Gives up what was opened; NULL is taken too. */
void tv_load_close(struct tv_loading *loading);

/* Whether anything had to be unpacked; and whether something was to be said of that, which a trace
 * does not hold. */
bool tv_load_is_packed(const struct tv_loading *loading);
bool tv_load_has_notes(const struct tv_loading *loading);

/* The inputs: archives may hold several. */
size_t tv_load_count(const struct tv_loading *loading);

/* One of them. */
const struct tv_inputs_row *tv_load_input(const struct tv_loading *loading, size_t i);

/* Sources that come through a pipe as they are, not packed, have this called before they are waited
 * for (base/source.h). */
void tv_load_before_waiting(struct tv_loading *loading, void (*call)(void *context), void *context);

/* Whether a sink can take all of them, and no filter is asked for; else they must become a trace.
 */
bool tv_load_can_stream(const struct tv_loading *loading);

/* Whether all of them can be printed as they are read: those that stream, and those whose records
 * can be told.  False as well where a filter or an offset is asked for. */
bool tv_load_can_dump(const struct tv_loading *loading);

/* Reads into a sink, or into a trace (of what --filter wants), which the caller frees; the loading
 * is gone.  The number of threads is that of the settings.  `progress` NULL: shown on the terminal.
 */
enum tv_status tv_load_stream(struct tv_loading *loading, struct tv_head *head,
                              struct tv_sink *sink, struct tv_progress *progress,
                              struct tv_error *err) TV_MUST_CHECK;
/* The same, with a teller for those whose records can be told. */
enum tv_status tv_load_dump(struct tv_loading *loading, struct tv_head *head, struct tv_sink *sink,
                            struct tv_teller *teller, struct tv_progress *progress,
                            struct tv_error *err) TV_MUST_CHECK;
enum tv_status tv_load_build(struct tv_loading *loading, struct tv_progress *progress,
                             struct tv_trace **trace, struct tv_error *err) TV_MUST_CHECK;

/* Opens and builds. */
enum tv_status tv_load_trace(const struct tv_settings *settings, const char *const *files,
                             size_t count, struct tv_progress *progress, struct tv_trace **trace,
                             struct tv_error *err) TV_MUST_CHECK;

/* The whole of a command that reads all FILEs as one trace: loads them, tells what was repaired,
 * and calls `act`.  The exit code. */
struct tv_command;
int tv_load_run(const struct tv_command *command, const struct tv_settings *settings,
                enum tv_status (*act)(const struct tv_settings *settings,
                                      const struct tv_trace *trace, struct tv_error *err));

/* What was repaired, one line a kind, to standard error; nothing when the user wants quiet.  Calls
 * that began before the trace or are open at its end are no repair: almost every trace has them,
 * `info` counts them. */
void tv_load_report(const struct tv_settings *settings, const struct tv_head *head);

#endif
