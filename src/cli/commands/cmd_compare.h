/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.h - `diff` for groups of runs: what changed, how sure that is, and rules for CI. */
#ifndef TV_CLI_COMMANDS_CMD_COMPARE_H
#define TV_CLI_COMMANDS_CMD_COMPARE_H

#include "analysis/compare/comparison.h"
#include "analysis/compare/run_table.h"
#include "cli/command.h"

/* Did the command line name groups (--base, --new)? */
bool tv_compare_has_groups(const struct tv_settings *settings);

/* Replace folders and patterns among the groups by the files in them; also those of
 * --baseline-dir. */
enum tv_status tv_compare_prepare(struct tv_settings *settings, struct tv_error *err);

/* The table of the rows that are asked for, and that of the call paths for the flame graph and for
 * rules about paths. */
struct tv_compare_tables {
    struct tv_run_table rows, paths;
    bool reads_files;       /* not only figures of methods, which have no paths and threads */
    bool has_paths;         /* `paths` is filled, unless `rows` are paths already */
    bool has_lengths;       /* rows have the lengths of calls, for --figure or a rule */
    struct tv_bytes thread; /* only calls of threads with such names; empty: of all */
    struct tv_compare_tables *of_threads; /* [thread_count] for each pattern of the rules */
    uint32_t thread_count;
    struct tv_comparison compared_rows, compared_paths; /* made when they are needed */
    bool has_compared_rows, has_compared_paths;
};

/* Read all runs of the groups into the tables, and match the rows of these. */
enum tv_status tv_compare_read_runs(const struct tv_settings *settings,
                                    struct tv_compare_tables *tables, struct tv_error *err);

/* Return the settings for one run: its file, and the mapping and range of its side. */
struct tv_settings tv_compare_run_settings(const struct tv_settings *settings,
                                           const char *const *file, enum tv_run_side side);

/* Check that a file can be read again. */
enum tv_status tv_compare_check_regular(const char *file, struct tv_error *err);

/* Compare the groups; return the exit code. */
int tv_compare_run(const struct tv_command *command, const struct tv_settings *settings);

/* Fill a table of rows by method, and match it.  Nobody looks at lengths of calls if `has_lengths`
 * is false. */
typedef enum tv_status tv_compare_fill(void *context, struct tv_run_table *rows, bool has_lengths,
                                       struct tv_error *err);

/* Compare runs that `fill` has from elsewhere than from files; return the exit code.  Reports with
 * a flame graph cannot be written. */
int tv_compare_run_rows(const struct tv_command *command, const struct tv_settings *settings,
                        tv_compare_fill *fill, void *context);

/* Open the viewer on the groups (--open).  Return the exit code. */
int tv_compare_open(const struct tv_command *command, const struct tv_settings *settings);

#endif
