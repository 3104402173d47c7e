/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hprof.h - the reader of CPU profiles in hprof files, as text or binary: what the JDK's hprof
 * agent (up to JDK 8) and Android's SamplingProfiler wrote.
 *
 * Such a file has stacks with the number of samples each was seen in, for each thread or for all
 * together, and no times: they become call chains (readers/chains.h), one microsecond a sample.  A
 * profile in milliseconds (cpu=times) keeps its times.  docs/formats/hprof.md has the format.
 */
#ifndef TV_READERS_HPROF_HPROF_H
#define TV_READERS_HPROF_HPROF_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_hprof;

#endif
