/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.h - the walk over a packet file: format V2 (versions 4, 5, 0xF4, 0xF5) and dumps of
 * long-running methods, which have no header.
 *
 * Entries are delta-coded in one of several ways that the file does not name
 * (docs/formats/android-trace.md).
 */
#ifndef TV_READERS_METHOD_TRACE_PACKETS_H
#define TV_READERS_METHOD_TRACE_PACKETS_H

#include "base/error.h"
#include "readers/method_trace/file.h"

/* A file with a header. */
enum tv_status tv_mt_packets_walk(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* A dump. */
enum tv_status tv_mt_packets_walk_dump(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

/* Do these bytes, the first of `size`, look like a dump?  0 no ... 100. */
int tv_mt_packets_sniff_dump(struct tv_bytes head, uint64_t size);

#endif
