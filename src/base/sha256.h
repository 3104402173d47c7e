/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 (FIPS 180-4), and with a key HMAC-SHA-256 (RFC 2104): for texts that must not
 * be guessed from what stands in their place.
 */
#ifndef TV_BASE_SHA256_H
#define TV_BASE_SHA256_H

#include "base/types.h"

#define TV_SHA256_SIZE 32u

/* Of all bytes of a text. */
void tv_sha256(struct tv_bytes text, uint8_t digest[TV_SHA256_SIZE]);

/* Of a text under a key of any length. */
void tv_hmac_sha256(struct tv_bytes key, struct tv_bytes text, uint8_t digest[TV_SHA256_SIZE]);

#endif
