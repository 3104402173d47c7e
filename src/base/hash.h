/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - hashes for the tables in memory, and a checksum for files of our own.
 *
 * Neither resists an attacker.  Hashes differ between machines and versions: never write one into a
 * file.
 */
#ifndef TV_BASE_HASH_H
#define TV_BASE_HASH_H

#include "base/types.h"

/* Mix a 64-bit key so that every bit of it affects every bit of the result. */
static inline uint64_t tv_hash_u64(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    key ^= key >> 32;
    return key;
}

/* As above, for any number of bytes. */
uint64_t tv_hash_bytes(struct tv_bytes bytes);

/*
 * The checksum finds accidental damage as fast as memory can be read.  It differs between machines
 * of different byte order.
 */

/* Return the checksum of the bytes.  Any change within eight neighbouring bytes changes it; any
 * other change does with probability 1 - 2^-64.  Equal bytes with different seeds have unrelated
 * checksums. */
uint64_t tv_checksum(struct tv_bytes bytes, uint64_t seed);

#endif
