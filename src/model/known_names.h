/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_names.h - names that one input knows for the processes and threads of another: a list of
 * processes that was taken beside a trace.
 *
 * A reader fills tables->known_names; they are applied when all inputs are there, whichever came
 * first.  They name what has no name of its own.  A process may also have that of its main thread,
 * which the kernel cuts to 15 bytes: the whole name that begins or ends with it replaces it.
 */
#ifndef TV_MODEL_KNOWN_NAMES_H
#define TV_MODEL_KNOWN_NAMES_H

#include "model/trace.h"

/* Whether `name` is what the kernel keeps of `whole`: its beginning, or on Android its end. */
bool tv_known_name_is_cut(struct tv_bytes name, struct tv_bytes whole);

/* Of several names for one id the last stands. */
void tv_known_names_apply(struct tv_trace *trace);

#endif
