/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - from the words of options to what a command works on: threads, processes,
 * categories, ranges, clocks, sort orders, time offsets and redaction.
 */
#ifndef TV_CLI_INPUT_SELECTION_H
#define TV_CLI_INPUT_SELECTION_H

#include "analysis/subset/subset.h"
#include "base/error.h"
#include "cli/options.h"
#include "writers/trace/redaction.h"

/* ---- --thread, --process, --category ---- */

/* Does one of the words match the thread: its name, or its id in decimal?  True without words. */
bool tv_thread_is_named(const struct tv_trace_info *head, uint32_t thread,
                        const struct tv_words *words);

/* Was --thread or --process given? */
bool tv_threads_are_selected(const struct tv_settings *settings);

/* Do --thread and --process select the thread?  A callback of sinks; `context` is the struct
 * tv_settings. */
bool tv_thread_is_selected(const struct tv_trace_info *head, uint32_t thread, void *context);

/* TV_ERR_USAGE when a word of --thread, --process or --category matches nothing; the message lists
 * what exists.  `tables` may be NULL. */
enum tv_status tv_selection_check(const struct tv_settings *settings,
                                  const struct tv_trace_info *head, const struct tv_tables *tables,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Check the words as above and make the subset of a trace that the settings select; NULL members
 * select everything.  The caller releases it, also after an error. */
enum tv_status tv_subset_choose(const struct tv_settings *settings, const struct tv_trace *trace,
                                struct tv_subset *subset, struct tv_error *err) TV_MUST_CHECK;

/* ---- --range, --clock, --sort ---- */

/* Parse "A:B"; a missing end leaves the range open on that side. */
enum tv_status tv_range_parse(const char *text, tv_ns *from, tv_ns *to,
                              struct tv_error *err) TV_MUST_CHECK;

/* Return the range of the settings; without --range all of time.  TV_ERR_USAGE when it does not
 * overlap the trace; the message has the extent of the trace. */
enum tv_status tv_range_choose(const struct tv_settings *settings, const struct tv_trace *trace,
                               tv_ns *from, tv_ns *to, struct tv_error *err) TV_MUST_CHECK;

/* Make a selection of the range and the thread tracks of the subset.  `tracks` has room for
 * trace->track_count numbers and must outlive the selection. */
enum tv_status tv_selection_make(const struct tv_settings *settings, const struct tv_trace *trace,
                                 const struct tv_subset *subset, uint32_t *tracks,
                                 struct tv_selection *selection,
                                 struct tv_error *err) TV_MUST_CHECK;

/* Choose the clock among those of the trace (`clocks`): --clock, else wall when there is one.
 * TV_ERR_USAGE when the trace lacks the clock that was asked for. */
enum tv_status tv_clock_choose(const struct tv_settings *settings, unsigned clocks, bool *cpu,
                               struct tv_error *err) TV_MUST_CHECK;

/* TV_ERR_USAGE when --sort needs a clock that the trace lacks.  The words must be those of the
 * method tables: default, name, calls, incl-wall, excl-wall, incl-cpu, excl-cpu. */
enum tv_status tv_sort_check(const struct tv_settings *settings, unsigned clocks,
                             struct tv_error *err) TV_MUST_CHECK;

/* TV_ERR_USAGE when a text table is to be sorted by calls, but calls were not counted (samples). */
enum tv_status tv_sort_check_calls(const struct tv_settings *settings,
                                   const struct tv_trace_info *head,
                                   struct tv_error *err) TV_MUST_CHECK;

/* ---- --offset ---- */

/* Return the offset of each of `count` files (0 unless --offset names it); the caller frees the
 * array. A word names its file as the arguments do, or by its name without directories when that is
 * unique. TV_ERR_USAGE for a name that matches no file or several, or for a file that is named
 * twice. */
enum tv_status tv_offsets_find(const struct tv_words *words, const char *const *files, size_t count,
                               tv_ns **offsets, struct tv_error *err) TV_MUST_CHECK;

/* Is any offset not 0? */
bool tv_offsets_move(const tv_ns *offsets, size_t count);

/* ---- Redaction: --hash-names, --salt, --strip-args ---- */

#define TV_OPTIONS_REDACTION                                                                       \
    TV_OPTION("hash-names", NULL, TV_OPTION_FLAG, redact.hash_names,                               \
              "replace all names and texts by hashes, and drop metadata"),                         \
        TV_OPTION(                                                                                 \
            "salt", "TEXT", TV_OPTION_TEXT, redact.salt,                                           \
            "secret for the hashes: the same secret gives the same hashes (default: random)"),     \
        TV_OPTION("strip-args", NULL, TV_OPTION_FLAG, redact.strip_args,                           \
                  "drop arguments, snapshots, stack texts and metadata")

/* HMAC-SHA-256. */
tv_redaction_mac tv_redaction_hmac;

/* Hash names with a random key, which nobody knows. */
enum tv_status tv_redaction_random(struct tv_redaction_options *options,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Fill the options from the settings.  *chosen: is there anything to redact?  TV_ERR_USAGE for an
 * empty salt, or for one without --hash-names. */
enum tv_status tv_redaction_choose(const struct tv_settings *settings,
                                   struct tv_redaction_options *options, bool *chosen,
                                   struct tv_error *err) TV_MUST_CHECK;

#endif
