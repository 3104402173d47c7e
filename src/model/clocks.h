/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - puts the clocks of several inputs against each other.
 *
 * One moment is marked in two inputs with one id (tables->clock_syncs).  The one that asked for the
 * mark knows when it asked and when it had the answer: the moment is taken to be in the middle, its
 * error is the time between.  Inputs that name the same clock (tv_input.clock) need no mark.  One
 * that counts from a zero of its own and is tied to none begins where the others do.
 */
#ifndef TV_MODEL_CLOCKS_H
#define TV_MODEL_CLOCKS_H

#include "model/trace.h"

/* Sets trace->offset of each input whose clock can be put against that of an earlier one, by the
 * way of the least error, and of those that none can be.  Counts TV_DIAGNOSTIC_CLOCK_EXTRA and
 * _UNTIED. */
void tv_trace_tie_clocks(struct tv_trace *trace);

#endif
