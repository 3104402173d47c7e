/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.h - collapsed stacks: one line a call chain, "root;caller;callee 1234".
 *
 * Lines are sorted bytewise; chains whose number is zero are left out.
 */
#ifndef TV_WRITERS_COLLAPSED_H
#define TV_WRITERS_COLLAPSED_H

#include "base/out.h"
#include "writers/name_tree.h"

/* Self times are written in units of `unit_ns`, rounded down. The tree's names hold no ';'. */
void tv_collapsed_write(struct tv_out *out, const struct tv_name_tree *tree, int64_t unit_ns);

#endif
