/* SPDX-License-Identifier: Apache-2.0 */
/* callgrind.h - profiles of valgrind's callgrind and cachegrind, and of all who write their format
 * (Xdebug, "pprof -callgrind"): docs/formats/callgrind.md. */
#ifndef TV_READERS_CALLGRIND_H
#define TV_READERS_CALLGRIND_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_callgrind;

#endif
