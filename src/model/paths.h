/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - the call-path tree: each distinct chain of frames is one node.
 *
 *     nodes   0 root   1 main   2 main>parse   3 main>parse>read   4 main>draw
 *     parent  -        0        1              2                   1
 *
 * Node 0 is the root and has no frame.  Parents have smaller numbers than their children, so one
 * pass up or down the arrays visits the tree in order.  Slices store the number of their path, so a
 * whole stack takes 4 bytes.
 */
#ifndef TV_MODEL_PATHS_H
#define TV_MODEL_PATHS_H

#include "base/hash.h"

#define TV_ROOT_PATH 0u
#define TV_ROOT_HASH 0u

struct tv_path_node {
    uint32_t parent;
    uint32_t frame;
};

/* The two children of a node that were looked up last: call chains repeat.  Child 0 means none,
 * because the root is nobody's child. */
struct tv_path_recent {
    uint32_t last_frame, last_child;
    uint32_t other_frame, other_child;
};

/* A hash slot keeps 32 bits of the hash, so nodes are read only when they almost certainly match.
 */
struct tv_path_place {
    uint32_t hash;
    uint32_t node; /* 0: the slot is free */
};

/* Insert a new node into a table of mask + 1 slots, some of which are free. */
TV_INLINE void tv_path_place_put(struct tv_path_place *places, size_t mask,
                                 struct tv_path_place place)
{
    size_t at = place.hash & mask;
    while (places[at].node != 0)
        at = (at + 1) & mask;
    places[at] = place;
}

struct tv_paths {
    struct tv_path_node *nodes;
    uint32_t *hashes;               /* per node: hash of its chain of frames */
    struct tv_path_recent *recents; /* per node */
    size_t capacity;                /* capacity of all three arrays */
    uint32_t count;
    uint32_t recent_count;        /* recents from this index on were never written */
    struct tv_path_place *places; /* open addressing by (parent, frame); NULL: built at the first
                                     lookup that is not recent */
    size_t mask;
    size_t most; /* capacity of the table in nodes; 0: there is no table */
};

/* Hash a child before the node of its parent is known.
 *
 * For one frame the function is a bijection of the parent's hash, and for one parent a bijection of
 * the frame; so a recursive method has another hash at each depth.  Few operations are between a
 * parent's hash and the child's, because a chain of entries computes them one after the other.  The
 * byte swap moves the upper bits of the product, which depend on all input bits, to the bottom,
 * where they choose the slot. */
TV_INLINE uint32_t tv_path_hash(uint32_t parent_hash, uint32_t frame)
{
    uint32_t mixed = parent_hash ^ (frame * 0x9e3779b1u + 0x7f4a7c15u);
    return __builtin_bswap32(mixed * 0x6659fd93u);
}

void tv_paths_init(struct tv_paths *paths);
void tv_paths_release(struct tv_paths *paths);

/* Slow paths of the two functions below. */
uint32_t tv_paths_child_slow(struct tv_paths *paths, uint32_t parent, uint32_t frame);
uint32_t tv_paths_child_of_hash_slow(struct tv_paths *paths, struct tv_path_node wanted,
                                     uint32_t hash);

/* Return the child that was looked up last if it has this frame, else 0. */
TV_INLINE uint32_t tv_paths_last_child(const struct tv_paths *paths, struct tv_path_node wanted)
{
    const struct tv_path_recent *recent = &paths->recents[wanted.parent];
    return recent->last_frame == wanted.frame ? recent->last_child : 0;
}

/* Return the node for `frame` called from `parent`, adding it if needed. */
TV_INLINE uint32_t tv_paths_child(struct tv_paths *paths, uint32_t parent, uint32_t frame)
{
    uint32_t child = tv_paths_last_child(paths, (struct tv_path_node){parent, frame});
    return TV_LIKELY(child != 0) ? child : tv_paths_child_slow(paths, parent, frame);
}

/* As above, for a caller that computed the hash and prefetched its slot. */
TV_INLINE uint32_t tv_paths_child_of_hash(struct tv_paths *paths, struct tv_path_node wanted,
                                          uint32_t hash)
{
    uint32_t child = tv_paths_last_child(paths, wanted);
    return TV_LIKELY(child != 0) ? child : tv_paths_child_of_hash_slow(paths, wanted, hash);
}

/* Prefetch the slot of a path that will be looked up. */
TV_INLINE void tv_paths_prefetch(const struct tv_paths *paths, uint32_t hash)
{
    if (paths->places)
        TV_PREFETCH(&paths->places[hash & paths->mask]);
}

/* Reset to the root; memory is kept for the next tree. */
void tv_paths_clear(struct tv_paths *paths);

/* Add the nodes of another tree; map[i], for i < count, becomes the number of its node i in `to`.
 */
void tv_paths_merge_nodes(struct tv_paths *to, const struct tv_path_node *nodes, uint32_t count,
                          uint32_t *map);

static inline void tv_paths_merge(struct tv_paths *to, const struct tv_paths *from, uint32_t *map)
{
    tv_paths_merge_nodes(to, from->nodes, from->count, map);
}

/* Free the hash table; the next lookup rebuilds it. */
void tv_paths_rest(struct tv_paths *paths);

/* Free everything that only insertion needs; nodes[0..count) is the finished tree. */
void tv_paths_finish(struct tv_paths *paths);

#endif
