/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - what a Range header asks for (RFC 9110, section 14).
 */
#ifndef TV_HTTP_RANGE_H
#define TV_HTTP_RANGE_H

#include "base/types.h"

enum tv_range_kind {
    TV_RANGE_NONE,    /* the whole: there is no header, or one that may be ignored */
    TV_RANGE_PART,    /* the bytes [from, to) */
    TV_RANGE_OUTSIDE, /* none of the bytes is there */
};

/* Several ranges in one header, and units other than bytes, may be ignored, and are. */
enum tv_range_kind tv_range_read(const char *text, uint64_t size, uint64_t *from, uint64_t *to);

#endif
