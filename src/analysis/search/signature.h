/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.h - signatures as the page shows them, so that a search finds what the reader sees.
 */
#ifndef TV_ANALYSIS_SIGNATURE_H
#define TV_ANALYSIS_SIGNATURE_H

#include "base/out.h"
#include "base/types.h"

/* Write a JVM descriptor as "(Bundle, int[]) void" for "(Landroid/os/Bundle;[I)V".  Any other text
 * is written unchanged.  web/src/model/names.ts does the same for the screen. */
void tv_signature_write_readable(struct tv_out *out, struct tv_bytes text);

#endif
