/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.h - the reader of collapsed stacks: "main;parse;read 12", one line per call chain with
 * its weight. docs/formats/collapsed.md describes the format.
 *
 * Each line is a sample without a time, of a thread "all".  Its weight is a number of samples; when
 * a weight of the file has a fraction, all are kept in thousandths.
 */
#ifndef TV_READERS_COLLAPSED_H
#define TV_READERS_COLLAPSED_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_collapsed;

#endif
