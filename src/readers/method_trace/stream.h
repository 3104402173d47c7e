/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - the walk over a streaming file of versions 0xF2 and 0xF3.
 *
 * Of records only the first two bytes are looked at, which are 0 where a packet stands.
 */
#ifndef TV_READERS_METHOD_TRACE_STREAM_H
#define TV_READERS_METHOD_TRACE_STREAM_H

#include "base/error.h"
#include "readers/method_trace/file.h"

/* Fills the head and finds the units. */
enum tv_status tv_mt_stream_walk(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

#endif
