/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope.h - the reader of speedscope JSON; docs/formats/speedscope.md describes the format. */
#ifndef TV_READERS_SPEEDSCOPE_H
#define TV_READERS_SPEEDSCOPE_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_speedscope;

#endif
