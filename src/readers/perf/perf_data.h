/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data.h - perf.data files of Linux perf and of simpleperf.  docs/formats/perf-data.md
 * describes them.
 */
#ifndef TV_READERS_PERF_PERF_DATA_H
#define TV_READERS_PERF_PERF_DATA_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_perf_data;

#endif
