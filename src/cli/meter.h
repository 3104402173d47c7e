/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meter.h - progress on a terminal, for work that lasts longer than a second.
 */
#ifndef TV_CLI_METER_H
#define TV_CLI_METER_H

#include "base/progress.h"

struct tv_meter;

/* Watches the counters from a thread of its own and draws on standard error: what is read of
 * total_bytes, or, when that is 0, what is written.  NULL, which stop takes too, when standard
 * error is no terminal or nobody wants it. */
struct tv_meter *tv_meter_start(struct tv_progress *progress, bool quiet);

/* Wipes what was drawn. */
void tv_meter_stop(struct tv_meter *meter);

#endif
