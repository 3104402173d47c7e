/* SPDX-License-Identifier: Apache-2.0 */
/* delta.h - whole numbers as differences: Parquet's encoding DELTA_BINARY_PACKED. */
#ifndef TV_PARQUET_DELTA_H
#define TV_PARQUET_DELTA_H

#include "base/out.h"

/* Append numbers of `size` bytes (4 or 8), little-endian, of which there is at least one, as
 * differences: blocks of 128 with the smallest difference, and what each has more in as few bits as
 * 32 of them need. */
void tv_parquet_put_delta(struct tv_out *out, struct tv_bytes numbers, size_t size);

#endif
