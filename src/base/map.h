/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - hash tables: numbers by 64-bit keys (tv_map, tv_lookup), and numbers for strings
 * (tv_interner).
 *
 * tv_map maps 64-bit keys to 32-bit values by open addressing.  It grows at half load and keeps no
 * order.
 */
#ifndef TV_BASE_MAP_H
#define TV_BASE_MAP_H

#include "base/types.h"

struct tv_map {
    uint64_t *keys;
    uint32_t *values; /* TV_NONE: the slot is free */
    size_t mask;      /* slots - 1, or 0 when nothing is allocated */
    size_t count;
};

void tv_map_init(struct tv_map *map);
void tv_map_release(struct tv_map *map);

/* Return the first slot to probe.  Lookups are the innermost operation of many loops, so the hash
 * is a single multiplication; that carries bits upwards only, so the high bits are folded down
 * before and after it. */
static inline size_t tv_map_start(const struct tv_map *map, uint64_t key)
{
    uint64_t hash = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash ^ hash >> 32) & map->mask;
}

/* Return the value of the key, or TV_NONE. */
static inline uint32_t tv_map_find(const struct tv_map *map, uint64_t key)
{
    if (TV_UNLIKELY(map->mask == 0))
        return TV_NONE;
    size_t place = tv_map_start(map, key);
    while (map->keys[place] != key && map->values[place] != TV_NONE)
        place = (place + 1) & map->mask;
    return map->values[place];
}

/* Set the value of the key, replacing an existing one.  `value` is not TV_NONE. */
void tv_map_set(struct tv_map *map, uint64_t key, uint32_t value);

/* Return the value of the key; if there is none, set it to `value` first. */
uint32_t tv_map_add(struct tv_map *map, uint64_t key, uint32_t value);

/*
 * A lookup is a map that is filled first and then only searched.  Ids in files mostly count up:
 * once it is complete, an array takes the place of the hash table where the keys lie so close
 * together that it is not larger.
 */
struct tv_lookup {
    struct tv_map map; /* to be filled; empty once there is an array */
    uint32_t *array;   /* [span] value of the key first + i, or TV_NONE; NULL: no array */
    uint64_t first, span;
};

void tv_lookup_init(struct tv_lookup *lookup);
void tv_lookup_release(struct tv_lookup *lookup);

/* End the filling of lookup->map. */
void tv_lookup_complete(struct tv_lookup *lookup);

/* Fill a lookup instead with keys of which the smallest, the largest, and the number are known: the
 * first value of a key stays. */
void tv_lookup_expect(struct tv_lookup *lookup, uint64_t first, uint64_t last, size_t count);
void tv_lookup_add(struct tv_lookup *lookup, uint64_t key, uint32_t value);

/* Return the value of the key, or TV_NONE. */
static inline uint32_t tv_lookup_find(const struct tv_lookup *lookup, uint64_t key)
{
    if (TV_LIKELY(lookup->array != NULL))
        return key - lookup->first < lookup->span ? lookup->array[key - lookup->first] : TV_NONE;
    return tv_map_find(&lookup->map, key);
}

/*
 * An interner stores each distinct string once and gives it a number: two strings are equal when
 * their numbers are.
 */

struct tv_interner;

/* The number of the empty string in every interner. */
#define TV_EMPTY_STRING 0u

struct tv_interner *tv_interner_new(void);

/* Create an interner of `count` strings with numbers in this order: string i ends at ends[i] of
 * `texts`, followed by a NUL and the next string.  Return NULL when a string is there twice or the
 * first one is not empty. */
struct tv_interner *tv_interner_from_texts(struct tv_bytes texts, const uint64_t *ends,
                                           uint32_t count);

/* Return a new interner that begins with the strings of `base`, under the same numbers.  `base`
 * owns their texts: it must outlive the new one. */
struct tv_interner *tv_interner_extend(const struct tv_interner *base);
void tv_interner_free(struct tv_interner *interner);

/* Return the number of the string, adding it if needed.  Numbers are consecutive from 0, the empty
 * string. */
uint32_t tv_interner_add(struct tv_interner *interner, struct tv_bytes text);

/* Return the number of the string, or TV_NONE when it was never added. */
uint32_t tv_interner_find(const struct tv_interner *interner, struct tv_bytes text);

/* Return the string, with a NUL after it.  The interner owns it and never moves it. */
struct tv_bytes tv_interner_get(const struct tv_interner *interner, uint32_t id);

/* Return the number of strings, the empty one included. */
uint32_t tv_interner_count(const struct tv_interner *interner);

#endif
