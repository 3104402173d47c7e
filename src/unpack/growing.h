/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TV_UNPACK_GROWING_H
#define TV_UNPACK_GROWING_H

#include "unpack/member.h"

/* Open a member as a source that grows (source.h): it is unpacked while it is read. `head` holds
 * the bytes already read. The source takes over the member's context and holds the packed source
 * until it has seen the end. An error while unpacking quotes the packed bytes. */
struct tv_source *tv_growing_open(const struct tv_unpack_member *member, struct tv_bytes head,
                                  const struct tv_ceiling *ceiling);

#endif
