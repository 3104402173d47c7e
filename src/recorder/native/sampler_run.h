/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_run.h - the sampler that the environment asks for.
 */
#ifndef TV_RECORDER_NATIVE_SAMPLER_RUN_H
#define TV_RECORDER_NATIVE_SAMPLER_RUN_H

#include <stdbool.h>

/* Samples all threads so many times a second, until the process ends; then the file is there.  What
 * else there is to say, the environment says (traceview_record.h).  What goes wrong is one line on
 * standard error, unless it is quiet. */
void tv_sampler_run(const char *path, const char *rate, bool quiet);

#endif
