/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - a call-path tree and what each path itself cost, while events are counted.
 *
 * Trees of millions of paths are larger than the caches, and what counts is how many lines of them
 * an event touches: one, where the path's number is known or rightly guessed (ahead.h).  So a
 * node's figures stand beside its place in the tree, two nodes a line.
 *
 * Node 0 is the root; parents have smaller numbers than their children.
 */
#ifndef TV_ANALYSIS_TALLY_H
#define TV_ANALYSIS_TALLY_H

#include "model/paths.h"

struct tv_tally_node {
    uint32_t parent;
    uint32_t frame;
    uint64_t calls;
    int64_t wall, cpu; /* of the path itself, ticks */
};

struct tv_tally {
    struct tv_tally_node *nodes;
    uint32_t *hashes; /* beside the nodes, of their frames from the root on */
    size_t capacity;  /* of both */
    uint32_t count;
    struct tv_path_place *places; /* open addressing over the nodes, by (parent, frame) */
    size_t mask;                  /* half of the places are free at least */
};

void tv_tally_init(struct tv_tally *tally);
void tv_tally_release(struct tv_tally *tally);

/* Gives back what only adding needs: the finished tree is nodes[0..count). */
void tv_tally_finish(struct tv_tally *tally);

/* The node for `frame` called from `parent`; made when new, with figures of 0. */
uint32_t tv_tally_child(struct tv_tally *tally, uint32_t parent, uint32_t frame);

/* Adds the paths of a tree and their figures. */
void tv_tally_merge(struct tv_tally *to, const struct tv_tally *from);

/* What paths stand on that began on stand-ins: children of the root whose frames are `first` and
 * more, which no others are. */
struct tv_tally_ground {
    struct tv_tally paths; /* figures do not count */
    uint32_t first;
    uint32_t *on; /* [i]: the node of `paths` that the frame `first` + i stands for */
};

/* Puts each path where it belongs.  Those that become one are one node, with the figures of all;
 * the ground's paths are the first ones.  Times become nanoseconds, `tick_ns` a tick. */
void tv_tally_stand_on(struct tv_tally *tally, const struct tv_tally_ground *ground,
                       int64_t tick_ns);

/* The node whose hash stands in one of the two places where it is looked for first, or 0: probably
 * that of the path with this hash. */
TV_INLINE uint32_t tv_tally_guess(const struct tv_tally *tally, uint32_t hash)
{
    size_t at = hash & tally->mask;
    struct tv_path_place first = tally->places[at], second = tally->places[(at + 1) & tally->mask];
    return (first.node & -(uint32_t)(first.hash == hash)) |
           (second.node & -(uint32_t)((second.hash == hash) & (first.hash != hash)));
}

#endif
