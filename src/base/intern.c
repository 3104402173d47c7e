/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.c - strings in an arena, found through a table of hashes and numbers.
 */
#include "base/intern.h"

#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"

#define FIRST_PLACES 64

/* Part of the hash stands beside the number, so that strings are compared only when they are very
 * likely equal and growing reads no string. */
struct place {
    uint32_t hash;
    uint32_t id; /* TV_NONE: free */
};

struct tv_interner {
    struct tv_arena texts;
    struct tv_bytes *strings;
    size_t capacity;
    uint32_t count;
    struct place *places;
    size_t mask;
};

static struct place *new_places(size_t count)
{
    struct place *places = tv_alloc(count, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i].id = TV_NONE;
    return places;
}

struct tv_interner *tv_interner_new(void)
{
    struct tv_interner *interner = tv_alloc(1, sizeof *interner);
    tv_arena_init(&interner->texts);
    interner->places = new_places(FIRST_PLACES);
    interner->mask = FIRST_PLACES - 1;
    tv_interner_add(interner, TV_BYTES(""));
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

/* The place of the string: where it is, or the free one where it belongs. */
static struct place *find_place(const struct tv_interner *interner, uint32_t hash,
                                struct tv_bytes text)
{
    for (size_t i = hash & interner->mask;; i = (i + 1) & interner->mask) {
        struct place *place = &interner->places[i];
        if (place->id == TV_NONE)
            return place;
        if (place->hash == hash && tv_bytes_equal(interner->strings[place->id], text))
            return place;
    }
}

static void grow(struct tv_interner *interner)
{
    size_t mask = tv_size_mul(interner->mask + 1, 2) - 1;
    struct place *places = new_places(mask + 1);
    for (size_t i = 0; i <= interner->mask; i++) {
        struct place moved = interner->places[i];
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

/* False: there was such a string. */
static bool put(struct tv_interner *interner, uint32_t id, struct tv_bytes text)
{
    uint32_t hash = (uint32_t)tv_hash_bytes(text);
    struct place *place = find_place(interner, hash, text);
    if (place->id != TV_NONE)
        return false;
    *place = (struct place){hash, id};
    interner->strings[id] = text;
    interner->count++;
    return true;
}

struct tv_interner *tv_interner_of(struct tv_bytes texts, const uint64_t *ends, uint32_t count)
{
    if (count == 0 || ends[0] != 0)
        return NULL;
    struct tv_interner *interner = tv_alloc(1, sizeof *interner);
    size_t places = FIRST_PLACES;
    while (places / 2 <= count)
        places = tv_size_mul(places, 2);
    tv_arena_init(&interner->texts);
    interner->places = new_places(places);
    interner->mask = places - 1;
    interner->strings = tv_alloc(count, sizeof *interner->strings);
    interner->capacity = count;
    const uint8_t *copy = (const uint8_t *)tv_arena_text(&interner->texts, texts);
    uint64_t start = 0;
    for (uint32_t id = 0; id < count; id++) {
        if (!put(interner, id, (struct tv_bytes){copy + start, (size_t)(ends[id] - start)})) {
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
    struct place *place = find_place(interner, hash, text);
    if (place->id != TV_NONE)
        return place->id;

    uint32_t id = interner->count;
    if (id == TV_NONE - 1)
        tv_memory_exhausted();
    *place = (struct place){hash, id};
    interner->strings = tv_array_reserve(interner->strings, &interner->capacity, (size_t)id + 1,
                                         sizeof *interner->strings);
    const char *copy = tv_arena_text(&interner->texts, text);
    interner->strings[id] = (struct tv_bytes){(const uint8_t *)copy, text.length};
    interner->count++;
    if (interner->count > interner->mask / 2)
        grow(interner);
    return id;
}

uint32_t tv_interner_find(const struct tv_interner *interner, struct tv_bytes text)
{
    return find_place(interner, (uint32_t)tv_hash_bytes(text), text)->id;
}

struct tv_bytes tv_interner_get(const struct tv_interner *interner, uint32_t id)
{
    return interner->strings[id];
}

uint32_t tv_interner_count(const struct tv_interner *interner)
{
    return interner->count;
}
