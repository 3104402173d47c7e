/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - a hash table from 64-bit keys to 32-bit values: open addressing, grows at half load,
 * keeps no order.
 */
#ifndef TV_BASE_MAP_H
#define TV_BASE_MAP_H

#include "base/types.h"

struct tv_map {
    uint64_t *keys;
    uint32_t *values; /* TV_NONE: the place is free */
    size_t mask;      /* places - 1, or 0 when nothing is allocated */
    size_t count;
};

void tv_map_init(struct tv_map *map);
void tv_map_release(struct tv_map *map);

/* Where the search for a key begins. One multiplication, as finding is often the innermost thing
 * done.  It carries bits upwards only, so high ones are folded down before and after it. */
static inline size_t tv_map_start(const struct tv_map *map, uint64_t key)
{
    uint64_t hash = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash ^ hash >> 32) & map->mask;
}

/* The value of the key, or TV_NONE. */
static inline uint32_t tv_map_find(const struct tv_map *map, uint64_t key)
{
    if (TV_UNLIKELY(map->mask == 0))
        return TV_NONE;
    size_t place = tv_map_start(map, key);
    while (map->keys[place] != key && map->values[place] != TV_NONE)
        place = (place + 1) & map->mask;
    return map->values[place];
}

/* Sets the value (which is not TV_NONE) of the key, replacing one that is there. */
void tv_map_set(struct tv_map *map, uint64_t key, uint32_t value);

/* The value of the key; when there is none, sets `value` and returns it. */
uint32_t tv_map_add(struct tv_map *map, uint64_t key, uint32_t value);

#endif
