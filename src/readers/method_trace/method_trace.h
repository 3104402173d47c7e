/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_trace.h - the reader of Android method traces (.trace), versions 1 to 5, and of dumps of
 * long-running methods.  docs/formats/android-trace.md describes the bytes.
 *
 * Reading has two halves.  The walk finds the units of the file: ranges that hold records and
 * nothing else.  Then the delivery turns the records into events, chunk by chunk in parallel:
 *
 *     method_trace.c --> text.c     text header and data header  --.
 *                   '--> stream.c   streaming file                 |--> struct tv_mt_file (file.h):
 *                   '--> packets.c  packet file, with blocks.c   --'    units, threads, methods
 *                                                                              |
 *     deliver.c   cuts the units into chunks  <--------------------------------'
 *        |
 *        |-- worker: chunk.c --> fast.c | deltas.c | records.c --> sink
 *        |-- worker: chunk.c --> ...
 *        '-- borders of chunks are judged; the sink stitches the chunks
 *
 * fast.c and deltas.c read only well-behaved records.  As soon as one is not (an id that is not
 * listed, a clock that may have wrapped, a damaged block), the attempt stops, survey.c or blocks.c
 * find out what was missing, and all chunks are read again, with records.c if need be.  So the
 * common case costs one pass over the records, and the result is the same however the file is cut.
 */
#ifndef TV_READERS_METHOD_TRACE_METHOD_TRACE_H
#define TV_READERS_METHOD_TRACE_METHOD_TRACE_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_method_trace;

#endif
