/* SPDX-License-Identifier: Apache-2.0 */
/* pstats.h - profiles of Python's cProfile (`python -m cProfile -o FILE`): docs/formats/pstats.md.
 */
#ifndef TV_READERS_PSTATS_H
#define TV_READERS_PSTATS_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_pstats;

#endif
