/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - what the blocks of a packet file are coded like, found by decoding them.
 */
#ifndef TV_READERS_METHOD_TRACE_BLOCKS_H
#define TV_READERS_METHOD_TRACE_BLOCKS_H

#include "base/error.h"
#include "readers/method_trace/file.h"

/* Of a file of format V2 whose packets were walked: finds layout, clock and unit of time, and
 * settles the head.  Finds what blocks continue from as well when that is needed to tell them, else
 * file->starts_unknown says so. */
enum tv_status tv_mt_blocks_settle(struct tv_mt_file *file, uint64_t start, uint64_t start_ticks,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Finds what blocks continue from, if the file was settled without. */
enum tv_status tv_mt_blocks_find_starts(struct tv_mt_file *file,
                                        struct tv_error *err) TV_MUST_CHECK;

/* The first of these of a dump of long-running methods. */
enum tv_status tv_mt_blocks_settle_dump(struct tv_mt_file *file,
                                        struct tv_error *err) TV_MUST_CHECK;

#endif
