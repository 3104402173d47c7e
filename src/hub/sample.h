/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - the trace that the first page offers to who has none: one of the store as all others,
 * pinned, with the label "sample".
 */
#ifndef TV_HUB_SAMPLE_H
#define TV_HUB_SAMPLE_H

#include "hub/context.h"

/* Finds it, or puts the file that the options name into the store.  What goes wrong is logged: the
 * server is none the worse for it. */
void tv_sample_find(struct tv_hub *hub);

#endif
