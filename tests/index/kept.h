/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - traces made and kept as an index, for the tests of it.
 */
#ifndef TV_TESTS_KEPT_H
#define TV_TESTS_KEPT_H

#include "base/out.h"
#include "index/index.h"
#include "readers/reader.h"

/* The trace that any reader makes of the bytes, which must outlive it; NULL: none does, for the
 * reason in *err. */
struct tv_trace *kept_load_with(struct tv_bytes bytes, const struct tv_read_options *options,
                                struct tv_error *err);
/* In one part. */
struct tv_trace *kept_load(struct tv_bytes bytes);

/* The index of a trace with what its view prepares. */
void kept_write(const struct tv_trace *trace, struct tv_bytes key, struct tv_out *out);

/* The trace that is kept in a copy of the bytes, which the trace takes over.  Its sources are those
 * of `original`, which must live until the first of them was asked for; NULL: it has none. */
enum tv_status kept_read(struct tv_bytes bytes, struct tv_bytes key,
                         const struct tv_trace *original, struct tv_trace **trace,
                         struct tv_error *err);

/* All answers of a view of the trace, as answers.h. */
void kept_answers(const struct tv_trace *trace, uint32_t most, struct tv_out *out);

#endif
