/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simpleperf.h - what simpleperf's report-sample writes: messages, also in the old form without a
 * magic number, and the text of old versions.  docs/formats/simpleperf.md describes them.
 */
#ifndef TV_READERS_PERF_SIMPLEPERF_H
#define TV_READERS_PERF_SIMPLEPERF_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_simpleperf;
extern const struct tv_reader tv_reader_simpleperf_text;

#endif
