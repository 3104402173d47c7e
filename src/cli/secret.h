/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - a token given as an option, or better as a file that others cannot read.
 */
#ifndef TV_CLI_SECRET_H
#define TV_CLI_SECRET_H

#include "base/error.h"

/* *secret becomes a copy to be freed, NULL when neither is given; of a file its first line. */
enum tv_status tv_secret_read(const char *text, const char *path, char **secret,
                              struct tv_error *err) TV_MUST_CHECK;

#endif
