/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - writes traces to an index in memory and reads them back.
 */
#ifndef TV_TESTS_KEPT_H
#define TV_TESTS_KEPT_H

#include "base/out.h"
#include "index/index.h"
#include "readers/reader.h"

/* Read a trace from bytes, which must outlive it, with whichever reader recognizes them.  Return
 * NULL and set *err on failure. */
struct tv_trace *kept_load_with(struct tv_bytes bytes, const struct tv_read_options *options,
                                struct tv_error *err);
/* Read with one worker. */
struct tv_trace *kept_load(struct tv_bytes bytes);

/* Write the index of a trace with the sections that its view prepares. */
void kept_write(const struct tv_trace *trace, struct tv_bytes key, struct tv_out *out);

/* Read a trace from an index; the trace keeps a copy of the bytes.  Its sources are those of
 * `original`, which must live until the first of them is opened; NULL: no sources. */
enum tv_status kept_read(struct tv_bytes bytes, struct tv_bytes key,
                         const struct tv_trace *original, struct tv_trace **trace,
                         struct tv_error *err);

/* Write all answers of a view of the trace (answers.h). */
void kept_answers(const struct tv_trace *trace, uint32_t most, struct tv_out *out);

#endif
