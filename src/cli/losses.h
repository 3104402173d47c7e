/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what a trace could not be written as (writers/trace/excerpt.h), on standard error.
 */
#ifndef TV_CLI_LOSSES_H
#define TV_CLI_LOSSES_H

#include "base/types.h"

/* Prints the lines; `name`: of the input. */
void tv_losses_tell(const char *name, struct tv_bytes lines);

#endif
