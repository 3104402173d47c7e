/* SPDX-License-Identifier: Apache-2.0 */
/* ninja_log.h - the log of the build tool ninja (.ninja_log), versions 5 to 7:
 * docs/formats/ninja_log.md. */
#ifndef TV_READERS_NINJA_LOG_H
#define TV_READERS_NINJA_LOG_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_ninja_log;

#endif
