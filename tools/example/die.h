/* SPDX-License-Identifier: Apache-2.0 */
/*
 * die.h - how the example's generator ends when it cannot go on.
 */
#ifndef TV_TOOLS_EXAMPLE_DIE_H
#define TV_TOOLS_EXAMPLE_DIE_H

#include <stddef.h>

/* One line on standard error, exit code 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As realloc for `count` elements of `size` bytes, but never returns NULL. */
void *resize(void *block, size_t count, size_t size);

/* Room for one element more in an array of `count`: it doubles at every power of two. */
void *grow(void *array, int count, size_t size);

/* A copy of `length` bytes of `text` with a 0 behind it. */
char *copy_text(const char *text, size_t length);

#endif
