/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offsets.h - by how much the times of each of several files are moved: --offset b.trace=12ms.
 */
#ifndef TV_CLI_OFFSETS_H
#define TV_CLI_OFFSETS_H

#include "base/error.h"
#include "cli/options.h"

/* The offset of each of `count` files, 0 where nothing is said, to be freed.  A word names its file
 * as the arguments do, or by the last part of the path where only one ends so; whoever names none,
 * or one twice, is told what is there. */
enum tv_status tv_offsets_find(const struct tv_words *words, const char *const *files, size_t count,
                               tv_ns **offsets, struct tv_error *err) TV_MUST_CHECK;

/* Whether the files come with times that are moved at all. */
bool tv_offsets_move(const tv_ns *offsets, size_t count);

#endif
