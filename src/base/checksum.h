/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.h - finds accidental damage in bytes that we wrote ourselves, as fast as memory is read.
 * It resists no attacker, and differs between machines of different byte order.
 */
#ifndef TV_BASE_CHECKSUM_H
#define TV_BASE_CHECKSUM_H

#include "base/types.h"

/* Every change of up to eight neighbouring bytes gives another sum; any other change does but for
 * one in 2^64.  Bytes with different seeds have nothing to do with each other. */
uint64_t tv_checksum(struct tv_bytes bytes, uint64_t seed);

#endif
