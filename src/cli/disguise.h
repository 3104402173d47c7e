/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disguise.h - --hash-names, --salt and --strip-args, from the user's words to what is written.
 */
#ifndef TV_CLI_DISGUISE_H
#define TV_CLI_DISGUISE_H

#include "cli/options.h"
#include "writers/trace/redaction.h"

#define TV_OPTIONS_DISGUISE                                                                        \
    TV_OPTION("hash-names", NULL, TV_OPTION_FLAG, hash_names,                                      \
              "hashes in the place of all names and texts; no metadata"),                          \
        TV_OPTION("salt", "TEXT", TV_OPTION_TEXT, salt,                                            \
                  "make the same hashes as others with this secret (default: chance)"),            \
        TV_OPTION("strip-args", NULL, TV_OPTION_FLAG, strip_args,                                  \
                  "without arguments, snapshots, stack texts and metadata")

/* HMAC-SHA-256. */
tv_redaction_mac tv_disguise_hmac;

/* Names are hashed under a key that nobody knows. */
enum tv_status tv_disguise_by_chance(struct tv_redaction_options *options,
                                     struct tv_error *err) TV_MUST_CHECK;

/* *chosen: whether anything is to be disguised.  TV_ERR_USAGE for a salt of nothing. */
enum tv_status tv_disguise_choose(const struct tv_settings *settings,
                                  struct tv_redaction_options *options, bool *chosen,
                                  struct tv_error *err) TV_MUST_CHECK;

#endif
