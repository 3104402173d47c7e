/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_json.h - lenient JSON text written as strict JSON: for arguments, snapshots and metadata.
 */
#ifndef TV_READERS_TE_JSON_H
#define TV_READERS_TE_JSON_H

#include "base/out.h"

/* Writes one value of the text compactly: strings in double quotes with strict escapes (what is no
 * UTF-8 becomes U+FFFD), numbers as they stand where that is strict JSON, NaN and the infinities as
 * strings, bare words as strings; commas that lack or are too many are put right, what is open at
 * the end is closed.  Deeper than TV_TE_JSON_DEPTH is null.  An empty text is null. */
void tv_te_json_write(struct tv_out *out, struct tv_bytes raw);

#define TV_TE_JSON_DEPTH 4096

#endif
