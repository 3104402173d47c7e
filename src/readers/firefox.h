/* SPDX-License-Identifier: Apache-2.0 */
/* firefox.h - the reader of Firefox Profiler files; docs/formats/firefox.md describes them. */
#ifndef TV_READERS_FIREFOX_H
#define TV_READERS_FIREFOX_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_firefox;

#endif
