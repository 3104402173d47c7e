/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c - insertion into the call-path tree, and merging of trees.
 *
 * Trees of millions of paths exceed the caches.  The cost of a step is the number of cache lines
 * that it touches, and whether it must wait for one of them to know the next.
 *
 * A path is found in three steps, cheapest first:
 *
 *   recents[parent]   the two children of this parent that were looked up last; loops call the same
 *                     functions again and again, so most lookups end here
 *   places            an open hash table of (hash, node); the hash is compared first, so the node's
 *                     own line is touched only when it is very likely the right one
 *   nodes             (parent, frame), appended when the path is new
 *
 * The hash of a path is computed from its parent's hash and its frame, never from numbers of
 * nodes. Trees of different chunks therefore agree on it, and merging needs no path to be walked.
 */
#include "model/paths.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_NODES ((size_t)1 << 9)

/* Lookups ahead of which a slot is prefetched: about as many as cache misses in flight. */
#define TOGETHER 16u

/* Free the hash table; the next insertion builds it again. */
static void paths_free_slots(struct tv_paths *paths)
{
    if (paths->places)
        tv_pages_free(paths->places, (paths->mask + 1) * sizeof *paths->places);
    paths->places = NULL;
    paths->mask = 0;
    paths->most = 0;
}

static void paths_free_nodes(struct tv_paths *paths)
{
    if (paths->nodes)
        tv_pages_free(paths->nodes, paths->capacity * sizeof *paths->nodes);
    if (paths->hashes)
        tv_pages_free(paths->hashes, paths->capacity * sizeof *paths->hashes);
    if (paths->recents)
        tv_pages_free(paths->recents, paths->capacity * sizeof *paths->recents);
}

/* Make room for more nodes.  Untouched `recents` stay untouched, so they take no memory. */
static TV_NOINLINE void paths_grow_nodes(struct tv_paths *paths)
{
    struct tv_paths grown = *paths;
    grown.capacity = paths->capacity ? tv_size_mul(paths->capacity, 2) : FIRST_NODES;
    if (grown.capacity > TV_NONE)
        tv_memory_exhausted();
    grown.nodes = tv_pages_alloc(tv_size_mul(grown.capacity, sizeof *grown.nodes));
    grown.hashes = tv_pages_alloc(tv_size_mul(grown.capacity, sizeof *grown.hashes));
    grown.recents = tv_pages_alloc(tv_size_mul(grown.capacity, sizeof *grown.recents));
    if (paths->count > 0) {
        memcpy(grown.nodes, paths->nodes, paths->count * sizeof *grown.nodes);
        memcpy(grown.hashes, paths->hashes, paths->count * sizeof *grown.hashes);
        memcpy(grown.recents, paths->recents, paths->recent_count * sizeof *grown.recents);
    }
    paths_free_nodes(paths);
    *paths = grown;
}

/* Append a node that is not in the tree yet. */
TV_INLINE uint32_t paths_append(struct tv_paths *paths, struct tv_path_node node, uint32_t hash)
{
    if (TV_UNLIKELY(paths->count == paths->capacity))
        paths_grow_nodes(paths);
    assert(node.parent < paths->count || paths->count == 0); /* parents come first */
    paths->nodes[paths->count] = node;
    paths->hashes[paths->count] = hash;
    return paths->count++;
}

/* Insert the nodes from `first` on into the hash slots. */
static void paths_fill_slots(struct tv_paths *paths, uint32_t first)
{
    for (uint32_t i = first; i < paths->count; i++) {
        if (i + TOGETHER < paths->count)
            TV_PREFETCH(&paths->places[paths->hashes[i + TOGETHER] & paths->mask]);
        tv_path_place_put(paths->places, paths->mask, (struct tv_path_place){paths->hashes[i], i});
    }
}

/* Return the number of nodes for so many slots; a quarter stays free. */
static size_t paths_slots_limit(size_t places)
{
    return places / 4 * 3;
}

/* Rebuild the hash table with room for all nodes and some more. */
static TV_NOINLINE void paths_rebuild_slots(struct tv_paths *paths)
{
    size_t count = FIRST_NODES * 2;
    while (paths_slots_limit(count) <= paths->count)
        count *= 2;
    paths_free_slots(paths);
    paths->most = paths_slots_limit(count);
    paths->places = tv_pages_alloc(tv_size_mul(count, sizeof *paths->places));
    paths->mask = count - 1;
    paths_fill_slots(paths, 1);
}

void tv_paths_init(struct tv_paths *paths)
{
    memset(paths, 0, sizeof *paths);
    paths_append(paths, (struct tv_path_node){TV_ROOT_PATH, TV_NONE}, TV_ROOT_HASH);
}

void tv_paths_clear(struct tv_paths *paths)
{
    memset(paths->recents, 0, paths->recent_count * sizeof *paths->recents);
    if (paths->places)
        memset(paths->places, 0, (paths->mask + 1) * sizeof *paths->places);
    paths->recent_count = 0;
    paths->count = 1;
}

void tv_paths_release(struct tv_paths *paths)
{
    paths_free_slots(paths);
    paths_free_nodes(paths);
    memset(paths, 0, sizeof *paths);
}

/* Return the node, or 0; *at is its slot, or the free one where it belongs. */
TV_INLINE uint32_t paths_find_slot(const struct tv_paths *paths, struct tv_path_node wanted,
                                   uint32_t hash, size_t *at, bool recents)
{
    for (*at = hash & paths->mask; paths->places[*at].node != 0; *at = (*at + 1) & paths->mask) {
        struct tv_path_place place = paths->places[*at];
        if (place.hash != hash)
            continue;
        if (recents) /* its children are looked up next */
            TV_PREFETCH(&paths->recents[place.node]);
        if (paths->nodes[place.node].parent == wanted.parent &&
            paths->nodes[place.node].frame == wanted.frame)
            return place.node;
    }
    return 0;
}

/* Return the node of a path, which is added when it is new. */
TV_INLINE uint32_t paths_find_or_add(struct tv_paths *paths, struct tv_path_node wanted,
                                     uint32_t hash)
{
    size_t at;
    if (TV_UNLIKELY(paths->count >= paths->most))
        paths_rebuild_slots(paths);
    uint32_t node = paths_find_slot(paths, wanted, hash, &at, true);
    if (node == 0) {
        node = paths_append(paths, wanted, hash);
        paths->places[at] = (struct tv_path_place){hash, node};
    }
    return node;
}

/* Return the child that was looked up before the last one, or 0. */
TV_INLINE uint32_t paths_previous_child(const struct tv_paths *paths, struct tv_path_node wanted)
{
    const struct tv_path_recent *recent = &paths->recents[wanted.parent];
    return recent->other_frame == wanted.frame ? recent->other_child : 0;
}

/* Make a child the last one that was looked up, and return it. */
TV_INLINE uint32_t paths_remember_child(struct tv_paths *paths, struct tv_path_node wanted,
                                        uint32_t child)
{
    struct tv_path_recent *recent = &paths->recents[wanted.parent];
    recent->other_frame = recent->last_frame;
    recent->other_child = recent->last_child;
    recent->last_frame = wanted.frame;
    recent->last_child = child;
    if (wanted.parent >= paths->recent_count)
        paths->recent_count = wanted.parent + 1;
    return child;
}

TV_NOINLINE uint32_t tv_paths_child_slow(struct tv_paths *paths, uint32_t parent, uint32_t frame)
{
    struct tv_path_node wanted = {parent, frame};
    assert(parent < paths->count);
    uint32_t child = paths_previous_child(paths, wanted);
    if (child == 0)
        child = paths_find_or_add(paths, wanted, tv_path_hash(paths->hashes[parent], frame));
    return paths_remember_child(paths, wanted, child);
}

TV_NOINLINE uint32_t tv_paths_child_of_hash_slow(struct tv_paths *paths, struct tv_path_node wanted,
                                                 uint32_t hash)
{
    uint32_t child = paths_previous_child(paths, wanted);
    if (child == 0)
        child = paths_find_or_add(paths, wanted, hash);
    return paths_remember_child(paths, wanted, child);
}

/* The nodes of a tree are distinct paths.  So a node that is new in `to` is new to all nodes after
 * it as well, and children of new nodes need no lookup.  map[i] holds the hash of node i until its
 * number replaces it. */
void tv_paths_merge_nodes(struct tv_paths *to, const struct tv_path_node *nodes, uint32_t count,
                          uint32_t *map)
{
    uint32_t first = to->count;
    assert(first > 0 && count > 0 && to->hashes != NULL); /* `to` is not finished */
    if (!to->places)
        paths_rebuild_slots(to);
    map[TV_ROOT_PATH] = TV_ROOT_HASH;
    for (uint32_t i = 1; i < count; i++)
        map[i] = tv_path_hash(map[nodes[i].parent], nodes[i].frame);
    map[TV_ROOT_PATH] = TV_ROOT_PATH;
    for (uint32_t i = 1; i < count; i++) {
        struct tv_path_node wanted = {map[nodes[i].parent], nodes[i].frame};
        uint32_t hash = map[i];
        size_t at;
        if (i + TOGETHER < count)
            TV_PREFETCH(&to->places[map[i + TOGETHER] & to->mask]);
        map[i] = wanted.parent < first ? paths_find_slot(to, wanted, hash, &at, false) : 0;
        if (map[i] == 0)
            map[i] = paths_append(to, wanted, hash);
    }
    if (to->count > to->most)
        paths_rebuild_slots(to);
    else
        paths_fill_slots(to, first);
}

void tv_paths_rest(struct tv_paths *paths)
{
    paths_free_slots(paths);
}

void tv_paths_finish(struct tv_paths *paths)
{
    struct tv_paths kept = *paths;
    paths_free_slots(paths);
    paths->nodes = NULL;
    paths_free_nodes(paths);
    *paths = (struct tv_paths){.nodes = kept.nodes, .capacity = kept.capacity, .count = kept.count};
}
