/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Regression output: everything that Traceview's -r printed ----
 *
 * Times are whole microseconds; a clock that the trace lacks reads "-". The columns are defined
 * in traceview(1), REGRESSION TEXT.
 */
#ifndef TV_WRITERS_REGRESSION_H
#define TV_WRITERS_REGRESSION_H

#include "analysis/profile.h"
#include "base/out.h"

/* `profile` is the profile of the whole trace; it is sorted again. */
void tv_regression_write(struct tv_out *out, const struct tv_trace *trace,
                         struct tv_profile *profile);

#endif
