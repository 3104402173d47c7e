/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - what the blocks of a packet file are coded like, found by decoding them.
 */
#ifndef TV_READERS_METHOD_TRACE_BLOCKS_H
#define TV_READERS_METHOD_TRACE_BLOCKS_H

#include "base/error.h"
#include "readers/method_trace/file.h"

struct tv_mt_told; /* tail.h */

/* What the header of a packet file says of its beginning. */
struct tv_mt_start {
    uint64_t time;  /* in the unit of the records */
    uint64_t ticks; /* of the counter (variant C) */
};

/* Of a file of format V2 whose packets were walked: finds layout, clock and unit of time, and
 * settles the head.  Finds what blocks continue from as well when that is needed to tell them, else
 * file->starts_unknown says so. */
enum tv_status tv_mt_blocks_settle(struct tv_mt_file *file, const struct tv_mt_start *start,
                                   struct tv_error *err) TV_MUST_CHECK;

/* The same of one whose first packets were walked, as far as it is certain by then: entries of
 * variant B, and *told says of which unit and clock.  Blocks are not looked at: starts_unknown.
 * !*certain: nothing was settled, the end must be seen first. */
enum tv_status tv_mt_blocks_settle_early(struct tv_mt_file *file, const struct tv_mt_start *start,
                                         struct tv_mt_told *told, bool *certain,
                                         struct tv_error *err) TV_MUST_CHECK;

/* Finds what blocks continue from, if the file was settled without. */
enum tv_status tv_mt_blocks_find_starts(struct tv_mt_file *file,
                                        struct tv_error *err) TV_MUST_CHECK;

/* The first of these of a dump of long-running methods. */
enum tv_status tv_mt_blocks_settle_dump(struct tv_mt_file *file,
                                        struct tv_error *err) TV_MUST_CHECK;

#endif
