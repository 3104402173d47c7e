/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - filling and growing of the table that map.h searches.
 *
 * A free place may hold any key: its value says that it is free.  So a search that meets its key in
 * a free place ends there with the right answer, TV_NONE.
 */
#include "base/map.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_PLACES 16

/* Tables from this many places on are whole pages: searched all over, they gain from huge ones. */
#define PAGES_FROM ((size_t)1 << 18)

static void *new_column(size_t places, size_t size)
{
    if (places >= PAGES_FROM)
        return tv_pages_alloc(tv_size_mul(places, size));
    return tv_alloc(places, size);
}

static void free_column(void *column, size_t places, size_t size)
{
    if (places >= PAGES_FROM)
        tv_pages_free(column, places * size);
    else
        tv_free(column);
}

void tv_map_init(struct tv_map *map)
{
    *map = (struct tv_map){0};
}

void tv_map_release(struct tv_map *map)
{
    if (map->mask != 0) {
        free_column(map->keys, map->mask + 1, sizeof *map->keys);
        free_column(map->values, map->mask + 1, sizeof *map->values);
    }
    *map = (struct tv_map){0};
}

/* The place that holds the key, or the free one where it belongs. */
static size_t find_place(const struct tv_map *map, uint64_t key)
{
    size_t place = tv_map_start(map, key);
    while (map->values[place] != TV_NONE && map->keys[place] != key)
        place = (place + 1) & map->mask;
    return place;
}

static void grow(struct tv_map *map)
{
    struct tv_map old = *map;
    size_t places = old.mask == 0 ? FIRST_PLACES : tv_size_mul(old.mask + 1, 2);
    map->keys = new_column(places, sizeof *map->keys);
    map->values = new_column(places, sizeof *map->values);
    memset(map->values, 0xff, places * sizeof *map->values); /* TV_NONE */
    map->mask = places - 1;
    for (size_t i = 0; old.mask != 0 && i <= old.mask; i++) {
        if (old.values[i] == TV_NONE)
            continue;
        size_t place = find_place(map, old.keys[i]);
        map->keys[place] = old.keys[i];
        map->values[place] = old.values[i];
    }
    tv_map_release(&old);
}

/* The place of the key, made ready to take a value. */
static size_t take_place(struct tv_map *map, uint64_t key)
{
    if (map->mask == 0)
        grow(map);
    size_t place = find_place(map, key);
    if (map->values[place] != TV_NONE)
        return place;
    if (map->count >= (map->mask + 1) / 2) {
        grow(map);
        place = find_place(map, key);
    }
    map->keys[place] = key;
    map->count++;
    return place;
}

void tv_map_set(struct tv_map *map, uint64_t key, uint32_t value)
{
    assert(value != TV_NONE);
    size_t place = take_place(map, key); /* may move the columns */
    map->values[place] = value;
}

uint32_t tv_map_add(struct tv_map *map, uint64_t key, uint32_t value)
{
    assert(value != TV_NONE);
    size_t place = take_place(map, key);
    if (map->values[place] == TV_NONE)
        map->values[place] = value;
    return map->values[place];
}
