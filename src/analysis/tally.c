/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tally.h"

#include <string.h>

#include "base/memory.h"

#define FIRST_NODES ((size_t)1 << 9)

static void *grow_table(void *table, size_t size, size_t before, size_t after)
{
    void *grown = tv_pages_alloc(tv_size_mul(after, size));
    if (before > 0) {
        memcpy(grown, table, before * size);
        tv_pages_free(table, before * size);
    }
    return grown;
}

static TV_NOINLINE void grow_nodes(struct tv_tally *tally)
{
    size_t before = tally->capacity, after = before ? tv_size_mul(before, 2) : FIRST_NODES;
    if (after > TV_NONE)
        tv_memory_exhausted();
    tally->nodes = grow_table(tally->nodes, sizeof *tally->nodes, before, after);
    tally->hashes = grow_table(tally->hashes, sizeof *tally->hashes, before, after);
    tally->capacity = after;
}

static void put(struct tv_tally *tally, struct tv_tally_place place)
{
    size_t at = place.hash & tally->mask;
    while (tally->places[at].node != 0)
        at = (at + 1) & tally->mask;
    tally->places[at] = place;
}

/* Twice the places.  Those of the old ones in turn lie in two stretches of the new ones in turn. */
static TV_NOINLINE void grow_places(struct tv_tally *tally)
{
    struct tv_tally_place *old = tally->places;
    size_t before = old ? tally->mask + 1 : 0, after = before ? before * 2 : 2 * FIRST_NODES;
    tally->places = tv_pages_alloc(tv_size_mul(after, sizeof *old));
    tally->mask = after - 1;
    for (size_t i = 0; i < before; i++)
        if (old[i].node != 0)
            put(tally, old[i]);
    if (old)
        tv_pages_free(old, before * sizeof *old);
}

void tv_tally_init(struct tv_tally *tally)
{
    memset(tally, 0, sizeof *tally);
    grow_nodes(tally);
    grow_places(tally);
    tally->nodes[TV_ROOT_PATH].frame = TV_NONE;
    tally->hashes[TV_ROOT_PATH] = TV_ROOT_HASH;
    tally->count = 1;
}

void tv_tally_release(struct tv_tally *tally)
{
    if (tally->nodes) {
        tv_pages_free(tally->nodes, tally->capacity * sizeof *tally->nodes);
        tv_pages_free(tally->hashes, tally->capacity * sizeof *tally->hashes);
        tv_pages_free(tally->places, (tally->mask + 1) * sizeof *tally->places);
    }
    memset(tally, 0, sizeof *tally);
}

static uint32_t append(struct tv_tally *tally, uint32_t parent, uint32_t frame, uint32_t hash)
{
    if (TV_UNLIKELY(tally->count == tally->capacity))
        grow_nodes(tally);
    tally->nodes[tally->count].parent = parent;
    tally->nodes[tally->count].frame = frame;
    tally->hashes[tally->count] = hash;
    return tally->count++;
}

TV_NOINLINE uint32_t tv_tally_child(struct tv_tally *tally, uint32_t parent, uint32_t frame)
{
    uint32_t hash = tv_tally_hash(tally->hashes[parent], frame);
    if (TV_UNLIKELY((size_t)tally->count * 2 > tally->mask))
        grow_places(tally);
    size_t at = hash & tally->mask;
    for (; tally->places[at].node != 0; at = (at + 1) & tally->mask) {
        struct tv_tally_place place = tally->places[at];
        const struct tv_tally_node *node = &tally->nodes[place.node];
        if (place.hash == hash && node->parent == parent && node->frame == frame)
            return place.node;
    }
    uint32_t node = append(tally, parent, frame, hash);
    tally->places[at] = (struct tv_tally_place){hash, node};
    return node;
}
