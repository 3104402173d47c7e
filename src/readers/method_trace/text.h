/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - the text header of an Android method trace: keys, threads, methods.
 *
 * It stands at the start of the files of versions 1 to 3, and, with parts left out, in the summary
 * at the end of streaming and packet files.
 */
#ifndef TV_READERS_METHOD_TRACE_TEXT_H
#define TV_READERS_METHOD_TRACE_TEXT_H

#include "readers/method_trace/file.h"

/* Reads the lines of [offset, end) up to *end.  *after: the byte behind the line "*end"; 0 when it
 * is missing. `again`: what ids mean that are listed already. */
enum tv_status tv_mt_text_read(struct tv_mt_file *file, uint64_t offset, uint64_t end,
                               enum tv_mt_again again, uint64_t *after,
                               struct tv_error *err) TV_MUST_CHECK;

/* The unit of time and the clock that a summary's text says, without reading it. */
void tv_mt_text_look(struct tv_bytes text, struct tv_mt_facts *facts);

/* Parses a line of the *methods section; false when it is none. */
bool tv_mt_text_method(struct tv_mt_file *file, struct tv_bytes line, uint64_t *id,
                       struct tv_frame *frame);

/* Reads a whole file that begins with the text header, but for the records. */
enum tv_status tv_mt_text_walk(struct tv_mt_file *file, struct tv_error *err) TV_MUST_CHECK;

#endif
