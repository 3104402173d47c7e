/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - a call tree or a profile of what the user asked for: straight from the files where
 * that suffices, from a trace where a range or the format asks for one.
 */
#ifndef TV_CLI_MEASURE_H
#define TV_CLI_MEASURE_H

#include "analysis/profile.h"
#include "cli/command.h"

/* A tree and what its names live in. */
struct tv_measured {
    struct tv_call_tree *tree;
    struct tv_head *head;   /* owned when there is no trace */
    struct tv_trace *trace; /* or NULL */
};

enum tv_measure_flags {
    TV_MEASURE_SPLIT_THREADS = 1, /* tree_sink.h */
    TV_MEASURE_FOLD_NAMES = 2,
};

/* Reads the files and reports what was repaired. --thread, --process, --category and --range apply,
 * the last not with TV_MEASURE_SPLIT_THREADS. */
enum tv_status tv_measure_tree(const struct tv_settings *settings, unsigned flags,
                               struct tv_measured *measured, struct tv_error *err) TV_MUST_CHECK;

/* What run() of a command does that shows a tree: measures as above, lets `write` say it and
 * returns the exit code. */
int tv_measure_run(const struct tv_command *command, const struct tv_settings *settings,
                   unsigned flags,
                   enum tv_status (*write)(const struct tv_settings *settings,
                                           const struct tv_call_tree *tree, struct tv_error *err));

/* The method table alone, without a tree where nothing asks for one: the fast way. */
enum tv_status tv_measure_profile(const struct tv_settings *settings, struct tv_measured *measured,
                                  struct tv_profile **profile, struct tv_error *err) TV_MUST_CHECK;
void tv_measured_release(struct tv_measured *measured);

#endif
