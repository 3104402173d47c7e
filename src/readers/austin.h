/* SPDX-License-Identifier: Apache-2.0 */
/* austin.h - text of Austin, the sampler of Python programs: docs/formats/austin.md. */
#ifndef TV_READERS_AUSTIN_H
#define TV_READERS_AUSTIN_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_austin;

#endif
