/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - each distinct string once, named by a number.
 */
#ifndef TV_BASE_INTERN_H
#define TV_BASE_INTERN_H

#include "base/types.h"

struct tv_interner;

/* The number of the empty string in every interner. */
#define TV_EMPTY_STRING 0u

struct tv_interner *tv_interner_new(void);

/* One of `count` strings at once, which get their numbers in this order: string i ends at ends[i]
 * of `texts`, has a NUL there, and the next begins behind that.  NULL: one of them is there twice,
 * or the first is not empty. */
struct tv_interner *tv_interner_of(struct tv_bytes texts, const uint64_t *ends, uint32_t count);
void tv_interner_free(struct tv_interner *interner);

/* The number of the string: numbers are given in order from 0, the empty string having 0. */
uint32_t tv_interner_add(struct tv_interner *interner, struct tv_bytes text);

/* The number of the string, or TV_NONE when it was never added. */
uint32_t tv_interner_find(const struct tv_interner *interner, struct tv_bytes text);

/* The string, with a NUL behind it, owned by the interner and never moved. */
struct tv_bytes tv_interner_get(const struct tv_interner *interner, uint32_t id);

/* How many strings there are, the empty one included. */
uint32_t tv_interner_count(const struct tv_interner *interner);

#endif
