/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - insertion into the hash tables of map.h.
 *
 * Both tables use open addressing with linear probing: a key lives in the first free slot at or
 * after its hash, and they grow at half load, so probe sequences stay short.
 *
 * A free slot of tv_map may hold any key; only its value says that it is free.  A search that meets
 * its key in a free slot therefore stops there, with the right answer, TV_NONE.
 */
#include "base/map.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"

#define MAP_FIRST_SLOTS 16

/* Tables of this many slots use whole pages: random access gains from huge pages. */
#define MAP_PAGES_FROM ((size_t)1 << 18)

static void *map_column_new(size_t places, size_t size)
{
    if (places >= MAP_PAGES_FROM)
        return tv_pages_alloc(tv_size_mul(places, size));
    return tv_alloc(places, size);
}

static void map_column_free(void *column, size_t places, size_t size)
{
    if (places >= MAP_PAGES_FROM)
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
        map_column_free(map->keys, map->mask + 1, sizeof *map->keys);
        map_column_free(map->values, map->mask + 1, sizeof *map->values);
    }
    *map = (struct tv_map){0};
}

/* Return the slot that holds the key, or the free one where it belongs. */
static size_t map_find_slot(const struct tv_map *map, uint64_t key)
{
    size_t place = tv_map_start(map, key);
    while (map->values[place] != TV_NONE && map->keys[place] != key)
        place = (place + 1) & map->mask;
    return place;
}

/* Double the table and place all keys again. */
static void map_grow(struct tv_map *map)
{
    struct tv_map old = *map;
    size_t places = old.mask == 0 ? MAP_FIRST_SLOTS : tv_size_mul(old.mask + 1, 2);
    map->keys = map_column_new(places, sizeof *map->keys);
    map->values = map_column_new(places, sizeof *map->values);
    memset(map->values, 0xff, places * sizeof *map->values); /* TV_NONE */
    map->mask = places - 1;
    for (size_t i = 0; old.mask != 0 && i <= old.mask; i++) {
        if (old.values[i] == TV_NONE)
            continue;
        size_t place = map_find_slot(map, old.keys[i]);
        map->keys[place] = old.keys[i];
        map->values[place] = old.values[i];
    }
    tv_map_release(&old);
}

/* Return the slot of the key, creating it if needed; the caller then sets its value. */
static size_t map_claim_slot(struct tv_map *map, uint64_t key)
{
    if (map->mask == 0)
        map_grow(map);
    size_t place = map_find_slot(map, key);
    if (map->values[place] != TV_NONE)
        return place;
    if (map->count >= (map->mask + 1) / 2) {
        map_grow(map);
        place = map_find_slot(map, key);
    }
    map->keys[place] = key;
    map->count++;
    assert(map->count <= (map->mask + 1) / 2); /* so that every search meets a free slot */
    return place;
}

void tv_map_set(struct tv_map *map, uint64_t key, uint32_t value)
{
    assert(value != TV_NONE);
    size_t place = map_claim_slot(map, key); /* may move the columns */
    map->values[place] = value;
}

uint32_t tv_map_add(struct tv_map *map, uint64_t key, uint32_t value)
{
    assert(value != TV_NONE);
    size_t place = map_claim_slot(map, key);
    if (map->values[place] == TV_NONE)
        map->values[place] = value;
    return map->values[place];
}

/* ---- Lookups ---- */

void tv_lookup_init(struct tv_lookup *lookup)
{
    *lookup = (struct tv_lookup){.array = NULL};
    tv_map_init(&lookup->map);
}

void tv_lookup_release(struct tv_lookup *lookup)
{
    tv_map_release(&lookup->map);
    tv_free(lookup->array);
    lookup->array = NULL;
}

/* Begin an array if it takes no more than a map.  A map has two slots of 12 bytes at least for each
 * key: an array of four places of 4 bytes for each is smaller. */
static bool lookup_make_array(struct tv_lookup *lookup, uint64_t first, uint64_t last, size_t count)
{
    assert(!lookup->array);
    if (count == 0 || last - first >= (uint64_t)count * 4)
        return false;
    lookup->first = first;
    lookup->span = last - first + 1;
    lookup->array = tv_alloc((size_t)lookup->span, sizeof *lookup->array);
    memset(lookup->array, 0xff, (size_t)lookup->span * sizeof *lookup->array); /* TV_NONE */
    return true;
}

void tv_lookup_complete(struct tv_lookup *lookup)
{
    const struct tv_map *map = &lookup->map;
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; map->count > 0 && i <= map->mask; i++) {
        if (map->values[i] == TV_NONE)
            continue;
        first = map->keys[i] < first ? map->keys[i] : first;
        last = map->keys[i] > last ? map->keys[i] : last;
    }
    if (!lookup_make_array(lookup, first, last, map->count))
        return;
    for (size_t i = 0; i <= map->mask; i++)
        if (map->values[i] != TV_NONE)
            lookup->array[map->keys[i] - first] = map->values[i];
    tv_map_release(&lookup->map);
}

void tv_lookup_expect(struct tv_lookup *lookup, uint64_t first, uint64_t last, size_t count)
{
    (void)lookup_make_array(lookup, first, last, count);
}

void tv_lookup_add(struct tv_lookup *lookup, uint64_t key, uint32_t value)
{
    assert(value != TV_NONE);
    if (!lookup->array) {
        tv_map_add(&lookup->map, key, value);
        return;
    }
    assert(key - lookup->first < lookup->span);
    uint32_t *place = &lookup->array[key - lookup->first];
    if (*place == TV_NONE)
        *place = value;
}

/*
 * ---- Interner: strings in an arena, found through a hash table of their numbers ----
 */

#define INTERNER_FIRST_SLOTS 64

/* The slot keeps 32 bits of the hash, so strings are compared only when they are almost certainly
 * equal, and growing the table reads no string. */
struct interner_slot {
    uint32_t hash;
    uint32_t id; /* TV_NONE: free */
};

struct tv_interner {
    struct tv_arena texts;
    struct tv_bytes *strings;
    size_t capacity;
    uint32_t count;
    struct interner_slot *places;
    size_t mask;
};

static struct interner_slot *interner_slots_new(size_t count)
{
    struct interner_slot *places = tv_alloc(count, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i].id = TV_NONE;
    return places;
}

struct tv_interner *tv_interner_new(void)
{
    struct tv_interner *interner = tv_alloc(1, sizeof *interner);
    tv_arena_init(&interner->texts);
    interner->places = interner_slots_new(INTERNER_FIRST_SLOTS);
    interner->mask = INTERNER_FIRST_SLOTS - 1;
    tv_interner_add(interner, TV_BYTES(""));
    return interner;
}

struct tv_interner *tv_interner_extend(const struct tv_interner *base)
{
    struct tv_interner *interner = tv_alloc(1, sizeof *interner);
    tv_arena_init(&interner->texts);
    interner->capacity = (size_t)base->count + 1;
    interner->count = base->count;
    interner->strings = tv_alloc(interner->capacity, sizeof *interner->strings);
    memcpy(interner->strings, base->strings, base->count * sizeof *interner->strings);
    interner->mask = base->mask;
    interner->places = tv_alloc(base->mask + 1, sizeof *interner->places);
    memcpy(interner->places, base->places, (base->mask + 1) * sizeof *interner->places);
    return interner;
}

void tv_interner_free(struct tv_interner *interner)
{
    if (interner == NULL)
        return;
    tv_arena_release(&interner->texts);
    tv_free(interner->strings);
    tv_free(interner->places);
    tv_free(interner);
}

/* Return the slot that holds the string, or the free one where it belongs. */
static struct interner_slot *interner_find_slot(const struct tv_interner *interner, uint32_t hash,
                                                struct tv_bytes text)
{
    for (size_t i = hash & interner->mask;; i = (i + 1) & interner->mask) {
        struct interner_slot *place = &interner->places[i];
        if (place->id == TV_NONE)
            return place;
        if (place->hash == hash && tv_bytes_equal(interner->strings[place->id], text))
            return place;
    }
}

/* Double the places. Slots keep their hashes, so no string is read; the probe is the same linear
 * one as in looking up. */
static void interner_grow(struct tv_interner *interner)
{
    size_t mask = tv_size_mul(interner->mask + 1, 2) - 1;
    struct interner_slot *places = interner_slots_new(mask + 1);
    for (size_t i = 0; i <= interner->mask; i++) {
        struct interner_slot moved = interner->places[i];
        if (moved.id == TV_NONE)
            continue;
        size_t to = moved.hash & mask;
        while (places[to].id != TV_NONE)
            to = (to + 1) & mask;
        places[to] = moved;
    }
    tv_free(interner->places);
    interner->places = places;
    interner->mask = mask;
}

/* Insert a string that lives in the arena.  Return false when it is there already. */
static bool interner_insert(struct tv_interner *interner, uint32_t id, struct tv_bytes text)
{
    uint32_t hash = (uint32_t)tv_hash_bytes(text);
    struct interner_slot *place = interner_find_slot(interner, hash, text);
    if (place->id != TV_NONE)
        return false;
    *place = (struct interner_slot){hash, id};
    interner->strings[id] = text;
    interner->count++;
    return true;
}

struct tv_interner *tv_interner_from_texts(struct tv_bytes texts, const uint64_t *ends,
                                           uint32_t count)
{
    if (count == 0 || ends[0] != 0)
        return NULL;
    struct tv_interner *interner = tv_alloc(1, sizeof *interner);
    size_t places = INTERNER_FIRST_SLOTS;
    while (places / 2 <= count)
        places = tv_size_mul(places, 2);
    tv_arena_init(&interner->texts);
    interner->places = interner_slots_new(places);
    interner->mask = places - 1;
    interner->strings = tv_alloc(count, sizeof *interner->strings);
    interner->capacity = count;
    const uint8_t *copy = (const uint8_t *)tv_arena_text(&interner->texts, texts);
    uint64_t start = 0;
    for (uint32_t id = 0; id < count; id++) {
        if (!interner_insert(interner, id,
                             (struct tv_bytes){copy + start, (size_t)(ends[id] - start)})) {
            tv_interner_free(interner);
            return NULL;
        }
        start = ends[id] + 1;
    }
    return interner;
}

uint32_t tv_interner_add(struct tv_interner *interner, struct tv_bytes text)
{
    uint32_t hash = (uint32_t)tv_hash_bytes(text);
    struct interner_slot *place = interner_find_slot(interner, hash, text);
    if (place->id != TV_NONE)
        return place->id;

    uint32_t id = interner->count;
    if (id == TV_NONE - 1)
        tv_memory_exhausted();
    *place = (struct interner_slot){hash, id};
    interner->strings = tv_array_reserve(interner->strings, &interner->capacity, (size_t)id + 1,
                                         sizeof *interner->strings);
    const char *copy = tv_arena_text(&interner->texts, text);
    interner->strings[id] = (struct tv_bytes){(const uint8_t *)copy, text.length};
    interner->count++;
    if (interner->count > interner->mask / 2)
        interner_grow(interner);
    return id;
}

uint32_t tv_interner_find(const struct tv_interner *interner, struct tv_bytes text)
{
    return interner_find_slot(interner, (uint32_t)tv_hash_bytes(text), text)->id;
}

struct tv_bytes tv_interner_get(const struct tv_interner *interner, uint32_t id)
{
    assert(id < interner->count);
    return interner->strings[id];
}

uint32_t tv_interner_count(const struct tv_interner *interner)
{
    return interner->count;
}
