/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.h - the data header of an Android method trace, and what it makes of the input.
 */
#ifndef TV_READERS_METHOD_TRACE_HEADER_H
#define TV_READERS_METHOD_TRACE_HEADER_H

#include "readers/method_trace/file.h"

/* The data header of a text-header file, at `offset`, and the records behind it.  Records that are
 * lost (the file ends, or was re-encoded as text) are a diagnostic. */
enum tv_status tv_mt_header_walk(struct tv_mt_file *file, uint64_t offset,
                                 struct tv_error *err) TV_MUST_CHECK;

/* Is this the data header of records of version 1 to 3?  Fills *header, whose version is without
 * the mark of streaming, from TV_MT_HEADER_SIZE bytes. */
enum tv_status tv_mt_header_check(const struct tv_mt_file *file, const uint8_t *at, uint64_t offset,
                                  struct tv_mt_header *header, struct tv_error *err) TV_MUST_CHECK;

/* When the header's time is (versions 1 to 3, 0xF2 and 0xF3). */
void tv_mt_header_start(struct tv_mt_file *file, uint64_t start_us);

/* Tells the head's input version, clocks and the like, when everything that says so was read.
 * `inferred`: the single clock of a file that does not say; 0: nobody knows. */
void tv_mt_header_settle(struct tv_mt_file *file, unsigned inferred);

/* Do these bytes look like binary ones that went through a text encoding? */
bool tv_mt_header_recoded(struct tv_bytes bytes);

#endif
