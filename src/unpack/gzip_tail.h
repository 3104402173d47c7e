/* SPDX-License-Identifier: Apache-2.0 */
/* ---- gzip: the last block of a truncated stream, and its checksum ----
 *
 * libarchive unpacks in blocks of 64 KiB and drops the block in which the stream ends. A small
 * recording is entirely in that block. */
#ifndef TV_UNPACK_GZIP_TAIL_H
#define TV_UNPACK_GZIP_TAIL_H

#include "base/source.h"

/* Unpack the stream again and copy at most `size` of the bytes behind the first `skip` unpacked
 * bytes. Return their number; 0 also when the source is not gzip or cannot be read. */
size_t tv_gzip_tail(struct tv_source *packed, uint64_t skip, uint8_t *buffer, size_t size);

/* Return true when all gzip streams of the packed bytes are complete and match their checksums
 * and lengths. Bytes behind the last stream are ignored. This unpacks everything. */
bool tv_gzip_is_sound(struct tv_source *packed);

#endif
