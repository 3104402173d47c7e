/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h - bytes inside an HTML page: compressed by gzip, as base64, in elements of a few
 * megabytes, because browsers limit the length of one text.
 */
#ifndef TV_REPORT_CARRY_H
#define TV_REPORT_CARRY_H

#include "base/error.h"
#include "base/out.h"
#include "base/source.h"

/* Write bytes that are compressed already. `name` becomes the element's data-of attribute. */
void tv_payload_write_packed(struct tv_out *out, const char *what, struct tv_bytes packed);

/* Compress and write a whole source on `workers` threads; 0: one a processor. The output does
 * not depend on the number of threads. */
enum tv_status tv_payload_write_source(struct tv_out *out, const char *what,
                                       struct tv_source *source, unsigned workers,
                                       struct tv_error *err) TV_MUST_CHECK;

#endif
