/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what a trace could not be written as: a line each.
 */
#ifndef TV_WRITERS_LOSSES_H
#define TV_WRITERS_LOSSES_H

#include "writers/piece.h"

/* `trace`: all that was read. */
void tv_losses_of_file(struct tv_out *out, const struct tv_trace *trace,
                       enum tv_trace_target target, const struct tv_trace_losses *losses);
void tv_losses_of_events(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_piece_losses *losses);

/* Of a piece, which was written as a method trace (`file`) or as events. */
void tv_losses_of_piece(struct tv_out *out, const struct tv_piece *piece, bool file,
                        const struct tv_piece_losses *losses);

#endif
