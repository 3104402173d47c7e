/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expand.h - the files that folders and patterns of the command line stand for.
 *
 * Call this before the sandbox: the broker then allows the files.  The settings own the new words.
 */
#ifndef TV_CLI_INPUT_EXPAND_H
#define TV_CLI_INPUT_EXPAND_H

#include "cli/options.h"

/* Append the entries of a folder that are regular files, or with `folders` those that are folders,
 * and sort the list.  Names that begin with a dot are left out. */
enum tv_status tv_expand_list(struct tv_settings *settings, const char *folder, bool folders,
                              struct tv_words *to, struct tv_error *err) TV_MUST_CHECK;

/* Append the files of a folder, also to settings->compare.in_folders; TV_ERR_USAGE if there are
 * none. */
enum tv_status tv_expand_folder(struct tv_settings *settings, const char *folder,
                                struct tv_words *to, struct tv_error *err) TV_MUST_CHECK;

/* Replace the folders and patterns in a list by their files, and sort it. */
enum tv_status tv_expand_words(struct tv_settings *settings, struct tv_words *words,
                               struct tv_error *err) TV_MUST_CHECK;

#endif
