/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_tail.h - the last bytes of a gzip stream that ends early, and whether one is sound.
 *
 * libarchive unpacks in blocks of 64 KiB and drops the one in which the stream ends: of a small
 * recording that is all of it.
 */
#ifndef TV_UNPACK_GZIP_TAIL_H
#define TV_UNPACK_GZIP_TAIL_H

#include "base/source.h"

/* Unpacks once more and puts what follows the first `skip` unpacked bytes, at most `size`, into the
 * buffer. Returns how much that is; 0 also when the source is no gzip stream or cannot be read. */
size_t tv_gzip_tail(struct tv_source *packed, uint64_t skip, uint8_t *buffer, size_t size);

/* Whether all gzip streams of the packed bytes are whole and have the checksums and lengths that
 * they say.  What follows the last one is not looked at.  Unpacks everything. */
bool tv_gzip_is_sound(struct tv_source *packed);

#endif
