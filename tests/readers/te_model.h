/* SPDX-License-Identifier: Apache-2.0 */
/* te_model.h - the trace of a Trace Event file as text, for tests. */
#ifndef TV_TESTS_TE_MODEL_H
#define TV_TESTS_TE_MODEL_H

#include "base/out.h"
#include "model/trace.h"

/* Reads the bytes, which must outlive the trace; NULL with *err: they cannot be.  `starts` as in
 * struct tv_read_options. */
struct tv_trace *te_model_read(struct tv_bytes bytes, unsigned parts, const uint64_t *starts,
                               struct tv_error *err);

/*
 * What one event says by itself, a line each; times are nanoseconds of the file:
 *
 *     unit ns
 *     key KEY=VALUE                           metadata
 *     process P1 "name" labels "a, b" sort 3 uptime 5
 *     thread P1 T2 "name" sort 3
 *     slice P1 T2 cat:name 10000+500 cpu 3+4 depth 1 colour 5 open overflow
 *     instant P1 T2 cat:name 5000 colour 5    of a process: P1; global: everything
 *     counter P1 cat:name a,b colour 5
 *     values 5000 1 -                         of the counter above; "-": not told
 *     ! bad-event 2 at 17 40                  a diagnostic, with places in the file
 */
void te_model_print(const struct tv_trace *trace, struct tv_out *out);

/* Everything, numbers of strings included. */
void te_model_dump(const struct tv_trace *trace, struct tv_out *out);

#endif
