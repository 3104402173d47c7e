/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - the call-path tree: each distinct chain of frames is one node.
 *
 * Node 0 is the root and stands for no frame; parents have smaller numbers than their children,
 * so one pass upwards or downwards over the arrays visits a tree in order.
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

/* The two children of a node that were asked for last: call chains repeat themselves.  Child 0:
 * none, as the root is nobody's. */
struct tv_path_recent {
    uint32_t last_frame, last_child;
    uint32_t other_frame, other_child;
};

/* Part of a node's hash stands beside its number, so that nodes are looked at only when they are
 * very likely the right ones. */
struct tv_path_place {
    uint32_t hash;
    uint32_t node; /* 0: free */
};

/* Puts a node that is in no place yet into one of mask + 1, of which some are free. */
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
    uint32_t *hashes;               /* beside the nodes, of their frames from the root on */
    struct tv_path_recent *recents; /* the same */
    size_t capacity;                /* of all three */
    uint32_t count;
    uint32_t recent_count;        /* recents behind this many were never written */
    struct tv_path_place *places; /* open addressing over nodes, by (parent, frame); NULL: to be
                                   * made when a child is asked for that is not recent */
    size_t mask;
    size_t most; /* nodes that the places are for; 0: there are none */
};

/* The hash of a child, which is known before the parent's node is found.  For one frame, parents
 * with different hashes have children with different ones, and so have different frames for one
 * parent: a method that calls itself runs through hashes of its own as deep as it goes.  Little
 * stands between the hash and the parent's, as those of a chain of entries wait for each other. The
 * upper bits of the product, which all bits reach, become the lower ones, which choose the place.
 */
TV_INLINE uint32_t tv_path_hash(uint32_t parent_hash, uint32_t frame)
{
    uint32_t mixed = parent_hash ^ (frame * 0x9e3779b1u + 0x7f4a7c15u);
    return __builtin_bswap32(mixed * 0x6659fd93u);
}

void tv_paths_init(struct tv_paths *paths);
void tv_paths_release(struct tv_paths *paths);

/* Use the two functions below. */
uint32_t tv_paths_child_slow(struct tv_paths *paths, uint32_t parent, uint32_t frame);
uint32_t tv_paths_child_of_hash_slow(struct tv_paths *paths, struct tv_path_node wanted,
                                     uint32_t hash);

/* The child of a node that was asked for last, if it has the frame, or 0. */
TV_INLINE uint32_t tv_paths_last_child(const struct tv_paths *paths, struct tv_path_node wanted)
{
    const struct tv_path_recent *recent = &paths->recents[wanted.parent];
    return recent->last_frame == wanted.frame ? recent->last_child : 0;
}

/* The node for `frame` called from `parent`; made when new. */
TV_INLINE uint32_t tv_paths_child(struct tv_paths *paths, uint32_t parent, uint32_t frame)
{
    uint32_t child = tv_paths_last_child(paths, (struct tv_path_node){parent, frame});
    return TV_LIKELY(child != 0) ? child : tv_paths_child_slow(paths, parent, frame);
}

/* The same for whoever knows the path's hash, and has had its place prefetched. */
TV_INLINE uint32_t tv_paths_child_of_hash(struct tv_paths *paths, struct tv_path_node wanted,
                                          uint32_t hash)
{
    uint32_t child = tv_paths_last_child(paths, wanted);
    return TV_LIKELY(child != 0) ? child : tv_paths_child_of_hash_slow(paths, wanted, hash);
}

/* Has memory look for the place of a path that is to be asked for. */
TV_INLINE void tv_paths_prefetch(const struct tv_paths *paths, uint32_t hash)
{
    if (paths->places)
        TV_PREFETCH(&paths->places[hash & paths->mask]);
}

/* Back to the root alone; memory is kept for the next tree. */
void tv_paths_clear(struct tv_paths *paths);

/* Adds the nodes of another tree to `to`; map[i] (`count` places) becomes the number of node i
 * there. */
void tv_paths_merge_nodes(struct tv_paths *to, const struct tv_path_node *nodes, uint32_t count,
                          uint32_t *map);

static inline void tv_paths_merge(struct tv_paths *to, const struct tv_paths *from, uint32_t *map)
{
    tv_paths_merge_nodes(to, from->nodes, from->count, map);
}

/* Gives back the memory of the hash table until a child is asked for again. */
void tv_paths_rest(struct tv_paths *paths);

/* Gives back what only adding needs: the finished tree is nodes[0..count). */
void tv_paths_finish(struct tv_paths *paths);

#endif
