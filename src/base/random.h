/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - secrets: numbers that nobody can guess, from the system.
 */
#ifndef TV_BASE_RANDOM_H
#define TV_BASE_RANDOM_H

#include "base/error.h"
#include "base/types.h"

/* At most so many digits at once. */
#define TV_RANDOM_DIGITS 64u

/* Fills text[0..digits) with lower-case hexadecimal digits, four bits of chance each, and puts a
 * NUL behind them.  `digits` is even. */
enum tv_status tv_random_hex(char *text, size_t digits, struct tv_error *err) TV_MUST_CHECK;

/* Whether both are the same bytes; the time it takes tells only their lengths. */
bool tv_secret_equal(struct tv_bytes a, struct tv_bytes b);

#endif
