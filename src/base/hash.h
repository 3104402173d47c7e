/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - mixing functions for our own tables. Not for anything that must resist an attacker.
 * Results differ between machines and versions: never write them into a file.
 */
#ifndef TV_BASE_HASH_H
#define TV_BASE_HASH_H

#include "base/types.h"

/* A 64-bit finaliser: every bit of the key reaches every bit of the result. */
static inline uint64_t tv_hash_u64(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    key ^= key >> 32;
    return key;
}

/* The same for any number of bytes. */
uint64_t tv_hash_bytes(struct tv_bytes bytes);

#endif
