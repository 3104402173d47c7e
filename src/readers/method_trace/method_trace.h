/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_trace.h - the reader of Android method traces (.trace), versions 1 to 5 and long-running
 * dumps.
 *
 * file.h says how it is made; docs/formats/android-trace.md has the bytes.
 */
#ifndef TV_READERS_METHOD_TRACE_METHOD_TRACE_H
#define TV_READERS_METHOD_TRACE_METHOD_TRACE_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_method_trace;

#endif
