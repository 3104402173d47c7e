/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.h - readers that have no interface besides the struct.  Each is defined in the file, or
 * in the folder, of its name; docs/formats has a page for each format.
 */
#ifndef TV_READERS_READERS_H
#define TV_READERS_READERS_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_austin;
extern const struct tv_reader tv_reader_callgrind;
extern const struct tv_reader tv_reader_collapsed;
extern const struct tv_reader tv_reader_gperftools;
extern const struct tv_reader tv_reader_instruments;
extern const struct tv_reader tv_reader_jaeger;
extern const struct tv_reader tv_reader_jfr;
extern const struct tv_reader tv_reader_method_trace;
extern const struct tv_reader tv_reader_ninja_log;
extern const struct tv_reader tv_reader_otlp;
extern const struct tv_reader tv_reader_otlp_spans;
extern const struct tv_reader tv_reader_perf_data;
extern const struct tv_reader tv_reader_pprof;
extern const struct tv_reader tv_reader_pprof_text;
extern const struct tv_reader tv_reader_pstats;
extern const struct tv_reader tv_reader_simpleperf;
extern const struct tv_reader tv_reader_simpleperf_text;
extern const struct tv_reader tv_reader_speedscope;
extern const struct tv_reader tv_reader_strace;
extern const struct tv_reader tv_reader_zipkin;

#endif
