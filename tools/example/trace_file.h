/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.h - a recording as the bytes of an Android method trace.
 *
 * Each layout is written as its own writers did: version 1 as an early Dalvik (CPU clock, one-byte
 * thread ids, method addresses as ids, class names with slashes, line numbers), the others as ART 6
 * to 13 (kernel thread ids, dense method ids, no line numbers).
 */
#ifndef TV_TOOLS_EXAMPLE_TRACE_FILE_H
#define TV_TOOLS_EXAMPLE_TRACE_FILE_H

#include "player.h"
#include "scenario.h"

#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint8_t *data;
    size_t length;
    size_t capacity;
};

/* The trace in the layout `version`: 1, 2, 3, 0xF2 or 0xF3.  The caller frees `data`. */
struct bytes trace_file_build(const struct scenario *scenario, const struct recording *recording,
                              uint16_t version);

#endif
