/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - numbers from text, exactly and without libc's locale.
 *
 * Each parses the whole of `text` and returns false on anything else, overflow included.
 */
#ifndef TV_BASE_NUMBER_H
#define TV_BASE_NUMBER_H

#include "base/types.h"

bool tv_parse_u64(struct tv_bytes text, uint64_t *value); /* digits only */
bool tv_parse_i64(struct tv_bytes text, int64_t *value);  /* a '-' may stand in front */
bool tv_parse_hex(struct tv_bytes text, uint64_t *value); /* with or without 0x */

/* A decimal number with an optional fraction and unit ns, us, ms or s, into nanoseconds rounded
 * down, without going through double: "1.5ms" is 1500000, "-.5ns" is -1. `unit_ns` is used when no
 * unit is written. */
bool tv_parse_time(struct tv_bytes text, tv_ns unit_ns, tv_ns *value);

/* Bytes: digits and perhaps K, M, G or T, each 1024 of the one before, then perhaps with a fraction
 * that is rounded down to bytes: "50G", "1.5M". */
bool tv_parse_size(struct tv_bytes text, uint64_t *bytes);

/* Seconds: digits and perhaps s, m, h, d or w, likewise: "30d", "1.5h". */
bool tv_parse_seconds(struct tv_bytes text, uint64_t *seconds);

#endif
