/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carry.h - bytes inside an HTML page: packed by gzip, as base64, in elements of some megabytes, so
 * that no text of the page gets too long for a browser.
 */
#ifndef TV_REPORT_CARRY_H
#define TV_REPORT_CARRY_H

#include "base/error.h"
#include "base/out.h"
#include "base/source.h"

/* Bytes that are packed already; `what` is the element's name. */
void tv_carry_packed(struct tv_out *out, const char *what, struct tv_bytes packed);

/* Packs all of a source on so many threads, 0: one a processor; the bytes do not depend on it. */
enum tv_status tv_carry_source(struct tv_out *out, const char *what, struct tv_source *source,
                               unsigned workers, struct tv_error *err) TV_MUST_CHECK;

#endif
