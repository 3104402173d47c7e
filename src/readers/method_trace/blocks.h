/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - what the blocks of a packet file are coded like, found by decoding them.
 */
#ifndef TV_READERS_METHOD_TRACE_BLOCKS_H
#define TV_READERS_METHOD_TRACE_BLOCKS_H

#include "base/error.h"
#include "readers/method_trace/file.h"

/* Of a file of format V2 whose packets were walked: finds layout, clock, unit of time and what
 * blocks continue from, and settles the head. */
enum tv_status tv_mt_blocks_settle(struct tv_mt_file *file, uint64_t start, uint64_t start_ticks,
                                   struct tv_error *err) TV_MUST_CHECK;

/* The same of a dump of long-running methods. */
enum tv_status tv_mt_blocks_settle_dump(struct tv_mt_file *file,
                                        struct tv_error *err) TV_MUST_CHECK;

#endif
