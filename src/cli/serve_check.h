/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_check.h - whether the options of the upload server can be meant so.
 */
#ifndef TV_CLI_SERVE_CHECK_H
#define TV_CLI_SERVE_CHECK_H

#include "base/error.h"
#include "cli/command.h"

/* Says of the first option that contradicts another, lets strangers in or could have no effect what
 * is wrong with it. */
enum tv_status tv_serve_check(const struct tv_settings *settings, struct tv_error *err);

#endif
