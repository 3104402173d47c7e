/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what a trace could not be written as, on standard error, a line each.
 */
#ifndef TV_CLI_LOSSES_H
#define TV_CLI_LOSSES_H

#include "writers/piece.h"

/* `name`: of the input; `trace`: all that was read. */
void tv_losses_of_file(const char *name, const struct tv_trace *trace, enum tv_trace_target target,
                       const struct tv_trace_losses *losses);
void tv_losses_of_events(const char *name, const struct tv_trace *trace,
                         const struct tv_piece_losses *losses);

#endif
