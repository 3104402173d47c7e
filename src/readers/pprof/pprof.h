/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.h - the readers of pprof profiles (profile.proto) and of its two ancestors: the text of Go
 * and tcmalloc, and the CPU profile of gperftools.  docs/formats/pprof.md has the bytes.
 */
#ifndef TV_READERS_PPROF_PPROF_H
#define TV_READERS_PPROF_PPROF_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_pprof;
extern const struct tv_reader tv_reader_pprof_text;
extern const struct tv_reader tv_reader_gperftools;

#endif
