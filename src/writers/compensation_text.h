/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compensation_text.h - says above a table that its times are compensated, and by how much.
 */
#ifndef TV_WRITERS_COMPENSATION_TEXT_H
#define TV_WRITERS_COMPENSATION_TEXT_H

#include "analysis/calltree/call_tree.h"
#include "base/out.h"

/* A line; nothing where nothing was taken off. `clocks` are those of the table. */
void tv_compensation_write(struct tv_out *out, const struct tv_compensation *compensation,
                           unsigned clocks);

#endif
