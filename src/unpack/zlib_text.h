/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zlib_text.h - a zlib stream: bare, or as "atrace -z" prints it, behind a line "TRACE:" and
 * whatever the shell said before that.
 *
 * A terminal may have put one or two carriage returns in front of every line feed, those that are
 * bytes of the stream too; the end of the line "TRACE:" shows how many, and they are taken out.
 */
#ifndef TV_UNPACK_ZLIB_TEXT_H
#define TV_UNPACK_ZLIB_TEXT_H

#include "unpack/member.h"

/* Does such a stream begin within these first bytes?  It is tried: two bytes of a header may be
 * chance. */
bool tv_zlib_knows(struct tv_bytes head);

/* Takes what the stream holds.  A stream that ends early or is damaged gives what comes before,
 * with *cut_off set. */
enum tv_status tv_zlib_unpack(struct tv_taking *taking, struct tv_source *packed, bool *cut_off,
                              struct tv_error *err) TV_MUST_CHECK;

#endif
