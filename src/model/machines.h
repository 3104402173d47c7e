/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machines.h - one process that several inputs tell of: a trace of the kernel beside that of a
 * program, on one machine and in one file.
 *
 * Inputs of one machine are known by their processes (tv_process.machine).  There, processes of one
 * id are one, and so are threads of one id in them; each keeps the tracks that any input gives it.
 * Ids that are no plain numbers, and the id 0 of what tells none, stay apart.
 */
#ifndef TV_MODEL_MACHINES_H
#define TV_MODEL_MACHINES_H

#include "model/trace.h"

/* Before the tables are sorted. Numbers of processes and threads change. */
void tv_trace_join_machines(struct tv_trace *trace);

#endif
