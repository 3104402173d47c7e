/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_script.h - the text that "perf script" prints, and that of simpleperf's report_sample.py.
 * docs/formats/perf-script.md describes it.
 */
#ifndef TV_READERS_PERF_PERF_SCRIPT_H
#define TV_READERS_PERF_PERF_SCRIPT_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_perf_script;

/* Return true for text of "perf script", whose lines may look like collapsed stacks. */
bool tv_is_perf_script(struct tv_bytes prefix);

#endif
