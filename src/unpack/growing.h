/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growing.h - a member of a container as a source that is unpacked while it is read.
 */
#ifndef TV_UNPACK_GROWING_H
#define TV_UNPACK_GROWING_H

#include "unpack/member.h"

/* A source that grows (source.h), of a member whose first bytes are `head`.  Takes the member's
 * context over and keeps the packed source open until the end was seen.  An error of the unpacking
 * quotes the packed bytes. */
struct tv_source *tv_growing_open(const struct tv_member *member, struct tv_bytes head,
                                  const struct tv_ceiling *ceiling);

#endif
