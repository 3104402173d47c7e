/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - secrets: random numbers from the system, and their comparison.
 *
 * A platform file: POSIX, not compiled for WebAssembly.
 */
#ifndef TV_BASE_RANDOM_H
#define TV_BASE_RANDOM_H

#include "base/error.h"
#include "base/types.h"

/* Maximum number of digits per call. */
#define TV_RANDOM_DIGITS 64u

/* Fill text[0..digits) with random lower-case hexadecimal digits (four bits each) and append a NUL.
 * `digits` is even. */
enum tv_status tv_random_hex(char *text, size_t digits, struct tv_error *err) TV_MUST_CHECK;

/* Compare in constant time: the duration reveals only the lengths. */
bool tv_secret_equal(struct tv_bytes a, struct tv_bytes b);

#endif
