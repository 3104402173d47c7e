/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tally.h"

#include <string.h>

#include "base/memory.h"

#define FIRST_NODES ((size_t)1 << 9)

/* So many nodes ahead the places of a tree are asked for. */
#define AHEAD 16u

static void *grow_table(void *table, size_t size, size_t before, size_t after)
{
    void *grown = tv_pages_alloc(tv_size_mul(after, size));
    if (before > 0) {
        memcpy(grown, table, before * size);
        tv_pages_free(table, before * size);
    }
    return grown;
}

/* Four times the room: pages that no node lies in take no memory, those that are copied do. */
static TV_NOINLINE void grow_nodes(struct tv_tally *tally)
{
    size_t before = tally->capacity, after = before ? tv_size_mul(before, 4) : FIRST_NODES;
    if (before > TV_NONE / 2)
        tv_memory_exhausted();
    if (after > TV_NONE)
        after = TV_NONE;
    tally->nodes = grow_table(tally->nodes, sizeof *tally->nodes, before, after);
    tally->hashes = grow_table(tally->hashes, sizeof *tally->hashes, before, after);
    tally->capacity = after;
}

/* Twice the places.  Those of the old ones in turn lie in two stretches of the new ones in turn. */
static TV_NOINLINE void grow_places(struct tv_tally *tally)
{
    struct tv_path_place *old = tally->places;
    size_t before = old ? tally->mask + 1 : 0, after = before ? before * 2 : 2 * FIRST_NODES;
    tally->places = tv_pages_alloc(tv_size_mul(after, sizeof *old));
    tally->mask = after - 1;
    for (size_t i = 0; i < before; i++)
        if (old[i].node != 0)
            tv_path_place_put(tally->places, tally->mask, old[i]);
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

void tv_tally_finish(struct tv_tally *tally)
{
    if (tally->hashes) {
        tv_pages_free(tally->hashes, tally->capacity * sizeof *tally->hashes);
        tv_pages_free(tally->places, (tally->mask + 1) * sizeof *tally->places);
    }
    tally->hashes = NULL;
    tally->places = NULL;
}

void tv_tally_release(struct tv_tally *tally)
{
    tv_tally_finish(tally);
    if (tally->nodes)
        tv_pages_free(tally->nodes, tally->capacity * sizeof *tally->nodes);
    memset(tally, 0, sizeof *tally);
}

static uint32_t append(struct tv_tally *tally, uint32_t parent, uint32_t frame, uint32_t hash)
{
    if (TV_UNLIKELY(tally->count == tally->capacity))
        grow_nodes(tally);
    tally->nodes[tally->count] = (struct tv_tally_node){.parent = parent, .frame = frame};
    tally->hashes[tally->count] = hash;
    return tally->count++;
}

/* The node, or 0; *at is its place, or where it belongs. */
TV_INLINE uint32_t find(const struct tv_tally *tally, uint32_t parent, uint32_t frame,
                        uint32_t hash, size_t *at)
{
    for (*at = hash & tally->mask; tally->places[*at].node != 0; *at = (*at + 1) & tally->mask) {
        struct tv_path_place place = tally->places[*at];
        const struct tv_tally_node *node = &tally->nodes[place.node];
        if (place.hash == hash && node->parent == parent && node->frame == frame)
            return place.node;
    }
    return 0;
}

TV_INLINE uint32_t find_or_add(struct tv_tally *tally, uint32_t parent, uint32_t frame,
                               uint32_t hash)
{
    size_t at;
    if (TV_UNLIKELY((size_t)tally->count * 2 > tally->mask))
        grow_places(tally);
    uint32_t node = find(tally, parent, frame, hash, &at);
    if (node == 0) {
        node = append(tally, parent, frame, hash);
        tally->places[at] = (struct tv_path_place){hash, node};
    }
    return node;
}

TV_NOINLINE uint32_t tv_tally_child(struct tv_tally *tally, uint32_t parent, uint32_t frame)
{
    return find_or_add(tally, parent, frame, tv_path_hash(tally->hashes[parent], frame));
}

static void add_figures(struct tv_tally_node *to, const struct tv_tally_node *from, int64_t tick)
{
    to->calls += from->calls;
    tv_time_add(&to->wall, tv_time_times(from->wall, tick));
    tv_time_add(&to->cpu, tv_time_times(from->cpu, tick));
}

void tv_tally_merge(struct tv_tally *to, const struct tv_tally *from)
{
    uint32_t *map = tv_alloc(from->count, sizeof *map);
    for (uint32_t i = 1; i < from->count; i++) {
        const struct tv_tally_node *node = &from->nodes[i];
        if (i + AHEAD < from->count)
            TV_PREFETCH(&to->places[from->hashes[i + AHEAD] & to->mask]);
        map[i] = find_or_add(to, map[node->parent], node->frame, from->hashes[i]);
        add_figures(&to->nodes[map[i]], node, 1);
    }
    tv_free(map);
}

static bool is_stand_in(const struct tv_tally_ground *ground, const struct tv_tally_node *node)
{
    return node->frame >= ground->first;
}

/* What the hashes are once the paths stand on their ground. */
static void hash_again(struct tv_tally *tally, const struct tv_tally_ground *ground)
{
    for (uint32_t i = 1; i < tally->count; i++) {
        const struct tv_tally_node *node = &tally->nodes[i];
        if (is_stand_in(ground, node))
            tally->hashes[i] = ground->paths.hashes[ground->on[node->frame - ground->first]];
        else
            tally->hashes[i] = tv_path_hash(tally->hashes[node->parent], node->frame);
    }
}

/* Puts the ground's paths in front of the tree's nodes, which move so many numbers up and are in
 * no place any more. */
static void make_front(struct tv_tally *tally, const struct tv_tally *ground)
{
    uint32_t more = ground->count - 1;
    while (tally->capacity - tally->count < more)
        grow_nodes(tally);
    if (more > 0) {
        size_t count = tally->count - 1;
        memmove(&tally->nodes[1 + more], &tally->nodes[1], count * sizeof *tally->nodes);
        memmove(&tally->hashes[1 + more], &tally->hashes[1], count * sizeof *tally->hashes);
    }
    memset(tally->places, 0, (tally->mask + 1) * sizeof *tally->places);
    tally->count = 1;
    for (uint32_t i = 1; i <= more; i++)
        find_or_add(tally, ground->nodes[i].parent, ground->nodes[i].frame, ground->hashes[i]);
}

/* Nodes become fewer, if anything: each finds its new place where it stood, or before it. */
void tv_tally_stand_on(struct tv_tally *tally, const struct tv_tally_ground *ground,
                       int64_t tick_ns)
{
    uint32_t count = tally->count;
    uint32_t *map = tv_alloc(count, sizeof *map);
    hash_again(tally, ground);
    make_front(tally, &ground->paths);
    const uint32_t *hashes = tally->hashes + (ground->paths.count - 1);
    const struct tv_tally_node *nodes = tally->nodes + (ground->paths.count - 1);
    for (uint32_t i = 1; i < count; i++) {
        struct tv_tally_node node = nodes[i];
        if (i + AHEAD < count)
            TV_PREFETCH(&tally->places[hashes[i + AHEAD] & tally->mask]);
        if (is_stand_in(ground, &node))
            map[i] = ground->on[node.frame - ground->first];
        else
            map[i] = find_or_add(tally, map[node.parent], node.frame, hashes[i]);
        add_figures(&tally->nodes[map[i]], &node, tick_ns);
    }
    tv_free(map);
}
