/* SPDX-License-Identifier: Apache-2.0 */
/* strace.h - text of strace with times (-r, -t, -tt, -ttt): docs/formats/strace.md. */
#ifndef TV_READERS_STRACE_H
#define TV_READERS_STRACE_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_strace;

#endif
