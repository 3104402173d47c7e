/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_out.h - an output that compresses what is written to it, as one gzip member (RFC 1952).
 */
#ifndef TV_CLI_OUTPUT_GZIP_OUT_H
#define TV_CLI_OUTPUT_GZIP_OUT_H

#include "base/out.h"

struct tv_gzip_out;

/* Make an output that passes its compressed bytes on to `target`, which must outlive it. */
struct tv_gzip_out *tv_gzip_out_new(struct tv_out *target);

/* Return the output to write to. */
struct tv_out *tv_gzip_out_plain(struct tv_gzip_out *gzip);

/* Compress what is left, end the member and free the output; `target` is not finished.  Return the
 * first error of writing. */
enum tv_status tv_gzip_out_finish(struct tv_gzip_out *gzip, struct tv_error *err) TV_MUST_CHECK;

#endif
