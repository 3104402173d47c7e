/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.h - the reader of collapsed stacks: "main;parse;read 12", one line a call chain with
 * its weight.
 *
 * The weights become an axis on which the chains stand one behind the other, one microsecond a
 * count, in a thread "all".  A frame that two neighbouring lines share goes on.
 * docs/formats/collapsed.md has the format.
 */
#ifndef TV_READERS_COLLAPSED_H
#define TV_READERS_COLLAPSED_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_collapsed;

#endif
