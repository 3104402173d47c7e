/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regression.h - everything that Traceview's -r printed: totals, threads, calls, methods, time
 * records.
 *
 * Times are whole microseconds; a clock that the trace lacks reads "-".  The columns are defined in
 * traceview(1), REGRESSION TEXT.
 */
#ifndef TV_WRITERS_REGRESSION_H
#define TV_WRITERS_REGRESSION_H

#include "analysis/calltree/profile.h"
#include "base/out.h"

/* `profile` is that of the whole trace; it is sorted anew. */
void tv_regression_write(struct tv_out *out, const struct tv_trace *trace,
                         struct tv_profile *profile);

#endif
