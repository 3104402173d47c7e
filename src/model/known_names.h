/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_names.h - what one input knows of the processes and threads of another: a list of
 * processes that was taken beside a trace.
 *
 * A reader fills tables->known_names; they are applied when all inputs are there, whichever came
 * first.  Of several rows for one id the last stands, and one of the same machine (machines.h)
 * before one of another.  They name what has no name of its own.  On their machine they also
 * replace what only the kernel says: it names a process by its first thread and cuts that to 15
 * bytes.  Of another machine only the whole name that begins or ends with those replaces them. What
 * processors ran is then called as the thread is.
 */
#ifndef TV_MODEL_KNOWN_NAMES_H
#define TV_MODEL_KNOWN_NAMES_H

#include "model/trace.h"

/* Whether `name` is what the kernel keeps of `whole`: its beginning, or on Android its end. */
bool tv_known_name_is_cut(struct tv_bytes name, struct tv_bytes whole);

/* Gives threads without a process that which a row of their machine tells, made when missing.
 * Before tv_trace_join_machines(). */
void tv_known_names_place(struct tv_trace *trace);

/* Behind it. */
void tv_known_names_apply(struct tv_trace *trace);

#endif
