/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TV_WRITERS_COMPENSATION_TEXT_H
#define TV_WRITERS_COMPENSATION_TEXT_H

#include "analysis/call_tree.h"
#include "base/out.h"

/* Write a line above a table that says how much overhead was subtracted from its times; nothing
 * when none was. `clocks` are the table's clocks. */
void tv_compensation_write(struct tv_out *out, const struct tv_compensation *compensation,
                           unsigned clocks);

#endif
