/* SPDX-License-Identifier: Apache-2.0 */
/* ---- zlib: a bare stream, or one that "atrace -z" printed ----
 *
 * The shell's own output may precede the line "TRACE:" and the stream. A terminal may have put
 * one or two carriage returns in front of every line feed, including those inside the stream.
 * The end of the line "TRACE:" shows how many; they are removed. */
#ifndef TV_UNPACK_ZLIB_TEXT_H
#define TV_UNPACK_ZLIB_TEXT_H

#include "unpack/member.h"

/* Return true when a stream begins in these first bytes. Its beginning is unpacked, because two
 * header bytes may be a coincidence. */
bool tv_zlib_knows(struct tv_bytes head);

/* Extract the stream. A truncated or damaged stream yields what precedes the damage, with
 * *cut_off set. */
enum tv_status tv_zlib_unpack(struct tv_extraction *taking, struct tv_source *packed, bool *cut_off,
                              struct tv_error *err) TV_MUST_CHECK;

#endif
