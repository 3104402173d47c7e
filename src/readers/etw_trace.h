/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etw_trace.h - events of Windows (etw.h) as an input: what each processor ran, and the states of
 * threads.
 */
#ifndef TV_READERS_ETW_TRACE_H
#define TV_READERS_ETW_TRACE_H

#include "model/builder/builder.h"

struct tv_etw_place {
    const char *name; /* of the input */
    uint32_t beside;  /* input whose clock it has, and whose threads have names */
};

/* Adds an input behind that one: a track for each processor, the states of threads (those of the
 * input beside, where it has them), and the names of processes for
 * whatever has none.  False, and nothing is added: the text does not tell how its clock is to be
 * set. */
bool tv_etw_build(struct tv_bytes json, const struct tv_etw_place *place,
                  struct tv_builder *builder);

#endif
